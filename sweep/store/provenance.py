"""The provenance of a dataset: versions, commit, command line; never a path that names a user."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("schedsweep", "numpy", "scipy", "numba", "xarray")


def versions() -> dict[str, str]:
    """Return versions of Python and of the packages that can change a number."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **{package: package_version(package) for package in PACKAGES}}


def package_version(package: str) -> str:
    """Return the version of an installed package; a checkout that is not installed has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def commit() -> str | None:
    """Return the git commit of the checkout that this code is in, with ``-dirty`` if it was changed since."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):  # no git, or no commit yet
        return None
    return done.stdout.strip() or None


def sanitised(text: str) -> str:
    """Return text without the names of users and working folders: results are published.

    Examples
    --------
    >>> sanitised("workload.path=/home/ada/logs/nasa.swf")
    'workload.path=~/logs/nasa.swf'
    """
    here, home = str(Path.cwd()), str(Path.home())
    for folder, shown in ((here, "."), (home, "~")):
        if len(folder) > 1:
            text = re.sub(re.escape(folder) + r"(?![\w.-])", shown, text)
    return re.sub(r"/(home|Users)/[^/\s\"',;:]+", "~", text)
