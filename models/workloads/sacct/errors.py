"""What is said to a user whose file cannot be used."""

from __future__ import annotations

COMMAND = (
    "TZ=UTC sacct -a -X -D -P --noconvert -S 2024-03-01 -E 2024-04-01 -o "
    "JobID,User,Partition,State,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,AllocCPUS,AllocNodes,ReqMem"
)
"""What to type for the jobs of a month."""


class SacctError(ValueError):
    """A file that cannot be used as asked: one clear line with the file, the line number and what to do."""
