"""Cluster profiles: how jobs are asked for at a site, as data."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped] # types only by another package

from slurm import duration
from sweep.errors import SweepError, one_line, unknown

FOLDER = Path(__file__).parent / "profiles"
"""Where profiles that are known by name are; ``default.yaml`` there explains every key."""


@dataclass(frozen=True)
class Profile:
    """What is asked for at a site; ``slurm/profiles/default.yaml`` explains every key and has its default.

    Parameters
    ----------
    name : str
        Of the file.
    time : str
        In one of Slurm's forms; `time_s` has it in seconds.
    """

    name: str
    partition: str | None
    account: str | None
    qos: str | None
    cpus_per_task: int
    mem: str | None
    time: str
    options: list[str]
    target_minutes: float
    max_parallel: int | None
    max_attempts: int
    signal_lead_s: int
    setup: list[str]
    python: str | None
    interface: str | None
    mpi: str | None

    @property
    def time_s(self) -> float:
        """Time limit of an array element in seconds."""
        return duration.seconds(self.time) or float("inf")

    def where(self) -> list[str]:
        """Return the options of sbatch that say where a job goes and who pays for it."""
        named = {"partition": self.partition, "account": self.account, "qos": self.qos}
        return [f"--{key}={value}" for key, value in named.items() if value is not None] + self.options

    def resources(self) -> list[str]:
        """Return the options of sbatch for the cores, memory and time of an array element."""
        memory = [] if self.mem is None else [f"--mem={self.mem}"]
        return [
            "--nodes=1",
            "--ntasks=1",
            f"--cpus-per-task={self.cpus_per_task}",
            *memory,
            f"--time={self.time}",
        ]


def names() -> list[str]:
    """Return the profiles that are known by name."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


def load(given: str, overrides: Mapping[str, object] | None = None) -> Profile:
    """Return a profile.

    Parameters
    ----------
    given : str
        A name (``lab``), or the path of a YAML file (with a ``/`` or ``.yaml`` in it).
    overrides : mapping, optional
        Keys that take the place of the file's.

    Raises
    ------
    SweepError
        For a profile that there is not, an unknown key, and a value that means nothing.
    """
    if "/" in given or given.endswith((".yaml", ".yml")):
        file = Path(given).expanduser()
    elif given in names():
        file = FOLDER / f"{given}.yaml"
    else:
        raise SweepError(
            f"{unknown('profile', given, names())}; or give the path of a YAML file, ./MINE.yaml"
        )
    values = _read(FOLDER / "default.yaml")
    for source, found in ((str(file), _read(file)), ("command line", dict(overrides or {}))):
        for key in found:
            if key not in values:
                raise SweepError(f"{source}: {unknown('key', key, values)}")
        values |= found
    wanted = typing.get_type_hints(Profile)
    checked = {key: _checked(str(file), key, value, wanted[key]) for key, value in values.items()}
    profile = Profile(name=file.stem, **checked)
    _check(profile, str(file))
    return profile


def _read(file: Path) -> dict[str, Any]:
    try:
        # Not resolved: ${HOME} in a setup line is the shell's.
        content = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except OSError as error:
        raise SweepError(
            f"profile {file}: {error.strerror or error}; known by name: {', '.join(names())}"
        ) from None
    except (OmegaConfBaseException, YAMLError, UnicodeDecodeError) as error:
        raise SweepError(f"profile {file}: no valid YAML ({one_line(error)})") from None
    if not isinstance(content, dict):
        raise SweepError(f"profile {file}: give one key: value a line, as in {FOLDER / 'default.yaml'}")
    return {str(key): value for key, value in content.items()}


def _checked(file: str, key: str, value: Any, wanted: Any) -> Any:
    """Return a value as the type that its key has, where nothing can be misunderstood."""
    if isinstance(wanted, types.UnionType):
        if value is None:
            return None
        wanted = typing.get_args(wanted)[0]
    if wanted == list[str]:
        if isinstance(value, list) and all(isinstance(line, str) for line in value):
            return value
        raise SweepError(f"{file}: {key}: {value!r} is no list of texts: write one a line, each after a '-'")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if key == "time" and number:
        # YAML 1.1 takes 1:30:00 for a number in base 60.
        raise SweepError(f'{file}: time: put it in quotes, "1:30:00" or "90" (minutes), not {value!r}')
    if wanted is str and (isinstance(value, str) or number):
        return str(value)
    if wanted is float and number:
        return float(value)
    if wanted is int and number and value == int(value):
        return int(value)
    kind = {str: "a text", int: "a whole number", float: "a number"}[wanted]
    raise SweepError(f"{file}: {key}: {value!r} is not {kind}; {FOLDER / 'default.yaml'} explains it")


def _check(profile: Profile, file: str) -> None:
    for key in ("cpus_per_task", "max_attempts", "max_parallel"):
        value = getattr(profile, key)
        if value is not None and value < 1:
            raise SweepError(f"{file}: {key}: {value} is not 1 or more")
    if not profile.target_minutes > 0 or profile.signal_lead_s < 0:
        raise SweepError(f"{file}: target_minutes must be above 0, and signal_lead_s 0 or more")
    try:
        limit = profile.time_s
    except ValueError as error:
        raise SweepError(f"{file}: time: {error}") from None
    if profile.target_minutes * 60 + profile.signal_lead_s > limit:
        work = f"target_minutes={profile.target_minutes:g} and signal_lead_s={profile.signal_lead_s}"
        raise SweepError(f"{file}: {work} do not fit in time={profile.time}; raise time, or lower the others")
