"""Parts of the scheduler that are compiled once, each in its own module, and passed to their callers."""

from numba import int64, types

from models.slurm.kernel.tables import SYSTEM

PICK_SIGNATURE = int64(SYSTEM, int64, int64, int64, int64)
PICK = types.FunctionType(PICK_SIGNATURE)

PASS_SIGNATURE = int64(SYSTEM, int64, PICK)
PASS = types.FunctionType(PASS_SIGNATURE)

CYCLE_SIGNATURE = int64(SYSTEM, PICK)
CYCLE = types.FunctionType(CYCLE_SIGNATURE)
