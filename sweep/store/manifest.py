"""The config that a results folder was made with, so that results of two different studies never mix.

A grid may grow or shrink and replications may be added: tasks carry their own identity. But settings that
apply to all tasks must be the same, or one dataset would mix two studies.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from models.counting import counted
from sweep.config import canonical
from sweep.config.nested import leaves
from sweep.config.settings import GROUPS, OF_THE_RUN, shown
from sweep.errors import SweepError
from sweep.plan import checks, grid
from sweep.plan.data import Plan
from sweep.plan.identity import ASKED
from sweep.store import provenance, reader
from sweep.store.folder import Folder, spare
from sweep.store.probe import measured

FIXED = ("name", "seed", "warmup", "batches", "batch_size", "precision")
"""Settings that must not differ within a folder; the grid may grow, and replications may be added."""

LONGEST_WORDS = 80
"""Maximum length of a value in a line on a difference: a group of jobs or a log in arrays is long."""


def resolved(plan: Plan) -> dict[str, Any]:
    """Return the resolved config as JSON: all settings except the run's own, and every file's content.

    It is the manifest of a results folder, and the attribute ``config`` of its dataset.
    """
    settings = {key: value for key, value in asdict(plan.settings).items() if key not in OF_THE_RUN}
    settings["grid"] = {axis: list(values) for axis, values in plan.axes.items() if axis not in plan.hidden}
    files = {group: {v.parameters["name"]: v.content for v in plan.variants[group]} for group in GROUPS}
    groups = {"groups": plan.measures["groups"]} if plan.measures["groups"] else {}
    found: dict[str, Any] = json.loads(json.dumps({"settings": settings, **files, **groups}))
    return found


def describe(plan: Plan) -> dict[str, Any]:
    """Return the manifest of a plan."""
    return {**resolved(plan), "sources": dict(plan.sources)}


def claim(folder: Folder, plan: Plan) -> dict[str, Any]:
    """Return the manifest that the folder is to have; nothing is touched.

    Raises
    ------
    SweepError
        If the folder holds results of another config; the message lists the keys that differ and the command
        to continue. If a value cannot be simulated at all, that is raised first: another folder would not
        help.
    """
    new = describe(plan)
    if not folder.holds_results():
        return new
    known: dict[Callable[[], dict[str, Any]], dict[str, Any]] = {
        folder.read_manifest: new,
        partial(_of_dataset, folder): provenance.sanitised(new),
        partial(_of_logs, folder, plan, new): new,
    }
    for read, here in known.items():
        with suppress(
            KeyError, TypeError, AttributeError, ValueError
        ):  # missing, damaged, or from another version
            old = read()
            differing, lost = list(differences(old, here)), _lost(old["settings"], plan)
            # Entries that only the old manifest has are kept for later comparisons.
            merged = {**new, **{key: {**old.get(key, {}), **new[key]} for key in (*GROUPS, "sources")}}
            break
    if differing:
        checks.notes(plan)
        listed = "; ".join(differing[:5]) + (f"; and {len(differing) - 5} more" if len(differing) > 5 else "")
        raise SweepError(
            f"{folder.path} holds results of another config ({listed}); nothing was changed. To keep both: "
            f"output={spare(folder.path)}"
        )
    if lost and not plan.settings.replace and folder.dataset.exists():
        raise SweepError(
            f"{folder.dataset} has {lost}, which this smaller grid would remove from it: give all values "
            f"again (what is done is not run again), or another folder, output={spare(folder.path)}, or "
            "replace=true to make it smaller (the logs keep all)"
        )
    return merged


def _of_dataset(folder: Folder) -> dict[str, Any]:
    """Return a manifest from the attributes of the dataset; empty if it cannot be read."""
    if folder.dataset.is_file():
        from netCDF4 import Dataset

        measured(folder.dataset)
        with suppress(OSError, RuntimeError), Dataset(folder.dataset) as file:
            found: dict[str, Any] = json.loads(file.config)
            return {**found, "sources": json.loads(file.sources)}
    return {}


def _of_logs(folder: Folder, plan: Plan, new: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of this plan, if the logs have tasks of it."""
    asked = {id_[:ASKED] for id_ in plan.ids}
    if plan.settings.replace or any(head.id[:ASKED] in asked for head in reader.heads(folder.shards)):
        return new
    raise SweepError(
        f"{folder.path} holds results of another study, and its config.json is missing or damaged; give "
        f"another folder, output={spare(folder.path)}, or replace=true to add to it anyway"
    )


def _lost(old: Mapping[str, Any], plan: Plan) -> str:
    """Return in words what the grid of earlier settings has and a plan lacks; empty if nothing."""
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
        parts.append(counted(old["replications"], "replication"))
    if not parts and (n := _points_lost(old, plan)):
        parts.append(f"{counted(n, 'point')} that zip or exclude leave out here")
    return "; ".join(parts)


def _points_lost(old: Mapping[str, Any], plan: Plan) -> int:
    """Return how many points of an earlier plan this one leaves out, although it has their axis values."""
    before: dict[str, Sequence[Any]] = old["grid"]
    if not before or set(before) - set(plan.axes):
        return 0

    def named(axes: Mapping[str, Sequence[Any]], points: np.ndarray) -> Iterator[tuple[str, ...]]:
        """Yield the values of each point on the earlier axes; a new axis has all of its values."""
        at = grid.where(axes, points)
        keys = {axis: np.array([canonical.key(value) for value in axes[axis]], object) for axis in before}
        return zip(*(keys[axis][at[axis]] for axis in before), strict=True)

    settings = replace(plan.settings, zip=old["zip"], exclude=old["exclude"])
    return len(set(named(before, grid.points(before, settings))) - set(named(plan.axes, plan.points)))


def changed(folder: Folder, plan: Plan) -> str:
    """Return in words which code has changed since the folder was last written."""
    old = folder.read_manifest().get("sources")
    old = old if isinstance(old, dict) else {}
    # A manifest that was rebuilt from a dataset has only the beginnings of hashes.
    names = [
        name for name, digest in sorted(plan.sources.items()) if not digest.startswith(str(old.get(name, "")))
    ]
    return ", ".join(names or plan.sources)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: OLD -> NEW`` for all settings that must not differ within a folder, as they are typed."""
    before, after = (_by_load(each["settings"]) for each in (old, new))
    stops = [settings["precision"]["relative"] is not None for settings in (before, after)]
    for key in (*FIXED, *(["confidence"] if all(stops) else [])):  # decides where a run ends
        yield from _compare(key, before.get(key), after.get(key))
    bounds = [settings.get("measures", {}).get("bound") for settings in (before, after)]
    yield from _compare("measures.bound", *bounds)
    yield from _compare("measures.groups", old.get("groups", {}), new.get("groups", {}))
    # A key that is an axis, or was one, has several values on purpose.
    axes = _keys_of_axes(before) | _keys_of_axes(after)
    for group in GROUPS:
        for name in new[group].keys() & old.get(group, {}).keys():
            for line in _compare(group, old[group][name], new[group][name], skip=axes):
                yield f"{line} ({group} {name})"


def _by_load(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which the loads of numbers by load have a canonical form."""
    found = dict(settings)
    for key in ("batches", "warmup"):
        if isinstance(value := settings.get(key), Mapping):
            loads = {float(load): number for load, number in value.items()}
            found[key] = shown({int(load) if load == int(load) else load: n for load, n in loads.items()})
    return found


def _keys_of_axes(settings: Mapping[str, Any]) -> set[str]:
    """Return the keys that axes set, ``policy.slice``."""
    found = set(settings["axes"].values()) - {grid.ANY_KEYS}
    for axis, target in settings["axes"].items():
        if target == grid.ANY_KEYS:
            for value in settings["values"].get(axis, {}).values():
                found |= {f"{group}.{key}" for group, own in value.items() for key, _ in leaves(own)}
    return found


def _compare(key: str, old: Any, new: Any, *, skip: Set[str] = frozenset()) -> Iterator[str]:
    """Yield the differences below a key."""
    if key in skip:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for part in sorted(old.keys() | new.keys()):
            yield from _compare(f"{key}.{part}", old.get(part), new.get(part), skip=skip)
    elif old != new:
        yield f"{key}: {_words(old)} -> {_words(new)}"


def _words(value: Any) -> str:
    text = shown(value) if isinstance(value, Mapping) else canonical.word(value)
    return text if len(text) <= LONGEST_WORDS else f"{text[:LONGEST_WORDS]}…"
