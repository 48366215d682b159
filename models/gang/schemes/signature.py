"""What a packing scheme is: one small compiled function that chooses a slot and PEs in it.

The declared types matter: a kernel that takes functions of these types is compiled once for all schemes and
found in the disk cache again, where plain function arguments would make each process compile anew.
"""

from __future__ import annotations

from numba import int64, types, uint64, void

PLACE_SIGNATURE = int64(
    int64,  # size: PEs that the job needs
    int64,  # n_pes: PEs of the machine
    int64,  # n_slots: slots in use, rows 0 .. n_slots - 1 in the order in which they were opened
    uint64[:, ::1],  # occupied (slot, word): PEs taken in each slot; row n_slots is empty, for a new slot
    int64[::1],  # free (slot,): free PEs in each slot
    int64[::1],  # tags (slot,): a number that the scheme may give to a slot; it moves with the slot
    int64[::1],  # memory: the scheme's own, zero at the start, `Scheme.memory(n_pes)` long
    int64[::1],  # parameters: the scheme's own, in the order of `Scheme.parameters`
    uint64[:, ::1],  # scratch (slot, word): anything, forgotten afterwards
    uint64[::1],  # chosen (word,): to be filled with the PEs of the job
)
"""Returns the slot; `n_slots` opens a new one. The placement is always carried out."""

RELEASE_SIGNATURE = void(
    int64,  # size of the job that leaves
    int64,  # n_pes
    uint64[::1],  # its PEs
    int64[::1],  # memory
    int64[::1],  # parameters
)
"""Told when a job leaves its PEs, for a scheme that keeps books in its memory."""

REARRANGE_SIGNATURE = void(
    int64,  # start: the jobs before this position of the list DECREASING keep their mapping
    int64,  # n_pes
    uint64[:, ::1],  # occupied, to be rewritten
    int64[::1],  # free, to be rewritten
    uint64[:, ::1],  # pes of the jobs, to be rewritten
    int64[:, ::1],  # whole: fields of the jobs, of which SLOT (NOWHERE for a newcomer) is to be rewritten
    uint64[:, ::1],  # order of the jobs, of which DECREASING is of use
    int64[::1],  # counts, of which N_SLOTS is to be rewritten
)
"""Maps all jobs anew, for a scheme that migrates them at each arrival and termination."""

PLACE = types.FunctionType(PLACE_SIGNATURE)
RELEASE = types.FunctionType(RELEASE_SIGNATURE)
REARRANGE = types.FunctionType(REARRANGE_SIGNATURE)
