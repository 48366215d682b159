"""The rules of a partitioning policy, read from its YAML file and checked. Loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from models import checks, dotted, keys
from models.counting import counted
from models.partitioning.geometry import equipartition
from models.point import Parameters
from models.topology.mesh import Mesh, Rectangle, is_power_of_two, require_powers_of_two


@dataclass(frozen=True, kw_only=True)
class Admission:
    """The rule by which waiting jobs get the places of running ones (section 5.4.2).

    Parameters
    ----------
    interval : float, seconds
        Time between two checks of the queue (Q).
    overhead : float
        The part of it for which the processors of a swapped job are idle (O/Q).
    """

    BASE = "_partitioning"

    interval: float = keys.interval()
    overhead: float = keys.number("a fraction of the interval, 0 to below 1", least=0, below=1)


@dataclass(frozen=True, kw_only=True)
class Partitioning:
    """A policy's YAML file, checked.

    Parameters
    ----------
    discipline : str
        A name in `DISCIPLINES`, or a dotted one.
    reallocation_cost : bool
        Whether the simulation charges the cost of handing over processors at arrivals and departures.
    admission : Admission
        Admission rule of the simulation.
    """

    BASE = "_partitioning"

    discipline: str
    reallocation_cost: bool = keys.switch()
    admission: Admission = keys.mapping(Admission)

    @classmethod
    def of(cls, policy: Parameters) -> Partitioning:
        """Return the rules of a policy; ``ValueError`` with one line for a value not allowed."""
        discipline = str(policy.get("discipline"))
        if discipline not in DISCIPLINES:
            what = "a function (rows, columns, jobs) that returns rectangles"
            dotted.function(discipline, "policy.discipline", DISCIPLINES, what)
        declared = DISCIPLINES.get(discipline, Partitioning)
        return declared(discipline=discipline, **keys.read(declared, policy, "policy"))

    @property
    def period(self) -> float:
        """Time between two rotations, infinite without rotation; of each job if `per_job`."""
        return inf

    @property
    def per_job(self) -> bool:
        """Whether the period is multiplied by the number of jobs."""
        return False

    @property
    def n_partitions(self) -> int:
        """Number of partitions, if it never changes."""
        return 1

    def check(self, mesh: Mesh) -> None:
        """Refuse a machine on which the policy's partitions do not exist, with a ValueError of one line."""
        if isinstance(self, Equipartition | Fold | Static):
            require_powers_of_two(mesh, self.discipline)
        if self.n_partitions > mesh.n_processors:
            raise ValueError(
                f"policy.partitions={self.n_partitions}; allowed: up to {mesh.n_processors}, one for each "
                "processor"
            )

    @property
    def has_fixed_partitions(self) -> bool:
        """Whether jobs wait for a fixed number of partitions: static ones, or one for all."""
        return self.discipline in ("static", "fcfs")

    def interval(self, jobs: int, isolated_time: float) -> float:
        """Return the seconds between two rotations (I), infinite without rotation."""
        return inf

    def rectangles(self, mesh: Mesh, jobs: int) -> Sequence[Rectangle]:
        """Return the partitions of `jobs` jobs, if they depend only on a job's position.

        ``ValueError`` with one line, if a user's own function does not return valid rectangles.
        """
        if isinstance(self, Equipartition):
            return equipartition.partition(mesh.rows, mesh.columns, jobs, self.leftover)
        return _rectangles_of_own(self.discipline, mesh, jobs)


@dataclass(frozen=True, kw_only=True)
class Equipartition(Partitioning):
    """Section 4.3; `leftover` is the rule for columns that are left over."""

    BASE = "_equipartition"

    leftover: str = keys.choice(*equipartition.LEFTOVER)


@dataclass(frozen=True, kw_only=True)
class Fold(Partitioning):
    """Folding (section 4.4).

    Parameters
    ----------
    rotation : float or None
        Time between two rotations, in `rotation_unit`; None disables rotation.
    rotation_unit : {"seconds", "jobs", "runtime"}
        Seconds, seconds times the number of jobs, or multiples of the time of a job alone.
    overhead : {"printed", "derived"}
        See `models.partitioning.geometry.rotation.share_of_time`.
    """

    BASE = "_fold"

    rotation: float | None = keys.number(
        "a time between rotations from 1e-06 on, or null for none", null=True, least=1e-6
    )
    rotation_unit: str = keys.choice("seconds", "jobs", "runtime")
    overhead: str = keys.choice("printed", "derived")

    @property
    def period(self) -> float:
        """Time between two rotations, infinite without rotation; of each job if `per_job`."""
        return inf if self.rotation is None else self.rotation

    @property
    def per_job(self) -> bool:
        """Whether the period is multiplied by the number of jobs."""
        return self.rotation_unit == "jobs"

    def interval(self, jobs: int, isolated_time: float) -> float:
        """Return the seconds between two rotations (I), infinite without rotation."""
        return (
            self.period * {"seconds": 1.0, "jobs": float(jobs), "runtime": isolated_time}[self.rotation_unit]
        )


def _power_of_two(given: Parameters, where: str, key: str) -> int:
    allowed = "a power of two, for equal partitions"
    count = checks.whole(given, where, key, allowed)
    if not is_power_of_two(count):
        checks.refuse(f"{where}.{key}", count, allowed)
    return count


@dataclass(frozen=True, kw_only=True)
class Static(Partitioning):
    """A number of equal partitions."""

    BASE = "static_4"

    partitions: int = keys.checked(_power_of_two)

    @property
    def n_partitions(self) -> int:
        """Number of partitions, which never changes."""
        return self.partitions


DISCIPLINES: Mapping[str, type[Partitioning]] = {
    "equi": Equipartition,
    "equi_plus": Equipartition,
    "fold": Fold,
    "static": Static,
    "ideal_dynamic": Partitioning,
    "fcfs": Partitioning,
    "processor_sharing": Partitioning,
}
"""``policy.discipline`` -> the rules. The dotted name of a function gives a user's own rectangles: called
with the rows and columns of the machine and a number of jobs, it returns as many rectangles."""


@lru_cache(maxsize=1 << 12)
def _rectangles_of_own(name: str, mesh: Mesh, jobs: int) -> tuple[Rectangle, ...]:
    try:
        found = tuple(Rectangle(*map(int, r)) for r in dotted.imported(name)(mesh.rows, mesh.columns, jobs))
    except TypeError as error:
        raise ValueError(f"policy.discipline={name}: {error}; allowed: rectangles of 4 numbers") from None
    taken: set[tuple[int, int]] = set()
    for top, left, height, width in found:
        inside = 0 <= top <= top + height <= mesh.rows and 0 <= left <= left + width <= mesh.columns
        cells = {(row, column) for row in range(top, top + height) for column in range(left, left + width)}
        if not inside or not cells or taken & cells:
            raise ValueError(
                f"policy.discipline={name}: the rectangle at row {top}, column {left} of {height} × {width} "
                f"for one of {counted(jobs, 'job')} is empty, taken or not on the {mesh.rows} × "
                f"{mesh.columns} machine"
            )
        taken |= cells
    if len(found) != jobs:
        raise ValueError(
            f"policy.discipline={name}: {counted(len(found), 'rectangle')} for {counted(jobs, 'job')}; "
            "return one for each job"
        )
    return found


def memory_limit(machine: Parameters, mesh: Mesh) -> int:
    """Return how many jobs fit into memory at once (L); null means the maximum, one for each processor."""
    most = mesh.n_processors
    if machine.get("memory_limit") is None:
        return most
    allowed = f"1 to {most} jobs, one for each processor, or null for no limit"
    return checks.whole(machine, "machine", "memory_limit", allowed, most=most)
