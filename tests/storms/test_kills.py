"""Runs are killed at any moment: the same command finishes them with the same bits, and cleans up."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from storm import Storm
from study_commands import numbers

MPIEXEC = shutil.which(
    "mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
)
EXECUTORS = {
    "serial": (("executor=serial",), ()),
    "dask": (("executor=dask", "executor.workers=2"), ()),
    **({"mpi": (("executor=mpi",), (MPIEXEC, "-n", "3"))} if MPIEXEC else {}),
}
STUDY = ("replications=1", "policy.seconds=0.05")
LONGEST_S = 4.0
"""A run takes about so long on a quiet machine."""

OWN = {".lock", "config.json", "queue.nc", "shards"}


def test_kills(command, sweep) -> None:
    assert sweep(*STUDY, "output=kept").status == 0
    whole = numbers("kept")
    storm = Storm("kills", 6)
    for number, chance in enumerate(storm):
        shutil.rmtree("results", ignore_errors=True)
        name = list(EXECUTORS)[number % len(EXECUTORS)]
        settings, launcher = EXECUTORS[name]
        run = command(*settings, *STUDY, launcher=launcher)
        delay, whom = chance.uniform(0, LONGEST_S), chance.choice(["all", "first", "one", "SIGTERM to all"])
        time.sleep(delay)
        if whom == "first":
            run.process.kill()
        elif whom == "one" and (pids := list(run._processes())):
            _kill(chance.choice(pids))
        else:
            _kill(-run.process.pid, signal.SIGTERM if whom.startswith("SIGTERM") else signal.SIGKILL)
        answer = run.finish()
        attack = f"{name}, {whom} after {delay:.2f} s: {answer}"
        if "Traceback" in answer.err:
            storm.note("traceback", attack)
        if run.survivors():
            storm.note("left behind", f"processes after {attack}")
        again = sweep(*STUDY)
        if again.status or not numbers().identical(whole):
            storm.note("wrong bits", f"{attack}\n{again}")
        elif left := {path.name for path in Path("results/queue").iterdir()} - OWN:
            storm.note("left behind", f"{left} after {attack}")
        else:
            storm.note(f"{name}: ended by itself" if answer.status == 0 else f"{name}: the same bits", attack)
    storm.end()


def _kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
