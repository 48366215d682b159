"""What a results folder was made with, so that results of two different studies never mix.

A grid may grow or shrink and replications may be added: tasks carry their own identity. But settings that
hold for all tasks must be the same, or one dataset would answer two questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sweep.config.overrides import GROUPS
from sweep.errors import SweepError
from sweep.plan import grid
from sweep.plan.plan import MEASURES, Plan, content
from sweep.store.folder import Folder, spare


def describe(plan: Plan) -> dict[str, Any]:
    """Return the manifest of a plan: settings of all tasks, and the content of every file it names."""
    described: dict[str, Any] = {
        "name": plan.settings.name,
        "seed": plan.settings.seed,
        **content(plan),
        "grid": {axis: list(values) for axis, values in plan.axes.items()},
        "axes": dict(plan.settings.axes),
        "replications": plan.settings.replications,
    }
    for group in GROUPS:
        described[group] = {v.parameters["name"]: v.content for v in plan.variants[group]}
    return described


def merge(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the new manifest, with the files that only the old one names kept for later comparisons."""
    return {**new, **{group: {**old.get(group, {}), **new[group]} for group in GROUPS}}


def claim(folder: Folder, plan: Plan) -> dict[str, Any]:
    """Return the manifest that the folder shall have, touching nothing.

    Raises
    ------
    SweepError
        If the folder holds results of another config: which keys differ, and the words to go on.
    """
    new = describe(plan)
    if not folder.holds_results():
        return new
    old = folder.read_manifest()
    if not old:
        raise SweepError(
            f"{folder.path} holds results but no config.json: nobody can tell of what; "
            f"give another folder, output={spare(folder.path)}"
        )
    differing = list(differences(old, new))
    if differing:
        shown = "; ".join(differing[:5]) + (f"; and {len(differing) - 5} more" if len(differing) > 5 else "")
        raise SweepError(
            f"{folder.path} holds results of another config ({shown}); nothing was touched. To keep both: "
            f"output={spare(folder.path)}"
        )
    return merge(old, new)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: there OLD, here NEW`` for all that must not differ within a folder."""
    for key in new:
        if key not in ("grid", "axes", "replications", "measures", *GROUPS):
            yield from _compare(key, old.get(key), new[key])
    yield from _compare("measures", old.get("measures", MEASURES), new.get("measures", MEASURES))
    # A key that is an axis, or was one, has several values on purpose.
    axes = {f"{t.group}.{t.key}" for t in _targets(old) + _targets(new)}
    for group in GROUPS:
        for name in new[group].keys() & old.get(group, {}).keys():
            for line in _compare("", old[group][name], new[group][name], axes, group):
                yield f"{group} {name}: {line}"


def _targets(manifest: Mapping[str, Any]) -> list[grid.KeyTarget]:
    pairs = (target.partition(".") for target in manifest.get("axes", {}).values())
    return [grid.KeyTarget(group, key) for group, _, key in pairs]


def _compare(key: str, old: Any, new: Any, skip: set[str] | None = None, group: str = "") -> Iterator[str]:
    if skip and f"{group}.{key}" in skip:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for part in sorted(old.keys() | new.keys()):
            yield from _compare(f"{key}.{part}" if key else part, old.get(part), new.get(part), skip, group)
    elif old != new:
        # The plan's word for the numbers of batches at which a run may end.
        yield f"{'batches' if key == 'looks' else key}: there {_words(old)}, here {_words(new)}"


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def resolved(plan: Plan) -> dict[str, Any]:
    """Return the whole resolved config, for the dataset's attributes."""
    settings = asdict(plan.settings)
    settings["grid"] = {axis: list(values) for axis, values in plan.axes.items()}
    files = {group: {v.parameters["name"]: v.content for v in plan.variants[group]} for group in GROUPS}
    return {"settings": settings, **files}
