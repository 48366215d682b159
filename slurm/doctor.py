"""``python -m slurm doctor``: one line a check, before a night is lost."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import re
import secrets
import shlex
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from slurm import arguments, checks, probe, profile, trial
from slurm.checks import Address, Finding
from slurm.commands import Slurm, SlurmError
from slurm.profile import Profile
from sweep.store.provenance import versions

DEFAULTS = {"profile": "default", "folder": "results", "wait_s": "120"}

LITTLE_MB = 200
"""Free space below which a warning is due."""

MPI_S = 60
"""Seconds after its start that the MPI job may take; its imports come after those of the other job."""

SCRATCH = ".doctor-"
"""Beginning of the name of the folder in the results' folder that takes the jobs' answers."""

YOUNG_S = 60
"""Seconds in which another doctor may not have locked its folder yet."""

END_S = 10
"""Seconds that a cancelled job may take to end, before its files are removed all the same."""

HELP = """\
usage: python -m slurm doctor [profile=default] [folder=results] [wait_s=120]

Looks at a Slurm cluster as a sweep will use it, and submits one short job (two where mpi4py is installed).
One line a check: ok, warning, wrong (with what to do) or skipped. Exit status 1 if anything is wrong.

  profile=NAME  a profile of slurm/profiles ({names}), or the path of a YAML file
  folder=DIR    where results will be: every node has to see it
  wait_s=N      seconds that the job may wait in the queue before it is cancelled"""


def main(given: Sequence[str]) -> int:
    """Print findings as they come and return 1 if anything is wrong, else 0."""
    if {"-h", "--help"}.intersection(given):
        print(HELP.format(names=", ".join(profile.names())))
        return 0
    options = arguments.parse(given, DEFAULTS)
    wait_s = arguments.positive("wait_s", options["wait_s"])
    chosen = profile.load(options["profile"])
    levels = []
    with closing(examine(chosen, Path(options["folder"]).expanduser().absolute(), wait_s)) as findings:
        for finding in findings:
            print(finding, flush=True)
            levels.append(finding.level)
    count = f"wrong: {levels.count('wrong')}, warnings: {levels.count('warning')}"
    if "wrong" in levels:
        print(f"\n{count}; put right what is wrong and ask again")
        return 1
    print(f"\n{count}; ready for executor=slurm slurm={options['profile']}")
    return 0


def examine(chosen: Profile, folder: Path, wait_s: float, slurm: Slurm | None = None) -> Generator[Finding]:
    """Yield findings, the cheap and fundamental first. However it is left, no job and no file stays behind.

    Parameters
    ----------
    chosen : Profile
    folder : Path
        Absolute; made for the time being if it does not exist.
    wait_s : float
        Seconds that a job may be pending.
    slurm : Slurm, optional
        The cluster; by default the one that Slurm's own programs find.
    """
    slurm = slurm or Slurm()
    hopeful = True
    for finding in _cluster(slurm, chosen):
        hopeful &= finding.level != "wrong"
        yield finding
    with ExitStack() as stack:
        try:
            scratch = _scratch(folder, stack)
            free_mb = shutil.disk_usage(scratch).free / 1e6
            if free_mb < LITTLE_MB:
                yield Finding("warning", "space", f"{free_mb:.0f} MB left in {folder}; make room")
            if hopeful:
                yield from _jobs(slurm, chosen, scratch, wait_s, stack)
            else:
                yield Finding("ok", "folder", f"{folder} can be written from here")
        except OSError as error:
            hopeful = False
            text = error.strerror or str(error)
            yield Finding("wrong", "folder", f"{folder}: {text}; give one that can be written, folder=FOLDER")
        if not hopeful:
            yield Finding("skipped", "job", "not tried before the above is put right")


def _cluster(slurm: Slurm, chosen: Profile) -> Iterator[Finding]:
    try:
        limits = slurm.limits(chosen.qos)
        yield Finding("ok", "slurm", f"cluster {limits.cluster} answers, version {limits.version}")
        yield checks.limits(limits, chosen)
        yield checks.partitions(slurm.partitions(), chosen)
    except SlurmError as error:
        yield Finding("wrong", "slurm", str(error))


def _scratch(folder: Path, stack: ExitStack) -> Path:
    """Make a folder in the results' folder; both go when the stack is left, if the latter was not there."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    stack.callback(_remove_empty, new)
    folder.mkdir(parents=True, exist_ok=True)
    for left_behind in folder.glob(f"{SCRATCH}*"):
        if _is_dead(left_behind):
            shutil.rmtree(left_behind, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=folder))
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    return scratch


def _is_dead(scratch: Path) -> bool:
    """Whether a folder is of a doctor of this user that was killed: such a one holds no lock any more."""
    try:
        if scratch.stat().st_uid != os.getuid() or time.time() - scratch.stat().st_mtime < YOUNG_S:
            return False
        with (scratch / "look" / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:  # held, or no locks here
        return False
    return True


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _jobs(slurm: Slurm, chosen: Profile, scratch: Path, wait_s: float, stack: ExitStack) -> Iterator[Finding]:
    """Submit the jobs, wait for their answers, and check these."""
    token, listening = secrets.token_hex(8), _listen(chosen.interface, stack)
    look, mpi = scratch / "look", scratch / "mpi"
    for path in (look, mpi):
        path.mkdir()
    lock = stack.enter_context((look / "lock").open("w"))
    with suppress(OSError):  # a file system without locks: no node sees one either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (look / "request.json").write_text(json.dumps({"token": token, "addresses": listening}))
    python = shlex.quote(chosen.python or sys.executable)
    has_mpi = mpi_is_installed()
    submitted: list[int] = []
    stack.callback(_cancel, slurm, submitted)
    try:
        command = f"{python} -P -m slurm.probe {shlex.quote(str(look))}"
        submitted.append(trial.submit(slurm, look, chosen, chosen.resources(), command))
        if has_mpi:
            kind = f" --mpi={chosen.mpi}" if chosen.mpi else ""
            # Killed with the first rank that fails: the others would wait for it.
            command = (
                f"srun --kill-on-bad-exit=1{kind} {python} -P -m slurm.probe {shlex.quote(str(mpi))} mpi"
            )
            two = ["--ntasks=2", "--cpus-per-task=1"]
            submitted.append(trial.submit(slurm, mpi, chosen, two, command))
    except SlurmError as error:
        yield Finding("wrong", "job", str(error))
        return
    end = trial.wait(slurm, submitted[0], (look / "answer.json").exists, wait_s)
    if not end.answered:
        yield _silence(end, look, scratch.parent, chosen)
        return
    answer = json.loads((look / "answer.json").read_text())
    yield Finding("ok", "job", f"started and answered within {end.after_s:.1f} s on {answer['node']}")
    if answer["token"] == token:
        yield Finding("ok", "folder", f"{scratch.parent} is the same one on {answer['node']}")
    here = {"versions": versions(), "sources": probe.sources()}
    yield from checks.answer(answer, here, chosen, listening)
    if not has_mpi:
        yield Finding("ok", "mpi", "mpi4py is not installed: no executor=mpi; executor=slurm does without")
        return
    end = trial.wait(slurm, submitted[1], lambda: len(_ranks(mpi)) == 2, wait_s, MPI_S)
    if end.answered:
        yield checks.world([json.loads(file.read_text()) for file in _ranks(mpi)], chosen)
    else:
        said = end.text if not end.started else _first_error(mpi / "job.log") or end.text
        yield checks.no_world(said, chosen)


def mpi_is_installed() -> bool:
    """Whether this Python could run executor=mpi."""
    return importlib.util.find_spec("mpi4py") is not None


def _ranks(folder: Path) -> list[Path]:
    return sorted(folder.glob("rank.*.json"))


def _listen(interface: str | None, stack: ExitStack) -> list[Address]:
    """Listen on the named interface, or on all that lead out of this machine, and return the addresses.

    The kernel accepts connections to a port that is listened on, so nobody has to.
    """
    import psutil  # type: ignore[import-untyped]

    found: list[Address] = []
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    for name, addresses in psutil.net_if_addrs().items():
        outward = name == interface if interface else not addresses[0].address.startswith("127.")
        for address in addresses:
            if outward and name in up and address.family == socket.AF_INET:
                listener = stack.enter_context(socket.socket())
                listener.bind((address.address, 0))
                listener.listen()
                found.append((name, address.address, listener.getsockname()[1]))
    return found


def _silence(end: trial.End, there: Path, folder: Path, chosen: Profile) -> Finding:
    """Say what it means that a job did not answer, from how far it came."""
    if not end.started:
        text = f"not started after {end.after_s:.0f} s, cancelled: {end.text or 'Slurm gives no reason'}"
        return Finding("wrong", "job", text)
    said = next(reversed(_lines(there / "job.log")), "nothing in its log")
    if not (there / "node").exists():
        text = f"a job {end.text} and left nothing in {folder}: compute nodes do not see it, or cannot write "
        return Finding("wrong", "folder", text + "there; give a shared one, folder=FOLDER")
    node = (there / "node").read_text().strip()
    if end.running and not (there / "setup").exists():
        text = f"a job is {end.text}, but not through the profile's setup lines: {said}"
        return Finding("wrong", "setup", text)
    if not (there / "setup").exists():
        return Finding("wrong", "setup", f"the profile's setup lines end the job on {node}: {said}")
    if end.running:
        return Finding("wrong", "python", f"still starting on {node} after {trial.RUN_S} s: {said}")
    python = chosen.python or sys.executable
    return Finding("wrong", "python", f"{python} on {node}: {said}; set python or setup in the profile")


def _lines(log: Path) -> list[str]:
    text = log.read_text(errors="replace") if log.exists() else ""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _first_error(log: Path) -> str:
    lines = _lines(log)
    telling = [line for line in lines if re.search("error|abort|fatal|invalid", line, re.IGNORECASE)]
    return next(iter(telling or lines), "")


def _cancel(slurm: Slurm, jobs: list[int]) -> None:
    """Cancel jobs, and wait a little for their end: NFS does not remove files that they hold open."""
    try:
        slurm.cancel(jobs)
        deadline = time.monotonic() + END_S
        while any(not job.ended for job in slurm.jobs(jobs)) and time.monotonic() < deadline:
            time.sleep(0.1)
    except SlurmError as error:
        print(f"warning: scancel {' '.join(map(str, jobs))} later: {error}", file=sys.stderr)
