"""The variables of a dataset other than metrics: coordinates, summaries, states; and its attributes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from models import workloads
from models.family import Metric
from models.jobs.groups import groupings
from sweep import statistics
from sweep.config.settings import MSER, WEEK, shown
from sweep.errors import printable
from sweep.job_tables import name_of
from sweep.plan.data import Plan
from sweep.store import facts, manifest, provenance, recipe
from sweep.store.capacities import Capacities
from sweep.store.layout import ALIAS, FORMAT, OVERLOADED
from sweep.store.summary import Summary

Variable = tuple[Sequence[str], Any, dict[str, Any]]
"""Dimensions, values, attributes."""

LONG_NAMES = {
    "policy": "scheduling policy",
    "workload": "workload",
    "load": "offered load",
    "machine": "machine",
    "replication": "independent replication",
    "batch": "measured batch",
}

MEANS = ("mean ", "average ")
"""Prefixes of the long names of metrics that are means themselves."""

STATES = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}


def summarised(
    plan: Plan, summary: Summary, capacities: Capacities, state: np.ndarray, seconds: np.ndarray
) -> Iterator[tuple[str, Variable]]:
    """Yield name and variable of everything but the metrics and the coordinates.

    Parameters
    ----------
    state, seconds : ndarray, shape (axes..., replication)
        Of each task.
    """
    for metric in plan.metrics.values():
        yield from _intervals(plan, metric, summary)
    axes, tasks = tuple(plan.axes), (*plan.axes, "replication")
    yield "state", (tasks, state, {"long_name": "state of the task", **STATES})
    meaning = "the policy does not keep up with the load: its means are meaningless"
    yield "saturated", (axes, summary.saturated, {"long_name": meaning})
    meaning = "the run is too short for the mean to be the long-run mean"
    yield "too_short", (axes, summary.too_short, {"long_name": meaning})
    meaning = "expected bias of the headline metric's mean, as a share of it, where runs are too short"
    yield "bias", (axes, summary.bias, {"units": "1", "long_name": meaning})
    if plan.controlled.any():
        meaning = (
            "work delivered in a replication beyond the load, as a fraction of capacity: control variate"
        )
        attributes = {"units": "1", "long_name": meaning, "metric": plan.delivered}
        yield "control", (tasks, summary.control, attributes)
    curves = tuple(axis for axis in axes if axis != "load")
    for name, values, meaning in (
        ("capacity", capacities.mean, "share of the machine that the policy delivers when more is offered"),
        ("capacity_se", capacities.error, "standard error of the capacity"),
        ("capacity_upper", capacities.upper, "load above which the policy does not keep up"),
    ):
        yield name, (curves, values.squeeze(capacities.axis), {"units": "1", "long_name": meaning})
    if plan.settings.keep == "all" and capacities.delivered is not None:
        attributes = {"units": "1", "long_name": "share of the machine delivered by overload runs"}
        yield "overload_delivered", ((*curves, *OVERLOADED), capacities.delivered, attributes)
    meaning = "time that the simulation took"
    yield "seconds", (tasks, seconds, {"units": "s", "long_name": meaning})
    if plan.exact.any():
        yield "exact", (axes, plan.exact, {"long_name": "solved exactly: one batch is the value"})
    if summary.dropped is not None:
        meaning = "leading batches that MSER drops (NaN in the metrics)"
        yield "dropped", (axes, summary.dropped, {"units": "1", "long_name": meaning})
    yield from _user_names(plan, summary)
    yield from facts.of(plan).recorded.items()


def coordinates(
    plan: Plan, coords: Mapping[str, Sequence[Any]], n_batches: int
) -> Iterator[tuple[str, Variable]]:
    """Yield name and variable of each coordinate; `coords` has the metrics' own dimensions."""
    targets = {} if plan.settings.is_program else plan.settings.axes
    for axis, values in plan.axes.items():
        attributes = {"long_name": targets.get(axis) or LONG_NAMES.get(axis, axis)}
        units = {"units": "1"} if axis == "load" else {}
        yield axis, ((axis,), coordinate(values), attributes | units)
    for dim, length in {"replication": plan.replications, "batch": n_batches}.items():
        yield dim, ((dim,), np.arange(length, dtype=np.int32), {"long_name": LONG_NAMES[dim]})
    for dim, own in coords.items():
        yield dim, ((dim,), coordinate(own), {"long_name": dim.replace("_", " ")})
    attributes = {"units": "1", "long_name": "offered load, the axis load by a name of its own"}
    yield ALIAS, (("load",), coordinate(plan.axes["load"]), attributes)
    place = list(plan.axes).index("policy")
    names: list[set[str]] = [set() for _ in plan.axes["policy"]]
    of_points = np.unravel_index(plan.points, plan.shape)[place]
    for policy, variant in np.unique(np.stack([of_points, plan.choices["policy"]]), axis=1).T.tolist():
        package = plan.variants["policy"][variant].parameters["family"]
        names[policy].add(plan.families[package].name)
    families = np.array([", ".join(sorted(each)) for each in names], dtype=object)
    yield "family", (("policy",), families, {"long_name": "scheduling family of the policy"})


def of_batches(plan: Plan, metric: Metric) -> tuple[tuple[str, ...], Any, dict[str, Any]]:
    """Return dimensions, type and attributes of a metric's values by batch."""
    summaries = " ".join(f"{metric.name}_{part}" for part in ("mean", "ci", "lag1"))
    attributes = attributes_of(plan, metric, metric.long_name) | {"ancillary_variables": summaries}
    return (*plan.axes, "replication", "batch", *metric.dims), np.float64, attributes


def attributes_of(plan: Plan, metric: Metric, long_name: str) -> dict[str, Any]:
    """Return the unit and name of a metric's variable, and the metric that weights its batches."""
    weighed = {"weight": metric.weight} if metric.weight in plan.metrics else {}
    return {"units": metric.unit, "long_name": long_name, **weighed}


def _intervals(plan: Plan, metric: Metric, summary: Summary) -> Iterator[tuple[str, Variable]]:
    """Yield mean, half-width and lag-1 correlation of a metric."""
    dims = (*plan.axes, *metric.dims)
    mean, half_width, lag1 = summary.intervals[metric.name]
    parts = {"ci": half_width, "lag1": lag1}
    there = " ".join(f"{metric.name}_{part}" for part, each in parts.items() if not np.isnan(each).all())
    name = metric.long_name
    name = name if name.startswith(MEANS) else f"{name}, mean over batches"
    ancillary = {"ancillary_variables": there} if there else {}
    yield f"{metric.name}_mean", (dims, mean, attributes_of(plan, metric, name) | ancillary)
    method = (
        f"Student's t over replication means from {statistics.MIN_REPLICATIONS} replications on, else "
        "over batch means, widened by their correlation and skewness; NaN where withheld because there "
        "are too few batches"
    )
    of_interval = {
        "units": metric.unit,
        "long_name": f"{metric.long_name}, half-width of its confidence interval",
        "confidence": plan.settings.confidence,
        "method": method,
        "covers": f"the mean over {_measured(plan)}, see docs/statistics.md",
    }
    yield f"{metric.name}_ci", (dims, half_width, of_interval)
    correlation = {"units": "1", "long_name": f"{metric.long_name}, lag-1 correlation of batches"}
    yield f"{metric.name}_lag1", (dims, lag1, correlation)


def _measured(plan: Plan) -> str:
    """Return in words what the means cover: the limit of means of more runs of this length."""
    settings = plan.settings
    if settings.is_program:
        return f"{shown(settings.batches)} batches, after {shown(settings.warmup)} that are discarded"
    if settings.warmup == MSER:
        return "the long run, as far as MSER, applied to all replications together, finds the warm-up"
    if settings.batch_size == WEEK:
        return "all weeks of a workload that ends, from an empty system"
    size = "" if settings.batch_size is None else f" of {settings.batch_size}"
    skipped = "the first" if not settings.warmup else f"those after the first {shown(settings.warmup)}"
    return f"{shown(settings.batches)} batches{size}, {skipped} of a run from an empty system"


def _user_names(plan: Plan, summary: Summary) -> Iterator[tuple[str, Variable]]:
    """Yield the names of ranked users where their log has names: ``name_by_user`` and the like."""
    kinds = {one.name: one.by for one in groupings(plan.measures["groups"]) if one.is_named}
    for name, (lowest, highest) in summary.ranked.items():
        if (kind := kinds.get(name.removeprefix("number_by_"))) is None:
            continue
        known: dict[int, tuple[str, ...]] = {}
        names = np.full(lowest.shape, "", dtype=object)
        of_points, *numbers = (each.reshape(-1, names.shape[-1]) for each in (names, lowest, highest))
        for point, workload in zip(plan.points.tolist(), plan.choices["workload"].tolist(), strict=True):
            if workload not in known:
                known[workload] = _names_of(plan, workload, kind)
            if known[workload]:
                # Where replications rank different users, no single user has the rank.
                of_points[point] = [
                    name_of(n, known[workload]) if n == m else ""
                    for n, m in zip(*(each[point] for each in numbers), strict=True)
                ]
        if (names != "").any():
            dims = (*plan.axes, *plan.metrics[name].dims)
            yield name.replace("number", "name", 1), (dims, names, {"long_name": f"{kind}: name in the log"})


def _names_of(plan: Plan, workload: int, kind: str) -> tuple[str, ...]:
    """Return the names of a workload's users, or of its partitions and the like."""
    try:
        given = plan.variants["workload"][workload].parameters
        return tuple(map(printable, workloads.user_names(given, kind)))
    except (ValueError, OSError):  # a workload without rigid jobs, or a log that is gone: numbers suffice
        return ()


def coordinate(values: Sequence[Any]) -> np.ndarray:
    """Return axis values as an array of one kind: booleans, numbers (null is NaN), else strings."""
    if all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=bool)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        fits = all(abs(value) < 2**31 for value in values)  # classic tools cannot read larger ones
        return np.array(values, dtype=np.int32 if fits else np.int64)
    if all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    ):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    names = {None: "null", True: "true", False: "false"}
    return np.array([names[v] if v is None or isinstance(v, bool) else str(v) for v in values], dtype=object)


def attributes(plan: Plan, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the dataset's global attributes."""
    created, command = datetime.now(UTC).isoformat(timespec="seconds"), provenance.command(arguments)
    found = {
        "Conventions": "CF-1.11",
        "schedsweep_format": np.int32(FORMAT),
        "title": plan.settings.name,
        "history": f"{created} {command}",
        "source": f"simulation, schedsweep {provenance.package_version('schedsweep')}",
        "config": json.dumps(provenance.sanitised(manifest.resolved(plan))),
        "command": command,
        "versions": json.dumps(provenance.versions()),
        "families": json.dumps({package: family.version for package, family in plan.families.items()}),
        "sources": json.dumps({name: digest[:20] for name, digest in plan.sources.items()}),
        "headline": plan.headline,
        "confidence": plan.settings.confidence,
        "created": created,
        "facts": json.dumps(provenance.sanitised(facts.of(plan).attribute())),
    }
    if text := recipe.text(plan):
        found["recipe"] = text
    if (commit := provenance.commit()) is not None:
        found["commit"] = commit
    return found
