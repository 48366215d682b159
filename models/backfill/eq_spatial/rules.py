"""Spatial equipartitioning: the keys of a policy's YAML file, as checked values (section 2.5)."""

from dataclasses import dataclass

import numpy as np

from models import checks, keys
from models.backfill.rules import Rules
from models.counting import counted
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine

FIRST_FIT, FCFS = "first_fit", "fcfs"
FIRST, LAST = "first", "last"
SHARE, REQUESTED = "share", "requested"

LONGEST = 1e12
OR_NULL = f"{checks.SECONDS}, or null"


@dataclass(frozen=True, kw_only=True)
class EqSpatial(Rules):
    """How a host's processors are divided, and which jobs have memory.

    Parameters
    ----------
    min_interval : float, seconds
        Minimum interval between two repartitionings of a host; 0 repartitions at once.
    long_after : float, seconds, or None
        Running time from which a job has its full request (EQspatial/>50hr, section 4.4); None disables this.
    quantum : float, seconds, or None
        Length of the quantum of a job for which no host has the memory; None disables quanta.
    quantum_memory_gb : float
        Memory in that quantum, or the job's request if that is less.
    catch_up : bool
        Whether a job that waited for memory has its requested processors until it has done the work that it
        would have done with memory.
    odd_processors : {"first", "last"}
        Which jobs have one more where processors cannot be divided equally: the first submitted or the last.
    waiting : {"first_fit", "fcfs"}
        Which job takes memory that becomes free: the first submitted job for which it suffices, or only the
        first submitted waiting job.
    quantum_processors : {"share", "requested"}
        Whether a job in its quantum has an equal part of its host, or its full request as long as every other
        job has a processor.
    keep_quantum : bool
        Whether work done in the quantum counts later (never if the job exceeded the memory).
    """

    BASE = "_eq_spatial"

    kernels = ("models.backfill.eq_spatial.kernel",)
    reads_requests = False  # all jobs run at once

    min_interval: float = keys.number(f"0 or {checks.SECONDS}", least=0, below=LONGEST)
    long_after: float | None = keys.number(OR_NULL, null=True, above=0, below=LONGEST)
    quantum: float | None = keys.number(OR_NULL, null=True, above=0, below=LONGEST)
    quantum_memory_gb: float = keys.number("a positive number of GB", above=0, below=LONGEST)
    catch_up: bool = keys.switch()
    odd_processors: str = keys.choice(FIRST, LAST)
    waiting: str = keys.choice(FIRST_FIT, FCFS)
    quantum_processors: str = keys.choice(SHARE, REQUESTED)
    keep_quantum: bool = keys.switch()

    def check(self, jobs: Jobs, machine: Machine) -> None:
        """Refuse jobs that could never run: processors may be fewer than requested, but memory may not."""
        homeless = jobs.memory > machine.memory.max()
        if homeless.any():
            first = int(np.argmax(homeless))
            raise ValueError(
                f"{counted(int(homeless.sum()), 'job', 'asks', of=len(jobs))} for more memory than any host "
                f"has: job {first + 1} for {jobs.memory[first]:,} KB; the largest host has "
                f"{machine.memory.max():,} KB; leave out such jobs"
            )
