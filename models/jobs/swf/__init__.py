"""Logs in the Standard Workload Format: read, select jobs, write.

One row is one job of 18 columns, -1 means unknown, and lines that start with ``;`` are comments of the
form ``; Key: value``. `read` returns a `Log`, with every row of the file. `select` returns the jobs that can
be simulated, with an account of the rows that are dropped. `write` writes such a file.

References
----------
S. J. Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", in *Job
Scheduling Strategies for Parallel Processing*, LNCS 1659, 1999; version 2.2 of the format as the Parallel
Workloads Archive defines it.
"""

from models.jobs.selecting import Selection
from models.jobs.swf.columns import COLUMNS, DTYPES, EXACT, SwfError
from models.jobs.swf.log import Log
from models.jobs.swf.reading import read
from models.jobs.swf.repetition import run_lengths
from models.jobs.swf.selecting import FAILED, FILTERS, PARTIAL, Filters, Values, select
from models.jobs.swf.writing import write

__all__ = [
    "COLUMNS", "DTYPES", "EXACT", "FAILED", "FILTERS", "PARTIAL",
    "Filters", "Log", "Selection", "SwfError", "Values",
    "read", "run_lengths", "select", "write",
]  # fmt: skip
