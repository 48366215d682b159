"""Figs. 9 and 10: EQspatial against LXF&W-backfill with immediate service."""

from collections.abc import Callable, Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.chiang2001.figures.panels import all_policies, each_month, runtimes, summary
from analysis.chiang2001.labels import KEY, NOVEMBER, P95, months
from analysis.errors import DrawingError
from analysis.figures.captions import captioned
from analysis.paper import Picture
from analysis.study import Study

POLICIES = ("lxf_w_immediate", "eq_spatial_5m", "eq_spatial_5m_50h")
TITLE = "EQspatial and LXF&W-backfill with immediate service"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    drawn: dict[str, Callable[[Study], Figure]] = {
        "fig9": _november,
        "fig9-months": partial(each_month, metric=P95, policies=POLICIES),
        "fig10": partial(summary, policies=POLICIES, title=TITLE),
        "fig10-all": partial(summary, policies=all_policies(study), title="All policies"),
    }
    return captioned(KEY, study, drawn)


def _november(study: Study) -> Figure:
    if NOVEMBER not in months(study):
        raise DrawingError("this grid lacks November 1999: add o2k_1999_11 to grid.workload")
    return runtimes(study, POLICIES, f"{TITLE}, November 1999", NOVEMBER)
