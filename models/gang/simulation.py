"""One simulation of a gang scheduler, from Python: feeds the engine and can be looked at."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from models.arrays import Floats, Ints
from models.gang import engine, slices
from models.gang.policies import ADMISSION, ALTERNATION, BACKFILL, PRECEDENCE, Rules
from models.gang.queueing import ADMIT_SIGNATURE
from models.gang.recording import Recorder, no_record
from models.gang.state import (
    ARRIVED,
    BATCH_START,
    CURSOR,
    END_WAITING,
    FIRST_WAITING,
    IN_BATCH,
    LOOKED_AT,
    MEASURED_UNTIL,
    MEASURING,
    N_BATCHES,
    N_CLOCKS,
    N_COUNTS,
    N_ENDED,
    N_VACANT,
    NO_LIMIT,
    NOW,
    REPEATING,
    SUBMITTED,
    TERMINATED,
    Goal,
    Integrated,
    Settings,
    System,
    arrivals_of,
    no_arrivals,
    no_batches,
)
from models.gang.unbounded import never_asked
from models.gang.waiting import AT_PRESENT, enlarged_waiting, foresight_for, nobody_waits
from models.jobs.ended import Ended, nobody_ended
from models.jobs.jobs import Jobs
from models.jobs.measuring import Measuring
from models.jobs.ties import INSTANT
from models.kernels.passed import Passed, addresses
from models.packing.matrix import (
    N_JOBS,
    N_SLOTS,
    NUMBER,
    PRESENT,
    SESSION,
    SLOT,
    Books,
    empty_matrix,
    empty_table,
    enlarged_matrix,
    enlarged_table,
    room_for,
)
from models.packing.schemes.signature import PLACE_SIGNATURE, REARRANGE_SIGNATURE, RELEASE_SIGNATURE
from models.packing.slots import NOWHERE
from models.workloads.repetition import RERUN_SIGNATURE, same_runtime

FREE = -1
ENDLESS = 1 << 62

NO_SLOTS_LIMIT = 1 << 40
"""More slots than there can be jobs, and few enough to be multiplied by a number of PEs."""

FIRST_PLACES = 512
"""Jobs for which there is room at first; there are twice as many places whenever they do not do."""

ENDED_AT_ONCE = 1 << 15
"""Measured jobs that are taken from the engine together, at least: a call of it takes as long as 300 jobs."""


@dataclass(frozen=True)
class Measured:
    """What of a simulation is measured.

    Parameters
    ----------
    batch_size : int
        Measured terminations in a batch.
    batch_limit : int
        Room for so many batches.
    sessions : range
        Those whose jobs count; the ones before them fill the machine.
    n_jobs : int
        Runs of all of these sessions; with the last the last batch ends, if it is short.
    until : float
        Time at which the machine is no longer measured.
    since : float
        Time from which it is, where nothing comes before the measured sessions.
    """

    batch_size: int = 1000
    batch_limit: int = 31
    sessions: range = range(ENDLESS)
    n_jobs: int = ENDLESS
    until: float = np.inf
    since: float = 0.0


def _admission(bounded: bool) -> Passed:
    """Return the function that answers for the queue; that of a bound is loaded when it is first needed."""
    function = importlib.import_module(ADMISSION).admit if bounded else never_asked
    return Passed(function, ADMIT_SIGNATURE)


@lru_cache(maxsize=64)
def _functions(place: Any, release: Any, rearrange: Any, bounded: bool, rerun: Any) -> tuple[Any, Ints]:
    """Return the functions in the order in which the engine takes them, and their addresses.

    The engine has nothing but these: whoever uses it keeps the functions.
    """
    functions = (
        Passed(place, PLACE_SIGNATURE),
        Passed(release, RELEASE_SIGNATURE),
        Passed(rearrange, REARRANGE_SIGNATURE),
        _admission(bounded),
        Passed(rerun, RERUN_SIGNATURE),
    )
    return functions, addresses(functions)


class Simulation:
    """A gang scheduler serving a stream of job sessions.

    Parameters
    ----------
    rules : Rules
        The packing scheme and what goes with it.
    n_pes : int
        PEs of the machine.
    chunks : iterator of Jobs
        What arrives.
    measured : Measured
    rerun, rerun_parameters
        Give the runtimes of repetitions, see `models.workloads.repetition`.
    ends : bool
        Whether the workload ends by itself: then there is room for as many jobs as come. That of a stream
        ends the run with more than `Rules.job_limit` in the system.
    recorder : Recorder, optional
        Takes the schedule down.
    measuring : Measuring, optional
        Is handed the measured jobs that have ended, whole batches of them at a time.
    memory : int, optional
        KB of each PE, where that is a bound on the jobs that are on it.
    """

    def __init__(
        self,
        rules: Rules,
        n_pes: int,
        chunks: Iterator[Jobs],
        measured: Measured | None = None,
        *,
        rerun: Any = same_runtime,
        rerun_parameters: Floats | None = None,
        ends: bool = False,
        recorder: Recorder | None = None,
        measuring: Measuring | None = None,
        memory: int | None = None,
    ) -> None:
        measured = Measured() if measured is None else measured
        self.n_pes = n_pes
        self._bounded = rules.slots_limit is not None or memory is not None
        scheme = rules.scheme.compiled()
        self._functions, self._addresses = _functions(*scheme, self._bounded, rerun)
        self._chunks = chunks
        self._recorder, self._measuring = recorder, measuring
        self._most_jobs = ENDLESS if ends else rules.job_limit
        self._until = measured.until
        self._slots_limit = rules.slots_limit
        first, end = measured.sessions.start, measured.sessions.stop
        settings = Settings(
            n_pes,
            ALTERNATION.index(rules.alternation),
            int(rules.unification),
            int(rules.scheme.migrates),
            PRECEDENCE[rules.precedence],
            int(rules.ties == INSTANT),
            measured.batch_size,
            first,
            end,
            measured.n_jobs,
            NO_SLOTS_LIMIT if rules.slots_limit is None else min(rules.slots_limit, NO_SLOTS_LIMIT),
            int(rules.queue == BACKFILL),
            NO_LIMIT if memory is None else memory,
            int(rules.kill),
            int(rules.scheme.keeps_books),
            slices.stretch(rules.slice, rules.switch_cost),
        )
        self._batches_at_once = -(-ENDED_AT_ONCE // measured.batch_size)
        limit = min(FIRST_PLACES, rules.job_limit)
        counts = np.zeros(N_COUNTS, np.int64)
        counts[N_VACANT] = limit
        counts[REPEATING] = counts[LOOKED_AT] = NOWHERE
        counts[MEASURING] = first == 0
        clocks = np.zeros(N_CLOCKS)
        clocks[BATCH_START], clocks[MEASURED_UNTIL] = measured.since, np.inf
        matrix = empty_matrix(n_pes, limit, rules.slots_limit)
        self.system = System(
            settings,
            matrix,
            empty_table(n_pes, limit),
            room_for(n_pes, limit, rules.slots_limit),
            # A scheme without parameters gets one that means nothing: an array needs a length.
            Books(np.zeros(rules.scheme.memory(n_pes), np.int64), np.array([*rules.parameters, 0], np.int64)),
            np.zeros(1) if rerun_parameters is None else rerun_parameters,
            counts,
            clocks,
            nobody_ended(self._batches_at_once * measured.batch_size),
            no_batches(measured.batch_limit),
            nobody_waits(limit),
            foresight_for(matrix, n_pes, limit, rules.scheme.migrates, self._bounded),
        )
        if recorder is not None:
            recorder.enlarge(limit)
        self._arrivals = no_arrivals()
        self._more_arrivals = True
        self._n_handed_out = 0  # batches

    def run(self, n_batches: int, until: float = np.inf) -> int:
        """Simulate until so many batches have ended, and say why it stopped (`engine.BATCHES_DONE` …)."""
        nothing = no_record()
        if not len(self._arrivals.submit) and self._more_arrivals:
            self._take_arrivals()  # rather than be asked for it
        while True:
            record = nothing if self._recorder is None else self._recorder.record
            n_next = min(n_batches, self._n_handed_out + self._batches_at_once)
            goal = Goal(self._arrivals, self._more_arrivals, n_next, float(min(until, self._until)))
            status = engine.advance(self._addresses, self.system, goal, record)
            if status == engine.ARRIVALS_USED_UP:
                self._take_arrivals()
                continue
            if status == engine.RECORD_FULL and self._recorder is not None:
                self._recorder.take()
                continue
            if status == engine.TABLE_FULL and self.system.table.pes.shape[0] < self._most_jobs:
                self._enlarge()
                continue
            if status == engine.TIME_REACHED and self._until <= until:
                engine.stop_measuring(self.system, self._until)
                self._until = np.inf
                continue
            self._hand_out()
            if status != engine.BATCHES_DONE or self.n_batches >= n_batches:
                return int(status)

    def measure_no_more(self) -> None:
        """Go on without ending any more batches."""
        settings = self.system.settings._replace(end_measured=0)
        self.system = self.system._replace(settings=settings)

    def _enlarge(self) -> None:
        """Give the table of jobs, and the matrix, twice the room; places are only names."""
        before = self.system.table.pes.shape[0]
        limit = min(2 * before, self._most_jobs)
        matrix = enlarged_matrix(self.system.matrix, self.n_pes, limit, self._slots_limit)
        migrates = bool(self.system.settings.migrating)
        foresight = foresight_for(matrix, self.n_pes, limit, migrates, self._bounded)
        foresight.memory[AT_PRESENT] = self.system.foresight.memory[AT_PRESENT]
        self.system = self.system._replace(
            matrix=matrix,
            table=enlarged_table(self.system.table, self.n_pes, limit),
            room=room_for(self.n_pes, limit, self._slots_limit),
            waiting=enlarged_waiting(self.system.waiting, limit),
            foresight=foresight,
        )
        self.system.counts[N_VACANT] += limit - before
        if self._recorder is not None:
            self._recorder.enlarge(limit)

    def _take_arrivals(self) -> None:
        chunk = next(self._chunks, None)
        self._more_arrivals = chunk is not None
        self._arrivals = no_arrivals() if chunk is None else arrivals_of(chunk)
        self.system.counts[CURSOR] = 0
        if chunk is not None and self._measuring is not None:
            self._measuring.arrived(chunk)

    def _hand_out(self) -> None:
        """Hand out the jobs of the batches that have ended; those of a batch under way stay."""
        counts, ended = self.system.counts, self.system.ended
        n_left = counts[IN_BATCH]
        n_out = counts[N_ENDED] - n_left
        if self._measuring is not None:
            # A job that is in the matrix runs at once, if only for its share of the time.
            out = Ended(*(column[:n_out] for column in ended))
            self._measuring.measure(out, wait=out.start - out.submit)
            if self._measuring.looks_up:
                self._measuring.forget_before(self._oldest_session(n_out))
        for column in ended if n_left else ():
            column[:n_left] = column[n_out : n_out + n_left].copy()
        counts[N_ENDED] = n_left
        self._n_handed_out = self.n_batches

    def _oldest_session(self, n_out: int) -> int:
        """Return the first session of which some job has not been handed out."""
        counts, table = self.system.counts, self.system.table
        places = [*self.places.tolist(), *self.waiting_places.tolist()]
        if counts[REPEATING] != NOWHERE:
            places.append(counts[REPEATING])
        waiting = self.system.ended.session[n_out : counts[N_ENDED]]
        sessions = (table.whole[places, SESSION], waiting)
        return min((int(each.min()) for each in sessions if len(each)), default=int(counts[ARRIVED]))

    @property
    def batches(self) -> Integrated:
        """What was integrated over each batch, NaN for those that have not ended."""
        return self.system.batches

    @property
    def now(self) -> float:
        """Simulated time of the last event."""
        return float(self.system.clocks[NOW])

    @property
    def n_submitted(self) -> int:
        """Number of jobs that have been submitted."""
        return int(self.system.counts[SUBMITTED])

    @property
    def n_terminated(self) -> int:
        """Number of jobs that have ended."""
        return int(self.system.counts[TERMINATED])

    @property
    def n_batches(self) -> int:
        """Number of batches that have ended, the warm-up included."""
        return int(self.system.counts[N_BATCHES])

    @property
    def oldest(self) -> int:
        """Number of the job in the system that was submitted first; of the next one where there is none."""
        places = np.concatenate([self.places.astype(np.int64), self.waiting_places])
        numbers = self.system.table.whole[places, NUMBER]
        return int(numbers.min()) if len(places) else self.n_submitted

    @property
    def places(self) -> np.ndarray:
        """Places of the jobs in the matrix, in no order."""
        return self.system.table.order[PRESENT, : self.system.counts[N_JOBS]]

    @property
    def waiting_places(self) -> np.ndarray:
        """Places of the jobs that wait, in order of submission."""
        counts = self.system.counts
        return self.system.waiting.order[counts[FIRST_WAITING] : counts[END_WAITING]]

    def occupancy(self) -> np.ndarray:
        """Return the matrix: the number of the job on each PE of each used slot, or FREE.

        Returns
        -------
        ndarray of int, shape (n_slots, n_pes)
            Jobs are numbered from 0 in order of submission.
        """
        whole = self.system.table.whole
        matrix = np.full((int(self.system.counts[N_SLOTS]), self.n_pes), FREE)
        for job in self.places:
            matrix[whole[job, SLOT], self.pes_of(job)] = whole[job, NUMBER]
        return matrix

    def pes_of(self, job: int) -> np.ndarray:
        """Return the numbers of the PEs of the job in a place of the table."""
        bits = np.unpackbits(self.system.table.pes[job].astype("<u8").view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)
