"""A run of a dataset made anew: a dataset has what was measured of it, and the seed that gives it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from analysis.drawings import remaking
from analysis.drawings.settings import valid
from analysis.errors import AnalysisError
from analysis.jette1997.labels import GANG
from analysis.study import Study
from models.point import Point
from sweep import compiling
from sweep.errors import unknown

if TYPE_CHECKING:
    from models.production_gang.systems import Run

FAMILY, SYSTEM = "models.production_gang", "t3d"
AXES = ("policy", "workload", "load", "machine")
EXAMPLE = "results/llnl_t3d"

WEEK = 7 * 86400.0


@dataclass(frozen=True, eq=False)
class Remade:
    """A run, and what it is called.

    Parameters
    ----------
    name : str
        Scheduler, workload and replication, in words.
    point : Point
        That of the dataset.
    """

    run: Run
    name: str
    point: Point

    def with_commands(self, commands: Sequence[str]) -> Remade:
        """Return the dataset's run with further `policy.commands`; `AnalysisError` for a bad one."""
        policy = self.point.policy
        more = [*policy["commands"], *commands]
        return replace(made_anew(replace(self.point, policy={**policy, "commands": more})), point=self.point)

    @property
    def begin(self) -> float:
        """Time of the first submission, seconds."""
        return float(self.run.jobs.submit.min())

    @property
    def end(self) -> float:
        """Time of the last end, seconds."""
        return float(self.run.end.max())

    @property
    def until(self) -> float:
        """End of what is measured, seconds: later there is only what is left."""
        trace = self.run.trace
        return self.end if trace is None or trace.until is None else min(float(trace.until), self.end)

    def date(self, time: float) -> datetime | None:
        """Return the date and time of the day at a time of the run, None where the workload does not say."""
        trace = self.run.trace
        origin = None if trace is None else trace.origin
        if origin is None or origin.zero is None:
            return None
        return datetime(1970, 1, 1) + timedelta(seconds=float(origin.zero) + time)


def remade(study: Study, settings: Mapping[str, str]) -> Remade:
    """Make the run that settings name anew.

    Parameters
    ----------
    settings : dict of str to str
        ``policy``, ``workload``, ``load``, ``machine`` and ``replication``; empty is the gang scheduler, and
        else the first value of the grid.

    Raises
    ------
    AnalysisError
        If the dataset has no such run, or the run no torus of nodes.
    """
    return made_anew(point_of(study, settings))


def made_anew(point: Point) -> Remade:
    """Make the run of a point."""
    from models.production_gang import model

    compiling.ready(point)
    run = valid(model.schedule, point)
    name = f"{point.policy['name']}, {point.workload['name']}, replication {point.seed[-1]}"
    return Remade(run, name, point)


def point_of(study: Study, settings: Mapping[str, str]) -> Point:
    """Return the point and the seed of a dataset's task that settings name."""
    families = {name: str(file.get("family")) for name, file in study.config.get("policy", {}).items()}
    if FAMILY not in families.values():
        known = " and ".join(sorted(set(families.values()))) or "an unknown family"
        raise AnalysisError(
            f"{study.folder} holds results of {known}: gangster shows those of {FAMILY}, e.g. {EXAMPLE}"
        )
    chosen = {axis: _chosen(study, axis, settings.get(axis, "")) for axis in AXES}
    number = _replication(study, settings.get("replication", "0"))
    _check(study.parameters("policy", chosen["policy"]), families)
    return remaking.point_of(study, chosen, number)


def _chosen(study: Study, axis: str, given: str) -> str:
    known = study.values_of(axis)
    if not given:
        return GANG if axis == "policy" and GANG in known else known[0]
    if given not in known:
        raise AnalysisError(f"{axis}={given}: {unknown('value', given, known)}")
    return given


def _check(policy: Mapping[str, Any], families: Mapping[str, str]) -> None:
    """Refuse a policy without a torus of nodes."""
    name, family, system = policy["name"], policy.get("family"), policy.get("system")
    if (family, system) != (FAMILY, SYSTEM):
        there = [other for other, known in families.items() if known == FAMILY and other != name]
        raise AnalysisError(
            f"policy={name}: it has no machine of nodes (family {family}, system {system}); give "
            f"{', '.join(there) or f'a dataset such as {EXAMPLE}'}"
        )


def _replication(study: Study, given: str) -> int:
    n = study.data.sizes["replication"]
    if not given.isdecimal() or int(given) >= n:
        raise AnalysisError(f"replication={given}: give a whole number from 0 to {n - 1}")
    return int(given)
