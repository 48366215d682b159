"""After how many ends of running jobs a job fits, where that can be counted (`RECORD.counted`).

`BY_NODES`: wherever as many nodes as it needs have the CPUs that it asks for on each, as they are listed by
`upcoming.able_nodes`. `BY_CPUS`: wherever enough nodes have as many free CPUs in all, because it may get any
number on each of any number of nodes.
"""

import numpy as np

from models.kernels.bits import ONE, ZERO, population
from models.kernels.compiling import part
from models.slurm.kernel.plan import FAR
from models.slurm.kernel.tables import BY_NODES, MASK, N_SUMS, NONE
from models.slurm.kernel.upcoming import able_nodes, narrow, nodes_for, nodes_within

UNCLEAR = -2

FIRST_WINDOW = 30
"""Seconds: jobs that end close to each other are taken out together, in windows of growing length."""

UNTESTED = 201
"""After this number of running jobs in a window Slurm skips the test that ends it, checks the wall clock, and
continues in the same window (`_will_run_test`: ``if (rm_job_cnt++ > 200) goto timer_check``)."""


@part(inline=False)
def narrow_counted(system, record, whole, k):
    """Leave in row `NARROWED` the nodes of row `MASK` that have something for a job once the first k running
    jobs have ended. O(W + log N)."""
    job = system.records[record].job
    narrow(system, job, nodes_for(system, job, whole), k)


@part(inline=False)
def fits_after(system, record, whole, until):
    """Return after how many ends of running jobs, by an instant, a job fits on nodes of row `MASK`, `FAR` if
    it does not. O(W log N), and of CPUs O(W log running jobs + `STATE.stride` x words of a job) more."""
    state, job = system.state[0], system.records[record].job
    if system.records[record].counted == BY_NODES:
        return place_of_able(system, nodes_for(system, job, whole), system.jobs[job].least_nodes)
    sum_cpus(system)
    tasks, end = system.jobs[job].tasks, after_expected(system, 0, until)
    low, high = 0, end // state.stride + 1
    while low < high:  # the first list with enough CPUs
        middle = (low + high) // 2
        if cpus_after(system, middle) >= tasks:
            high = middle
        else:
            low = middle + 1
    k = max(low - 1, 0) * state.stride
    cpus = cpus_after(system, max(low - 1, 0))
    while cpus < tasks:
        if k == end:
            state.cpus_by_then = cpus
            return FAR
        cpus += cpus_of(system, k)
        k += 1
    if system.jobs[job].least_nodes > 1:
        k = max(k, place_of_able(system, able_nodes(system, 1), system.jobs[job].least_nodes))
    return k


@part()
def cpus_of(system, k):
    """Return how many CPUs the running job at a place has on nodes of row `MASK`. O(words or nodes of it)."""
    upcoming, shares = system.upcoming, system.upcoming_shares
    n_within, found = nodes_within(system, k, MASK), 0
    if n_within == 0:
        return 0
    first, end = upcoming[k].first_share, upcoming[k + 1].first_share
    if (end - first) * (upcoming[k].node_cpus - 1) == upcoming[k].spread_cpus:
        return n_within * upcoming[k].node_cpus
    for i in range(first, end):
        node = shares[i].node
        if (system.sets[MASK, node // 64] >> np.uint64(node % 64)) & ONE:
            found += shares[i].cpus
    return found


@part(inline=False)
def sum_cpus(system):
    """List the CPUs that are free on each node once every `STATE.stride` running jobs more have ended, unless
    the lists are up to date: for each binary digit the set of nodes that have it in row c * digits + digit of
    `System.digits`, after c * stride ends. O(N + digits x allocations + N_SUMS x W)."""
    state, digits, shares, running = system.state[0], system.digits, system.upcoming_shares, system.usable
    if state.n_summed == state.n_copies:
        return
    n_digits, n_words, first = len(digits) // N_SUMS, digits.shape[1], 0
    state.n_summed, state.stride = state.n_copies, state.n_running // (N_SUMS - 2) + 1
    for b in range(n_digits):
        for w in range(n_words):
            digits[b, w] = ZERO
    for node in range(len(running)):
        running[node].cpus = system.free[node].cpus
        for b in range(n_digits):
            digits[b, node // 64] |= np.uint64((running[node].cpus >> b) & 1) << np.uint64(node % 64)
    for k in range(state.n_running):
        if k % state.stride == 0:
            for b in range(first, first + n_digits):
                for w in range(n_words):
                    digits[b + n_digits, w] = digits[b, w]
            first += n_digits
        for i in range(system.upcoming[k].first_share, system.upcoming[k + 1].first_share):
            node = shares[i].node
            changed = running[node].cpus ^ (running[node].cpus + shares[i].cpus)
            running[node].cpus += shares[i].cpus
            for b in range(n_digits):
                digits[first + b, node // 64] ^= np.uint64((changed >> b) & 1) << np.uint64(node % 64)


@part(inline=False)
def cpus_after(system, c):
    """Return how many CPUs are free on nodes of row `MASK` by the list of a number. O(digits x W)."""
    n_digits, found = len(system.digits) // N_SUMS, 0
    for b in range(n_digits):
        n = 0
        for w in range(system.digits.shape[1]):
            n += population(system.digits[c * n_digits + b, w] & system.sets[MASK, w])
        found += n << b
    return found


@part()
def touches(system, k, row):
    """Return whether the running job at a place has a node of a row of sets. O(words of the job)."""
    for i in range(system.upcoming[k].first_word, system.upcoming[k + 1].first_word):
        if system.sets[row, system.upcoming_words[i].word] & np.uint64(system.upcoming_words[i].bits):
            return True
    return False


@part(inline=False)
def place_of_able(system, number, least):
    """Return after how many ends of running jobs as many nodes of row `MASK` as given are in a list of
    `able_nodes`, `FAR` if they never are. O(W log N)."""
    able, sets, first = system.able, system.sets, number * len(system.nodes)
    n_words, n = sets.shape[1], system.able_classes[number].n
    row, end, found = 0, n // 64 + 1, 0
    while row + 1 < end:  # the last row with fewer nodes
        middle, within = (row + end) // 2, 0
        for w in range(n_words):
            within += population(sets[MASK, w] & system.able_sets[number * (n_words + 1) + middle, w])
        if within < least:
            row, found = middle, within
        else:
            end = middle
    for i in range(first + row * 64, first + n):
        node = able[i].node
        found += int((sets[MASK, node // 64] >> np.uint64(node % 64)) & ONE)
        if found == least:
            return able[i].place
    return FAR


@part(inline=False)
def after_expected(system, k, instant):
    """Return the first place from k on whose running job is expected to end after an instant.
    O(log running jobs)."""
    end = system.state[0].n_running
    while k < end:
        middle = (k + end) // 2
        if system.upcoming[middle].expected > instant:
            end = middle
        else:
            k = middle + 1
    return k


@part(inline=False)
def tested_after(system, k, place, until, bounded):
    """Return after how many ends of running jobs, k of which are past, the first test succeeds of a job that
    fits after `place`; `NONE` if it comes too late, `UNCLEAR` where more than `UNTESTED` jobs end in a window
    that Slurm then may not test.

    A window ends with the first job on nodes of row `MASK` whose next job, on any node, ends past the
    window; then it doubles until that one is within. O(log running jobs + jobs passed that are not on these
    nodes x words).
    """
    upcoming, n = system.upcoming, system.state[0].n_running
    if place > n or upcoming[place - 1].expected > until:
        return NONE
    first, before = k, place - 2
    while not touches(system, first, MASK):
        first += 1
    while before > first and not touches(system, before, MASK):
        before -= 1
    window = FIRST_WINDOW
    border = upcoming[first].expected + window - upcoming[first].expected % window
    # A window that ends before the job that follows `before` has its test there.
    while upcoming[max(before, first - 1) + 1].expected > border + window:
        window *= 2
    at = max(after_expected(system, place - 1, border + window) - 1, place - 1)
    last = after_expected(system, place, until) if bounded else n
    while at < last and not touches(system, at, MASK):
        at += 1
    if at < last:
        return at + 1 if upcoming[at].expected <= until else NONE
    if window > FIRST_WINDOW:
        first = max(after_expected(system, first, border + window // 2) - 1, first)
        while not touches(system, first, MASK):
            first += 1
        first += 1
    return last if last - first <= UNTESTED else UNCLEAR
