"""Folding in plain Python, as `models.partitioning.simulation.fold` states its rules."""

from collections.abc import Hashable
from typing import NamedTuple

from models.partitioning.geometry.walk import ROWS, Cell, Ring, coarser, is_closed, placed, splits
from models.topology.mesh import Rectangle

Job = Hashable
Cells = tuple[Cell, ...]
Part = tuple[Job, Cells]


class Move(NamedTuple):
    """A job that changes its partition; a job that arrives has none before, one that departs none after."""

    job: Job
    before: Rectangle | None
    after: Rectangle | None


Step = list[Move]
"""What moves at one instant."""


class _Free:
    """Stands for a job in a partition that a departure left."""


FREE = _Free()


class Folding:
    """The jobs on a mesh and their partitions, at any moment of FOLD.

    Every change returns its steps, one for each instant at which something moves: usually one, more for
    fast rotations. Work is O(number of cells) a step.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._splits = splits(rows, columns)
        self.rows, self.columns = rows, columns
        self._axes: tuple[int, ...] = ()
        self._holds: dict[Job, Cells] = {}
        self._owner: dict[Cell, Job] = {}
        self._rings: list[Ring] = []

    @property
    def n_jobs(self) -> int:
        """Number of jobs (J)."""
        return len(self._holds)

    @property
    def n_cells(self) -> int:
        """Number of cells of the grid."""
        return 2 ** len(self._axes)

    def partitions(self) -> list[tuple[Job, Rectangle]]:
        """Return the jobs with their partitions, along the walk of each system from its oldest job on."""
        return [
            (job, self._rectangle(cells)) for ring in self._rings for job, cells in self._from_oldest(ring)
        ]

    def strings(self) -> list[str]:
        """Return for each system the string of section 4.4.2, in the order of `partitions`."""
        return ["".join(" sb"[len(cells)] for _, cells in self._from_oldest(ring)) for ring in self._rings]

    def arrive(self, job: Job) -> list[Step]:
        """Let a job in, which gets half of a large partition."""
        if not self._holds:
            self._holds[job] = ((0, 0),)
            self._set_level(0)
            step = [Move(job, None, self._rectangle(((0, 0),)))]
        else:
            host, (first, second) = self._host()
            step = self._change([(host, (first,))])
            self._holds[job] = (second,)
            self._owner[second] = job
            step.append(Move(job, None, self._rectangle((second,))))
        if self.n_jobs == self.n_cells and len(self._axes) < len(self._splits):
            self._refine()
        return [step]

    def depart(self, job: Job) -> list[Step]:
        """Let a job out and rotate until its processors are taken."""
        if self.n_jobs == 1:
            whole = self._rectangle(self._holds.pop(job))
            self._set_level(0)
            return [[Move(job, whole, None)]]
        steps: list[Step] = []
        if all(len(cells) == 2 for cells in self._holds.values()):
            steps += self._coarsen()
        ring = self._ring_of(job)
        takers = [other for other, cells in self._parts(ring) if other != job and len(cells) == 1]
        if len(takers) < len(self._holds[job]):
            steps += self._join()
            ring = self._ring_of(job)
        cells = self._holds[FREE] = self._holds.pop(job)
        self._owner.update(dict.fromkeys(cells, FREE))
        steps.append([Move(job, self._rectangle(cells), None)])
        while FREE in self._holds:
            steps.append(self._exchange(ring))
        return steps

    def rotate(self) -> list[Step]:
        """Exchange small and large partitions of neighbours, once in each system.

        The rotation is the last step; before it come those that joined systems, if any.
        """
        densities = {len(self._parts(ring)) / len(ring.cells) for ring in self._rings}
        steps = self._join() if len(densities) > 1 else []
        self._rings = [part for ring in self._rings for part in self._divided(ring)]
        return [*steps, [move for ring in self._rings for move in self._exchange(ring)]]

    def _exchange(self, ring: Ring) -> Step:
        """Replace each 'sb' of a system by 'bs'; what is free takes nothing."""
        changes: list[Part] = []
        parts = self._parts(ring)
        for i, (job, cells) in enumerate(parts):
            before, its_cells = parts[i - 1]
            if before is FREE or len(its_cells) == 2:
                continue
            if len(cells) == 2:
                changes += [(before, (*its_cells, cells[0])), (job, cells[1:])]
            elif job is FREE:
                changes.append((before, its_cells + cells))
                del self._holds[FREE]
        return self._change(changes)

    def _join(self) -> list[Step]:
        """Make one system of all."""
        whole = Ring.whole(self._axes)
        steps: list[Step] = []
        for _ in range(max(len(ring.cells) for ring in self._rings)):
            in_the_way = [ring for ring in self._rings if not _follow(whole, self._parts(ring))]
            if not in_the_way:
                self._rings = [whole]
                return steps
            step = [move for ring in in_the_way for move in self._exchange(ring)]
            if not step:
                break
            steps.append(step)
        return [*steps, self._lay_out(whole)]

    def _lay_out(self, whole: Ring) -> Step:
        """Put the jobs one after the other along the walk, in the order in which it meets them now."""
        in_order = dict.fromkeys(self._owner[cell] for cell in whole.cells)
        changes, start = [], 0
        for job in in_order:
            end = start + len(self._holds[job])
            changes.append((job, whole.cells[start:end]))
            start = end
        self._rings = [whole]
        return self._change(changes)

    def _divided(self, ring: Ring) -> list[Ring]:
        """Return the systems that a system falls into; itself where it cannot be divided."""
        parts = self._parts(ring)
        if len(parts) in (len(ring.cells), len(ring.cells) // 2):
            return [ring]  # all partitions are of one size: nothing rotates
        if len(parts) % 2 or not is_closed(ring.axes[1:]):
            return [ring]
        for half in ring.halves():
            mine = _inside(half, parts)
            if 2 * len(mine) != len(parts) or not _follow(half, mine):
                return [ring]
        return [part for half in ring.halves() for part in self._divided(half)]

    def _host(self) -> Part:
        """Return the job that a newcomer shares with, and its cells along the walk."""
        everyone = [(ring, self._parts(ring)) for ring in self._rings]
        choices = [(ring, parts) for ring, parts in everyone if len(parts) < len(ring.cells)]
        while True:
            ring, parts = min(choices, key=lambda choice: len(choice[1]) / len(choice[0].cells))
            large = [part for part in parts if len(part[1]) == 2]
            if len(large) == 1 or len(ring.cells) == 2:
                return large[0]
            halves = ring.halves()
            first = set(halves[0].cells)
            for part in large:
                if len(first.intersection(part[1])) == 1:
                    return part
            choices = [(half, its) for half in halves if (its := _inside(half, large))]
            choices = [(half, _inside(half, parts)) for half, _ in choices]

    def _refine(self) -> None:
        """Halve every cell: all partitions, which are small, become large."""
        axis = self._splits[len(self._axes)]
        for job, ((row, column),) in self._holds.items():
            if axis == ROWS:
                self._holds[job] = ((2 * row, column), (2 * row + 1, column))
            else:
                self._holds[job] = ((row, 2 * column), (row, 2 * column + 1))
        self._set_level(len(self._axes) + 1)

    def _coarsen(self) -> list[Step]:
        """Take cells twice as large: all partitions, which are large, become small."""
        axis = self._axes[-1]
        steps = []
        if any(coarser(first, axis) != coarser(second, axis) for first, second in self._holds.values()):
            steps.append(self._lay_out(Ring.whole(self._axes)))
        for job, cells in self._holds.items():
            self._holds[job] = (coarser(cells[0], axis),)
        self._set_level(len(self._axes) - 1)
        return steps

    def _set_level(self, n_splits: int) -> None:
        """Begin with one system on the grid after `n_splits` halvings."""
        self._axes = self._splits[:n_splits]
        self._rings = [Ring.whole(self._axes)] if self._holds else []
        self._owner = {cell: job for job, cells in self._holds.items() for cell in cells}

    def _change(self, changes: list[Part]) -> Step:
        """Give jobs other cells and return what has moved."""
        step = []
        for job, cells in changes:
            before, after = self._rectangle(self._holds[job]), self._rectangle(cells)
            if before != after and job is not FREE:
                step.append(Move(job, before, after))
            self._holds[job] = cells
            self._owner.update(dict.fromkeys(cells, job))
        return step

    def _rectangle(self, cells: Cells) -> Rectangle:
        return placed(self.rows, self.columns, self._axes, cells)

    def _ring_of(self, job: Job) -> Ring:
        return next(ring for ring in self._rings if self._holds[job][0] in ring.cells)

    def _parts(self, ring: Ring) -> list[Part]:
        """Return jobs with their cells in the order of a system's walk."""
        cells = ring.cells
        if len(cells) > 2 and self._owner[cells[0]] == self._owner[cells[-1]]:
            cells = cells[1:] + cells[:1]
        found: dict[Job, Cells] = {}
        for cell in cells:
            job = self._owner[cell]
            found[job] = (*found.get(job, ()), cell)
        return list(found.items())

    def _from_oldest(self, ring: Ring) -> list[Part]:
        """Return the same from the job on that has been running for longest."""
        parts = self._parts(ring)
        age = {job: i for i, job in enumerate(self._holds)}
        start = min(range(len(parts)), key=lambda i: age[parts[i][0]], default=0)
        return parts[start:] + parts[:start]


def _inside(ring: Ring, parts: list[Part]) -> list[Part]:
    """Return the jobs that have no cell outside of a system's part of the mesh."""
    cells = set(ring.cells)
    return [part for part in parts if cells.issuperset(part[1])]


def _follow(ring: Ring, parts: list[Part]) -> bool:
    """Return whether the two cells of each large partition follow each other on a walk."""
    n = len(ring.cells)
    place = {cell: i for i, cell in enumerate(ring.cells)}
    return all((place[cells[0]] - place[cells[-1]]) % n in (0, 1, n - 1) for _, cells in parts)
