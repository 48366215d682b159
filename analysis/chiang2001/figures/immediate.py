"""Fig. 8: LXF&W-backfill with a minute of immediate service."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.chiang2001.figures.panels import over_months, runtimes, there
from analysis.chiang2001.labels import AVERAGE, MAXIMUM, P95, SLOWDOWN
from analysis.figures.category_plot import panels
from analysis.figures.load_plot import bars
from analysis.paper import Picture
from analysis.study import Study

POLICIES = ("lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon")
TITLE = "LXF&W-backfill with one minute of immediate service"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the paper's figure, and what it says without showing it."""
    yield Picture(
        "fig8",
        "Fig. 8: LXF&W-backfill with 1 minute of immediate service",
        f"Over the months. {bars(study)}",
        partial(_months, study, (SLOWDOWN, P95)),
    )
    yield Picture(
        "fig8-not-shown",
        "Average and maximum wait with immediate service",
        f"Over the months. Section 4.3 describes these and does not show them. {bars(study)}",
        partial(_months, study, (AVERAGE, MAXIMUM)),
    )
    yield Picture(
        "fig8-runtimes",
        "Immediate service over the actual runtime",
        "Averages over the months. Jobs that end within a minute end within their quantum. Section 4.3 "
        f"describes these and does not show them. {bars(study)}",
        partial(runtimes, study, POLICIES, TITLE),
    )


def _months(study: Study, metrics: tuple[str, ...]) -> Figure:
    policies = there(study, POLICIES)
    return panels([over_months(study, metric, policies) for metric in metrics], TITLE, 2, height=2.6)
