"""The choice of nodes: best fit, near jobs of the same class, with the least contention for barrier wires.

"Processor selection criterion includes best-fit packing, placement of jobs with similar scheduling
characteristics in close proximity, and minimizing contention of the barrier wire circuits" (Jette 1997, "Cray
T3D"). All places of a job's size are compared, first the free ones, then those whose owners it may preempt.
"""

from numba import boolean, float64, int64, void

from models.kernels.compiling import part
from models.kernels.types import FLOATS
from models.production_gang.t3d.ranking import class_of, is_urgent, parameters_of, slice_end
from models.production_gang.t3d.state import NONE, SYSTEM, JobState

N_CRITERIA = 6
"""The number of criteria by which places are compared, the smallest first."""

HIGHEST = 1e300


@part(boolean(int64, int64, float64, boolean, SYSTEM))
def may_preempt(job, owner, priority, urgent, system):
    """Return whether a job may preempt the owner of nodes that it could use."""
    its = parameters_of(owner, system)
    if system.jobs[owner].state != JobState.RUNNING or not its.preemptable:
        return False
    if not (its.priority < priority or (urgent and its.priority == priority)):
        return False
    if not parameters_of(job, system).heeds_slices:
        return True
    return system.state[0].now >= slice_end(owner, system)


@part(void(SYSTEM))
def summarise_owners(system):
    """Sum the processors of each class, and find the lowest priority of a job that may be preempted.

    O(owners of nodes); after each change of these.
    """
    state = system.state[0]
    system.class_processors[:] = 0.0
    state.lowest = state.lowest_in_slice = HIGHEST
    for i in range(state.n_residents):
        owner = system.residents[i]
        it, its = system.jobs[owner], parameters_of(owner, system)
        system.class_processors[class_of(owner, system)] += it.processors
        if it.state == JobState.RUNNING and its.preemptable:
            state.lowest_in_slice = min(state.lowest_in_slice, its.priority)
            if state.now >= slice_end(owner, system):
                state.lowest = min(state.lowest, its.priority)


@part(boolean(int64, SYSTEM))
def has_victims(job, system):
    """Return whether a job may preempt any other. O(1), after `summarise_owners`."""
    its, state = parameters_of(job, system), system.state[0]
    lowest = state.lowest if its.heeds_slices else state.lowest_in_slice
    return lowest < its.priority or (lowest == its.priority and is_urgent(job, system))


@part(boolean(int64, SYSTEM))
def is_within_class_limit(job, system):
    """Return whether a class keeps its processor limit with one more job. O(1), after `summarise_owners`."""
    had = system.class_processors[class_of(job, system)]
    return had + system.jobs[job].processors <= parameters_of(job, system).processor_limit


@part(int64(int64, int64, SYSTEM))
def free_surroundings(node, level, system):
    """Return the nodes of the largest free half around a place of this level, or of the place itself."""
    torus = system.torus
    n = 2 * torus.places.leaf.shape[0]
    leaf = torus.places.leaf[node]
    found = 1 << level
    while (1 << level) <= torus.places.leaf.shape[0]:
        if torus.free[n - (n >> level) + (leaf >> level)] < (1 << level):
            break
        found = 1 << level
        level += 1
    return found


@part(int64(FLOATS, FLOATS, int64))
def compare(criteria, best, n):
    """Compare the first `n` criteria: -1 if the first that differs is less than the best, 1 if it is more."""
    for i in range(n):
        if criteria[i] != best[i]:
            return -1 if criteria[i] < best[i] else 1
    return 0


@part()
def first_node(place, level, torus):
    """Return where the nodes of a place of this level begin in `Torus.nodes`."""
    return torus.places.node_of[level] + ((place - torus.places.first[level]) << level)


@part(boolean(int64, int64, int64, boolean, SYSTEM))
def try_nodes(job, begin, trial, preempting, system):
    """Return whether a job may have the nodes from a position on, and set the first criteria. O(nodes)."""
    torus, state, criteria = system.torus, system.state[0], system.criteria
    priority, urgent = parameters_of(job, system).priority, is_urgent(job, system)
    ready, highest, processors, n_victims = state.now, -1.0, 0, 0
    for i in range(begin, begin + (1 << system.jobs[job].level)):
        owner = torus.owner[torus.places.nodes[i]]
        if owner == NONE:
            ready = max(ready, torus.left_by[torus.places.nodes[i]])
        elif not preempting:
            return False
        elif system.jobs[owner].victim_of != trial:
            if not may_preempt(job, owner, priority, urgent, system):
                return False
            victim = system.jobs[owner]
            victim.victim_of = trial
            n_victims += 1
            processors += victim.processors
            highest = max(highest, parameters_of(owner, system).priority)
            ready = max(ready, state.now + victim.processors * system.settings.swap_out)
    if preempting and n_victims == 0:
        return False
    if n_victims > 0 and system.settings.one_channel:
        ready = max(state.now, state.channel) + processors * system.settings.swap_out
    criteria[0], criteria[1], criteria[2], criteria[3] = highest, processors, ready, n_victims
    if not preempting:
        criteria[0], criteria[1], criteria[2], criteria[3] = ready, 0.0, 0.0, 0.0
    return True


@part(int64(int64, int64, int64, SYSTEM))
def choose_wire(job, place, trial, system):
    """Return the wire of the fewest jobs for a place, `NONE` for none; the last criteria are set.

    Jobs on disk count, since they keep their wires and will contend again. O(neighbours of the place).
    """
    torus, wires, settings, kept = system.torus, system.wires, system.settings, system.jobs[job].wire
    job_class, n_wires = class_of(job, system), settings.n_wires
    alike, taken = 0, 0
    for i in range(torus.places.border_of[place], torus.places.border_of[place + 1]):
        owner = torus.owner[torus.places.border[i]]
        if owner == NONE or system.jobs[owner].victim_of == trial:
            continue
        taken |= 1 << system.jobs[owner].wire
        alike += class_of(owner, system) == job_class
    if settings.wires_may_meet:
        taken = 0
    chosen = NONE
    for wire in range(n_wires):
        if (taken >> wire) & 1 or (kept != NONE and wire != kept):
            continue
        if chosen == NONE or wires[wire] < wires[chosen]:
            chosen = wire
    if chosen != NONE:
        system.criteria[4] = -alike
        system.criteria[5] = wires[chosen]
    return chosen


@part(int64(int64, boolean, SYSTEM))
def best_place(job, preempting, system):
    """Return the best place for a job, `NONE` if there is none; its wire and readiness are in the state.

    O(places of its size x (nodes + neighbours of a place)).

    Parameters
    ----------
    job : int
    preempting : bool
        Whether owners that may be preempted are ignored; then at least one has to be preempted.
    """
    torus, state, criteria, best = system.torus, system.state[0], system.criteria, system.best
    level = system.jobs[job].level
    found = NONE
    best[:] = HIGHEST
    for place in range(torus.places.first[level], torus.places.first[level + 1]):
        state.n_trials += 1
        trial = state.n_trials
        if not try_nodes(job, first_node(place, level, torus), trial, preempting, system):
            continue
        if not preempting:
            criteria[1] = free_surroundings(torus.places.corner[place], level, system)
        if compare(criteria, best, 4) > 0:
            continue
        wire = choose_wire(job, place, trial, system)
        if wire == NONE or compare(criteria, best, N_CRITERIA) >= 0:
            continue
        found = place
        for i in range(N_CRITERIA):
            best[i] = criteria[i]
        state.wire = wire
        state.ready = criteria[2] if preempting else criteria[0]
    return found


@part()
def has_free_place(level, system):
    """Return whether some place of this level has no owner, whatever the wires. O(places x their nodes)."""
    torus = system.torus
    for place in range(torus.places.first[level], torus.places.first[level + 1]):
        begin = first_node(place, level, torus)
        free = True
        for i in range(begin, begin + (1 << level)):
            if torus.owner[torus.places.nodes[i]] != NONE:
                free = False
                break
        if free:
            return True
    return False


@part()
def count_free(node, change, system):
    """Count a node as free or owned in all halves that contain it. O(log nodes)."""
    torus = system.torus
    n = 2 * torus.places.leaf.shape[0]
    leaf = torus.places.leaf[node]
    level = 0
    while (1 << level) <= torus.places.leaf.shape[0]:
        torus.free[n - (n >> level) + (leaf >> level)] += change
        level += 1
