"""Runtimes of repetitions: a user submits a job again, each time at the end of the previous run (feedback).

The time of the next submission depends on the schedule, so an engine asks for the runtime while it runs.
"""

from numba import float64, int64, types

from models.kernels.compiling import kernel

RERUN_SIGNATURE = float64(
    float64,  # runtime of the run that has just ended
    int64,  # size of the job
    int64,  # key of the session
    int64,  # number of the run to come, the first has 0
    float64[::1],  # parameters
)
RERUN = types.FunctionType(RERUN_SIGNATURE)


@kernel(RERUN_SIGNATURE)
def same_runtime(runtime, size, key, run, parameters):
    """Return the same runtime: every run of a session takes as long as the first."""
    return runtime
