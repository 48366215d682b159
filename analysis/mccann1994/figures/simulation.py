"""Figs. 5.8 to 5.11: response times and fairness of short and long jobs, simulated."""

from collections.abc import Callable
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures.load_plot import Line, LoadPlot, draw
from analysis.figures.panels import Series, panels, plot
from analysis.figures.policies import shaded, style_of
from analysis.figures.style import SchemeStyle
from analysis.mccann1994 import labels
from analysis.study import Study
from sweep.policy_names import label

LOAD = 0.5
"""Load of all four figures."""

SPACE_SHARING = (*labels.EQUIPARTITION, *labels.FOLDING)
UNIPROGRAMMING = (labels.ONE_AT_A_TIME, "processor_sharing")
LIMITED = ("equi_plus", "fold_never")
CLASSES = {"short": "Short jobs", "long": "Long jobs", labels.EVERY_CLASS: "All jobs"}
YLABELS = {
    labels.RESPONSE: "Mean response time (s)",
    labels.BLOW_UP_CV: "Coefficient of variation of blow-up",
}


def drawn(study: Study) -> dict[str, Callable[[Study], Figure]]:
    """Return Figs. 5.8 and 5.9, or 5.10 and 5.11 where the grid has limits."""
    if study.varies(labels.LIMITS.name):
        return {
            "fig5-10": partial(_over_limits, metric=labels.RESPONSE),
            "fig5-11": partial(_over_limits, metric=labels.BLOW_UP_CV),
        }
    found: dict[str, Callable[[Study], Figure]]
    found = {"fig5-8": _response_times, "fig5-8-relative": _relative, "fig5-9": _variation}
    return found | ({"response-loads": _loads} if study.varies("load") else {})


def _space_sharing(study: Study) -> list[str]:
    return [policy for policy in study.ordered("policy", SPACE_SHARING) if policy not in UNIPROGRAMMING]


def _mixes(
    study: Study, metric: str, policies: list[str], job_class: str, title: str, **settings: Any
) -> LoadPlot:
    name, at = labels.of_class(metric, job_class)
    series = [Series(name, policy, {"load": LOAD} | at, style_of(policy)) for policy in policies]
    return plot(study, labels.MIXES, series, settings.pop("ylabel", YLABELS[metric]), title, **settings)


def _response_times(study: Study) -> Figure:
    plots = [
        _mixes(study, labels.RESPONSE, _space_sharing(study), job_class, CLASSES[job_class])
        for job_class in ("short", "long")
    ]
    return panels(plots, "Mean response times")


def _relative(study: Study) -> Figure:
    reference = "equi_plus"
    policies = [policy for policy in _space_sharing(study) if policy != reference]
    plots = []
    for job_class in ("short", "long"):
        metric, at = labels.of_class(labels.RESPONSE, job_class)
        one = _mixes(study, labels.RESPONSE, policies, job_class, CLASSES[job_class], ylabel="")
        curves = {
            policy: study.curve(metric, policy, along=labels.MIXES.name, load=LOAD, **at)
            for policy in (reference, *policies)
        }
        lines = {
            label(policy): Line.ratio(curves[policy], curves[reference])
            for policy in policies
            if label(policy) in one.lines
        }
        plots.append(LoadPlot(**{**vars(one), "lines": lines, "guides": {1.0: label(reference)}}))
    if not any(line.drawn.any() for one in plots for line in one.lines.values()):
        raise DrawingError("EQUI+ and another policy have not been run at one mix yet")
    return panels(plots, "Mean response time / that under EQUI+")


def _variation(study: Study) -> Figure:
    sharing = _space_sharing(study)
    policies = [*sharing, *(name for name in UNIPROGRAMMING if name in study.policies)]
    ticks = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    plots = [
        _mixes(
            study, labels.BLOW_UP_CV, policies, labels.EVERY_CLASS, "All policies", yscale="log", yticks=ticks
        ),
        _mixes(
            study,
            labels.BLOW_UP_CV,
            [name for name in policies if name != labels.ONE_AT_A_TIME],
            labels.EVERY_CLASS,
            "Without FCFS",
            ylabel="",
        ),
    ]
    return panels(plots, "Fairness among all jobs")


def _loads(study: Study) -> Figure:
    mixes = [float(text) for text in study.values_of(labels.MIXES.name)]
    mix = min(mixes, key=lambda p: abs(p - 0.5)) if mixes else None
    metric, at = labels.of_class(labels.BLOW_UP, labels.EVERY_CLASS)
    point = at | ({labels.MIXES.name: mix} if mixes else {})
    series = [Series(metric, policy, point) for policy in _space_sharing(study)]
    title = f"All jobs, {100 * mix:.0f} % of them short" if mix is not None else "All jobs"
    return draw(plot(study, labels.LOADS, series, "Mean blow-up factor", title, ylim=(0, None)))


def _over_limits(study: Study, metric: str) -> Figure:
    classes = CLASSES if metric == labels.RESPONSE else {labels.EVERY_CLASS: CLASSES[labels.EVERY_CLASS]}
    plots = []
    for job_class, title in classes.items():
        name, at = labels.of_class(metric, job_class)
        series = [
            Series(name, policy, {"load": LOAD} | at | overhead, style)
            for policy in LIMITED
            for overhead, style in _overheads(study, policy)
        ]
        ylabel = YLABELS[metric] if title == next(iter(classes.values())) else ""
        plots.append(plot(study, labels.LIMITS, series, ylabel, title, spacing=0.0))
    if len(plots) == 1:
        return draw(plots[0])
    return panels(plots, "Mean response time over the multiprogramming limit")


def _overheads(study: Study, policy: str) -> list[tuple[dict[str, object], SchemeStyle]]:
    """Return the overheads of the grid, if it has any, with the policy's style at each."""
    values = study.values_of(labels.OVERHEAD)
    styles = shaded(policy, [f"O/Q = {100 * float(value):g} %" for value in values], 0.5)
    return [({labels.OVERHEAD: value}, style) for value, style in zip(values, styles, strict=True)] or [
        ({}, style_of(policy))
    ]
