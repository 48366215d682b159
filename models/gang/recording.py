"""Records the schedule as the engine advances: which job ran when, and with which share of the time.

Time slicing is taken as fluid: between two events a job that runs in k of S slots gets the share k / S of the
time, so that it effectively has its size times k / S processors, less the losses by switches
(`models.gang.slices`). A piece of the schedule ends when this number changes, at nearly every event for
nearly every job; so the schedule is recorded only on request.
"""

from collections import namedtuple

import numpy as np
from numba import types

from models.gang.slices import seconds_per_unit
from models.jobs.ended import ENDED, Ended, empty_ended
from models.jobs.schedule import Pieces, check_pieces
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS
from models.packing.slots import write_ended

AT_ONCE = 1 << 16
"""Initial capacity for pieces and jobs."""

Record = namedtuple("Record", ["used", "since", "share", "number", "begin", "end", "processors", "ended"])
"""The record so far; all arrays are empty if nothing is recorded.

used : int64 (2,), pieces and jobs that have ended
since, share : float64 (place of the table,), begin of a job's present piece, and its processors; 0 before its
    first piece
number, begin, end, processors : (piece,), a job's number, seconds, and the processors that it effectively has
ended : Ended, every job that has ended, measured or not
"""
RECORD = types.NamedTuple([INTS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS, ENDED], Record)

# Positions in Record.used.
PIECES, JOBS = range(2)


def no_record() -> Record:
    """Return a record that is not kept."""
    return _empty(0, 0)


def _empty(job_limit: int, rows: int) -> Record:
    since, share, begin, end, processors = (
        np.zeros(length) for length in (job_limit, job_limit, rows, rows, rows)
    )
    used, number = np.zeros(2, np.int64), np.zeros(rows, np.int64)
    return Record(used, since, share, number, begin, end, processors, empty_ended(rows))


class Recorder:
    """Records a whole schedule; `enlarge` must be called first, with the places of the table of jobs."""

    def __init__(self) -> None:
        self.record = _empty(0, 0)

    def enlarge(self, job_limit: int = 0) -> None:
        """Make the record fit a table of `job_limit` jobs, and twice as long if half is used.

        `TooManyPiecesError` for more pieces than can be kept.
        """
        self._check()
        before, n_rows = self.record, len(self.record.number)
        limit, is_half_full = max(job_limit, len(before.since)), 2 * before.used.max() > n_rows
        self.record = _empty(limit, max(AT_ONCE, 2 * limit, 2 * n_rows if is_half_full else n_rows))
        arrays = zip((*self.record[:-1], *self.record.ended), (*before[:-1], *before.ended), strict=True)
        for after, old in arrays:
            after[: len(old)] = old

    def _check(self) -> None:
        check_pieces(
            int(self.record.used[PIECES]),
            "jobs change their share of the time at nearly every event: take fewer of them, with a smaller "
            "batch_size=… or workload.end=…, or run it without a schedule",
        )

    def ended(self, n_jobs: int) -> Ended:
        """Return the ended ones among the first `n_jobs` submitted jobs, in order of submission."""
        columns = Ended(*(column[: self.record.used[JOBS]] for column in self.record.ended))
        order = np.argsort(columns.number)
        order = order[: np.searchsorted(columns.number[order], n_jobs)]
        return Ended(*(column[order] for column in columns))

    def pieces(self, n_jobs: int) -> Pieces:
        """Return all pieces of the first `n_jobs` jobs to be submitted, each job's in order of time."""
        self._check()
        made, n = self.record, self.record.used[PIECES]
        job, begin, end, processors = (
            column[:n] for column in (made.number, made.begin, made.end, made.processors)
        )
        order = np.lexsort((begin, job))
        order = order[: np.searchsorted(job[order], n_jobs)]
        job, begin, end, processors = (column[order] for column in (job, begin, end, processors))
        # A change that is reversed at the same instant does not count.
        continues = (job[1:] == job[:-1]) & (begin[1:] == end[:-1]) & (processors[1:] == processors[:-1])
        first = np.concatenate([[True], ~continues])[: job.size]
        last = np.concatenate([~continues, [True]])[: job.size]
        host = np.zeros(int(first.sum()), np.int64)
        return Pieces(job[first], host, begin[first], end[last], processors[first])


@part()
def is_kept(record):
    """Return whether anything is recorded."""
    return record.since.shape[0] > 0


@part()
def is_full(record, n_jobs):
    """Return whether the next event, which can end a piece of every job and a job, may need more rows."""
    rows = record.number.shape[0]
    return record.used[PIECES] + n_jobs > rows or record.used[JOBS] + 1 > rows


@part(inline=False)
def end_piece(job, number, now, record):
    """Record the piece that ends now, unless its length is 0."""
    if record.share[job] > 0.0 and record.since[job] < now:
        i = record.used[PIECES]
        record.number[i] = number
        record.begin[i] = record.since[job]
        record.end[i] = now
        record.processors[i] = record.share[job]
        record.used[PIECES] += 1


@part(inline=False)
def record_shares(table, state, stretch, record):
    """Begin a new piece of every job that runs with another share of the time from now on. O(jobs)."""
    all_slots = seconds_per_unit(state.n_slots, stretch)
    for i in range(state.n_jobs):
        place = table.present[i]
        job = table.jobs[place]
        # One division, of whole numbers: equal shares give equal bits.
        share = job.size * job.run_slots / all_slots
        if share != record.share[place]:
            end_piece(place, job.number, state.now, record)
            record.share[place] = share
            record.since[place] = state.now


@part(inline=False)
def record_end(place, job, now, record):
    """Record a job that has just left its place in the table."""
    end_piece(place, job.number, now, record)
    record.share[place] = 0.0
    write_ended(job, now, record.ended, record.used[JOBS])
    record.used[JOBS] += 1
