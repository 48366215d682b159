"""Compositions of earlier commands, kept in the user's cache: the same command again need not wait for Hydra.

To load Hydra and compose an experiment takes as long as all the rest of a plan. What it answers depends on
the command line, the text of the files of ``conf``, the environment variables that they name, and the code
that composes; a hash of all these names a file of the cache. So nothing has to be thrown away when something
changes, and whatever is wrong with such a file, it is composed again. Mistakes are not kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from sweep.config.settings import ACTIONS, Config, check
from sweep.store import cached
from sweep.store import folder as folders

MOST_KEPT = 100
"""Compositions in the cache, of some kilobytes each; the oldest make room."""

TAKEN_FROM_ENVIRONMENT = re.compile(rb"\$\{oc\.env:([^},]+)")
"""Interpolations whose values Hydra may look up while it composes."""

NOT_KEPT = re.compile(rb"\$\{(?!oc\.env:)\w+(\.\w+)*:|\bsearchpath\b|^action:(?! run\b)", re.MULTILINE)
"""Interpolations that a function answers, such as the time of day; folders that a file names, and actions."""

CODE = ("*.py", "../errors.py", "../plan/canonical.py", "../plan/grid.py", "../plan/variants.py")


def load(arguments: Sequence[str], folder: Path, user: Path | None = None) -> Config:
    """Compose what the command line asks for, or take what that came to the last time.

    The parameters and errors are those of `sweep.config.compose.load`. Commands that differ in ``action``
    only are composed once.
    """
    action, rest = _split(arguments)
    path = _path(rest, folder, user)
    if path is not None and (kept := _kept(path)) is not None:
        config = replace(kept, settings=replace(kept.settings, action=action))
        check(config.settings)
        return config
    from sweep.config import compose

    config = compose.load(arguments, folder, user)
    if path is not None and config.settings.action == action:
        _keep(path, config)
    return config


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the action that is asked for and the other arguments."""
    action, rest = "run", []
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key == "action" and value in ACTIONS:
            action = value
        else:
            rest.append(argument)
    return action, rest


def _path(arguments: Sequence[str], folder: Path, user: Path | None) -> Path | None:
    """Return the file of a composition, None if it may not be the same twice."""
    given = [os.fsencode(argument) for argument in arguments]
    tops = [folder, *([user] if user else [])]
    try:
        code = [file.read_bytes() for pattern in CODE for file in sorted(Path(__file__).parent.glob(pattern))]
        files = [(os.fsencode(file), Path(file).read_bytes()) for top in tops for file in _files(top)]
    except OSError:
        return None
    texts = [*given, *(text for _, text in files)]
    if any(NOT_KEPT.search(text) for text in texts):
        return None
    variables = sorted({name.strip() for text in texts for name in TAKEN_FROM_ENVIRONMENT.findall(text)})
    digest = hashlib.sha256()
    versions = [sys.version, version("hydra-core"), version("omegaconf"), os.getcwd()]
    for part in (
        [os.fsencode(text) for text in versions],
        given,
        [os.fsencode(top) for top in tops],
        code,
        [text for file in files for text in file],
        [text for name in variables for text in (name, os.environb.get(name, b"$"))],
    ):
        # With its length, so that no two lists of texts read alike.
        digest.update(b"%d;" % len(part))
        for text in part:
            digest.update(b"%d:%b" % (len(text), text))
    return cached.file("compositions") / digest.hexdigest()[:32]


def _files(top: Path) -> Iterator[str]:
    """Yield the files of a config folder in a fixed order."""
    for parent, below, files in os.walk(top):
        below.sort()
        yield from (os.path.join(parent, file) for file in sorted(files) if file.endswith(".yaml"))


def _kept(path: Path) -> Config | None:
    try:
        with path.open("rb") as file:
            kept = pickle.load(file)
    except Exception:  # missing, or damaged in whatever way
        return None
    return kept if isinstance(kept, Config) else None


def _keep(path: Path, config: Config) -> None:
    with suppress(OSError, pickle.PicklingError):
        path.parent.mkdir(parents=True, exist_ok=True)
        folders.replace(path, pickle.dumps(config))
        oldest = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)[:-MOST_KEPT]
        for file in oldest:
            file.unlink(missing_ok=True)
