"""The labelled dataset of a study: filled from the workers' logs, written as one netCDF file.

Every record goes to its place in arrays made beforehand, so that nothing is ever merged, and the file is
written to a private name and renamed: at every moment a reader finds a whole dataset. A large one is read
from the logs, judged and written block by block of the grid, so that memory does not grow with the number of
batches, and little with the number of tasks.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from netCDF4 import Dataset

from sweep.errors import RunError, one_line
from sweep.plan import families
from sweep.store import reader, variables
from sweep.store.capacities import Capacities
from sweep.store.records import Finished
from sweep.store.state import DONE, EXCLUDED, FAILED, LEFT, State
from sweep.store.summary import Results, Summary
from sweep.store.variables import Variable
from sweep.store.writing import private

BLOCK_BYTES = 2**26
"""Values of metrics that are held at a time; to judge them takes some times as much."""

MOST_CELLS = 2**18
"""Cells of a block, however few values each has."""

CHUNK = 2**17
"""Values in a chunk of the file, the part that is read at once, where there is more than one block."""


def write(
    state: State,
    path: Path,
    arguments: Sequence[str] = (),
    report: Callable[[int], None] = lambda done: None,
) -> None:
    """Replace the dataset at `path`: at every moment it is either the old or the new one.

    Parameters
    ----------
    state : State
        Of the tasks, and where their records are; no log may be moved meanwhile.
    report : callable, optional
        Called after each block with the number of tasks that are in it by then.

    Raises
    ------
    RunError
        If it cannot be written; the old one is then still there.
    """
    try:
        with private(path) as made:
            _write(state, made, arguments, report)
    except (OSError, RuntimeError) as error:  # netCDF4 reports a full disk as a RuntimeError
        raise RunError(
            f"{path}: the dataset could not be written ({one_line(error)}); all results are kept: free "
            "some disk space, then type the same command"
        ) from error


OF_LOADS = ("saturated", "capacity", "too_short", "bias")
"""Beginnings of the names of variables that describe queues, which a program has none of."""


class Block(NamedTuple):
    """A part of an axis, at one value of each axis before, with all of those after: it is held in memory.

    at : one slice for each axis
    shape : length of each axis within the block
    points : of the flat grid
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
    """Read the results of a block, each log from its beginning to its end; `cells` are the tasks' cells."""
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
        except (ValueError, KeyError):  # also where the metrics of the record differ from the plan's
            raise RunError(
                f"{line.log}: a record has changed while the dataset was made; type the same command again"
            ) from None
    return results


def _write(state: State, path: Path, arguments: Sequence[str], report: Callable[[int], None]) -> None:
    """Write the metrics block by block, and then everything that summarises them."""
    plan, capacities = state.plan, Capacities(state)
    cells = (plan.points[:, None] * plan.replications + np.arange(plan.replications)).ravel()
    ids = plan.ids[: plan.n_cells]
    of_tasks = np.full((*plan.shape, plan.replications), EXCLUDED, dtype=np.int8)
    of_tasks.flat[cells] = [
        DONE if id_ in state.done else FAILED if id_ in state.failed else LEFT for id_ in ids
    ]
    seconds = np.full(of_tasks.shape, np.nan)
    seconds.flat[cells] = [state.done.get(id_, np.nan) for id_ in ids]
    coords = families.coords(plan.families.values(), plan.measures)
    n_batches = plan.longest.checkpoints[-1]
    shapes = {
        name: (n_batches, *(len(coords[dim]) for dim in metric.dims)) for name, metric in plan.metrics.items()
    }
    summary = Summary(shapes, plan, capacities)
    a_point = 8 * plan.replications * sum(map(math.prod, shapes.values()))
    cut = list(blocks(plan.shape, max(1, min(BLOCK_BYTES // a_point, MOST_CELLS // plan.replications))))
    with Dataset(path, "w", format="NETCDF4") as file:
        file.set_auto_maskandscale(False)
        lengths = dict(zip(plan.axes, plan.shape, strict=True))
        lengths |= {"replication": plan.replications, "batch": n_batches}
        lengths |= {dim: len(values) for dim, values in coords.items()}
        lengths = {dim: length for dim, length in lengths.items() if dim not in plan.hidden}
        shown = [axis not in plan.hidden for axis in plan.axes]
        for dim, length in lengths.items():
            file.createDimension(dim, length)
        for name, metric in plan.metrics.items():
            dims = (*itertools.compress(plan.axes, shown), "replication", "batch", *metric.dims)
            chunks = None if len(cut) == 1 else _chunks([lengths[dim] for dim in dims])
            made = file.createVariable(
                name, "f8", dims, fill_value=np.nan, fletcher32=True, chunksizes=chunks
            )
            if chunks is not None:  # else each variable keeps 16 MB
                made.set_var_chunk_cache(2 * 8 * CHUNK)
            made.setncatts(variables.attributes_of(plan, metric, metric.long_name))
        for block in cut:
            results = _results(state, cells, block, shapes)
            for name, values in summary.add(block.at, results, of_tasks[block.at]).items():
                at = tuple(itertools.compress(block.at, shown))
                file[name][at] = values.reshape(
                    [*itertools.compress(block.shape, shown), *values.shape[len(shown) :]]
                )
            report(int(np.searchsorted(plan.points, block.points.stop)) * plan.replications)
        summary.judge_lengths()
        for name, variable in variables.summarised(plan, coords, summary, capacities, of_tasks, seconds):
            if name not in plan.hidden and not (plan.settings.is_program and name.startswith(OF_LOADS)):
                _put(file, name, _without(plan.hidden, variable))
        file.setncatts(variables.attributes(plan, arguments))


def _without(hidden: Sequence[str], variable: Variable) -> Variable:
    """Return a variable without axes of one value."""
    dims, values, attributes = variable
    lost = tuple(place for place, dim in enumerate(dims) if dim in hidden)
    return (
        [dim for dim in dims if dim not in hidden],
        np.squeeze(values, lost) if lost else values,
        attributes,
    )


def _put(file: Dataset, name: str, variable: Variable) -> None:
    """Write a variable as xarray would, with a checksum where netCDF can keep one: not of texts."""
    dims, values, attributes = variable
    values = np.asarray(values)
    options: dict[str, Any] = {}
    if values.dtype == bool:
        values, attributes = values.astype(np.int8), {**attributes, "dtype": "bool"}
    kind: Any = str if values.dtype == object else values.dtype
    if values.dtype.kind == "f":
        options["fill_value"] = np.nan
    if values.dtype.kind in "iuf" and values.size:
        options["fletcher32"] = True
    made = file.createVariable(name, kind, dims, **options)
    made.setncatts(attributes)
    made[...] = values


def _chunks(shape: Sequence[int]) -> list[int]:
    """Return a chunk of at most `CHUNK` neighbours in memory, so that a block is written to few of them."""
    left, found = CHUNK, []
    for length in reversed(shape):
        found.append(max(1, min(length, left)))
        left //= found[-1]
    return found[::-1]
