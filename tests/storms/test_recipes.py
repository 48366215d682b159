"""Datasets of strangers: whatever they say, a rerun and an analysis run no code and answer in one line."""

import copy
import json
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import netCDF4
import pytest
from storm import Storm, of_error, verdict

STUDY = (
    *("+experiment=replay", "grid.policy=[easy]", "grid.workload=[synthetic]", "grid.machine=[pe128]"),
    *("grid.load=[0.7]", "replications=1", "batches=2", "batch_size=100", "measures.groups=[size]"),
)
READ_BY = {"rerun": ["recipe", "recipe", "config"], "analysis": ["config", "facts", "versions", "families"]}
COMMANDS = {
    "rerun": ("rerun", "stranger.nc", "action=plan", "executor=serial"),
    "analysis": ("analysis", "stranger.nc", "output=shown"),
}
CODE = "open('has_run', 'w').close()\n"
VALUES: list[Any] = [
    *(None, True, -1, 0, 1.5, 1e308, 10**30, float("nan"), "", "x", "???", [], {}, [1], {"a": 1}, [["x"]]),
    *("\x1b[31mred", "a\nb", "../x", "/etc/passwd", "~/.ssh/id_rsa", "${oc.env:HOME}", "${nope}", "$(id)"),
    *(
        "evilpkg",
        "evilpkg.f",
        "${oc.decode:evilpkg}",
        "evil${x}",
        "policy.family",
        ["evilpkg"],
        "os.system",
        "__main__.main",
        "models.evil",
        {"": [["a", 1]]},
        {"": 5},
    ),
]
KEYS = ["x", "", "../x", "a\nb", "\x1b[2J", "path", "family", "schedule", "output", "executor"]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in JSON."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*at, key))


def changed(data: Any, chance: random.Random) -> tuple[Any, str]:
    """Return JSON with one change, and that in words."""
    at = chance.choice(list(places(data)))
    new = copy.deepcopy(data)
    value, how = chance.choice(VALUES), chance.random()
    if not at:
        return value, f"all = {value!r}"
    *above, last = at
    target = new
    for key in above:
        target = target[key]
    if how < 0.15:
        del target[last]
        return new, f"{at} deleted"
    if how < 0.35 and isinstance(target[last], dict):
        key = chance.choice(KEYS)
        target[last][key] = value
        return new, f"{at} has {key!r} = {value!r}"
    target[last] = value
    return new, f"{at} = {value!r}"


def change_variable(file: netCDF4.Dataset, chance: random.Random) -> str:
    """Change an attribute or the first value of a variable, or its name, and return that in words."""
    home = chance.choice([file, *file.groups.values()])
    name = chance.choice(list(home.variables))
    variable, how = home[name], chance.choice(["attribute", "attribute", "value", "name"])
    if how == "name":
        home.renameVariable(name, new := chance.choice(["x", "load", "wait", "state"]) + "_")
        return f"{name} becomes {new}"
    if how == "value":
        value: Any = (
            chance.choice(["x", "", "a\nb", "../x", "\x1b[2J", "<script>"])
            if variable.dtype is str
            else chance.choice(
                [0, 1, 7, 100] + [-1, 1e300, float("nan"), float("inf")] * (variable.dtype.kind == "f")
            )
        )
        variable[(0,) * variable.ndim] = value
        return f"{name}[0] = {value!r}"
    key = chance.choice([*variable.ncattrs(), "units", "calendar", "weight", "scale_factor", "dtype"])
    value = chance.choice(
        ["", "x", "s", "days since 2000-01-01", "<b>", "wait", 5, -1.5, float("nan"), [1, 2, 3]]
    )
    if key != "_FillValue":
        variable.setncattr(key, value)
    return f"{name}:{key} = {value!r}"


@pytest.mark.parametrize("by", ["rerun", "analysis"])
def test_recipes(by: str, ask, tmp_path, monkeypatch) -> None:
    assert ask(*STUDY, "output=kept", "executor=serial").status == 0
    with netCDF4.Dataset("kept/replay.nc") as file:
        kept = {name: json.loads(file.getncattr(name)) for name in READ_BY[by]}
    Path("evilpkg").mkdir()
    Path("evilpkg/__init__.py").write_text(f"{CODE}\n\ndef f(*_):\n    {CODE}", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    storm = Storm(f"by {by}", 25, in_full=1000)
    for chance in storm:
        name = chance.choice(READ_BY[by])
        shutil.copy("kept/replay.nc", "stranger.nc")
        with netCDF4.Dataset("stranger.nc", "a") as file:
            if by == "analysis" and chance.random() < 0.4:
                attack = change_variable(file, chance)
            else:
                data, attack = changed(kept[name], chance)
                file.setncattr(name, json.dumps(data))
        outcome, answer = verdict(lambda: ask(*COMMANDS[by]))
        if Path("has_run").exists():
            Path("has_run").unlink()
            outcome = "code has run"
        elif outcome == "answered":
            outcome = of_error(answer.err) if answer.err else "answered"
            if not answer.out.replace("\n", "").isprintable():
                outcome = "control characters"
        storm.note(outcome, f"{name}: {attack}\n{answer}")
    left = {path.name for path in tmp_path.iterdir()} - {"cache", "shown"}
    assert left == {"evilpkg", "kept", "stranger.nc"}
    storm.end()
