"""The same jobs under the site's schedulers, backfilling and packing schemes."""

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from analysis.figures.captions import captioned
from analysis.figures.category_plot import LEAST, CategoryPlot, Estimates, panels
from analysis.figures.policies import apart
from analysis.jette1997 import labels
from analysis.paper import Picture
from analysis.study import Study

CLASSES = (labels.INTERACTIVE, labels.DEBUG, labels.PRODUCTION)
SHOWN = (
    ("wait_by_job_class", labels.SITE_CLASS, "Wait to the first processor (s)"),
    ("slowdown_by_job_class", labels.SITE_CLASS, "Slowdown"),
    ("slowdown_by_runtime", labels.RUNTIME, "Slowdown"),
)
"""Metric, its groups, and its label."""


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    return captioned(labels.KEY, study, {"compare": _draw})


def _groups(study: Study, dim: str) -> Sequence[str]:
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


def _draw(study: Study) -> Figure:
    policies = labels.schedulers(study)
    looks = apart(policies)
    made = []
    for metric, dim, label in SHOWN:
        there = _groups(study, dim)
        found = {
            policy: Estimates.of(
                [study.sample(metric, policy, **{dim: name}) for name in there], study.confidence
            )
            for policy in policies
        }
        known = [n for n in range(len(there)) if any(one.drawn[n] for one in found.values())]
        found = {
            policy: Estimates(one.mean[known], one.half_width[known], one.finished[known])
            for policy, one in found.items()
        }
        names = [_short(there[n]) if dim == labels.RUNTIME else there[n] for n in known]
        made.append(
            CategoryPlot(
                names, found, looks, label, "Runtime (min)" if dim == labels.RUNTIME else "", yscale="log",
                joined=False, least=None if "wait" in metric else LEAST,
            )
        )  # fmt: skip
    used = {
        policy: Estimates.of([study.sample(labels.UTILIZATION, policy)], study.confidence, 100.0)
        for policy in policies
    }
    made.append(CategoryPlot(["all jobs"], used, looks, "Utilization (%)", joined=False))
    return panels(made, "The same jobs under backfilling and packing schemes", 2, height=2.6)
