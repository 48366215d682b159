"""The largest waits of a schedule over the actual runtime, as in Fig. 4 of Chiang and Vernon (2001)."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from analysis.schedule_drawings.largest_waits import draw_largest_waits
from analysis.schedule_drawings.scene import scene, share


def waits(settings: Mapping[str, str]) -> Figure:
    """Draw the measured jobs of a schedule that wait for longest."""
    part = share(settings)
    shown = scene(settings)
    made = shown.schedule
    return draw_largest_waits(made.wait[shown.measured], made.jobs.runtime[shown.measured], part, shown.title)
