"""``python -m slurm doctor``: check a cluster before a long sweep uses it, with one line for each check.

The rules are in `slurm.checks` and the job is `slurm.probe`; this module submits it and waits for it.
"""

import fcntl
import importlib.util
import json
import re
import secrets
import shlex
import shutil
import socket
import struct
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from slurm import checks, probe
from slurm.checks import Address, Finding
from slurm.commands import Slurm, SlurmError, UnreachableError
from slurm.profile import Profile
from slurm.reasons import hopeless
from slurm.script import log_option, search_path
from sweep.store.provenance import versions

LITTLE_MB = 200
"""Free space below which there is a warning."""

TIME = "5:00"
"""Time limit of the jobs, short enough for a gap in the schedule."""

RUN_S = 120
"""Seconds after its start that a job may take: a first import from a slow shared folder is slow."""

MPI_S = 60
"""The same for the MPI job, which finds warm caches because it imports after the first job."""

GRACE_S = 10
"""Seconds after a job's end until its files must be visible here: network file systems cache."""

POLL_S = 1.0
"""Seconds between two queries: a controller serves many users."""

END_S = 10
"""Seconds that a cancelled job may take to end before its files are removed anyway."""

SIOCGIFCONF, SIOCGIFFLAGS, IFF_RUNNING = 0x8912, 0x8913, 0x40
"""Linux: the requests for all interfaces with addresses and for the flags of one; the flag for running."""

SIZE_IFREQ, N_IFREQ = 40, 256
"""Bytes of a ``struct ifreq`` on 64 bits, and how many addresses are read at most."""


def examine(chosen: Profile, folder: Path, wait_s: float, slurm: Slurm | None = None) -> Generator[Finding]:
    """Yield findings, the cheap and fundamental ones first. No job and no file remains, even after an error.

    Parameters
    ----------
    folder : Path
        Absolute path; the folder is made temporarily if it does not exist.
    wait_s : float
        Seconds that a job may be pending.
    slurm : Slurm, optional
        The default is the cluster that Slurm's own programs find.
    """
    slurm = slurm or Slurm()
    hopeful = True
    for finding in _cluster(slurm, chosen):
        hopeful &= finding.level != "wrong"
        yield finding
    with ExitStack() as stack:
        try:
            for path in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
                path.mkdir()
                stack.callback(_remove_empty, path)
            scratch = Path(tempfile.mkdtemp(prefix=".doctor-", dir=folder))
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
            free_mb = shutil.disk_usage(scratch).free / 1e6
            if free_mb < LITTLE_MB:
                yield Finding("warning", "space", f"{free_mb:.0f} MB left in {folder}; remove files")
            if hopeful:
                yield from _jobs(slurm, chosen, scratch, wait_s, stack)
            else:
                yield Finding("ok", "folder", f"{folder} can be written from here")
        except OSError as error:
            hopeful = False
            text = error.strerror or str(error)
            yield Finding("wrong", "folder", f"{folder}: {text}; give one that can be written, folder=FOLDER")
        if not hopeful:
            yield Finding("skipped", "job", "not submitted until the above is corrected")


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _cluster(slurm: Slurm, chosen: Profile) -> Iterator[Finding]:
    try:
        limits = slurm.limits(chosen.qos)
        yield Finding("ok", "slurm", f"cluster {limits.cluster} answers, version {limits.version}")
        yield checks.limits(limits, chosen)
        yield checks.partitions(slurm.partitions(), chosen)
    except SlurmError as error:
        yield Finding("wrong", "slurm", str(error))


def _jobs(slurm: Slurm, chosen: Profile, scratch: Path, wait_s: float, stack: ExitStack) -> Iterator[Finding]:
    """Submit the jobs, wait for their answers, and check these."""
    token, listening = secrets.token_hex(8), _listen(chosen.interface, stack)
    node, mpi = scratch / "node", scratch / "mpi"
    node.mkdir()
    mpi.mkdir()
    lock = stack.enter_context((node / "lock").open("w", encoding="utf-8"))
    with suppress(OSError):  # the file system has no locks, so no node detects one either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (node / "request.json").write_text(json.dumps({"token": token, "addresses": listening}), encoding="utf-8")
    command = f"{chosen.interpreter} -P -m slurm.probe"
    node_there, mpi_there = (f"{command} {shlex.quote(str(path))}" for path in (node, mpi))
    has_mpi = mpi_is_installed()
    submitted: list[int] = []
    stack.callback(_cancel, slurm, submitted)
    try:
        submitted.append(_submit(slurm, node, chosen, chosen.resources(), node_there))
        if has_mpi:
            kind = f" --mpi={chosen.mpi}" if chosen.mpi else ""
            # All ranks are killed when the first one fails, because the others would wait for it.
            ranks = f"srun --kill-on-bad-exit=1{kind} {mpi_there} mpi"
            submitted.append(_submit(slurm, mpi, chosen, ["--ntasks=2", "--cpus-per-task=1"], ranks))
    except SlurmError as error:
        yield Finding("wrong", "job", str(error))
        return
    end = _wait(slurm, submitted[0], (node / "answer.json").exists, wait_s)
    if not end.answered:
        yield _no_answer(end, node, scratch.parent, chosen)
        return
    answer = json.loads((node / "answer.json").read_text(encoding="utf-8"))
    yield Finding("ok", "job", f"started and answered within {end.after_s:.1f} s on {answer['node']}")
    if answer["token"] == token:
        yield Finding("ok", "folder", f"{scratch.parent} is the same folder on {answer['node']}")
    here = {"versions": versions(), "sources": probe.sources()}
    yield from checks.answer(answer, here, chosen, listening)
    if not has_mpi:
        yield Finding("ok", "mpi", "mpi4py is not installed; only executor=mpi needs it")
        return
    end = _wait(slurm, submitted[1], lambda: len(list(mpi.glob("rank.*.json"))) == 2, wait_s, MPI_S)
    if end.answered:
        answers = [json.loads(file.read_text(encoding="utf-8")) for file in mpi.glob("rank.*.json")]
        yield checks.world(answers, chosen)
    else:
        lines = _lines(mpi / "job.log") if end.started else []
        errors = [line for line in lines if re.search("error|abort|fatal|invalid", line, re.IGNORECASE)]
        yield checks.no_world(next(iter(errors or lines), end.text), chosen)


def mpi_is_installed() -> bool:
    """Return whether this Python could run executor=mpi."""
    return importlib.util.find_spec("mpi4py") is not None


def _listen(interface: str | None, stack: ExitStack) -> list[Address]:
    """Listen on the named interface, or on all that lead out of this machine, and return the addresses.

    The kernel accepts connections to a listening port, so this process does not have to.
    """
    found: list[Address] = []
    for name, address in _addresses():
        if name == interface if interface else not address.startswith("127."):
            listener = stack.enter_context(socket.socket())
            listener.bind((address, 0))
            listener.listen()
            found.append((name, address, listener.getsockname()[1]))
    return found


def _addresses() -> Iterator[tuple[str, str]]:
    """Yield the running interfaces of this machine, with each of their IPv4 addresses.

    Linux fills an array of ``struct ifreq``, see netdevice(7): a name, then an address or flags.
    """
    room = array("b", bytes(N_IFREQ * SIZE_IFREQ))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        ifconf = struct.pack("iP", len(room), room.buffer_info()[0])
        (filled,) = struct.unpack_from("i", fcntl.ioctl(asked, SIOCGIFCONF, ifconf))
        for begin in range(0, filled, SIZE_IFREQ):
            request = room[begin : begin + SIZE_IFREQ].tobytes()
            (flags,) = struct.unpack_from("H", fcntl.ioctl(asked, SIOCGIFFLAGS, request), 16)
            if flags & IFF_RUNNING:
                name = request[:16].split(b"\0")[0].decode()
                yield name.partition(":")[0], socket.inet_ntoa(request[20:24])


def _submit(slurm: Slurm, folder: Path, profile: Profile, resources: list[str], command: str) -> int:
    """Submit a job that executes a command and return its id.

    The job leaves the files ``node`` (the shell runs and can write) and ``setup`` (the profile's setup lines
    are done) in the folder, so that a job without an answer shows how far it ran.
    """
    path, here = search_path(), shlex.quote(str(folder))
    lines = [
        "#!/bin/bash",
        f"hostname > {here}/node || exit 71",
        *profile.setup,
        f"touch {here}/setup",
        *([f"export PYTHONPATH={shlex.quote(path)}"] if path else []),
        f"exec {command}",
    ]
    file = folder / "job.sh"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = [f"--time={TIME}", "--job-name=doctor", log_option(folder, "job.log")]
    return slurm.submit(file, [*profile.where(), *resources, *options])


class _End(NamedTuple):
    """How a job ended: `running` at the last query, `after_s` seconds from its submission."""

    answered: bool
    started: bool
    running: bool
    after_s: float
    text: str = ""


def _wait(slurm: Slurm, job: int, answered: Callable[[], bool], wait_s: float, run_s: float = RUN_S) -> _End:
    """Wait until a job has answered (by its files), has ended without an answer, or is late.

    It may be pending for `wait_s` seconds and then run for `run_s` seconds.
    """
    begin, text = time.monotonic(), ""
    since: dict[str, float] = {}  # state -> when it was first seen
    while not answered():
        state, found = _state(slurm, job)
        text, now = found or text, time.monotonic()
        since.setdefault(state, now)
        started = bool({"running", "ended"}.intersection(since))
        late = (
            state == "hopeless"
            or now - since.get("ended", now) > GRACE_S
            or now - since.get("running", now) > run_s
            or (not started and now - begin > wait_s)
        )
        if late:
            return _End(False, started, started and "ended" not in since, now - begin, text)
        time.sleep(POLL_S)
    return _End(True, True, False, time.monotonic() - begin, text)


def _state(slurm: Slurm, job: int) -> tuple[str, str]:
    """Return a job's state (waiting, hopeless, running, ended or unknown), and a description of it."""
    try:
        found = slurm.jobs([job], ended=True)
    except UnreachableError as error:
        return "unknown", str(error)
    if not found:
        return "ended", f"Slurm no longer knows job {job}"
    state, reason = found[0].state, found[0].reason
    if state == "PENDING":
        never = hopeless(reason)
        return ("hopeless", f"{reason}: {never}") if never else ("waiting", f"pending, reason {reason}")
    if found[0].ended:
        return "ended", f"ended as {state}" + ("" if reason in ("None", "") else f" ({reason})")
    return "running", f"{state.lower()} on {found[0].node}"


def _no_answer(end: _End, job: Path, folder: Path, chosen: Profile) -> Finding:
    """Return why a job did not answer, judged by how far it ran."""
    if not end.started:
        text = f"not started after {end.after_s:.0f} s, cancelled: {end.text or 'Slurm gives no reason'}"
        return Finding("wrong", "job", text)
    last = next(reversed(_lines(job / "job.log")), "its log is empty")
    if not (job / "node").exists():
        text = f"a job {end.text} and left no file in {folder}: compute nodes do not have it or cannot write "
        return Finding("wrong", "folder", text + "there; give a shared one, folder=FOLDER")
    node = (job / "node").read_text(encoding="utf-8").strip()
    if not (job / "setup").exists():
        how = f"have not ended ({end.text})" if end.running else f"end the job on {node}"
        return Finding("wrong", "setup", f"the profile's setup lines {how}: {last}")
    if end.running:
        return Finding("wrong", "python", f"still starting on {node} after {RUN_S} s: {last}")
    python = chosen.python or sys.executable
    return Finding("wrong", "python", f"{python} on {node}: {last}; set python or setup in the profile")


def _lines(log: Path) -> list[str]:
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _cancel(slurm: Slurm, jobs: list[int]) -> None:
    """Cancel jobs and wait briefly for their end: NFS does not remove files that they hold open."""
    try:
        slurm.cancel(jobs)
        deadline = time.monotonic() + END_S
        while any(not job.ended for job in slurm.jobs(jobs)) and time.monotonic() < deadline:
            time.sleep(0.1)
    except SlurmError as error:
        print(f"warning: scancel {' '.join(map(str, jobs))} later: {error}", file=sys.stderr)
