"""Which nodes a job gets in blocks (topology/block), as `eval_nodes_block` of Slurm chooses them: in
the smallest block that suffices, first from the base block that fits best, in as few smaller blocks as
possible.

Blocks are 2**k consecutive base blocks, for the sizes that topology.conf allows. A job may use as many blocks
of the size below its own as its nodes need.
"""

from models.kernels.bits import ZERO
from models.kernels.compiling import part
from models.slurm.kernel.switches import (
    HINT,
    LARGE,
    RETRY,
    STOP,
    chosen,
    in_order,
    narrow,
    offer_nodes,
    take,
    take_lighter,
)
from models.slurm.kernel.tables import ADDED, NONE

MOST_LEVELS = 16
"""Sizes of blocks, as in Slurm."""


@part()
def levels(partition, nodes):
    """Return the level of the blocks in which a number of nodes fits, `NONE` for all nodes together, and the
    level below it."""
    level, lower = 0, 0
    while partition.block_nodes << level < nodes:
        if partition.block_levels >> level & 1:
            lower = level
        level += 1
    while level < MOST_LEVELS and not partition.block_levels >> level & 1:
        level += 1
    return level if level < MOST_LEVELS else NONE, lower


@part(inline=False)
def largest(system, begin, end, most):
    """Return how many nodes the `most` largest smaller blocks of a range have together; sorts the counts in
    `distance`. O(blocks**2)."""
    blocks, n = system.switches, 0
    for k in range(begin, end):
        at, nodes = k, blocks[k].distance
        while at > begin and blocks[at - 1].distance < nodes:
            blocks[at].distance = blocks[at - 1].distance
            at -= 1
        blocks[at].distance = nodes
    for k in range(begin, min(begin + most, end)):
        n += blocks[k].distance
    return n


@part(inline=False)
def best_block(system, partition, bounds, lower, nodes):
    """Return the base block to take nodes from, and whether that needs no further smaller block.

    `lower` is the level of smaller blocks, `NONE` if they need not be counted. O(blocks x base blocks).
    """
    blocks, first, best, best_fits, best_used = system.switches, partition.first_switch, NONE, False, True
    last = first + partition.n_switches
    for s in range(bounds[0], bounds[1]):
        if blocks[s].required:
            continue
        has, fits = blocks[s].n_nodes, 0 <= nodes <= blocks[s].n_nodes
        if lower != NONE and (best == NONE or (s - first) >> lower != (best - first) >> lower):
            used, begin = False, first + ((s - first) >> lower << lower)
            for other in range(begin, min(begin + (1 << lower), last)):
                used = used or blocks[other].required > 0
            better = best == NONE or (used and not best_used)
            if not better:
                if best_used and not used:
                    continue
                n = blocks[first + ((s - first) >> lower)].distance
                of_best = blocks[first + ((best - first) >> lower)].distance
                enough, best_enough = 0 <= nodes <= n, 0 <= nodes <= of_best
                if enough != best_enough:
                    if best_enough:
                        continue
                    better = True
                elif n != of_best:
                    better = n < of_best if enough else n > of_best
                    if not better:
                        continue
            if better:
                best, best_fits, best_used = s, fits, used
                continue
        if (
            best == NONE
            or (fits and not best_fits)
            or (not fits and not best_fits and has >= blocks[best].n_nodes)
            or (fits and has <= blocks[best].n_nodes)
        ):
            best, best_fits = s, fits
    return best, best_used


@part(inline=False)
def offered_blocks(system, partition):
    """Restrict base blocks to their nodes in row `ON_SWITCHES`; return the number of these nodes.
    O(base blocks x nodes)."""
    blocks, n = system.switches, 0
    for s in range(partition.first_switch, partition.first_switch + partition.n_switches):
        for w in range(system.sets.shape[1]):
            system.reserved_words[chosen(system, s), w] = system.reserved_words[
                len(system.reservations) + s, w
            ]
        blocks[s].n_nodes, blocks[s].n_cpus, blocks[s].weight = narrow(system, s)
        blocks[s].required = 0
        n += blocks[s].n_nodes
    return n


@part(inline=False)
def smallest_block(system, partition, sizes, nodes, cpus):
    """Return the first base block of the smallest of the lightest blocks that suffice, `NONE` for none.

    `sizes` are the numbers of base blocks in a block and in a smaller block, and the number of smaller blocks
    that a job may use, 0 for any number. O(base blocks**2).
    """
    blocks, first = system.switches, partition.first_switch
    last = first + partition.n_switches
    per_block, per_lower, most_lower = sizes
    n_lower = -(-partition.n_switches // per_lower)
    best, lightest, fewest = NONE, LARGE, 0
    for begin in range(first, last, per_block):
        n, n_cpus, weight = 0, 0, LARGE
        for s in range(begin, min(begin + per_block, last)):
            n += blocks[s].n_nodes
            n_cpus += blocks[s].n_cpus
            weight = min(weight, blocks[s].weight)
        usable = n
        if most_lower:
            each = per_block // per_lower
            offset = (begin - first) // per_block * each
            usable = largest(system, first + offset, first + min(offset + each, n_lower), most_lower)
        if usable < nodes or n_cpus < cpus or n == 0:
            continue
        n = n if system.settings[0].block_counts else usable
        if best == NONE or weight < lightest or (weight == lightest and n <= fewest):
            best, lightest, fewest = begin, weight, n
    return best


@part(inline=False)
def count_lower(system, partition, per_lower):
    """Count the nodes of smaller blocks, without base blocks in use, in `distance`. O(base blocks)."""
    blocks, first = system.switches, partition.first_switch
    for k in range(partition.n_switches):
        if k % per_lower == 0:
            blocks[first + k // per_lower].distance = 0
        if not blocks[first + k].required:
            blocks[first + k // per_lower].distance += blocks[first + k].n_nodes


@part(inline=False)
def fit_segment(system, whole, left):
    """Take the nodes of one segment from row `ON_SWITCHES`, all in one block; return whether there are
    enough. `left` as in `take`. O(base blocks x (base blocks + nodes))."""
    state, blocks, words = system.state[0], system.switches, system.reserved_words
    partition = system.partitions[state.partition]
    nodes, cpus, most = left
    first, last = partition.first_switch, partition.first_switch + partition.n_switches
    level, lower = levels(partition, nodes)
    per_block, per_lower = (1 << level) if level != NONE else partition.n_switches, 1 << lower
    most_lower = -(-nodes // (per_lower * partition.block_nodes))
    counts_lower = per_block != per_lower * most_lower
    count_lower(system, partition, per_lower)
    state.verdict = STOP
    top = smallest_block(system, partition, (per_block, per_lower, most_lower * counts_lower), nodes, cpus)
    if top == NONE:
        return False
    end = min(top + per_block, last)
    for s in range(top + 1, end):
        for w in range(system.sets.shape[1]):
            words[chosen(system, top), w] |= words[chosen(system, s), w]
    enough, some, left = take_lighter(system, whole, top, left)
    if not enough:
        return False
    nodes, cpus, most = left
    in_use = NONE
    for s in range(top, end):
        for w in range(system.sets.shape[1]):
            words[chosen(system, s), w] = words[len(system.reservations) + s, w]
        blocks[s].n_nodes, _, _ = narrow(system, s)
        for w in range(system.sets.shape[1]):
            if some and words[chosen(system, s), w] & system.sets[ADDED, w]:
                blocks[s].required = 1
        if blocks[s].required and (s - first) >> lower != in_use:
            in_use = (s - first) >> lower
            most_lower -= 1
    for s in range(first, last):
        if not top <= s < end:
            blocks[s].n_nodes = 0
    state.verdict = RETRY
    if most_lower < 0:
        return False
    had = state.n_chosen
    for s in range(top, end):
        if blocks[s].required:
            nodes, cpus, _ = take(system, whole, words, chosen(system, s), (nodes, cpus, LARGE))
    most -= state.n_chosen - had
    count_lower(system, partition, per_lower)
    stalled = nodes + 1
    while (nodes > 0 or cpus > 0) and nodes != stalled:
        stalled = nodes
        s, used = best_block(system, partition, (top, end), lower if counts_lower else NONE, nodes)
        if s == NONE or (most_lower <= 0 and not used):
            break
        blocks[s].required = 1
        nodes, cpus, most = take(system, whole, words, chosen(system, s), (nodes, cpus, most))
        most_lower -= not used
    state.verdict = HINT
    return nodes <= 0 and cpus <= 0


@part(inline=False)
def fit_on_blocks(system, job, whole, n_groups, left):
    """Try to take nodes of groups; return their number, 0 for too few, `NONE` if no node of them is in a
    block. `left` as in `take`. O(segments x base blocks x (base blocks + nodes)).

    As in Slurm, a segment gets all CPUs that its nodes offer: no other number bounds them.
    """
    state, segment = system.state[0], system.jobs[job].segment
    nodes, cpus, most = left
    n_segments, state.n_chosen = 1, 0
    for w in range(system.sets.shape[1]):
        system.sets[ADDED, w] = ZERO
    if segment:
        longest = system.partitions[state.partition].block_nodes
        if nodes % segment or (segment > longest and not system.settings[0].any_segment):
            state.verdict = STOP
            return 0
        n_segments = nodes // segment
        nodes, cpus, most = segment, cpus // n_segments, most // n_segments
    for number in range(n_segments):
        offer_nodes(system, n_groups)
        n = offered_blocks(system, system.partitions[state.partition])
        if n == 0:
            state.verdict = HINT
            return NONE if number == 0 else 0
        if not fit_segment(system, whole or segment > 0, (nodes, cpus, most)):
            return 0
    in_order(system)
    return state.n_chosen
