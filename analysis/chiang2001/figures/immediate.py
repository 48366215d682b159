"""Fig. 8: LXF&W-backfill with a minute of immediate service."""

from collections.abc import Iterator
from functools import partial

from matplotlib.figure import Figure

from analysis.chiang2001.figures.panels import over_months, runtimes, there
from analysis.chiang2001.labels import AVERAGE, KEY, MAXIMUM, P95, SLOWDOWN
from analysis.figures.captions import captioned
from analysis.figures.category_plot import panels
from analysis.paper import Picture
from analysis.study import Study

POLICIES = ("lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon")
TITLE = "LXF&W-backfill with one minute of immediate service"


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the paper's figure, and what it says without showing it."""
    drawn = {
        "fig8": partial(_months, metrics=(SLOWDOWN, P95)),
        "fig8-not-shown": partial(_months, metrics=(AVERAGE, MAXIMUM)),
        "fig8-runtimes": partial(runtimes, policies=POLICIES, title=TITLE),
    }
    return captioned(KEY, study, drawn)


def _months(study: Study, metrics: tuple[str, ...]) -> Figure:
    policies = there(study, POLICIES)
    return panels([over_months(study, metric, policies) for metric in metrics], TITLE, 2, height=2.6)
