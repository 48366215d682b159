"""Load based schemes (section 2.3): prefer the PEs that the fewest jobs use.

The load on a PE is the number of slots in which it is taken. Instead of sorting the PEs, their loads are held
as binary numbers, one set of PEs for each digit: the PEs that have a 1 there. Adding a slot, and finding the
least loaded PEs of a slot, is then a loop over digits and words for all PEs at once.
"""

import numpy as np
from numba import boolean, int64, uint64

from models.kernels.bits import ZERO, free_word, lowest, population
from models.kernels.compiling import kernel, part
from models.packing.matrix import MATRIX, SETS
from models.packing.schemes.signature import PLACE_SIGNATURE


@part(inline=False)
def add_up_loads(n_slots, occupied, digits):
    """Fill ``digits[d]`` with the PEs whose load has digit d, and return how many digits there are.

    O(slots x log(slots) x words).
    """
    n_digits = 0
    for slot in range(n_slots):
        if slot + 1 == 1 << n_digits:  # loads up to slot + 1 from here on
            for w in range(digits.shape[1]):
                digits[n_digits, w] = ZERO
            n_digits += 1
        for w in range(digits.shape[1]):
            carry = occupied[slot, w]
            for d in range(n_digits):
                before = digits[d, w]
                digits[d, w] = before ^ carry
                carry &= before
    return n_digits


@part(inline=False)
def find_least_loaded(size, n_pes, occupied, slot, digits, n_digits):
    """Find the `size` least loaded free PEs of a slot, digit by digit. O(log(slots) x words).

    Returns the highest load among them and the number of PEs of that load; the row after the last digit then
    holds all free PEs of that load, and the next row all free PEs with less.
    """
    equal, less = n_digits, n_digits + 1
    for w in range(digits.shape[1]):
        digits[equal, w] = free_word(occupied, slot, w, n_pes)
        digits[less, w] = ZERO
    need = size
    load = 0
    for d in range(n_digits - 1, -1, -1):
        here = 0
        for w in range(digits.shape[1]):
            here += population(digits[equal, w] & ~digits[d, w])
        if here >= need:
            for w in range(digits.shape[1]):
                digits[equal, w] &= ~digits[d, w]
        else:
            need -= here
            load += 1 << d
            for w in range(digits.shape[1]):
                digits[less, w] |= digits[equal, w] & ~digits[d, w]
                digits[equal, w] &= digits[d, w]
    return load, need


@part(inline=False)
def sum_of_loads(digits, n_digits, row):
    """Return the sum of the loads on the PEs of a row of `digits`. O(log(slots) x words)."""
    total = 0
    for d in range(n_digits):
        for w in range(digits.shape[1]):
            total += population(digits[row, w] & digits[d, w]) << d
    return total


@part(int64(boolean, int64, int64, int64, MATRIX, SETS, uint64[::1]), inline=False)
def place_by_load(by_sum, size, n_pes, n_slots, matrix, digits, chosen):
    """Choose the slot whose least loaded free PEs have the least load, by their maximum or by their sum.

    Among equally loaded PEs, lower numbers are taken.
    """
    occupied, free = matrix.occupied, matrix.free
    n_digits = add_up_loads(n_slots, occupied, digits)
    best = n_slots
    least = 0
    for slot in range(n_slots):
        if free[slot] >= size:
            load, need = find_least_loaded(size, n_pes, occupied, slot, digits, n_digits)
            if by_sum:
                load = sum_of_loads(digits, n_digits, n_digits + 1) + load * need
            if best == n_slots or load < least:
                best = slot
                least = load
    _, need = find_least_loaded(size, n_pes, occupied, best, digits, n_digits)
    for w in range(chosen.shape[0]):
        available = digits[n_digits, w]
        here = population(available)
        if here > need:
            available = lowest(available, np.uint64(need))
            here = need
        chosen[w] = available | digits[n_digits + 1, w]
        need -= here
    return best


@kernel(PLACE_SIGNATURE)
def min_max_load(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Minimal maximum load: the slot where the n-th least loaded free PE carries least."""
    return place_by_load(False, size, n_pes, n_slots, matrix, scratch, chosen)


@kernel(PLACE_SIGNATURE)
def min_avg_load(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Minimal average load: the slot where the n least loaded free PEs carry least on average."""
    return place_by_load(True, size, n_pes, n_slots, matrix, scratch, chosen)
