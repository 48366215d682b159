"""Which job of a schedule is in which batch, and when a batch begins: a number of jobs, or a period of
time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.calendar import periods
from models.point import Batches


@dataclass(frozen=True, eq=False)
class Division:
    """Batches of jobs in order of submission.

    Parameters
    ----------
    these : slice or ndarray of int
        Jobs that are in a batch.
    batch : ndarray of int, shape (n_jobs,)
        The batch of each of them, ascending from 0 on.
    borders : ndarray of float, shape (n_batches + 1,), seconds
        When each batch begins, and the last one ends; NaN is the end of the measured period.
    """

    these: slice | Ints
    batch: Ints
    borders: Floats

    @property
    def n_batches(self) -> int:
        """Number of batches."""
        return len(self.borders) - 1

    def without(self, unmeasured: np.ndarray) -> Division:
        """Return the batches without some jobs of a schedule, shape (n_scheduled,)."""
        these = np.arange(len(unmeasured))[self.these]
        measured = ~unmeasured[these]
        return Division(these[measured], self.batch[measured], self.borders)

    @classmethod
    def of(cls, submit: Floats, batches: Batches, n_batches: int, measured: slice = slice(None)) -> Division:
        """Return batches as requested, see `models.jobs.trace.Trace.divided`.

        A batch of a number of jobs lasts from its first submission to the next batch's; the last may be
        short. A batch of a period has the jobs submitted in it; the last period lasts to the end of the
        measured period.
        """
        first, stop, _ = measured.indices(len(submit))
        if batches.weeks:
            begins = periods(submit[measured], batches.most)
            borders = np.append(begins[:-1], np.nan)[: n_batches + 1]
            last = np.searchsorted(submit[first:stop], borders[-1])
            end = stop if np.isnan(borders[-1]) else first + int(last)
            return cls(slice(first, end), np.searchsorted(begins[1:-1], submit[first:end], "right"), borders)
        size = batches.size
        assert size is not None  # a trace's batches are divided, a stream needs a size
        end = min(stop, first + size * n_batches)
        at = first + np.arange(n_batches + 1) * size
        borders = np.where(at < stop, submit[np.minimum(at, len(submit) - 1)], np.nan)
        return cls(slice(first, end), np.arange(end - first) // size, borders)
