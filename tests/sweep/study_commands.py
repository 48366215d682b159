"""Studies of the fake family, run in this process or as a user would; fixtures of `conftest.py`."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from sweep import cli
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.plan.data import Plan
from sweep.plan.expansion import expand as expanded
from sweep.store.costs import Costs
from sweep.store.loading import loaded

HERE = Path(__file__).parent
CONF = HERE / "conf"
PYTHON_PATH = os.pathsep.join([str(HERE.parent.parent), str(HERE)])
"""The project, and the fake family."""

LIMIT_S = 600
"""Seconds after which something hangs; all of it takes a twentieth of that on a machine that is not busy."""

CONFIG_DIR = f"--config-dir={CONF}"
DEFAULTS = ("+experiment=queue", "executor=serial")


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a working folder and a cache of measured costs of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", PYTHON_PATH)


@pytest.fixture
def expand() -> Callable[..., Plan]:
    """Expand the experiment ``queue`` with overrides."""

    def expand(*overrides: str) -> Plan:
        return expanded(compose.load(parsed(("+experiment=queue", *overrides)), locate.conf_folder(), [CONF]))

    return expand


@pytest.fixture
def costs(tmp_path: Path) -> Costs:
    """Return costs of a user who has measured nothing yet."""
    return Costs(tmp_path / "none")


def _overridden(default: str, arguments: Sequence[str]) -> bool:
    name = default.partition("=")[0].lstrip("+")
    return any(argument.lstrip("+").startswith(f"{name}=") for argument in arguments)


@dataclass
class Answer:
    """What a command said."""

    status: int
    out: str
    err: str

    def refused(self, says: str, status: int = 2) -> bool:
        """Whether it ended with this status, and one line of an error that says this."""
        is_line = self.err.startswith("error: ") and self.err.count("\n") == 1
        return self.status == status and is_line and says in self.err


@pytest.fixture
def sweep(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run ``python -m sweep +experiment=queue executor=serial ...`` in this process."""

    def sweep(*arguments: str) -> Answer:
        capsys.readouterr()
        given = [*arguments, *(d for d in (*DEFAULTS, CONFIG_DIR) if not _overridden(d, arguments))]
        status = cli.main(given)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return sweep


class Command:
    """``python -m sweep`` in a process and a session of its own, as from a shell.

    Parameters
    ----------
    arguments : str
    launcher : sequence of str
        What comes before ``python``, such as ``mpiexec -n 3``.
    program : sequence of str
        What comes after it.
    """

    def __init__(
        self, *arguments: str, launcher: Sequence[str] = (), program: Sequence[str] = ("-m", "sweep")
    ) -> None:
        self._mark = f"TEST_COMMAND={secrets.token_hex(8)}"
        name, _, value = self._mark.partition("=")
        self.process = subprocess.Popen(
            [
                *launcher,
                sys.executable,
                "-W",
                "error::ResourceWarning",
                *program,
                CONFIG_DIR,
                DEFAULTS[0],
                *arguments,
            ],
            env={**os.environ, name: value},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Tests may run in the background, where a shell has Ctrl-C ignored; a user's terminal has not.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def finish(self) -> Answer:
        out, err = self.process.communicate(timeout=LIMIT_S)
        return Answer(self.process.returncode, out, err)

    def wait_for_results(self, number: int) -> None:
        """Return once this number of tasks is logged."""
        self._wait_until(lambda: results() >= number)

    def wait_for_worker(self) -> int:
        """Return the process number of a worker, or of what is about to be one, as soon as there is any."""
        found: set[int] = set()

        def is_there() -> bool:
            found.update(self._forked())
            return bool(found)

        self._wait_until(is_there)
        return min(found)

    def _forked(self) -> set[int]:
        """Return the processes that the fork server has forked."""
        lines = self._processes()
        servers = {pid for pid, line in lines.items() if "forkserver" in line}
        found = set()
        for pid in servers:
            with suppress(OSError):  # it has ended in the meantime
                parent = int(
                    Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
                )
                found |= {pid} if parent in servers else set()
        return found

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while True:
            has_ended = self.process.poll() is not None  # first: what it did at the very end counts, too
            if condition():
                return
            if has_ended or time.monotonic() > deadline:
                if not has_ended:
                    self.signal_all(signal.SIGKILL)
                pytest.fail(f"{'ended too early' if has_ended else 'takes too long'}: {self.finish()}")
            time.sleep(0.01)

    def signal_all(self, number: int) -> None:
        """Signal the whole process group, as a terminal does on Ctrl-C."""
        os.killpg(self.process.pid, number)

    def survivors(self) -> list[str]:
        """Return the processes of the command that still run, after waiting for them to end."""
        deadline = time.monotonic() + LIMIT_S / 3
        while (found := list(self._processes().values())) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def end(self) -> None:
        """Leave no process of it behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        for pid in self._processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.finish()

    def _processes(self) -> dict[int, str]:
        """Return pid -> command line of all processes, whatever session they are in, that carry its mark."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:  # gone in the meantime, or another user's
                continue
        return found


@pytest.fixture
def command() -> Iterator[Callable[..., Command]]:
    """Start commands, and leave none of them running."""
    started: list[Command] = []

    def command(*arguments: str, **options: Any) -> Command:
        started.append(Command(*arguments, **options))
        return started[-1]

    yield command
    for one in started:
        one.end()


@pytest.fixture
def serial(sweep: Callable[..., Answer]) -> Callable[..., xr.Dataset]:
    """Return what a study finds out in one process."""

    def serial(*arguments: str) -> xr.Dataset:
        assert sweep(*arguments, "output=serial").status == 0
        return numbers("serial").drop_attrs()

    return serial


def results() -> int:
    """Return the number of logged tasks."""
    return sum(shard.read_bytes().count(b"\n") for shard in Path("results/queue").glob("shards/*.jsonl"))


def load(folder: str = "results/queue") -> xr.Dataset:
    """Return the dataset of a results folder."""
    with loaded(Path(folder) / "queue.nc") as stored:
        return stored.load()


def numbers(folder: str = "results/queue") -> xr.Dataset:
    """Return all that a study found out: everything but when it was made and how long it took."""
    return load(folder).drop_vars("seconds").drop_attrs(deep=False)
