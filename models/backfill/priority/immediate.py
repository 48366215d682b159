"""Immediate service: the key ``immediate`` of a policy's YAML file, as checked values."""

from dataclasses import dataclass

from models import checks, keys
from models.jobs.machine import KB_IN_GB, UNLIMITED_KB

LONGEST = 1e12


@dataclass(frozen=True, kw_only=True)
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

    BASE = "_immediate"

    kind: str = keys.choice("preempt", "soon")
    quantum: float = keys.number(checks.SECONDS, above=0, below=LONGEST)
    memory_gb: float | None = keys.number(
        "a positive number, or null (all that a job asks for)", null=True, above=0, below=LONGEST
    )
    uninterrupted: float = keys.number(checks.SECONDS, above=0, below=LONGEST)
    keep_promises: bool = keys.switch()
    beyond_memory: str = keys.choice("stays", "leaves")
    keep_quantum: bool = keys.switch()

    @property
    def memory(self) -> int:
        """Memory for the quantum in KB."""
        return UNLIMITED_KB if self.memory_gb is None else round(self.memory_gb * KB_IN_GB)
