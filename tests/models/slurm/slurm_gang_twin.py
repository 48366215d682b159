"""The twins with gang scheduling: rows as sets of nodes that jobs share, or of cores."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from slurm_twin import Twin, TwinJob

Cores = set[tuple[int, int]]

GRACE = 2


@dataclass
class Row:
    """Jobs of a partition, those in its active row (for this slice, or as fillers), and their nodes."""

    tier: int
    jobs: list[TwinJob] = field(default_factory=list)
    active: list[TwinJob] = field(default_factory=list)
    fillers: list[TwinJob] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    n_taken: int = 0

    def admits(self, job: TwinJob) -> bool:
        return self.n_taken == 0 or not self.taken & set(job.given)

    def admit(self, job: TwinJob) -> None:
        self.taken |= set(job.given)
        self.n_taken += 1


@dataclass
class LinearTwin(Twin):
    """Whole nodes with `select/linear`: running jobs are taken out one by one."""

    reserves = False
    linear = True
    lines: Sequence[tuple[int, set[int]]] = ()  # of NodeName: weight and nodes

    def pick_now(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        added: set[int] = set()
        lines = sorted(self.lines, key=lambda one: one[0])
        for (weight, line), (following, _) in pairwise([*lines, (0, set())]):
            added |= line & members
            if self.since_24_11 and weight == following:  # they are alike otherwise: one line
                continue
            if given := super().pick_now(job, added):
                return given
        return {}

    def earliest(self, job: TwinJob, allowed: set[int], *window: int) -> tuple[int, dict[int, int]]:
        if given := self.pick(job, allowed, self.free(self.running)):
            return self.now, given
        left = sorted(self.running, key=lambda other: (other.expected, other.number))
        while left:
            last = left.pop(0)
            if given := self.pick(job, allowed, self.free(left)):
                return max(last.expected, self.now + 1), given
        return -1, {}


@dataclass
class GangTwin(Twin):
    """Jobs of whole nodes, `shared` of which may have a node; time slices begin at multiples of `length`."""

    reserves = False
    linear = True

    length: int = 10
    rows: dict[int, Row] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)  # job -> seconds that it still has to run
    resumed: dict[int, int] = field(default_factory=dict)  # when
    above: list[TwinJob] = field(default_factory=list)  # jobs that come first in lower rows

    def __post_init__(self) -> None:
        self.rows = {k: Row(tier) for k, (_, tier, _) in enumerate(self.partitions)}

    def from_top(self) -> list[Row]:
        return sorted(self.rows.values(), key=lambda row: -row.tier)

    def shadows(self, row: Row) -> list[TwinJob]:
        return [job for job in self.above if self.rows[job.partition].tier > row.tier]

    def clear(self, row: Row) -> None:
        row.taken, row.n_taken = set(), 0
        for job in self.shadows(row):
            row.admit(job)

    def update(self) -> None:
        for row in self.from_top():
            self.clear(row)
            for group in (row.active, row.fillers):
                for job in [job for job in row.jobs if job in group]:
                    if row.admits(job):
                        row.admit(job)
                        self.show(job)
                        continue
                    group.remove(job)
                    self.suspend(job)
            for job in row.jobs:
                if job not in row.active and job not in row.fillers and row.admits(job):
                    row.admit(job)
                    row.fillers.append(job)
                    self.resume(job)
                    self.show(job)

    def show(self, job: TwinJob) -> None:
        if job not in self.above:
            self.above.append(job)

    def start(self, job: TwinJob, given: dict[int, int], by: bool) -> None:
        super().start(job, given, by)
        row = self.rows[job.partition]
        row.jobs.append(job)
        if row.admits(job):
            row.admit(job)
            row.fillers.append(job)
            self.show(job)
            self.update()
        else:
            self.suspend(job)

    def leave(self, job: TwinJob) -> None:
        if job.suspended is not None:
            job.late += job.end - job.suspended
        row = self.rows[job.partition]
        for group in (row.jobs, row.active, row.fillers, self.above):
            if job in group:
                group.remove(job)
        self.update()

    def slice(self) -> bool:
        if self.now % self.length:
            return False
        before = [job.suspended for job in self.jobs]
        for row in self.from_top():
            if row.n_taken >= len(row.jobs) + len(self.shadows(row)):
                continue
            row.jobs = [job for job in row.jobs if job not in row.active] + [
                job for job in row.jobs if job in row.active
            ]
            row.active, row.fillers, row.n_taken = [], [], 0
            if not row.jobs:
                continue
            self.clear(row)
            for job in row.jobs:
                if row.admits(job):
                    row.admit(job)
                    row.active.append(job)
            for job in row.jobs:
                if job not in row.active:
                    self.suspend(job)
            for job in row.jobs:
                if job in row.active and job.suspended is not None:
                    self.resume(job)
                    self.show(job)
        return before != [job.suspended for job in self.jobs]

    def suspend(self, job: TwinJob) -> None:
        if job.suspended is not None:
            return
        job.suspended = self.now
        if job in self.above:
            self.above.remove(job)
        if job.end > self.now + GRACE and self.resumed.get(job.number) != self.now:
            self.left[job.number] = job.end - self.now - GRACE
            job.end = 10**9

    def resume(self, job: TwinJob) -> None:
        if job.suspended is None:
            return
        job.late += self.now - job.suspended
        if job.number in self.left:
            job.end = max(self.now, job.suspended + GRACE) + self.left.pop(job.number)
        job.suspended = None
        self.resumed[job.number] = self.now

    def having(self, most: int, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        """Return the nodes with at most `most` jobs, and their CPUs."""
        cpus = {node: self.nodes[node][0] for node in sorted(members)}
        return {node: n for node, n in cpus.items() if (n - free[node][0]) // n <= most}

    def pick(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        tried = 0
        for most in range(self.shared):
            offers = self.having(most, members, free)
            if len(offers) in range(job.nodes) or len(offers) == tried:
                continue
            tried = len(offers)
            if most:
                for other in sorted(self.running, key=lambda one: one.number):
                    enough = len(other.given) == job.nodes and sum(other.given.values()) >= job.tasks
                    if other.suspended is None and enough and set(other.given) <= set(offers):
                        return dict(other.given)
            if given := self.fit(job, True, offers):
                return given
        return {}

    def suspending(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        order = self.candidates(job)
        for attempt in (1, 2):
            gone: list[TwinJob] = []
            given: dict[int, int] = {}
            while order[len(gone) :] and not given:
                gone.append(order[len(gone)])
                left = self.free([other for other in self.running if other not in gone])
                offers = self.having(self.shared - 1, members, left)
                given = self.fit(job, True, offers) if len(offers) >= job.nodes else {}
            if not given:
                return {}
            if attempt == 2 or len(order) == 1:
                break
            before = sorted(gone[:-1], key=lambda other: -len(set(other.given) & set(offers)))
            order = [gone[-1], *before, *order[len(gone) :]]
        for other in gone:
            if set(other.given) & set(given) and other.warned_until is None:
                other.warned_until = other.expected
        return given

    def earliest(self, job: TwinJob, allowed: set[int], *window: int) -> tuple[int, dict[int, int]]:
        gone = self.candidates(job)
        left = sorted(self.running, key=lambda other: (other.expected, other.number))
        stay = [other for other in left if other not in gone]
        for there, most in ((left, 1), (left, self.shared - 1), (stay, self.shared - 1)):
            offers = self.having(min(most, self.shared - 1), allowed, self.free(there))
            if given := self.fit(job, True, offers):
                return self.now, given
        left = stay
        while left:
            last = left.pop(0)
            if given := self.fit(job, True, self.having(self.shared - 1, allowed, self.free(left))):
                return max(last.expected, self.now + 1), given
        return -1, {}


@dataclass
class CoreRow(Row):
    """A row in which jobs have no core in common, or no more CPUs of a node than it has."""

    cpus: int = 0
    cores: dict[int, Cores] = field(default_factory=dict)  # of each job
    by_core: bool = False
    used: Counter = field(default_factory=Counter)

    def admits(self, job: TwinJob) -> bool:
        if self.n_taken == 0:
            return True
        if self.by_core:
            return not any(self.used[core] for core in self.cores[job.number])
        return all(self.used[node] + n <= self.cpus for node, n in job.given.items())

    def admit(self, job: TwinJob) -> None:
        if self.n_taken == 0:
            self.used.clear()
        for core in self.cores[job.number] if self.by_core else ():
            self.used[core] = 1
        for node, n in job.given.items() if not self.by_core else ():
            self.used[node] = min(self.used[node] + n, self.cpus)
        self.n_taken += 1


class Supply(dict[int, tuple[int, ...]]):
    """CPUs and MB of each node, and the jobs in the rows of each partition."""

    lists: dict[int, list[list[TwinJob]]]


@dataclass
class CoreTwin(GangTwin):
    """Jobs of cores with `select/cons_tres`: each partition has a number of rows, and in each a core once."""

    linear = False

    by_core: bool = False
    sockets: int = 1
    depths: Sequence[int] = ()
    cores: dict[int, Cores] = field(default_factory=dict)
    lists: dict[int, list[list[TwinJob]]] = field(default_factory=dict)
    tried: Cores = field(default_factory=set)

    def __post_init__(self) -> None:
        for k, (_, tier, _) in enumerate(self.partitions):
            self.rows[k] = CoreRow(tier, cpus=self.nodes[0][0], cores=self.cores, by_core=self.by_core)
            self.lists[k] = [[] for _ in range(self.depths[k])]

    def shares(self, job: TwinJob) -> bool:
        return True

    def of_row(self, row: list[TwinJob]) -> Cores:
        return {core for job in row for core in self.cores[job.number]}

    def join(self, rows: list[list[TwinJob]], job: TwinJob) -> bool:
        for row in rows:
            if not self.of_row(row) & self.cores[job.number]:
                row.append(job)
                return True
        return False

    def exchange(self, rows: list[list[TwinJob]]) -> None:
        """Put full rows first, in the order of exchanges that Slurm makes."""
        for i in range(len(rows)):
            for j in range(i + 1, len(rows)):
                if len(self.of_row(rows[j])) > len(self.of_row(rows[i])):
                    rows[i], rows[j] = rows[j], rows[i]

    def leave_rows(self, rows: list[list[TwinJob]], job: TwinJob) -> None:
        left = [[other for other in row if other is not job] for row in rows]
        if left == rows:
            return
        fresh: list[list[TwinJob]] = [[] for _ in rows]
        every = sorted(
            (other for row in left for other in row),
            key=lambda other: (min(self.cores[other.number]), len(self.cores[other.number])),
        )
        fits = True
        for other in every:
            fits = self.join(fresh, other) and fits
            self.exchange(fresh)
        rows[:] = fresh if fits and len(rows) > 1 else left

    def free(self, running: Sequence[TwinJob]) -> Supply:
        supply = Supply(super().free(running))
        supply.lists = self.lists
        if running is not self.running:  # as if nothing ran
            supply.lists = {k: [[] for _ in rows] for k, rows in self.lists.items()}
            return supply
        ended = [job for rows in self.lists.values() for row in rows for job in row if job not in running]
        ended.sort(key=lambda job: (job.end, job.killed, job.expected * job.killed, job.number))
        for job in ended:
            self.leave_rows(self.lists[job.partition], job)
        return supply

    def lightened(self, job: TwinJob, members: set[int]) -> set[int]:
        return members

    def future(self) -> Supply:
        later = self.free(self.running)
        later.lists = {k: [list(row) for row in rows] for k, rows in self.lists.items()}
        return later

    def release(self, later: dict[int, tuple[int, ...]], job: TwinJob, preempted: bool = False) -> None:
        for node, n in job.given.items():
            later[node] = (later[node][0], later[node][1] + n * job.memory * (not preempted))
        self.leave_rows(later.lists[job.partition], job)

    def pick(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        tier = self.partitions[job.partition][1]
        used = {k: {core for row in rows for core in self.of_row(row)} for k, rows in free.lists.items()}
        lower = sorted(
            (k for k in used if self.partitions[k][1] < tier), key=lambda k: -self.partitions[k][1]
        )
        allowed = {(node, core) for node in members for core in range(self.nodes[node][0])}

        def attempt(cores: Cores) -> dict[int, int]:
            self.tried, counts = cores, Counter(node for node, _ in cores)
            return Twin.pick(self, job, members, {node: (counts[node], free[node][1]) for node in members})

        if not attempt(allowed):
            return {}
        if (given := attempt(allowed - set().union(*used.values()))) or not self.shares(job):
            return given
        if self.preempting:
            allowed -= set().union(*(used[k] for k in used if self.partitions[k][1] > tier))
            if not attempt(allowed):
                return {}
        cores = allowed - set().union(*(used[k] for k in used if self.partitions[k][1] == tier))
        if attempt(cores):
            while lower and attempt(cores - used[lower[0]]):
                cores -= used[lower.pop(0)]
            return attempt(cores)
        self.exchange(free.lists[job.partition])
        for row in free.lists[job.partition]:
            if given := attempt(allowed - self.of_row(row)):
                return given
        return {}

    def take(self, job: TwinJob, given: dict[int, int]) -> None:
        self.cores[job.number] = {
            (node, core)
            for node, n in given.items()
            for core in self.dealt({core for where, core in self.tried if where == node}, n)
        }
        self.join(self.lists[job.partition], job)

    def start(self, job: TwinJob, given: dict[int, int], by: bool) -> None:
        self.take(job, given)
        super().start(job, given, by)

    def dealt(self, free: set[int], n: int) -> set[int]:
        """Return the cores of a node that a job gets: by socket of the best fit, or from each in turn."""
        size = self.nodes[0][0] // self.sockets
        left = [sorted(core for core in free if core // size == k) for k in range(self.sockets)]
        taken: set[int] = set()
        while len(taken) < n:
            if self.by_core:
                turn = [cores.pop(0) for cores in left if cores]
                taken |= set(turn[: n - len(taken)])
                continue
            enough = [cores for cores in left if len(cores) >= n]
            best = min(enough, key=len) if enough else max(left, key=len)
            taken |= {best.pop(0) for _ in range(min(len(best), n - len(taken)))}
        return taken

    def suspending(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        return {}

    def make_room(self, job: TwinJob, members: set[int]) -> bool:
        return False

    def earliest(self, job: TwinJob, allowed: set[int], *window: int) -> tuple[int, dict[int, int]]:
        return Twin.earliest(self, job, allowed, *window)


@dataclass
class ShareTwin(CoreTwin):
    """Jobs that share cores at the same time: all jobs of a partition, those that ask for it, or none."""

    reserves = True

    sharing: Sequence[str] = ()
    since_23_11: bool = False
    since_25_11: bool = False
    dedicated: bool = False  # as if no job asked
    last: tuple[set[int], dict[int, tuple[int, ...]]] = (set(), {})  # nodes and supply of the last attempt

    def shares(self, job: TwinJob) -> bool:
        kind = self.sharing[job.partition]
        return kind == "FORCE" or (kind == "YES" and job.asks and not self.dedicated)

    def verified(self, job: TwinJob, members: set[int], lists: dict[int, list[list[TwinJob]]]) -> set[int]:
        """Return the nodes that a job may have beside those in the rows."""
        there = [other for rows in lists.values() for row in rows for other in row]
        before, self.dedicated = self.dedicated, False
        alone = {node for other in there if not self.shares(other) for node in other.given}
        self.dedicated = before
        asking = [other for other in there if other.asks or self.sharing[other.partition] == "FORCE"]
        several = [k for k, depth in enumerate(self.depths) if depth > 1 and k != job.partition]
        elsewhere = {node for other in there if other.partition in several for node in other.given}
        if self.since_23_11 and not self.since_25_11:
            elsewhere = {node for other in self.jobs if other.partition in several for node in other.given}
        if self.since_23_11:
            elsewhere &= {node for other in asking for node in other.given if lists is self.lists}
        return members - (alone if self.shares(job) else elsewhere)

    def pick(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        return super().pick(job, self.verified(job, members, free.lists), free)

    def offers(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        self.last = members, free
        return super().offers(job, members, free)

    def tested(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        return self.offers(job, *self.last)

    def lightened(self, job: TwinJob, members: set[int]) -> set[int]:
        if self.shares(job) or self.is_single(job):
            return members
        return Twin.lightened(self, job, members)

    def earliest(self, job: TwinJob, allowed: set[int], *window: int) -> tuple[int, dict[int, int]]:
        if job.asks and self.sharing[job.partition] == "YES":
            self.dedicated = True
            found, given = super().earliest(job, allowed, *window)
            self.dedicated = False
            if found == self.now:
                return found, given
        return super().earliest(job, allowed, *window)

    def start(self, job: TwinJob, given: dict[int, int], by: bool) -> None:
        self.take(job, given)
        Twin.start(self, job, given, by)

    def leave(self, job: TwinJob) -> None:
        pass

    def slice(self) -> bool:
        return False
