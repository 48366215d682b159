"""What Slurm's ``sacct --parsable2`` prints: read, and made jobs that can be simulated.

One row is one run of a job (or a step of one), its fields between bars, and the first line names them. `read`
gives a `Table`: every row that is no step. `select` keeps the jobs that ran and counts all others.

References
----------
The manual page sacct(1) of Slurm, "Job Accounting Fields" and "Job State Codes".
"""

from models.workloads.sacct.errors import COMMAND, SacctError
from models.workloads.sacct.reading import Table, read
from models.workloads.sacct.selecting import Selection, select, users_of

__all__ = ["COMMAND", "SacctError", "Selection", "Table", "read", "select", "users_of"]
