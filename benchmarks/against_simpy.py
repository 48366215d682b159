"""EASY against the same scheduler in SimPy, on identical jobs; a test compares the starts of all of them.

Jobs are drawn beforehand; what is timed is the CPU time of a whole schedule on one core, once compiled. The
kernel has more jobs to do, or the clock would hardly tick.

The scheduler is one as a SimPy user would write it: jobs are processes that wait for their start and then for
their end; it scans the queue after each submission and each end. It has no rule for ties: for jobs whose
times never coincide.
"""

from collections.abc import Generator
from statistics import median

import numpy as np
import simpy

from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.points import PROCESSORS, policies, stream
from benchmarks.record import Cell, Findings, Table, Target
from models.backfill.engine import schedule
from models.jobs.jobs import Jobs
from models.jobs.machine import pool

LOADS = (0.8, 0.95)
TARGET = 50.0
SIMPY_JOBS = 10_000


def run(quick: bool) -> Findings:
    """Time both at several loads."""
    n_jobs = SIMPY_JOBS // 10 if quick else SIMPY_JOBS
    machine, rules = pool(PROCESSORS), policies("easy")["easy"]
    rows: list[list[Cell]] = []
    ratios: list[float] = []
    for load in LOADS:
        few, many = (stream(machine, n, load=load) for n in (n_jobs, 10 * n_jobs))
        schedule(few, machine, rules)  # compiled beforehand
        actions = {
            "SimPy": lambda few=few: cpu_seconds(lambda: starts(few, PROCESSORS)) / len(few),
            "kernel": lambda many=many: cpu_seconds(lambda: schedule(many, machine, rules)) / len(many),
        }
        taken = in_turn(actions, 1 if quick else 5)
        ratios.append(median_ratio(taken["SimPy"], taken["kernel"]))
        rows.append([str(load), *(1e6 * median(each) for each in taken.values()), ratios[-1]])
    title = f"EASY on {PROCESSORS} processors: CPU time a job, microseconds"
    return Findings(
        [Table(title, ["load", "SimPy", "kernel", "times faster"], rows)],
        [Target("faster than SimPy, least of the loads", min(ratios), TARGET, "times", at_least=True)],
    )


Waiting = Generator[simpy.Event, object, None]
Entry = tuple[simpy.Event, int, float]


class Pool:
    """Processors, the jobs on them, and the queue in front.

    Parameters
    ----------
    environment : simpy.Environment
    processors : int
    """

    def __init__(self, environment: simpy.Environment, processors: int) -> None:
        self.environment = environment
        self.free = processors
        self.queue: list[Entry] = []
        self.running: dict[simpy.Event, tuple[float, int]] = {}

    def submissions(self, jobs: Jobs, start: np.ndarray) -> Waiting:
        """Submit jobs one by one, and have their start times written down."""
        columns = (getattr(jobs, name).tolist() for name in ("submit", "size", "runtime", "requested"))
        for number, (submit, size, runtime, requested) in enumerate(zip(*columns, strict=True)):
            yield self.environment.timeout(submit - self.environment.now)
            self.environment.process(self.job(number, size, runtime, requested, start))

    def job(self, number: int, size: int, runtime: float, requested: float, start: np.ndarray) -> Waiting:
        """Wait for processors, hold them for the runtime, give them back."""
        begins = self.environment.event()
        self.queue.append((begins, size, requested))
        self.start_jobs()
        yield begins
        start[number] = self.environment.now
        yield self.environment.timeout(runtime)
        del self.running[begins]
        self.free += size
        self.start_jobs()

    def start_jobs(self) -> None:
        """Start the first jobs of the queue as long as they fit, then backfill."""
        while self.queue and self.queue[0][1] <= self.free:
            self._start(self.queue[0])
        if not self.queue:
            return
        shadow, extra = self._reservation(self.queue[0][1])
        for entry in self.queue[1:]:
            _, size, requested = entry
            ends_before = self.environment.now + requested <= shadow
            if size <= self.free and (ends_before or size <= extra):
                extra -= 0 if ends_before else size
                self._start(entry)

    def _start(self, entry: Entry) -> None:
        begins, size, requested = entry
        self.queue.remove(entry)
        self.free -= size
        self.running[begins] = (self.environment.now + requested, size)
        begins.succeed()

    def _reservation(self, size: int) -> tuple[float, int]:
        """Return the shadow time and the processors left over at it."""
        free = self.free
        for expected, freed in sorted(self.running.values()):
            free += freed
            if free >= size:
                return expected, free - size
        raise ValueError(f"a job of {size} processors is larger than the machine")


def starts(jobs: Jobs, processors: int) -> np.ndarray:
    """Return the start times of all jobs; none may run longer than requested."""
    environment = simpy.Environment()
    start = np.full(len(jobs), np.nan)
    environment.process(Pool(environment, processors).submissions(jobs, start))
    environment.run()
    return start
