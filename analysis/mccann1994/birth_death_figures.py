"""Figs. 5.6 and 5.7: mean blow-up factors of equal jobs that come and go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.mccann1994.looks import EQUIPARTITION, FOLDING, look, shade
from analysis.mccann1994.plots import Series, draw, plot
from analysis.papers import Picture
from analysis.study import Study
from analysis.style import SchemeStyle

METRIC = "blow_up"
LIMITED = ("equi_plus", "fold_never")
LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Of Fig. 5.7: below a half, few jobs are in the system at once."""

BLOW_UPS = (2, 5, 10, 20, 50, 100, 200)
BLOW_UP = "Mean blow-up factor"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    yield Picture(
        "fig5-6",
        "Fig. 5.6: Mean blow-up factor over the load",
        "Mean response time over the time of a job alone, unlimited memory, δ = 0. Exact solutions of the "
        "birth-death chain. The strip on top tells from which load on a policy is unstable.",
        partial(_loads, study),
    )
    yield Picture(
        "fig5-7",
        "Fig. 5.7: Mean blow-up factor over the multiprogramming limit",
        "At most L jobs run at once and the others wait; darker is a higher load. Exact solutions, on two "
        "logarithmic axes. Equipartition is inefficient with 3, 5, 6, 7 or 9 jobs, and slow if held there.",
        partial(_limits, study),
    )


def _loads(study: Study) -> Figure:
    order = (*EQUIPARTITION, *FOLDING)
    names = [*order, *(policy for policy in study.policies if policy not in order)]
    series = [Series(METRIC, policy, {"memory_limit": None}) for policy in names]
    return draw(plot(study, "load", series, BLOW_UP, "Unlimited memory", ylim=(0, 20)))


def _limits(study: Study) -> Figure:
    series = [
        Series(METRIC, policy, {"load": load}, _shaded(policy, load, number / (len(LOADS) - 1)))
        for policy in LIMITED
        for number, load in enumerate(LOADS)
    ]
    return draw(plot(study, "memory_limit", series, BLOW_UP, "Limited memory", yscale="log", yticks=BLOW_UPS))


def _shaded(policy: str, load: float, darkness: float) -> SchemeStyle:
    one = look(policy)
    return SchemeStyle(
        f"{one.label}, ρ = {load:g}", shade(one.color, 0.65 * (1 - darkness)), one.marker, one.dashes
    )
