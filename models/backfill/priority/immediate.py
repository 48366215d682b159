"""Immediate service: the key ``immediate`` of a policy's YAML file, as checked values."""

from __future__ import annotations

from dataclasses import dataclass

from models import checks
from models.jobs.machine import KB_IN_GB, UNLIMITED_KB

KINDS = ("preempt", "soon")
BEYOND_MEMORY = ("stays", "leaves")
POSITIVE = {"above": 0, "below": 1e12}


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
        Whether a quantum does not use reserved processors, as a backfilled job does not (``soon`` only: a
        preemption puts off all expected ends in any case).
    beyond_memory : {"stays", "leaves"}
        A job that uses more memory than it was given is stopped at the end of its quantum (or when it would
        be done, if that is earlier), or at its very beginning, so that it has none.
    keep_quantum : bool
        Whether work done in the quantum counts later (never that of a job that used more memory than it was
        given). The quantum's memory is returned at its end, so that by default a job starts anew.
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
            With one line that names the value and those allowed.
        """
        known, where = tuple(cls.__dataclass_fields__), "policy.immediate"
        keys = checks.mapping(given, where, known, f"null, or a mapping of {', '.join(known)}")

        def positive(key: str, allowed: str = checks.SECONDS) -> float:
            return float(checks.number(keys, where, key, allowed, **POSITIVE, default=getattr(cls, key)))

        memory_gb = keys.get("memory_gb", cls.memory_gb)
        if memory_gb is not None:
            memory_gb = positive("memory_gb", "a positive number, or null (all that a job asks for)")
        return cls(
            kind=checks.choice(keys, where, "kind", KINDS, cls.kind),
            quantum=positive("quantum"),
            memory_gb=memory_gb,
            uninterrupted=positive("uninterrupted"),
            keep_promises=checks.switch(keys, where, "keep_promises", cls.keep_promises),
            beyond_memory=checks.choice(keys, where, "beyond_memory", BEYOND_MEMORY, cls.beyond_memory),
            keep_quantum=checks.switch(keys, where, "keep_quantum", cls.keep_quantum),
        )
