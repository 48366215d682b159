"""Figs. 6.2 to 6.11, and the costs of medium-term policies on random lists of requirements."""

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures.captions import captioned
from analysis.figures.load_plot import Line, LoadPlot
from analysis.figures.panels import Series, panels, plot
from analysis.figures.policies import style_of
from analysis.mccann1994.drawings.schedules import EXAMPLES, draw_example, mesh_schedule
from analysis.mccann1994.labels import EPOCHS, JOBS, KEY, REALLOCATIONS
from analysis.paper import Picture
from analysis.study import Study

BOXES = (
    "A box is an allocation: processors times a part of the interval T. Numbers are minimum requirements, "
    "with → before a larger allocation; thick lines are the reallocations that the objective counts. "
    "The policy's own output."
)

NAMES = {
    "minimum_uniform": "Uniform",
    "minimum_powers": "Powers of two",
    "minimum_small_heavy": "Mostly small",
}
"""Distributions of the requirements."""

SMALL = "minimum_small_heavy"

OVER_JOBS: dict[str, Any] = {
    "xlabel": "Jobs (J)",
    "xscale": "log",
    "xlim": (3.6, 290),
    "xticks": (4, 8, 16, 32, 64, 128, 256),
    "spacing": 0.0,
}
EPOCH_POLICIES = ("equi_epoch", "greedy_largest", "optimal_epoch")


def examples() -> Iterator[Picture]:
    """Yield the examples in the paper's order."""
    for name in EXAMPLES:
        draw = _on_a_mesh if name == "fig6-11" else draw_example
        yield from captioned(KEY, None, {name: draw}, subject=name, boxes=BOXES)


def _on_a_mesh(name: str) -> Figure:
    example = EXAMPLES[name]
    requirements = ",".join(map(str, example.requirements))
    return mesh_schedule({"policy": example.policies[0], "processors": "4x4", "requirements": requirements})


def _reallocations(study: Study) -> Figure:
    policies = ("buddy_schedule", *EPOCH_POLICIES)
    plots = [
        plot(
            study,
            JOBS,
            [Series(REALLOCATIONS, policy, {"workload": workload, "processors": 64}) for policy in policies],
            "",
            NAMES[workload],
            scale=1 / 64,
            yscale="log",
            yticks=(0.5, 1, 2, 5, 10, 20, 50, 100, 200),
            **OVER_JOBS,
        )
        for workload in _workloads(study)
    ]
    return _drawn(plots, "Reallocations of a processor within T, P = 64")


def _optimum(study: Study) -> Figure:
    policies = ("buddy_schedule", "optimal_buddy", "equi_epoch", "greedy_largest")
    few = {"xlim": (3.6, 12.4), "xticks": (4, 5, 8, 11)}
    plots = [
        _ratios(study, REALLOCATIONS, "optimal_schedule", policies, workload, 16, NAMES[workload], **few)
        for workload in _workloads(study)
    ]
    return _drawn(plots, "Reallocations / fewest possible, P = 16")


def _epochs(study: Study) -> Figure:
    plots = [
        _ratios(study, EPOCHS, "optimal_epoch", EPOCH_POLICIES[:-1], SMALL, processors, f"P = {processors}")
        for processors in (64, 140)
        if str(processors) in study.values_of("processors")
    ]
    return _drawn(plots, "Epochs / fewest possible")


def _workloads(study: Study) -> list[str]:
    return [workload for workload in NAMES if workload in study.values_of("workload")]


def _ratios(
    study: Study,
    metric: str,
    reference: str,
    policies: Sequence[str],
    workload: str,
    processors: int,
    title: str,
    **settings: Any,
) -> LoadPlot:
    """Return a plot of a metric divided by the optimum's, from paired lists."""
    at = {"workload": workload, "processors": processors}
    best = study.curve(metric, reference, along=JOBS.name, **at)
    curves = {policy: study.curve(metric, policy, along=JOBS.name, **at) for policy in policies}
    found = {policy: Line.ratio(curve, best) for policy, curve in curves.items()}
    drawn = {policy: style_of(policy) for policy, line in found.items() if line.drawn.any()}
    lines = {style.label: found[policy] for policy, style in drawn.items()}
    styles = {style.label: style for style in drawn.values()}
    return LoadPlot(lines, "", title, styles=styles, guides={1.0: ""}, **OVER_JOBS | settings)


def _drawn(plots: Sequence[LoadPlot], title: str) -> Figure:
    plots = [one for one in plots if one.lines]
    if not plots:
        raise DrawingError("its points are not in this grid")
    return panels(plots, title)


DRAWN = {"reallocations": _reallocations, "reallocations-optimum": _optimum, "epochs": _epochs}
"""Curves over the number of jobs of random lists -> functions that draw them."""
