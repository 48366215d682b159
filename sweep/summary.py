"""The summary of a study on the terminal: its grid, a short table of results, warnings, failures."""

import math
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from models.counting import counted
from sweep import statistics
from sweep.config import canonical
from sweep.config.settings import MSER, WEEK
from sweep.numbers import time_unit, unit_of
from sweep.plan.data import Plan
from sweep.policy_names import label, named
from sweep.progress import say
from sweep.statistics.capacity import undecided
from sweep.statistics.warmup import LEAST_GROUPS
from sweep.store import layout
from sweep.store.records import Failed
from sweep.store.state import DONE, EXCLUDED, FAILED

Stored = dict[str, np.ndarray]
"""Variables of the dataset that the summary needs: their names by role."""

CAPACITY = "capacity"

LEAST = 12
"""Minimum width of the policies' column, whose names wrap; with less, loads are left out."""

SHOWN_FAILURES = SHOWN_CURVES = 5

WAIT, DELAY = "wait", "delay"
"""A job's wait for its first processors, and all its time in the system beyond its runtime."""

TOO_SHORT = "°"
"""Mark of a mean that is not yet the long-run mean."""

WORTH_A_WARNING = 0.5
"""A warning is printed for an interval whose effective number of batches is below this share of them; for
independent batches it is 0.7."""


def show_grid(plan: Plan, console: Console) -> None:
    """Print the axes with their values."""
    shown_axes = {axis: values for axis, values in plan.axes.items() if axis not in plan.hidden}
    width = max([13, *map(len, shown_axes)])
    for axis, values in shown_axes.items():
        texts = list(map(canonical.word, values))
        room = max(20, console.width - width - 8)
        while len(", ".join(texts)) > room and len(texts) > 3:  # the first values and the last
            texts = [*texts[: -3 if texts[-2] == "…" else -2], "…", texts[-1]]
        shown = ", ".join(texts)
        say(console, f"{axis:<{width}} {len(values):>5}  {shown}")
    if excluded := math.prod(plan.shape) - len(plan.points):
        say(console, f"{'excluded':<{width}} {excluded:>5}  points, by zip and exclude")


def show(path: Path, console: Console, plan: Plan) -> None:
    """Print a table of the headline metric, warnings about its intervals, and the next command."""
    name = plan.headline
    wanted = [name, f"{name}_mean", f"{name}_ci", f"{name}_lag1", "state", "saturated", "too_short"]
    wanted += ["bias", "capacity", "capacity_se", "capacity_upper"]
    wanted += [*["dropped"] * (plan.settings.warmup == MSER), *plan.metrics[name].dims]
    if (weight := plan.metrics[name].weight) in plan.metrics:
        wanted.append(weight)
    if name == WAIT and DELAY in plan.metrics:
        wanted += [f"{DELAY}_mean"]
    stored = _read(path, wanted, plan)
    _show_table(stored, console, plan)
    for warning in (_preempted, _too_short, _undecided, _wide, _warm_up, _short_runs, _missed_precision):
        for line in warning(stored, plan):
            say(console, line, "yellow")
    say(console, f"dataset: {path}")
    say(console, f"next:    python -m analysis {shlex.quote(str(path.parent))}")


def _read(path: Path, names: Iterable[str], plan: Plan) -> Stored:
    """Read some variables without xarray, whose import takes longer than everything else here.

    They have all axes of the plan. No point of a program is saturated.
    """
    from netCDF4 import Dataset

    found = {}
    with Dataset(path) as dataset:
        dataset.set_auto_mask(False)
        there = layout.variables(dataset)
        for name in names:
            if name not in there:
                found[name] = np.full(plan.shape, 0.0 if name in ("saturated", "too_short") else np.nan)
                continue
            found[name] = values = there[name][...]
            is_of_points = {*plan.axes} - {*plan.hidden} <= {*there[name].dimensions}
            if plan.hidden and is_of_points and name not in plan.metrics[plan.headline].dims:
                found[name] = values.reshape(*plan.shape, *values.shape[len(plan.axes) - len(plan.hidden) :])
    return found


def _rows_and_columns(plan: Plan) -> tuple[str, str]:
    """Return the axes of the table; for a program, the first axis of numbers and the next."""
    if not plan.settings.is_program:
        return "policy", "load"
    varied = [axis for axis, values in plan.axes.items() if len(values) > 1]
    numbers = [axis for axis in varied if all(type(value) in (int, float) for value in plan.axes[axis])]
    column = next(iter(numbers), "load")
    return next((axis for axis in varied if axis != column), "policy"), column


def _show_table(stored: Stored, console: Console, plan: Plan) -> None:
    name, axes = plan.headline, list(plan.axes)
    down, across = _rows_and_columns(plan)
    metric, loads = plan.metrics[name], plan.axes[across]
    # Of the axes that are neither rows nor columns, the combination with the most results.
    done = (stored["state"] == DONE).sum(axis=-1)
    known = done.sum(axis=(axes.index(down), axes.index(across)), keepdims=True)
    best = np.unravel_index(int(np.argmax(known)), known.shape)
    where = {axis: int(i) for axis, i in zip(axes, best, strict=True)}
    shown_of = {axis: (plan.axes[axis][i], len(plan.axes[axis])) for axis, i in where.items()}
    shown_of |= {dim: (str(stored[dim][0]), len(stored[dim])) for dim in metric.dims}
    stated = [
        f"{axis} {canonical.word(value)}" + (f" (1 of {n})" if n > 1 else "")
        for axis, (value, n) in shown_of.items()
        if axis not in (down, across, *plan.hidden)
    ]
    here = tuple(slice(None) if axis in (down, across) else where[axis] for axis in axes)
    unit = unit_of(metric.unit, stored[f"{name}_mean"][here].flat)
    stored = stored | {part: stored[part] / unit.size for part in (f"{name}_mean", f"{name}_ci")}
    alone = _is_one_log(plan)
    texts, first, load = [], [], axes.index("load")
    for row, _ in enumerate(plan.axes[down]):
        at = [{**where, down: row, across: column} for column in range(len(loads))]
        points = [tuple(each[axis] for axis in axes) for each in at]
        first.append(points[0])
        texts.append([_cell(stored, name, point, alone or plan.exact[point]) for point in points])
    if any(text.endswith(TOO_SHORT) for row in texts for text in row):  # numbers stay aligned
        texts = [[text if text.endswith(TOO_SHORT) else f"{text} " for text in row] for row in texts]
    kept_up = [""] * len(first)
    if not plan.settings.is_program:
        kept_up = [_capacity(stored, (*at[:load], *at[load + 1 :])) for at in first]
    widest = 1 + max(8, *(len(text) for row in texts for text in row))
    labels = [label(str(value)) if down == "policy" else canonical.word(value) for value in plan.axes[down]]
    names = max(map(len, labels))
    beside = 1 + max(len(CAPACITY), *map(len, kept_up)) if any(kept_up) else 0
    fitting = (console.width - beside - min(names, max(LEAST, console.width // 2))) // widest
    columns = _spread(len(loads), max(1, fitting))
    if len(columns) < len(loads):
        stated.append(f"{len(columns)} of {len(loads)} {across}s".replace("ss", "s"))
    written = "" if metric.unit == "1" else f" ({unit.name.strip() or metric.unit})"
    shown = " over all jobs" if alone else f" ± {100 * plan.settings.confidence:.0f} % half-width"
    if plan.exact.flat[plan.points].all():
        shown = ", exact"
    console.print(
        "; ".join(filter(None, [f"{metric.long_name}{written}{shown}", ", ".join(stated)])), highlight=False
    )
    table = Table(box=None, pad_edge=False)
    # Nothing is cut off: if a line is too long, the policy's name is broken, and only then a number.
    table.add_column("" if across in plan.hidden else across, overflow="fold")
    for column in columns:
        title = "unscaled" if loads[column] is None else f"{loads[column]:g}"
        title = "" if across in plan.hidden else title
        fits = widest + min(names, LEAST) <= console.width
        table.add_column(title, justify="right", no_wrap=fits, overflow="fold")
    if beside:
        table.add_column(CAPACITY, justify="right", no_wrap=True)
    for policy, cells, capacity in zip(labels, texts, kept_up, strict=True):
        table.add_row(policy, *(cells[column] for column in columns), *[capacity] * bool(beside))
    console.print(table, highlight=False)


def _cell(stored: Stored, name: str, point: tuple[int, ...], exact: bool) -> str:
    states = stored["state"][point]
    if (states == EXCLUDED).all():
        return ""
    if stored["saturated"][point]:
        return "saturated"
    if not (states == DONE).any():
        return "failed" if (states == FAILED).any() else "left"
    mean = float(stored[f"{name}_mean"][point].flat[0])
    mark = TOO_SHORT if stored["too_short"][point] else ""
    if exact:
        return f"{_number(mean, 3)}{mark}"
    half_width = float(stored[f"{name}_ci"][point].flat[0])
    width = _number(half_width, 2) if math.isfinite(half_width) else "?"
    return f"{_number(mean, 3)} ± {width}{mark}"


def _capacity(stored: Stored, curve: tuple[int, ...]) -> str:
    """Return the range of the highest load with which a policy keeps up, as text."""
    mean, error = float(stored["capacity"][curve]), float(stored["capacity_se"][curve])
    return statistics.limits_shown(mean, error, float(stored["capacity_upper"][curve]))


def _number(value: float, digits: int) -> str:
    """Return a number with `digits` digits, without an exponent unless that is easier to read.

    Examples
    --------
    >>> _number(6629.4, 3), _number(160.2, 2), _number(0.01234, 3), _number(3.2e9, 2)
    ('6,630', '160', '0.0123', '3.2e+09')
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e" in text and 1 <= abs(value) < 1e7 else text


def _spread(n: int, most: int) -> list[int]:
    """Return up to `most` positions of `n`, evenly spread, first and last among them."""
    return sorted({round(i) for i in np.linspace(0, n - 1, min(n, most))}) if most > 1 else [n - 1]


def _named(plan: Plan, where: Sequence[int | np.intp]) -> str:
    """Return a point in words, by its values on axes that have several; further dimensions are left out."""
    return ", ".join(
        named(str(values[i])) if axis == "policy" else f"{axis} {canonical.word(values[i])}"
        for (axis, values), i in zip(plan.axes.items(), where, strict=False)
        if len(values) > 1
    )


def _worst(rank: np.ndarray) -> tuple[np.intp, ...]:
    return np.unravel_index(int(np.argmax(rank)), rank.shape)


def _preempted(stored: Stored, plan: Plan) -> Iterator[str]:
    """Warn where jobs also wait after their first start: the wait for that start flatters a policy."""
    if f"{DELAY}_mean" not in stored:
        return
    wait, delay = stored[f"{WAIT}_mean"], stored[f"{DELAY}_mean"]
    with np.errstate(invalid="ignore"):  # NaN where a point has no mean
        again = delay > wait * (1 + 1e-9)
    again &= ~stored["saturated"].astype(bool)
    by_policy = np.moveaxis(again, list(plan.axes).index("policy"), 0)
    names = [str(name) for name, found in zip(plan.axes["policy"], by_policy, strict=True) if found.any()]
    if names:
        most = _worst(np.where(again, delay - wait, -np.inf))
        point, unit = _named(plan, most), time_unit([float(delay[most])])
        times = [f"{_number(float(one[most]) / unit.size, 3)}{unit.name}" for one in (delay, wait)]
        yield (
            f"wait ends when a job first gets processors; under {', '.join(names)} jobs also wait later, and "
            f"{DELAY} includes that: {times[0]} instead of {times[1]}" + f" at {point}" * bool(point)
        )


def _too_short(stored: Stored, plan: Plan) -> Iterator[str]:
    """Explain the mark of points that are too short, and name the worst of them."""
    short = stored["too_short"].astype(bool)
    bias = np.where(short, np.nan_to_num(stored["bias"]), np.inf)
    worst = _worst(-bias)
    if (n := int(short.sum())) and bias[worst] <= -statistics.LEAST_BIAS:
        at = f" at {_named(plan, worst)}" * bool(_named(plan, worst))
        yield (
            f"{counted(n, 'point', 'is', of=len(plan.points))} too short ({TOO_SHORT}): longer runs "
            f"would have a higher mean, by {100 * (-bias[worst]):.0f} %{at}; give more batches there, "
            f"batches={{0:{plan.measurements[0].checkpoints[-1]},LOAD:NUMBER}}, after a longer warmup"
        )


def _undecided(stored: Stored, plan: Plan) -> Iterator[str]:
    """List the curves with a load at which it is undecided whether the policy keeps up."""
    if plan.settings.is_program:
        return
    axis = list(plan.axes).index("load")
    mean, error, upper = (
        np.expand_dims(stored[name], axis) for name in ("capacity", "capacity_se", "capacity_upper")
    )
    run = (stored["state"] == DONE).any(axis=-1)
    near = run & undecided(plan.loads, mean, error, upper)
    curves = near.any(axis=axis)
    for n, curve in enumerate(np.argwhere(curves).tolist()):
        if n == SHOWN_CURVES:
            yield f"and {counted(int(curves.sum()) - n, 'more curve')}"
            return
        of_curve: tuple[Any, ...] = (*curve[:axis], slice(None), *curve[axis:])
        loads = ", ".join(f"{load:g}" for load in plan.loads[of_curve][near[of_curve]])
        last = tuple(np.insert(curve, axis, len(plan.axes["load"]) - 1))
        name = _named(plan, last).replace(f", load {plan.axes['load'][-1]}", "")
        yield (
            f"{name or 'the policy'}: whether it keeps up at load {loads} is undecided, because it delivers "
            f"{_capacity(stored, tuple(curve))} of the machine when more is offered"
        )


def _wide(stored: Stored, plan: Plan) -> Iterator[str]:
    """Warn if intervals were withheld or much widened, and advise on the worst of them."""
    name, n_axes = plan.headline, len(plan.axes)
    mean, half_width, lag1 = (stored[f"{name}_{part}"] for part in ("mean", "ci", "lag1"))
    withheld = np.isfinite(mean) & np.isnan(half_width)
    if _is_one_log(plan):
        return
    if withheld.any():
        concerned, problem = withheld, "withheld (± ?)"
    else:
        few = ((stored["state"] == DONE).sum(axis=-1) < statistics.MIN_REPLICATIONS) & ~plan.exact
        concerned = (
            np.isfinite(mean) & np.isfinite(lag1) & few.reshape(few.shape + (1,) * (mean.ndim - n_axes))
        )
        problem = "widened, because neighbouring batches are correlated"
        if not concerned.any():
            return
    # If no lag-1 correlation is known (too few batches to judge), the first interval stands for all.
    worst = _worst(np.where(concerned, np.nan_to_num(lag1, nan=-2.0), -np.inf))
    weight = stored.get(plan.metrics[name].weight)
    sample = _sample(stored[name], n_axes, worst)
    found = statistics.interval(
        sample, plan.settings.confidence, weight=None if weight is None else _sample(weight, n_axes, worst)
    )
    if withheld.any() or found.effective < WORTH_A_WARNING * found.n:
        advice = statistics.advice(
            found,
            plan.settings.batch_size,
            replications=statistics.with_data(sample),
            replicable=plan.deterministic is None,
            one_batch=plan.is_cut or (plan.settings.is_program and plan.longest.checkpoints == (1,)),
        )
        yield (
            f"{counted(int(concerned.sum()), 'interval', 'is', of=int(np.isfinite(mean).sum()))} {problem}; "
            f"worst: {_named(plan, worst) or name}: {advice}"
        )


def _is_one_log(plan: Plan) -> bool:
    """Whether a log is measured once, whole or by weeks: then only differences have intervals, not means."""
    longest = plan.longest
    by_weeks = plan.settings.batch_size == WEEK
    return longest.to_the_end and (by_weeks or longest.checkpoints == (1,)) and plan.replications == 1


def _sample(values: np.ndarray, n_axes: int, point: tuple[np.intp, ...]) -> np.ndarray:
    """Return the batch values of one point, shape (replications, batches)."""
    found: np.ndarray = np.moveaxis(values, (n_axes, n_axes + 1), (-2, -1))[point]
    return found


def _warm_up(stored: Stored, plan: Plan) -> Iterator[str]:
    """Report how many batches MSER dropped, with ``warmup=mser``."""
    if "dropped" not in stored or not (done := (stored["state"] == DONE).any(axis=-1)).any():
        return
    dropped = stored["dropped"][done]
    if (most := plan.longest.checkpoints[-1]) < LEAST_GROUPS:
        yield f"MSER dropped nothing: it needs at least {LEAST_GROUPS} batches; given: {most}"
        return
    half = int(np.median(dropped))
    yield (
        f"MSER dropped {counted(half, 'leading batch')} of a point (median), at most {dropped.max()}, none "
        f"at {counted(int((dropped == 0).sum()), 'point', of=dropped.size)}"
    )


def _short_runs(stored: Stored, plan: Plan) -> Iterator[str]:
    """Warn if a workload gave fewer batches than requested."""
    if plan.settings.batch_size == WEEK:  # the workload's own number
        return
    n_axes = len(plan.axes)
    first = np.array([one.checkpoints[0] for one in plan.measurements])
    asked = first.reshape([-1 if axis == "load" else 1 for axis in (*plan.axes, "replication")])
    values = np.moveaxis(stored[plan.headline], n_axes + 1, -1)
    batches = np.isfinite(values).sum(axis=-1)
    batches = batches.reshape(*stored["state"].shape, -1).max(axis=-1)
    if "dropped" in stored:  # on purpose
        batches = batches + stored["dropped"][..., np.newaxis]
    sampled = ~(stored["saturated"].astype(bool) | plan.exact)[..., np.newaxis]
    short = (stored["state"] == DONE) & sampled & (batches < asked)
    if short.any():
        least, low, high = int(batches[short].min()), int(first.min()), int(first.max())
        wanted = str(low) if low == high else f"{low} to {high}"
        yield (
            f"{counted(int(short.sum()), 'task')} ended with fewer than {wanted} batches, the shortest "
            f"with {least}: the workload has no more jobs; give fewer, batches={max(least, 1)}, or smaller "
            "ones, batch_size=NUMBER"
        )


def _missed_precision(stored: Stored, plan: Plan) -> Iterator[str]:
    """Warn if sequential stopping reached its last checkpoint before the requested precision."""
    relative = plan.settings.precision.relative
    if relative is None:
        return
    mean, half_width = stored[f"{plan.headline}_mean"], stored[f"{plan.headline}_ci"]
    known = np.isfinite(mean)
    missed = known & ~(half_width <= relative * np.abs(mean))
    if missed.any():
        yield (
            f"{counted(int(missed.sum()), 'point', 'misses', of=int(known.sum()))} "
            f"precision.relative={relative:g} at the last checkpoint, "
            f"{counted(plan.longest.checkpoints[-1], 'batch')}; allow more "
            "of them (precision.checkpoints=[...]) or larger ones"
        )


def show_failures(failures: Sequence[Failed], console: Console) -> None:
    """Print one traceback for each different error, with a point and its seed to reproduce it."""
    for line, first in _by_cause(failures, console):
        seed = f"replication {first.replication}, seed {tuple(first.seed)}"
        say(console, f"\n{line}, {seed}\n{first.traceback.strip()}")


def show_causes(failures: Sequence[Failed], console: Console) -> None:
    """Print a line for each different error."""
    for line, _ in _by_cause(failures, console):
        say(console, line, "red")


def _by_cause(failures: Sequence[Failed], console: Console) -> Iterator[tuple[str, Failed]]:
    """Yield a line for each different error, and the first task that failed with it."""
    by_error: dict[str, list[Failed]] = defaultdict(list)
    for failure in failures:
        by_error[_cause(failure.traceback)].append(failure)
    for error, same in list(by_error.items())[:SHOWN_FAILURES]:
        point = ", ".join(f"{axis} {canonical.word(value)}" for axis, value in same[0].point.items())
        yield f"{counted(len(same), 'task')} failed with: {error}; first at {point}", same[0]
    if len(by_error) > SHOWN_FAILURES:
        say(console, f"and {counted(len(by_error) - SHOWN_FAILURES, 'other error')}")


def _cause(traceback: str) -> str:
    """Return the first line of the exception with which a traceback ends, and the place where it was raised.

    A message may have further lines; the lines of the traceback before it are indented.
    """
    lines = traceback.strip().rpartition("Traceback (most recent call last):")[2].strip("\n").splitlines()
    message = next((line for line in lines if line and not line.startswith(" ")), lines[-1])
    place = next((line for line in reversed(lines) if line.startswith('  File "')), "")
    if "/sweep/programs/family.py" in place:  # a refusal: its line describes what the user's program did
        return message
    return message + re.sub(r'  File ".*?([^/\\"]+)", (line \d+).*', r" (\1, \2)", place)
