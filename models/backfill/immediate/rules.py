"""What a policy's YAML file says of immediate service, as checked values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.jobs.machine import KB_IN_GB, UNLIMITED_KB

KINDS = ("preempt", "soon")
BEYOND_MEMORY = ("stays", "leaves")


@dataclass(frozen=True)
class Immediate:
    """A short quantum for each job that cannot start at once (Chiang and Vernon 2001, sections 2.4 and 4.3).

    Parameters
    ----------
    kind : {"preempt", "soon"}
        At the submission, on idle processors or on those of jobs that are preempted; or as soon as there are
        idle processors.
    quantum : float, seconds
        Section 3.
    memory_gb : float or None
        Memory for the quantum, and never more than the job asks for; None is what it asks for.
    uninterrupted : float, seconds
        How long a job has to have been executing without interruption before it can be preempted.
    keep_promises : bool
        Whether a quantum keeps off processors that are promised to others, as a backfilled job does (``soon``
        only: a preemption puts off all that was expected in any case).
    beyond_memory : {"stays", "leaves"}
        A job that uses more memory than it was given is stopped at the end of its quantum (or when it would
        be done, if that is earlier), or at its very beginning, so that it has none.
    keep_quantum : bool
        Whether work done in the quantum counts later (never that of a job that used more memory than it was
        given). The quantum's memory is given up at its end, so that by default a job starts anew.
    """

    kind: str = "preempt"
    quantum: float = 60.0
    memory_gb: float | None = 1.0
    uninterrupted: float = 600.0
    keep_promises: bool = True
    beyond_memory: str = "stays"
    keep_quantum: bool = False

    @property
    def memory(self) -> int:
        """Memory for the quantum in KB."""
        return UNLIMITED_KB if self.memory_gb is None else round(self.memory_gb * KB_IN_GB)

    @classmethod
    def of(cls, given: object) -> Immediate:
        """Return the rules of a mapping; keys that it does not have keep their defaults.

        Raises
        ------
        ValueError
            With one line that says what is allowed.
        """
        known = tuple(cls.__dataclass_fields__)
        if not isinstance(given, Mapping):
            raise ValueError(f"policy.immediate={given}; allowed: null, or a mapping of {', '.join(known)}")
        if unknown := sorted(set(given) - set(known)):
            raise ValueError(f"policy.immediate.{unknown[0]} is not known; allowed: {', '.join(known)}")
        for key, allowed in (("kind", KINDS), ("beyond_memory", BEYOND_MEMORY)):
            if given.get(key, allowed[0]) not in allowed:
                raise ValueError(f"policy.immediate.{key}={given[key]}; allowed: {', '.join(allowed)}")
        for key in ("keep_promises", "keep_quantum"):
            if not isinstance(given.get(key, False), bool):
                raise ValueError(f"policy.immediate.{key}={given[key]}; allowed: true, false")
        for key in ("quantum", "uninterrupted"):
            if key in given and not _is_positive(given[key]):
                raise ValueError(
                    f"policy.immediate.{key}={given[key]}; allowed: a positive number of seconds"
                )
        memory_gb = given.get("memory_gb", cls.memory_gb)
        if memory_gb is not None and not _is_positive(memory_gb):
            raise ValueError(
                f"policy.immediate.memory_gb={memory_gb}; allowed: a positive number, or null (all that a "
                "job asks for)"
            )
        return cls(**given)


def _is_positive(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 < value < 1e12
