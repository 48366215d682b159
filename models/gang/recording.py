"""The schedule as the engine goes along: who ran when, and with which share of the time.

Time slicing is taken as fluid: between two events a job that runs in k of S slots gets the share k / S of the
time, so that it effectively has its size times k / S processors, less what is lost to switches
(`models.gang.slices`). A piece of the schedule ends when this number changes, at nearly every event for
nearly every job; so nothing is recorded unless it is asked for.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import types

from models.gang.slices import seconds_per_unit
from models.gang.state import NOW
from models.gang.waiting import SUBMIT
from models.jobs.ended import ENDED, Ended, nobody_ended
from models.jobs.schedule import Pieces, check_pieces
from models.kernels.compiling import part
from models.kernels.types import FLOATS, INTS
from models.packing.matrix import ARRIVAL, N_JOBS, N_SLOTS, NUMBER, PRESENT, RUN_SLOTS, RUNTIME, SESSION, SIZE

AT_ONCE = 1 << 16
"""Room for pieces, and for jobs, before Python takes them away."""

Record = namedtuple("Record", ["used", "since", "share", "number", "begin", "end", "processors", "ended"])
"""What was recorded since Python last took it away; all arrays are empty where nothing is to be recorded.

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


def _empty(job_limit: int, room: int) -> Record:
    since, share, begin, end, processors = (
        np.zeros(length) for length in (job_limit, job_limit, room, room, room)
    )
    used, number = np.zeros(2, np.int64), np.zeros(room, np.int64)
    return Record(used, since, share, number, begin, end, processors, nobody_ended(room))


class Recorder:
    """Takes down a whole schedule, once it has been told how many places the table of jobs has."""

    def __init__(self) -> None:
        self.record = _empty(0, AT_ONCE)
        self._pieces: list[tuple[np.ndarray, ...]] = []
        self._ended: list[Ended] = []
        self._n_pieces = 0

    def enlarge(self, job_limit: int) -> None:
        """Follow a table of jobs that has got so many places, more than before."""
        self.take()
        before, self.record = self.record, _empty(job_limit, max(AT_ONCE, 2 * job_limit))
        self.record.since[: len(before.since)] = before.since
        self.record.share[: len(before.share)] = before.share

    def take(self) -> None:
        """Take away what the engine has written down, so that it has room again.

        Raises
        ------
        ValueError
            With one line, if there are more pieces than can be kept.
        """
        record = self.record
        n_pieces, n_jobs = record.used
        self._n_pieces += n_pieces
        check_pieces(
            self._n_pieces,
            "jobs change their share of the time at nearly every event: take fewer of them, with a smaller "
            "batch_size=… or workload.end=…, or run it without a schedule",
        )
        columns = (record.number, record.begin, record.end, record.processors)
        self._pieces.append(tuple(column[:n_pieces].copy() for column in columns))
        self._ended.append(Ended(*(column[:n_jobs].copy() for column in record.ended)))
        record.used[:] = 0

    def ended(self, n_jobs: int) -> Ended:
        """Return those of the first `n_jobs` jobs to be submitted that have ended, in order of submission."""
        self.take()
        columns = Ended(*(np.concatenate(each) for each in zip(*self._ended, strict=True)))
        order = np.argsort(columns.number)
        order = order[: np.searchsorted(columns.number[order], n_jobs)]
        return Ended(*(column[order] for column in columns))

    def pieces(self, n_jobs: int) -> Pieces:
        """Return all pieces of the first `n_jobs` jobs to be submitted, each job's in order of time."""
        self.take()
        job, begin, end, processors = (np.concatenate(each) for each in zip(*self._pieces, strict=True))
        order = np.lexsort((begin, job))
        order = order[: np.searchsorted(job[order], n_jobs)]
        job, begin, end, processors = (column[order] for column in (job, begin, end, processors))
        # What changes and changes back in no time is no change.
        goes_on = (job[1:] == job[:-1]) & (begin[1:] == end[:-1]) & (processors[1:] == processors[:-1])
        first = np.concatenate([[True], ~goes_on])[: job.size]
        last = np.concatenate([~goes_on, [True]])[: job.size]
        host = np.zeros(int(first.sum()), np.int64)
        return Pieces(job[first], host, begin[first], end[last], processors[first])


@part()
def is_kept(record):
    """Tell whether anything is recorded."""
    return record.since.shape[0] > 0


@part()
def is_full(record, n_jobs):
    """Tell whether the next event may find no room: it can end a piece of every job, and a job."""
    room = record.number.shape[0]
    return record.used[PIECES] + n_jobs > room or record.used[JOBS] + 1 > room


@part(inline=False)
def end_piece(job, number, now, record):
    """Write down the piece that ends now, unless it took no time."""
    if record.share[job] > 0.0 and record.since[job] < now:
        i = record.used[PIECES]
        record.number[i] = number
        record.begin[i] = record.since[job]
        record.end[i] = now
        record.processors[i] = record.share[job]
        record.used[PIECES] += 1


@part(inline=False)
def note_shares(table, counts, clocks, stretch, record):
    """Begin a new piece of every job that runs with another share of the time from now on. O(jobs)."""
    all_slots = seconds_per_unit(counts[N_SLOTS], stretch)
    for i in range(counts[N_JOBS]):
        job = table.order[PRESENT, i]
        # One division, of whole numbers: equal shares give equal bits.
        share = table.whole[job, SIZE] * table.whole[job, RUN_SLOTS] / all_slots
        if share != record.share[job]:
            end_piece(job, table.whole[job, NUMBER], clocks[NOW], record)
            record.share[job] = share
            record.since[job] = clocks[NOW]


@part(inline=False)
def note_end(job, position, table, waiting, clocks, record):
    """Write down a job that has just left the table; `position` is where its times are."""
    end_piece(job, table.whole[job, NUMBER], clocks[NOW], record)
    record.share[job] = 0.0
    write_ended(job, position, table, waiting, clocks, record.ended, record.used[JOBS])
    record.used[JOBS] += 1


@part()
def write_ended(job, position, table, waiting, clocks, ended, row):
    """Write a job that has just left the table to a row of `ended`; `position` is where its times are."""
    ended.number[row] = table.whole[job, NUMBER]
    ended.session[row] = table.whole[job, SESSION]
    ended.submit[row] = waiting.times[job, SUBMIT]
    ended.start[row] = table.real[ARRIVAL, position]
    ended.end[row] = clocks[NOW]
    ended.runtime[row] = table.real[RUNTIME, position]
    ended.size[row] = table.whole[job, SIZE]
