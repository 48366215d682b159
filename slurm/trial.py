"""A short job that tries a cluster: submitted, waited for with a limit, and cancelled if it does not come."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slurm.commands import Slurm, UnreachableError
from slurm.profile import Profile
from slurm.reasons import hopeless
from slurm.script import search_path

TIME = "5:00"
"""Asked for, so that the job fits in a gap of the schedule."""

RUN_S = 120
"""Seconds after its start that a job may take: a first import from a slow shared folder is slow."""

GRACE_S = 10
"""Seconds after a job's end until its files must be seen here: network file systems remember for a while."""

SLOWEST_POLL_S = 2.0
"""A controller serves many users: not asked more often than this once a job has waited a little."""


@dataclass(frozen=True)
class End:
    """How a job came out.

    Parameters
    ----------
    answered : bool
        Whether what was waited for came.
    started : bool
        Whether it left the queue.
    running : bool
        Whether it still ran when last heard of.
    after_s : float
        Seconds from submission to the answer, or to giving up.
    text : str
        What Slurm said last, in words; empty where it answered.
    """

    answered: bool
    started: bool
    running: bool
    after_s: float
    text: str = ""


def script(folder: Path, profile: Profile, command: str) -> str:
    """Return a job script that leaves a trace of how far it came.

    Parameters
    ----------
    folder : Path
        Takes the traces ``node`` (the shell runs and can write) and ``setup`` (the setup lines are through).
    profile : Profile
    command : str
        Shell line that does the work.
    """
    there, path = shlex.quote(str(folder)), search_path()
    return "\n".join(
        [
            "#!/bin/bash",
            "# Written by python -m slurm doctor, which removes it again.",
            f"hostname > {there}/node || exit 71",
            *profile.setup,
            f"touch {there}/setup",
            *([f"export PYTHONPATH={shlex.quote(path)}"] if path else []),
            f"exec {command}",
            "",
        ]
    )


def submit(slurm: Slurm, folder: Path, profile: Profile, resources: list[str], command: str) -> int:
    """Submit a job that writes to a folder, and return its id."""
    file = folder / "job.sh"
    file.write_text(script(folder, profile, command))
    # Slurm replaces %-patterns in the name of the log.
    log = str(folder / "job.log").replace("%", "%%")
    options = [*profile.where(), *resources, f"--time={TIME}", "--job-name=doctor", f"--output={log}"]
    return slurm.submit(file, options)


def wait(slurm: Slurm, job: int, answered: Callable[[], bool], wait_s: float, run_s: float = RUN_S) -> End:
    """Wait until a job has answered, has ended without, or can no longer be waited for.

    Parameters
    ----------
    slurm : Slurm
    job : int
    answered : callable
        Looks for the answer, in files: Slurm is only asked why there is none.
    wait_s : float
        Seconds that the job may wait in the queue.
    run_s : float
        Seconds that it then may run.
    """
    begin = time.monotonic()
    started_at: float | None = None
    ended_at: float | None = None
    text, pause = "", 0.1
    while True:
        now = time.monotonic()
        if answered():
            return End(True, True, False, now - begin)
        state, said = _ask(slurm, job)
        text = said or text
        if state == "ended":
            ended_at = ended_at or now
        elif state == "running":
            started_at = started_at or now
        late = (
            (ended_at is not None and now - ended_at > GRACE_S)
            or (started_at is not None and now - started_at > run_s)
            or (started_at is None and ended_at is None and now - begin > wait_s)
        )
        if late or state == "hopeless":
            started = started_at is not None or ended_at is not None
            return End(False, started, started and ended_at is None, now - begin, text)
        time.sleep(pause)
        pause = min(pause * 1.3, SLOWEST_POLL_S)


def _ask(slurm: Slurm, job: int) -> tuple[str, str]:
    """Return how a job is (waiting, hopeless, running, ended, or empty: nobody knows), and that in words."""
    try:
        found = slurm.jobs([job], ended=True)
    except UnreachableError as error:
        return "", str(error)
    if not found:
        return "ended", f"job {job} is gone from Slurm's memory"
    state, reason = found[0].state, found[0].reason
    if state == "PENDING":
        never = hopeless(reason)
        return ("hopeless", f"{reason}: {never}") if never else ("waiting", f"pending, reason {reason}")
    if found[0].ended:
        return "ended", f"ended as {state}" + ("" if reason in ("None", "") else f" ({reason})")
    return "running", f"{state.lower()} on {found[0].node}"
