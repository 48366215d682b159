"""The scripts for sbatch: one for array elements, and one for the job that gathers.

Options are lines of the script, except the paths of the logs: these are given to sbatch as arguments, so that
no blank or quote in a folder's name can be misread.
"""

import math
import os
import shlex
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from slurm.profile import Profile
from sweep.executors.threads import ONE_THREAD

GATHER_MINUTES = 60
"""Time limit of the gathering job; ten million results take a few minutes."""


def array(profile: Profile, name: str, submission: Path, place: Path) -> str:
    """Return the script of array elements.

    `name` is the jobs', `submission` the absolute path of the submission's folder, and relative paths in the
    config start from `place`.
    """
    options = [
        *profile.where(),
        *profile.resources(),
        "--requeue",
        "--open-mode=append",
        *([f"--signal=B:USR1@{profile.signal_lead_s}"] if profile.signal_lead_s else []),
    ]
    command = f"slurm.element {shlex.quote(str(submission))}"
    return _script(profile, name, options, "Elements of a sweep.", place, command)


def gathering(profile: Profile, name: str, submission: Path, place: Path) -> str:
    """Return the script of the job that writes the dataset when no element is left."""
    options = [
        *profile.where(),
        "--ntasks=1",
        *([] if profile.mem is None else [f"--mem={profile.mem}"]),
        f"--time={math.ceil(min(GATHER_MINUTES, profile.time_s / 60))}",
        "--kill-on-invalid-dep=yes",
        "--requeue",
        "--open-mode=append",
    ]
    title = "Writes the dataset of a sweep from whatever its elements have left."
    command = f"slurm.gathering {shlex.quote(str(submission))}"
    return _script(profile, name, options, title, place, command)


def log_option(folder: Path, pattern: str) -> str:
    """Return sbatch's option for logs in a folder; a % in the folder's name is escaped."""
    return f"--output={str(folder).replace('%', '%%')}/{pattern}"


def _script(
    profile: Profile, name: str, options: Sequence[str], title: str, place: Path, command: str
) -> str:
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {_option(option)}" for option in (f"--job-name={name}", *options)),
        f"# {title}",
        *preamble(profile),
        f"cd {shlex.quote(str(place))} || exit",
        # Python replaces the shell, so that Slurm's signals reach it; with -P the working folder hides no
        # package.
        f"exec {profile.interpreter} -P -m {command}",
    ]
    return "\n".join(lines) + "\n"


def preamble(profile: Profile) -> list[str]:
    """Return the shell lines before Python: kernel cache, setup, search path, and one thread per worker."""
    path = search_path()
    return [
        *kernel_cache(),  # this is first, so that the profile may name another folder for kernels
        *profile.setup,
        # The shell of the job does not have the variables of this process.
        *([f"export PYTHONPATH={shlex.quote(path)}"] if path else []),
        f"export {' '.join(f'{name}={value}' for name, value in ONE_THREAD.items())}",
    ]


def _option(option: str) -> str:
    """Quote an option's value as sbatch reads its lines of a script."""
    key, equals, value = option.partition("=")
    if all(character.isalnum() or character in "-_.,:/+@%[]*=" for character in value):
        return option
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{key}{equals}"{escaped}"'


def search_path() -> str:
    """Return the PYTHONPATH of elements: this process's, plus this package if it is not installed."""
    given = [
        str(Path(entry).absolute()) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry
    ]
    root = str(Path(__file__).resolve().parent.parent)
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return os.pathsep.join(dict.fromkeys(given if root in installed else [*given, root]))


def kernel_cache() -> list[str]:
    """Return shell lines after which a job finds its own place for kernels, or the user's NUMBA_CACHE_DIR.

    In this process `models.kernels.cache` has replaced that variable by its own folder: one in the folder
    that the user named, or in the user's cache, which may be elsewhere on another node.
    """
    lines = ["unset SCHEDSWEEP_KERNELS NUMBA_CACHE_DIR"]
    found = os.environ.get("NUMBA_CACHE_DIR")
    if found is None:
        return lines
    given = Path(found).parent if found == os.environ.get("SCHEDSWEEP_KERNELS") else Path(found)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    if given == Path(caches, "schedsweep", "kernels") or given == Path(
        tempfile.gettempdir(), f"schedsweep-kernels-{os.getuid()}"
    ):
        return lines
    return [*lines, f"export NUMBA_CACHE_DIR={shlex.quote(str(given))}"]
