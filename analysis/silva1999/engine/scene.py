"""What a user asks of a drawing of tasks: a scheduler, a workload, a machine, from text to a point."""

from collections.abc import Mapping
from typing import Any

from analysis.drawings.composition import checked, given, is_file, parameters
from analysis.drawings.settings import positive, whole
from analysis.errors import AnalysisError
from analysis.silva1999.labels import PRIORITIES, SMALL, machine, policy, workload
from models.point import Batches, Point
from sweep.plan.seeds import seed

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
    family = FAMILY.rpartition(".")[2]
    changed |= given(settings, "policy")
    found = parameters("policy", _meant(named, family, user), changed, user)
    if found["family"] != FAMILY:
        raise AnalysisError(f"policy={named}: it has no tasks to draw; give gang, concurrent_gang, …")
    jobs = parameters("workload", settings["workload"], given(settings, "workload"), user)
    if settings["machine"].isdecimal():
        size = {"processors": whole(settings, "machine")}
        hardware = parameters("machine", "log", size | given(settings, "machine"), user)
    else:
        hardware = parameters("machine", settings["machine"], given(settings, "machine"), user)
    load = positive(settings, "load")
    root = seed(whole(settings, "seed", 0), jobs["name"], whole(settings, "replication", 0))
    made = Point(found, jobs, hardware, load, Batches(1000, 0, (1,)), root)
    checked(made)
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
