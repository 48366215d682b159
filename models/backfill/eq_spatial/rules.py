"""What spatial equipartitioning needs to know, as checked values (Chiang and Vernon 2001, section 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from models.jobs.jobs import Jobs
    from models.jobs.machine import Machine

FIRST_FIT, FCFS = "first_fit", "fcfs"
FIRST, LAST = "first", "last"
SHARE, REQUESTED = "share", "requested"
CHOICES = {
    "odd_processors": (FIRST, LAST),
    "waiting": (FIRST_FIT, FCFS),
    "quantum_processors": (SHARE, REQUESTED),
    "ties": ("instant", "event"),
}
"""Keys of the YAML file and the words that they may have."""

LONGEST = 1e12


@dataclass(frozen=True)
class EqSpatial:
    """How a host's processors are divided, and who gets memory.

    Parameters
    ----------
    min_interval : float, seconds
        Between two repartitionings of a host; 0 is at once.
    long_after : float, seconds, or None
        Jobs that have run for so long get what they ask for (EQspatial/>50hr, section 4.4); None is never.
    quantum : float, seconds, or None
        What a job gets at once that no host has the memory for; None is nothing.
    quantum_memory_gb : float
        Memory in that quantum, or what the job asks for if that is less.
    catch_up : bool
        Whether a job that waited for memory gets its requested processors until it has done what it would
        have done with memory.
    odd_processors : {"first", "last"}
        Who gets one more where processors cannot be divided equally: the first submitted or the last.
    waiting : {"first_fit", "fcfs"}
        Who gets memory that becomes free: the first submitted of those whom it is enough for, or nobody
        before the first submitted of those who wait.
    quantum_processors : {"share", "requested"}
        Whether a job in its quantum has an equal part of its host, or all that it asks for as long as every
        other job has a processor.
    keep_quantum : bool
        Whether work done in the quantum counts later (never that of a job that exceeded the memory).
    ties : {"instant", "event"}
        All ends of an instant before its submissions, or submissions first and ends one by one.
    """

    min_interval: float = 0.0
    long_after: float | None = None
    quantum: float | None = 60.0
    quantum_memory_gb: float = 1.0
    catch_up: bool = True
    odd_processors: str = FIRST
    waiting: str = FIRST_FIT
    quantum_processors: str = SHARE
    keep_quantum: bool = False
    ties: str = "instant"

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse jobs that could never run: processors may be fewer than requested, but memory may not.

        Raises
        ------
        ValueError
            With one line that says which job, and what to do.
        """
        homeless = jobs.memory > machine.memory.max()
        if homeless.any():
            first = int(np.argmax(homeless))
            raise ValueError(
                f"{int(homeless.sum()):,} of {len(jobs):,} jobs ask for more memory than any host has: job "
                f"{first + 1} for {jobs.memory[first]} KB, and the largest host has {machine.memory.max()}; "
                "leave out such jobs"
            )

    @classmethod
    def of(cls, policy: Mapping[str, Any]) -> EqSpatial:
        """Return the rules of a policy's YAML file; keys that it does not have keep their defaults.

        Raises
        ------
        ValueError
            With one line that says what is allowed.
        """
        words = {key: policy.get(key, getattr(cls, key)) for key in CHOICES}
        for key, allowed in CHOICES.items():
            if words[key] not in allowed:
                raise ValueError(f"policy.{key}={words[key]}; allowed: {', '.join(allowed)}")
        switches = {key: policy.get(key, getattr(cls, key)) for key in ("catch_up", "keep_quantum")}
        for key, value in switches.items():
            if not isinstance(value, bool):
                raise ValueError(f"policy.{key}={value}; allowed: true, false")
        return cls(
            min_interval=_number(policy, "min_interval", cls.min_interval, from_zero=True),
            long_after=_number_or_none(policy, "long_after", cls.long_after),
            quantum=_number_or_none(policy, "quantum", cls.quantum),
            quantum_memory_gb=_number(policy, "quantum_memory_gb", cls.quantum_memory_gb),
            **words,
            **switches,
        )


def _number(policy: Mapping[str, Any], key: str, default: float, from_zero: bool = False) -> float:
    value = policy.get(key, default)
    if not _is_number(value) or not 0 <= value < LONGEST or (value == 0 and not from_zero):
        unit = "GB" if key.endswith("_gb") else "seconds"
        least = "0 or " if from_zero else ""
        raise ValueError(f"policy.{key}={value}; allowed: {least}a positive number of {unit}")
    return float(value)


def _number_or_none(policy: Mapping[str, Any], key: str, default: float | None) -> float | None:
    value = policy.get(key, default)
    if value is None:
        return None
    if not _is_number(value) or not 0 < value < LONGEST:
        raise ValueError(f"policy.{key}={value}; allowed: a positive number of seconds, or null")
    return float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
