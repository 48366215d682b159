"""One simulation of Concurrent Gang, from Python: feeds the engine and can be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.arrays import Floats, Ints
from models.concurrent_gang import engine, state
from models.concurrent_gang.events import no_timers
from models.concurrent_gang.policies import LOCAL, OWN_DISKS, RETURNS, Hardware, Rules
from models.concurrent_gang.recording import Recorder, no_record
from models.concurrent_gang.state import (
    ALL_TO_ALL,
    BATCH_START,
    CURSOR,
    EXPONENTIAL,
    FIRST_STEP,
    MEASURED_UNTIL,
    MEASURING,
    N_BATCHES,
    N_CHOICES,
    N_CLOCKS,
    N_COUNTS,
    N_ENDED,
    N_FREE_MESSAGES,
    N_JOBS,
    N_LOCAL,
    N_PHASE_FIELDS,
    N_STEPS,
    N_TASK_REAL,
    N_TASK_WHOLE,
    N_VACANT,
    NONE,
    NOW,
    PARTNERS,
    RANDOM_SPACING,
    SUBMITTED,
    TERMINATED,
    Arrivals,
    Costs,
    Ended,
    Limits,
    Network,
    Program,
    Settings,
    System,
    Tasks,
    Wakes,
)
from models.jobs.jobs import Jobs
from models.kernels.passed import passed
from models.packing.matrix import (
    PRESENT,
    Books,
    empty_matrix,
    empty_table,
    enlarged_matrix,
    enlarged_table,
    room_for,
)
from models.packing.schemes.signature import PLACE_SIGNATURE, RELEASE_SIGNATURE
from models.point import Seed
from models.streams import stream
from models.workloads.statements import PARTNERS as PARTNER_NAMES
from models.workloads.statements import Statements

ENDLESS = 1 << 62

FIRST_JOBS, FIRST_TASKS, FIRST_MESSAGES = 64, 1024, 1024
"""There is room for so many at first, and for twice as many whenever that does not do."""

ENDED_AT_ONCE = 4096
"""Jobs that have ended before Python takes them away."""


@dataclass(frozen=True)
class Measured:
    """What of a simulation is measured.

    Parameters
    ----------
    batch_size : int
        Measured jobs that end in a batch.
    batch_limit : int
        Room for so many batches.
    jobs : range
        Those that count; the ones before them fill the machine.
    until : float
        Time at which the machine is no longer measured.
    since : float
        Time from which it is, where nothing comes before the measured jobs.
    """

    batch_size: int = ENDLESS
    batch_limit: int = 1
    jobs: range = range(ENDLESS)
    until: float = np.inf
    since: float = 0.0


class Simulation:
    """Tasks of jobs on PEs.

    Parameters
    ----------
    rules : Rules
    hardware : Hardware
    statements : Statements
        What the tasks do.
    chunks : iterator of Jobs
        What arrives.
    seed : tuple of int
        Names the random numbers of the statements.
    measured : Measured, optional
    ends : bool
        Whether the workload ends by itself: then there is room for as many jobs as come.
    recorder : Recorder, optional
        Takes down what every PE does.
    """

    def __init__(
        self,
        rules: Rules,
        hardware: Hardware,
        statements: Statements,
        chunks: Iterator[Jobs],
        seed: Seed,
        measured: Measured | None = None,
        *,
        ends: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        measured = Measured() if measured is None else measured
        n_pes = hardware.torus.n_processors
        self.n_pes = n_pes
        scheme = rules.scheme.compiled()
        self._functions = passed(scheme.place, PLACE_SIGNATURE), passed(scheme.release, RELEASE_SIGNATURE)
        self._chunks, self._recorder = chunks, recorder
        self._most_jobs = ENDLESS if ends else rules.job_limit
        self._until = measured.until
        self._keys = stream(seed, "statements")
        self._ended: list[Ended] = []
        graded = rules.coordinated and (rules.local == "priority" or recorder is not None)
        settings = Settings(
            n_pes,
            int(rules.coordinated),
            LOCAL.index(rules.local),
            RETURNS.index(rules.returns),
            int(rules.local_preemption),
            int(rules.cells == "task"),
            int(rules.spinning),
            int(hardware.contention),
            hardware.n_disks,
            measured.jobs.start,
            measured.jobs.stop,
            len(measured.jobs) if measured.jobs.stop < ENDLESS else ENDLESS,
            measured.batch_size,
            int(graded),
        )
        costs = Costs(
            rules.slice,
            rules.alpha,
            rules.beta,
            rules.newcomer_priority,
            hardware.switch,
            rules.central_cost * n_pes,
            rules.quantum,
            hardware.latency,
            statements.message_bytes / hardware.bandwidth,
            statements.barrier_latency,
            statements.io_time,
            statements.seconds,
        )
        limit = min(FIRST_JOBS, self._most_jobs)
        counts = np.zeros(N_COUNTS + state.N_CAUSES, np.int64)
        counts[N_VACANT] = limit
        counts[N_FREE_MESSAGES] = FIRST_MESSAGES
        counts[MEASURING] = measured.jobs.start == 0
        clocks = np.zeros(N_CLOCKS)
        clocks[BATCH_START], clocks[MEASURED_UNTIL] = measured.since, np.inf
        whole = np.zeros((n_pes, state.N_PE_WHOLE), np.int64)
        for field in (state.RUNS, state.LOADED, state.OWNER, state.FIRST, state.LAST):
            whole[:, field] = NONE
        whole[:, state.IDLE_AS] = state.EMPTY
        real = np.zeros((n_pes, state.N_PE_REAL))
        real[:, state.SINCE] = measured.since
        n_disks = n_pes if hardware.n_disks == OWN_DISKS else max(hardware.n_disks, 1)
        self.system = System(
            settings,
            costs,
            program_of(statements),
            empty_matrix(n_pes, limit),
            empty_table(n_pes, limit),
            room_for(n_pes, limit),
            # A scheme without parameters gets one that means nothing: an array needs a length.
            Books(np.zeros(rules.scheme.memory(n_pes), np.int64), np.array([*rules.parameters, 0], np.int64)),
            Tasks(
                np.zeros((FIRST_TASKS, N_TASK_WHOLE), np.int64),
                np.zeros((FIRST_TASKS, N_TASK_REAL)),
                np.zeros((FIRST_TASKS, 2 * state.MEASURES)),
            ),
            state.Jobs(np.zeros((limit, state.N_JOB_WHOLE), np.int64), np.zeros((limit, state.N_JOB_REAL))),
            state.Pes(whole, real, no_timers(n_pes)),
            Wakes(np.zeros(FIRST_TASKS), np.zeros(FIRST_TASKS, np.int64)),
            Network(
                hardware.torus.array,
                np.zeros(max(hardware.torus.diameter, 1), np.int64),
                np.zeros(hardware.torus.n_links),
                _chained(0, FIRST_MESSAGES),
                np.zeros(FIRST_MESSAGES, np.int64),
                np.zeros(FIRST_MESSAGES),
                np.zeros(n_disks),
            ),
            np.zeros(n_pes, np.int64),
            np.full(64, NONE),
            counts,
            clocks,
            _nobody(),
            np.full((measured.batch_limit, N_CLOCKS), np.nan),
            no_record(),
        )
        self._arrivals = _no_arrivals()
        self._more_arrivals = True

    def run(self, n_batches: int, until: float = np.inf) -> int:
        """Simulate until so many batches have ended, and say why it stopped (`engine.BATCHES_DONE` …)."""
        while True:
            if self._recorder is not None:
                self.system = self.system._replace(record=self._recorder.room(self.system))
            limits = Limits(n_batches, self._more_arrivals, float(min(until, self._until)))
            status = engine.advance(*self._functions, self.system, self._arrivals, limits)
            self._take_ended()
            if status == engine.ARRIVALS_USED_UP:
                self._take_arrivals()
            elif status == engine.ROOM_USED_UP:
                self._enlarge_tasks()
            elif status == engine.TABLE_FULL and len(self.system.jobs.whole) < self._most_jobs:
                self._enlarge_jobs()
            elif status == engine.TIME_REACHED and self._until <= until:
                engine.stop_at(self.system, self._until, False)
                self._until = np.inf
            elif status != engine.HANDED_OUT:
                return int(status)

    def cut(self, horizon: float) -> None:
        """Let the run end at a time, and the batch with it; all events before it have happened."""
        if self._recorder is not None:
            self.system = self.system._replace(record=self._recorder.room(self.system))
        engine.stop_at(self.system, horizon, True)
        if self._recorder is not None:
            self._recorder.take(self.system)

    def measure_no_more(self) -> None:
        """Go on without ending any more batches."""
        settings = self.system.settings._replace(n_measured=ENDLESS, batch_size=ENDLESS)
        self.system = self.system._replace(settings=settings)

    def _take_arrivals(self) -> None:
        chunk = next(self._chunks, None)
        self._more_arrivals = chunk is not None
        self._arrivals = _no_arrivals()
        if chunk is not None:
            keys = self._keys.integers(0, 1 << 62, len(chunk))
            self._arrivals = Arrivals(chunk.submit, chunk.size, chunk.runtime, keys)
        self.system.counts[CURSOR] = 0

    def _take_ended(self) -> None:
        n = self.system.counts[N_ENDED]
        if n:
            self._ended.append(Ended(*(column[:n].copy() for column in self.system.ended)))
            self.system.counts[N_ENDED] = 0
        if self._recorder is not None:
            self._recorder.take(self.system)

    def _enlarge_jobs(self) -> None:
        """Give the table of jobs, and the matrix, twice the room; places are only names."""
        system = self.system
        before = len(system.jobs.whole)
        limit = min(2 * before, self._most_jobs)
        self.system = system._replace(
            matrix=enlarged_matrix(system.matrix, self.n_pes, limit),
            table=enlarged_table(system.table, self.n_pes, limit),
            room=room_for(self.n_pes, limit),
            jobs=state.Jobs(*(_enlarged(each, limit) for each in system.jobs)),
        )
        system.counts[N_VACANT] += limit - before

    def _enlarge_tasks(self) -> None:
        """Give tasks and messages twice the room."""
        system = self.system
        n_tasks, n_messages = 2 * len(system.tasks.whole), len(system.network.next)
        n_tasks = max(n_tasks, 2 << (self.n_pes - 1).bit_length())
        network = system.network._replace(
            next=np.concatenate([system.network.next, _chained(n_messages, 2 * n_messages)]),
            exchange=_enlarged(system.network.exchange, 2 * n_messages),
            arrival=_enlarged(system.network.arrival, 2 * n_messages),
        )
        network.next[2 * n_messages - 1] = system.counts[state.FREE_MESSAGE]
        system.counts[state.FREE_MESSAGE] = n_messages
        system.counts[N_FREE_MESSAGES] += n_messages
        self.system = system._replace(
            tasks=Tasks(*(_enlarged(each, n_tasks) for each in system.tasks)),
            wakes=Wakes(*(_enlarged(each, n_tasks) for each in system.wakes)),
            network=network,
        )

    def ended(self) -> Ended:
        """Return the measured jobs that have ended, in order of their ends."""
        if not self._ended:
            return Ended(*(column[:0] for column in self.system.ended))
        if len(self._ended) > 1:
            self._ended = [Ended(*(np.concatenate(each) for each in zip(*self._ended, strict=True)))]
        return self._ended[0]

    @property
    def batches(self) -> Floats:
        """What was summed over each batch, shape (n_batches, `state.N_CLOCKS`)."""
        return self.system.batches[: self.system.counts[N_BATCHES]]

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
    def oldest(self) -> int:
        """Number of the job in the system that was submitted first; of the next one where there is none."""
        places = self.system.table.order[PRESENT, : self.system.counts[N_JOBS]]
        numbers = self.system.jobs.whole[places, state.JOB_NUMBER]
        return int(numbers.min()) if len(places) else self.n_submitted


def program_of(statements: Statements) -> Program:
    """Return what tasks do as the engine takes it."""
    n_phases = len(statements.phases)
    phases = np.zeros((n_phases, N_PHASE_FIELDS), np.int64)
    locals_: list[int] = []
    kinds: list[int] = []
    for phase, row in zip(statements.phases, phases, strict=True):
        row[FIRST_STEP], row[N_STEPS], row[N_LOCAL] = len(kinds), len(phase.steps), phase.local
        locals_ += [n for n, _ in phase.steps]
        kinds += [kind for _, kind in phase.steps]
    shares = [phase.share for phase in statements.phases] + [phase.tasks for phase in statements.phases]
    choices = np.zeros(N_CHOICES, np.int64)
    choices[EXPONENTIAL], choices[RANDOM_SPACING] = statements.exponential, statements.random
    choices[PARTNERS] = PARTNER_NAMES.index(statements.partners)
    assert PARTNER_NAMES[ALL_TO_ALL] == "all_to_all"
    # An array needs a length, also where nothing blocks.
    return Program(phases, np.array(shares), _ints([*locals_, 1]), _ints([*kinds, 0]), choices)


def _ints(values: list[int]) -> Ints:
    return np.array(values, np.int64)


def _chained(first: int, end: int) -> Ints:
    """Return the places from `first` to before `end` as a list of unused ones."""
    following = np.arange(first + 1, end + 1)
    following[-1] = NONE
    return following


def _enlarged(values: np.ndarray, room: int) -> np.ndarray:
    found = np.zeros((room, *values.shape[1:]), values.dtype)
    found[: len(values)] = values
    return found


def _nobody() -> Ended:
    kinds = (np.int64, float, float, float, float, np.int64)
    return Ended(*(np.zeros(ENDED_AT_ONCE, kind) for kind in kinds))


def _no_arrivals() -> Arrivals:
    return Arrivals(*(np.zeros(0, kind) for kind in (float, np.int64, float, np.int64)))
