"""Cluster profiles: how jobs are requested at a site, as data."""

import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped] # types only by another package

from slurm import answers
from sweep.errors import SweepError, one_line, unknown

FOLDER = Path(__file__).parent / "profiles"
"""Folder of the profiles that are known by name; ``default.yaml`` there explains every key."""


@dataclass(frozen=True)
class Profile:
    """The request for jobs at a site; ``slurm/profiles/default.yaml`` explains every key and its default."""

    name: str = MISSING
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    cpus_per_task: int = MISSING
    mem: str | None = None
    time: str = MISSING
    options: list[str] = field(default_factory=list)
    target_minutes: float = MISSING
    max_parallel: int | None = None
    max_attempts: int = MISSING
    signal_lead_s: int = MISSING
    setup: list[str] = field(default_factory=list)
    python: str | None = None
    interface: str | None = None
    mpi: str | None = None

    @property
    def time_s(self) -> float:
        """Time limit of an array element in seconds."""
        return answers.seconds(self.time) or float("inf")

    @property
    def interpreter(self) -> str:
        """Python on the compute nodes, as text for a shell: a file, or the words of a container's command."""
        given = self.python or sys.executable
        words = [given]
        if not Path(given).is_file():
            with suppress(ValueError):  # there is an open quote
                words = shlex.split(given)
        return shlex.join(words)

    def where(self) -> list[str]:
        """Return the options of sbatch for partition, account and QOS, and the profile's own."""
        named = {"partition": self.partition, "account": self.account, "qos": self.qos}
        return [f"--{key}={value}" for key, value in named.items() if value is not None] + self.options

    def resources(self) -> list[str]:
        """Return the options of sbatch for the cores, memory and time of an array element."""
        cores = ["--nodes=1", "--ntasks=1", f"--cpus-per-task={self.cpus_per_task}"]
        return [*cores, *([] if self.mem is None else [f"--mem={self.mem}"]), f"--time={self.time}"]


def names() -> list[str]:
    """Return the names of known profiles."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


def load(given: str, overrides: Mapping[str, object] | None = None) -> Profile:
    """Return a profile by its name (``lab``), or by the path of a YAML file.

    `SweepError` for an unknown profile or key, and for a value that is not valid.
    """
    given = str(given)
    if "/" in given or given.endswith((".yaml", ".yml")):
        file = Path(given).expanduser()
    elif given in names():
        file = FOLDER / f"{given}.yaml"
    else:
        raise SweepError(
            f"{unknown('profile', given, names())}; or give the path of a YAML file, ./MINE.yaml"
        )
    values = _read(FOLDER / "default.yaml")
    own = dict(overrides or {})
    for source, found in ((str(file), _read(file)), ("command line", own)):
        for key in found:
            if key not in values:
                raise SweepError(f"{source}: {unknown('key', key, values)}")
        values |= found

    def where(key: str) -> str:
        return f"executor.{key}" if key in own else f"{file}: {key}"

    if isinstance(own.get("time"), int):  # as Slurm has it: minutes
        values["time"] = str(values["time"])
    if not isinstance(values["time"], str):  # YAML 1.1 reads 1:30:00 as a number in base 60
        text = f'put it in quotes, "1:30:00" or "90" (minutes), not {values["time"]!r}'
        raise SweepError(f"{where('time')}: {text}")
    merged = OmegaConf.structured(Profile(name=file.stem))
    for key, value in values.items():
        try:
            merged = OmegaConf.merge(merged, {key: value})
        except OmegaConfBaseException as error:
            raise SweepError(f"{where(key)}: {one_line(error)}; see {FOLDER / 'default.yaml'}") from None
    # Interpolations are not resolved: ${HOME} in a setup line is for the shell.
    content: Any = OmegaConf.to_container(merged, resolve=False)
    profile = Profile(**content)
    _check(profile, where)
    return profile


def _read(file: Path) -> dict[str, Any]:
    try:
        content = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except OSError as error:
        raise SweepError(
            f"profile {file}: {error.strerror or error}; known by name: {', '.join(names())}"
        ) from None
    except (OmegaConfBaseException, YAMLError, UnicodeDecodeError) as error:
        raise SweepError(f"profile {file}: not valid YAML ({one_line(error)})") from None
    if not isinstance(content, dict):
        raise SweepError(f"profile {file}: give one key: value per line, as in {FOLDER / 'default.yaml'}")
    return {str(key): value for key, value in content.items()}


def _check(profile: Profile, where: Callable[[str], str]) -> None:
    for key in ("partition", "account", "qos", "mem", "time", "options", "python", "interface", "mpi"):
        given = getattr(profile, key)
        for text in given if isinstance(given, list) else [given or ""]:
            if not text.isprintable():  # a line break would begin another line in the jobs' script
                raise SweepError(f"{where(key)}: {text!r} has a control character; give one line of text")
    for key in ("cpus_per_task", "max_attempts", "max_parallel"):
        value = getattr(profile, key)
        if value is not None and value < 1:
            raise SweepError(f"{where(key)}: {value} is below 1; give 1 or more")
    if not profile.target_minutes > 0 or profile.signal_lead_s < 0:
        raise SweepError(f"{where('target_minutes')} must be above 0, and signal_lead_s 0 or more")
    try:
        limit = profile.time_s
    except ValueError as error:
        raise SweepError(f"{where('time')}: {error}") from None
    if profile.target_minutes * 60 + profile.signal_lead_s > limit:
        work = f"{profile.target_minutes:g} and signal_lead_s={profile.signal_lead_s} do not fit in"
        raise SweepError(
            f"{where('target_minutes')}={work} time={profile.time}; raise time, or lower the others"
        )
