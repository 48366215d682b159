"""Studies of the fake family, run in this process or as a user would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import xarray as xr

from sweep import cli, config, locate, plan

HERE = Path(__file__).parent
CONF = HERE / "conf"
CONFIG_DIR = f"--config-dir={CONF}"
DEFAULTS = ("+experiment=queue", "executor=serial")


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a working folder and a cache of measured costs of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE.parent.parent), str(HERE)]))


@pytest.fixture
def expand() -> Callable[..., plan.Plan]:
    """Expand the experiment ``queue`` with overrides."""

    def expand(*overrides: str) -> plan.Plan:
        return plan.expand(config.load(("+experiment=queue", *overrides), locate.conf_folder(), CONF))

    return expand


def _overridden(default: str, arguments: Sequence[str]) -> bool:
    name = default.partition("=")[0].lstrip("+")
    return any(argument.lstrip("+").startswith(f"{name}=") for argument in arguments)


@dataclass
class Answer:
    """What a command said."""

    status: int
    out: str
    err: str


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
    """``python -m sweep`` in a process and a session of its own, as from a shell."""

    def __init__(self, *arguments: str, **options: object) -> None:
        # Tests may run in the background, where a shell has Ctrl-C ignored; a user's terminal has not.
        options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "error::ResourceWarning",
                "-m",
                "sweep",
                CONFIG_DIR,
                DEFAULTS[0],
                *arguments,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,  # type: ignore[call-overload] # passed on as they are
        )

    def finish(self) -> Answer:
        out, err = self.process.communicate(timeout=60)
        return Answer(self.process.returncode, out, err)

    def wait_for_results(self, number: int) -> None:
        """Return once so many tasks are logged."""
        deadline = time.monotonic() + 60
        while results() < number:
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"ended too early: {self.finish()}")
            time.sleep(0.01)

    def signal_all(self, number: int) -> None:
        """Signal the whole process group, as a terminal does on Ctrl-C."""
        os.killpg(self.process.pid, number)

    def survivors(self) -> list[str]:
        """Return the processes of the session that still run, waiting up to 15 s for them to end."""
        deadline = time.monotonic() + 15
        while (found := list(_session(self.process.pid))) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found


def _session(session: int) -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            _, _, rest = (entry / "stat").read_text().rpartition(")")
            state, _, _, sid, *_ = rest.split()
            if int(sid) == session and state != "Z":
                yield (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:  # gone in the meantime
            continue


@pytest.fixture
def command() -> Iterator[Callable[..., Command]]:
    """Start commands, and leave none of them running."""
    started: list[Command] = []

    def command(*arguments: str, **options: object) -> Command:
        started.append(Command(*arguments, **options))
        return started[-1]

    yield command
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
        one.finish()


def results(folder: Path = Path("results/queue")) -> int:
    """Return the number of logged tasks."""
    return sum(shard.read_bytes().count(b"\n") for shard in folder.glob("shards/*.jsonl"))


def load(folder: str = "results/queue") -> xr.Dataset:
    """Return the dataset of a results folder."""
    with xr.open_dataset(Path(folder) / "queue.nc") as stored:
        return stored.load()


def numbers(folder: str = "results/queue") -> xr.Dataset:
    """Return all that a study found out: everything but when it was made and how long it took."""
    return load(folder).drop_vars("seconds").drop_attrs(deep=False)
