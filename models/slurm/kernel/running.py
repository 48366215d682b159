"""Jobs on nodes: start, end, the list of running jobs by expected end, and the heap of actual ends."""

import math

import numpy as np

from models.kernels.bits import ONE
from models.kernels.compiling import part
from models.kernels.lists import remove
from models.slurm.kernel.budgets import charge, count_submitted, spend
from models.slurm.kernel.rows import chosen_cores, copy_rows, join_row, leave_row, use_nodes
from models.slurm.kernel.tables import BOOTING, COMPLETING, DOWN, FREE, FUTURE, LATER, NONE, NOW, TRIED

RUNNING, ENDED, REQUEUED = 3, 4, 5


@part(inline=False)
def push_end(system, key, job):
    """Add an end to the heap; an entry is skipped later if its job has another end by then."""
    state = system.state[0]
    at = state.n_heap
    state.n_heap += 1
    while at > 0:
        above = (at - 1) // 2
        if system.heap[above].key < key or (system.heap[above].key == key and system.heap[above].job <= job):
            break
        system.heap[at].key, system.heap[at].job = system.heap[above].key, system.heap[above].job
        at = above
    system.heap[at].key, system.heap[at].job = key, job


@part(inline=False)
def pop_end(system):
    """Remove the first end of the heap and return its job."""
    state = system.state[0]
    found = system.heap[0].job
    state.n_heap -= 1
    n = state.n_heap
    key, job = system.heap[n].key, system.heap[n].job
    at = 0
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and (
            system.heap[below + 1].key < system.heap[below].key
            or (
                system.heap[below + 1].key == system.heap[below].key
                and system.heap[below + 1].job < system.heap[below].job
            )
        ):
            below += 1
        if key < system.heap[below].key or (key == system.heap[below].key and job <= system.heap[below].job):
            break
        system.heap[at].key, system.heap[at].job = system.heap[below].key, system.heap[below].job
        at = below
    system.heap[at].key, system.heap[at].job = key, job
    return found


@part(inline=False)
def remove_end(system, key, job):
    """Remove an end from the heap, which has it; O(heap)."""
    at = 0
    while system.heap[at].key != key or system.heap[at].job != job:
        at += 1
    while at > 0:  # the entry takes the place of the first one, whatever its key
        above = (at - 1) // 2
        system.heap[at].key, system.heap[at].job = system.heap[above].key, system.heap[above].job
        at = above
    pop_end(system)


@part(inline=False)
def freed_at(system, job):
    """Return when the nodes of a job are free after its end."""
    settings, end = system.settings[0], system.fate[job].end
    if system.jobs[job].message >= 0:  # a job that ignores SIGTERM keeps its nodes until SIGKILL
        return end + system.jobs[job].message
    if system.fate[job].killed:
        return end + settings.killing
    answer = system.jobs[job].answer
    return end + (answer if answer >= 0 else settings.completing)


@part(inline=False)
def insert_running(system, job):
    """Add a job to the running ones; among equal expected ends, the earlier job comes first, as in Slurm."""
    state, fate = system.state[0], system.fate
    at = state.n_running
    while at > 0:
        other = system.running[at - 1]
        if fate[other].expected < fate[job].expected or (
            fate[other].expected == fate[job].expected and other < job
        ):
            break
        system.running[at] = other
        at -= 1
    system.running[at] = job
    state.n_running += 1


@part(inline=False)
def remove_running(system, job):
    """Remove a job from the running ones. O(running jobs)."""
    remove(system.running, system.state[0].n_running, job)
    system.state[0].n_running -= 1


@part(inline=False)
def distribute(system, job):
    """Place one task on each chosen node, then the others in turn while nodes have CPUs, on whole cores;
    return the number of CPUs that count. O(tasks)."""
    jobs, choices = system.jobs, system.choices
    n, each, left = system.state[0].n_chosen, jobs[job].task_cpus, jobs[job].tasks
    per_node = jobs[job].tasks_per_node
    for k in range(n):
        choices[k].given = 0
    placed = True
    while left > 0 and placed:
        placed = False
        for k in range(n):
            if left > 0 and choices[k].given + each <= choices[k].cpus:
                if per_node > 0 and choices[k].given >= per_node * each:
                    continue
                choices[k].given += each
                left -= 1
                placed = True
    total = 0
    for k in range(n):
        choices[k].cpus = max(choices[k].given, min(each, choices[k].cpus))
        given, threads = choices[k].cpus, system.nodes[choices[k].node].threads
        if system.settings[0].threads > 1:
            choices[k].cpus += -given % threads
        total += choices[k].cpus if system.settings[0].counts_cores else given
    return total


@part(inline=False)
def start_job(system, job, partition, by):
    """Start a job now on the nodes that were picked; O(nodes + running jobs)."""
    state, settings, fate = system.state[0], system.settings[0], system.fate
    jobs, entries = system.jobs, system.entries
    alone, total = jobs[job].whole or system.partitions[partition].whole, 0
    if not alone:
        total = distribute(system, job)
    fate[job].entry = NONE
    fate[job].drawn = fate[job].spared = 0.0
    fate[job].booting = 0
    for k in range(state.n_chosen):
        entry = state.n_free_entry
        state.n_free_entry = entries[entry].next
        node, cpus = system.choices[k].node, system.choices[k].cpus
        entries[entry].node, entries[entry].cpus, entries[entry].next = node, cpus, fate[job].entry
        entries[entry].answered = 0
        if settings.in_rows:
            entries[entry].cores = np.int64(chosen_cores(system, job, node, system.cores[TRIED, node], cpus))
        fate[job].entry = entry
        if len(system.power):
            one, share = system.power[node], cpus / system.nodes[node].cpus
            fate[job].drawn += share * one.busy_watts
            fate[job].spared += share * one.idle_watts
            if one.state == DOWN or one.state == BOOTING:
                fate[job].booting = 1
        system.free[node].cpus -= cpus
        system.offers[node].jobs += 1
        if system.free[node].cpus <= 0:
            system.sets[FREE, node // 64] &= ~(ONE << np.uint64(node % 64))
        system.free[node].memory -= jobs[job].node_memory + jobs[job].cpu_memory * cpus
        for kind in range(settings.n_gres):
            system.free_gres[node * settings.n_gres + kind] -= system.job_gres[job * settings.n_gres + kind]
        total += cpus * alone
    fate[job].cpus, fate[job].n_nodes = total, state.n_chosen
    fate[job].status, fate[job].by, fate[job].partition = RUNNING, by, partition
    fate[job].start = state.now
    fate[job].expected = math.floor(state.now) + jobs[job].limit
    fate[job].end = state.now + jobs[job].runtime
    if fate[job].booting:
        fate[job].end = np.inf
        system.booting[state.n_booting] = job
        state.n_booting += 1
    else:
        push_end(system, fate[job].end, 2 * job)
    state.node_changed = settings.saves_power
    if settings.in_rows:
        join_row(system, job, NOW)
        use_nodes(system, job, NOW, 1)
    insert_running(system, job)
    state.n_started += 1
    state.last_update = math.floor(state.now)
    charge(system, job, 1, NONE)
    if jobs[job].array >= 0:
        system.array_running[jobs[job].array] += 1


@part(inline=False)
def give_back(system, job, supply, gres, row, of_memory):
    """Add a job's resources to a supply, whose free nodes are a row of sets; see `remove_in_future`."""
    settings, jobs, entries = system.settings[0], system.jobs, system.entries
    entry = system.fate[job].entry
    while entry != NONE:
        node, cpus = entries[entry].node, entries[entry].cpus
        supply[node].cpus += cpus
        if supply[node].cpus > 0:
            system.sets[row, node // 64] |= ONE << np.uint64(node % 64)
        else:
            system.sets[row, node // 64] &= ~(ONE << np.uint64(node % 64))
        if of_memory:
            supply[node].memory += jobs[job].node_memory + jobs[job].cpu_memory * cpus
        for kind in range(settings.n_gres):
            gres[node * settings.n_gres + kind] += of_memory * system.job_gres[job * settings.n_gres + kind]
        entry = entries[entry].next


@part(inline=False)
def end_on_nodes(system, job):
    """Free a job's resources; its nodes are completing until they have answered. O(nodes + running jobs)."""
    state, settings, fate = system.state[0], system.settings[0], system.fate
    jobs, entries = system.jobs, system.entries
    give_back(system, job, system.free, system.free_gres, FREE, 1)
    entry = fate[job].entry
    while entry != NONE:
        node = entries[entry].node
        system.sets[COMPLETING, node // 64] |= ONE << np.uint64(node % 64)
        system.offers[node].completing += 1
        entry = entries[entry].next
    remove_running(system, job)
    state.node_changed = settings.saves_power
    if settings.in_rows:
        leave_row(system, job, NOW)
        use_nodes(system, job, NOW, -1)
    state.n_completing += 1
    state.last_update = math.floor(state.now)
    charge(system, job, -1, 0)
    if fate[job].status != REQUEUED:
        count_submitted(system, job, -1)
    if settings.budgets:
        spend(system, job, state.last_calc, fate[job].end, True)
    if jobs[job].array >= 0:
        system.array_running[jobs[job].array] -= 1
    fate[job].next_answer = jobs[job + (fate[job].status == REQUEUED)].first_answer  # from its last run
    push_answer(system, job)


@part(inline=False)
def push_answer(system, job):
    """Add to the heap when the next node of a job answers, or when its last ones do. O(log jobs)."""
    key, at = freed_at(system, job), system.fate[job].next_answer
    if at < system.jobs[job + 1].first_answer:
        key = system.fate[job].end + system.node_answers[at].after
    push_end(system, key, 2 * job + 1)


@part(inline=False)
def answered_first(system, job):
    """Record that a node of a job has finished with it before the last ones; return whether there is such a
    node. O(nodes)."""
    state, fate, entries = system.state[0], system.fate, system.entries
    if fate[job].next_answer >= system.jobs[job + 1].first_answer:
        return False
    entry = fate[job].entry
    while entry != NONE:
        if entries[entry].node == system.node_answers[fate[job].next_answer].node:
            confirm(system, entry)
        entry = entries[entry].next
    fate[job].next_answer += 1
    state.last_update = math.floor(state.now)
    push_answer(system, job)
    return True


@part(inline=False)
def confirm(system, entry):
    """Record that a node has finished with a job, unless it had finished before."""
    node = system.entries[entry].node
    if system.entries[entry].answered:
        return
    system.entries[entry].answered = 1
    system.offers[node].jobs -= 1
    system.offers[node].completing -= 1
    if len(system.power) and system.offers[node].jobs == 0:
        system.power[node].since = math.floor(system.state[0].now)
    system.state[0].node_changed = system.settings[0].saves_power
    if system.offers[node].completing == 0:
        system.sets[COMPLETING, node // 64] &= ~(ONE << np.uint64(node % 64))


@part(inline=False)
def answered(system, job):
    """Record that the nodes of a job have finished with it. O(nodes)."""
    state, fate, entries = system.state[0], system.fate, system.entries
    entry = fate[job].entry
    while entry != NONE:
        confirm(system, entry)
        following = entries[entry].next
        entries[entry].next = state.n_free_entry
        state.n_free_entry = entry
        entry = following
    fate[job].entry = NONE
    charge(system, job, -1, 1)
    state.n_completing -= 1
    state.last_update = math.floor(state.now)


@part(inline=False)
def copy_free(system):
    """Begin a view of the future with the resources that are free now; O(N G)."""
    system.state[0].n_ended, system.state[0].is_viewed = 0, 0
    for w in range(system.sets.shape[1]):
        system.sets[FUTURE, w] = system.sets[FREE, w]
    for node in range(len(system.free)):
        system.future[node].cpus = system.free[node].cpus
        system.future[node].memory = system.free[node].memory
    for k in range(len(system.free_gres)):
        system.future_gres[k] = system.free_gres[k]
    if system.settings[0].in_rows:
        copy_rows(system)


@part(inline=False)
def remove_in_future(system, job, of_memory):
    """Free a running job's resources in that view; O(nodes of the job).

    Its memory and devices are kept if `of_memory` is 0."""
    give_back(system, job, system.future, system.future_gres, FUTURE, of_memory)
    if system.settings[0].in_rows:
        leave_row(system, job, LATER)
        use_nodes(system, job, LATER, -1)


@part(inline=False)
def overlaps(system, sets, job, row):
    """Return whether a running job has a node in a row of `sets`. O(nodes of the job)."""
    entries = system.entries
    entry = system.fate[job].entry
    while entry != NONE:
        node = entries[entry].node
        if (sets[row, node // 64] >> np.uint64(node % 64)) & ONE:
            return True
        entry = entries[entry].next
    return False
