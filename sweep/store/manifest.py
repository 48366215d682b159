"""What a results folder was made with, so that results of two different studies never mix.

A grid may grow or shrink and replications may be added: tasks carry their own identity. But settings that
hold for all tasks must be the same, or one dataset would answer two questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sweep.config.nested import leaves
from sweep.config.settings import GROUPS, shown
from sweep.errors import SweepError
from sweep.plan import canonical, grid
from sweep.plan.plan import MEASURES, Plan, content
from sweep.store.folder import Folder, spare

GROWING = ("grid", "axes", "values", "replications", "zip", "exclude", "sources")
"""Keys that may differ within a folder."""

LONGEST_WORDS = 80
"""Characters of a value in a line that says what differs: a group of jobs or a log in arrays has many."""


def describe(plan: Plan) -> dict[str, Any]:
    """Return the manifest of a plan: settings of all tasks, and the content of every file it names."""
    described: dict[str, Any] = {
        "name": plan.settings.name,
        "seed": plan.settings.seed,
        **content(plan),
        "grid": {axis: list(values) for axis, values in plan.axes.items()},
        "axes": dict(plan.settings.axes),
        "values": dict(plan.settings.values),
        "replications": plan.replications,
        "zip": [list(tied) for tied in plan.settings.zip],
        "exclude": [dict(entry) for entry in plan.settings.exclude],
        "sources": dict(plan.sources),
    }
    for group in GROUPS:
        described[group] = {v.parameters["name"]: v.content for v in plan.variants[group]}
    return described


def merge(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the new manifest, with what only the old one names kept for later comparisons."""
    return {**new, **{key: {**old.get(key, {}), **new[key]} for key in (*GROUPS, "sources")}}


def claim(folder: Folder, plan: Plan) -> dict[str, Any]:
    """Return the manifest that the folder shall have, touching nothing.

    Raises
    ------
    SweepError
        If the folder holds results of another config: which keys differ, and the words to go on. If a value
        cannot be simulated at all, that is raised first: another folder would not help.
    """
    new = describe(plan)
    if not folder.holds_results():
        return new
    old = folder.read_manifest()
    if not old:
        raise SweepError(
            f"{folder.path} holds results but no config.json, so that their study is not known; "
            f"give another folder, output={spare(folder.path)}"
        )
    differing = list(differences(old, new))
    if differing:
        plan.check()
        listed = "; ".join(differing[:5]) + (f"; and {len(differing) - 5} more" if len(differing) > 5 else "")
        raise SweepError(
            f"{folder.path} holds results of another config ({listed}); nothing was touched. To keep both: "
            f"output={spare(folder.path)}"
        )
    if not plan.settings.replace and folder.dataset.exists() and (lost := _lost(old, plan)):
        raise SweepError(
            f"{folder.dataset} has {lost}, which this smaller grid would take out of it: give all values "
            f"again (what is done is not run again), or another folder, output={spare(folder.path)}, or "
            "replace=true to make it smaller (the logs keep all)"
        )
    return merge(old, new)


def _lost(old: Mapping[str, Any], plan: Plan) -> str:
    """Return in words what the grid of a manifest has and a plan has not; empty where it has all."""
    parts = []
    for axis, values in old.get("grid", {}).items():
        here = plan.axes.get(axis)
        if here is None:
            missing = values if len(values) > 1 else []
        else:
            known = {canonical.key(value) for value in here}
            missing = [value for value in values if canonical.key(value) not in known]
        if missing:
            values_lost = ", ".join(map(canonical.word, missing[:5])) + (", ..." if len(missing) > 5 else "")
            parts.append(f"{axis} {values_lost}")
    if old.get("replications", 0) > plan.settings.replications:
        parts.append(f"{old['replications']} replications")
    if not parts and (n := _points_lost(old, plan)):
        parts.append(f"{n:,} points that zip or exclude leave out here")
    return "; ".join(parts)


def _points_lost(old: Mapping[str, Any], plan: Plan) -> int:
    """Return how many points of an earlier plan, all of whose axis values are there, this one leaves out."""
    if "zip" not in old or set(old["grid"]) - set(plan.axes):
        return 0
    before = {axis: tuple(values) for axis, values in old["grid"].items()}
    settings = replace(plan.settings, zip=old["zip"], exclude=old["exclude"])
    if (before, old["zip"], old["exclude"]) == (
        {axis: tuple(values) for axis, values in plan.axes.items()},
        [list(tied) for tied in plan.settings.zip],
        [dict(entry) for entry in plan.settings.exclude],
    ):
        return 0
    # Along its own axes; one that is new has them all.
    places = np.stack(np.unravel_index(plan.points, plan.shape))
    here = {tuple(place) for place in places[[list(plan.axes).index(axis) for axis in before]].T.tolist()}
    where = {axis: {canonical.key(v): i for i, v in enumerate(values)} for axis, values in plan.axes.items()}
    numbers = [np.array([where[axis][canonical.key(v)] for v in values]) for axis, values in before.items()]
    points = grid.points(before, settings)
    at = np.unravel_index(points, [len(values) for values in before.values()])
    there = np.stack([number[i] for number, i in zip(numbers, at, strict=True)]).T.tolist()
    return sum(tuple(place) not in here for place in there)


def changed(folder: Folder, plan: Plan) -> str:
    """Return what code is another than when the folder was last written, in words."""
    old = folder.read_manifest().get("sources", {})
    names = [name for name, digest in sorted(plan.sources.items()) if old.get(name, digest) != digest]
    return ", ".join(names or plan.sources)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: OLD -> NEW`` for all that must not differ within a folder, by the keys that are typed."""
    for key in new:
        if key not in (*GROWING, "checkpoints", "stopping", "warmup", "measures", *GROUPS):
            yield from _compare(key, old.get(key), new[key])
    yield from _compare("warmup", _by_load(old.get("warmup")), _by_load(new.get("warmup")), whole=True)
    yield from _lengths(old, new)
    yield from _compare("measures", old.get("measures", MEASURES), new.get("measures", MEASURES))
    # A key that is an axis, or was one, has several values on purpose.
    axes = {f"{t.group}.{t.key}" for t in _targets(old) + _targets(new)}
    for group in GROUPS:
        for name in new[group].keys() & old.get(group, {}).keys():
            for line in _compare(group, old[group][name], new[group][name], skip=axes):
                yield f"{line} ({group} {name})"


def _lengths(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Compare how long runs are: ``batches``, and ``precision`` for those that end by it.

    A manifest has the numbers of batches at which a run may end, ``checkpoints``; the first is ``batches``.
    """
    before, after = (_by_load(each.get("checkpoints")) for each in (old, new))
    rule_before, rule_after = (dict(each.get("stopping") or {}) for each in (old, new))
    yield from _compare("batches", _first(before), _first(after), whole=True)
    for part in ("relative", "metric"):
        yield from _compare(f"precision.{part}", rule_before.get(part), rule_after.get(part))
    if rule_before and rule_after:
        yield from _compare("confidence", rule_before.get("confidence"), rule_after.get("confidence"))
        if _first(before) == _first(after):
            yield from _compare("precision.checkpoints", before, after, whole=True)


def _by_load(value: Any) -> Any:
    """Return numbers by load as they are typed, ``{0: 30}`` for ``{"from load 0": 30}``."""
    if not isinstance(value, Mapping):
        return value
    return {key.removeprefix("from load "): number for key, number in value.items()}


def _first(checkpoints: Any) -> Any:
    if isinstance(checkpoints, Mapping):
        return {load: numbers[0] for load, numbers in checkpoints.items()}
    return checkpoints[0] if checkpoints else checkpoints


def _targets(manifest: Mapping[str, Any]) -> list[grid.KeyTarget]:
    found = []
    for axis, target in manifest.get("axes", {}).items():
        keys = [target]
        if target == grid.ANY_KEYS:
            values = manifest.get("values", {}).get(axis, {}).values()
            keys = [
                f"{group}.{key}" for value in values for group, own in value.items() for key, _ in leaves(own)
            ]
        found += [grid.KeyTarget(group, key) for group, _, key in (key.partition(".") for key in keys)]
    return found


def _compare(
    key: str, old: Any, new: Any, *, skip: Set[str] = frozenset(), whole: bool = False
) -> Iterator[str]:
    """Yield what differs below a key; with `whole`, all of it as one value."""
    if key in skip:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping) and not whole:
        for part in sorted(old.keys() | new.keys()):
            yield from _compare(f"{key}.{part}", old.get(part), new.get(part), skip=skip)
    elif old != new:
        yield f"{key}: {_words(old)} -> {_words(new)}"


def _words(value: Any) -> str:
    text = shown(value) if isinstance(value, Mapping) else canonical.word(value)
    return text if len(text) <= LONGEST_WORDS else f"{text[:LONGEST_WORDS]}…"


def resolved(plan: Plan) -> dict[str, Any]:
    """Return the whole resolved config, for the dataset's attributes."""
    settings = asdict(plan.settings)
    settings["grid"] = {axis: list(values) for axis, values in plan.axes.items()}
    files = {group: {v.parameters["name"]: v.content for v in plan.variants[group]} for group in GROUPS}
    return {"settings": settings, **files}
