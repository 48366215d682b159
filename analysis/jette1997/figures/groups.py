"""Interactive jobs by hour and by length, and jobs under other families' policies by class."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from analysis.figures.category_plot import LEAST, CategoryPlot, Estimates, panels, series_of
from analysis.figures.load_plot import LoadPlot
from analysis.figures.panels import PlotAxis, Series, plot
from analysis.figures.panels import panels as load_panels
from analysis.figures.policies import apart, shaded, style_of
from analysis.jette1997 import derived, labels
from analysis.jette1997.labels import HOUR, LENGTH, by, reported, schedulers, workload_title
from analysis.study import Study
from analysis.study.curve import Sample

BEGUN, WAIT_BY_SIZE = "begun_10s", "wait_by_size"
HIGHEST = 1371.0
"""The highest slowdown that the paper names."""

Of = Callable[[str, tuple[str, ...]], Sample]
"""(policy, values of one category) -> the sample that is drawn."""

ONE = "1"
"""The group of jobs of one processor."""

TOGETHER = 3
"""Hours of one point: at night single hours have few jobs."""

LENGTH_NAMES = ("under\n10 s", "10 s to\n1 min", "1 to\n10 min", "10 min\nto 1 h", "1 h and\nmore")
TITLES = {HOUR: "hour of submission", LENGTH: "length"}

CLASSES = (labels.INTERACTIVE, labels.DEBUG, labels.PRODUCTION)
OF_FAMILIES = (
    ("wait_by_job_class", labels.SITE_CLASS, "Wait to the first processor (s)"),
    ("slowdown_by_job_class", labels.SITE_CLASS, "Slowdown"),
    ("slowdown_by_runtime", labels.RUNTIME, "Slowdown"),
)
"""Metric, its groups, and its label."""


def groups(study: Study, dim: str) -> dict[str, tuple[str, ...]]:
    """Return the categories of the axis, lengths or three hours each, and their values."""
    values = study.values_of(dim)
    if dim == HOUR:
        return {
            f"{values[i]}–{int(values[i]) + TOGETHER}": tuple(values[i : i + TOGETHER])
            for i in range(0, len(values), TOGETHER)
        }
    names = LENGTH_NAMES if len(values) == len(LENGTH_NAMES) else values
    return {name: (value,) for name, value in zip(names, values, strict=True)}


def draw(study: Study, dim: str) -> Figure:
    """Draw the slowdowns of interactive jobs in the weeks whose slowdowns the paper reports."""
    workload, grouped = reported(study), groups(study, dim)

    def aggregate(policy: str, some: tuple[str, ...], kind: str = "slowdown") -> Sample:
        return derived.grouped(study, kind, dim, some, policy, workload)

    def maximum(policy: str, some: tuple[str, ...]) -> Sample:
        every = derived.raw(study, by("slowdown_max", dim), policy, workload)
        return derived.largest(derived.at(study, every, dim, some))

    def jobs(policy: str, some: tuple[str, ...]) -> Sample:
        """Return how many interactive jobs are submitted in some hours of a day."""
        every = derived.raw(study, by("jobs", HOUR), policy, workload)
        period = derived.of_runs(derived.raw(study, "period", policy, workload))
        one = derived.of_runs(derived.total(derived.at(study, every, HOUR, some)))
        return Sample.computed(lambda jobs, period: jobs / (period / 86400.0), one, period)

    def plot(of: Of, ylabel: str, **settings: Any) -> CategoryPlot:
        def samples(policy: str) -> list[Sample]:
            return [of(policy, some) for some in grouped.values()]

        xlabel = "Hour of the day" if dim == HOUR else "Runtime"
        return series_of(study, schedulers(study), samples, list(grouped), ylabel, xlabel, **settings)

    made = [
        plot(aggregate, "Aggregate slowdown", yscale="log"),
        plot(maximum, "Maximum slowdown", yscale="log", guides={HIGHEST: "1,371: the paper's highest"}),
    ]
    if dim == HOUR:
        if by(BEGUN, HOUR) in study.data:
            made.append(
                plot(partial(aggregate, kind=BEGUN), "Begun within 10 s (%)", scale=100.0, most=100.0)
            )
        made.append(plot(jobs, "Jobs submitted per day"))
    return panels(made, f"Interactive jobs by {TITLES[dim]}: {workload_title(workload)}", 2)


def _stacked(ranges: Sequence[str]) -> list[str]:
    """Return ranges of processors for an axis, over two lines."""
    return [one.replace("more than ", ">\n").replace(" to ", "–\n") for one in ranges]


def draw_sizes(study: Study) -> Figure:
    """Draw the shares of the processor time by partition, and waits by size."""
    workload = reported(study)

    def shares(policy: str) -> list[Sample]:
        work = derived.raw(study, labels.PARTITION_WORK, policy, workload)
        whole = derived.total(work)
        return [
            derived.ratio(derived.total(derived.at(study, work, labels.PARTITION, (one,))), whole)
            for one in study.values_of(labels.PARTITION)
        ]

    def waits(policy: str) -> list[Sample]:
        return [derived.raw(study, WAIT_BY_SIZE, policy, workload, size_range=one) for one in of_jobs]

    of_jobs = [one for one in study.values_of("size_range") if not one.startswith(("257", "1,0"))]
    made = [
        series_of(study, schedulers(study), of, names, ylabel, "Processors", **settings)
        for of, names, ylabel, settings in (
            (
                shares,
                _stacked(study.values_of(labels.PARTITION)),
                "Processor time (%)",
                {"scale": 100.0, "most": 100.0},
            ),
            (waits, _stacked(of_jobs), "Wait to the first processors (s)", {"yscale": "log"}),
        )
    ]
    return panels(made, f"Processor time and waits by size: {workload_title(workload)}", 2)


def draw_of_one_processor(study: Study) -> Figure:
    """Draw the slowdown of jobs of one processor over the load, a line for each number of reserved CPUs."""
    kept = study.values_of("reserved")
    styles = [
        replace(one, label=f"{n} CPUs reserved")
        for n, one in zip(kept, shaded(labels.ALPHA, kept), strict=True)
    ]
    plots: list[LoadPlot] = []
    for workload in labels.workloads(study):
        at = {"workload": workload, "size_range": ONE}
        lines = [
            Series("slowdown_by_size", labels.ALPHA, {**at, "reserved": n}, one)
            for n, one in zip(kept, styles, strict=True)
        ]
        label = "" if plots else "Mean slowdown, jobs of one processor"
        plots.append(plot(study, PlotAxis("load"), lines, label, workload_title(workload), ylim=(1.0, None)))
    return load_panels(plots, "Slowdown of jobs of one processor, with CPUs reserved for them")


def _of_families(study: Study, dim: str) -> Sequence[str]:
    values = study.values_of(dim)
    return [name for name in CLASSES if name in values] if dim == labels.SITE_CLASS else values


def _short(name: str) -> str:
    """Return a range of runtimes for an axis, without its unit.

    Examples
    --------
    >>> _short("under 1 min"), _short("100 to 1,000 min")
    ('< 1', '100–\\n1,000')
    """
    return name.replace(" min", "").replace(" to ", "–\n").replace("under ", "< ").replace(" and more", " +")


def draw_families(study: Study) -> Figure:
    """Draw the same jobs under the site's schedulers, backfilling and packing schemes."""
    policies = schedulers(study)
    styles = apart({policy: style_of(policy) for policy in policies})
    made = []
    for metric, dim, label in OF_FAMILIES:
        there = _of_families(study, dim)
        found = {
            policy: Estimates.of(
                [study.sample(metric, policy, **{dim: name}) for name in there], study.confidence
            )
            for policy in policies
        }
        known = [n for n in range(len(there)) if any(one.drawn[n] for one in found.values())]
        found = {
            policy: Estimates(one.mean[known], one.low[known], one.high[known], one.finished[known])
            for policy, one in found.items()
        }
        names = [_short(there[n]) if dim == labels.RUNTIME else there[n] for n in known]
        made.append(
            CategoryPlot(
                names, found, styles, label, "Runtime (min)" if dim == labels.RUNTIME else "", yscale="log",
                joined=False, least=None if "wait" in metric else LEAST,
            )
        )  # fmt: skip
    used = {
        policy: Estimates.of([study.sample(labels.UTILIZATION, policy)], study.confidence, 100.0)
        for policy in policies
    }
    made.append(CategoryPlot(["all jobs"], used, styles, "Utilization (%)", joined=False))
    return panels(made, "The same jobs under backfilling and packing schemes", 2, height=2.6)
