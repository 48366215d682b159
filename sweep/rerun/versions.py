"""Differences between this environment and the one that a dataset was made in: a line each, with advice."""

from collections.abc import Iterator, Mapping
from typing import Any

from models.counting import counted
from models.dotted import OURS
from sweep.plan.data import Plan
from sweep.rerun.original import Original
from sweep.store import manifest, provenance

DIRTY = "-dirty"
"""Ends the commit of a checkout with changes of its own."""

MOST = 5
"""Maximum of config keys that are listed."""


def differences(original: Original, plan: Plan) -> Iterator[str]:
    """Yield the differences that may change a number: packages, code, and settings that resolve
    differently."""
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
        yield f"{name}: the file was made with {there}, and {mine} is installed here; to match it, {way}"


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
                f", though the version is the same, {family.version}"
                if family.version == numbers[name]
                else f", version {numbers[name]} there and {family.version} here"
            )
        is_own = name in own or name.partition(".")[0] in {one.partition(".")[0] for one in own}
        if is_own:
            way = "use the file's own, modules=FOLDER"
        elif name.partition(".")[0] in OURS:
            way = checkout(original)
        else:
            way = "install the version of its package that was used"
        advice = f"; to match it, {way}" if way else ", and its commit is not recorded"
        yield f"code of {name}: it differs from what the file was made with{version}{advice}"


def checkout(original: Original) -> str:
    """Return the command that gets this project's code as it was, empty where the commit is not recorded."""
    if not original.commit:
        return ""
    commit, dirty, _ = original.commit.partition(DIRTY)
    return f"git checkout {commit[:12]}" + (", though that checkout had uncommitted changes" if dirty else "")


def _settings(original: Original, plan: Plan) -> Iterator[str]:
    """Yield settings that the same config resolves differently here: defaults, and numbers left open."""
    there = original.attribute("config")
    # Keys that a later version added have their defaults.
    here = _shared(provenance.sanitised(manifest.resolved(plan)), there)
    lines = list(manifest.differences(there, here))
    for line in lines[:MOST]:
        yield f"{line}, in the file and here: the two versions of this project read it differently"
    if len(lines) > MOST:
        yield f"and {counted(len(lines) - MOST, 'more key')} of the config"


def _shared(config: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a config that another one has, too."""
    both = {key: (value, other[key]) for key, value in config.items() if key in other}
    return {
        key: _shared(*pair) if all(isinstance(one, Mapping) for one in pair) else pair[0]
        for key, pair in both.items()
    }
