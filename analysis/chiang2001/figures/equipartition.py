"""Figs. 9 and 10: EQspatial against LXF&W-backfill with immediate service."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.chiang2001.figures.panels import all_policies, each_month, runtimes, summary
from analysis.chiang2001.labels import NOVEMBER, P95, months
from analysis.errors import DrawingError
from analysis.figures.load_plot import bars
from analysis.paper import Picture
from analysis.study import Study

POLICIES = ("lxf_w_immediate", "eq_spatial_5m", "eq_spatial_5m_50h")
TITLE = "EQspatial and LXF&W-backfill with immediate service"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the figures in the paper's order."""
    yield Picture(
        "fig9",
        "Fig. 9: EQspatial and LXF&W-backfill with immediate service, November 1999",
        "Over ranges of the actual runtime. A wait under EQspatial is the time in the system less the "
        f"runtime on the processors that a job asked for. {bars(study)}",
        partial(_november, study),
    )
    yield Picture(
        "fig9-months",
        "Fig. 9 of each month: 95th percentile of the wait",
        "Section 4.4 says that the other months are similar, with slightly larger differences in December "
        f"and February. {bars(study)}",
        partial(each_month, study, P95, POLICIES),
    )
    yield Picture(
        "fig10",
        "Fig. 10: Summary performance of EQspatial vs. LXF&W-backfill",
        f"Over the months. {bars(study)}",
        partial(summary, study, POLICIES, TITLE),
    )
    yield Picture(
        "fig10-all",
        "All policies of this grid",
        f"As Fig. 10, with EQspatial-0m and LXF&W-backfill without immediate service. {bars(study)}",
        partial(summary, study, all_policies(study), "All policies"),
    )


def _november(study: Study) -> Figure:
    if NOVEMBER not in months(study):
        raise DrawingError("this grid lacks November 1999: add o2k_1999_11 to grid.workload")
    return runtimes(study, POLICIES, f"{TITLE}, November 1999", NOVEMBER)
