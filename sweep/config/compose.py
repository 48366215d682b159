"""Composes the settings of a study from a mapping of dotted keys and ``conf``, and checks them.

The command line (`sweep.config.overrides`) and a notebook give the same mapping. Its values override the
experiment's, which override the values of the files on which it builds and of ``conf/config.yaml``; OmegaConf
then checks the types and resolves interpolations.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.utils import setup_globals
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from models.jobs import bundle
from sweep.config import canonical, choices, files, nested
from sweep.config.chosen import checked
from sweep.config.settings import (
    BY_LOAD,
    GROUPS,
    Config,
    Narrowing,
    Settings,
    as_list,
    check,
    check_key,
    shown,
    typed_settings,
)
from sweep.errors import SweepError, one_line, unknown

OF_REPORTS = ("along", "reference")
"""Arguments of reports that a study does not take."""

KEYS = [*Settings.__dataclass_fields__, "experiment"]
"""What may be asked for."""


def load(
    asked: Mapping[str, Any],
    folder: Path,
    users: Sequence[Path] = (),
    own: Mapping[str, Mapping[str, dict[str, Any]]] | None = None,
) -> Config:
    """Compose and check what is asked for.

    Parameters
    ----------
    asked : dict of str to Any
        Dotted key of a setting -> value. ``experiment`` and ``executor`` name files; ``policy``, ``workload``
        and ``machine`` are values of the grid unless they are mappings.
    folder : Path
        The project's conf, absolute.
    users : sequence of Path, optional
        Further conf folders, searched after it, see `sweep.config.locate.folders`.
    own : dict of str to dict, optional
        Group -> label -> parameters that come from no file; the grid refers to them by their labels.
    """
    own, folders = own or {}, [folder, *users]
    asked = dict(_placed(asked, folders))
    is_program = asked.get("experiment") is None and not {"model", "command"}.isdisjoint(asked)
    levels = [] if is_program else _experiment(asked.pop("experiment", None), folders)
    data = files.read(folder / "config.yaml")
    executor = data.pop("executor")
    for level in levels:
        files.update(data, {key: value for key, value in level.items() if not _names_executor(key, value)})
        executor = level["executor"] if _names_executor("executor", level.get("executor")) else executor
    for key, value in asked.items():
        if _names_executor(key, value):
            executor = value
        else:
            _put(data, key, value)
    _open_bundle(data)
    if data.get("name") == "???" and (program := data.get("model") or as_list(data.get("command") or "")[:1]):
        last = program.rpartition(".")[2] if isinstance(program, str) else Path(str(program[0])).stem
        data["name"] = last.strip("<>")
    executor = choices.find("executor", executor, folders)
    keys_of_executor = checked("executor", executor, folders)
    for key in data.get("executor", {}):
        if key not in keys_of_executor:
            raise SweepError(unknown(f"key of executor {executor}", key, keys_of_executor))
    data["executor"] = keys_of_executor | data.get("executor", {})
    with _one_line_errors():
        setup_globals()  # Hydra's resolvers, ``output=results/${now:%F}``
        settings: Settings = OmegaConf.to_object(OmegaConf.merge(typed_settings(), data))  # type: ignore[assignment] # of a typed config: Settings
        check(settings)
        chosen = {} if settings.is_program else _chosen(settings, folders, own)
        # The keys of the experiment's file and of those on which it builds, before any typed setting.
        grids = [level.get("grid") or {} for level in levels]
        _check_excluded(settings, [] if "exclude" in asked else grids, folders)
        named_files, described = {}, {}
        for group, named in chosen.items():
            given = own.get(group, {})
            named_files[group] = {
                label: given.get(label) or checked(group, name, folders) for label, name in named.items()
            }
            described[group] = {
                label: choices.description(choices.path(group, name, folders))
                for label, name in named.items()
                if name not in given
            }
        of_jobs = {
            name: checked("groups", choices.find("groups", name, folders), folders)
            for name in settings.measures.groups
        }
        groups: Any = OmegaConf.to_container(OmegaConf.create(of_jobs), resolve=True)
    if settings.slurm is not None:
        if "profile" not in keys_of_executor:
            raise SweepError(f"slurm={settings.slurm} goes with executor=slurm, not with executor={executor}")
        settings.executor["profile"] = settings.slurm
    narrowing = (
        None
        if settings.is_program
        else Narrowing(frozenset(asked), partial(_all_files, chosen, grids, folders))
    )
    given = dict(nested.leaves(asked))
    typed = [key for key in given if key.partition(".")[0] in GROUPS]
    typed += [
        key
        for axis, key in settings.axes.items()
        if any(f"{top}.{axis}" in given for top in ("grid", "axes"))
    ]
    return Config(settings, named_files, groups, described, narrowing=narrowing, typed=typed)


def _names_executor(key: str, value: Any) -> bool:
    """Whether a setting names the file of an executor; a mapping sets keys in it."""
    return key == "executor" and isinstance(value, str)


def _placed(asked: Mapping[str, Any], folders: Sequence[Path]) -> Iterator[tuple[str, Any]]:
    """Yield each setting under the key where it belongs, and values of axes as lists.

    Keys below `sweep.config.settings.OPEN` are checked later, against the files and axes that they belong to.
    """
    for key, value in asked.items():
        if key in GROUPS and not isinstance(value, Mapping):
            yield f"grid.{key}", as_list(value)
        elif key.startswith("grid.") or key in ("measures.groups", "measures.of_jobs"):
            yield key, as_list(value)
        else:
            if key not in KEYS and (
                hint := _meant(key, value, asked.get("experiment"), folders, "model" in asked)
            ):
                raise SweepError(f"{key}={shown(value)}: a study has no key {key!r}; did you mean {hint}?")
            if key != "experiment" and not _names_executor(key, value):
                check_key(key, value, KEYS)
            yield key, value


def _meant(
    key: str, value: Any, experiment: Any, folders: Sequence[Path], is_program: bool
) -> str | None:  # fmt: skip
    """Return the argument that was probably meant by one without its group or ``grid.``, or None."""
    if experiment in choices.labels(choices.names("experiment", folders)).values():
        data = files.merged("experiment", choices.find("experiment", experiment, folders), folders)
        is_program = bool(data.get("model") or data.get("command"))
        if key in ("load", *(data.get("axes") or {})):
            return f"grid.{key}={shown(as_list(value))}"
    if is_program and key.isidentifier():
        return f"grid.{key}={shown(as_list(value))} or arguments.{key}={shown(value)}"
    if (name := key.partition(".")[0]) in OF_REPORTS:
        return f"python -m analysis RESULTS {name}=NAME, or report({name}=NAME) of a study"
    for group in (*GROUPS, "executor"):
        having = [
            file
            for file in choices.names(group, folders, bases=True)
            if re.search(
                rf"^{re.escape(key)}:",
                choices.path(group, file, folders).read_text(encoding="utf-8", errors="replace"),
                re.MULTILINE,
            )
        ]
        if having:
            names = ", ".join(
                dict.fromkeys(file.replace("/_", "/").rpartition("/")[2] for file in having[:3])
            )
            return f"{group}.{key}={shown(value)}" + f" (of {group} {names})" * (group in GROUPS)
    return None


def _experiment(name: Any, folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the keys of the files on which an experiment builds and of its own file, all checked."""
    if name is None:
        offered = ", ".join(choices.labels(choices.names("experiment", folders)).values()) or "none"
        raise SweepError(
            f"no experiment named: add +experiment=NAME; valid: {offered} (see python -m sweep --help)"
        )
    full = choices.find("experiment", name, folders)
    levels = list(files.lineage("experiment", full, folders))
    for key, value in ((key, value) for level in levels for key, value in level.items()):
        try:
            if not _names_executor(key, value):
                check_key(key, value, Settings.__dataclass_fields__)
        except SweepError as error:
            raise SweepError(f"{choices.path('experiment', full, folders)}: {error}") from None
    return levels


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    """Override the value of a dotted key."""
    if key in BY_LOAD:  # replaces all numbers by load of the experiment
        data[key] = value
        return
    for part in reversed(key.split(".")):
        value = {part: value}
    files.update(data, value)


def _open_bundle(data: dict[str, Any]) -> None:
    """Have policies and workload read the bundle that ``policy.bundle`` names, unless a path is given."""
    given = {group: data.get(group) or {} for group in ("policy", "workload")}
    if not all(isinstance(one, dict) for one in given.values()):
        return  # the typed settings refuse it
    named = given["policy"].pop("bundle", None)
    if isinstance(named, str) and os.path.isfile(named) and not bundle.is_bundle(named):
        files_of = "a slurm.conf is policy.path=FILE, and a log workload.path=FILE"
        raise SweepError(
            f"policy.bundle={named} is not a bundle, as python -m slurm capture makes; {files_of}"
        )
    for group in given if named is not None else ():
        if given[group].get("path") is None:
            files.update(data, {group: {"path": named}})


def _all_files(
    chosen: Mapping[str, Mapping[str, str]], grids: Sequence[Mapping[str, Any]], folders: Sequence[Path],
    group: str,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Return the files that the experiment itself names in a group; empty if any other file is chosen."""
    given: Any = next((grid[group] for grid in reversed(grids) if group in grid), [])
    own = [choices.find(group, name, folders) for name in as_list(given)]
    if not set(chosen[group].values()) <= set(own):
        return {}
    return {name: files.merged(group, name, folders) for name in own}


def _chosen(
    settings: Settings, folders: Sequence[Path], own: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, str]]:
    """Return group -> label -> full name of the files that the grid names; from then on it has the labels."""
    chosen = {}
    for group in GROUPS:
        given = as_list(settings.grid.get(group, []))
        if not given or None in given or "" in given:
            offered = choices.labels(choices.names(group, folders)).values()
            raise SweepError(f"grid.{group} is empty: give one or more of {', '.join(offered)}")
        values = own.get(group, {})
        full = [name if str(name) in values else choices.find(group, name, folders) for name in given]
        labels = choices.labels(full)
        settings.grid[group] = [labels[name] for name in full]
        for entry in settings.exclude:
            if group in entry:
                entry[group] = [_label(group, value, labels) for value in as_list(entry[group])]
        chosen[group] = {label: name for name, label in labels.items()}
    return chosen


def _check_excluded(settings: Settings, grids: Sequence[Mapping[str, Any]], folders: Sequence[Path]) -> None:
    """Refuse a value that is neither in the grid nor, for an experiment's own ``exclude``, among these.

    There it may also name a file that the command line could add to the grid.
    """
    for entry in settings.exclude:
        for axis, values in entry.items():
            if axis not in settings.grid:
                continue
            known = [one for each in (settings.grid, *grids) for one in as_list(each.get(axis, []))]
            known += settings.values.get(axis, {})
            if axis in GROUPS:
                known += choices.labels(choices.names(axis, folders)).values() if grids else []
                known += [choices.short(str(one)) for one in known]
            for value in as_list(values):
                if canonical.key(value) not in map(canonical.key, known):
                    valid = dict.fromkeys(map(canonical.word, known))
                    line = unknown(f"value of grid.{axis}", canonical.word(value), valid)
                    raise SweepError(f"exclude: {line}")


def _label(group: str, value: Any, labels: Mapping[str, str]) -> Any:
    """Return the grid's label of a file that ``exclude`` may name differently."""
    meant = [label for name, label in labels.items() if value in (name, choices.short(name))]
    if len(meant) > 1:
        raise SweepError(f"exclude: {group} {value} can be {' or '.join(meant)}; give one of them, or a list")
    return meant[0] if meant else value


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn errors of OmegaConf into one line with advice."""
    try:
        yield
    except OmegaConfBaseException as error:
        raise SweepError(_explain(error)) from None


def _explain(error: Exception) -> str:
    full_key = re.search(r"full_key: (\S+)", str(error))
    if "missing mandatory value: name" in str(error):
        return "the experiment has no name: set name, which also names its dataset"
    return f"{full_key[1] + ': ' if full_key else ''}{one_line(error)}"
