"""How this environment differs from the one that a dataset was made in: a line each, with what to do."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from models.dotted import OURS
from sweep.config.settings import OF_THE_RUN
from sweep.plan import canonical
from sweep.plan.plan import Plan
from sweep.rerun.original import Original
from sweep.store import manifest, provenance

DIRTY = "-dirty"
"""Ends the commit of a checkout with changes of its own."""

MOST = 5
"""Keys of a config that are listed."""


def differences(original: Original, plan: Plan) -> Iterator[str]:
    """Yield what may change a number: packages, code, and settings that mean something else here."""
    yield from _packages(original)
    yield from _code(original, plan)
    yield from _settings(original, plan)


def _packages(original: Original) -> Iterator[str]:
    here = provenance.versions()
    for name, there in provenance.known_versions(original.attribute("versions")).items():
        if (mine := here[name]) == there:
            continue
        if name == "python":
            way = f"use Python {there}"
        elif name == "schedsweep":
            way = checkout(original) or f"install schedsweep {there}"
        else:
            way = f"pip install {name}=={there}"
        yield f"{name}: the file was made with {there}, here is {mine}; for the same, {way}"


def _code(original: Original, plan: Plan) -> Iterator[str]:
    numbers = original.attribute("families")
    own = {
        place.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for place in original.modules
    }
    for name, there in original.attribute("sources").items():
        here = plan.sources.get(name)
        if here is not None and here[: len(there)] == there:
            continue
        family = plan.families.get(name)
        version = ""
        if family is not None and name in numbers:
            version = (
                f", of the same version, {family.version}"
                if family.version == numbers[name]
                else f", version {numbers[name]} there and {family.version} here"
            )
        is_own = name in own or name.partition(".")[0] in {one.partition(".")[0] for one in own}
        if is_own:
            way = "take the file's own, modules=FOLDER"
        elif name.partition(".")[0] in OURS:
            way = checkout(original)
        else:
            way = "install the version of its package that was used"
        advice = f"; for the same, {way}" if way else ", and its commit is not recorded"
        yield f"code of {name}: not what the file was made with{version}{advice}"


def checkout(original: Original) -> str:
    """Return the command that gets this project's code as it was, empty where the commit is not recorded."""
    if not original.commit:
        return ""
    commit, dirty, _ = original.commit.partition(DIRTY)
    return f"git checkout {commit[:12]}" + (", though that checkout had changes of its own" if dirty else "")


def _settings(original: Original, plan: Plan) -> Iterator[str]:
    """Yield settings that the same words stand for something else in: defaults, and numbers left open."""
    here = _comparable(manifest.resolved(plan))
    there = _comparable(original.attribute("config"))
    lines = list(_compare("", there, here))
    yield from (f"{line}: the two versions of this project mean different things" for line in lines[:MOST])
    if len(lines) > MOST:
        yield f"and {len(lines) - MOST} more keys of the config"


def _comparable(config: Mapping[str, Any]) -> Any:
    """Return a config as JSON has it, without the settings of its run and without names of users."""
    kept = {key: value for key, value in config["settings"].items() if key not in OF_THE_RUN}
    for group in ("policy", "workload", "machine"):
        kept[group] = {key: value for key, value in kept[group].items() if key != "path"}
    kept.pop("values", None)  # of logs they are paths, which are known by their content
    plain = {**config, "settings": kept}
    return json.loads(canonical.text(provenance.sanitised(plain)))


def _compare(key: str, there: Any, here: Any) -> Iterator[str]:
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for part in sorted(there):  # what a later version has added has its default
            yield from _compare(f"{key}.{part}" if key else part, there.get(part), here.get(part))
    elif there != here:
        yield f"{key}: {_short(there)} in the file, {_short(here)} here"


def _short(value: Any) -> str:
    text = canonical.text(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
