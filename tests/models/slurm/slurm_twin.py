"""A slow and obvious twin of `models.slurm`: one second after the other, sets of node names, no skipped work.

It has nodes with CPUs and memory, partitions with tiers, whole nodes or CPUs, plain order of priority,
passes and cycles, limits of groups of jobs, reservations, preemption. Times are whole seconds; the
controller wakes up each second.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

NEVER = 10**12

OF_QOS = ("qos", "nodes")
"""Limits of all jobs of one QOS."""

SUITS: dict[str, Callable[[set[str]], bool]] = {
    "": lambda has: True,
    "a": lambda has: "a" in has,
    "a&b": lambda has: {"a", "b"} <= has,
    "a|b": lambda has: bool({"a", "b"} & has),
    "b&(a|c)": lambda has: "b" in has and bool({"a", "c"} & has),
    "(a&b)|c": lambda has: {"a", "b"} <= has or "c" in has,
    "a|b&c": lambda has: bool({"a", "b"} & has) and "c" in has,  # from left to right
}


@dataclass(eq=False)  # two jobs are never the same; comparing their fields would take most of the time
class TwinJob:
    number: int
    submit: int
    runtime: int
    limit: int
    nodes: int
    tasks: int
    memory: int  # MB of each CPU
    partition: int
    start: int | None = None
    end: int = 10**9
    by_backfill: bool = False
    given: dict[int, int] = field(default_factory=dict)  # node -> CPUs
    charges: dict[str, int] = field(default_factory=dict)  # limit -> what it counts
    replaced: set[str] = field(default_factory=set)  # limits that count it and do not keep it waiting
    account: str = ""
    qos: str = ""
    user: int = 0
    level: int = 0  # of preemption
    devices: int = 0  # on each node
    licences: dict[str, int] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)  # budget -> what it uses of that at once
    factor: float = 1.0
    constraint: str = ""
    runs: list[tuple[int, int]] = field(default_factory=list)  # those that preemption ended
    cancelled: bool = False
    killed: bool = False
    limited: bool = False
    called: int = -(10**9)
    warned_until: int | None = None
    asks: bool = False  # to share CPUs
    begin: int = 0
    leaves: int | None = None  # when its user cancels it
    late: int = 0  # seconds that it was suspended before it was resumed last
    suspended: int | None = None  # since when
    message: int = 0  # seconds from its end until its last nodes have answered
    call: int = 0  # without it: until the controller takes note of that, and calls the scheduler
    answers: dict[int, int] = field(default_factory=dict)  # node -> seconds, where that answers before
    most_nodes: int = 10**9
    counted: set[str] = field(default_factory=set)  # limits of submissions
    refused: bool = False
    segment: int = 0  # nodes
    switches: int = 0  # leaves that it wants at most, for some seconds
    patience: int = 0
    leader: int | None = None  # the first component of its heterogeneous job
    undone: bool = False  # its start, because another component did not fit

    @property
    def requeues(self) -> bool:
        return self.undone or (bool(self.runs) and self.runs[-1][1] == self.end)

    def holds(self, node: int, now: int) -> bool:
        """Return whether a node that it had has not confirmed its end."""
        early = self.answers.get(node, self.message) if not self.requeues else self.message
        return self.end + early > now or not self.message

    @property
    def expected(self) -> int:
        expected = self.start + self.limit + self.late
        return expected if self.warned_until is None else min(expected, self.warned_until)


@dataclass
class Preempting:
    """Levels of jobs, with mode, seconds of grace, rank; and pairs of which the first preempts the second."""

    modes: list[str]
    grace: list[int]
    ranks: list[int]
    pairs: set[tuple[int, int]]
    exempt: int = 0
    youngest: bool = False
    strict: bool = False
    reorder: int = 1
    requeue_wait: int = 6
    timeout: int = 10


@dataclass
class Twin:
    """Nodes as (CPUs, MB), partitions as (nodes, tier, whole)."""

    reserves: ClassVar[bool] = True  # whole nodes of a job that starts in a cycle, until its end
    linear: ClassVar[bool] = False  # select/linear, to which completing nodes are as others

    nodes: Sequence[tuple[int, int]]
    partitions: Sequence[tuple[Sequence[int], int, bool]]
    jobs: list[TwinJob]
    backfill: bool = True
    interval: int = 30
    slot: int = 60
    window: int = 86400
    depth: int = 100
    max_test: int = 500
    space: int = 0  # rows of a plan, 0: max_test
    records: int = 1
    kill_wait: int = 30
    caps: dict[str, int] = field(default_factory=dict)
    job_time: int = 0  # seconds of a cycle for each job
    max_time: int = 0  # of a cycle
    most_submitted: dict[str, int] = field(default_factory=dict)
    reservations: list[tuple[int, int, set[int], int]] = field(default_factory=list)  # the last: known from
    preempting: Preempting | None = None
    limit_stop: bool = False
    busy_nodes: bool = False
    # Ends of plans are rounded up, searches begin and end with their windows, completing nodes come last.
    since_24_11: bool = False
    since_25_05: bool = False  # a plan begins when the last job on its nodes ends
    verdict: str = ""  # on a job that does not fit, by switches or blocks
    since_26_05: bool = False  # nodes are left out one by one; a job of one node gets the first one
    jointly_at_once: bool = False  # bf_hetjob_immediate
    plans_running: bool = False
    plans_licences: bool = False
    licensed: Sequence[tuple[str, int]] = ()  # each licence, by its name and a number
    heavy: set[int] = field(default_factory=set)  # nodes that come last
    busy: set[int] | None = None  # nodes that are preferred in plans
    shared: int = 0  # jobs that may share a node
    threads: int = 1  # CPUs of a core
    by_core: bool = False  # all of them count
    unavailable: set[int] = field(default_factory=set)  # nodes that are powering down
    blocked: int = 0  # jobs of the QOS, in a cycle
    calls: set[int] = field(default_factory=set)  # of the scheduler, after ends of jobs
    now: int = 0
    waiting: list[TwinJob] = field(default_factory=list)
    running: list[TwinJob] = field(default_factory=list)
    stopped: list[TwinJob] = field(default_factory=list)
    held: list[TwinJob] = field(default_factory=list)

    @property
    def completing(self) -> set[int]:
        return {node for job in self.stopped for node in job.given if job.holds(node, self.now)}

    def run(self) -> None:
        waiting, running = self.waiting, self.running
        coming = sorted(self.jobs, key=lambda job: (job.submit, job.number))
        called, last_pass, last_full, last_limits, last_cycle, changed = False, 0, 0, 0, -(10**9), 0
        look_backfill = 0
        while coming or waiting or running or self.held or self.stopped:
            now = self.now
            for job in sorted((job for job in running if job.end <= now), key=lambda job: job.number):
                running.remove(job)
                if job.message:
                    self.stopped.append(job)
                else:
                    self.leave(job)
                    self.calls.add(now + job.call)
                changed = now
            called = called or now in self.calls
            if any(now - job.end in job.answers.values() for job in self.stopped if not job.requeues):
                changed = now
            answered = self.settled()
            while coming and coming[0].submit <= now:
                new, there = coming.pop(0), [*waiting, *running, *self.held]
                full = (
                    sum(name in job.counted for job in there) >= self.most_submitted[name]
                    for name in new.counted
                )
                if any(full):
                    new.refused, new.start, new.end = True, new.submit, new.submit
                    continue
                waiting.append(new)
                waiting[-1].limited = any(" " in name for name in self.exceeds(waiting[-1]))
                called, changed = True, now
            leaving = self.cancel()
            if leaving or answered:
                changed = now
            if self.slice():
                changed = now
            if answered or any(job.killed and not job.message for job in leaving):
                self.requeued()
                self.one_pass(False)
            if now - last_limits >= 30:
                last_limits = now
                for job in [one for one in running if one.suspended is None]:
                    if job.expected <= now < job.end and job.warned_until is not None:
                        self.stop(job)
                        changed = now
                    elif job.expected <= now < job.end:
                        job.end, job.killed, changed = now, True, now
                        running.remove(job)
                        self.stopped.append(job)
                changed = now if self.end_spent() else changed
            if self.requeued():
                changed = now
            full = now - last_full >= 60
            if full or (called and now - last_pass >= 3):
                last_pass, called = now, False
                last_full = now if full else last_full
                if self.one_pass(full):
                    changed = now
            while self.settled():  # in this second: the epilog calls a pass
                changed = now
                self.one_pass(False)
            if self.backfill and look_backfill == now:
                if now - last_cycle >= self.interval and changed >= last_cycle:
                    took = min(
                        min(len(waiting), self.max_test) * self.job_time, self.max_time or self.interval
                    )
                    if self.cycle() or any(self.is_planned(job) for job in waiting):
                        changed = now
                    last_cycle = now
                    look_backfill = now + self.interval + took
                else:
                    look_backfill = now + 1
            while self.settled():
                changed = now
                self.one_pass(False)
            self.now += 1

    def requeued(self) -> bool:
        """Let held jobs wait whose time has come, in their order; return whether there was one."""
        coming = [job for job in self.held if job.begin <= self.now]
        for job in coming:
            self.held.remove(job)
        self.waiting += coming
        self.waiting.sort(
            key=lambda job: (-job.level, -self.partitions[job.partition][1], job.submit, job.number)
        )
        return bool(coming)

    def cancel(self) -> list[TwinJob]:
        """Take out the jobs that their users cancel now, one by one, and return them."""
        groups = (self.waiting, self.held, self.running)
        due = [job for job in self.jobs if job.leaves == self.now]
        leaving = [(job, group) for job in due for group in groups if job in group]
        for job, group in leaving:
            group.remove(job)
            if group is self.running:
                job.end, job.killed = self.now, True
                if job.message:
                    self.stopped.append(job)
                else:
                    self.leave(job)
        return [job for job, _ in leaving]

    def leave(self, job: TwinJob) -> None:
        """Take out of the rows of gang scheduling, where there are any."""

    def slice(self) -> bool:
        """Begin a time slice of gang scheduling where one is due; return whether jobs took turns."""
        return False

    def end_spent(self) -> bool:
        """End jobs whose budget is spent, where there are any; return whether there was one."""
        return False

    def is_planned(self, job: TwinJob) -> bool:
        """Return whether a cycle has a plan for a waiting job."""
        return (self.limit_stop or not self.exceeds(job)) and (self.plans_licences or not self.lacks(job))

    def lacks(self, job: TwinJob) -> bool:
        """Return whether licences are in use, where there are any."""
        return False

    def claims(self, job: TwinJob, given: dict[int, int], running: bool = False) -> set[object]:
        """Return what a planned or a running job has in a plan."""
        rules = self.preempting
        alone = self.partitions[job.partition][2] and self.reserves
        return (
            set() if running and not (alone and (not rules or rules.modes[job.level] == "OFF")) else {*given}
        )

    def remaining(self, free: frozenset[object], claims: set[object]) -> frozenset[object]:
        """Return what a plan has left beside some claims."""
        return free - claims

    def settled(self) -> bool:
        """Take out jobs that were killed, and hold those to be requeued; return whether there was one."""
        stopped = [job for job in self.stopped if job.end + job.message <= self.now]
        self.stopped = [job for job in self.stopped if job not in stopped]
        for job in sorted(stopped, key=lambda job: job.number):
            self.leave(job)
            if job.requeues:
                wait = self.preempting.requeue_wait if self.preempting else 121
                job.begin, job.warned_until, job.undone = self.now + wait, None, False
                self.held.append(job)
        return bool(stopped)

    def candidates(self, job: TwinJob) -> list[TwinJob]:
        """Return the jobs that one may preempt, those to be taken out first before others."""
        rules = self.preempting
        if rules is None:
            return []
        members = set(self.partitions[job.partition][0])
        found = [
            other
            for other in sorted(self.running, key=lambda other: other.number)
            if (job.level, other.level) in rules.pairs
            and set(other.given) & members
            and other.end > self.now
            and self.now >= (other.start or 0) + rules.exempt
        ]
        if rules.youngest:
            return sorted(found, key=lambda other: -(other.start or 0))
        return sorted(found, key=lambda other: (rules.ranks[other.level], len(other.given)))

    def suspending(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        """Return nodes on which a job may start now since others are suspended."""
        return {}

    def make_room(self, job: TwinJob, members: set[int]) -> bool:
        """Preempt jobs so that one fits; return whether it would."""
        rules, order = self.preempting, self.candidates(job)
        if rules is None:
            return False
        attempt = 0
        while True:
            gone: list[TwinJob] = []
            given: dict[int, int] = {}
            n_gone = 0
            while n_gone < len(order) and not given:
                if set(order[n_gone].given) & members:
                    gone.append(order[n_gone])
                    left = self.free([each for each in self.running if each not in gone])
                    given = self.pick(job, members, left)
                n_gone += 1
            if not given:
                return False
            attempt += 1
            if attempt > rules.reorder + 1 or attempt >= len(order):
                break
            if rules.strict:
                order.insert(0, order.pop(n_gone - 1))
                continue
            shared = {other.number: len(set(other.given) & set(given)) for other in order[: n_gone - 1]}
            shared[order[n_gone - 1].number] = 10**9
            order.sort(key=lambda other: -shared.get(other.number, 0))
        if job.called <= self.now - self.kill_wait - rules.timeout:
            job.called = self.now
            for other in order[:n_gone]:
                if set(other.given) & set(given):
                    self.make_way(other)
        return True

    def make_way(self, job: TwinJob) -> None:
        grace = self.preempting.grace[job.level]
        if job.warned_until is None and grace:
            job.warned_until = self.now + grace
        elif job.warned_until is None or job.expected <= self.now:
            self.stop(job)

    def stop(self, job: TwinJob) -> None:
        job.end, job.cancelled = self.now, self.preempting.modes[job.level] != "REQUEUE"
        if not job.cancelled:
            job.runs.append((job.start, self.now))
        self.running.remove(job)
        self.stopped.append(job)

    def free(self, running: Sequence[TwinJob]) -> dict[int, tuple[int, ...]]:
        left = {}
        for node, (cpus, memory) in enumerate(self.nodes):
            mine = [(job.given[node], job.memory) for job in running if node in job.given]
            left[node] = (cpus - sum(c for c, _ in mine), memory - sum(c * m for c, m in mine))
        return left

    def exceeds(self, job: TwinJob) -> list[str]:
        """Return the limits without room for a job: of numbers of jobs (two words), of its QOS, others."""
        used = {name: sum(one.charges.get(name, 0) for one in self.running) for name in job.charges}
        held = [name for name, n in job.charges.items() if used[name] + n > self.caps[name]]
        return sorted(set(held) - job.replaced, key=lambda name: (" " not in name, name not in OF_QOS))

    def kept(self, begin: int, end: int) -> list[tuple[int, set[int]]]:
        return [(e, n) for b, e, n, known in self.reservations if b < end and e > begin and known <= self.now]

    def one_pass(self, full: bool) -> bool:
        """Return whether anything changed: a job started, or was found to have to wait."""
        failed: set[int] = set()
        usable = set(range(len(self.nodes)))
        touched = False
        for tested, job in enumerate(list(self.waiting)):
            if not full and tested > self.depth:
                break
            if job.leader is not None:
                if job.partition in failed and self.since_24_11 and not self.since_26_05:
                    break
                failed.add(job.partition)
                usable -= set(self.partitions[job.partition][0])
                continue
            if job.partition in failed:
                touched = True
                continue
            if over := self.exceeds(job):
                if self.limit_stop and not (job.limited and " " in over[0]):
                    failed.add(job.partition)
                    usable -= set(self.partitions[job.partition][0])
                job.limited = True
                continue
            touched = True
            _, _, whole = self.partitions[job.partition]
            job.limited = False
            members = usable & self.members(job)
            enough = len(members) >= job.nodes
            if enough and self.lacks(job):
                if self.plans_licences:
                    break
                continue
            kept = self.kept(self.now, self.now + job.limit)
            for _, nodes in kept:
                members = members - nodes
            given = self.pick_now(job, members - self.completing)
            given = given or self.suspending(job, members - self.completing)
            if given:
                self.start(job, given, False)
                continue
            alone = whole and self.shared < 2
            busy = members & (self.completing | {node for one in self.running if alone for node in one.given})
            fewer = bool(kept or failed or self.unavailable) and enough
            if (
                self.make_room(job, members - self.completing)
                or not fewer
                or busy
                or self.pick(job, members, self.free([]))
            ):
                failed.add(job.partition)
                usable -= set(self.partitions[job.partition][0])
        return touched

    def start(self, job: TwinJob, given: dict[int, int], by: bool) -> None:
        job.start, job.end, job.given, job.by_backfill = self.now, self.now + job.runtime, given, by
        self.waiting.remove(job)
        self.running.append(job)

    def start_jointly(self, leader: int, planned: dict[int, int]) -> bool:
        """Start all components of a job where each could start now; return whether some were tried."""
        every = [job for job in self.jobs if job.leader == leader]
        if any(job not in self.waiting or planned.get(job.number, NEVER) > self.now for job in every):
            return False
        used: set[int] = set()
        for job in sorted(every, key=lambda job: [*planned].index(job.number)):
            if not (given := self.pick_now(job, self.members(job) - used - self.completing)):
                break
            self.start(job, given, True)
            used |= {*given}
        for job in every if any(job in self.waiting for job in every) else ():
            if job in self.running:
                job.end, job.undone = self.now, True
                self.running.remove(job)
                self.stopped.append(job)
        return True

    def deadlocks(self, job: TwinJob, start: int, joint: dict[int, list[list[int]]]) -> bool:
        """Return whether a job with a later start here would start before this one in another partition."""
        here = joint.setdefault(job.partition, [])
        own = next((one for one in here if one[1] == job.leader), None)
        if own is None:
            here.append(own := [start, job.leader])
        own[0] = max(own[0], start)
        here.sort(key=lambda one: -one[0])
        before = {leader for _, leader in here[: here.index(own)]}
        elsewhere = [
            entries
            for partition, entries in joint.items()
            if partition != job.partition and any(leader == job.leader for _, leader in entries)
        ]
        return any(leader in before and at < own[0] for entries in elsewhere for at, leader in entries)

    def members(self, job: TwinJob) -> set[int]:
        return set(self.partitions[job.partition][0])

    def pick_now(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        return self.pick(job, members, self.free(self.running))

    def offers(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        whole = self.partitions[job.partition][2]
        offers = {}
        for node in sorted(members):
            cpus, memory = free[node][:2]
            if whole and cpus < self.nodes[node][0]:
                continue
            if job.memory and not whole:
                most = memory // job.memory
                cpus = min(cpus, most - most % (self.threads if self.by_core else 1))
            if job.memory and whole and cpus * job.memory > memory:
                continue
            if cpus > 0:
                offers[node] = cpus
        return offers

    def is_single(self, job: TwinJob) -> bool:
        return self.since_26_05 and (job.tasks == 1 or (self.partitions[job.partition][2] and job.nodes == 1))

    def tested(self, job: TwinJob, members: set[int]) -> dict[int, int]:
        """Return what nodes offered in the test of now."""
        return self.offers(job, members, self.free(self.running))

    def lightened(self, job: TwinJob, members: set[int]) -> set[int]:
        """Nodes that a failed test of now has left, which are as heavy as the others again."""
        offers = self.tested(job, members)
        if self.is_single(job):
            return members
        if len(offers) < job.nodes:
            return set(offers)
        if self.since_26_05:
            return set(sorted(offers, key=lambda node: (offers[node], node))[-job.nodes :])
        return {node for node in offers if offers[node] == max(offers.values())}

    def pick(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        whole, offers = self.partitions[job.partition][2], self.offers(job, members, free)
        if self.is_single(job):
            first = sorted(offers, key=lambda node: (self.weight(node), node))
            fitting = [node for node in first if offers[node] >= job.tasks][:1]
            return {node: offers[node] if whole else self.on_cores(job.tasks) for node in fitting}
        while self.since_26_05 and len(offers) >= job.nodes:
            if (given := self.fit(job, whole, offers)) or not offers or self.verdict == "waits":
                return given
            if len(offers) == job.nodes or (out := self.next_out(offers)) is None:
                return {}
            del offers[out]
        most = max(offers.values(), default=0)
        for least in range(most):
            trial = dict(offers)
            for node in sorted(offers):
                if trial[node] <= least and len(trial) > job.nodes:
                    del trial[node]
            if (given := self.fit(job, whole, trial)) or self.verdict == "waits":
                return given
        return {}

    def next_out(self, offers: dict[int, int]) -> int | None:
        """Return the node without which a job that did not fit is tried again."""
        return min(offers, key=lambda node: (offers[node], node))

    def fit(self, job: TwinJob, whole: bool, offers: dict[int, int]) -> dict[int, int]:
        if self.busy is not None:
            return self.fit_busy(job, whole, self.busy, offers)
        groups: list[list[int]] = []
        for node in sorted(offers):
            if groups and groups[-1][-1] == node - 1 and self.weight(node - 1) == self.weight(node):
                groups[-1].append(node)
            else:
                groups.append([node])
        left_nodes, left_cpus = job.nodes, job.tasks
        may_nodes = min(max(job.tasks, job.nodes), job.most_nodes)
        taken: dict[int, int] = {}
        while groups and (left_nodes > 0 or left_cpus > 0) and may_nodes > 0:
            sums = [sum(offers[node] for node in group) for group in groups]
            lightest = min(self.weight(group[0]) for group in groups)
            light = [k for k in range(len(groups)) if self.weight(groups[k][0]) == lightest]
            if enough := [k for k in light if sums[k] >= left_cpus and len(groups[k]) >= left_nodes]:
                best = min(enough, key=lambda k: sums[k])
            else:
                best = max(light, key=lambda k: sums[k])
            group = groups.pop(best)
            single = [node for node in group if offers[node] >= left_cpus] if left_nodes <= 1 else []
            for node in [min(single, key=lambda node: offers[node])] if single else group:
                if (left_nodes <= 0 and left_cpus <= 0) or may_nodes == 0:
                    break
                if may_nodes == 1 and offers[node] < left_cpus:
                    continue
                cpus = (
                    offers[node] if whole else min(offers[node], max(left_cpus - max(left_nodes - 1, 0), 1))
                )
                taken[node] = cpus
                left_nodes, left_cpus, may_nodes = left_nodes - 1, left_cpus - cpus, may_nodes - 1
        if left_nodes > 0 or left_cpus > 0:
            return {}
        return taken if whole else self.spread(job, taken)

    def spread(self, job: TwinJob, taken: dict[int, int]) -> dict[int, int]:
        """Give each node one task after the other, as far as its CPUs go."""
        spread = dict.fromkeys(taken, 0)
        left = job.tasks
        while left > 0 and any(spread[node] < taken[node] for node in taken):
            for node in taken:
                if left > 0 and spread[node] < taken[node]:
                    spread[node] += 1
                    left -= 1
        return {node: self.on_cores(max(cpus, 1)) for node, cpus in spread.items()}

    def on_cores(self, cpus: int) -> int:
        """Return the CPUs of as many cores as some CPUs need."""
        return -(-cpus // self.threads) * self.threads

    def weight(self, node: int) -> int:
        return int(node in self.heavy)

    def fit_busy(self, job: TwinJob, whole: bool, busy: set[int], offers: dict[int, int]) -> dict[int, int]:
        left_nodes, left_cpus, taken = job.nodes, job.tasks, {}
        for node in sorted(offers, key=lambda node: (self.weight(node), node not in busy, node)):
            most = offers[node] if whole else max(left_cpus - max(left_nodes - 1, 0), 1)
            taken[node] = min(offers[node], most)
            left_nodes, left_cpus = left_nodes - 1, left_cpus - taken[node]
            if left_nodes <= 0 and left_cpus <= 0:
                return taken
            if len(taken) == min(max(job.tasks, job.nodes), job.most_nodes):
                return {}
        return {}

    def cycle(self) -> bool:
        """Return whether a job started or ended."""
        planned: dict[int, int] = {}  # components, in the order in which they are tested
        started = self.test_all(planned)
        for leader in () if self.jointly_at_once else dict.fromkeys(self.jobs[n].leader for n in planned):
            started = self.start_jointly(leader, planned) or started
        return started

    def test_all(self, planned: dict[int, int]) -> bool:
        """Test all jobs of a cycle; return whether one started or ended."""
        now = self.now
        everything = frozenset({*range(len(self.nodes)), *self.licensed} - self.unavailable)
        plan = [(now // self.slot * self.slot, (now + self.window) // self.slot * self.slot, everything)]
        tested, self.blocked, self.records = 0, 0, 1
        started, joint = False, dict[int, list[list[int]]]()
        for job in sorted(self.running, key=lambda job: job.number) if self.plans_running else ():
            if self.records >= (self.space or self.max_test):
                break
            plan = self.reserved(plan, 0, self.slots(0, job.expected)[1], self.claims(job, job.given, True))
        for job in list(self.waiting):
            if tested >= self.max_test or tested * self.job_time >= (self.max_time or self.interval):
                break
            if job not in self.waiting:
                continue
            others = now
            if job.leader is not None:
                others = max(
                    (at for n, at in planned.items() if self.jobs[n].leader == job.leader), default=now
                )
                planned[job.number] = NEVER
            if others > now + self.window or not self.is_planned(job):
                continue
            begin, counted = max(others, self.blocked if "qos" in job.charges else 0), False
            while True:
                end = begin + job.limit
                members = set(self.partitions[job.partition][0])
                kept = self.kept(begin, end)
                for _, nodes in kept:
                    members -= nodes
                allowed, later = set(members), 0
                for k, (first, last, available) in enumerate(plan):
                    coming = members & plan[k + 1][2] if k + 1 < len(plan) else set()
                    if last > begin and not later and not coming <= (allowed & available):
                        later = last
                    if last <= begin:
                        continue
                    if first > end:
                        break
                    allowed &= available
                beyond = next(
                    (k for k, (first, last, _) in enumerate(plan) if last > begin and first > end), None
                )
                if self.since_24_11 and not later and beyond is not None and beyond + 2 < len(plan):
                    later = plan[beyond + 1][1]
                needed = self.claims(job, {})
                lacking = [e for b, e, free in plan if e > begin and b <= end and not needed <= free]
                later = lacking[-1] if lacking else later
                if again := self.after_reservations(begin, kept, set(self.partitions[job.partition][0])):
                    later = min(later, again) if later else again
                found, given = -1, {}
                if len(allowed) >= job.nodes and not lacking:
                    if not counted:
                        counted, tested = True, tested + 1
                    allowed &= self.members(job)
                    found, given = self.earliest(job, allowed, begin, later or 10**9)
                if found < 0:
                    if not later:
                        break
                    begin = later
                    continue
                found = max(found, begin)
                first, last = self.slots(found, found + job.limit)
                if (
                    self.since_24_11
                    and found > now
                    and self.overlaps(plan, first, last, self.claims(job, given))
                ):
                    begin = found
                    continue
                if found <= now and set(given) & self.completing:
                    found, later = now + 1, 0
                if job.leader is not None:
                    planned[job.number] = min(planned[job.number], found)
                elif found <= now and (over := self.exceeds(job)):
                    found, job.limited = later or now + 500, True
                    if over[0] in OF_QOS:
                        self.blocked = max(self.blocked, found)
                first, last = self.slots(found, found + job.limit)
                now_given = {}
                if found <= now and job.leader is None:
                    rest = allowed - self.completing
                    now_given = self.pick_now(job, rest) or self.suspending(job, rest)
                    now_given = {} if self.lacks(job) else now_given
                if found <= now and not now_given and job.leader is None:
                    n_before = len(self.stopped)
                    self.make_room(job, allowed - self.completing)
                    started = started or len(self.stopped) > n_before
                    if self.records >= (self.space or self.max_test):
                        return started
                    plan = self.reserved(plan, first, last, self.claims(job, given))
                    break
                if now_given:
                    self.start(job, now_given, True)
                    started = True
                    if claims := self.claims(job, given, True):
                        plan = self.reserved(plan, 0, self.slots(0, job.expected)[1], claims)
                    break
                if later and found > later:
                    begin = later
                    continue
                if found > now + self.window:
                    break
                if found > now and self.overlaps(plan, first, last, self.claims(job, given)):
                    begin = found
                    continue
                if job.leader is not None and self.deadlocks(job, found, joint):
                    break
                if self.records >= (self.space or self.max_test):
                    return started
                plan = self.reserved(plan, first, last, self.claims(job, given))
                break
            if self.jointly_at_once and job.leader is not None:
                started = self.start_jointly(job.leader, planned) or started
        return started

    def after_reservations(self, begin: int, kept: list[tuple[int, set[int]]], members: set[int]) -> int:
        for until, nodes in kept:
            if members <= nodes:
                return until
            members = members - nodes
        if not any(set(nodes) & set(self.partitions[0][0]) for _, nodes in kept):
            return 0
        first = min(end for _, end, _, known in self.reservations if known <= self.now and end >= begin)
        again = -(-first // self.slot) * self.slot + 1
        return again if again < self.now + self.window else 0

    def slots(self, begin: int, end: int) -> tuple[int, int]:
        up = self.slot - 1 if self.since_24_11 else 0
        return begin // self.slot * self.slot, (end + up) // self.slot * self.slot

    @staticmethod
    def overlaps(plan, first: int, last: int, nodes: set[int]) -> bool:
        return any(e > first and b < last and not nodes <= free for b, e, free in plan)

    def reserved(self, plan, begin: int, end: int, nodes: set[int]):
        begin = max(begin, plan[0][0])
        end = max(end, begin + self.slot)
        rows, at, after = list(plan), 0, None
        while rows[at][1] < begin:
            at += 1
            if at == len(rows):
                return rows
        first, last, free = rows[at]
        if last > begin:
            rows[at : at + 1] = [(first, begin, free), (begin, last, free)]
            self.records += 1
        for k in range(at + 1, len(rows) + 1):
            if k == len(rows):
                break
            first, last, free = rows[k]
            if end < last:
                rows[k : k + 1] = [(first, end, free), (end, last, free)]
                self.records += 1
            rows[k] = (first, min(end, last), self.remaining(free, nodes))
            if end == rows[k][1]:
                after = k + 1 if k + 1 < len(rows) else None
                break
        for k in range(max(at - 1, 0), len(rows) - 1):  # one pair at most
            if k == after:
                break
            if rows[k][2] == rows[k + 1][2]:
                rows[k : k + 2] = [(rows[k][0], rows[k + 1][1], rows[k][2])]
                break
        return rows

    def future(self) -> dict[int, tuple[int, ...]]:
        """Return what is free, for `release` to change."""
        return self.free(self.running)

    def release(self, later: dict[int, tuple[int, ...]], job: TwinJob, preempted: bool = False) -> None:
        for node, n in job.given.items():
            later[node] = (later[node][0] + n, later[node][1] + n * job.memory)

    def earliest(self, job: TwinJob, allowed: set[int], begin: int, until: int) -> tuple[int, dict[int, int]]:
        now, self.heavy = self.now, set()
        if self.since_24_11 and begin <= now and not self.linear:
            self.heavy = self.completing
        try:
            return self.search(job, allowed, begin, until, now)
        finally:
            self.heavy = set()

    def search(
        self, job: TwinJob, allowed: set[int], begin: int, until: int, now: int
    ) -> tuple[int, dict[int, int]]:
        if (begin <= now or not self.since_24_11) and (
            given := self.pick(job, allowed, self.free(self.running))
        ):
            return now, given
        self.heavy = self.heavy - self.lightened(job, allowed) if self.heavy else set()
        gone, later = self.candidates(job), self.future()
        every = sorted(self.running, key=lambda other: (other.expected, other.number))
        over = [each for each in every if self.since_24_11 and each.expected < begin + self.since_25_05]
        for other in [each for each in every if each in gone or each in over]:
            self.release(later, other, preempted=other not in over)
        if (gone or self.since_24_11) and (given := self.pick(job, allowed, later)):
            return now, given
        every = [
            each for each in every if each not in over and not (self.since_24_11 and each.expected > until)
        ]
        running_on = [other for other in every if other not in gone]
        there = [other for other in running_on if set(other.given) & allowed]
        there.sort(key=lambda other: (other.expected, other.number))
        if not there:
            return -1, {}
        width = 30
        border = there[0].expected + width - there[0].expected % width
        k = 0
        while k < len(every):
            last = None
            while k < len(every):
                other = every[k]
                k += 1
                if other not in there:
                    continue
                last = other
                self.release(later, other)
                following = next((one for one in every[k:] if one not in gone), None)
                if following is not None and following.expected > border + width:
                    break
            if last is None:
                return -1, {}
            width *= 2
            while last and following is not None and following.expected > border + width:
                width *= 2
            busy = {node for other in self.running for node in other.given} | self.completing
            self.busy = busy if self.busy_nodes else None
            given, self.busy = self.pick(job, allowed, later), None
            if given:
                if self.since_25_05:
                    last = next(
                        (one for one in reversed(every[:k]) if one in there and set(one.given) & set(given)),
                        last,
                    )
                if last.expected > now:
                    return last.expected, given
                return max(last.expected + self.kill_wait, now + 1), given
        return -1, {}


@dataclass
class DeviceTwin(Twin):
    """Nodes with features and generic resources; a constraint is one of `SUITS`."""

    features: Sequence[set[str]] = ()
    devices: Sequence[int] = ()

    def members(self, job: TwinJob) -> set[int]:
        return {node for node in super().members(job) if SUITS[job.constraint](self.features[node])}

    def free(self, running: Sequence[TwinJob]) -> dict[int, tuple[int, ...]]:
        left = super().free(running)
        for node, devices in enumerate(self.devices):
            left[node] += (devices - sum(job.devices for job in running if node in job.given),)
        return left

    def release(self, later: dict[int, tuple[int, ...]], job: TwinJob, preempted: bool = False) -> None:
        for node, n in job.given.items():
            cpus, memory, devices = later[node]
            later[node] = (cpus + n, memory + n * job.memory, devices + job.devices)

    def offers(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        return super().offers(job, {node for node in members if free[node][2] >= job.devices}, free)
