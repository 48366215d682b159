"""Buddy based scheme (section 2.4): PEs are allocated in groups of powers of two, each under a controller.

The controllers form a binary tree, kept in `memory` as a heap: node 1 is the root, node ``n_pes + p`` the
leaf of PE p. ``memory[node]`` counts the jobs mapped to a controller and ``memory[2 n_pes + node]`` holds the
part of its load that stems from itself and its descendants, so that recording a mapping costs O(log n_pes),
and reading a load O(log n_pes).

The load on a controller is "the sum of 3 terms: the number of jobs mapped to this controller, the maximum of
the loads on the controller's two children, and the sum of the number of jobs mapped to the controllers
ancestors" (Fig. 2). Three readings of it:

``paths``
    Two data paths, up and down: the children's maximum is over their own and lower terms, the ancestors' sum
    is added once. This equals the maximum, over the PEs below, of the jobs whose controllers cover that PE.
``recursive``
    The literal reading: a child's load contains the sum over its own ancestors, so that jobs mapped higher up
    count once for each level between.
``pes``
    The paper's "simplified scheme": the maximum of the loads on the PEs themselves. It differs from `paths`
    only by the jobs whose size is not a power of two, which count on the PEs that they actually use.
"""

import numpy as np
from numba import int64, uint64, void

from models.kernels.bits import ALL, ONE, ZERO, free_word, level_for, span
from models.kernels.compiling import kernel, part
from models.kernels.types import INTS
from models.packing.matrix import SETS
from models.packing.schemes.signature import PLACE_SIGNATURE, RELEASE_SIGNATURE

# Positions of the parameters, and of their values, in what `models.packing.scheme` declares.
SLOT_CHOICE, CONTROLLER_LOAD = 0, 1
FULLEST = 1
RECURSIVE = 1
PES = 2


@part(void(int64, int64, int64, int64, int64, INTS), inline=False)
def book(node, level, change, n_pes, reading, memory):
    """Map `change` jobs to a controller and carry its load up the tree."""
    memory[node] += change
    while node >= 1:
        weight = level + 1 if reading == RECURSIVE else 1
        below = 0
        if level > 0:
            below = max(memory[2 * n_pes + 2 * node], memory[2 * n_pes + 2 * node + 1])
        memory[2 * n_pes + node] = weight * memory[node] + below
        node >>= 1
        level += 1


@part(void(int64, int64, uint64[::1], int64, int64, INTS), inline=False)
def book_job(size, n_pes, pes, change, reading, memory):
    """Map a job to its controller, or under the reading `pes` to each of its PEs."""
    if reading == PES:
        for p in range(n_pes):
            if pes[p >> 6] >> np.uint64(p & 63) & ONE:
                book(n_pes + p, 0, change, n_pes, reading, memory)
        return
    level = level_for(size)
    for w in range(pes.shape[0]):
        if pes[w] != ZERO:
            bit = 0
            while not pes[w] >> np.uint64(bit) & ONE:
                bit += 1
            book((n_pes + 64 * w + bit) >> level, level, change, n_pes, reading, memory)
            return


@part(void(int64, int64, SETS, int64, SETS, int64), inline=False)
def mark_free_groups(level, n_pes, occupied, slot, marks, row):
    """Set in a row of `marks` the first PE of each group of 2^level PEs that is all free in a slot."""
    if level >= 6:
        group = 1 << (level - 6)
        for first in range(0, marks.shape[1], group):
            taken = ZERO
            for w in range(first, first + group):
                taken |= occupied[slot, w]
            if taken == ZERO:
                marks[row, first] |= ONE
        return
    # 0x5555.., 0x1111.., 0x0101..: the positions at which groups begin
    aligned = ALL // ((ONE << np.uint64(1 << level)) - ONE)
    for w in range(marks.shape[1]):
        run = free_word(occupied, slot, w, n_pes)
        for i in range(level):
            run &= run >> np.uint64(1 << i)
        marks[row, w] |= run & aligned


@part(inline=False)
def least_loaded_controller(level, n_pes, marks, reading, memory):
    """Return the first PE of the least loaded group marked in row 0 (ties go to the first), or -1.

    It visits the groups in order and skips every subtree whose ancestors alone already reach the best load.
    """
    top = level_for(n_pes)
    weight = level + 1 if reading == RECURSIVE else 1
    best = -1
    least = 0
    pe = 0
    while pe < n_pes:
        w = pe >> 6
        if marks[0, w] >> np.uint64(pe & 63) == ZERO:
            pe = (w + 1) << 6
            continue
        if not marks[0, w] >> np.uint64(pe & 63) & ONE:
            pe += 1 << level
            continue
        ancestors = 0
        skip_to = pe + (1 << level)
        pruned = False
        for above in range(top, level, -1):
            ancestors += memory[(n_pes + pe) >> above]
            if best >= 0 and weight * ancestors >= least:
                skip_to = ((pe >> above) + 1) << above
                pruned = True
                break
        if not pruned:
            load = weight * ancestors + memory[2 * n_pes + ((n_pes + pe) >> level)]
            if best < 0 or load < least:
                best = pe
                least = load
                if least == 0:
                    break
        pe = skip_to
    return best


@part(inline=False)
def set_range(first, count, chosen):
    """Add PEs first .. first + count - 1 to a set; count is a power of two and first a multiple of it."""
    if count >= 64:
        for w in range(first >> 6, (first + count) >> 6):
            chosen[w] = ALL
    else:
        chosen[first >> 6] |= span(count) << np.uint64(first & 63)


@part(inline=False)
def take_groups(size, first, level, n_pes, memory, chosen):
    """Write `size` of the 2^level PEs of a controller to `chosen`, the lighter descendants first.

    A size that is not a power of two is composed of groups that are powers of two ("minimal fragmentation"):
    if it exceeds half of a controller, it takes the whole lighter half and the rest in the other; otherwise
    all of it goes to the lighter half.
    """
    chosen[:] = ZERO
    need = size
    while need < 1 << level:
        level -= 1
        half = 1 << level
        left = 2 * n_pes + ((n_pes + first) >> level)
        left_is_lighter = memory[left] <= memory[left + 1]
        if need >= half:
            set_range(first if left_is_lighter else first + half, half, chosen)
            need -= half
            if need == 0:
                return
            if left_is_lighter:
                first += half
        elif not left_is_lighter:
            first += half
    set_range(first, need, chosen)


@kernel(PLACE_SIGNATURE)
def buddy(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Map to the least loaded controller that is free in some used slot. O((slots + groups) log n_pes)."""
    occupied, free, memory = matrix.occupied, matrix.free, books.memory
    slot_choice, reading = books.parameters[SLOT_CHOICE], books.parameters[CONTROLLER_LOAD]
    level = level_for(size)
    group = 1 << level
    for w in range(chosen.shape[0]):
        scratch[0, w] = ZERO
    for slot in range(n_slots):
        if free[slot] >= group:
            mark_free_groups(level, n_pes, occupied, slot, scratch, 0)
    first = least_loaded_controller(level, n_pes, scratch, reading, memory)
    best = n_slots
    if first < 0:
        mark_free_groups(level, n_pes, occupied, n_slots, scratch, 0)
        first = least_loaded_controller(level, n_pes, scratch, reading, memory)
    else:
        for slot in range(n_slots):
            if free[slot] >= group and (best == n_slots or free[slot] < free[best]):
                for w in range(chosen.shape[0]):
                    scratch[1, w] = ZERO
                mark_free_groups(level, n_pes, occupied, slot, scratch, 1)
                if scratch[1, first >> 6] >> np.uint64(first & 63) & ONE:
                    best = slot
                    if slot_choice != FULLEST:
                        break
    take_groups(size, first, level, n_pes, memory, chosen)
    book_job(size, n_pes, chosen, 1, reading, memory)
    return best


@kernel(RELEASE_SIGNATURE)
def leave_controller(size, n_pes, pes, books):
    """Unmap a job from its controller. O(log n_pes)."""
    book_job(size, n_pes, pes, -1, books.parameters[CONTROLLER_LOAD], books.memory)
