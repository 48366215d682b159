"""One simulation of a gang scheduler, from Python: feeds the engine and exposes its state between events."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from models import keys
from models.arrays import Floats
from models.gang import engine, slices
from models.gang.policies import BACKFILL, PRECEDENCE, Rules
from models.gang.profile import AT_PRESENT, profile_for
from models.gang.queueing import ADMIT_SIGNATURE, never_called
from models.gang.recording import Recorder, no_record
from models.gang.state import NO_LIMIT, SCALARS, Arrivals, Goal, Integrated, Settings, System, arrivals_of
from models.jobs.ended import Ended, empty_ended
from models.jobs.jobs import Jobs
from models.jobs.measuring import Measuring
from models.jobs.ties import INSTANT
from models.kernels.compiling import function_pointer
from models.packing.driver import ENDLESS, Driver, Measured, scalars, tables
from models.packing.schemes.signature import PLACE_SIGNATURE, REARRANGE_SIGNATURE, RELEASE_SIGNATURE
from models.packing.slots import NOWHERE
from models.workloads.repetition import RERUN_SIGNATURE, same_runtime

FREE = -1

NO_SLOTS_LIMIT = 1 << 40
"""More slots than there can be jobs, small enough not to overflow when multiplied by the number of PEs."""

FIRST_PLACES = 512
"""Initial number of places in the table; it is doubled whenever more jobs are in the system."""

ENDED_AT_ONCE = 1 << 15
"""Minimum of measured jobs taken from the engine together: a call takes as long as 300 jobs."""

SIGNATURES = (PLACE_SIGNATURE, RELEASE_SIGNATURE, REARRANGE_SIGNATURE, ADMIT_SIGNATURE, RERUN_SIGNATURE)
"""Types of the functions that the engine takes."""


class Simulation(Driver):
    """A gang scheduler serving a stream of job sessions.

    Parameters
    ----------
    chunks : iterator of Jobs
        The sessions.
    rerun, rerun_parameters
        Return the runtimes of repetitions, see `models.workloads.repetition`.
    ends : bool
        Whether the workload ends by itself: then the table grows with the jobs. A stream's run ends
        with more than `Rules.job_limit` in the system.
    measuring : Measuring, optional
        Receives the measured jobs that have ended, whole batches of them at a time.
    memory : int, optional
        KB of each PE, if that limits the jobs on it.
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
        measured = Measured(1000, 31) if measured is None else measured
        scheme = rules.scheme
        self._bounded = rules.slots_limit is not None or memory is not None
        admit = never_called
        if self._bounded:  # loaded when first needed
            from models.gang.admission import admit
        functions = (*scheme.compiled(), admit, rerun)
        self._functions = tuple(map(function_pointer, functions, SIGNATURES))
        self._recorder, self._measuring = recorder, measuring
        settings = Settings(
            n_pes,
            keys.codes(rules)["alternation"],
            int(rules.unification),
            int(scheme.migrates),
            PRECEDENCE[rules.precedence],
            int(rules.ties == INSTANT),
            measured.batch_size,
            measured.sessions.start,
            measured.sessions.stop,
            measured.n_jobs,
            NO_SLOTS_LIMIT if rules.slots_limit is None else min(rules.slots_limit, NO_SLOTS_LIMIT),
            int(rules.queue == BACKFILL),
            NO_LIMIT if memory is None else memory,
            int(rules.kill),
            int(scheme.keeps_books),
            slices.stretch(rules.slice, rules.switch_cost),
        )
        self._batches_at_once = -(-ENDED_AT_ONCE // measured.batch_size)
        self._n_handed_out = 0  # batches
        limit = min(FIRST_PLACES, rules.job_limit)
        state = scalars(SCALARS, measured, limit)
        state["repeating"] = state["next_candidate"] = NOWHERE
        packed = tables(scheme, rules.parameters, n_pes, limit, rules.slots_limit)
        system = System(
            **packed,
            settings=settings,
            rerun_parameters=np.zeros(1) if rerun_parameters is None else rerun_parameters,
            state=state,
            ended=empty_ended(self._batches_at_once * measured.batch_size),
            batches=Integrated(*(np.full(measured.batch_limit, np.nan) for _ in Integrated._fields)),
            queue=np.zeros(2 * limit, np.int64),
            profile=profile_for(packed["matrix"], n_pes, limit, scheme.migrates, self._bounded),
        )
        if recorder is not None:
            recorder.enlarge(limit)
        most_jobs = ENDLESS if ends else rules.job_limit
        super().__init__(system, n_pes, chunks, measured, most_jobs, rules.slots_limit)

    def _advance(self, n_batches: int, until: float) -> int:
        record = no_record() if self._recorder is None else self._recorder.record
        n_next = min(n_batches, self._n_handed_out + self._batches_at_once)
        goal = Goal(self._arrivals, self._more_arrivals, n_next, until)
        return int(engine.advance(*self._functions, self.system, goal, record))

    def _stop_measuring(self, now: float) -> None:
        engine.stop_measuring(self.system, now)

    def _arriving(self, jobs: Jobs) -> Arrivals:
        if self._measuring is not None and len(jobs):
            self._measuring.arrived(jobs)
        return arrivals_of(jobs)

    def _take_record(self) -> None:
        assert self._recorder is not None
        self._recorder.enlarge()

    def _enlarge(self, limit: int) -> None:
        before = self.system
        super()._enlarge(limit)
        migrates = bool(before.settings.migrating)
        profile = profile_for(self.system.matrix, self.n_pes, limit, migrates, self._bounded)
        profile.memory[AT_PRESENT] = before.profile.memory[AT_PRESENT]
        queue = np.zeros(2 * limit, np.int64)
        queue[: len(before.queue)] = before.queue
        self.system = self.system._replace(queue=queue, profile=profile)
        if self._recorder is not None:
            self._recorder.enlarge(limit)

    def _hand_out(self) -> None:
        """Hand out the jobs of the batches that have ended; jobs of a batch under way stay."""
        state, ended = self.state, self.system.ended
        n_left = int(state.in_batch)
        n_out = int(state.n_ended) - n_left
        if self._measuring is not None:
            # A job in the matrix runs at once, if only for its share of the time.
            out = Ended(*(column[:n_out] for column in ended))
            self._measuring.measure(out, wait=out.start - out.submit)
            if self._measuring.needs_columns:
                self._measuring.forget_before(self._oldest_session(n_out))
        for column in ended if n_left else ():
            column[:n_left] = column[n_out : n_out + n_left].copy()
        state.n_ended = n_left
        self._n_handed_out = self.n_batches

    def _oldest_session(self, n_out: int) -> int:
        """Return the first session of which some job has not been handed out."""
        state, jobs = self.state, self.system.table.jobs
        places = self.places_in_system
        if state.repeating != NOWHERE:
            places = np.append(places, state.repeating)
        sessions = np.append(jobs["session"][places], self.system.ended.session[n_out : state.n_ended])
        return int(sessions.min(initial=state.n_arrived))

    @property
    def batches(self) -> Integrated:
        """The integrals over each batch, NaN for batches that have not ended."""
        return self.system.batches

    @property
    def waiting_places(self) -> np.ndarray:
        """Places of the waiting jobs, in order of submission."""
        return self.system.queue[self.state.first_waiting : self.state.end_waiting]

    @property
    def places_in_system(self) -> np.ndarray:
        """Places of the jobs in the matrix and of the waiting jobs."""
        return np.concatenate([self.places.astype(np.int64), self.waiting_places])

    def occupancy(self) -> np.ndarray:
        """Return the matrix: the number of the job on each PE of each used slot, or FREE.

        Returns
        -------
        ndarray of int, shape (n_slots, n_pes)
            Jobs are numbered from 0 in order of submission.
        """
        jobs = self.system.table.jobs
        matrix = np.full((int(self.state.n_slots), self.n_pes), FREE)
        for place in self.places:
            pes = np.unpackbits(self.system.table.pes[place].astype("<u8").view(np.uint8), bitorder="little")
            matrix[jobs["slot"][place], np.flatnonzero(pes)] = jobs["number"][place]
        return matrix
