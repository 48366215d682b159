"""From the command line and ``conf`` to checked settings, by Hydra's Compose API.

Not ``@hydra.main``: that makes output folders, answers errors with several lines, and changes the working
directory's meaning. Hydra composes the settings; files are merged with those on which they build by
`sweep.config.files`, so that the number of points costs nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from omegaconf import OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from sweep.config import canonical, choices, files, overrides
from sweep.config.chosen import checked
from sweep.config.settings import (
    GROUPS,
    Config,
    Measures,
    Precision,
    Settings,
    as_list,
    check,
    check_type,
)
from sweep.errors import SweepError, one_line, unknown
from sweep.plan.narrowed import narrowed

BELOW = {
    "precision": [key.name for key in fields(Precision)],
    "measures": [key.name for key in fields(Measures)],
}
"""Valid keys below the settings that are mappings."""

MERGED = "_merged"
"""The merged experiment, or executor, for Hydra: no file that can be chosen has such a name."""


def load(
    arguments: Sequence[str],
    folder: Path,
    user: Path | None = None,
    own: Mapping[str, Mapping[str, dict[str, Any]]] | None = None,
) -> Config:
    """Compose and check what the command line asks for.

    Parameters
    ----------
    folder : Path
        The project's conf, absolute.
    user : Path, optional
        A user's own conf folder, searched after it.
    own : dict of str to dict, optional
        Group -> label -> parameters that are in no file; the grid names them by their labels.
    """
    own = own or {}
    ConfigStore.instance().store(name="sweep_schema", node=Settings)
    keys = [key.name for key in fields(Settings)]
    folders = [folder, *([user] if user else [])]
    for argument in arguments:
        if "=" not in argument and argument in choices.labels(choices.names("experiment", folders)).values():
            raise SweepError(f"{argument!r} is not key=value: write +experiment={argument}")
        key, equals, text = argument.lstrip("+").partition("=")
        if equals and key not in (*keys, "experiment") and (hint := _meant(key, text, arguments, folders)):
            raise SweepError(f"{argument}: a study has no key {key!r}; did you mean {hint}?")
    translated, names = _stored(overrides.translate(arguments, keys, BELOW), folders)
    search = [] if user is None else [f"hydra.searchpath=[{overrides.quoted(f'file://{user}')}]"]
    with initialize_config_dir(str(folder), version_base="1.3"), _one_line_errors():
        root = compose("config", [*search, *translated], return_hydra_config=True)
        executor = names.get("executor", str(root.hydra.runtime.choices["executor"]))
        with open_dict(root):
            del root["hydra"]
        settings: Settings = OmegaConf.to_object(root)  # type: ignore[assignment] # of a typed config: Settings
        check(settings)
        chosen = _chosen(settings, folders, own)
        # Of the experiment's file and of those on which it builds, whatever was typed.
        grids = [one.get("grid") or {} for one in files.lineage("experiment", names["experiment"], folders)]
        _check_excluded(settings, [] if "exclude" in _typed(translated) else grids, folders)
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
        groups = OmegaConf.to_container(OmegaConf.create(of_jobs), resolve=True)
        others = partial(_all_files, chosen, grids, folders)
        settings, for_others = narrowed(settings, named_files, others, _typed(translated))
        keys_of_executor = checked("executor", executor, folders)
    for key in settings.executor:
        if key not in keys_of_executor:
            raise SweepError(unknown(f"key of executor {executor}", key, keys_of_executor))
    if settings.slurm is not None:
        if "profile" not in keys_of_executor:
            raise SweepError(f"slurm={settings.slurm} goes with executor=slurm, not with executor={executor}")
        settings.executor["profile"] = settings.slurm
    return Config(settings, named_files, groups, described, for_others=for_others)  # type: ignore[arg-type]


def _meant(key: str, text: str, arguments: Sequence[str], folders: Sequence[Path]) -> str | None:
    """Return the argument that may be meant by one without its group or ``grid.``, None if none is."""
    name = _typed(arguments).get("experiment", "")
    if name in choices.labels(choices.names("experiment", folders)).values():
        data = files.merged("experiment", choices.find("experiment", name, folders), folders)
        if key in ("load", *(data.get("axes") or {})):
            return f"grid.{key}={text if text.startswith('[') else f'[{text}]'}"
    for group in (*GROUPS, "executor"):
        for file in choices.names(group, folders, bases=True):
            text_of_file = choices.path(group, file, folders).read_text(encoding="utf-8", errors="replace")
            if re.search(rf"^{re.escape(key)}:", text_of_file, re.MULTILINE):
                return f"{group}.{key}={text}"
    return None


def _stored(translated: Sequence[str], folders: Sequence[Path]) -> tuple[list[str], dict[str, str]]:
    """Put the experiment and the executor that are named, merged and checked, where Hydra finds them.

    Returns
    -------
    translated : list of str
        The overrides, with these in place of files.
    names : dict of str to str
        Group -> full name of the file.
    """
    found, names = [], dict[str, str]()
    for argument in translated:
        key, _, text = argument.partition("=")
        group = key.removeprefix("+")
        if key not in ("+experiment", "executor"):
            found.append(argument)
            continue
        if group in names and group == "experiment":
            raise SweepError(
                f"experiment={names[group]} experiment={text}: give one experiment; compare takes policies "
                "of any"
            )
        names[group] = name = choices.find(group, text.strip("'\""), folders)
        data = files.merged(group, name, folders)
        if group == "experiment":
            _check_experiment(choices.path(group, name, folders), data)
        package = {"experiment": "_global_"}.get(group)
        node = {**data, "defaults": [*data.get("defaults", []), "_self_"]}
        ConfigStore.instance().store(name=MERGED, node=node, group=group, package=package)
        found.append(f"{key}={MERGED}")
    if "experiment" not in names:
        offered = ", ".join(choices.labels(choices.names("experiment", folders)).values()) or "none"
        raise SweepError(
            f"no experiment named: add +experiment=NAME; there are: {offered} (see python -m sweep --help)"
        )
    return found, names


def _check_experiment(path: Path, data: Mapping[str, Any]) -> None:
    """Refuse what no setting is, or has another type, with one line that names the file."""
    if "@package _global_" not in path.read_text(encoding="utf-8"):
        raise SweepError(f"{path}: begin it with the line '# @package _global_'")
    for key, value in data.items():
        if key == "defaults":
            continue
        if key not in Settings.__dataclass_fields__:
            raise SweepError(f"{path}: {unknown('key', key, Settings.__dataclass_fields__)}")
        for name, one in value.items() if key in BELOW and isinstance(value, Mapping) else [("", value)]:
            if name and name not in BELOW[key]:
                raise SweepError(f"{path}: {unknown(f'key below {key}', name, BELOW[key])}")
            try:
                check_type(f"{key}.{name}" if name else key, one)
            except SweepError as error:
                raise SweepError(f"{path}: {error}") from None


def _all_files(
    chosen: Mapping[str, Mapping[str, str]], grids: Sequence[Mapping[str, Any]], folders: Sequence[Path],
    group: str,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Return the files that the experiment itself names in a group; none if any other one is chosen."""
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
            raise SweepError(f"grid.{group} names nothing: give one or more of {', '.join(offered)}")
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
    """Refuse a value that neither the grid has nor, for an experiment's own ``exclude``, one of these.

    There it may also be the name of a file, which the command line would add to the grid.
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
    """Return what the grid calls a file that ``exclude`` names in its own way."""
    meant = [label for name, label in labels.items() if value in (name, choices.short(name))]
    if len(meant) > 1:
        raise SweepError(f"exclude: {group} {value} can be {' or '.join(meant)}; give one of them, or a list")
    return meant[0] if meant else value


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn errors of Hydra and OmegaConf into one line with advice."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise SweepError(_explain(error)) from None


def _explain(error: Exception) -> str:
    cause = error if error.__cause__ is None else error.__cause__
    text = f"{error}\n{cause}"
    full_key = re.search(r"full_key: (\S+)", text)
    if "missing mandatory value: name" in text:
        return "the experiment has no name: set name, which also names its dataset"
    problem = next(
        (line for line in text.splitlines() if re.search(r"could not|cannot|not found", line)), None
    )
    return f"{full_key[1] + ': ' if full_key else ''}{problem or one_line(cause)}"


def _typed(arguments: Sequence[str]) -> dict[str, str]:
    """Return what was typed for each key."""
    parts = (argument.lstrip("+").partition("=") for argument in arguments)
    return {key: value for key, _, value in parts}
