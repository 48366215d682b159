"""How to rerun a study: the commands, and the environment of the original run."""

import json
import shlex
from typing import Any

from analysis.study import Study
from sweep.store import provenance

NOT_INSTALLED = ("python", "schedsweep")
"""Versions that pip does not install."""


def again(study: Study) -> dict[str, Any]:
    """Return how to run a study again; a command is empty where the dataset lacks what it needs.

    Returns
    -------
    dict
        ``rerun`` (from the dataset alone) and ``command`` (the original one); ``environment`` (pairs of the
        original run's software and version), ``install`` and ``checkout`` (the commands that restore it).
    """
    attributes = study.data.attrs
    versions = provenance.known_versions(json.loads(attributes.get("versions", "{}")))
    commit = provenance.known_commit(str(attributes.get("commit", "")))
    pinned = [f"{name}=={number}" for name, number in versions.items() if name not in NOT_INSTALLED]
    environment = list(versions.items())
    if commit:
        clean = commit.removesuffix("-dirty")
        environment.append(("commit", clean[:12] + " with uncommitted changes" * (clean != commit)))
    dataset = shlex.quote(provenance.sanitised(str(study.folder / f"{study.name}.nc")))
    return {
        "rerun": f"python -m sweep rerun {dataset}" if "recipe" in attributes else "",
        "command": str(attributes.get("command", "")),
        "environment": tuple(environment),
        "install": f"pip install {' '.join(pinned)}" if pinned else "",
        "checkout": f"git checkout {commit.removesuffix('-dirty')[:12]}" if commit else "",
    }
