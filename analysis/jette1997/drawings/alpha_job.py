"""Fig. 4: the status of a job of the Alpha cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from analysis.drawings.matrix import JOB_COLORS
from analysis.errors import AnalysisError
from analysis.jette1997.drawings import alpha_histories
from analysis.jette1997.drawings.alpha_histories import (
    LONGEST_DEFAULT,
    JobHistory,
    job_history,
    run_of,
    since,
    window,
)

if TYPE_CHECKING:
    from models.production_gang.systems import Run

SETTINGS = {**alpha_histories.SETTINGS, "adapts": "false", "job": ""}
"""Jobs that do not tell have more than they use; `job` is a number from 1 on, nothing for one that spans
computers.
"""

HAS = "#c0143c"
FEW = 4
"""Computers that a picture has room for."""

LONGEST = 900.0
"""Seconds that are drawn by default: slices are to be seen."""


def draw(settings: Mapping[str, str]) -> Figure:
    """Draw a job in a window of a run."""
    run = run_of(settings)
    job = _job(run, settings["job"])
    begin, end = float(run.start[job]), float(run.end[job])
    return status(run, job, job_history(run, job, *window(settings, run, begin, min(end, begin + LONGEST))))


def status(run: Run, job: int, history: JobHistory) -> Figure:
    """Draw what CPUs a job has and uses, computer by computer, and its memory, slice by slice."""
    layout = run.detail.layout[job]
    edges, label = since(history.edges)
    figure = Figure(figsize=(7.4, 4.4), layout="constrained")
    cpus, memory = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    below = np.zeros(history.uses.shape[0])
    for number, host in enumerate(np.flatnonzero(layout).tolist()):
        above = below + history.uses[:, host]
        colour = JOB_COLORS[number % len(JOB_COLORS)]
        cpus.stairs(
            above, edges, baseline=below, fill=True, color=colour, label=f"used on {run.machine.names[host]}"
        )
        below = above
    cpus.stairs(history.has.sum(axis=1), edges, color=HAS, linewidth=1.2, label="allocated")
    cpus.set(ylabel="CPUs", xlim=(edges[0], edges[-1]), ylim=(0, 1.05 * max(float(layout.sum()), 1.0)))
    memory.stairs(history.memory.sum(axis=1), edges, color="#555555")
    memory.set(ylabel="GB", xlabel=label)
    memory.set_ylim(bottom=0)
    figure.suptitle(
        f"Job {job + 1}: {run.jobs.size[job]} processors, runtime {run.jobs.runtime[job]:,.0f} s, in the "
        f"system for {run.response_time[job]:,.0f} s",
        fontsize=10,
    )
    figure.legend(*cpus.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _job(run: Run, text: str) -> int:
    n_jobs = len(run.jobs)
    if text:
        if not text.isdecimal() or not 1 <= int(text) <= n_jobs:
            raise AnalysisError(f"job={text}: give a number from 1 to {n_jobs}, or nothing")
        return int(text) - 1
    # One that spans computers, gave way to others and ended within the time that is drawn, if there is one.
    hosts = (run.detail.layout > 0).sum(axis=1)
    stops = np.where(run.end - run.start <= LONGEST_DEFAULT, run.preemptions, 0)
    return int(np.lexsort((stops, hosts <= FEW, (hosts > 1) & (stops > 0)))[-1])
