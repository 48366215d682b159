"""Runs are killed at any moment: the same command finishes them with the same bits, and cleans up."""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("name", EXECUTORS)
def test_kills(name: str, command, sweep) -> None:
    assert sweep(*STUDY, "output=kept").status == 0
    whole = numbers("kept")
    storm = Storm(f"kills {name}", 2, in_full=340)
    for chance in storm:
        shutil.rmtree("results", ignore_errors=True)
        settings, launcher = EXECUTORS[name]
        run = command(*settings, *STUDY, launcher=launcher)
        delay, whom = chance.uniform(0, LONGEST_S), chance.choice(["all", "first", "one", "SIGTERM to all"])
        time.sleep(delay)
        if whom == "first":
            run.process.kill()
        elif whom == "one" and (pids := _killable(run._processes())):
            _kill(chance.choice(pids))
        else:
            _kill(-run.process.pid, signal.SIGTERM if whom.startswith("SIGTERM") else signal.SIGKILL)
        answer = run.finish()
        attack = f"{whom} after {delay:.2f} s: {answer}"
        # Tests turn warnings into errors, here pathlib's, whose folder a signal leaves open.
        if "Traceback" in answer.err and "ResourceWarning: unclosed scandir" not in answer.err:
            storm.note("traceback", attack)
        if run.survivors():
            storm.note("left behind", f"processes after {attack}")
        again = sweep(*STUDY)
        if again.status or not numbers().identical(whole):
            storm.note("wrong bits", f"{attack}\n{again}")
        elif left := {path.name for path in Path("results/queue").iterdir()} - OWN:
            storm.note("left behind", f"{left} after {attack}")
        else:
            storm.note("ended by itself" if answer.status == 0 else "the same bits", attack)
    storm.end()


def _killable(processes: dict[int, str]) -> list[int]:
    """Leave out Python's own tracker of semaphores: without it Python prints a traceback and goes on."""
    return [pid for pid, line in processes.items() if "resource_tracker" not in line]


def _kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
