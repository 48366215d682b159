"""Which partitions a policy gives to a fixed number of jobs, and what share of the time rotating takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf, log2

from models.partitioning import equipartition, rotation
from models.point import Parameters
from models.topology.mesh import Mesh, require_powers_of_two

DISCIPLINES = ("equi", "equi_plus", "fold", "static", "ideal_dynamic", "fcfs", "processor_sharing")
UNITS = ("seconds", "jobs", "runtime")
OVERHEADS = ("printed", "derived")


@dataclass(frozen=True)
class Partitioning:
    """A policy as the static analyses read it.

    Parameters
    ----------
    discipline : str
        One of `DISCIPLINES`.
    leftover : str
        Rule of `equipartition.LEFTOVER` for columns that are left over; equipartition only.
    rotation : float
        Time between two rotations, in `unit`; infinite without rotation. Folding only.
    unit : {"seconds", "jobs", "runtime"}
        Seconds, seconds times the number of jobs, or times the time of a job alone.
    overhead : {"printed", "derived"}
        See `Partitioning.rotation_overhead`.
    partitions : int
        Number of equal partitions; static only.
    """

    discipline: str
    leftover: str = ""
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
        discipline = _one_of(policy, "discipline", DISCIPLINES)
        if discipline in ("equi", "equi_plus"):
            return cls(discipline, leftover=_one_of(policy, "leftover", tuple(equipartition.LEFTOVER)))
        if discipline == "static":
            count = policy.get("partitions")
            if isinstance(count, bool) or not isinstance(count, int) or count < 1 or count & (count - 1):
                raise ValueError(f"policy.partitions={count}; allowed: a power of two, for equal partitions")
            return cls(discipline, partitions=count)
        if discipline != "fold":
            return cls(discipline)
        interval = policy.get("rotation")
        if interval is None:
            interval = inf
        elif isinstance(interval, bool) or not isinstance(interval, int | float) or not interval > 0:
            raise ValueError(
                f"policy.rotation={interval}; allowed: a positive time between rotations, or null for none"
            )
        return cls(
            discipline,
            rotation=float(interval),
            unit=_one_of(policy, "rotation_unit", UNITS),
            overhead=_one_of(policy, "overhead", OVERHEADS),
        )

    def check(self, mesh: Mesh) -> None:
        """Refuse a machine on which the policy's partitions do not exist, with a ValueError of one line."""
        if self.discipline in ("equi", "equi_plus", "fold", "static"):
            require_powers_of_two(mesh, self.discipline)
        if self.partitions > mesh.n_processors:
            raise ValueError(
                f"policy.partitions={self.partitions}; allowed: up to {mesh.n_processors}, one for each "
                "processor"
            )

    def interval(self, jobs: int, isolated_time: float) -> float:
        """Return the seconds between two rotations (I), infinite without rotation."""
        factor = {"seconds": 1.0, "jobs": float(jobs), "runtime": isolated_time}[self.unit]
        return self.rotation * factor

    def rotation_overhead(self, mesh: Mesh, jobs: int, interval: float, moved_bytes: int) -> float:
        """Return the fraction of the time that processors spend on rotations (%OV), at most 1.

        Parameters
        ----------
        mesh : Mesh
        jobs : int
        interval : float, seconds
        moved_bytes : int
            To fold one thread and unfold another: 2 D + C.

        Notes
        -----
        ``printed`` is equation 5.4. ``derived`` multiplies out the terms of equation 5.3, which makes half of
        that, or a quarter where log2 J (rounded down) is odd; and for even J it counts the rotations of all
        subsystems, where 5.3 and 5.4 have those of one.
        """
        if self.discipline != "fold" or interval == inf or jobs == 1:
            return 0.0
        doublings = jobs.bit_length() - 1
        longer = round(log2(max(mesh.rows, mesh.columns)))
        a_thread = moved_bytes / mesh.bandwidth
        taken_part = rotation.rotations_per_job(jobs)  # f(J), in a cycle of N(J) intervals
        if not taken_part:
            return 0.0
        if self.overhead == "printed":
            share = taken_part * 2.0 ** (longer - doublings // 2 - 1) * a_thread / interval
        else:
            cycle = rotation.cycle_length(jobs)
            shorter = round(log2(min(mesh.rows, mesh.columns)))
            side = 2 ** max(shorter - doublings // 2, 0)  # threads that move at once
            seconds = mesh.n_processors / 2 / side * a_thread
            processors = mesh.n_processors / 2**doublings
            share = jobs * taken_part / 2 * processors * seconds / (mesh.n_processors * cycle * interval)
        return min(share, 1.0)


def _one_of(policy: Parameters, key: str, allowed: tuple[str, ...]) -> str:
    value = policy.get(key)
    if value not in allowed:
        raise ValueError(f"policy.{key}={value}; allowed: {', '.join(allowed)}")
    return str(value)


@lru_cache(maxsize=1 << 14)
def allocate(policy: Partitioning, mesh: Mesh, jobs: int) -> Mapping[tuple[int, int], int]:
    """Return the partitions of the jobs that run: (height, width) -> number of jobs.

    Parameters
    ----------
    policy : Partitioning
    mesh : Mesh
    jobs : int
        Jobs that are there. Static partitions take only as many as there are partitions, and FCFS takes one;
        so does processor sharing, which gives the whole machine to one after the other.

    Notes
    -----
    The ideal of section 3.2 knows no shapes: so many processors in a row stand for it.

    Raises
    ------
    ValueError
        If there are more jobs than processors.
    """
    if not 1 <= jobs <= mesh.n_processors:
        raise ValueError(
            f"jobs={jobs}; allowed: 1 to {mesh.n_processors}, one for each processor of "
            f"{mesh.rows} × {mesh.columns}"
        )
    if policy.discipline in ("equi", "equi_plus"):
        return _equal_parts(mesh, jobs, policy.leftover)
    if policy.discipline == "fold":
        doublings = jobs.bit_length() - 1
        small = 2 * (jobs - 2**doublings)
        shapes = {halved(mesh, doublings): jobs - small, halved(mesh, doublings + 1): small}
        return {shape: count for shape, count in shapes.items() if count}
    if policy.discipline == "ideal_dynamic":
        least, more = divmod(mesh.n_processors, jobs)
        shapes = {(1, least): jobs - more, (1, least + 1): more}
        return {shape: count for shape, count in shapes.items() if count}
    return {halved(mesh, policy.partitions.bit_length() - 1): min(jobs, policy.partitions)}


def _equal_parts(mesh: Mesh, jobs: int, leftover: str) -> dict[tuple[int, int], int]:
    """Count the shapes of `equipartition.partition` by section instead of job by job."""
    sections = equipartition.sections(mesh.rows, mesh.columns, jobs, leftover)
    across = mesh.columns if sections.transposed else mesh.rows
    height = across // sections.rows
    found = Counter({(height, width): sections.rows * n for width, n in Counter(sections.widths).items()})
    if sections.remainder:
        least, more = divmod(across, sections.remainder)
        found[least, sections.remainder_width] += sections.remainder - more
        found[least + 1, sections.remainder_width] += more
    return {
        (width, height) if sections.transposed else (height, width): count
        for (height, width), count in found.items()
        if count
    }


def halved(mesh: Mesh, times: int) -> tuple[int, int]:
    """Return height and width of a part after so many halvings of the machine.

    Its larger dimension (its rows, if it is square) is halved first, then both in turns (section 4.4.1);
    where one is used up, the other alone.
    """
    shorter = min(mesh.rows, mesh.columns)
    across = min(times // 2, shorter.bit_length() - 1)
    along = times - across
    if mesh.rows >= mesh.columns:
        return mesh.rows >> along, mesh.columns >> across
    return mesh.rows >> across, mesh.columns >> along
