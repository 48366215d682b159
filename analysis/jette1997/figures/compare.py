"""The same jobs under the site's schedulers, backfilling and packing schemes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.figures.category_plot import CategoryPlot, Estimates, panels
from analysis.figures.load_plot import bars
from analysis.figures.policies import apart
from analysis.jette1997.labels import DEBUG, INTERACTIVE, JOB_CLASS, PRODUCTION, UTILIZATION, schedulers
from analysis.paper import Picture
from analysis.study import Study

CLASSES = (INTERACTIVE, DEBUG, PRODUCTION)
SHOWN = {
    "wait_by_job_class": ("Wait to the first processor (s)", 1.0),
    "slowdown_by_job_class": ("Slowdown", 1.0),
    "slowdown_p95_by_job_class": ("Slowdown, 95th percentile", 1.0),
}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figure."""
    yield Picture(
        "compare",
        "The same jobs under backfilling and packing schemes",
        "Jobs of the three weeks, all submitted beforehand as if nobody had ever waited. Backfilling and packing know a "
        "pool of 256 processors, no torus, no barrier wires and no classes; their switches are free, and the packing schemes "
        f"hold all jobs in memory. {bars(study)}",
        partial(_draw, study),
    )


def _draw(study: Study) -> Figure:
    policies = schedulers(study)
    looks = apart(policies)
    there = [name for name in CLASSES if name in study.values_of(JOB_CLASS)]
    made = []
    for metric, (label, scale) in SHOWN.items():
        found = {
            policy: Estimates.of(
                [study.sample(metric, policy, **{JOB_CLASS: name}) for name in there], study.confidence, scale
            )
            for policy in policies
        }
        made.append(CategoryPlot(there, found, looks, label, yscale="log", joined=False, least=None))
    used = {
        policy: Estimates.of([study.sample(UTILIZATION, policy)], study.confidence, 100.0) for policy in policies
    }
    made.append(CategoryPlot([""], used, looks, "Utilization (%)", joined=False))
    return panels(made, "The same jobs under backfilling and packing schemes", 2, height=2.6)
