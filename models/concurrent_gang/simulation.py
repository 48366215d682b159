"""One simulation of Concurrent Gang, from Python: feeds the engine and exposes its state between events."""

from collections.abc import Iterator

import numpy as np

from models import keys
from models.arrays import Ints
from models.concurrent_gang import engine, state
from models.concurrent_gang.codes import EMPTY, NONE
from models.concurrent_gang.events import no_timers
from models.concurrent_gang.policies import Hardware, Rules
from models.concurrent_gang.recording import Recorder, no_record
from models.jobs.ended import Ended, empty_ended
from models.jobs.jobs import Jobs
from models.kernels.compiling import function_pointer
from models.packing.driver import ENDLESS, Driver, Measured, scalars, tables
from models.packing.schemes.signature import PLACE_SIGNATURE, RELEASE_SIGNATURE
from models.point import Seed
from models.streams import stream
from models.topology.links import OWN_DISKS
from models.workloads.statements import Statements

FIRST_JOBS, FIRST_TASKS, FIRST_MESSAGES, FIRST_ENDED = 64, 1024, 1024, 4096
"""Initial number of places; it is doubled whenever more are needed."""


class Simulation(Driver):
    """Tasks of jobs on PEs.

    `seed` identifies the random numbers of the statements. If the workload `ends` by itself, the tables grow
    with the jobs. A recorder records the activity of every PE.
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
        scheme = rules.scheme.compiled()
        self._functions = (
            function_pointer(scheme.place, PLACE_SIGNATURE),
            function_pointer(scheme.release, RELEASE_SIGNATURE),
        )
        self._recorder, self._keys = recorder, stream(seed, "statements")
        grades_drawn = recorder is not None and not recorder.only_busy
        settings = state.Settings(
            n_pes,
            hardware.disks,
            measured.sessions.start,
            measured.sessions.stop,
            measured.n_jobs,
            measured.batch_size,
            int(rules.coordinated and (rules.local == "priority" or grades_drawn)),
            0 if recorder is None or not recorder.only_busy else ENDLESS,
            rules.window,
            ENDLESS if rules.slots_limit is None else rules.slots_limit,
            **rules.codes,
            **keys.codes(hardware),
            **keys.codes(statements),
        )
        costs = state.Costs(
            rules.slice,
            rules.alpha,
            rules.beta,
            rules.newcomer_priority,
            hardware.context_switch,
            rules.central_cost * n_pes,
            np.inf if rules.coordinated else rules.turn,
            hardware.link_latency,
            statements.message_bytes / hardware.bandwidth,
            statements.barrier_latency,
            statements.io_time,
            statements.seconds,
            statements.overhead,
        )
        most_jobs = ENDLESS if ends else rules.job_limit
        limit = min(FIRST_JOBS, most_jobs)
        pes = np.zeros(n_pes, state.PE)
        for field in ("runs", "loaded", "owner", "first", "last", "row"):
            pes[field] = NONE
        pes["idle_as"], pes["since"] = EMPTY, measured.since
        first = scalars(state.SCALARS, measured, limit)
        first["n_free_messages"] = FIRST_MESSAGES
        n_disks = n_pes if hardware.disks == OWN_DISKS else max(hardware.disks, 1)
        system = state.System(
            **tables(rules.scheme, rules.parameters, n_pes, limit),
            settings=settings,
            costs=costs,
            program=program_of(statements),
            tasks=np.zeros(FIRST_TASKS, state.TASK),
            jobs=np.zeros(limit, state.JOB),
            pes=pes,
            timers=no_timers(n_pes),
            wakes=state.Wakes(np.zeros(FIRST_TASKS), np.zeros(FIRST_TASKS, np.int64)),
            network=state.Network(
                hardware.torus.array,
                np.zeros(max(hardware.torus.diameter, 1), np.int64),
                np.zeros(hardware.torus.n_links),
                _chained(0, FIRST_MESSAGES),
                np.zeros(FIRST_MESSAGES, np.int64),
                np.zeros(FIRST_MESSAGES),
                np.zeros(n_disks),
            ),
            marked=np.zeros(n_pes, np.int64),
            vacant_tasks=np.full(64, NONE),
            state=first,
            ended=empty_ended(FIRST_ENDED),
            batches=np.zeros(measured.batch_limit, state.SCALARS),
            record=no_record(),
        )
        super().__init__(system, n_pes, chunks, measured, most_jobs)

    def _advance(self, n_batches: int, until: float) -> int:
        self._prepare_record()
        limits = state.Limits(n_batches, self._more_arrivals, until)
        status = int(engine.advance(*self._functions, self.system, self._arrivals, limits))
        if self._recorder is not None:
            self._recorder.take(self.system)
        if status == engine.TASKS_FULL:
            self._enlarge_tasks()
            return self._advance(n_batches, until)
        return status

    def _prepare_record(self) -> None:
        if self._recorder is not None:
            self.system = self.system._replace(record=self._recorder.record_for(self.system))

    def _stop_measuring(self, now: float) -> None:
        engine.stop_at(self.system, now, False)

    def cut(self, horizon: float) -> None:
        """End the run and the batch at a time; all events before it have happened."""
        self._prepare_record()
        engine.stop_at(self.system, horizon, True)
        if self._recorder is not None:
            self._recorder.take(self.system)

    def measure_no_more(self) -> None:
        """Continue without closing batches; jobs that end are still handed out."""
        settings = self.system.settings._replace(n_measured=ENDLESS, batch_size=ENDLESS)
        self.system = self.system._replace(settings=settings)

    def record_only(self, n_jobs: int) -> None:
        """From now on, record only when the first `n_jobs` jobs compute."""
        self.system = self.system._replace(settings=self.system.settings._replace(recorded=n_jobs))

    def _arriving(self, jobs: Jobs) -> state.Arrivals:
        keys = self._keys.integers(0, 1 << 62, len(jobs))
        return state.Arrivals(jobs.submit, jobs.size, jobs.runtime, keys)

    def _take_record(self) -> None:
        """Free space for further ended jobs; the record of PEs is taken after each call of the engine."""
        room = len(self.system.ended.number)
        if self.state.n_ended == room:
            ended = Ended(*(_enlarged(column, 2 * room) for column in self.system.ended))
            self.system = self.system._replace(ended=ended)

    def _enlarge(self, limit: int) -> None:
        super()._enlarge(limit)
        self.system = self.system._replace(jobs=_enlarged(self.system.jobs, limit))

    def _enlarge_tasks(self) -> None:
        """Double the places of tasks and messages."""
        system = self.system
        n_tasks, n_messages = 2 * len(system.tasks), len(system.network.next)
        n_tasks = max(n_tasks, 2 << (self.n_pes - 1).bit_length())
        network = system.network._replace(
            next=np.concatenate([system.network.next, _chained(n_messages, 2 * n_messages)]),
            exchange=_enlarged(system.network.exchange, 2 * n_messages),
            arrival=_enlarged(system.network.arrival, 2 * n_messages),
        )
        network.next[2 * n_messages - 1] = self.state.free_message
        self.state.free_message = n_messages
        self.state.n_free_messages += n_messages
        self.system = system._replace(
            tasks=_enlarged(system.tasks, n_tasks),
            wakes=state.Wakes(*(_enlarged(each, n_tasks) for each in system.wakes)),
            network=network,
        )

    def ended(self) -> Ended:
        """Return the measured jobs that have ended, in order of their ends."""
        return Ended(*(column[: self.state.n_ended] for column in self.system.ended))

    @property
    def batches(self) -> np.ndarray:
        """The state at the end of each batch, with its sums: `state.SCALARS`, shape (n_batches,)."""
        return self.system.batches[: self.n_batches]


def program_of(statements: Statements) -> state.Program:
    """Return the tasks' programs in the form that the engine takes."""
    declared = [phase for program in statements.programs for phase in program]
    phases = np.zeros(len(declared), state.PHASE)
    steps: list[tuple[int, int]] = []
    for phase, row in zip(declared, phases, strict=True):
        row["first_step"], row["n_steps"], row["n_local"] = len(steps), len(phase.steps), phase.local
        row["share"], row["tasks"] = phase.share, phase.tasks
        steps += phase.steps
    # Arrays must not be empty, even if nothing blocks.
    numbers, kinds = np.array([*steps, (1, 0)], np.int64).T.copy()
    first = np.cumsum([0, *map(len, statements.programs)])
    upto = np.cumsum(statements.shares)
    return state.Program(phases, numbers, kinds, first, upto, np.array(statements.classes, np.int64))


def _chained(first: int, end: int) -> Ints:
    """Return the places from `first` to before `end` as a list of unused ones."""
    following = np.arange(first + 1, end + 1)
    following[-1] = NONE
    return following


def _enlarged(values: np.ndarray, length: int) -> np.ndarray:
    found = np.zeros((length, *values.shape[1:]), values.dtype)
    found[: len(values)] = values
    return found
