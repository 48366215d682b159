"""The capacity of each curve of a study, from its overload runs."""

import numpy as np

from models.family import OVERLOAD
from sweep import statistics
from sweep.plan import families
from sweep.store import reader
from sweep.store.records import Finished
from sweep.store.state import State


class Capacities:
    """Capacities along all axes but the load, which has length 1.

    Attributes
    ----------
    mean, error, upper : ndarray
        See `sweep.statistics.capacity`; NaN where there are no overload runs, or none is done yet.
    delivered : ndarray, shape (axes but the load..., runs, batches), or None
        Work that the overload runs delivered; None without overload runs.
    """

    def __init__(self, state: State) -> None:
        plan, runs = state.plan, state.plan.overload
        self.axis = list(plan.axes).index("load")
        shape = tuple(1 if axis == "load" else len(values) for axis, values in plan.axes.items())
        self.mean, self.error, self.upper = (np.full(shape, np.nan) for _ in range(3))
        self._loads = plan.loads
        self.delivered: np.ndarray | None = None
        if runs is None:
            return
        n_batches = runs.longest.checkpoints[-1]
        delivered = np.full((len(runs.ids), n_batches), np.nan)
        done = sorted((state.lines[id_], number) for number, id_ in enumerate(runs.ids) if id_ in state.lines)
        for record, (_, number) in zip(reader.read(line for line, _ in done), done, strict=True):
            if isinstance(record, Finished):
                values = dict(record.arrays())[families.find(runs.task(number).family).delivered]
                delivered[number, : len(values)] = values
        of_curves = np.full((self.mean.size, runs.replications, n_batches), np.nan)
        self.delivered = of_curves.reshape(*np.delete(shape, self.axis), *of_curves.shape[1:])
        for place, values in zip(runs.points.tolist(), np.split(delivered, len(runs.points)), strict=True):
            of_curves[place] = values
            known = statistics.capacity(values, OVERLOAD)
            self.mean.flat[place], self.error.flat[place], self.upper.flat[place] = known

    def exceeded(self, index: tuple[slice, ...]) -> np.ndarray:
        """Return at which points of a block more is offered than can be delivered, bool."""
        curves = (*index[: self.axis], slice(None), *index[self.axis + 1 :])
        with np.errstate(invalid="ignore"):
            found: np.ndarray = self._loads[index] > self.upper[curves]
        return found
