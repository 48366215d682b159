"""The slowdown of interactive jobs by the hour of their submission, and by their length."""

from collections.abc import Iterator, Mapping
from functools import partial

from matplotlib.figure import Figure

from analysis.figures.captions import captioned
from analysis.figures.category_plot import CategoryPlot, Estimates, panels
from analysis.figures.policies import look
from analysis.jette1997 import derived
from analysis.jette1997.labels import HOUR, KEY, LENGTH, by, reported, schedulers, workload_title
from analysis.paper import Picture
from analysis.study import Study
from analysis.study.sample import Sample

BEGUN = "begun_10s"
HIGHEST = 1371.0
"""The highest slowdown that the paper names."""

TOGETHER = 3
"""Hours of one point: single ones have few jobs at night."""

LENGTH_NAMES = ("under\n10 s", "10 s to\n1 min", "1 to\n10 min", "10 min\nto 1 h", "1 h and\nmore")
TITLES = {HOUR: "hour of submission", LENGTH: "length"}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield both figures, of the weeks whose slowdowns the paper reports."""
    drawn = {f"by-{dim}": partial(_draw, dim=dim) for dim in (HOUR, LENGTH)}
    return captioned(KEY, study, drawn, period=workload_title(reported(study)))


def groups(study: Study, dim: str) -> dict[str, tuple[str, ...]]:
    """Return what stands on the axis: names of lengths, or of three hours each, and their values."""
    values = study.values_of(dim)
    if dim == HOUR:
        return {
            f"{values[i]}–{int(values[i]) + TOGETHER}": tuple(values[i : i + TOGETHER])
            for i in range(0, len(values), TOGETHER)
        }
    names = LENGTH_NAMES if len(values) == len(LENGTH_NAMES) else values
    return {name: (value,) for name, value in zip(names, values, strict=True)}


def _draw(study: Study, dim: str) -> Figure:
    workload, grouped = reported(study), groups(study, dim)
    names, values = list(grouped), list(grouped.values())

    def aggregate(policy: str) -> list[Sample]:
        return [derived.grouped(study, "slowdown", dim, some, policy, workload) for some in values]

    def maxima(policy: str) -> list[Sample]:
        every = derived.raw(study, by("slowdown_max", dim), policy, workload)
        return [derived.largest(derived.at(study, every, dim, some)) for some in values]

    def begun(policy: str) -> list[Sample]:
        return [derived.grouped(study, BEGUN, dim, some, policy, workload) for some in values]

    xlabel = "Hour of the day" if dim == HOUR else "Runtime"
    made = [
        _plot(study, aggregate, names, "Aggregate slowdown", xlabel, 1.0),
        _plot(study, maxima, names, "Maximum slowdown", xlabel, 1.0, {HIGHEST: "1,371: the paper's highest"}),
    ]
    if dim == HOUR:
        if by(BEGUN, HOUR) in study.data:
            made.append(
                _plot(
                    study, begun, names, "Begun within 10 s (%)", xlabel, 100.0, yscale="linear", joined=True
                )
            )
        made.append(_jobs(study, workload, values, names))
    return panels(made, f"Interactive jobs by {TITLES[dim]}: {workload_title(workload)}", 2)


def _plot(
    study: Study, samples: object, names: list[str], ylabel: str, xlabel: str, scale: float,
    guides: Mapping[float, str] | None = None, yscale: str = "log", joined: bool = True,
) -> CategoryPlot:  # fmt: skip
    assert callable(samples)
    found = {policy: Estimates.of(samples(policy), study.confidence, scale) for policy in schedulers(study)}
    looks = {policy: look(policy) for policy in found}
    return CategoryPlot(
        names, found, looks, ylabel, xlabel, yscale=yscale, guides=guides or {}, joined=joined
    )


def _jobs(study: Study, workload: str, values: list[tuple[str, ...]], names: list[str]) -> CategoryPlot:
    """Return how many interactive jobs are submitted in each hour of a day."""
    found = {}
    for policy in schedulers(study):
        every = derived.raw(study, by("jobs", HOUR), policy, workload)
        period = derived.of_runs(derived.raw(study, "period", policy, workload))
        samples = []
        for some in values:
            one = derived.of_runs(derived.total(derived.at(study, every, HOUR, some)))
            if one.reason or period.reason:
                samples.append(Sample.absent(one.status))
            else:
                samples.append(Sample(one.values / (period.values / 86400.0), one.status))
        found[policy] = Estimates.of(samples, study.confidence)
    looks = {policy: look(policy) for policy in found}
    return CategoryPlot(names, found, looks, "Jobs submitted, a day", "Hour of the day")
