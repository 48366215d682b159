"""Figs. 5.8 to 5.11: response times and fairness of short and long jobs, simulated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.load_plot import Line, LoadPlot
from analysis.mccann1994.looks import EQUIPARTITION, FOLDING, label, look, shade
from analysis.mccann1994.plots import Series, draw, panels, plot
from analysis.papers import Picture
from analysis.study import Study
from analysis.style import SchemeStyle

LOAD = 0.5
"""Of all four figures."""

SPACE_SHARING = (*EQUIPARTITION, *FOLDING)
UNIPROGRAMMING = ("one_at_a_time", "processor_sharing")
LIMITED = ("equi_plus", "fold_never")
CLASSES = {"short": "Short jobs", "long": "Long jobs", "all": "All jobs"}
RESPONSE = "Mean response time (s)"
CV = "Coefficient of variation of blow-up"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield Figs. 5.8 and 5.9, or 5.10 and 5.11 where the grid has limits."""
    yield from _limited(study) if study.varies("memory_limit") else _unlimited(study)


def bars(study: Study) -> str:
    """Say what the error bars are."""
    return f"Bars: {study.confidence:.0%} confidence intervals."


def _unlimited(study: Study) -> Iterator[Picture]:
    yield Picture(
        "fig5-8",
        "Fig. 5.8: Mean response times",
        f"Of short and of long jobs over their mix, load {LOAD}, δ = 5 ms. {bars(study)}",
        partial(_response_times, study),
    )
    yield Picture(
        "fig5-8-relative",
        "Fig. 5.8 relative to EQUI+",
        "Ratio of each policy's mean response time to that under EQUI+, from paired batches under the same "
        f"jobs: what all policies have in common cancels. {bars(study)} The paper has no such figure.",
        partial(_relative, study),
    )
    yield Picture(
        "fig5-9",
        "Fig. 5.9: Coefficient of variation of the blow-up factor",
        f"Over all jobs, load {LOAD}, δ = 5 ms, with uniprogramming for scale. {bars(study)}",
        partial(_variation, study),
    )
    if study.varies("load"):
        yield Picture(
            "response-loads",
            "Mean blow-up factor over the load",
            "Of all jobs, where half of them are short (or the mix of the grid that is nearest to that). "
            f"The strip on top tells where a policy is saturated. {bars(study)} The paper has no such "
            "figure.",
            partial(_loads, study),
        )


def _limited(study: Study) -> Iterator[Picture]:
    yield Picture(
        "fig5-10",
        "Fig. 5.10: Response time over the multiprogramming limit",
        "At most L jobs are in memory, and waiting ones get their turn every Q seconds at an overhead O, "
        f"load {LOAD}, δ = 5 ms. {bars(study)}",
        partial(_over_limits, study, "response_time"),
    )
    yield Picture(
        "fig5-11",
        "Fig. 5.11: Coefficient of variation over the multiprogramming limit",
        f"Of the blow-up factor of all jobs, as in Fig. 5.10. {bars(study)}",
        partial(_over_limits, study, "blow_up_cv"),
    )


def _space_sharing(study: Study) -> list[str]:
    known = [policy for policy in SPACE_SHARING if policy in study.policies]
    return known + [policy for policy in study.policies if policy not in (*SPACE_SHARING, *UNIPROGRAMMING)]


def _mixes(
    study: Study, metric: str, policies: list[str], job_class: str, title: str, **settings: Any
) -> LoadPlot:
    series = [Series(metric, policy, {"load": LOAD, "job_class": job_class}) for policy in policies]
    return plot(study, "short_fraction", series, settings.pop("ylabel", RESPONSE), title, **settings)


def _response_times(study: Study) -> Figure:
    plots = [
        _mixes(study, "response_time", _space_sharing(study), job_class, CLASSES[job_class])
        for job_class in ("short", "long")
    ]
    return panels(plots, "Mean response times")


def _relative(study: Study) -> Figure:
    reference = "equi_plus"
    policies = [policy for policy in _space_sharing(study) if policy != reference]
    plots = []
    for job_class in ("short", "long"):
        at: dict[str, Any] = {"along": "short_fraction", "load": LOAD, "job_class": job_class}
        base = study.curve("response_time", reference, **at)
        one = _mixes(study, "response_time", policies, job_class, CLASSES[job_class], ylabel="")
        lines = {
            label(policy): Line.ratio(study.curve("response_time", policy, **at), base) for policy in policies
        }
        lines = {name: line for name, line in lines.items() if name in one.lines}
        plots.append(LoadPlot(**{**vars(one), "lines": lines, "guides": {1.0: label(reference)}}))
    if not any(line.drawn.any() for one in plots for line in one.lines.values()):
        raise DrawingError("EQUI+ and another policy have not been run at one mix yet")
    return panels(plots, "Mean response time / that under EQUI+")


def _variation(study: Study) -> Figure:
    sharing = _space_sharing(study)
    policies = [*sharing, *(name for name in UNIPROGRAMMING if name in study.policies)]
    ticks = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    plots = [
        _mixes(study, "blow_up_cv", policies, "all", "All policies", ylabel=CV, yscale="log", yticks=ticks),
        _mixes(
            study,
            "blow_up_cv",
            [name for name in policies if name != "one_at_a_time"],
            "all",
            "Without FCFS",
            ylabel="",
        ),
    ]
    return panels(plots, "Fairness among all jobs")


def _loads(study: Study) -> Figure:
    mixes = [float(text) for text in study.values_of("short_fraction")]
    mix = min(mixes, key=lambda p: abs(p - 0.5)) if mixes else None
    point = {"job_class": "all"} | ({"short_fraction": mix} if mixes else {})
    series = [Series("blow_up", policy, point) for policy in _space_sharing(study)]
    title = f"All jobs, {mix:.0%} of them short" if mixes else "All jobs"
    return draw(plot(study, "load", series, "Mean blow-up factor", title, ylim=(0, None)))


def _over_limits(study: Study, metric: str) -> Figure:
    classes = CLASSES if metric == "response_time" else {"all": CLASSES["all"]}
    overheads = study.values_of("admission_overhead") or [""]
    plots = []
    for job_class, title in classes.items():
        series = [
            Series(metric, policy, {"load": LOAD, "job_class": job_class} | _overhead(text),
                   _shaded(policy, text, number / max(1, len(overheads) - 1)))
            for policy in LIMITED
            for number, text in enumerate(overheads)
        ]  # fmt: skip
        ylabel = (
            ""
            if metric == "response_time" and job_class != "short"
            else {"blow_up_cv": CV}.get(metric, RESPONSE)
        )
        plots.append(plot(study, "memory_limit", series, ylabel, title, spacing=0.0))
    if len(plots) == 1:
        return draw(plots[0])
    return panels(plots, "Mean response time over the multiprogramming limit")


def _overhead(text: str) -> dict[str, object]:
    return {"admission_overhead": text} if text else {}


def _shaded(policy: str, overhead: str, darkness: float) -> SchemeStyle:
    one = look(policy)
    if not overhead:
        return one
    name = f"{one.label}, O/Q = {100 * float(overhead):g} %"
    return SchemeStyle(name, shade(one.color, 0.5 * (1 - darkness)), one.marker, one.dashes)
