"""A schedule as a log in the Standard Workload Format, so that other tools can read it.

Wait times and the runtimes that jobs got are filled in, and the status of jobs that were ended; the other
columns of a log's jobs are copied from the log. The format has no column for hosts: where there are several,
the partition is the host's number from 1 on. It also has no column for preemption, or for another number of
processors than requested: then the wait is all the time in the system beyond the runtime.
"""

import os
from collections.abc import Sequence

import numpy as np

from models.jobs import swf
from models.jobs.schedule import Schedule

KEPT = (
    "Computer", "Installation", "Acknowledge", "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime",
)  # fmt: skip
"""Entries of a log's header that remain valid under another scheduler."""

FAILED, COMPLETED, CANCELLED = 0, 1, 5
UNKNOWN = -1

IN_PIECES = (
    "jobs ran in several pieces, or on other numbers of processors than they requested: the wait is all the "
    "time in the system beyond the runtime, and submit + wait is not the start time"
)


def write_schedule(
    path: str | os.PathLike[str],
    made: Schedule,
    notes: Sequence[str] = (),
) -> None:
    """Write every job of a schedule as a row of an SWF file, in order of submission.

    Parameters
    ----------
    path : path-like
        Compressed if its name ends with ``.gz``.
    made : Schedule
        For a log's jobs (`Schedule.trace`), job numbers, users and so on are the log's own, and times are in
        its time base.

    Raises
    ------
    SwfError
        If the file cannot be written.
    """
    jobs, hosts, trace = made.jobs, made.machine, made.trace
    header: dict[str, list[str]] = {"Version": ["2.2"]}
    columns: dict[str, np.ndarray] = {
        "requested_processors": jobs.size,
        "requested_time": np.where(np.isnan(jobs.requested), UNKNOWN, jobs.requested),
        "status": np.full(len(jobs), COMPLETED),
    }
    submit = jobs.submit
    if trace is not None and trace.log is not None:
        header |= {key: trace.log.header[key] for key in KEPT if key in trace.log.header}
        columns = {name: values[trace.rows] for name, values in trace.log.columns.items()}
        asked = trace.jobs.requested  # perhaps drawn, where the log has none
        columns["requested_time"] = np.where(np.isnan(asked), columns["requested_time"], asked)
        submit = submit + columns["submit"][0]
    else:
        if hosts.limits_memory:
            columns["requested_memory"] = jobs.memory / jobs.size
        if jobs.user is not None:
            columns["user"] = jobs.user
    columns |= {
        "submit": submit,
        "wait": made.delay,
        "runtime": jobs.runtime,
        "processors": jobs.size,
    }
    for ended, status in ((made.killed, FAILED), (made.cancelled, CANCELLED)):
        if ended is not None:
            columns["status"] = np.where(ended, status, columns["status"])
    if len(hosts.names) > 1:
        columns["partition"] = made.host + 1
        header["Partition"] = [f"{number} {name}" for number, name in enumerate(hosts.names, start=1)]
    pieces = [] if made.pieces is None else [IN_PIECES]
    header |= {
        "MaxJobs": [str(len(jobs))],
        "MaxRecords": [str(len(jobs))],
        "MaxProcs": [str(hosts.total)],
        "Note": ["simulated schedule: wait times differ from the log's", *pieces, *notes, *made.notes],
    }
    swf.write(path, columns, header)
