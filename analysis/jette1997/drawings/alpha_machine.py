"""Fig. 3: the status of the computers of the Alpha cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from analysis.jette1997.drawings.alpha_histories import (
    SETTINGS,
    MachineHistory,
    busiest,
    machine_history,
    run_of,
    since,
    window,
)
from models.units import KB_IN_GB

if TYPE_CHECKING:
    from models.production_gang.systems import Run

__all__ = ["SETTINGS", "draw", "status"]

GANGS, OTHERS, LINE, LIMIT = "#2f6f9f", "#d9a441", "#555555", "#c0143c"
MEMORY, FULL = "#7b3294", "#1b7837"


def draw(settings: Mapping[str, str]) -> Figure:
    """Draw the computers in a window of a run."""
    run = run_of(settings)
    at = busiest(run)
    return status(run, machine_history(run, *window(settings, run, at, float(run.end.max()))))


def status(run: Run, history: MachineHistory) -> Figure:
    """Draw CPUs, memory and load of each computer, slice by slice."""
    machine, rules = run.machine, run.detail.rules
    n_hosts = len(machine.names)
    edges, label = since(history.edges)
    figure = Figure(figsize=(9.0, 1.1 + 1.05 * n_hosts), layout="constrained")
    places = figure.subplots(n_hosts, 3, sharex=True, squeeze=False)
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
