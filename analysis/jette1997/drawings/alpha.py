"""Figs. 3 and 4: the status of the computers of the Alpha cluster, and that of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from analysis.drawings.matrix import JOB_COLORS
from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.jette1997.drawings import alpha_histories
from models.units import KB_IN_GB

if TYPE_CHECKING:
    from models.production_gang.systems import Run

GANGS, OTHERS, LINE, LIMIT = "#2f6f9f", "#d9a441", "#555555", "#c0143c"
MEMORY, FULL = "#7b3294", "#1b7837"


def draw_machine(settings: Mapping[str, str]) -> Figure:
    """Draw the computers in a window of a run."""
    run = alpha_histories.run_of(settings)
    at = alpha_histories.busiest(run)
    return _machine(
        run,
        alpha_histories.machine_history(
            run, *alpha_histories.window(settings, run, at, float(run.end.max()))
        ),
    )


def _machine(run: Run, history: alpha_histories.MachineHistory) -> Figure:
    """Draw CPUs, memory and load of each computer, slice by slice."""
    machine, rules = run.machine, run.detail.rules
    n_hosts = len(machine.names)
    edges, label = alpha_histories.since(history.edges)
    figure, places = style.page(9.0, 1.1 + 1.05 * n_hosts, n_hosts, 3, sharex=True, squeeze=False)
    for host, (cpus, memory, load) in enumerate(places):
        gangs, others = history.gangs[:, host], history.others[:, host]
        total = int(machine.processors[host])
        cpus.stairs(gangs, edges, fill=True, color=GANGS, label="gangs")
        cpus.stairs(gangs + others, edges, baseline=gangs, fill=True, color=OTHERS, label="other jobs")
        cpus.axhline(
            total - rules.reserved,
            color=LIMIT,
            linewidth=0.8,
            linestyle=":",
            label="kept from gangs above it",
        )
        cpus.set(ylim=(0, total), yticks=[0, total])
        cpus.set_ylabel(machine.names[host], fontsize=8)
        memory.stairs(history.memory[:, host], edges, color=LINE)
        if machine.limits_memory:
            memory.axhline(
                machine.memory[host] / KB_IN_GB,
                color=MEMORY,
                linewidth=0.9,
                linestyle="--",
                label="memory of the computer",
            )
        memory.set_ylim(bottom=0)
        load.stairs(history.load[:, host], edges, color=LINE)
        load.axhline(1, color=FULL, linewidth=0.9, linestyle="-.", label="a processor for each CPU")
        load.set_ylim(bottom=0)
        for axes in (cpus, memory, load):
            axes.tick_params(labelsize=7)
            axes.set_xlim(edges[0], edges[-1])
    titles = ("CPUs in use", "GB of the jobs there", "Processors asked for, for each CPU")
    for axes, title in zip(places[0], titles, strict=True):
        axes.set_title(title, fontsize=9)
    places[-1][1].set_xlabel(label, fontsize=9)
    found = [axes.get_legend_handles_labels() for axes in places[0]]
    handles = [handle for some, _ in found for handle in some]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8)
    return figure


OF_JOB = {**alpha_histories.SETTINGS, "adapts": "false", "job": ""}
"""Jobs that do not tell have more than they use; `job` is a number from 1 on, nothing for one that spans
computers.
"""

HAS = "#c0143c"
FEW = 4
"""Computers that a picture has room for."""

LONGEST = 900.0
"""Seconds that are drawn by default: slices are to be seen."""


def draw_job(settings: Mapping[str, str]) -> Figure:
    """Draw a job in a window of a run."""
    run = alpha_histories.run_of(settings)
    job = _job(run, settings["job"])
    begin, end = float(run.start[job]), float(run.end[job])
    return _status(
        run,
        job,
        alpha_histories.job_history(
            run, job, *alpha_histories.window(settings, run, begin, min(end, begin + LONGEST))
        ),
    )


def _status(run: Run, job: int, history: alpha_histories.JobHistory) -> Figure:
    """Draw what CPUs a job has and uses, computer by computer, and its memory, slice by slice."""
    layout = run.detail.layout[job]
    edges, label = alpha_histories.since(history.edges)
    figure, (cpus, memory) = style.page(7.4, 4.4, 2, 1, sharex=True, height_ratios=(3, 1))
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
    stops = np.where(run.end - run.start <= alpha_histories.LONGEST_DEFAULT, run.preemptions, 0)
    return int(np.lexsort((stops, hosts <= FEW, (hosts > 1) & (stops > 0)))[-1])
