"""Which nodes a job gets on a tree of switches (topology/tree), as `_eval_nodes_topo` of select/cons_tres of
Slurm chooses them: the lightest nodes below one switch, first those on the best leaf, then nodes of leaves
close to it.
"""

import math

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import part
from models.slurm.kernel.tables import ADDED, NONE, ON_SWITCHES

FAR = 1 << 30
"""Distance between switches that are not connected."""

LARGE = 1 << 40
"""Above any number of nodes and any weight."""

RETRY, HINT, STOP, WAITS = range(4)
"""Verdicts on a job that does not fit. Since Slurm 25.11 it is tried again without any one of the nodes, or
without one of the nodes that were taken for it, or it is not tried again; nor is a job that waits for nodes
on few switches."""


@part()
def chosen(system, s):
    """Return the row of `System.reserved_words` with the nodes of a switch that are still usable."""
    return len(system.reservations) + len(system.switches) + s


@part(inline=False)
def narrow(system, s):
    """Restrict a switch to its nodes in row `ON_SWITCHES`; return their number, their CPUs and their lowest
    weight. O(nodes)."""
    n, cpus, lightest = 0, 0, LARGE
    row = chosen(system, s)
    for w in range(system.sets.shape[1]):
        system.reserved_words[row, w] &= system.sets[ON_SWITCHES, w]
        word = system.reserved_words[row, w]
        while word:
            node = w * 64 + lowest_position(word)
            lightest = min(lightest, system.nodes[node].weight)
            cpus += system.offers[node].cpus
            n += 1
            word &= word - ONE
    return n, cpus, lightest


@part(inline=False)
def top_switch(system, first, last, n_nodes, n_cpus):
    """Return the highest switch with the lightest nodes, among the switches with enough nodes and, since
    Slurm 23.02, enough CPUs; `NONE` for none. O(switches x nodes)."""
    switches, top, least = system.switches, NONE, LARGE
    for s in range(first, last):
        for w in range(system.sets.shape[1]):
            row = len(system.reservations) + s
            system.reserved_words[chosen(system, s), w] = system.reserved_words[row, w]
        n, switches[s].n_cpus, weight = narrow(system, s)
        if n < max(n_nodes, 1) or not has_cpus(system, s, n_cpus):
            continue
        if top == NONE or (switches[s].level >= switches[top].level and weight <= least):
            top, least = s, weight
    return top


@part()
def has_cpus(system, s, n_cpus):
    """Return whether the nodes of a switch offer enough CPUs; before Slurm 23.02 this is not tested."""
    return not system.settings[0].switch_cpus or system.switches[s].n_cpus >= n_cpus


@part(inline=False)
def compare(system, one, other, n_nodes, n_cpus):
    """Return 1 if a switch suits a job better than another one, -1 if worse, else 0, and whether it has
    enough nodes and CPUs; if neither has, the switches above them are compared. O(levels)."""
    switches = system.switches
    while True:
        has, of_other = switches[one].n_nodes, switches[other].n_nodes
        fits = has >= n_nodes and has_cpus(system, one, n_cpus)
        other_fits = of_other >= n_nodes and has_cpus(system, other, n_cpus)
        if fits and other_fits:
            if has != of_other:
                return (1 if has < of_other else -1), fits
            break
        if fits or other_fits:
            return (1 if fits else -1), fits
        above, of_other = switches[one].parent, switches[other].parent
        if above == of_other or (above == one and of_other == other):
            break
        one, other = above, of_other
    a, b = switches[one], switches[other]
    if a.n_nodes != b.n_nodes:
        return (1 if a.n_nodes > b.n_nodes else -1), fits
    return int(b.level > a.level) - int(a.level > b.level), fits


@part(inline=False)
def best_leaf(system, first, last, n_nodes, n_cpus):
    """Return the leaf to take nodes from: close to the leaves in use, and the best fit. O(switches x
    levels)."""
    switches, best, by_cpus = system.switches, NONE, system.settings[0].switch_cpus
    for s in range(first, last):
        one = switches[s]
        if one.level or one.required or one.n_nodes == 0 or one.distance >= FAR:
            continue
        if best == NONE:
            best = s
            continue
        suits, fits = compare(system, s, best, n_nodes, n_cpus)
        nearer, fits = one.distance < switches[best].distance, fits if by_cpus else suits >= 0
        if (nearer and fits) or (one.distance == switches[best].distance and suits > 0):
            best = s
    return best


@part(inline=False)
def use(system, first, last, s):
    """Add the hops from a switch in use to the distance of every switch. O(switches x levels)."""
    switches = system.switches
    for other in range(first, last):
        hops, one, its = 0, s, other
        while one != its and hops < FAR:
            lower = one if switches[one].level <= switches[its].level else its
            above, hops = switches[lower].parent, hops + 1
            if switches[above].level <= switches[lower].level:  # it is the top of another tree
                hops = FAR
            one, its = (above, its) if lower == one else (one, above)
        switches[other].distance = min(switches[other].distance + hops, FAR)


@part()
def count_down(system, s, n_taken):
    """Subtract nodes that were taken from a switch and those above it (since Slurm 24.11). O(levels)."""
    switches = system.switches
    while system.settings[0].switch_counts:
        switches[s].n_nodes = max(switches[s].n_nodes - n_taken, 0)
        above = switches[s].parent
        if switches[above].level <= switches[s].level:  # it is the top of its tree
            break
        s = above


@part(inline=False)
def take(system, whole, words, row, left):
    """Take nodes of a row of sets, in order, while the job needs and may have more. `left` has the nodes and
    CPUs that it still needs, and the nodes that it may still have; return its new value. O(nodes)."""
    nodes, cpus, most = left
    choices, state = system.choices, system.state[0]
    for w in range(words.shape[1]):
        word = words[row, w] & ~system.sets[ADDED, w]
        while word and most > 0 and (nodes > 0 or cpus > 0):
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            offer = system.offers[node].cpus
            if not whole:
                offer = min(offer, max(cpus - max(nodes - 1, 0), 1))
            choices[state.n_chosen].node, choices[state.n_chosen].cpus = node, offer
            state.n_chosen += 1
            system.sets[ADDED, w] |= ONE << np.uint64(node % 64)
            nodes, cpus, most = nodes - 1, cpus - offer, most - 1
    return nodes, cpus, most


@part(inline=False)
def lighter_than(system, top, weight):
    """Put the nodes below a switch that are lighter than a weight into row `ON_SWITCHES`; return their number
    and CPUs, and the lowest weight of the others. O(nodes)."""
    n, cpus, following = 0, 0, LARGE
    for w in range(system.sets.shape[1]):
        word, system.sets[ON_SWITCHES, w] = system.reserved_words[chosen(system, top), w], ZERO
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            if system.nodes[node].weight < weight:
                system.sets[ON_SWITCHES, w] |= ONE << np.uint64(node % 64)
                n += 1
                cpus += system.offers[node].cpus
            else:
                following = min(following, system.nodes[node].weight)
    return n, cpus, following


@part(inline=False)
def offer_nodes(system, n_groups):
    """Put the nodes of groups that offer anything and are not taken into row `ON_SWITCHES`. O(nodes)."""
    for w in range(system.sets.shape[1]):
        system.sets[ON_SWITCHES, w] = ZERO
    for k in range(n_groups):
        for node in range(system.groups[k].first, system.groups[k].last + 1):
            if system.offers[node].cpus > 0:
                system.sets[ON_SWITCHES, node // 64] |= ONE << np.uint64(node % 64)
    for w in range(system.sets.shape[1]):
        system.sets[ON_SWITCHES, w] &= ~system.sets[ADDED, w]


@part(inline=False)
def take_lighter(system, whole, top, left):
    """Restrict row `ON_SWITCHES` to the lightest nodes below a switch that suffice, and take all but the
    heaviest of them. Return whether they suffice, whether some were taken, and `left` as in `take`.
    O(weights x nodes)."""
    nodes, cpus, _ = left
    n, of_these, weight = lighter_than(system, top, 0)
    before, last = 0, 0
    system.state[0].verdict = RETRY
    while n < nodes or of_these < cpus:
        if weight == LARGE:
            return False, False, left
        before, last = n, weight
        n, of_these, weight = lighter_than(system, top, weight + 1)
    if before:  # all lighter nodes, and some of the heaviest ones
        lighter_than(system, top, last)
        left = take(system, whole, system.sets, ON_SWITCHES, left)
        if left[2] <= 0:
            system.state[0].verdict = HINT
            return False, True, left
        lighter_than(system, top, last + 1)
    return True, before > 0, left


@part(inline=False)
def in_order(system):
    """Sort the nodes that were taken, because tasks are placed in the order of nodes. O(nodes taken**2)."""
    choices = system.choices
    for k in range(1, system.state[0].n_chosen):
        node, given = choices[k].node, choices[k].cpus
        at = k
        while at > 0 and choices[at - 1].node > node:
            choices[at].node, choices[at].cpus = choices[at - 1].node, choices[at - 1].cpus
            at -= 1
        choices[at].node, choices[at].cpus = node, given


@part(inline=False)
def waits_for_switches(system, job, first, last):
    """Return whether the nodes that were taken are on more leaves than a job wants, and it has not waited for
    long enough. O(switches x W)."""
    one, state = system.jobs[job], system.state[0]
    if one.n_switches == 0 or math.floor(state.now) - math.floor(one.submit) >= one.switch_wait:
        return False
    n = 0
    for s in range(first, last):
        used = False
        for w in range(system.sets.shape[1]):
            row = system.reserved_words[chosen(system, s), w]
            used = used or row & system.sets[ADDED, w] != ZERO
        n += used and system.switches[s].level == 0
    return n > one.n_switches


@part(inline=False)
def fit_on_switches(system, job, whole, n_groups, left):
    """Try to take nodes of groups; return their number, 0 for too few. `left` as in `take`.
    O(switches x (nodes + switches))."""
    state, switches = system.state[0], system.switches
    first = system.partitions[state.partition].first_switch
    end = first + system.partitions[state.partition].n_switches
    nodes, cpus, most = left
    words, state.n_chosen, state.verdict = system.reserved_words, 0, RETRY
    for w in range(system.sets.shape[1]):
        system.sets[ADDED, w] = ZERO
    offer_nodes(system, n_groups)
    top = top_switch(system, first, end, nodes, cpus)
    if top == NONE:
        return 0
    enough, before, left = take_lighter(system, whole, top, left)
    if not enough:
        return 0
    nodes, cpus, most = left
    for s in range(first, end):
        switches[s].n_nodes, _, _ = narrow(system, s)
        switches[s].required, switches[s].distance = 0, 0
        for w in range(system.sets.shape[1]):
            if before and system.reserved_words[chosen(system, s), w] & system.sets[ADDED, w]:
                switches[s].required = 1
    had = state.n_chosen
    for s in range(first, end):
        if switches[s].required and switches[s].level == 0:
            nodes, cpus, _ = take(system, whole, words, chosen(system, s), (nodes, cpus, LARGE))
            count_down(system, s, state.n_chosen - had)  # the nodes of the leaves before it are among them
    most -= state.n_chosen - had
    for s in range(first, end):
        if switches[s].required:
            use(system, first, end, s)
    stalled = nodes + 1
    while (nodes > 0 or cpus > 0) and nodes != stalled:
        stalled = nodes
        s = best_leaf(system, first, end, nodes, cpus)
        if s == NONE:
            break
        use(system, first, end, s)
        nodes, cpus, most = take(system, whole, words, chosen(system, s), (nodes, cpus, most))
        count_down(system, s, switches[s].n_nodes)
        switches[s].n_nodes = 0
    if nodes > 0 or cpus > 0:
        state.verdict = HINT
        return 0
    if waits_for_switches(system, job, first, end):
        state.verdict = WAITS
        return 0
    in_order(system)
    return state.n_chosen
