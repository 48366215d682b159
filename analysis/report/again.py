"""How to rerun a study: the commands, and the environment of the original run."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from analysis.study import Study

NOT_INSTALLED = ("python", "schedsweep")
"""Versions that pip does not install."""


@dataclass(frozen=True)
class Again:
    """The commands for a reader.

    Parameters
    ----------
    rerun : str
        From the dataset alone; empty if the dataset lacks a recipe.
    command : str
        The original command; empty if unknown.
    environment : tuple of (str, str)
        Software of the original run and its version.
    install : str
        The command that installs these versions; empty where they are unknown.
    checkout : str
        The command that checks out this project's code.
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
        clean = commit.removesuffix("-dirty")
        environment.append(("commit", clean[:12] + " with uncommitted changes" * (clean != commit)))
    dataset = study.folder / f"{study.name}.nc"
    return Again(
        rerun=f"python -m sweep rerun {shlex.quote(str(dataset))}" if "recipe" in attributes else "",
        command=str(attributes.get("command", "")),
        environment=tuple(environment),
        install=f"pip install {' '.join(pinned)}" if pinned else "",
        checkout=f"git checkout {commit.removesuffix('-dirty')[:12]}" if commit else "",
    )
