"""The partitions of a policy for a fixed number of jobs."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from models.partitioning.geometry import equipartition
from models.partitioning.geometry.rotation import small_and_large
from models.partitioning.rules import DISCIPLINES, Equipartition, Fold, Partitioning
from models.topology.mesh import Mesh


@lru_cache(maxsize=1 << 14)
def allocate(policy: Partitioning, mesh: Mesh, jobs: int) -> Mapping[tuple[int, int], int]:
    """Return the partitions of the jobs that run: (height, width) -> number of jobs.

    Static partitions run only as many of the jobs in the system as there are partitions, and FCFS runs one;
    so does processor sharing, which gives the whole machine to one job after the other. The ideal of section
    3.2 has no shapes: it is represented by processors in a row.

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
    if isinstance(policy, Equipartition):
        return _equal_parts(mesh, jobs, policy.leftover)
    if isinstance(policy, Fold):
        (small, large), doublings = small_and_large(jobs), jobs.bit_length() - 1
        shapes = {halved(mesh, doublings): large, halved(mesh, doublings + 1): small}
        return {shape: count for shape, count in shapes.items() if count}
    if policy.discipline == "ideal_dynamic":
        least, more = divmod(mesh.n_processors, jobs)
        shapes = {(1, least): jobs - more, (1, least + 1): more}
        return {shape: count for shape, count in shapes.items() if count}
    if policy.discipline not in DISCIPLINES:
        return Counter((part.height, part.width) for part in policy.rectangles(mesh, jobs))
    return {halved(mesh, policy.n_partitions.bit_length() - 1): min(jobs, policy.n_partitions)}


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
    """Return height and width of a part after a number of halvings of the machine.

    Its larger dimension (its rows, if it is square) is halved first, then both in turns (section 4.4.1); once
    one is used up, only the other is halved.
    """
    shorter = min(mesh.rows, mesh.columns)
    across = min(times // 2, shorter.bit_length() - 1)
    along = times - across
    if mesh.rows >= mesh.columns:
        return mesh.rows >> along, mesh.columns >> across
    return mesh.rows >> across, mesh.columns >> along
