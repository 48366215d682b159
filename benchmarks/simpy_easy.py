"""EASY on one pool as a SimPy user would write it: what the kernel is compared with.

Jobs are processes that wait for their start and then for their end; the scheduler scans the queue
after each submission and each end. It has no rule for ties: for jobs whose times never coincide.
"""

from collections.abc import Generator

import numpy as np
import simpy

from models.jobs.jobs import Jobs

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
        self.look()
        yield begins
        start[number] = self.environment.now
        yield self.environment.timeout(runtime)
        del self.running[begins]
        self.free += size
        self.look()

    def look(self) -> None:
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
