"""The best and the worst policy in a sentence: for a summary, not for a verdict."""

from collections.abc import Iterator

import numpy as np

from analysis.study import Study
from analysis.study.curve import SATURATED
from sweep.numbers import number, unit_of
from sweep.policy_names import label

MORE_IS_BETTER = ("utilization", "throughput", "jobs", "efficiency_preservation")
"""Metrics of which more is better."""


def ranked(study: Study, metric: str | None = None) -> Iterator[str]:
    """Yield the best and the worst policy by a metric, at the highest load with enough means.

    Enough are two, and half as many as have one at any load. Empty if the grid has another axis of numbers,
    as none of its values is the default.

    Parameters
    ----------
    metric : str, optional
        By default the headline metric of the dataset.
    """
    name = metric or study.headline
    if name is None or f"{name}_mean" not in study.data:
        return
    one = study.readings["A"]
    where_taken = {**one.reading, **one.usual()}
    if any(_is_number(value) for axis, value in where_taken.items() if study.varies(axis)):
        return
    usual = {axis: one.values_of(axis).index(value) for axis, value in one.usual().items()}
    arrays, every = [], one.data[f"{name}_mean"]
    # A mean that is too short is in no sentence, unless all are.
    long_enough = every.where(one.bias.isnull())
    short = long_enough.isnull().all()
    for found in (one.status, every if short else long_enough):
        there = found.isel({axis: place for axis, place in usual.items() if axis in found.dims})
        if set(there.dims) != {"policy", "load"}:
            return
        arrays.append(there.transpose("policy", "load").values)
    status, means = arrays
    known = (~np.isnan(means)).sum(axis=0)
    if known.max(initial=0) < 2:
        return
    loads = np.nan_to_num(one.data["load"].values.astype(float))
    enough = np.flatnonzero(known >= max(2, known.max() // 2))
    column = int(enough[np.argmax(loads[enough])])
    order = [row for row in np.argsort(means[:, column], kind="stable") if not np.isnan(means[row, column])]
    first, last = order[0], order[-1]
    load = one.values_of("load")[column]
    title = str(one.data[name].attrs.get("long_name", name))
    where = "" if load == "null" else f"at load {load} "
    usually = ", ".join(f"{axis} {value}" for axis, value in where_taken.items() if study.varies(axis))
    lost = [label(policy) for row, policy in enumerate(one.policies) if status[row, column] == SATURATED]
    ends = (means[first, column], means[last, column])
    unit = unit_of(str(one.data[name].attrs.get("units", "1")), ends)
    low, high = (f"{number(end / unit.size)}{unit.name}" for end in ends)
    most, least = ("highest", "lowest") if name in MORE_IS_BETTER else ("lowest", "highest")
    if most == "highest":
        first, last, low, high = last, first, high, low
    at = f"{where}({usually}) " if usually else where
    yield (
        f"{label(one.policies[first])} has the {most} {title} {at}with {low}, "
        f"{label(one.policies[last])} the {least} with {high}"
        + ", in runs that are all too short" * bool(short)
        + (f"; saturated there: {', '.join(lost)}" if lost else "")
        + "."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
