"""The 18 columns of the format and the values that they may hold."""

import numpy as np


class SwfError(ValueError):
    """A log that cannot be used as asked: one line with the file, the line number and a remedy."""


DTYPES = {
    "job": np.int64,
    "submit": np.float64,  # seconds since the log's start
    "wait": np.float64,  # seconds
    "runtime": np.float64,  # seconds of wall clock
    "processors": np.int64,  # allocated
    "cpu_time": np.float64,  # seconds, average of the processors
    "memory": np.float64,  # KB for each processor
    "requested_processors": np.int64,
    "requested_time": np.float64,  # seconds
    "requested_memory": np.float64,  # KB for each processor
    "status": np.int64,
    "user": np.int64,
    "group": np.int64,
    "application": np.int64,
    "queue": np.int64,
    "partition": np.int64,
    "preceding_job": np.int64,
    "think_time": np.float64,  # seconds after the preceding job
}
"""The 18 columns in the format's order; times and memory may have decimals."""

COLUMNS = tuple(DTYPES)
EXACT = 2**53  # whole numbers below it are the same in float64


def invalid_rows(values: np.ndarray) -> dict[int, str]:
    """Return the rows with a value that no log can have, and what is wrong with each."""
    runtime = COLUMNS.index("runtime")
    beyond = ~((values < EXACT) & (values > -EXACT))  # so is nan
    wrong = beyond.copy()
    for column, dtype in enumerate(DTYPES.values()):
        if dtype is np.int64 and values.dtype != np.int64:
            wrong[:, column] |= values[:, column] != np.rint(values[:, column])
    wrong[:, runtime] |= (values[:, runtime] < 0) & (values[:, runtime] != -1)
    found = {}
    for row in np.flatnonzero(wrong.any(axis=1)).tolist():
        column = int(np.argmax(wrong[row]))
        shown = np.format_float_positional(values[row, column], trim="-")
        if beyond[row, column]:
            found[row] = f"has {values[row, column]:g} as {COLUMNS[column]}, not a number below 2^53"
        elif column == runtime:
            found[row] = f"has the negative runtime {shown}, only -1 (unknown) is allowed"
        else:
            found[row] = f"has {shown} as {COLUMNS[column]}, not a whole number"
    return found
