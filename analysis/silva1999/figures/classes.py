"""Jobs of all four classes on one machine: which of them fill idle slots, and how long jobs of each take."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from analysis.figures.captions import captioned
from analysis.figures.category_plot import CategoryPlot, Estimates, panels
from analysis.figures.policies import look, shaded
from analysis.paper import Picture
from analysis.silva1999.claims import Tester, measured
from analysis.silva1999.figures.panels import schedulers
from analysis.silva1999.labels import ALPHA, CLASS, KEY, MIXED, PRIORITIES
from analysis.study import Study

SHOWN = {"local": 100.0, "response": 1.0}
"""What is drawn -> what values are multiplied with."""

LABELS = {"local": "Computing outside own slots (%)", "response": "Mean response time (s)"}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    return captioned(KEY, study, {"classes": _draw})


def _draw(study: Study) -> Figure:
    test, classes = Tester(study), [one for one in study.values_of(CLASS) if one != "other"]
    alphas = sorted(study.values_of(ALPHA), key=float)
    lines = {(one, study.usual().get(ALPHA, "")): look(one) for one in schedulers(study)}
    if len(alphas) > 1:
        shades = shaded(PRIORITIES, [f"α = {float(alpha):g}" for alpha in alphas])
        lines = {key: one for key, one in lines.items() if key[0] != PRIORITIES}
        lines |= {(PRIORITIES, alpha): one for alpha, one in zip(alphas, shades, strict=True)}
    looks = {one.label: one for one in lines.values()}
    plots = []
    for measure, scale in SHOWN.items():
        series = {}
        for (name, alpha), one in lines.items():
            at = {ALPHA: alpha} if alpha else {}
            found = [measured(test, measure, name, MIXED, "", **{CLASS: kind}, **at) for kind in classes]
            series[one.label] = Estimates.of(found, study.confidence, scale)
        names = ["I/O" if kind == "io" else kind.capitalize() for kind in classes]
        plots.append(CategoryPlot(names, series, looks, LABELS[measure], "Class of the jobs", joined=False))
    return panels(plots, "Jobs of all classes on one machine", 2, height=2.8)
