"""The largest waits of a schedule over the actual runtime, as in Fig. 4 of Chiang and Vernon (2001)."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from analysis.drawings.scene import scene
from analysis.drawings.settings import positive
from analysis.errors import DrawingError
from analysis.figures.style import ACCENT

MINUTE, HOUR = 60.0, 3600.0


def waits(settings: Mapping[str, str]) -> Figure:
    """Draw the measured jobs of a schedule that wait for longest."""
    share = positive(settings, "share", "a share of the jobs, e.g. 0.05", most=1.0)
    shown = scene(settings)
    made = shown.schedule
    return draw_largest_waits(
        made.delay[shown.measured], made.jobs.runtime[shown.measured], share, shown.title
    )


def draw_largest_waits(wait: np.ndarray, runtime: np.ndarray, share: float, title: str) -> Figure:
    """Draw wait over actual runtime, both in seconds, of the jobs with the largest waits.

    Parameters
    ----------
    wait, runtime : ndarray, shape (n_jobs,)
    share : float
        Of the jobs, the longest waits first.
    """
    n = round(share * len(wait))
    if not n:
        raise DrawingError(f"{share:.3g} of {len(wait)} jobs is none: give a larger share= or more jobs")
    chosen = np.argsort(-wait, kind="stable")[:n]
    figure = Figure(figsize=(6.6, 3.7), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.scatter(runtime[chosen] / MINUTE, wait[chosen] / HOUR, s=9, color=ACCENT, alpha=0.6, linewidths=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.12g}"))
    axes.set(xlabel="Actual runtime (min)", ylabel="Wait (h)")
    least = (
        f"{wait[chosen].min() / HOUR:.1f} h" if wait[chosen].min() >= HOUR else f"{wait[chosen].min():.0f} s"
    )
    axes.set_title(f"{title}: {n:,} of {len(wait):,} jobs, waits from {least}")
    return figure
