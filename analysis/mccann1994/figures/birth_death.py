"""Figs. 5.6 and 5.7: mean blow-up factors of equal jobs that come and go."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from analysis.figures.captions import captioned
from analysis.figures.load_plot import draw
from analysis.figures.panels import Series, plot
from analysis.figures.policies import shaded
from analysis.mccann1994.labels import BLOW_UP, EQUIPARTITION, FOLDING, KEY, LIMITS, LOADS
from analysis.paper import Picture
from analysis.study import Study

LIMITED = ("equi_plus", "fold_never")
SHOWN = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Of Fig. 5.7: below a half, few jobs are in the system at once."""

BLOW_UPS = (2, 5, 10, 20, 50, 100, 200)
YLABEL = "Mean blow-up factor"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    return captioned(KEY, study, {"fig5-6": _loads, "fig5-7": _limits})


def _loads(study: Study) -> Figure:
    order = (*EQUIPARTITION, *FOLDING)
    names = [*order, *(policy for policy in study.policies if policy not in order)]
    series = [Series(BLOW_UP, policy, {"memory_limit": None}) for policy in names]
    return draw(plot(study, LOADS, series, YLABEL, "Unlimited memory", ylim=(0, 20)))


def _limits(study: Study) -> Figure:
    series = [
        Series(BLOW_UP, policy, {"load": load}, style)
        for policy in LIMITED
        for load, style in zip(SHOWN, shaded(policy, [f"ρ = {load:g}" for load in SHOWN]), strict=True)
    ]
    return draw(plot(study, LIMITS, series, YLABEL, "Limited memory", yscale="log", yticks=BLOW_UPS))
