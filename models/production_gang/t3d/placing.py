"""Where a job goes: best fit, near to jobs like it, with the least contention for barrier wires.

"Processor selection criterion includes best-fit packing, placement of jobs with similar scheduling
characteristics in close proximity, and minimizing contention of the barrier wire circuits" (Jette 1997, "Cray
T3D"). All places of a job's size are compared, first the free ones, then those whose owners it may preempt.
"""

from __future__ import annotations

from numba import boolean, float64, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.ranking import class_of, is_urgent, number_of, slice_ends
from models.production_gang.t3d.state import (
    HEEDS_SLICES,
    LEVEL,
    LOOK,
    LOWEST,
    LOWEST_IN_SLICE,
    N_CLASSES,
    N_RESIDENTS,
    NONE,
    NOW,
    PREEMPTABLE,
    PRIORITY,
    PROCESSOR_LIMIT,
    PROCESSORS,
    RUNNING,
    STATE,
    SYSTEM,
    WIRE,
)

N_CRITERIA = 7
"""What places are compared by, the least first; the last is the wire, which is chosen and not compared."""

HIGHEST = 1e300


@part(boolean(int64, int64, float64, boolean, SYSTEM))
def yields_to(owner, job, priority, urgent, system):
    """Tell whether a job may preempt the owner of nodes that it could have."""
    whole, parameters = system.work.whole, system.parameters
    if whole[owner, STATE] != RUNNING or not parameters.switches[class_of(owner, system), PREEMPTABLE]:
        return False
    of_owner = number_of(owner, PRIORITY, system)
    if not (of_owner < priority or (urgent and of_owner == priority)):
        return False
    if not parameters.switches[class_of(job, system), HEEDS_SLICES]:
        return True
    return system.clocks[NOW] >= slice_ends(owner, system)


@part(void(SYSTEM))
def look_around(system):
    """Count the processors of each class, and find the lowest priority of a job that may be preempted.

    O(owners of nodes); after each change of these.
    """
    work, around, counts = system.work, system.around, system.counts
    for job_class in range(N_CLASSES):
        around[job_class] = 0.0
    around[LOWEST] = around[LOWEST_IN_SLICE] = HIGHEST
    for i in range(counts[N_RESIDENTS]):
        owner = work.residents[i]
        job_class = class_of(owner, system)
        around[job_class] += work.whole[owner, PROCESSORS]
        if work.whole[owner, STATE] == RUNNING and system.parameters.switches[job_class, PREEMPTABLE]:
            priority = number_of(owner, PRIORITY, system)
            around[LOWEST_IN_SLICE] = min(around[LOWEST_IN_SLICE], priority)
            if system.clocks[NOW] >= slice_ends(owner, system):
                around[LOWEST] = min(around[LOWEST], priority)


@part(boolean(int64, SYSTEM))
def somebody_yields(job, system):
    """Tell whether there is anybody that a job may preempt. O(1), once somebody has looked around."""
    priority = number_of(job, PRIORITY, system)
    heeds = system.parameters.switches[class_of(job, system), HEEDS_SLICES]
    lowest = system.around[LOWEST if heeds else LOWEST_IN_SLICE]
    return lowest < priority or (lowest == priority and is_urgent(job, system))


@part(boolean(int64, SYSTEM))
def is_within_class_limit(job, system):
    """Tell whether a class keeps its processor limit with one job more. O(1), as `somebody_yields`."""
    had = system.around[class_of(job, system)]
    return had + system.work.whole[job, PROCESSORS] <= number_of(job, PROCESSOR_LIMIT, system)


@part(int64(int64, int64, SYSTEM))
def room_around(node, level, system):
    """Return the nodes of the largest free half around a place of this level, its own if there is none."""
    torus = system.torus
    n = 2 * torus.leaf.shape[0]
    leaf = torus.leaf[node]
    found = 1 << level
    while (1 << level) <= torus.leaf.shape[0]:
        if torus.free[n - (n >> level) + (leaf >> level)] < (1 << level):
            break
        found = 1 << level
        level += 1
    return found


@part(int64(int64, boolean, SYSTEM))
def best_place(job, preempting, system):
    """Return the best place for a job, `NONE` if there is none; its wire and readiness are in `System.best`.

    O(places of its size x (nodes + neighbours of a place)).

    Parameters
    ----------
    job : int
    preempting : bool
        Whether owners who may be preempted do not count: then at least one has to be.
    """
    torus, work, wires, settings = system.torus, system.work, system.wires, system.settings
    counts, best = system.counts, system.best
    now = system.clocks[NOW]
    level = work.whole[job, LEVEL]
    n_nodes, wire_kept = 1 << level, work.whole[job, WIRE]
    job_class = class_of(job, system)
    priority, urgent = number_of(job, PRIORITY, system), is_urgent(job, system)
    n_wires = settings.n_wires
    found = NONE
    for i in range(N_CRITERIA):
        best[i] = HIGHEST
    for place in range(torus.first[level], torus.first[level + 1]):
        counts[LOOK] += 1
        look = counts[LOOK]
        begin = torus.node_of[level] + ((place - torus.first[level]) << level)
        ready, highest, processors, n_victims = now, -1.0, 0, 0
        possible = True
        for i in range(begin, begin + n_nodes):
            node = torus.nodes[i]
            owner = torus.owner[node]
            if owner == NONE:
                ready = max(ready, torus.left_by[node])
            elif not preempting:
                possible = False
                break
            elif work.victim_of[owner] != look:
                if not yields_to(owner, job, priority, urgent, system):
                    possible = False
                    break
                work.victim_of[owner] = look
                n_victims += 1
                processors += work.whole[owner, PROCESSORS]
                highest = max(highest, number_of(owner, PRIORITY, system))
                ready = max(ready, now + work.whole[owner, PROCESSORS] * system.costs.swap_out)
        if not possible or (preempting and n_victims == 0):
            continue
        if preempting:
            first, second, third, fourth = highest, float(processors), ready, float(n_victims)
        else:
            first, second, third, fourth = (
                ready,
                float(room_around(torus.corner[place], level, system)),
                0.0,
                0.0,
            )
        if first > best[0] or (
            first == best[0]
            and (
                second > best[1]
                or (second == best[1] and (third > best[2] or (third == best[2] and fourth > best[3])))
            )
        ):
            continue
        alike, taken = 0, 0
        for i in range(torus.border_of[place], torus.border_of[place + 1]):
            owner = torus.owner[torus.border[i]]
            if owner == NONE or work.victim_of[owner] == look:
                continue
            taken |= 1 << work.whole[owner, WIRE]
            if class_of(owner, system) == job_class:
                alike += 1
        if settings.wires_may_meet:
            taken = 0
        for wire in range(n_wires):
            wires[n_wires + wire] = wires[wire]
        if preempting:
            for i in range(counts[N_RESIDENTS]):
                owner = work.residents[i]
                if work.victim_of[owner] == look:
                    wires[n_wires + work.whole[owner, WIRE]] -= 1
        chosen = NONE
        for wire in range(n_wires):
            if (taken >> wire) & 1 or (wire_kept != NONE and wire != wire_kept):
                continue
            if chosen == NONE or wires[n_wires + wire] < wires[n_wires + chosen]:
                chosen = wire
        if chosen == NONE:
            continue
        fifth, sixth = -float(alike), float(wires[n_wires + chosen])
        if (
            first == best[0] and second == best[1] and third == best[2] and fourth == best[3]
            and (fifth > best[4] or (fifth == best[4] and sixth >= best[5]))
        ):  # fmt: skip
            continue
        found = place
        best[0], best[1], best[2], best[3], best[4], best[5] = first, second, third, fourth, fifth, sixth
        best[6] = chosen
        best[7] = ready
    return found


@part()
def has_free_place(level, system):
    """Tell whether some place of this level has no owner, whatever the wires. O(places x their nodes)."""
    torus = system.torus
    for place in range(torus.first[level], torus.first[level + 1]):
        begin = torus.node_of[level] + ((place - torus.first[level]) << level)
        free = True
        for i in range(begin, begin + (1 << level)):
            if torus.owner[torus.nodes[i]] != NONE:
                free = False
                break
        if free:
            return True
    return False


@part()
def count_free(node, change, system):
    """Count a node that gets an owner, or loses it, in the halves that it is in. O(log nodes)."""
    torus = system.torus
    n = 2 * torus.leaf.shape[0]
    leaf = torus.leaf[node]
    level = 0
    while (1 << level) <= torus.leaf.shape[0]:
        torus.free[n - (n >> level) + (leaf >> level)] += change
        level += 1
