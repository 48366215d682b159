"""The twin whose idle nodes are powered down: all are checked each 10 s or 11, and after a change."""

from dataclasses import dataclass, field

from slurm_twin import Twin, TwinJob


@dataclass
class PowerTwin(Twin):
    """Nodes of two lines of slurm.conf, the second from `first_line` on; of all but the last one the first
    `spares` idle ones stay up. States are up, stopping, down and booting, with the second since when."""

    first_line: int = 0
    idle_for: int = 0
    off_for: int = 0
    boots: int = 0
    rates: tuple[int, int] = (0, 0)
    spares: int = 0
    begun: bool = False
    state: dict[int, str] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)
    weights: dict[int, int] = field(default_factory=dict)
    allocated: dict[int, int] = field(default_factory=dict)  # of each job
    changes: set[int] = field(default_factory=set)
    planned: set[int] = field(default_factory=set)
    last: int = 0
    watts: list[dict[str, float]] = field(default_factory=list)  # of each node
    drawn: list[dict[str, float]] = field(default_factory=list)  # in each second
    counts: list[float] = field(default_factory=lambda: [0.0, 0.0])  # powered down, booted; or tokens
    periods: list[int] = field(default_factory=lambda: [-999, -999])
    plans: bool = False

    def run(self) -> None:
        self.state = dict.fromkeys(range(len(self.nodes)), "down" if self.begun else "up")
        self.since = dict.fromkeys(self.state, 0)
        self.weigh()
        super().run()

    def weight(self, node: int) -> int:
        level, own = self.weights.get(node, 0), int(node < self.first_line)
        if self.since_24_11:
            boots = self.since_25_05 and self.state[node] == "booting" and self.since[node] > self.now
            level = 1 if boots else (1 + (self.since_25_05 and not self.plans)) * (level > 0)
            return 4 * level + 2 * own + super().weight(node)
        return 4 * level + 2 * own * (not level) + super().weight(node)

    def is_idle(self, node: int) -> bool:
        return not any(node in job.given for job in self.running) and node not in self.completing

    def members(self, job: TwinJob) -> set[int]:
        return super().members(job) - self.unavailable

    def start(self, job: TwinJob, given: dict[int, int], by: bool) -> None:
        super().start(job, given, by)
        self.allocated[job.number] = self.now
        self.changes.add(self.now)
        if not self.are_up(job):
            job.suspended, job.end = self.now, 10**9

    def are_up(self, job: TwinJob) -> bool:
        up = [self.state[n] == "booting" and self.since[n] <= self.now for n in job.given]
        return all(b or self.state[n] in ("up", "stopping") for n, b in zip(job.given, up, strict=True))

    def end_spent(self) -> bool:
        """Begin jobs whose nodes have booted."""
        ready = [job for job in self.running if job.suspended is not None and self.are_up(job)]
        for job in ready:
            job.start, job.end, job.suspended = self.now, self.now + job.runtime, None
        return bool(ready)

    def freed(self, job: TwinJob, node: int) -> int:
        return job.end + (job.answers.get(node, job.message) if job.message else 0)

    def draw(self, at: int) -> dict[str, float]:
        """Return the watts of all nodes by state in the second that begins at an instant."""
        found = dict.fromkeys(("idle", "busy", "boot", "off"), 0.0)
        begun = [job for job in self.jobs if job.start is not None and job.suspended is None]
        running = [job for job in begun if job.start <= at < job.end]
        for node, watts in enumerate(self.watts):
            boots = self.state[node] == "booting" and self.since[node] > at
            state = "boot" if boots else "off" if self.state[node] == "down" else "idle"
            share = sum(job.given.get(node, 0) for job in running) / self.nodes[node][0]
            found[state] += watts[state]
            found["idle"] -= share * watts["idle"]
            found["busy"] += share * watts["busy"]
        return found

    def slice(self) -> bool:
        self.drawn += [self.draw(self.now - 1)] if self.now else []
        ended = [job for job in self.jobs if job.start is not None and job not in self.running]
        changes = self.changes | {job.end for job in ended}
        changes |= {self.freed(job, node) for job in ended for node in job.given}
        booted = {n for n, state in self.state.items() if state == "booting" and self.since[n] <= self.now}
        changed = any(self.since[n] == self.now for n in booted)
        self.state |= dict.fromkeys(booted, "up")
        first = self.last + self.since_24_11
        if any(first <= at < self.now for at in changes) or self.now >= first + 10:
            before = dict(self.state)
            self.scan([job for job in self.jobs if job.start is not None])
            changed = changed or (self.since_24_11 and self.state != before)
        return changed

    def allowed(self, k: int) -> float:
        """Return how many nodes may be powered down (0) or booted (1) in this check."""
        rate = self.rates[k]
        if not rate:
            return float("inf")
        if not self.since_24_11:
            self.counts[k] *= max(60 - (self.now - self.last), 0) / 60
            return rate - nearest(self.counts[k])
        period = 1000 * self.now // (60_000 // rate)
        self.counts[k] = min(self.counts[k] + period - self.periods[k], max(rate // 6, 1))
        self.periods[k] = period
        return self.counts[k]

    def scan(self, jobs: list[TwinJob]) -> None:
        now = self.now
        stops, boots = self.allowed(0), self.allowed(1)
        self.last = now
        for job in sorted(self.running, key=lambda job: (self.allocated[job.number], self.order(job))):
            for node in sorted(job.given) if job.suspended is not None else ():
                if self.state[node] == "down" and boots > 0:
                    self.state[node], self.since[node] = "booting", now + self.boots
                    self.changes.add(self.since[node])
                    boots -= 1
                    self.counts[1] += 1 - 2 * self.since_24_11
        up = [n for n in range(len(self.nodes) - 1) if self.state[n] == "up"]
        free = [n for n in up if self.is_idle(n)]
        spares = max(self.spares - (len(up) - len(free)) * self.since_24_11, 0)
        stay = free[:spares] if self.spares < len(self.nodes) - 1 else range(len(self.nodes) - 1)
        for node in range(len(self.nodes)):
            of_node = [self.freed(job, node) for job in jobs if node in job.given and job not in self.running]
            idle = max([self.since[node], *(at for at in of_node if at <= now)])
            is_due = self.state[node] == "up" and self.is_idle(node) and idle < now - self.idle_for
            if is_due and node not in stay and stops > 0:
                self.state[node], self.since[node] = "stopping", now
                stops -= 1
                self.counts[0] += 1 - 2 * self.since_24_11
            if self.state[node] == "stopping" and self.since[node] + self.off_for < now:
                self.state[node], self.since[node] = "down", now
        self.unavailable = {node for node, state in self.state.items() if state == "stopping"}
        self.weigh()

    def weigh(self) -> None:
        for line in range(self.first_line), range(self.first_line, len(self.nodes)):
            off = {node for node in line if self.state[node] in ("stopping", "down")}
            self.weights |= {node: (1 if len(off) == len(line) else 2) if node in off else 0 for node in line}

    def order(self, job: TwinJob) -> int:
        return list(self.allocated).index(job.number)

    def cycle(self) -> bool:
        self.changes |= {self.now} if self.planned else set()
        self.planned = set()
        self.plans = True
        started = super().cycle()
        self.plans = False
        self.planned = {node for node in self.planned if self.is_idle(node)}
        self.changes |= {self.now} if self.planned else set()
        return started

    def reserved(self, plan, begin: int, end: int, nodes: set[int]):
        self.planned |= nodes
        return super().reserved(plan, begin, end, nodes)


def nearest(count: float) -> int:
    """Return the nearest whole number, as Slurm rounds."""
    return int(count + 0.5)
