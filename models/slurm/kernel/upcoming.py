"""Expected ends of running jobs, as a backfill cycle reads them: in order, from the first on, for each job.

The list of running jobs and their linked allocations lie scattered over memory, and a cycle scans them for
each start that it tries. So it copies what it needs to consecutive records, by job and by node, when a scan
first reaches them. A job that starts, ends or is preempted makes the copy out of date (`forget`).
"""

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest_position, population
from models.kernels.compiling import part
from models.slurm.kernel.offering import count
from models.slurm.kernel.plan import FAR
from models.slurm.kernel.running import copy_free
from models.slurm.kernel.tables import MASK, N_CLASSES, NARROWED, NONE


@part()
def forget(system):
    """Declare the copy and the view of the future out of date, because the running jobs have changed."""
    system.state[0].is_copied = 0


@part(inline=False)
def copy_running(system):
    """Copy all running jobs, unless the copy is up to date. O(N + allocations)."""
    state, upcoming, words, entries = system.state[0], system.upcoming, system.upcoming_words, system.entries
    shares, views = system.upcoming_shares, system.views
    if state.is_copied:
        return
    state.is_copied, state.is_viewed, state.n_copies = 1, 0, state.n_copies + 1
    for node in range(len(views)):
        views[node].last = 0
    n, at = 0, 0
    for k in range(state.n_running):
        upcoming[k].first_word, upcoming[k].first_share = n, at
        upcoming[k].expected = system.fate[system.running[k]].expected
        upcoming[k].node_cpus = upcoming[k].spread_cpus = 0
        entry = system.fate[system.running[k]].entry
        while entry != NONE:
            node = entries[entry].node
            upcoming[k].node_cpus = max(upcoming[k].node_cpus, entries[entry].cpus)
            upcoming[k].spread_cpus += entries[entry].cpus - 1
            shares[at].node, shares[at].cpus = node, entries[entry].cpus
            views[node].last += 1
            at += 1
            # Nodes of a job are mostly consecutive, and allocations in their order, so that nodes of a word
            # follow each other. Where they do not, a word has several records, which share no node.
            if n == upcoming[k].first_word or words[n - 1].word != node // 64:
                words[n].word, words[n].bits = node // 64, 0
                n += 1
            words[n - 1].bits |= np.int64(ONE << np.uint64(node % 64))
            entry = entries[entry].next
    upcoming[state.n_running].first_word, upcoming[state.n_running].first_share = n, at
    if system.settings[0].unshared:
        return
    at = 0
    for node in range(len(views)):
        at += views[node].last
        views[node].first = views[node].last = at - views[node].last
    for k in range(state.n_running):
        for i in range(upcoming[k].first_share, upcoming[k + 1].first_share):
            at = views[shares[i].node].last
            system.node_shares[at].place, system.node_shares[at].cpus = k, shares[i].cpus
            views[shares[i].node].last = at + 1


@part()
def nodes_within(system, k, row):
    """Return how many nodes of a row of sets the running job at a place has. O(words of the job)."""
    n = 0
    for i in range(system.upcoming[k].first_word, system.upcoming[k + 1].first_word):
        n += population(
            system.sets[row, system.upcoming_words[i].word] & np.uint64(system.upcoming_words[i].bits)
        )
    return n


@part()
def cpus_within(system, k, n_within):
    """Return how many CPUs the running job at a place has at most on a number of its nodes."""
    return min(n_within * system.upcoming[k].node_cpus, n_within + system.upcoming[k].spread_cpus)


@part(inline=False)
def end_on_node(system, node, share, sign):
    """Free in the view of the future what a running job has of a node, or take it again if the sign is -1.
    O(G)."""
    future, n_gres = system.future, system.settings[0].n_gres
    job, cpus = system.running[system.node_shares[share].place], sign * system.node_shares[share].cpus
    future[node].cpus += cpus
    future[node].memory += sign * system.jobs[job].node_memory + system.jobs[job].cpu_memory * cpus
    for kind in range(n_gres):
        system.future_gres[node * n_gres + kind] += sign * system.job_gres[job * n_gres + kind]


@part(inline=False)
def able_nodes(system, least):
    """Return the number of the list of nodes that have `least` CPUs, all of them if it is 0, by the expected
    end from which on they have them. O(N + allocations), where they were not listed yet."""
    nodes, running, able, shares = system.nodes, system.usable, system.able, system.upcoming_shares
    number = least if least < 2 else 2 + least % (N_CLASSES - 2)
    known, first = system.able_classes[number], number * len(nodes)
    if known.copy == system.state[0].n_copies and known.least == least:
        return number
    n = first
    for node in range(len(nodes)):
        running[node].cpus = system.free[node].cpus
        if running[node].cpus >= (least if least else nodes[node].cpus):
            able[n].node, able[n].place, able[n].expected = node, 0, NONE
            n += 1
    for k in range(system.state[0].n_running):
        for i in range(system.upcoming[k].first_share, system.upcoming[k + 1].first_share):
            node = shares[i].node
            before = running[node].cpus
            running[node].cpus += shares[i].cpus
            if before < (least if least else nodes[node].cpus) <= running[node].cpus:
                able[n].node, able[n].place, able[n].expected = node, k + 1, system.upcoming[k].expected
                n += 1
    known.copy, known.least, known.n = system.state[0].n_copies, least, n - first
    row = number * (system.sets.shape[1] + 1)
    for w in range(system.sets.shape[1]):
        system.able_sets[row, w] = ZERO
    for k in range(n - first):
        if k % 64 == 0:
            row += 1
            for w in range(system.sets.shape[1]):
                system.able_sets[row, w] = system.able_sets[row - 1, w]
        node = able[first + k].node
        system.able_sets[row, node // 64] |= ONE << np.uint64(node % 64)
    return number


@part(inline=False)
def able_by(system, number, until, k):
    """Return how many nodes of a list have their CPUs by an instant and once the first k running jobs have
    ended. O(log N)."""
    able, first = system.able, number * len(system.nodes)
    n, end = 0, system.able_classes[number].n
    while n < end:
        middle = (n + end) // 2
        if able[first + middle].expected <= until and able[first + middle].place <= k:
            n = middle + 1
        else:
            end = middle
    return n


@part(inline=False)
def narrow(system, job, number, k):
    """Leave in row `NARROWED` the nodes of row `MASK` that are in a list of `able_nodes` once the first k
    running jobs have ended; return whether they are as many as a job needs. O(W + log N)."""
    views, sets, able = system.views, system.sets, system.able
    n, first = able_by(system, number, FAR, k), number * len(views)
    row = number * (sets.shape[1] + 1) + n // 64
    for w in range(sets.shape[1]):
        sets[NARROWED, w] = sets[MASK, w] & system.able_sets[row, w]
    for i in range(first + n // 64 * 64, first + n):
        node = able[i].node
        sets[NARROWED, node // 64] |= sets[MASK, node // 64] & (ONE << np.uint64(node % 64))
    return count(system, NARROWED) >= system.jobs[job].least_nodes


@part(inline=False)
def look_ahead(system, k):
    """View the nodes of row `NARROWED` as they are once the first k running jobs have ended.
    O(W + nodes of the row, and jobs on them that end between)."""
    state, views, shares, sets = system.state[0], system.views, system.node_shares, system.sets
    if not state.is_viewed:
        copy_free(system)
        for node in range(len(views)):
            views[node].ended = views[node].first
        state.is_viewed = 1
    for w in range(sets.shape[1]):
        word = ZERO if system.settings[0].unshared else sets[NARROWED, w]
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            at = views[node].ended
            while at < views[node].last and shares[at].place < k:
                end_on_node(system, node, at, 1)
                at += 1
            while at > views[node].first and shares[at - 1].place >= k:
                at -= 1
                end_on_node(system, node, at, -1)
            views[node].ended = at


@part(inline=False)
def nodes_for(system, job, whole):
    """Return the list of nodes that have as many CPUs as each node of a job must have, see `able_nodes`.

    A job gets all its CPUs on a limited number of nodes, so that each of them offers what the others leave.
    """
    jobs = system.jobs
    if whole:
        return able_nodes(system, 0)
    most_nodes = jobs[job].tasks if jobs[job].max_nodes == 0 else min(jobs[job].max_nodes, jobs[job].tasks)
    others = (max(most_nodes, jobs[job].min_nodes) - 1) * system.settings[0].most_cpus
    return able_nodes(
        system, max(max(jobs[job].tasks * jobs[job].task_cpus - others, jobs[job].task_cpus), 1)
    )


@part(inline=False)
def count_able(system, record, number, until):
    """Return how many nodes of row `MASK`, of those that a job may use, have enough CPUs by `until`, as
    `nodes_for` has listed them: an upper bound, below what it needs only if they are too few. O(W + log N),
    and 64 nodes more where it depends on them."""
    able, sets, words = system.able, system.sets, system.partition_words
    first, row = number * len(system.nodes), system.records[record].words
    n = able_by(system, number, until, FAR)
    n_words, listed, least = sets.shape[1], n // 64 * 64, system.jobs[system.records[record].job].least_nodes
    found = 0
    for w in range(n_words):
        of_class = system.able_sets[number * (n_words + 1) + n // 64, w]
        found += population(of_class & sets[MASK, w] & words[row, w])
    while found < least and found + n - listed >= least:
        node = able[first + listed].node
        word = sets[MASK, node // 64] & words[row, node // 64]
        found += int((word >> np.uint64(node % 64)) & ONE)
        listed += 1
    return found + n - listed
