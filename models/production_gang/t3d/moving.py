"""The course of a job: submitted, assigned, run, preempted, written to disk, ended."""

import numpy as np
from numba import boolean, float64, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.admission import count_admitted, enqueue, is_batch, wait_for_nodes
from models.production_gang.t3d.clock import count_usage
from models.production_gang.t3d.events import push
from models.production_gang.t3d.placing import count_free, first_node
from models.production_gang.t3d.ranking import slice_end
from models.production_gang.t3d.state import NONE, SYSTEM, JobState, Kind


@part(void(int64, SYSTEM))
def submit(job, system):
    """Submit a job now."""
    it = system.jobs[job]
    if it.user >= 0:
        system.users[it.user].active += 1
    it.submit = system.state[0].now
    enqueue(job, system)


@part(float64(float64, float64, SYSTEM))
def move_image(ready, seconds, system):
    """Return when an image that is ready at a time has been moved; a channel moves earlier images first."""
    state = system.state[0]
    if not system.settings.one_channel:
        return ready + seconds
    state.channel = max(ready, state.channel) + seconds
    return state.channel


@part(void(int64, boolean, SYSTEM))
def release_nodes(job, leaves_image, system):
    """Release the nodes of a running job, free at once or when its image has been written."""
    torus, it, state = system.torus, system.jobs[job], system.state[0]
    now, n_nodes = state.now, 1 << it.level
    gone = move_image(now, it.processors * system.settings.swap_out, system) if leaves_image else now
    begin = first_node(it.place, it.level, torus)
    for i in range(begin, begin + n_nodes):
        node = torus.places.nodes[i]
        torus.owner[node] = NONE
        torus.left_by[node] = gone
        count_free(node, 1, system)
    if gone > now:
        state.n_leaving_nodes += n_nodes
    count_usage(job, system)
    state.running -= it.processors
    state.n_residents -= 1
    last = system.residents[state.n_residents]
    system.residents[it.position] = last
    system.jobs[last].position = it.position
    residency = system.residencies[it.residency]
    residency.stops = now
    residency.gone = gone
    it.left -= now - it.run_since
    it.stops += 1


@part(void(int64, SYSTEM), inline=False)
def write_image(job, system):
    """Stop a running job; its image is written to disk."""
    it = system.jobs[job]
    release_nodes(job, True, system)
    it.state = JobState.LEAVING
    push(system.residencies[it.residency].gone, Kind.IMAGE_HAS_LEFT, job, system)


@part(void(int64, SYSTEM))
def preempt(job, system):
    """Stop a running job, which waits for nodes from now on."""
    write_image(job, system)
    wait_for_nodes(job, system)


@part(void(int64, SYSTEM))
def finish_swap_out(job, system):
    """Record that the image of a job is on disk: nodes that were not assigned again are free."""
    torus, it = system.torus, system.jobs[job]
    it.state = JobState.ON_DISK
    residency = system.residencies[it.residency]
    if residency.gone == residency.stops:
        return
    begin = first_node(it.place, it.level, torus)
    for i in range(begin, begin + (1 << it.level)):
        node = torus.places.nodes[i]
        if torus.owner[node] == NONE and torus.left_by[node] == residency.gone:
            system.state[0].n_leaving_nodes -= 1


@part(void(int64, int64, SYSTEM))
def leave(job, how, system):
    """Let a job without nodes leave the system, in a state; its user then submits the jobs that follow it."""
    jobs, it, state = system.jobs, system.jobs[job], system.state[0]
    it.state = how
    it.end = state.now
    if it.wire != NONE:
        system.wires[it.wire] -= 1
    count_admitted(job, -1, system)
    if is_batch(job, system) or system.settings.aggregate_limit < 1e300:
        state.scan_from = 0
    if it.user >= 0:
        system.users[it.user].active -= 1
    state.n_ended += 1
    child = it.first_child
    while child != NONE:
        push(state.now + jobs[child].think, Kind.ANSWERED, child, system)
        child = jobs[child].sibling


@part(void(int64, SYSTEM))
def end_run(job, system):
    """End a job whose work is done."""
    release_nodes(job, False, system)
    system.jobs[job].stops -= 1  # it was not preempted
    leave(job, JobState.ENDED, system)


@part(void(int64, SYSTEM))
def begin_run(job, system):
    """Begin to run a job that has its nodes and whose image is loaded."""
    it, state = system.jobs[job], system.state[0]
    it.state = JobState.RUNNING
    it.run_since = state.now
    if np.isnan(it.start):
        it.start = state.now
    state.switching -= it.processors
    state.running += it.processors
    push(state.now + it.left, Kind.END_OF_RUN, job, system)
    if slice_end(job, system) > state.now:
        push(slice_end(job, system), Kind.TIMER, job, system)


@part(void(int64, int64, int64, float64, SYSTEM))
def assign(job, place, wire, ready, system):
    """Assign nodes to a job and preempt the jobs that own them. O(nodes of the place x log nodes)."""
    torus, it, state = system.torus, system.jobs[job], system.state[0]
    begin = first_node(place, it.level, torus)
    for i in range(begin, begin + (1 << it.level)):
        if torus.owner[torus.places.nodes[i]] != NONE:
            preempt(torus.owner[torus.places.nodes[i]], system)
    for i in range(begin, begin + (1 << it.level)):
        node = torus.places.nodes[i]
        if torus.left_by[node] > state.now:
            state.n_leaving_nodes -= 1
        torus.owner[node] = job
        count_free(node, -1, system)
    begins = ready
    if it.state == JobState.ON_DISK:
        begins = move_image(ready, it.processors * system.settings.swap_in, system)
    system.wires[wire] += it.wire == NONE  # a job keeps its wire on disk
    it.state, it.place, it.wire, it.residency = JobState.ASSIGNED, place, wire, state.n_residencies
    it.position = state.n_residents
    system.residents[state.n_residents] = job
    state.n_residents += 1
    state.switching += it.processors
    residency = system.residencies[state.n_residencies]
    state.n_residencies += 1
    residency.job, residency.corner, residency.wire = job, torus.places.corner[place], wire
    residency.assigned, residency.ready, residency.begins = state.now, ready, begins
    push(begins, Kind.RUN_BEGINS, job, system)
