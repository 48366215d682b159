"""The group of each variable in a dataset: the root has what people plot, groups have the rest.

A reader merges the groups, so a dataset looks like one of format 1, which has no groups.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.jobs.recorded import PREFIX

FORMAT, FORMATS = 2, ("1", "2")
"""Formats of the layout, the attribute ``schedsweep_format``: the one written, and those read. A file without
the attribute has format 1: everything is in the root."""

BATCHES, TASKS, RECORDED, OVERLOAD, WITHHELD = GROUPS = (
    "batches", "tasks", "recorded", "overload", "withheld",
)  # fmt: skip
OVERLOADED = ("overload_run", "overload_batch")
"""Dimensions of the group of overload runs, which a dataset has with ``keep=all``."""

ALIAS = "offered_load"
"""A second name of the axis ``load``, because ``Dataset.load`` is a method."""


def group_of(name: str, dims: Sequence[str], values: Any = None) -> str:
    """Return the group of a data variable; the root is an empty text.

    A variable without any value, such as intervals of few batches, is not in the root: a table of the root
    would have no complete row.

    Examples
    --------
    >>> group_of("wait", ("policy", "load", "replication", "batch")), group_of("wait_ci", ("policy", "load"))
    ('batches', '')
    """
    if name.startswith(PREFIX):
        return RECORDED
    if OVERLOADED[0] in dims:
        return OVERLOAD
    if "batch" in dims or name == "bias":
        return BATCHES
    if "replication" in dims:
        return TASKS
    is_number = getattr(values, "dtype", None) == np.float64 and not name.endswith("_mean")
    return WITHHELD if is_number and np.isnan(values).all() else ""


def variables(file: Any) -> dict[str, Any]:
    """Return the variables of an open netCDF file by name, including its groups."""
    groups = [file.groups[group] for group in GROUPS if group in file.groups]
    return {name: found for one in (*groups, file) for name, found in one.variables.items()}
