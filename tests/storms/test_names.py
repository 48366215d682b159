"""Names with characters that terminals, pages and shells obey: refused in one line, or shown as escapes."""

import json
import random
import shutil
from pathlib import Path

import netCDF4
import pytest
from storm import Storm, of_error, verdict

from analysis.errors import AnalysisError
from analysis.study import open_study
from slurm import profile
from sweep.errors import SweepError

PIECES = [
    "\x1b[2J",
    "\n",
    "\r",
    "\x00",
    "\x07",
    "\x9b31m",
    "\u202e",
    "\ud800",
    "`id`",
    "$(id)",
    "'",
    '"',
    "<b>",
    "/../",
    "é",
]
STUDY = (
    *("+experiment=replay", "grid.policy=[easy]", "grid.workload=[synthetic]", "grid.machine=[pe128]"),
    *("grid.load=[0.7]", "replications=1", "batches=2", "batch_size=100", "executor=serial"),
)


def hostile(chance: random.Random) -> str:
    """Return a name with one or two pieces that do not belong into it."""
    return "easy" + "".join(chance.choice(PIECES) for _ in range(chance.choice([1, 2]))) + "x"


def asked(ask, name: str, chance: random.Random) -> tuple[str, object]:
    """Give a name where a command takes one."""
    key = chance.choice(
        ["name", "grid.policy", "policy.ties", "output", "executor", "slurm", "+experiment", "seed"]
    )
    outcome, answer = verdict(lambda: ask(*STUDY, "action=plan", f"{key}={name}"))
    if outcome == "answered":
        outcome = of_error(answer.err) if answer.err else "planned"
        if not answer.out.replace("\n", "").isprintable():
            outcome = "control characters"
    return outcome, f"{key}={name!r}: {answer}"


def of_profile(name: str, chance: random.Random) -> tuple[str, object]:
    """Give a name in a cluster's profile, whose values become lines of a shell script."""
    key = chance.choice(["partition", "account", "qos", "mem", "interface", "mpi", "python"])
    try:
        profile.load("default", {key: name})
    except SweepError as error:
        return of_error(str(error)), f"{key}={name!r}"
    return "taken" if name.isprintable() else "control characters", f"{key}={name!r}"


def of_dataset(name: str, chance: random.Random) -> tuple[str, object]:
    """Have a dataset carry a name, and open it to be drawn."""
    shutil.copy("kept/replay.nc", "stranger.nc")
    name = name.replace("\x00", "").encode("utf-8", "replace").decode()  # netCDF takes neither
    with netCDF4.Dataset("stranger.nc", "a") as file:
        where = chance.choice(["policy", "title", "facts"])
        if where == "policy":
            file.renameVariable("policy", "before")  # its texts are as long as the longest name
            file.createVariable("policy", str, ("policy",))[0] = name
        else:
            file.setncattr(where, name if where == "title" else json.dumps({"notes": [name]}))
    outcome, answer = verdict(lambda: _opened(Path("stranger.nc")))
    if outcome == "answered":
        outcome = (
            of_error(answer)
            if answer
            else "shown"
            if name.replace("\n", "").isprintable()
            else "control characters"
        )
    return outcome, f"{where}={name!r}: {answer}"


def _opened(path: Path) -> str:
    try:
        open_study(path)
    except AnalysisError as error:
        return str(error)
    return ""


def test_names(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(*STUDY, "output=kept").status == 0
    storm = Storm("names", 60, in_full=3000)
    for chance in storm:
        name, way = hostile(chance), chance.choice(["command", "profile", "dataset"])
        if way == "command":
            storm.note(*asked(ask, name, chance))
        else:
            storm.note(*(of_profile if way == "profile" else of_dataset)(name, chance))
    storm.end()
