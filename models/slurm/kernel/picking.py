"""Which nodes a job gets: the best fit of consecutive nodes, as `select/cons_tres` and `select/linear`
choose them.

Slurm's documentation: "the nodes allocated to a job are consecutive, by best fit, if possible" (select
plugins, cons_res.html). Sets of consecutive nodes of one weight that offer anything are compared: lightest
first, then the smallest that suffices, else the largest; nodes are taken from it in their order, and of a
job that fits on a single node the tightest one is taken.
"""

import numpy as np
from numba import from_dtype, int64, types

from models.kernels.bits import ONE, lowest_position, population
from models.kernels.compiling import part, passable
from models.kernels.types import INTS
from models.slurm.kernel.running import RUNNING
from models.slurm.kernel.tables import FEWEST, NONE, SUPPLY, SYSTEM

LARGE = 1 << 40

PICK_SIGNATURE = int64(SYSTEM, int64, int64, int64, from_dtype(SUPPLY)[::1], INTS)
PICK = types.FunctionType(PICK_SIGNATURE)
"""Picking is compiled once, and passed to the parts of the scheduler instead of compiled into each."""


@part(inline=False)
def offered_by(system, job, whole, node, supply, gres):
    """Return the CPUs that a node can give to a job, 0 if it cannot take a part of it. O(G)."""
    nodes, jobs, settings = system.nodes, system.jobs, system.settings[0]
    cpus = supply[node].cpus
    if cpus <= 0 or (whole and cpus < nodes[node].cpus):
        return 0
    if whole and nodes[node].rows > 1:
        if cpus < nodes[node].cpus * (nodes[node].rows - system.state[0].shared):
            return 0
        cpus = nodes[node].cpus
    for kind in range(settings.n_gres):
        if gres[node * settings.n_gres + kind] < system.job_gres[job * settings.n_gres + kind]:
            return 0
    each, per_node = jobs[job].task_cpus, jobs[job].tasks_per_node
    if settings.track_memory:
        if supply[node].memory < jobs[job].node_memory:
            return 0
        if jobs[job].cpu_memory > 0:
            if whole:
                if jobs[job].cpu_memory * cpus > supply[node].memory:
                    return 0
            else:
                cpus = min(cpus, supply[node].memory // jobs[job].cpu_memory)
    least = each
    if per_node > 0:
        least = each * per_node
        if not whole:
            cpus = min(cpus, least)
    elif jobs[job].max_nodes == 1:
        least = each * jobs[job].tasks
    if not whole:
        cpus -= cpus % each
    return cpus if cpus >= least else 0


@part(inline=False)
def distribute(system, job, n):
    """Give each chosen node one task, and the rest in turn, as far as its CPUs go: O(tasks)."""
    jobs = system.jobs
    each, left = jobs[job].task_cpus, jobs[job].tasks
    per_node = jobs[job].tasks_per_node
    for k in range(n):
        system.scratch[k].set_cpus = 0
    placed = True
    while left > 0 and placed:
        placed = False
        for k in range(n):
            if left > 0 and system.scratch[k].set_cpus + each <= system.scratch[k].chosen_cpus:
                if per_node > 0 and system.scratch[k].set_cpus >= per_node * each:
                    continue
                system.scratch[k].set_cpus += each
                left -= 1
                placed = True
    for k in range(n):
        system.scratch[k].chosen_cpus = max(
            system.scratch[k].set_cpus, min(each, system.scratch[k].chosen_cpus)
        )


@part(inline=False)
def fit(system, job, whole, n_usable):
    """Try the nodes in `system.scratch[:n_usable].chosen`, in order of number; O(n_usable x their sets)."""
    jobs, nodes, settings = system.jobs, system.nodes, system.settings[0]
    n_sets = 0
    for k in range(n_usable):
        node = system.scratch[k].chosen
        last = system.scratch[n_sets - 1].set_last if n_sets > 0 else -2
        if n_sets > 0 and (
            settings.least_loaded or (last == node - 1 and nodes[last].weight == nodes[node].weight)
        ):
            system.scratch[n_sets - 1].set_last = node
            system.scratch[n_sets - 1].set_cpus += system.scratch[node].offered
            system.scratch[n_sets - 1].set_nodes += 1
        else:
            system.scratch[n_sets].set_first = node
            system.scratch[n_sets].set_last = node
            system.scratch[n_sets].set_cpus = system.scratch[node].offered
            system.scratch[n_sets].set_nodes = 1
            n_sets += 1
    left_cpus = jobs[job].tasks * jobs[job].task_cpus
    left_nodes = jobs[job].min_nodes
    most_nodes = jobs[job].max_nodes if jobs[job].max_nodes > 0 else LARGE
    most_nodes = max(min(most_nodes, jobs[job].tasks), left_nodes)
    wanted = left_cpus  # CPUs that it may still take
    n = 0
    while most_nodes > 0:
        best, best_sufficient = -1, False
        for k in range(n_sets):
            if system.scratch[k].set_nodes == 0:
                continue
            sufficient = system.scratch[k].set_cpus >= left_cpus and system.scratch[k].set_nodes >= left_nodes
            if best < 0:
                better = True
            else:
                weight, lightest = (
                    nodes[system.scratch[k].set_first].weight,
                    nodes[system.scratch[best].set_first].weight,
                )
                better = weight < lightest or (
                    weight == lightest
                    and (
                        (sufficient and not best_sufficient)
                        or (sufficient and system.scratch[k].set_cpus < system.scratch[best].set_cpus)
                        or (not sufficient and system.scratch[k].set_cpus > system.scratch[best].set_cpus)
                    )
                )
            if better:
                best, best_sufficient = k, sufficient
        if best < 0:
            break
        first, last = system.scratch[best].set_first, system.scratch[best].set_last
        single = -1
        if left_nodes <= 1 or settings.least_loaded:
            for node in range(first, last + 1):
                offer = system.scratch[node].offered
                if offer <= 0 or (left_nodes <= 1 and offer < left_cpus) or system.scratch[node].offered < 0:
                    continue
                if single < 0 or (
                    offer > system.scratch[single].offered
                    if settings.least_loaded
                    else offer < system.scratch[single].offered
                ):
                    single = node
        if settings.least_loaded and single < 0:
            break
        for node in range(first if single < 0 else single, last + 1):
            if most_nodes == 0 or (left_nodes <= 0 and left_cpus <= 0):
                break
            offer = system.scratch[node].offered
            if offer <= 0 or system.scratch[node].offered < 0 or (most_nodes == 1 and offer < left_cpus):
                continue
            if not whole:
                offer = min(offer, max(wanted - max(left_nodes - 1, 0), 1))
            system.scratch[n].chosen_cpus = offer
            system.scratch[best].set_nodes -= 1
            # Chosen nodes replace usable ones from the front: from here on only their sets are read.
            system.scratch[n].chosen = node
            n += 1
            system.scratch[node].offered = -system.scratch[node].offered
            left_nodes -= 1
            most_nodes -= 1
            left_cpus -= offer
            wanted -= offer
            if single >= 0:
                break
        if left_nodes <= 0 and left_cpus <= 0:
            break
        if not settings.least_loaded:
            system.scratch[best].set_nodes = 0
    for k in range(n):
        system.scratch[system.scratch[k].chosen].offered = -system.scratch[system.scratch[k].chosen].offered
    if left_nodes > 0 or left_cpus > 0:
        return 0
    if not whole:
        distribute(system, job, n)
    return n


@part(inline=False)
def count(system, row):
    """Return the number of nodes of a set; O(W)."""
    n = 0
    for w in range(system.sets.shape[1]):
        n += population(system.sets[row, w])
    return n


@part(inline=False)
def share(system, job, row):
    """Take the nodes of the first running job that has as many as a job asks for, all of them offered ones of
    a row; return their number, 0 for none. O(running jobs x nodes)."""
    jobs, fate, entries, scratch = system.jobs, system.fate, system.entries, system.scratch
    wanted = jobs[job].max_nodes if jobs[job].max_nodes > 0 else jobs[job].min_nodes
    found = NONE
    for k in range(system.state[0].n_members):
        other = system.order[k]
        if system.members[other].suspended or fate[other].status != RUNNING:
            continue
        if fate[other].cpus < jobs[job].tasks * jobs[job].task_cpus or (found != NONE and found < other):
            continue
        n_nodes, entry, inside = 0, fate[other].entry, True
        while entry != NONE:
            n_nodes += 1
            node = entries[entry].node
            is_in = (system.sets[row, node // 64] >> np.uint64(node % 64)) & ONE
            inside = inside and is_in and scratch[node].offered > 0
            entry = entries[entry].next
        if inside and n_nodes == wanted:
            found = other
    if found == NONE:
        return 0
    k, entry = wanted, fate[found].entry
    while entry != NONE:
        k -= 1
        scratch[k].chosen, scratch[k].chosen_cpus = entries[entry].node, entries[entry].cpus
        entry = entries[entry].next
    return wanted


@part(inline=False)
def pick_once(system, job, whole, row, supply, gres):
    """Choose nodes as `pick` does, in one attempt.

    O(W) where there are too few nodes, else O(N) for each attempt: where nodes with few CPUs stand in the
    way they are left out, and it is tried again.
    """
    jobs, state = system.jobs, system.state[0]
    state.n_chosen = 0
    if count(system, row) < jobs[job].least_nodes:
        return 0
    least_nodes = jobs[job].min_nodes
    n_usable, most = 0, 0
    if system.settings[0].least_loaded:  # a set may have nodes between that are not offered
        for node in range(len(system.scratch)):
            system.scratch[node].offered = 0
    for w in range(system.sets.shape[1]):
        word = system.sets[row, w]
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            offer = offered_by(system, job, whole, node, supply, gres)
            system.scratch[node].offered = offer
            if offer > 0:
                system.scratch[n_usable].chosen = node
                n_usable += 1
                most = max(most, offer)
    state.n_chosen = 0
    if n_usable < least_nodes:
        return 0
    if state.shared > 0 and state.most_shared == FEWEST:
        found = 0 if n_usable == state.n_offered else share(system, job, row)
        if found > 0 or n_usable == state.n_offered:
            state.n_chosen = found
            return found
    state.n_offered = n_usable
    # `chosen` begins with the usable nodes; the attempt overwrites it, so sets are formed first.
    found = fit(system, job, whole, n_usable)
    too_few = 1
    while found == 0 and too_few < most and n_usable > least_nodes:
        n_kept = 0
        n_left = n_usable
        for w in range(system.sets.shape[1]):
            word = system.sets[row, w]
            while word:
                node = w * 64 + lowest_position(word)
                word &= word - ONE
                if 0 < system.scratch[node].offered <= too_few and n_left > least_nodes:
                    system.scratch[node].offered = 0
                    n_left -= 1
                if system.scratch[node].offered > 0:
                    system.scratch[n_kept].chosen = node
                    n_kept += 1
        if n_kept < n_usable or too_few == 1:
            n_usable = n_kept
            found = fit(system, job, whole, n_usable)
        too_few += 1
    state.n_chosen = found
    return found


@passable(PICK_SIGNATURE)
def pick(system, job, whole, row, supply, gres):
    """Choose nodes of a row of `system.sets` for a job, in ``scratch.chosen``; return their number, 0 if
    the job does not fit.

    Where jobs share nodes those with few jobs are preferred: it is tried with idle ones first, then with
    those that have one job more and more, and then the nodes of one running job are preferred.
    """
    state = system.state[0]
    state.n_offered, state.shared = -1, max(state.most_shared, 0)
    found = pick_once(system, job, whole, row, supply, gres)
    if state.most_shared == FEWEST:
        while found == 0 and state.shared + 1 < system.settings[0].most_rows:
            state.shared += 1
            found = pick_once(system, job, whole, row, supply, gres)
    return found
