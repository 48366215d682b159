"""What a partitioning policy does, read from its YAML file and checked. Loads no kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from models import checks, dotted
from models.partitioning.geometry import equipartition
from models.point import Parameters
from models.topology.mesh import Mesh, Rectangle, is_power_of_two, require_powers_of_two

KEYS: Mapping[str, tuple[str, ...]] = {
    "equi": ("leftover",),
    "equi_plus": ("leftover",),
    "fold": ("rotation", "rotation_unit", "overhead"),
    "static": ("partitions",),
    "ideal_dynamic": (),
    "fcfs": (),
    "processor_sharing": (),
}
"""``policy.discipline`` -> keys of its own. The dotted name of a function stands for rectangles of one's own:
called with the rows and columns of the machine and a number of jobs, it returns as many rectangles."""

EQUIPARTITIONS = ("equi", "equi_plus")
FIXED = ("static", "fcfs")
"""Disciplines under which jobs wait for partitions of a number that never changes."""

HALVED = (*EQUIPARTITIONS, "fold", "static")
"""Disciplines that divide a machine in halves."""

UNITS = ("seconds", "jobs", "runtime")
OVERHEADS = ("printed", "derived")


@dataclass(frozen=True)
class Partitioning:
    """A policy, without what belongs to the simulation alone.

    Parameters
    ----------
    discipline : str
        A name in `KEYS`, or a dotted one.
    leftover : str
        Rule of `equipartition.LEFTOVER` for columns that are left over; equipartition only.
    rotation : float
        Time between two rotations, in `unit`; infinite without rotation. Folding only.
    unit : {"seconds", "jobs", "runtime"}
        Seconds, seconds times the number of jobs, or times the time of a job alone.
    overhead : {"printed", "derived"}
        See `models.partitioning.static.rotating.share_of_time`.
    partitions : int
        Number of equal partitions; static only.
    """

    discipline: str
    leftover: str = equipartition.DEFAULT_LEFTOVER
    rotation: float = inf
    unit: str = "seconds"
    overhead: str = "printed"
    partitions: int = 1

    @classmethod
    def of(cls, policy: Parameters) -> Partitioning:
        """Read a policy's YAML file.

        Raises
        ------
        ValueError
            With one line, if a key has a value that is not allowed.
        """
        discipline = str(policy.get("discipline"))
        if discipline not in KEYS:
            what = "a function (rows, columns, jobs) that returns rectangles"
            dotted.function(discipline, "policy.discipline", KEYS, what)
            return cls(discipline)
        if discipline in EQUIPARTITIONS:
            leftover = checks.choice(policy, "policy", "leftover", tuple(equipartition.LEFTOVER))
            return cls(discipline, leftover=leftover)
        if discipline == "static":
            allowed = "a power of two, for equal partitions"
            count = checks.whole(policy, "policy", "partitions", allowed)
            if not is_power_of_two(count):
                checks.refuse("policy.partitions", count, allowed)
            return cls(discipline, partitions=count)
        if discipline != "fold":
            return cls(discipline)
        interval = inf
        if policy.get("rotation") is not None:
            allowed = "a positive time between rotations, or null for none"
            interval = float(checks.number(policy, "policy", "rotation", allowed, above=0))
        return cls(
            discipline,
            rotation=interval,
            unit=checks.choice(policy, "policy", "rotation_unit", UNITS),
            overhead=checks.choice(policy, "policy", "overhead", OVERHEADS),
        )

    def check(self, mesh: Mesh) -> None:
        """Refuse a machine on which the policy's partitions do not exist, with a ValueError of one line."""
        if self.discipline in HALVED:
            require_powers_of_two(mesh, self.discipline)
        if self.partitions > mesh.n_processors:
            raise ValueError(
                f"policy.partitions={self.partitions}; allowed: up to {mesh.n_processors}, one for each "
                "processor"
            )

    @property
    def has_fixed_partitions(self) -> bool:
        """Whether jobs wait for partitions of a number that never changes: static ones, or one for all."""
        return self.discipline in FIXED

    def interval(self, jobs: int, isolated_time: float) -> float:
        """Return the seconds between two rotations (I), infinite without rotation."""
        factor = {"seconds": 1.0, "jobs": float(jobs), "runtime": isolated_time}[self.unit]
        return self.rotation * factor

    def rectangles(self, mesh: Mesh, jobs: int) -> Sequence[Rectangle]:
        """Return the partitions of so many jobs, where a job's place among them decides.

        Raises
        ------
        ValueError
            With one line, if a function of one's own returns no rectangles, or no right ones.
        """
        if self.discipline in EQUIPARTITIONS:
            return equipartition.partition(mesh.rows, mesh.columns, jobs, self.leftover)
        return _rectangles_of_own(self.discipline, mesh, jobs)


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
                f"for one of {jobs} jobs is empty, taken or not on the {mesh.rows} × {mesh.columns} machine"
            )
        taken |= cells
    if len(found) != jobs:
        raise ValueError(f"policy.discipline={name}: {len(found)} rectangles for {jobs} jobs")
    return found


def memory_limit(machine: Parameters, mesh: Mesh) -> int:
    """Return how many jobs fit into memory at once (L); null is one for each processor, the most."""
    most = mesh.n_processors
    if machine.get("memory_limit") is None:
        return most
    allowed = f"1 to {most} jobs, one for each processor, or null for no limit"
    return checks.whole(machine, "machine", "memory_limit", allowed, most=most)
