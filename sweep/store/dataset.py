"""The labelled dataset of a study: filled from the workers' logs, written as one netCDF file.

Every record goes to its place in preallocated arrays, so nothing is ever merged, and the file is written
under a private name and renamed: a reader always finds a complete dataset. A large study is read from the
logs, summarised and written in blocks of the grid, so memory does not grow with the number of batches, and
only little with the number of tasks.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from netCDF4 import Dataset

from sweep.errors import RunError, one_line
from sweep.store import kept, layout, reader, variables
from sweep.store.capacities import Capacities
from sweep.store.probe import written
from sweep.store.records import Finished
from sweep.store.state import DONE, EXCLUDED, FAILED, LEFT, State
from sweep.store.summary import Results, Summary
from sweep.store.variables import Variable
from sweep.store.writing import private

BLOCK_BYTES = 2**26
"""Values of metrics in memory at a time; their statistics take several times as much."""

MOST_CELLS = 2**18
"""Maximum of cells in a block, however few values each has."""

CHUNK = 2**17
"""Maximum of values in a chunk of the file, the part that is compressed and read at once."""

SMALL = 4000
"""Bytes of a variable below which it is stored uncompressed: the description of chunks would take more."""


def write(
    state: State, path: Path, arguments: Sequence[str] = (), report: Callable[[int], None] = lambda done: None
) -> None:
    """Replace the dataset at `path` atomically: it is always either the old or the new one.

    Parameters
    ----------
    state : State
        The states of the tasks, and where their records are; no log may be moved meanwhile.
    report : callable, optional
        Called after each block with the number of tasks written so far.

    Raises
    ------
    RunError
        If it cannot be written; the old one is then unchanged.
    """
    try:
        with private(path) as made:
            _write(state, made, arguments, report)
        written(path)
    except (OSError, RuntimeError) as error:  # netCDF4 reports a full disk as a RuntimeError
        raise RunError(
            f"{path}: the dataset could not be written ({one_line(error)}); all results are kept: free "
            "some disk space, then run the same command again"
        ) from error


OF_LOADS = ("saturated", "capacity", "too_short", "bias")
"""Prefixes of variables that describe queues; a program has no queues."""


class Block(NamedTuple):
    """A part of the grid that is held in memory: a range of one axis, at one value of each axis before it and
    all values of the axes after it.

    at : one slice for each axis
    shape : length of each axis within the block
    points : positions in the flat grid
    """

    at: tuple[slice, ...]
    shape: tuple[int, ...]
    points: slice


def blocks(shape: tuple[int, ...], most: int) -> Iterator[Block]:
    """Cut a grid into blocks of at most `most` points, but of at least one."""
    cut = next((axis for axis in range(len(shape)) if math.prod(shape[axis + 1 :]) <= most), len(shape) - 1)
    after = math.prod(shape[cut + 1 :])
    step = max(1, most // after)
    whole = tuple(slice(0, n) for n in shape[cut + 1 :])
    for number, before in enumerate(np.ndindex(shape[:cut])):
        for start in range(0, shape[cut], step):
            stop = min(start + step, shape[cut])
            at = (*(slice(i, i + 1) for i in before), slice(start, stop), *whole)
            points = slice((number * shape[cut] + start) * after, (number * shape[cut] + stop) * after)
            yield Block(at, (*(1,) * cut, stop - start, *shape[cut + 1 :]), points)


def _results(state: State, cells: np.ndarray, block: Block, shapes: Mapping[str, tuple[int, ...]]) -> Results:
    """Read the results of a block, each log from beginning to end; `cells` are the tasks' cells."""
    plan = state.plan
    start, stop = (end * plan.replications for end in (block.points.start, block.points.stop))
    shape = (*block.shape, plan.replications)
    results = Results(
        {name: np.full((*shape, *own), np.nan) for name, own in shapes.items()}, np.zeros(shape, dtype=bool)
    )
    rows = {name: values.reshape(stop - start, *shapes[name]) for name, values in results.values.items()}
    first, last = np.searchsorted(cells, [start, stop]).tolist()
    done = sorted(
        (line, cells[number] - start)
        for number in range(first, last)
        if (line := state.lines.get(plan.ids[number])) is not None
    )
    for record, (line, row) in zip(reader.read(line for line, _ in done), done, strict=True):
        try:
            if not isinstance(record, Finished):
                raise ValueError
            results.overflowed.flat[row] = record.overflowed
            for name, values in record.arrays():
                target = rows[name][row, : record.batches]
                target[...] = values.reshape(target.shape)
        except (ValueError, KeyError):  # also if the metrics of the record differ from the plan's
            raise RunError(
                f"{line.log}: a record changed while the dataset was made; run the same command again"
            ) from None
    return results


def _write(state: State, path: Path, arguments: Sequence[str], report: Callable[[int], None]) -> None:
    """Write the metrics block by block, and then the variables that summarise them."""
    plan, capacities = state.plan, Capacities(state)
    cells = (plan.points[:, None] * plan.replications + np.arange(plan.replications)).ravel()
    ids = plan.ids[: plan.n_cells]
    of_tasks = np.full((*plan.shape, plan.replications), EXCLUDED, dtype=np.int8)
    of_tasks.flat[cells] = [
        DONE if id_ in state.done else FAILED if id_ in state.failed else LEFT for id_ in ids
    ]
    seconds = np.full(of_tasks.shape, np.nan)
    seconds.flat[cells] = [state.done.get(id_, np.nan) for id_ in ids]
    coords = plan.coords
    n_batches, stored = plan.longest.checkpoints[-1], kept.n_batches(plan)
    shapes = {
        name: (n_batches, *(len(coords[dim]) for dim in metric.dims)) for name, metric in plan.metrics.items()
    }
    summary = Summary(shapes, plan, capacities)
    a_point = 8 * plan.replications * sum(map(math.prod, shapes.values()))
    cut = list(blocks(plan.shape, max(1, min(BLOCK_BYTES // a_point, MOST_CELLS // plan.replications))))
    with Dataset(path, "w", format="NETCDF4") as file:
        lengths = dict(zip(plan.axes, plan.shape, strict=True))
        lengths |= {"replication": plan.replications, "batch": stored}
        lengths |= {dim: len(values) for dim, values in coords.items()}
        if plan.settings.keep == "all" and capacities.delivered is not None:
            lengths |= zip(layout.OVERLOADED, capacities.delivered.shape[-2:], strict=True)
        lengths = {dim: length for dim, length in lengths.items() if dim not in plan.hidden}
        shown = [axis not in plan.hidden for axis in plan.axes]
        for dim, length in lengths.items():
            file.createDimension(dim, length)
        of_axes = dict(variables.coordinates(plan, coords, stored))
        written = _Written(
            file, {name: one for name, one in of_axes.items() if not {*one[0]} & {*plan.hidden}}
        )
        made = {}
        for name, metric in plan.metrics.items():
            dims, *described = variables.of_batches(plan, metric)
            made[name] = written.create(name, [dim for dim in dims if dim not in plan.hidden], *described)
        for block in cut:
            results = _results(state, cells, block, shapes)
            found = summary.add(block.at, results, of_tasks[block.at])
            for name, values in kept.reduced(plan, found).items():
                at = tuple(itertools.compress(block.at, shown))
                made[name][at] = values.reshape(
                    [*itertools.compress(block.shape, shown), *values.shape[len(shown) :]]
                )
            report(int(np.searchsorted(plan.points, block.points.stop)) * plan.replications)
        summary.judge_lengths()
        for name, variable in variables.summarised(plan, summary, capacities, of_tasks, seconds):
            if not (plan.settings.is_program and name.startswith(OF_LOADS)):
                written.put(name, _without(plan.hidden, variable))
        file.setncatts(variables.attributes(plan, arguments))
        written.finish()


def _without(hidden: Sequence[str], variable: Variable) -> Variable:
    """Return a variable without some axes, which have one value."""
    dims, values, attributes = variable
    lost = tuple(place for place, dim in enumerate(dims) if dim in hidden)
    return (
        [dim for dim in dims if dim not in hidden],
        np.squeeze(values, lost) if lost else values,
        attributes,
    )


class _Written:
    """The file of a dataset: each variable goes to its group, with the coordinates that the group adds.

    Parameters
    ----------
    coordinates : dict of str to Variable
        All coordinates; except for the axes, the attribute ``coordinates`` of their group lists them.
    """

    def __init__(self, file: Dataset, coordinates: Mapping[str, Variable]) -> None:
        self._file, self._coordinates = file, coordinates
        self._values: list[tuple[Any, np.ndarray]] = []
        self._describe(file, [dim for dim in file.dimensions if dim not in ("replication", "batch")])

    def create(
        self, name: str, dims: Sequence[str], kind: Any, attributes: Mapping[str, Any], values: Any = None
    ) -> Any:
        """Return a new variable of numbers or texts, whose values are written later."""
        group = layout.group_of(name, dims, values)
        if group and group not in self._file.groups:
            self._file.createGroup(group)
        home = self._file[group] if group else self._file
        self._describe(home, dims)
        return self._create(home, name, dims, kind, attributes)

    def put(self, name: str, variable: Variable) -> None:
        """Make a variable, whose values `finish` writes."""
        dims, given, described = variable
        values, kind, attributes = _typed(np.asarray(given), described)
        self._values.append((self.create(name, dims, kind, attributes, values), values))

    def finish(self) -> None:
        """Write the values, after all variables are made: alternating would rewrite the header."""
        for made, values in self._values:
            made[...] = values

    def _describe(self, home: Any, dims: Sequence[str]) -> None:
        for name, (own, given, described) in self._coordinates.items():
            if name not in home.variables and set(own) <= set(dims):
                values, kind, attributes = _typed(np.asarray(given), described)
                made = self._create(home, name, own, kind, attributes, missing=False)
                self._values.append((made, values))
        if others := [name for name in home.variables if name in self._coordinates and name not in dims]:
            home.setncattr("coordinates", " ".join(others))

    def _create(
        self, home: Any, name: str, dims: Sequence[str], kind: Any, attributes: Mapping[str, Any],
        missing: bool = True,
    ) -> Any:  # fmt: skip
        kind, options = np.dtype(kind), dict[str, Any]()
        if kind.kind == "S":
            # Fixed length: HDF5 2.2 crashes on strings of variable length in groups of a reopened file.
            length = f"text{kind.itemsize}"
            if length not in self._file.dimensions:
                self._file.createDimension(length, kind.itemsize)
            kind, dims, attributes = np.dtype("S1"), [*dims, length], {**attributes, "_Encoding": "utf-8"}
        shape = [len(self._file.dimensions[dim]) for dim in dims]
        if missing and kind.kind == "f":
            options["fill_value"] = np.nan
        is_large = kind.itemsize * math.prod(shape) >= SMALL
        if is_large:
            options |= {
                "compression": "zlib",
                "complevel": 1,
                "fletcher32": True,
                "chunksizes": _chunks(shape),
            }
        elif math.prod(shape):
            options["contiguous"] = True
        made = home.createVariable(name, kind, dims, **options)
        made.set_auto_maskandscale(False)
        if is_large:  # otherwise each variable keeps 16 MB
            made.set_var_chunk_cache(2 * 8 * CHUNK)
        made.setncatts(attributes)
        return made


def _typed(values: np.ndarray, attributes: dict[str, Any]) -> tuple[np.ndarray, Any, dict[str, Any]]:
    """Return the values and their type for the file, and the attributes."""
    if values.dtype == object:  # texts
        coded = np.array([text.encode() for text in values.flat] or [b""], dtype="S")
        letters = coded.view("S1").reshape(len(coded), -1)[: values.size]
        return letters.reshape(*values.shape, -1 if values.size else 1), coded.dtype, attributes
    if values.dtype == bool:
        return values, np.int8, {**attributes, "dtype": "bool"}
    return values, values.dtype, attributes


def _chunks(shape: Sequence[int]) -> list[int]:
    """Return a shape of chunks of at most `CHUNK` neighbours: a block is then written to few of them."""
    left, found = CHUNK, []
    for length in reversed(shape):
        found.append(max(1, min(length, left)))
        left //= found[-1]
    return found[::-1]
