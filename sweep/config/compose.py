"""From the command line and ``conf`` to checked settings, by Hydra's Compose API.

Not ``@hydra.main``: that makes output folders, answers errors with several lines, and changes the working
directory's meaning. Two compositions serve any grid: one for the experiment, one for all the policy,
workload, machine and executor files that it names, so that the number of points costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError  # type: ignore[import-untyped] # types only by another package

from sweep.config import overrides
from sweep.config.overrides import GROUPS
from sweep.config.settings import Config, Precision, Settings, as_list, check
from sweep.errors import SweepError, one_line, unknown


def load(arguments: Sequence[str], folder: Path, user: Path | None = None) -> Config:
    """Compose and check what the command line asks for.

    Parameters
    ----------
    arguments : sequence of str
        Overrides, ``key=value``.
    folder : Path
        The project's conf, absolute.
    user : Path, optional
        A user's own conf folder, searched after it.
    """
    ConfigStore.instance().store(name="sweep_schema", node=Settings)
    keys = [key.name for key in fields(Settings)]
    translated = overrides.translate(arguments, keys, [key.name for key in fields(Precision)])
    search = [f"hydra.searchpath=[{_quoted(f'file://{user}')}]"] if user else []
    with initialize_config_dir(str(folder), version_base="1.3"), _one_line_errors(keys):
        if not any(argument.startswith("+experiment=") for argument in translated):
            raise SweepError(f"no experiment named: add +experiment=NAME; {_offer('experiment', search)}")
        root = compose("config", [*search, *translated], return_hydra_config=True)
        chosen = str(root.hydra.runtime.choices["executor"])
        with open_dict(root):
            del root["hydra"]
        settings: Settings = OmegaConf.to_object(root)  # type: ignore[assignment] # of a typed config: Settings
        check(settings)
        files = _compose_files(settings, chosen, search)
    executor = files.pop("executor")[chosen]
    for key in settings.executor:
        if key not in executor:
            raise SweepError(unknown(f"key of executor {chosen}", key, executor))
    if settings.slurm is not None:
        if "profile" not in executor:
            raise SweepError(f"slurm={settings.slurm} goes with executor=slurm, not with executor={chosen}")
        settings.executor["profile"] = settings.slurm
    return Config(settings, files)


def _compose_files(
    settings: Settings, executor: str, search: list[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Compose every file that the grid names, all at once: each goes to a package of its own."""
    named = {group: as_list(settings.grid.get(group, [])) for group in GROUPS}
    named["executor"] = [executor]
    parts = list(search)
    for group, names in named.items():
        options = _options(group, search)
        if not names:
            raise SweepError(f"grid.{group} names nothing: give one or more of {', '.join(options)}")
        for number, name in enumerate(names):
            if name not in options:
                raise SweepError(unknown(group, name, options))
            parts.append(f"+{group}@{group}.v{number}={_quoted(name)}")
    composed = compose(None, parts)
    return {
        group: {
            name: cast("dict[str, Any]", OmegaConf.to_container(composed[group][f"v{number}"]))
            for number, name in enumerate(names)
        }
        for group, names in named.items()
    }


def _quoted(text: str) -> str:
    """Quote a value for Hydra's override grammar."""
    escaped = text.replace("'", "\\'")
    return f"'{escaped}'"


def _options(group: str, search: list[str]) -> list[str]:
    loader = GlobalHydra.instance().config_loader()
    names = loader.get_group_options(group, overrides=search, config_name=None)
    return [name for name in names if not name.startswith("_")]


def _offer(group: str, search: list[str]) -> str:
    return f"there are: {', '.join(_options(group, search)) or 'none'} (see python -m sweep --help)"


@contextmanager
def _one_line_errors(keys: Sequence[str]) -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise into one line that says what to do."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise SweepError(_explain(error, keys)) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{mark.name}, line {mark.line + 1}: " if mark else ""
        raise SweepError(f"{where}{error.problem}; no valid YAML") from None


def _explain(error: Exception, keys: Sequence[str]) -> str:
    cause = error if error.__cause__ is None else error.__cause__
    text = f"{error}\n{cause}"
    if missing := re.search(
        r"Could not find '(\w+)/([^']*)'\n+Available options in '\w+':\n((?:\t.*\n?)*)", text
    ):
        kind, name, options = missing.groups()
        return unknown(kind, name, [option for option in options.split() if not option.startswith("_")])
    where = re.search(r"In '([^']+)': \w+ raised while composing", text)
    source = f"conf/{where[1]}.yaml: " if where else ""
    full_key = re.search(r"full_key: (\S+)", text)
    if (wrong := re.search(r"Key '([^']+)' not in 'Settings'", text)) is not None:
        if wrong[1] == "experiment":
            source += "(is its line '# @package _global_' missing?) "
        return source + unknown("key", wrong[1], keys)
    if (wrong := re.search(r"Key '([^']+)' not in 'Precision'", text)) is not None:
        return source + unknown("key below precision", wrong[1], [key.name for key in fields(Precision)])
    if "missing mandatory value: name" in text:
        return "the experiment has no name: set name, which also names its dataset"
    problem = next(
        (line for line in text.splitlines() if re.search(r"could not|cannot|not found", line)), None
    )
    return f"{source}{full_key[1] + ': ' if full_key else ''}{problem or one_line(cause)}"
