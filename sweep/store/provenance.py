"""The provenance of a dataset: versions, commit, command line; never a path that names a user."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sweep.errors import printable

PACKAGES = ("schedsweep", "numpy", "scipy", "numba", "xarray")


def versions() -> dict[str, str]:
    """Return versions of Python and of the packages that can change a number."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **{package: package_version(package) for package in PACKAGES}}


def package_version(package: str) -> str:
    """Return the version of an installed package; empty for a checkout that is not installed."""
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


def known_versions(given: Mapping[str, object]) -> dict[str, str]:
    """Return the versions in a dataset that may become part of commands: a stranger's may be any text."""
    return {
        name: version
        for name in ("python", *PACKAGES)
        if isinstance(version := given.get(name), str) and re.fullmatch(r"[\w.+!-]+", version)
    }


def shown_commit(commit: str) -> str:
    """Return a commit in words.

    Examples
    --------
    >>> shown_commit("0123456789abcdef-dirty")
    '0123456789ab with changes'
    """
    clean = commit.removesuffix("-dirty")
    return clean[:12] + " with changes" * (clean != commit)


def known_commit(given: str) -> str:
    """Return a dataset's commit; empty for any other text."""
    return given if re.fullmatch(r"[0-9a-f]{7,40}(-dirty)?", given) else ""


def sanitised(value: Any) -> Any:
    """Return JSON whose texts name no user, no private folder, no password and no address: it is published.

    A path outside the home and the working folder keeps its last two parts, by which a log is found again.

    Examples
    --------
    >>> sanitised({"path": "/scratch/project/ada b/may/log.swf", "note": "read from /home/ada/x.swf"})
    {'path': '~/may/log.swf', 'note': 'read from ~/x.swf'}
    >>> sanitised(["https://ada:secret@example.org/log.swf?token=abc", "tcp://10.1.2.3:8786"])
    ['https://example.org/log.swf', 'tcp://...']
    """
    if isinstance(value, Mapping):
        return {sanitised(key): sanitised(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sanitised(item) for item in value]
    if not isinstance(value, str):
        return value
    text = printable(value)
    for folder, shown in ((str(Path.cwd()), "."), (str(Path.home()), "~")):
        if len(folder) > 1:
            text = re.sub(re.escape(folder) + r"(?![\w.-])", shown, text)
    text = re.sub(r"(?:/[\w.-]+)*/(?:home|[Uu]sers)/[^/\s\"',;:]+|(?<![\w~])~\w+(?=/)", "~", text)
    text = re.sub(r"\b(tcp|tls|ucx|wss?)://[^\s\"',]+", r"\1://...", text)
    text = re.sub(r"\bfile://(?=/)", "", text)
    text = re.sub(r"(\w://)[^\s\"']*@", r"\1", text)  # a password may hold a slash, or an @
    text = re.sub(r"(\w://[^\s?#;&\"']*)[?#;&][^\s\"']*", r"\1", text)
    text = re.sub(r"(?<![\w/])[\w.-]+:[^\s/@]+@(?=[\w.-]+:)", "", text)  # user:password@host:/path
    text = re.sub(r"(?<![\w.])\d{1,3}(\.\d{1,3}){3}:\d+", "...", text)
    text = re.sub(
        r"\[[0-9a-fA-F:]*:[0-9a-fA-F:]*\]:\d+|(?<![\w.@/-])[A-Za-z][\w-]*(\.[\w-]+)+:\d{2,5}\b", "...", text
    )
    text = re.sub(r"(?<![\w.])[\w.-]+@[\w.-]+:(?=/)", "", text)
    if text.startswith(("/", "../")) and "\n" not in text:
        return _short(text)
    return re.sub(r"(?<![\w.~/:\]-])(?:/[^/\s\"',;:=\[\]{}()]+){2,}", lambda found: _short(found[0]), text)


SYSTEM = (
    "bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "run", "sbin", "sys", "tmp", "usr", "var",
)  # fmt: skip
"""First parts of paths that do not contain a user's name."""

OF_USERS = ("afs", "beegfs", "data", "gpfs", "lustre", "nfs", "project", "projects", "scratch", "work")
"""First parts of paths of which the second is often a user's name."""


def _short(path: str) -> str:
    parts = Path(path).parts
    if len(parts) < 3 or (len(parts) == 3 and parts[1] in SYSTEM):
        return path
    first = 3 if parts[1] in OF_USERS else 2
    return "/".join(["~", *parts[first:][-2 if len(parts) > 5 else -1 :]])


PRIVATE = (
    "output", "schedule", "logs", "executor.address", "executor.profile", "slurm",
)  # fmt: skip
"""Keys of a command that only concern the place of the run."""


def command(arguments: Sequence[str]) -> str:
    """Return a command as a dataset has it: without arguments that only concern the place of the run.

    The folders of the user's own files and modules are kept: without them it would be another study.
    """
    shown = []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if key.lstrip("+") not in PRIVATE:
            shown.append(f"{key}={sanitised(value)}" if equals else sanitised(argument))
    return shlex.join(["python", "-m", "sweep", *shown])
