"""How to run a study again: the commands, and the environment that it was made in."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from analysis.study import Study

NOT_INSTALLED = ("python", "schedsweep")
"""Versions that pip does not bring."""


@dataclass(frozen=True)
class Again:
    """What a reader types.

    Parameters
    ----------
    rerun : str
        From the dataset alone; empty for one that does not carry all that it needs.
    command : str
        As it was made at first; empty where nobody knows.
    environment : tuple of (str, str)
        What it ran on and its version.
    install : str
        The command that installs these versions; empty where they are unknown.
    checkout : str
        The command that gets this project's own code as it was.
    """

    rerun: str
    command: str
    environment: tuple[tuple[str, str], ...]
    install: str
    checkout: str


def again(study: Study) -> Again:
    """Return how to run a study again."""
    attributes = study.data.attrs
    versions: dict[str, str] = json.loads(attributes.get("versions", "{}"))
    commit = str(attributes.get("commit", ""))
    pinned = [f"{name}=={number}" for name, number in versions.items() if name not in NOT_INSTALLED]
    environment = list(versions.items())
    if commit:
        told = commit.removesuffix("-dirty")
        environment.append(("commit", told[:12] + " with changes of its own" * (told != commit)))
    dataset = study.folder / f"{study.name}.nc"
    return Again(
        rerun=f"python -m sweep rerun {shlex.quote(str(dataset))}" if "recipe" in attributes else "",
        command=str(attributes.get("command", "")),
        environment=tuple(environment),
        install=f"pip install {' '.join(pinned)}" if pinned else "",
        checkout=f"git checkout {commit.removesuffix('-dirty')[:12]}" if commit else "",
    )
