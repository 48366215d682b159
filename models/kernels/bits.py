"""Sets of PEs as 64-bit words: the representation of the Ousterhout matrix.

PE number p is bit p % 64 of word p // 64. Everything here is compiled and costs O(words).
"""

import numpy as np
from numba import boolean, int64, uint64

from models.kernels.compiling import part

WORD_BITS = 64

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def words(n_pes: int) -> int:
    """Return how many words hold `n_pes` PEs."""
    return -(-n_pes // WORD_BITS)


@part()
def population(word):
    """Return the number of set bits (the usual sideways addition, which LLVM turns into one instruction)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@part()
def span(count):
    """Return a word whose lowest `count` bits are set, 0 <= count <= 64."""
    if count >= WORD_BITS:
        return ALL
    return (ONE << np.uint64(count)) - ONE


@part(int64(int64), inline=False)
def level_for(size):
    """Return l of the smallest group, of 2^l PEs or tasks, that holds `size`."""
    level = 0
    while (1 << level) < size:
        level += 1
    return level


@part()
def lowest_position(word):
    """Return the position of the lowest set bit of a word that has one."""
    return population((word & (~word + ONE)) - ONE)


@part()
def free_word(occupied, slot, w, n_pes):
    """Return the free PEs of word `w` of a slot; bits beyond the last PE are never set."""
    return ~occupied[slot, w] & span(n_pes - w * WORD_BITS)


@part(boolean(uint64[:, ::1], int64, uint64[:, ::1], int64))
def disjoint(a, i, b, j):
    """Return whether the sets of PEs in row i of `a` and row j of `b` have none in common.

    Rows are given by number here and elsewhere: a view of a row costs reference counting, more than the test.
    """
    i, j = np.uint64(i), np.uint64(j)  # unsigned, so that no index is tested for being negative
    # Two words at a time: for most machines, no branch before the end can be mispredicted.
    last = a.shape[1] - 1
    w = 0
    while w < last:
        if (a[i, w] & b[j, w]) | (a[i, w + 1] & b[j, w + 1]) != ZERO:
            return False
        w += 2
    return w > last or a[i, w] & b[j, w] == ZERO


@part(uint64(uint64, uint64), inline=False)
def lowest(word, count):
    """Return the `count` lowest set bits of `word`; it must have as many."""
    # They are mostly adjacent, and then no loop over bits is needed.
    together = span(count) << np.uint64(lowest_position(word))
    if word & together == together:
        return together
    rest = word
    for _ in range(count):
        rest &= rest - ONE
    return word & ~rest


@part(uint64(uint64, uint64), inline=False)
def highest(word, count):
    """Return the `count` highest set bits of `word`; it must have as many."""
    rest = word
    for _ in range(np.uint64(population(word)) - count):
        rest &= rest - ONE
    return rest


@part()
def take_from_left(n, occupied, slot, n_pes, chosen):
    """Write the first `n` free PEs of a slot, in serial order, to `chosen`."""
    need = n
    for w in range(chosen.shape[0]):
        available = free_word(occupied, slot, w, n_pes)
        here = population(available)
        if here > need:
            available = lowest(available, np.uint64(need))
            here = need
        chosen[w] = available
        need -= here


@part(inline=False)
def take_from_right(n, occupied, slot, n_pes, chosen):
    """Write the last `n` free PEs of a slot, in reverse serial order, to `chosen`."""
    need = n
    for w in range(chosen.shape[0] - 1, -1, -1):
        available = free_word(occupied, slot, w, n_pes)
        here = population(available)
        if here > need:
            available = highest(available, np.uint64(need))
            here = need
        chosen[w] = available
        need -= here
