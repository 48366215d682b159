"""A task is one thread of work on one core: numerical libraries must not start threads of their own."""

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    **dict.fromkeys(("NUMBA_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
}
"""Environment variables that libraries read when they are imported, so they are set earlier."""
