"""The error of a file that cannot be used."""

COMMAND = (
    "TZ=UTC sacct -a -X -D -P --noconvert -S 2024-03-01 -E 2024-04-01 -o "
    "JobID,User,Partition,State,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,AllocCPUS,AllocNodes,ReqMem,"
    "QOS,Reservation,AllocTRES,Constraints"
)
"""The command for the jobs of a month."""


class SacctError(ValueError):
    """A file that cannot be used as asked: one line with the file, the line number and a remedy."""
