"""Operators' commands: "suspend, resume, kill, and change job class" (Jette 1997). Loads no kernel."""

import re
from collections.abc import Iterator
from math import nan

import numpy as np

from models import checks
from models.arrays import Floats
from models.jobs.calendar import DAY
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.jobs import Jobs
from models.point import Parameters

SUSPEND, RESUME, KILL, CLASS = range(4)
ACTIONS = ("suspend", "resume", "kill", "class")

COMMAND = np.dtype(
    [(name, np.float64) for name in ("time", "done")]
    + [(name, np.int64) for name in ("action", "number", "job", "job_class", "former")],
    align=True,
)
"""A command: when it is given, and when it took effect (NaN: it did not), seconds; index into `ACTIONS`; the
job's number from 1 on in order of submission, and its position in the workload once the command has taken
effect; the class to change to, and the one before."""

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
FORM = re.compile(rf"(\d+\.?\d*)([smhd])\s+({'|'.join(ACTIONS)})\s+(\d{{1,15}})(?:\s+([a-z]+))?", re.ASCII)
LATEST_S = 1e9
"""Latest time of a command, three decades after the beginning."""

ALLOWED = (
    "a time since the beginning of the run, an operation, and the number of a job on the gangster display, "
    "as in '1h suspend 17', '90m resume 17', '2h kill 17', '1.5d class 17 standby'; "
    f"units are s, m, h, d, up to {LATEST_S:g} s, and classes {', '.join(JOB_CLASSES)}"
)


def commands_of(policy: Parameters, where: str, key: str) -> np.ndarray:
    """Return the checked commands in order of time, shape (n_commands,)."""
    given, key = policy[key], f"{where}.{key}"
    if not isinstance(given, list):
        checks.refuse(key, given, f"a list of commands, each {ALLOWED}")
    rows = []
    for place, text in enumerate(given):
        found = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        time, unit, action, number, to_class = found.groups() if found else ("0", "s", "", "0", None)
        seconds = float(time) * UNITS[unit]
        if (
            seconds > LATEST_S
            or int(number) == 0
            or to_class not in (JOB_CLASSES if action == "class" else (None,))
        ):
            checks.refuse(f"{key}[{place}]", text, ALLOWED)
        if action == "suspend" and not policy["preemptive"]:
            raise ValueError(
                f"{key}: {text}: with {where}.preemptive=false jobs keep their processors; leave it out, or "
                "take a policy that preempts, such as llnl_gang"
            )
        job_class = JOB_CLASSES.index(to_class) if to_class else -1
        rows.append((seconds, nan, ACTIONS.index(action), int(number), -1, job_class, -1))
    rows.sort(key=lambda row: row[0])
    last = {row[3]: row[2] for row in rows if row[2] != CLASS}
    if left := [job for job, action in last.items() if action == SUSPEND]:
        raise ValueError(
            f"{key}: job {left[0]} is suspended and never resumed, so the run would not end; add "
            f"a later '... resume {left[0]}' or '... kill {left[0]}'"
        )
    return np.array(rows, COMMAND)


def check_commands(commands: np.ndarray, jobs: Jobs, known: bool) -> None:
    """Raise ``ValueError`` with one line for a missing job; `known`: submission times are fixed."""
    for one in commands:
        what = f"policy.commands: {ACTIONS[one['action']]} {one['number']}"
        if one["number"] > len(jobs):
            raise ValueError(f"{what}: the last job of the workload is number {len(jobs)}")
        submit = jobs.submit[one["number"] - 1]
        if known and submit >= one["time"]:
            raise ValueError(f"{what}: the job is submitted at {submit:g} s, not before {one['time']:g} s")


def without_effect(commands: np.ndarray, end: Floats) -> Iterator[str]:
    """Yield a line for each command without effect; `end` has the jobs' ends in order of submission."""
    for one in commands[np.isnan(commands["done"])]:
        ended = end[one["number"] - 1 : one["number"]]
        late = [f"too late, the job ended at {at:.10g} s" for at in ended if at <= one["time"]]
        command = f"{one['time']:.10g}s {ACTIONS[one['action']]} {one['number']}"
        yield f"policy.commands: {command} had no effect: {', '.join(late) or 'nothing to do'}"
