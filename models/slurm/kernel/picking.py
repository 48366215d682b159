"""Which nodes a job gets: the best fit of consecutive nodes, as `select/cons_tres` and `select/linear`
choose them.

Slurm's documentation: "the nodes allocated to a job are consecutive, by best fit, if possible" (select
plugins, cons_res.html). Groups of consecutive nodes of one weight that offer anything are compared: lightest
first, then the smallest that suffices, else the largest; nodes are taken from it in their order, and of a
job that fits on a single node the tightest one is taken.
"""

import numpy as np

from models.kernels.bits import ONE, lowest_position, population, span
from models.kernels.compiling import part, passable
from models.slurm.kernel.blocks import fit_on_blocks
from models.slurm.kernel.offering import count, is_plain, is_single, offered_by
from models.slurm.kernel.rows import (
    all_cores,
    copy_cores,
    remove_cores,
    remove_partition,
    row_at,
    shares,
    sort_rows,
    verify,
)
from models.slurm.kernel.running import RUNNING
from models.slurm.kernel.signatures import PICK_SIGNATURE
from models.slurm.kernel.switches import HINT, RETRY, STOP, WAITS, fit_on_switches
from models.slurm.kernel.tables import (
    ADDED,
    ALLOWED,
    EMPTY,
    FEWEST,
    KEPT,
    NONE,
    NOW,
    OFF,
    POWERED_DOWN,
    TRIED,
    VERIFIED,
)

LARGE = 1 << 40
"""Above any number of nodes and any weight."""


@part()
def grouped(system, n_groups, node, offer):
    """Add a node, which follows those before it, to the last group or to a new one; return their number."""
    groups, nodes = system.groups, system.nodes
    last = groups[n_groups - 1].last if n_groups > 0 else NONE
    if n_groups > 0 and (
        system.settings[0].least_loaded or (last == node - 1 and nodes[last].weight == nodes[node].weight)
    ):
        groups[n_groups - 1].last = node
        groups[n_groups - 1].cpus += offer
        groups[n_groups - 1].nodes += 1
        return n_groups
    groups[n_groups].first, groups[n_groups].last = node, node
    groups[n_groups].cpus, groups[n_groups].nodes = offer, 1
    return n_groups + 1


@part(inline=False)
def best_group(system, n_groups, cpus, n_nodes):
    """Return the group to take nodes from for a number of CPUs and of nodes, or -1. O(groups)."""
    groups, nodes = system.groups, system.nodes
    best, best_sufficient = NONE, False
    for k in range(n_groups):
        if groups[k].nodes == 0:
            continue
        sufficient = groups[k].cpus >= cpus and groups[k].nodes >= n_nodes
        if best == NONE:
            better = True
        else:
            weight, lightest = nodes[groups[k].first].weight, nodes[groups[best].first].weight
            better = weight < lightest or (
                weight == lightest
                and (
                    (sufficient and not best_sufficient)
                    or (sufficient and groups[k].cpus < groups[best].cpus)
                    or (not sufficient and groups[k].cpus > groups[best].cpus)
                )
            )
        if better:
            best, best_sufficient = k, sufficient
    return best


@part(inline=False)
def fit_busy(system, job, whole, n_groups):
    """Take nodes that jobs have now before idle ones, of each weight the lightest first (bf_busy_nodes).

    Return their number, 0 for too few. O(nodes x weights).
    """
    jobs, nodes, groups, choices = system.jobs, system.nodes, system.groups, system.choices
    left_cpus, left_nodes = jobs[job].tasks * jobs[job].task_cpus, jobs[job].min_nodes
    most_nodes = jobs[job].max_nodes if jobs[job].max_nodes > 0 else LARGE
    most_nodes = max(min(most_nodes, jobs[job].tasks), left_nodes)
    n, weight = 0, -1
    while True:
        lightest = LARGE
        for k in range(n_groups):
            if weight < nodes[groups[k].first].weight < lightest:
                lightest = nodes[groups[k].first].weight
        if lightest == LARGE:
            return 0
        weight = lightest
        for idle in range(2):
            for k in range(n_groups):
                if nodes[groups[k].first].weight != weight:
                    continue
                for node in range(groups[k].first, groups[k].last + 1):
                    offer = system.offers[node].cpus
                    if offer <= 0 or (system.offers[node].jobs == 0) != idle:
                        continue
                    if not whole:
                        offer = min(offer, max(left_cpus - max(left_nodes - 1, 0), 1))
                    choices[n].node, choices[n].cpus = node, offer
                    n += 1
                    left_nodes -= 1
                    left_cpus -= offer
                    if left_nodes <= 0 and left_cpus <= 0:
                        return n
                    if n == most_nodes:
                        return 0


@part()
def by_switches(system, job):
    """Return whether a job gets nodes by the switches or blocks of its partition."""
    optional = system.settings[0].optional_switches and system.jobs[job].n_switches == 0
    return system.partitions[system.state[0].partition].n_switches > 0 and not optional


@part(inline=False)
def fit(system, job, whole, n_groups):
    """Try to take nodes from groups; return their number, 0 for too few. O(nodes x groups)."""
    jobs, offers, groups, choices = system.jobs, system.offers, system.groups, system.choices
    least_loaded = system.settings[0].least_loaded
    left_cpus = jobs[job].tasks * jobs[job].task_cpus
    left_nodes = jobs[job].min_nodes
    most_nodes = jobs[job].max_nodes if jobs[job].max_nodes > 0 else LARGE
    most_nodes = max(min(most_nodes, jobs[job].tasks), left_nodes)
    partition = system.partitions[system.state[0].partition]
    if partition.block_nodes:  # precedes all other rules
        n = fit_on_blocks(system, job, whole, n_groups, (left_nodes, left_cpus, most_nodes))
        if n != NONE:
            return n
        system.state[0].verdict = RETRY
    elif by_switches(system, job) and not (least_loaded or system.state[0].busy_first):
        return fit_on_switches(system, job, whole, n_groups, (left_nodes, left_cpus, most_nodes))
    if system.state[0].busy_first:
        return fit_busy(system, job, whole, n_groups)
    n = 0
    while most_nodes > 0:
        best = best_group(system, n_groups, left_cpus, left_nodes)
        if best == NONE:
            break
        first, last = groups[best].first, groups[best].last
        single = NONE
        if left_nodes <= 1 or least_loaded:
            for node in range(first, last + 1):
                offer = offers[node].cpus
                if offer <= 0 or (left_nodes <= 1 and offer < left_cpus):
                    continue
                if single == NONE or (
                    offer > offers[single].cpus if least_loaded else offer < offers[single].cpus
                ):
                    single = node
        if least_loaded and single == NONE:
            break
        for node in range(first if single == NONE else single, last + 1):
            if most_nodes == 0 or (left_nodes <= 0 and left_cpus <= 0):
                break
            offer = offers[node].cpus
            if offer <= 0 or (most_nodes == 1 and offer < left_cpus):
                continue
            if least_loaded:  # no other node of a group is examined twice
                offers[node].cpus = -offer
            if not whole:
                offer = min(offer, max(left_cpus - max(left_nodes - 1, 0), 1))
            choices[n].node, choices[n].cpus = node, offer
            n += 1
            left_nodes -= 1
            most_nodes -= 1
            left_cpus -= offer
            if single != NONE:
                break
        if left_nodes <= 0 and left_cpus <= 0:
            break
        groups[best].nodes = groups[best].nodes - 1 if least_loaded else 0
    if least_loaded:
        for k in range(n):
            offers[choices[k].node].cpus = -offers[choices[k].node].cpus
    return n if left_nodes <= 0 and left_cpus <= 0 else 0


@part(inline=False)
def share(system, job, row):
    """Take the nodes of the first running job that has as many as a job asks for, all of them offered ones of
    a row; return their number, 0 for none. O(running jobs x nodes)."""
    jobs, fate, entries, choices = system.jobs, system.fate, system.entries, system.choices
    wanted = jobs[job].max_nodes if jobs[job].max_nodes > 0 else jobs[job].min_nodes
    found = NONE
    for k in range(system.state[0].n_members):
        other = system.order[k]
        if system.members[other].suspended or fate[other].status != RUNNING:
            continue
        if fate[other].cpus < jobs[job].tasks * jobs[job].task_cpus or (found != NONE and found < other):
            continue
        entry, inside = fate[other].entry, fate[other].n_nodes == wanted
        while entry != NONE:
            node = entries[entry].node
            is_in = (system.sets[row, node // 64] >> np.uint64(node % 64)) & ONE
            inside = inside and is_in and system.offers[node].cpus > 0
            entry = entries[entry].next
        if inside:
            found = other
    if found == NONE:
        return 0
    k, entry = wanted, fate[found].entry
    while entry != NONE:
        k -= 1
        choices[k].node, choices[k].cpus = entries[entry].node, entries[entry].cpus
        entry = entries[entry].next
    return wanted


@part(inline=False)
def take_runs(system, job, offer, row):
    """Take nodes of a row, each of which offers a job the same number of CPUs; return their number, 0 for too
    few. It takes what `fit` takes: the shortest run of consecutive nodes that suffices, else the longest one
    and further ones. O(runs x runs taken + nodes taken + W)."""
    jobs, groups, choices, sets = system.jobs, system.groups, system.choices, system.sets
    most_nodes = jobs[job].tasks if jobs[job].max_nodes == 0 else min(jobs[job].max_nodes, jobs[job].tasks)
    if offer <= 0:
        return 0
    left = max(jobs[job].min_nodes, -(-jobs[job].tasks * jobs[job].task_cpus // offer))
    if left > max(most_nodes, jobs[job].min_nodes) or count(system, row) < left:
        return 0
    n_runs, last = 0, NONE
    for w in range(sets.shape[1]):
        word, base = sets[row, w], w * 64
        while word:
            at = lowest_position(word)
            rest = ~(word >> np.uint64(at))
            length = lowest_position(rest) if rest else 64
            word &= ~(span(length) << np.uint64(at))
            if last == base + at and n_runs > 0:
                groups[n_runs - 1].nodes += length
            else:
                groups[n_runs].first, groups[n_runs].nodes = base + at, length
                n_runs += 1
            last = base + at + length
    n = 0
    while left > 0:
        best = 0
        for k in range(1, n_runs):
            one, other = groups[k].nodes, groups[best].nodes
            if (one > other) if other < left else (left <= one < other):
                best = k
        for i in range(min(groups[best].nodes, left)):
            choices[n].node, choices[n].cpus = groups[best].first + i, offer
            n += 1
        left -= groups[best].nodes
        groups[best].nodes = 0
    return n


@part(inline=False)
def pick_once(system, job, whole, row, supply, gres):
    """Choose nodes as `pick` does, in one attempt.

    O(W) where there are too few nodes, else O(N) for each attempt: where nodes with few CPUs stand in the
    way they are left out, and it is tried again.
    """
    jobs, state = system.jobs, system.state[0]
    offers, state.n_chosen, state.verdict = system.offers, 0, 0
    least_nodes, settings = jobs[job].min_nodes, system.settings[0]
    if count(system, row) < jobs[job].least_nodes:
        return 0
    if is_single(system, job):
        return pick_first(system, job, whole, row, supply, gres)
    if settings.least_loaded:  # a group may have nodes between that are not offered
        for node in range(len(offers)):
            offers[node].cpus = 0
    if settings.unshared and not (
        settings.least_loaded or state.busy_first or state.weighed or by_switches(system, job)
    ):
        state.n_chosen = take_runs(system, job, offered_by(system, job, whole, 0, supply, gres), row)
        return state.n_chosen
    n_usable, most, n_groups, plain = 0, 0, 0, is_plain(system, job, whole)
    for w in range(system.sets.shape[1]):
        word = system.sets[row, w]
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            offer = supply[node].cpus  # in most cases, and a test of all that may limit it takes as long
            if not plain:
                offer = offered_by(system, job, whole, node, supply, gres)
            offers[node].cpus = offer
            if offer > 0:
                n_groups = grouped(system, n_groups, node, offer)
                n_usable += 1
                most = max(most, offer)
    if n_usable < least_nodes:
        return 0
    if state.shared > 0 and state.most_shared == FEWEST:
        found = 0 if n_usable == state.n_offered else share(system, job, row)
        if found > 0 or n_usable == state.n_offered:
            state.n_chosen = found
            return found
    state.n_offered = n_usable
    found = fit(system, job, whole, n_groups)
    too_few = 1
    if found == 0 and state.verdict != WAITS and settings.one_by_one and not settings.linear:
        state.n_chosen = fit_fewer(system, job, whole, row)
        return state.n_chosen
    if found == 0 and state.verdict != WAITS and settings.first_with_few and by_switches(system, job):
        state.n_chosen = fit_without(system, job, whole, row, n_usable)
        return state.n_chosen
    while found == 0 and state.verdict != WAITS and too_few < most and n_usable > least_nodes:
        n_kept, n_left, n_groups, fewest = 0, n_usable, 0, most
        for w in range(system.sets.shape[1]):
            word = system.sets[row, w]
            while word:
                node = w * 64 + lowest_position(word)
                word &= word - ONE
                if 0 < offers[node].cpus <= too_few and n_left > least_nodes:
                    offers[node].cpus = 0
                    n_left -= 1
                if offers[node].cpus > 0:
                    n_groups = grouped(system, n_groups, node, offers[node].cpus)
                    n_kept += 1
                    fewest = min(fewest, offers[node].cpus)
        if n_kept < n_usable or too_few == 1:
            n_usable = n_kept
            found = fit(system, job, whole, n_groups)
        too_few = max(too_few + 1, fewest)
    state.n_chosen = found
    return found


@part(inline=False)
def pick_first(system, job, whole, row, supply, gres):
    """Choose the first node, light ones first, that has room for a job of one node (since Slurm 26.05,
    `_get_one_res` of select/cons_tres). O(N)."""
    choices, needed, n = system.choices, system.jobs[job].tasks * system.jobs[job].task_cpus, 0
    n_nodes = len(system.nodes)
    # Those that are powered down come last, after those that boot.
    for place in range(n_nodes * (1 + 2 * system.settings[0].saves_power)):
        if n and place % n_nodes == 0:
            break
        node = system.nodes[place % n_nodes].ranked  # completing ones of a weight are among the others of it
        weight = system.nodes[node].weight
        if weight // POWERED_DOWN != place // n_nodes:
            continue
        if n and weight > system.nodes[choices[0].node].weight:
            break
        if n and weight == system.nodes[choices[0].node].weight:
            continue
        if system.sets[row, node // 64] & (ONE << np.uint64(node % 64)):
            offer = offered_by(system, job, whole, node, supply, gres)
            if offer >= needed and offer > 0:
                choices[0].node, choices[0].cpus, n = node, offer if whole else needed, 1
                if place >= n_nodes or not system.state[0].weighed:
                    break
    system.state[0].n_chosen = n
    return n


@part(inline=False)
def fit_fewer(system, job, whole, row):
    """Leave out one node after the other, of those with the fewest CPUs the first, until a job fits; return
    its number of nodes, 0 for none (since Slurm 25.11, `common_topo_choose_nodes`). O(N) for each node, while
    those that are left have enough CPUs."""
    offers, jobs, state = system.offers, system.jobs, system.state[0]
    needed, left_out = jobs[job].tasks * jobs[job].task_cpus, NONE
    while True:
        n, cpus, n_groups, fewest = 0, 0, 0, NONE
        for w in range(system.sets.shape[1]):
            word = system.sets[row, w]
            while word:
                node = w * 64 + lowest_position(word)
                word &= word - ONE
                offers[node].cpus = abs(offers[node].cpus) if node != left_out else 0
                if offers[node].cpus > 0:
                    n_groups = grouped(system, n_groups, node, offers[node].cpus)
                    n += 1
                    cpus += offers[node].cpus
                    if fewest == NONE or offers[node].cpus < offers[fewest].cpus:
                        fewest = node
        if n < jobs[job].min_nodes or n == 0 or cpus < needed:
            return 0
        found = fit(system, job, whole, n_groups) if left_out != NONE else 0
        if found or n == jobs[job].min_nodes or state.verdict in (STOP, WAITS):
            return found
        if state.verdict == HINT:
            fewest = fewest_taken(system)
            if fewest == NONE:
                return 0
        left_out = fewest


@part(inline=False)
def fit_without(system, job, whole, row, n_left):
    """Leave out the first node with few CPUs, mostly one at a time, until a job fits by switches or blocks;
    return its number of nodes, 0 for none (`common_topo_choose_nodes` of Slurm 24.11 to 25.05).

    A node that an attempt took has no more CPUs from then on than it gave. O(N) for each node, and for each
    number of CPUs.
    """
    offers, choices, state = system.offers, system.choices, system.state[0]
    least, few, most = system.jobs[job].min_nodes, 1, LARGE
    while few < most and n_left > least:
        for k in range(state.n_chosen):
            offers[choices[k].node].cpus = choices[k].cpus
        state.n_chosen, largest, n_groups, none_left_out = 0, 0, 0, 1
        for w in range(system.sets.shape[1]):
            word = system.sets[row, w]
            while word:
                node = w * 64 + lowest_position(word)
                word &= word - ONE
                largest = max(largest, offers[node].cpus)
                if most == LARGE:
                    continue
                if 0 < offers[node].cpus <= few and n_left > least:
                    few, none_left_out = few - none_left_out, 0
                    offers[node].cpus = 0
                    n_left -= 1
                if offers[node].cpus > 0:
                    n_groups = grouped(system, n_groups, node, offers[node].cpus)
        if most == LARGE:  # the first time it is only counted
            most = largest
            continue
        if few == 1 or not none_left_out:
            found = fit(system, job, whole, n_groups)
            if found or state.verdict == WAITS:
                return found
        few += 1
    return 0


@part(inline=False)
def fewest_taken(system):
    """Return the node with the fewest CPUs of those that the last attempt took, `NONE` for none. O(nodes)."""
    offers, fewest = system.offers, NONE
    for node in range(len(offers)):
        if system.sets[ADDED, node // 64] & (ONE << np.uint64(node % 64)) and (
            fewest == NONE or offers[node].cpus < offers[fewest].cpus
        ):
            fewest = node
    return fewest


@part(inline=False)
def pick_by_line(system, job, whole, row, supply, gres):
    """Choose nodes for a start as `select/linear` does where no jobs share them: the nodes of one line of
    NodeName after the other are added until they suffice (seen in Slurm's source, `_pick_best_nodes`).
    O(lines x N)."""
    nodes, n = system.nodes, 0
    for w in range(system.sets.shape[1]):
        system.sets[ADDED, w] = 0
    for place in range(len(nodes)):
        node = nodes[place].ranked
        added = system.sets[row, node // 64] & (ONE << np.uint64(node % 64))
        if added:
            system.sets[ADDED, node // 64] |= added
            n += 1
        if place + 1 < len(nodes) and nodes[nodes[place + 1].ranked].line == nodes[node].line:
            continue
        if n >= system.jobs[job].min_nodes:
            found = pick_once(system, job, whole, ADDED, supply, gres)
            if found:
                return found
    return 0


@part(inline=False)
def pick_cores(system, job, whole, row, supply, gres):
    """Choose nodes by the cores in row `TRIED` of `System.cores`. O(N)."""
    for node in range(len(system.nodes)):
        system.usable[node].cpus = population(system.cores[TRIED, node])
        system.usable[node].memory = supply[node].memory
    return pick_once(system, job, whole, row, system.usable, gres)


@part(inline=False)
def pick_in_rows(system, record, whole, row, view, supply, gres):
    """Choose nodes and cores as `select/cons_tres` does where jobs may share cores; return their number.

    A job gets idle cores if they suffice. Else a job that shares cores may do so with jobs in other rows of
    its partition and in other partitions, except partitions of a higher tier where tiers preempt: it gets
    cores that no job of its tier has, preferably cores that no job of a lower tier has; else cores free in
    one of its partition's rows, full ones first (seen in Slurm's source, `_job_test`).
    O(partitions x rows x N).
    """
    partitions, cores, job = system.partitions, system.cores, system.records[record].job
    mine, system.state[0].shared = system.records[record].partition, 0
    if system.settings[0].shares_cores:
        verify(system, job, mine, view, row)
        row = VERIFIED
    all_cores(cores, ALLOWED, system.nodes)
    copy_cores(cores, TRIED, ALLOWED)
    if pick_cores(system, job, whole, row, supply, gres) == 0:
        return 0
    for other in range(len(partitions)):
        remove_partition(system, TRIED, other, view)
    found = pick_cores(system, job, whole, row, supply, gres)
    if found or (system.settings[0].shares_cores and not shares(system, job, mine)):
        return found
    if system.settings[0].preempts:
        for other in range(len(partitions)):
            if partitions[other].tier > partitions[mine].tier or system.levels[other].mode == OFF:
                remove_partition(system, ALLOWED, other, view)
        copy_cores(cores, TRIED, ALLOWED)
        if pick_cores(system, job, whole, row, supply, gres) == 0:
            return 0
    copy_cores(cores, TRIED, ALLOWED)
    for other in range(len(partitions)):
        if partitions[other].tier == partitions[mine].tier:
            remove_partition(system, TRIED, other, view)
    found = pick_cores(system, job, whole, row, supply, gres)
    if found:
        for place in range(len(partitions)):
            other = partitions[place].ranked
            if partitions[other].tier < partitions[mine].tier:
                copy_cores(cores, KEPT, TRIED)
                remove_partition(system, TRIED, other, view)
                if pick_cores(system, job, whole, row, supply, gres) == 0:
                    copy_cores(cores, TRIED, KEPT)
                    break
        return pick_cores(system, job, whole, row, supply, gres)
    sort_rows(system, mine, view)
    for place in range(partitions[mine].n_rows):
        copy_cores(cores, TRIED, ALLOWED)
        remove_cores(cores, TRIED, system.row_cores, row_at(system, mine, view, place))
        found = pick_cores(system, job, whole, row, supply, gres)
        if found:
            return found
    return 0


@passable(PICK_SIGNATURE)
def pick(system, record, whole, row, view):
    """Choose nodes of a row of `system.sets` for a job, in `System.choices`; return their number, 0 if
    the job does not fit.

    Where jobs share nodes those with few jobs are preferred: it is tried with idle ones first, then with
    those that have one job more and more, and then the nodes of one running job are preferred.
    """
    state, job = system.state[0], system.records[record].job
    state.partition = system.records[record].partition
    supply, gres = system.future, system.future_gres
    if view == NOW:
        supply, gres = system.free, system.free_gres
    elif view == EMPTY:
        gres = system.empty_gres
    if system.settings[0].unshared or view == EMPTY:
        supply = system.empty  # what has a free CPU in the view has all of them
    if system.settings[0].in_rows:
        return pick_in_rows(system, record, whole, row, view, supply, gres)
    state.n_offered, state.shared = -1, max(state.most_shared, 0)
    rows = system.partitions[system.records[record].partition].rows
    if system.settings[0].linear and rows == 1 and view == NOW and state.most_shared == FEWEST:
        return pick_by_line(system, job, whole, row, supply, gres)
    found = pick_once(system, job, whole, row, supply, gres)
    if state.most_shared == FEWEST:
        most = min(system.settings[0].most_rows, state.n_running + 1)  # no node has more jobs
        while found == 0 and state.shared + 1 < most:
            state.shared += 1
            found = pick_once(system, job, whole, row, supply, gres)
    return found
