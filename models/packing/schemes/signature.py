"""A packing scheme: one small compiled function that chooses a slot and PEs in it.

The declared types matter: a kernel that takes functions of these types is compiled once for all schemes and
found in the disk cache, whereas plain function arguments would make each process compile it again.
"""

from numba import int64, types, uint64, void

from models.packing.matrix import BOOKS, MATRIX, SETS, TABLE

PLACE_SIGNATURE = int64(
    int64,  # size: PEs that the job needs
    int64,  # n_pes: PEs of the machine
    int64,  # n_slots: slots in use, rows 0 .. n_slots - 1 in the order in which they were opened
    MATRIX,  # matrix, of which `tags` may be written; its row n_slots is empty, for a new slot:
    #   occupied (slot, word), PEs taken in each slot; free (slot,), number of free PEs in each;
    #   tags (slot,), a number that the scheme may give to a slot: it moves with the slot
    BOOKS,  # books, the scheme's own: memory, which it may write, and parameters
    SETS,  # scratch (slot, word): anything, forgotten afterwards
    uint64[::1],  # chosen (word,): to be filled with the PEs of the job
)
"""Returns the slot; `n_slots` opens a new one.

A scheduler whose slots are limited may call it only to determine whether a job fits: if it does not carry the
placement out, it calls `release` with the same PEs at once. It may also pass fewer free PEs than there are,
if the job cannot use the others.
"""

RELEASE_SIGNATURE = void(
    int64,  # size of the job that leaves
    int64,  # n_pes
    uint64[::1],  # its PEs
    BOOKS,
)
"""Called when a job leaves its PEs, for a scheme that keeps books in its memory."""

REARRANGE_SIGNATURE = int64(
    int64,  # start: the jobs before this position of `table.decreasing` keep their mapping
    int64,  # n_jobs: jobs in that list
    int64,  # n_slots: slots in use so far
    int64,  # n_pes
    MATRIX,  # of which occupied and free are to be rewritten
    TABLE,  # of which pes, and of each job its slot (NOWHERE for a newcomer), are to be rewritten
)
"""Maps all jobs again, for a scheme that migrates them at each arrival and termination; returns the number of
slots then in use."""

PLACE = types.FunctionType(PLACE_SIGNATURE)
RELEASE = types.FunctionType(RELEASE_SIGNATURE)
REARRANGE = types.FunctionType(REARRANGE_SIGNATURE)
