"""Spatial equipartitioning: the keys of a policy's YAML file, as checked values (section 2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from models import checks
from models.backfill.rules import Rules, shared
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.point import Parameters

FIRST_FIT, FCFS = "first_fit", "fcfs"
FIRST, LAST = "first", "last"
SHARE, REQUESTED = "share", "requested"
CHOICES = {
    "odd_processors": (FIRST, LAST),
    "waiting": (FIRST_FIT, FCFS),
    "quantum_processors": (SHARE, REQUESTED),
}
"""Keys of the YAML file and the words that they may have."""

LONGEST = 1e12


@dataclass(frozen=True, kw_only=True)
class EqSpatial(Rules):
    """How a host's processors are divided, and which jobs have memory.

    Parameters
    ----------
    min_interval : float, seconds
        Between two repartitionings of a host; 0 is at once.
    long_after : float, seconds, or None
        Jobs that have run for so long have what they ask for (EQspatial/>50hr, section 4.4); None is never.
    quantum : float, seconds, or None
        Length of the quantum of a job that no host has the memory for; None is none.
    quantum_memory_gb : float
        Memory in that quantum, or what the job asks for if that is less.
    catch_up : bool
        Whether a job that waited for memory has its requested processors until it has done the work that it
        would have done with memory.
    odd_processors : {"first", "last"}
        Which jobs have one more where processors cannot be divided equally: the first submitted or the last.
    waiting : {"first_fit", "fcfs"}
        Which job takes memory that becomes free: the first submitted one that it is enough for, or none
        before the first submitted waiting job.
    quantum_processors : {"share", "requested"}
        Whether a job in its quantum has an equal part of its host, or all that it asks for as long as every
        other job has a processor.
    keep_quantum : bool
        Whether work done in the quantum counts later (never that of a job that exceeded the memory).
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

    @property
    def kernels(self) -> tuple[str, ...]:
        """The module that simulates these rules, see `Rules.kernels`."""
        return ("models.backfill.eq_spatial.kernel",)

    def simulate(self, jobs: Jobs, machine: Machine) -> Schedule:
        """Run all jobs to their ends, see `Rules.simulate`."""
        from models.backfill.eq_spatial import kernel

        return kernel.simulate(jobs, machine, self)

    @property
    def reads_requests(self) -> bool:
        """Whether requested times matter: no, all jobs run at once."""
        return False

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse jobs that could never run: processors may be fewer than requested, but memory may not.

        Raises
        ------
        ValueError
            With one line that names the job, and the remedy.
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
    def of(cls, policy: Parameters) -> Self:
        """Return the rules of a policy's YAML file; keys that it does not have keep their defaults.

        Raises
        ------
        ValueError
            With one line that names the value and those allowed.
        """
        words = {
            key: checks.choice(policy, "policy", key, CHOICES[key], getattr(cls, key)) for key in CHOICES
        }
        return cls(
            **shared(policy),
            **words,
            catch_up=checks.switch(policy, "policy", "catch_up", cls.catch_up),
            keep_quantum=checks.switch(policy, "policy", "keep_quantum", cls.keep_quantum),
            min_interval=float(
                checks.number(
                    policy, "policy", "min_interval", f"0 or {checks.SECONDS}",
                    least=0, below=LONGEST, default=cls.min_interval,
                )
            ),
            quantum_memory_gb=float(
                checks.number(
                    policy, "policy", "quantum_memory_gb", "a positive number of GB",
                    above=0, below=LONGEST, default=cls.quantum_memory_gb,
                )
            ),
            long_after=_seconds_or_none(policy, "long_after", cls.long_after),
            quantum=_seconds_or_none(policy, "quantum", cls.quantum),
        )  # fmt: skip


def _seconds_or_none(policy: Parameters, key: str, default: float | None) -> float | None:
    if policy.get(key, default) is None:
        return None
    allowed = f"{checks.SECONDS}, or null"
    return float(checks.number(policy, "policy", key, allowed, above=0, below=LONGEST, default=default))
