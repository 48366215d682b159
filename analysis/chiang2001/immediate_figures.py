"""Fig. 8: LXF&W-backfill with a minute of immediate service."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.chiang2001.backfill_figures import bars, runtimes
from analysis.chiang2001.category_plot import panels
from analysis.chiang2001.plots import over_months, there
from analysis.papers import Picture
from analysis.study import Study

POLICIES = ("lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon")
TITLE = "LXF&W-backfill with one minute of immediate service"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the paper's figure, and what it says without showing it."""
    yield Picture(
        "fig8",
        "Fig. 8: LXF&W-backfill with 1 minute of immediate service",
        f"Over the months. {bars(study)}",
        partial(_months, study, ("slowdown", "wait_p95")),
    )
    yield Picture(
        "fig8-not-shown",
        "Average and maximum wait with immediate service",
        f"Over the months. Section 4.3 tells of these and does not show them. {bars(study)}",
        partial(_months, study, ("wait", "wait_max")),
    )
    yield Picture(
        "fig8-runtimes",
        "Immediate service over the actual runtime",
        "Averages over the months. Jobs that end within a minute end within their quantum. Section 4.3 tells "
        f"of these and does not show them. {bars(study)}",
        partial(_runtimes, study),
    )


def _months(study: Study, metrics: tuple[str, ...]) -> Figure:
    policies = there(study, POLICIES)
    return panels([over_months(study, metric, policies) for metric in metrics], TITLE, 2, height=2.6)


def _runtimes(study: Study) -> Figure:
    return runtimes(study, there(study, POLICIES), TITLE)
