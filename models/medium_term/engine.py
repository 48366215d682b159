"""Makes and measures schedules: applies a policy's function to lists of jobs."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numba import int64, types, void

from models import dotted
from models.arrays import Ints
from models.kernels.compiling import kernel
from models.kernels.types import INTS
from models.medium_term.boxes import BOXES, FILL, TOTALS, Boxes, Totals, add, empty
from models.medium_term.buddy import buddy
from models.medium_term.epochs import equi_epoch, greedy_largest, optimal_epoch
from models.medium_term.policies import Rules, rules_of
from models.medium_term.schedule import Box, Schedule
from models.medium_term.tilings import optimum
from models.point import Parameters

FUNCTIONS: dict[str, Callable] = {
    "buddy_schedule": buddy,
    "equi_epoch": equi_epoch,
    "greedy_largest": greedy_largest,
    "optimal_epoch": optimal_epoch,
    "optimal_schedule": optimum,
}
"""Functions of `policies.SCHEDULES`."""

MAKE = types.FunctionType(FILL)
LISTS = int64[:, ::1]


def make_boxes(rules: Rules, processors: int, minimum: Ints) -> Boxes:
    """Return the schedule of jobs with these minimum requirements, ascending."""
    function, sizes = function_of(rules), rules.sizes(processors, len(minimum))
    if sizes is None:
        made: Boxes = function(processors, minimum, *rules.settings)
        return made
    boxes = empty(len(minimum))
    function(processors, sizes, minimum, boxes)
    return boxes


def measure(rules: Rules, processors: int, lists: np.ndarray, totals: Totals, batch: int) -> None:
    """Make the schedules of lists of jobs, shape (n_lists, n_jobs), and add their measures to a batch."""
    n_jobs = lists.shape[1]
    group, sizes = rules.jobs_in_groups(n_jobs), rules.sizes(processors, n_jobs)
    if sizes is None:
        for minimum in lists:
            add(make_boxes(rules, processors, minimum), group, totals, batch)
    else:
        measure_all(function_of(rules), processors, sizes, lists, empty(n_jobs), group, totals, batch)


@kernel(void(MAKE, int64, INTS, LISTS, BOXES, INTS, TOTALS, int64), allocates=True)
def measure_all(
    make: Callable, processors: int, sizes: Ints, lists: np.ndarray, boxes: Boxes, group: Ints,
    totals: Totals, batch: int,
) -> None:  # fmt: skip
    """Make and measure the schedules of a batch by a compiled policy."""
    for i in range(len(lists)):
        make(processors, sizes, lists[i], boxes)
        add(boxes, group, totals, batch)


def function_of(rules: Rules) -> Callable:
    """Return the function that makes schedules."""
    return FUNCTIONS.get(rules.schedule) or dotted.imported(rules.schedule)


def make_schedule(policy: Parameters, processors: int, minimum: Sequence[int]) -> Schedule:
    """Return the schedule of jobs with these minimum requirements, numbered in the given order.

    Parameters
    ----------
    policy : mapping
        As in a policy's YAML file: the key ``schedule`` and its settings.
    processors : int
    minimum : sequence of int
        Processors that each job needs at least.

    Raises
    ------
    ValueError
        With one clear line, if the policy or the machine cannot schedule these jobs.

    Examples
    --------
    >>> example = make_schedule({"schedule": "equi_epoch"}, 12, [2, 3, 3, 4, 4, 4, 5, 6])
    >>> [box.width for box in example.boxes], example.epochs
    ([4, 4, 4, 4, 4, 4, 6, 6], 3)
    """
    needs = np.array(minimum, np.int64)
    if needs.ndim != 1 or not needs.size or needs.min() < 1 or needs.max() > processors:
        raise ValueError(
            f"minimum requirements {list(minimum)}; allowed: 1 to {processors} processors for each job"
        )
    rules = rules_of(policy)
    rules.check(processors, len(needs))
    order = np.argsort(needs, kind="stable")
    unit, *places = make_boxes(rules, processors, needs[order])
    columns = (array.tolist() for array in (order, needs[order], *places))
    found = [
        Box(job, least, x, Fraction(y, unit), width, Fraction(height, unit))
        for job, least, x, y, width, height in zip(*columns, strict=True)
    ]
    return Schedule(processors, tuple(sorted(found)))
