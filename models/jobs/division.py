"""Which job of a schedule is in which batch, and when a batch begins: so many jobs, or a period of time."""

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
    these : slice
        Jobs that are in a batch.
    batch : ndarray of int, shape (n_jobs,)
        The batch of each of them, ascending from 0 on.
    borders : ndarray of float, shape (n_batches + 1,), seconds
        When each batch begins, and the last one ends; NaN is at the end of what is measured.
    """

    these: slice
    batch: Ints
    borders: Floats

    @property
    def n_batches(self) -> int:
        """Number of batches."""
        return len(self.borders) - 1

    @classmethod
    def of(cls, submit: Floats, batches: Batches, n_batches: int, measured: slice = slice(None)) -> Division:
        """Return batches as they were asked for, see `models.jobs.trace.Trace.divided`.

        Parameters
        ----------
        submit : ndarray of float, shape (n_jobs,), seconds
        batches : Batches
            Of a size, or weeks.
        n_batches : int
            The first so many, the warm-up included.
        measured : slice
            Jobs that count.
        """
        if batches.weeks:
            return cls.by_time(submit, periods(submit[measured], batches.most), n_batches, measured)
        assert batches.size is not None  # a trace's are divided, a stream has none without
        return cls.by_number(submit, batches.size, n_batches, measured)

    @classmethod
    def by_number(cls, submit: Floats, size: int, n_batches: int, measured: slice = slice(None)) -> Division:
        """Return batches of `size` jobs each, from the first measured one on; the last may be short.

        A batch lasts from its first submission to that of the next one.

        Parameters
        ----------
        submit : ndarray of float, shape (n_jobs,), seconds
        measured : slice
            Jobs that count.
        """
        first, stop, _ = measured.indices(len(submit))
        end = min(stop, first + size * n_batches)
        begins = first + np.arange(n_batches + 1) * size
        borders = np.where(begins < stop, submit[np.minimum(begins, len(submit) - 1)], np.nan)
        return cls(slice(first, end), np.arange(end - first) // size, borders)

    @classmethod
    def by_time(
        cls, submit: Floats, periods: Floats, n_batches: int, measured: slice = slice(None)
    ) -> Division:
        """Return batches of what is submitted in each of the first `n_batches` periods.

        Parameters
        ----------
        submit : ndarray of float, shape (n_jobs,), seconds
        periods : ndarray of float, shape (n_periods + 1,), seconds
            See `models.jobs.calendar.periods`; the last one goes on to the end of what is measured.
        """
        first, stop, _ = measured.indices(len(submit))
        borders = np.append(periods[:-1], np.nan)[: n_batches + 1]
        end = stop if np.isnan(borders[-1]) else first + int(np.searchsorted(submit[first:stop], borders[-1]))
        batch = np.searchsorted(periods[1:-1], submit[first:end], side="right")
        return cls(slice(first, end), batch, borders)
