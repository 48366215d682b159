"""The twin with blocks of nodes: sets and sorted keys where the kernel counts and compares."""

from collections.abc import Sequence
from dataclasses import dataclass

from slurm_budget_twin import SwitchTwin
from slurm_twin import Twin, TwinJob


@dataclass
class BlockTwin(SwitchTwin):
    """Base blocks as sets of nodes, how many nodes they count for, and the sizes of blocks in base blocks."""

    blocks: Sequence[set[int]] = ()
    base: int = 1
    sizes: Sequence[int] = (1,)

    def fit(self, job: TwinJob, whole: bool, offers: dict[int, int]) -> dict[int, int]:
        self.verdict, self.tried = "", {}
        if not any(block & {*offers} for block in self.blocks):
            return Twin.fit(self, job, whole, offers)
        n, most = (job.nodes // job.segment if job.segment else 1), max(job.tasks, job.nodes)
        taken: dict[int, int] = {}
        for _ in range(n):
            left = {node: cpus for node, cpus in offers.items() if node not in taken}
            sizes = job.nodes // n, job.tasks // n, most // n
            part = self.segment(sizes, whole or job.segment > 0, left)
            taken |= part
            if self.verdict != "fits":
                self.tried = taken
                return {}
        return taken if whole else self.spread(job, {node: taken[node] for node in sorted(taken)})

    def segment(self, sizes: tuple[int, int, int], whole: bool, offers: dict[int, int]) -> dict[int, int]:
        nodes, cpus, most = sizes
        n_base, n_blocks = -(-nodes // self.base), len(self.blocks)
        power = next(2**k for k in range(20) if 2**k >= n_base)
        size = next((one for one in self.sizes if one >= power), n_blocks)
        lower = max([one for one in self.sizes if one < power], default=1)
        most_lower = -(-nodes // (lower * self.base))
        counted, n_lower = size != lower * most_lower, -(-n_blocks // lower)
        free = [sorted(block & {*offers}) for block in self.blocks]
        found = []
        for g, begin in enumerate(range(0, n_blocks, size)):
            inside = range(begin, min(begin + size, n_blocks))
            every = [node for k in inside for node in free[k]]
            counts = [
                sum(len(free[k]) for k in range(j * lower, min((j + 1) * lower, n_blocks)))
                for j in range(g * (size // lower), min((g + 1) * (size // lower), n_lower))
            ]
            usable = sum(sorted(counts)[-most_lower:]) if counted else len(every)
            if every and usable >= nodes and sum(offers[node] for node in every) >= cpus:
                n = len(every) if self.since_24_11 else usable
                found.append((min(map(self.weight, every)), n, -begin, inside))
        self.verdict, taken = "stop", dict[int, int]()
        if not found:
            return {}
        inside = min(found)[-1]
        every = sorted(node for k in inside for node in free[k])
        kept: list[int] = []
        for weight in sorted({self.weight(node) for node in every}):
            lighter, kept = kept, [node for node in every if self.weight(node) <= weight]
            if len(kept) >= nodes and sum(offers[node] for node in kept) >= cpus:
                break
        else:
            self.verdict = ""
            return {}

        def take(some: Sequence[int], bound: int) -> bool:
            for node in some:
                left, needed = nodes - len(taken), cpus - sum(taken.values())
                if node not in taken and len(taken) < bound and (left > 0 or needed > 0):
                    taken[node] = (
                        offers[node] if whole else min(offers[node], max(needed - max(left - 1, 0), 1))
                    )
            return len(taken) >= nodes and sum(taken.values()) >= cpus

        take(lighter, most)
        if lighter and len(taken) >= most:
            self.verdict = "hint"
            return taken
        used = {k for k in inside if {*free[k]} & {*taken}}
        room = most_lower - len({k // lower for k in used})
        if room < 0:
            self.verdict = ""
            return {}
        of_block = {k: [node for node in free[k] if node in kept] for k in inside}
        done = False
        for k in sorted(used):
            done = take(of_block[k], 10**9)
        while not done and (others := [k for k in inside if k not in used]):
            need, before = nodes - len(taken), len(taken)
            counts = [sum(len(of_block[k]) for k in others if k // lower == j) for j in range(n_lower)]

            def key(
                k: int, need: int = need, counts: list[int] = counts, used: set[int] = used
            ) -> tuple[float, ...]:
                n, of_lower = len(of_block[k]), counts[k // lower]
                fits, lower_fits = 0 <= need <= n, 0 <= need <= of_lower
                above = (
                    k // lower in {one // lower for one in used},
                    lower_fits,
                    of_lower * (1 - 2 * lower_fits),
                )
                return (*(above if counted else ()), fits, n * (1 - 2 * fits), k)

            best = max(others, key=key)
            is_new = counted and best // lower not in {one // lower for one in used}
            if is_new and room <= 0:
                break
            room -= is_new
            used.add(best)
            done = take(of_block[best], most)
            if len(taken) == before:
                break
        self.verdict = "fits" if done else "hint"
        return taken
