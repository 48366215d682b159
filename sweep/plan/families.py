"""Scheduling families: found by the name of their package, and combined if a grid has several."""

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import NamedTuple

import models
from models import dotted, workloads
from models.family import Family, Metric
from models.point import Parameters, Point
from models.topology import links
from sweep.errors import SweepError, one_line

OPTIONS = frozenset(
    {
        *(f"machine.{key.name}" for key in fields(links.Joined)),
        *(
            "workload.speedup",
            "workload.downey",
            "workload.mccann",
            "workload.statements",
            "workload.phases",
            "workload.stands_at",
        ),
    }
)
"""Keys that every machine and every workload of rigid jobs has, but only some policies read."""


PROGRAMS: dict[str, Family] = {}
"""Functions and commands that were planned in this process, see `sweep.plan.programs`."""


def find(package: str | Family) -> Family:
    """Return the family that a policy's ``family`` key names: a package, or a program of this study."""
    if isinstance(package, Family):
        return package
    return PROGRAMS.get(package) or imported(package)


@cache
def imported(package: str) -> Family:
    """Import the family of a package."""
    try:
        module = dotted.module(package)
    except ImportError as error:
        raise SweepError(f"family={package}: {error}; give a package that can be imported") from None
    family = getattr(module, "FAMILY", None)
    if not isinstance(family, Family):
        raise SweepError(f"family={package}: the package has no FAMILY (a models.family.Family)")
    return family


def check(family: Family, point: Point) -> Sequence[str]:
    """Check a point, see `Family.check`, and values that its policy does not read."""
    if family.reads is not None:
        links.check_values(point.machine)
        workloads.check_values(point.workload)
    notes = family.check(point)
    if (log := (family.open_log or workloads.open_log)(point)) is not None:
        workloads.refuse_long_batches(point, log)
    return notes


class Declared(NamedTuple):
    """What the families of a study declare: all of them by package in order of appearance, their metrics by
    name, and the coordinates of the metrics' own dimensions."""

    families: dict[str, Family]
    metrics: dict[str, Metric]
    coords: dict[str, list[object]]


def declared(policies: Sequence[Parameters], measures: Parameters, typed: Iterable[str]) -> Declared:
    """Return what the families of some policies declare.

    Parameters
    ----------
    typed : iterable of str
        See `refuse_unread`.
    """
    refuse_unread(policies, typed)
    several = {package: find(package) for package in (str(policy["family"]) for policy in policies)}
    try:
        return Declared(several, metrics(several.values(), measures), coords(several.values(), measures))
    except ValueError as error:  # a group of jobs that does not exist
        raise SweepError(one_line(error)) from None


def refuse_unread(policies: Iterable[Parameters], typed: Iterable[str]) -> None:
    """Raise `SweepError` for the first typed key that no policy reads.

    Parameters
    ----------
    typed : iterable of str
        Dotted keys, ``machine.bandwidth``.
    """
    several = [(find(str(policy["family"])), policy) for policy in policies]
    for key in typed:
        option = ".".join(key.split(".")[:2])
        if option in OPTIONS and not any(family.may_read(option, policy) for family, policy in several):
            names = ", ".join(dict.fromkeys(family.name for family, _ in several))
            raise SweepError(
                f"{key}: no policy of this study reads it ({names}), so it has no effect; leave it out, or "
                "add a policy that reads it"
            )


def ours() -> list[Family]:
    """Return the families of this project; none of their kernels is loaded."""
    packages = (
        f"{models.__name__}.{found.name}" for found in pkgutil.iter_modules(models.__path__) if found.ispkg
    )
    modules = map(importlib.import_module, packages)
    return [module.FAMILY for module in modules if isinstance(getattr(module, "FAMILY", None), Family)]


def metrics(families: Iterable[Family], measures: Parameters) -> dict[str, Metric]:
    """Return the metrics of all families by name."""
    merged: dict[str, Metric] = {}
    for family in families:
        for metric in family.measured(measures):
            if merged.setdefault(metric.name, metric) != metric:
                raise SweepError(
                    f"families declare the metric {metric.name!r} differently: {merged[metric.name]} and "
                    f"{metric}; give them different names, or run the policies in two experiments"
                )
    return merged


SHARED = ("response_time", "bounded_slowdown")
"""Measures with the same meaning whether or not jobs share processors, in order of preference."""


def headline(families: Iterable[Family]) -> str:
    """Return the metric by which the policies of all families are compared.

    A family's own headline suits its own policies only: a wait for the first processor is 0 for every job
    under time slicing, and would make the slowest of such policies the best. So several families that do not
    have the same one are compared by the time from submission to the end, or else by the first family's.
    """
    several = list(families)
    names = {family.headline for family in several}
    if len(names) > 1:
        for name in SHARED:
            if all(name in family.common for family in several):
                return name
    return several[0].headline


def coords(families: Iterable[Family], measures: Parameters) -> dict[str, list[object]]:
    """Return the coordinates of the metrics' own dimensions."""
    merged: dict[str, list[object]] = {}
    for family in families:
        for name, values in family.coordinates(measures).items():
            if merged.setdefault(name, list(values)) != list(values):
                raise SweepError(f"families declare the dimension {name!r} with different coordinates")
    return merged
