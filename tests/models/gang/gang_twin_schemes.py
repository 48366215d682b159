"""The packing schemes once more, slow and obvious: `models.packing.schemes` is checked against them.

Written from Feitelson 1996, section 2, and the readings of it alone. PEs are members of sets, a slot is a
list of jobs, and every load is counted again for each job that is placed.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple


@dataclass(eq=False)
class Job:
    """A job, numbered in order of submission; `controller` is the group to which buddy has mapped it."""

    number: int
    size: int
    pes: set[int] = field(default_factory=set)
    controller: range | None = None


@dataclass(eq=False)
class Slot:
    """A used slot: its jobs, and the side from which it is filled."""

    jobs: list[Job] = field(default_factory=list)
    side: str = "left"

    @property
    def taken(self) -> set[int]:
        return set().union(*(job.pes for job in self.jobs))


class Placement(NamedTuple):
    """Index of a used slot, or of a new one after them; PEs; what the scheme notes down."""

    slot: int
    pes: set[int]
    controller: range | None = None
    side: str = "left"


def free_pes(n_pes: int, slots: list[Slot]) -> list[list[int]]:
    """Return the free PEs of each slot in serial order, a new slot's at the end."""
    return [sorted(set(range(n_pes)) - slot.taken) for slot in [*slots, Slot()]]


def with_room(free: list[list[int]], size: int) -> list[int]:
    """Return the used slots with sufficient capacity; a new slot only if there is none."""
    return [i for i in range(len(free) - 1) if len(free[i]) >= size] or [len(free) - 1]


def first_fit(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    free = free_pes(n_pes, slots)
    slot = with_room(free, size)[0]
    return Placement(slot, set(free[slot][:size]))


def best_slot(free: list[list[int]], size: int) -> int:
    return min(with_room(free, size), key=lambda i: (len(free[i]), i))


def best_fit(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    free = free_pes(n_pes, slots)
    slot = best_slot(free, size)
    return Placement(slot, set(free[slot][:size]))


def left_right_size(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    free = free_pes(n_pes, slots)
    slot = best_slot(free, size)
    small = size <= parameters["threshold"]
    return Placement(slot, set(free[slot][:size] if small else free[slot][::-1][:size]))


def left_right_slots(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    free = free_pes(n_pes, slots)
    slot = best_slot(free, size)
    if slot < len(slots):
        side = slots[slot].side
    else:
        sides = [used.side for used in slots]
        side = "left" if sides.count("left") <= sides.count("right") else "right"
    return Placement(slot, set(free[slot][:size] if side == "left" else free[slot][::-1][:size]), side=side)


def by_load(n_pes: int, slots: list[Slot], size: int, cost: Callable[[list[int]], int]) -> Placement:
    load = Counter(pe for slot in slots for pe in slot.taken)
    free = free_pes(n_pes, slots)
    lightest = [sorted(pes, key=lambda pe: (load[pe], pe))[:size] for pes in free]
    slot = min(with_room(free, size), key=lambda i: (cost([load[pe] for pe in lightest[i]]), i))
    return Placement(slot, set(lightest[slot]))


def min_max_load(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    return by_load(n_pes, slots, size, max)


def min_avg_load(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    return by_load(n_pes, slots, size, sum)  # over n PEs in every slot: the sum orders as the average does


def halves(group: range) -> list[range]:
    middle = group.start + len(group) // 2
    return [] if len(group) == 1 else [range(group.start, middle), range(middle, group.stop)]


def controller_load(n_pes: int, slots: list[Slot], reading: str) -> Callable[[range], int]:
    """Return the load on a controller (Fig. 2) as a function of its group of PEs.

    Jobs are its load; PEs that a slot hides, for want of memory or to keep a reservation, are not.
    """
    mapped = Counter(job.controller for slot in slots for job in slot.jobs)
    used = Counter(pe for slot in slots for job in slot.jobs for pe in job.pes)

    @cache
    def ancestors(group: range) -> int:
        width = 2 * len(group)
        if width > n_pes:
            return 0
        start = group.start // width * width
        parent = range(start, start + width)
        return mapped[parent] + ancestors(parent)

    @cache
    def below(group: range) -> int:
        return mapped[group] + max((below(half) for half in halves(group)), default=0)

    @cache
    def to_the_letter(group: range) -> int:
        children = max((to_the_letter(half) for half in halves(group)), default=0)
        return mapped[group] + children + ancestors(group)

    def on_pes(group: range) -> int:
        return max(used[pe] for pe in group)

    return {"paths": lambda g: below(g) + ancestors(g), "recursive": to_the_letter, "pes": on_pes}[reading]


def buddy(n_pes: int, slots: list[Slot], size: int, parameters: Mapping) -> Placement:
    load = controller_load(n_pes, slots, parameters["controller_load"])
    width = 2 ** math.ceil(math.log2(size))
    groups = [range(start, start + width) for start in range(0, n_pes, width)]
    taken = [slot.taken for slot in slots]
    free_in = {g: [i for i, pes in enumerate(taken) if pes.isdisjoint(g)] for g in groups}
    candidates = [group for group in groups if free_in[group]] or groups
    chosen = min(candidates, key=lambda group: (load(group), group.start))
    if not free_in[chosen]:
        slot = len(slots)
    elif parameters["slot_choice"] == "first":
        slot = free_in[chosen][0]
    else:
        slot = min(free_in[chosen], key=lambda i: (n_pes - len(taken[i]), i))

    def part(group: range, need: int) -> set[int]:
        if need in (0, len(group)):
            return set(group[:need])
        lighter, other = sorted(halves(group), key=lambda half: (load(half), half.start))
        if need < len(lighter):
            return part(lighter, need)
        return set(lighter) | part(other, need - len(lighter))

    return Placement(slot, part(chosen, size), chosen)


SCHEMES: dict[str, Callable[[int, list[Slot], int, Mapping], Placement]] = {
    "first_fit": first_fit,
    "best_fit": best_fit,
    "left_right_size": left_right_size,
    "left_right_slots": left_right_slots,
    "min_max_load": min_max_load,
    "min_avg_load": min_avg_load,
    "buddy": buddy,
    "migration": first_fit,  # over all jobs at each event, see `gang_twin.Twin`
}
