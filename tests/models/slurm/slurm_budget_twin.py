"""The twins with budgets, licences and switches."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from slurm_twin import Twin, TwinJob


@dataclass
class Budget:
    """Minutes that jobs may have used, or that running ones may use; `usage` is seconds."""

    cap: int
    of_running: bool = False
    of_time: bool = False
    usage: float = 0.0


@dataclass
class BudgetTwin(Twin):
    """Budgets by name, whose usage decays each second; it is counted each minute and at ends."""

    budgets: dict[str, Budget] = field(default_factory=dict)
    safe: bool = False
    decay: float = 1.0
    calculated: int = 0
    spent: set[int] = field(default_factory=set)
    midnight: int = 10**9  # when all usage is set to zero

    def slice(self) -> bool:
        if self.now % 60:
            return False
        if self.calculated < self.midnight <= self.now:
            for budget in self.budgets.values():
                budget.usage = 0.0
        for budget in self.budgets.values():
            budget.usage *= self.decay ** (self.now - self.calculated)
        for job in self.running:
            self.spend(job)
        self.calculated = self.now
        return True

    def spend(self, job: TwinJob) -> None:
        ran = self.now - max(self.calculated, job.start)
        for name, amount in job.budgets.items():
            self.budgets[name].usage += ran * self.decay**ran * job.factor * amount

    def leave(self, job: TwinJob) -> None:
        if job.number not in self.spent:
            self.spent.add(job.number)
            self.spend(job)

    def end_spent(self) -> bool:
        n_before = len(self.stopped)
        for job in self.stopped:
            self.leave(job)
        for job in sorted(self.running, key=lambda job: job.number):
            of_job = [self.budgets[name] for name in job.budgets]
            if not self.safe and any(b.usage // 60 >= b.cap and not b.of_running for b in of_job):
                job.end, job.killed = self.now, True
                self.running.remove(job)
                self.stopped.append(job)
                self.leave(job)
        return len(self.stopped) > n_before

    def exceeds(self, job: TwinJob) -> list[str]:
        return [*super().exceeds(job), *(name for name in job.budgets if self.is_full(name, job))]

    def is_full(self, name: str, job: TwinJob) -> bool:
        budget, need = self.budgets[name], job.limit // 60 * job.budgets[name]
        left = 0.0
        for one in self.running:
            rest = one.start + one.limit - max(self.calculated, one.start)
            left += max(rest, 0) * one.factor * one.budgets.get(name, 0)
        left = 0 if budget.of_time or not job.factor else left // 60
        if budget.of_running:
            return min(need, budget.cap) + left > budget.cap
        spent = budget.usage // 60 if job.factor or budget.of_time else 0
        return spent >= budget.cap or (self.safe and min(need, budget.cap) + left > budget.cap - spent)


@dataclass
class LicenceTwin(Twin):
    """Licences, which a job has until its nodes have answered."""

    def lacks(self, job: TwinJob) -> bool:
        holders = [*self.running, *self.stopped, job]
        used = {name: sum(one.licences.get(name, 0) for one in holders) for name in job.licences}
        return any(used[name] > sum(name == one for one, _ in self.licensed) for name in used)

    def claims(self, job: TwinJob, given: dict[int, int], running: bool = False) -> set[object]:
        own = [(name, k) for name, n in job.licences.items() for k in range(n)]
        return super().claims(job, given, running) | {*own * self.plans_licences}

    def remaining(self, free: frozenset[object], claims: set[object]) -> frozenset[object]:
        names = sorted(one for one in free if isinstance(one, tuple))
        for name in {one[0] for one in claims if isinstance(one, tuple)}:
            n = sum(one[0] == name for one in claims if isinstance(one, tuple))
            free -= {*[one for one in names if one[0] == name][-n:]}
        return free - {one for one in claims if not isinstance(one, tuple)}


@dataclass
class SwitchTwin(Twin):
    """A tree of switches as (nodes, number of the one above, level), and nodes with weights."""

    switches: Sequence[tuple[set[int], int, int]] = ()
    weights: Sequence[int] = ()
    offered: Sequence[int] = ()
    tried: dict[int, int] = field(default_factory=dict)  # what was taken for a job that did not fit

    def pick(self, job: TwinJob, members: set[int], free: dict[int, tuple[int, ...]]) -> dict[int, int]:
        if self.since_26_05 or not self.since_24_11:
            return super().pick(job, members, free)
        whole, offers = self.partitions[job.partition][2], self.offers(job, members, free)
        if (given := self.fit(job, whole, offers)) or self.verdict == "waits":
            return given
        offers |= self.tried
        few, most = 1, max(offers.values(), default=0)
        while few < most and len(offers) > job.nodes:
            before = len(offers)
            for node in sorted(offers):
                if offers[node] <= few and len(offers) > job.nodes:
                    few -= len(offers) == before
                    del offers[node]
            if few == 1 or len(offers) < before:
                if (given := self.fit(job, whole, offers)) or self.verdict == "waits":
                    return given
                offers |= self.tried
            few += 1
        return {}

    def next_out(self, offers: dict[int, int]) -> int | None:
        if self.verdict == "stop":
            return None
        among = self.tried if self.verdict == "hint" else {*offers}
        return min(among, key=lambda node: (offers[node], node), default=None)

    def weight(self, node: int) -> int:
        return 2 * self.weights[node] + super().weight(node)

    def chain(self, switch: int) -> list[int]:
        above = self.switches[switch][1]
        return [switch] if above == switch else [switch, *self.chain(above)]

    def hops(self, one: int, other: int) -> int:
        mine, its = self.chain(one), self.chain(other)
        return min(mine.index(each) + its.index(each) for each in mine if each in its)

    def suits(self, one: int, other: int, needs: tuple[int, int], counts: list[int]) -> tuple[int, bool]:
        """Return whether a switch suits better (1), worse (-1) or as well, and whether it has enough."""
        mine, its = counts[one], counts[other]
        fits, other_fits = (self.has(s, counts[s], needs) for s in (one, other))
        if fits and other_fits:
            return (its > mine) - (mine > its), True  # the tighter one: both are leaves, or are of one level
        if fits or other_fits:
            return (1 if fits else -1), fits
        above = self.switches[one][1], self.switches[other][1]
        if above[0] != above[1]:
            return self.suits(*above, needs, counts)
        return (mine > its) - (its > mine), False

    def has(self, switch: int, n: int, needs: tuple[int, int]) -> bool:
        return n >= needs[0] and (not self.since_24_11 or self.offered[switch] >= needs[1])

    def count_down(self, counts: list[int], switch: int, n: int) -> None:
        for s in self.chain(switch) if self.since_24_11 else ():
            counts[s] = max(counts[s] - n, 0)

    def fit(self, job: TwinJob, whole: bool, offers: dict[int, int]) -> dict[int, int]:
        self.verdict, self.tried = "", {}
        if self.busy is not None:
            return super().fit(job, whole, offers)
        self.offered = [
            sum(cpus for node, cpus in offers.items() if node in nodes) for nodes, _, _ in self.switches
        ]
        enough = [
            s
            for s, (nodes, _, _) in enumerate(self.switches)
            if self.has(s, len(nodes & {*offers}), (job.nodes, job.tasks))
        ]
        top = None
        for s in enough:
            nodes, _, level = self.switches[s]
            key = min((self.weight(node) for node in nodes & {*offers}), default=99), level
            if top is None or (level >= top[1][1] and key[0] <= top[1][0]):
                top = s, key
        usable = sorted(self.switches[top[0]][0] & {*offers}) if top else []
        kept: list[int] = []
        for weight in sorted({self.weight(node) for node in usable}):
            lighter, kept = kept, [node for node in usable if self.weight(node) <= weight]
            if len(kept) >= job.nodes and sum(offers[node] for node in kept) >= job.tasks:
                break
        else:
            return {}
        taken: dict[int, int] = {}

        def needs() -> tuple[int, int]:
            return job.nodes - len(taken), job.tasks - sum(taken.values())

        def take(nodes: Sequence[int], most: int) -> None:
            for node in nodes:
                left, cpus = needs()
                if node not in taken and len(taken) < most and (left > 0 or cpus > 0):
                    taken[node] = (
                        offers[node] if whole else min(offers[node], max(cpus - max(left - 1, 0), 1))
                    )

        most = max(job.tasks, job.nodes)
        take(lighter, most)
        if lighter and len(taken) >= most:
            self.verdict, self.tried = "hint", taken
            return {}
        counts = [len(nodes & {*kept}) for nodes, _, _ in self.switches]
        used = [s for s, (nodes, _, _) in enumerate(self.switches) if nodes & {*taken}]
        used = [s for s in used if top[0] in self.chain(s) or s in self.chain(top[0])]
        leaves = [s for s, (_, _, level) in enumerate(self.switches) if level == 0]
        had = len(taken)
        for s in [s for s in leaves if s in used]:
            take([node for node in kept if node in self.switches[s][0]], 10**9)
            self.count_down(counts, s, len(taken) - had)
        leaves = [s for s in leaves if s not in used]
        before = None
        while max(needs()) > 0 and before != needs()[0] and any(counts[s] for s in leaves):
            before, best = needs()[0], None
            far = {s: sum(self.hops(s, each) for each in used) for s in leaves}
            for s in [s for s in leaves if counts[s]]:
                if best is None:
                    best = s
                    continue
                better, fits = self.suits(s, best, needs(), counts)
                if (far[s] < far[best] and (fits if self.since_24_11 else better >= 0)) or (
                    far[s] == far[best] and better > 0
                ):
                    best = s
            used.append(best)
            take([node for node in kept if node in self.switches[best][0]], most)
            self.count_down(counts, best, counts[best])
            counts[best] = 0
        if max(needs()) > 0:
            self.verdict, self.tried = "hint", taken
            return {}
        leaves = [nodes for nodes, _, level in self.switches if level == 0 and nodes & {*taken}]
        if job.switches and len(leaves) > job.switches and self.now < job.submit + job.patience:
            self.verdict = "waits"
            return {}
        return taken if whole else self.spread(job, {node: taken[node] for node in sorted(taken)})
