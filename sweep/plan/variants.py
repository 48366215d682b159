"""The policies, workloads and machines of a grid in the form that the models receive.

A variant is one file of a config group with the settings of the experiment and one value of each axis that
sets a key in that group. There are few variants however many points a grid has, so all work on nested dicts
and their JSON is done here, once.
"""

import copy
import difflib
import hashlib
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from models.jobs import bundle
from models.jobs.swf.unpacking import MOST_IN_BLOCKS
from models.workloads.replayed import of_file
from sweep.config import canonical, locate, schema
from sweep.config.nested import get, has, keys_set, leaves, overlay, parts_of, put
from sweep.config.settings import GROUPS, Config
from sweep.errors import ALIKE, SweepError, one_line, unknown
from sweep.plan import families
from sweep.plan.grid import Grid, KeyAxis


@dataclass(frozen=True)
class Variant:
    """One policy, workload or machine.

    Parameters
    ----------
    parameters : dict
        The model's input: the resolved file, with ``name`` and any ``path`` absolute.
    content : dict
        Its part in a task's identity: a ``path`` is replaced by the hash of the file's content.
    text : str
        Canonical JSON of `content`.
    """

    parameters: dict[str, Any]
    content: dict[str, Any]
    text: str


def of_grid(found: Grid, config: Config) -> tuple[dict[str, list[Variant]], dict[str, np.ndarray]]:
    """Return the variants of each group, and by group the one of each point; for load, its position."""
    variants, choices = {}, {}
    for group in GROUPS:
        axes = found.sets[group]
        variants[group] = build(
            group, config.files[group], getattr(config.settings, group), axes, config.logs
        )
        names = (group, *(axis.name for axis in axes))
        sizes = [len(found.axes[name]) for name in names]
        choices[group] = np.ravel_multi_index([found.where[name] for name in names], sizes)
    return variants, choices | {"load": found.where["load"]}


def build(
    group: str,
    files: Mapping[str, dict[str, Any]],
    settings: Mapping[str, Any],
    axes: Sequence[KeyAxis],
    logs: Mapping[str, str] | None = None,
) -> list[Variant]:
    """Return the variants of one group, files first, then axes in order (the last varies fastest).

    Parameters
    ----------
    files : dict of str to dict
        Composed files by name.
    settings : dict
        Keys that the experiment or the command line sets in every file that has them, nested or dotted.
    logs : dict of str to str, optional
        Path of a log as another machine had it -> where it is here.
    """
    for name, file in files.items():
        if group == "policy" and "family" not in file:
            raise SweepError(
                f"policy {name} names no family; begin its file with the defaults of a policy like it, for "
                "instance defaults: [_gang, _self_]"
            )
    given = list(keys_set(settings, files))
    _refuse_unknown(group, files, [key for key, _ in given], axes)
    variants = []
    alike: dict[str, str] = {}
    for name, file in files.items():
        base = copy.deepcopy(file)
        for key, value in given:
            put(base, key, copy.deepcopy(value))
        other = alike.setdefault(canonical.text(base), name)
        if other != name and files[other] != file:
            guilty = [
                f"{group}.{key}={value}" for key, value in given if get(files[other], key) != get(file, key)
            ]
            raise SweepError(
                f"{', '.join(guilty)} makes {other} and {name} the same, under two names: name one of them, "
                f"e.g. grid.{group}=[{other}]"
            )
        # Few files have references, and OmegaConf would take longer than the rest of a plan.
        interpolated = "${" in canonical.text(base)
        for values in itertools.product(*(axis.values for axis in axes)):
            data = copy.deepcopy(base)
            for axis, value in zip(axes, values, strict=True):
                overlay(data, axis.key, copy.deepcopy(value))
            resolved = _resolve(group, name, data) if interpolated else data
            variants.append(_finish(group, name, resolved, str(data.get("path")), logs or {}))
    return variants


def _refuse_unknown(
    group: str, files: Mapping[str, dict[str, Any]], given: Sequence[str], axes: Sequence[KeyAxis]
) -> None:
    """Raise `SweepError` for a key that the user or an axis sets, but no file has."""
    valid = {key for file in files.values() for key, _ in leaves(file)}
    names = ", ".join(files)
    parts = [part for axis in axes for value in axis.values for part in parts_of(files, axis.key, value)]
    # A key is wrong only if no file has it: a grid may mix families, and each reads its own keys.
    of_axes = [axis.key for axis in axes if axis.key and not axis.for_others]
    for key in dict.fromkeys([*given, *of_axes, *parts]):
        if any(has(file, key) for file in files.values()):
            continue
        of = {str(file["family"]) for file in files.values() if "family" in file}
        family = f" of family {', '.join(sorted(of))}" if of else ""
        by = next((axis.name for axis in axes if axis.key == key), None)
        if by is None or not of or difflib.get_close_matches(key, valid, n=1, cutoff=ALIKE):
            raise SweepError(unknown(f"key of {group} {names}{family}", key, valid))
        if any(has(one, key) and one.get("family") in of for one in schema.files_of(group)):
            raise SweepError(
                f"{group} {names} has no {key}, which the axis {by} of this experiment sets; give it, or "
                "begin its file with the defaults of its family's other policies"
            )
        raise SweepError(
            f"{group} {names}{family} has no key {key}, which the axis {by} of this experiment sets, because "
            "it is for policies of another family; +experiment=compare takes policies of any family, on the "
            "same jobs"
        )
    for axis in axes:
        unused = [] if axis.for_others else axis.unused
        for key in (part for value in unused for part in parts_of(files, axis.key, value)):
            if not any(has(file, key) for file in (*files.values(), *schema.files_of(group))):
                raise SweepError(f"values.{axis.name}: " + unknown(f"key of {group} {names}", key, valid))


def _finish(group: str, name: str, data: dict[str, Any], given_path: str, logs: Mapping[str, str]) -> Variant:
    data["name"] = name
    for key, value in leaves(data):
        if value == "???":
            raise SweepError(f"{group} {name} needs {key}: set {group}.{key}=VALUE")
    if group == "policy" and not isinstance(data["family"], str):
        raise SweepError(f"policy {name} names no family: add family: models.NAME")
    content = dict(data)
    if data.get("path") is not None:
        path = locate.place(str(place(Path(str(data["path"])), logs))).absolute()
        data["path"] = str(path)
        digest = _digest(path, group, name, given_path, of_file(str(path)))
        if group == "policy":
            digest = families.find(str(data.get("family"))).digest(path) or digest
        data["sha256"] = digest  # compared with the bytes when the log is read
        content["path"] = f"sha256:{digest}"
    return Variant(data, content, canonical.text(content))


def place(path: Path, logs: Mapping[str, str]) -> Path:
    """Return the local path of a log: among files with its name, the one whose folders match best.

    Examples
    --------
    >>> place(Path("/a/may/jobs.swf"), {"~/june/jobs.swf": "x.swf", "~/may/jobs.swf": "y.swf"})
    PosixPath('y.swf')
    """
    alike = {log: _alike(path.parts, Path(log).parts) for log in logs}
    best = max(alike, key=lambda log: alike[log], default="")
    return Path(logs[best]) if best and alike[best] else path


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many parts two paths have in common, from their ends."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _resolve(group: str, name: str, data: dict[str, Any]) -> dict[str, Any]:
    # Imported only here: few files need it, and loading it takes longer than expanding a plan.
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        resolved = OmegaConf.to_container(OmegaConf.create(data), resolve=True)
    except OmegaConfBaseException as error:
        raise SweepError(f"{group} {name}: {one_line(error)}") from None
    return resolved  # type: ignore[return-value] # of a mapping: a dict


@cache  # `state`, the size and time of the file, is in the key: a log that changes is read again
def _digest(path: Path, group: str, name: str, given: str, state: tuple[int, int] | None) -> str:
    try:
        # A device or a pipe may have no end: it would be read for ever.
        if not path.is_dir() and path.exists() and not path.is_file():
            raise SweepError(
                f"{group} {name}: {group}.path={path} is a device or a pipe; give the path of a file, "
                f"{group}.path=FILE"
            )
        if path.stat().st_size > MOST_IN_BLOCKS:
            raise SweepError(f"{group} {name}: {path} has over {MOST_IN_BLOCKS:,} bytes, as no log does")
        if group == "workload" and bundle.is_bundle(path):
            return hashlib.sha256(bundle.jobs(path)).hexdigest()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except bundle.BundleError as error:
        raise SweepError(f"{group} {name}: {error}") from None
    except OSError as error:
        variable = re.search(r"\$\{oc\.env:(\w+)", given)
        folder = f"set the variable {variable[1]} to the folder that holds it, or " if variable else ""
        traces = Path(os.environ.get("TRACES", ""), Path(given).name)
        if os.environ.get("TRACES") and not variable and traces.is_file():
            raise SweepError(
                f"{group} {name}: {group}.path={path}: {error.strerror}; the folder that TRACES names has "
                f"it: {group}.path={traces}"
            ) from None
        raise SweepError(
            f"{group} {name}: {group}.path={path}: {error.strerror}; {folder}give the path of a file that "
            f"can be read, {group}.path=FILE"
        ) from None
