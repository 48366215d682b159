"""What a user asks of a drawing of tasks: a scheduler, a workload, a machine, from text to a point."""

from collections.abc import Mapping
from typing import Any

from analysis.drawings.composition import is_file
from analysis.drawings.scene import asked
from analysis.drawings.settings import positive
from analysis.errors import AnalysisError
from analysis.silva1999.labels import PRIORITIES, SMALL, machine, policy, workload
from models.point import Point

FAMILY = "models.concurrent_gang"

SOURCE = {
    "policy": PRIORITIES,
    "workload": "io_intensive",
    "load": "1.5",
    "machine": SMALL,
    "slice": "",
    "seed": "1",
    "replication": "0",
    "conf": "",
}
"""Settings that make a simulation; empty is what the files of conf have."""


def point(settings: Mapping[str, str], name: str = "", **changed: Any) -> Point:
    """Return the point that settings ask for, the same jobs as an experiment's with that seed.

    Parameters
    ----------
    settings : dict of str to str
        With the keys of `SOURCE`.
    name : str, optional
        The policy, if not that of the settings.
    **changed
        Keys of the policy's file.

    Raises
    ------
    AnalysisError
        If they cannot be understood, or the models refuse them.
    """
    user, named = settings["conf"], name or settings["policy"]
    if settings["slice"]:
        changed["slice"] = positive(settings, "slice", "a positive number of seconds")
    made = asked({**settings, "policy": _meant(named, FAMILY.rpartition(".")[2], user)}, changed)
    if made.policy["family"] != FAMILY:
        raise AnalysisError(f"policy={named}: it has no tasks to draw; give gang, concurrent_gang, …")
    return made


def _meant(named: str, family: str, user: str) -> str:
    """Return the family's policy of a short name, where there is one: ``gang`` is a family, too."""
    full = f"{family}/{named}"
    return full if "/" not in named and is_file("policy", full, user) else named


def title(settings: Mapping[str, str], scheduler: str = "") -> str:
    """Return what is simulated in words."""
    size = settings.get("machine.torus") or settings.get("machine.processors") or settings["machine"]
    named = machine(size.replace("torus", "")) if size[-1].isdecimal() else machine(size)
    first = f"{policy(scheduler)}, " if scheduler else ""
    jobs = workload(settings["workload"])
    return f"{first}{jobs if jobs.startswith('I/O') else jobs.lower()}, {named}, load {settings['load']}"
