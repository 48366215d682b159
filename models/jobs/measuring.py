"""The common measures of jobs, batch by batch, from the ended jobs that an engine returns.

Batches hold jobs in order of termination. Only the current jobs are stored, so that memory grows with the
length of a simulation by the measures alone.
"""

import numpy as np

from models.arrays import Floats
from models.jobs.ended import Ended
from models.jobs.jobs import Jobs
from models.jobs.measures import Measures, of_jobs


class Measuring:
    """The measures of the jobs that have ended so far.

    Parameters
    ----------
    all_jobs : Jobs, optional
        All jobs of a workload that ends: users are ranked among these.
    """

    def __init__(self, measures: Measures, batch_size: int, all_jobs: Jobs | None = None) -> None:
        self._measures, self._batch_size, self._all_jobs = measures, batch_size, all_jobs
        self._blocks: list[dict[str, Floats]] = []
        self._chunks: list[tuple[int, Jobs]] = []
        self._n_arrived = 0

    @property
    def needs_columns(self) -> bool:
        """Whether the workload's columns are needed: groups and a user's measures may use them."""
        return self._measures.reads_columns

    def arrived(self, chunk: Jobs) -> None:
        """Store a chunk of sessions until all of its jobs have ended."""
        if self.needs_columns:
            self._chunks.append((self._n_arrived, chunk))
        self._n_arrived += len(chunk)

    def measure(self, ended: Ended, wait: Floats) -> None:
        """Measure whole batches of jobs, given their waits for their first processors (s).

        The last batch may be short.
        """
        n_jobs = len(ended.end)
        if n_jobs == 0:
            return
        n_batches = -(-n_jobs // self._batch_size)
        batch = np.repeat(np.arange(n_batches), self._batch_size)[:n_jobs]
        values = {"wait": wait, "response_time": ended.end - ended.submit}
        jobs = self._as_they_ran(ended)
        self._blocks.append(of_jobs(jobs, values, batch, n_batches, self._measures, self._all_jobs))

    def forget_before(self, session: int) -> None:
        """Drop the chunks whose jobs have all ended: the chunks before the oldest session that continues."""
        self._chunks = [(first, chunk) for first, chunk in self._chunks if first + len(chunk) > session]

    def metrics(self) -> dict[str, Floats]:
        """Return the measures of all batches so far."""
        if not self._blocks:
            empty = Jobs.bare(np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
            none = {"wait": np.zeros(0), "response_time": np.zeros(0)}
            return of_jobs(empty, none, np.zeros(0, np.int64), 0, self._measures, self._all_jobs)
        if len(self._blocks) > 1:
            self._blocks = [
                {name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]}
            ]
        return self._blocks[0]

    def _as_they_ran(self, ended: Ended) -> Jobs:
        if not self.needs_columns:
            return Jobs.bare(ended.submit, ended.runtime, ended.size)
        begins, kept = self._chunks[0][0], Jobs.concatenated([chunk for _, chunk in self._chunks])
        return as_they_ran(ended, kept.part(ended.session - begins))


def as_they_ran(ended: Ended, columns: Jobs) -> Jobs:
    """Return ended jobs, each with the other columns of its session (`columns`, in the same order)."""
    return Jobs(
        ended.submit, ended.runtime, columns.requested, ended.size, columns.memory, columns.used_memory,
        columns.user,
    )  # fmt: skip
