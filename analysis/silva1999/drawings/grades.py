"""Grades of membership of a task that changes phase: ``python -m analysis draw grades``."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.drawings.scene import positive, valid, whole
from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.silva1999.engine import SOURCE, Grading, gradings, point, title

GRADES = {**SOURCE, "workload": "changing_phases", "load": "0.9", "time": "5000", "job": "", "task": "0"}

AROUND = 12
"""Measures that are shown before and after a change, where no job is given."""

MEASURES = 5


def grades(settings: Mapping[str, str]) -> Figure:
    """Draw the grades of one task, and the priority that follows from them where the policy has one."""
    until = positive(settings, "time")
    made = point(settings)
    if not made.policy["coordinated"]:
        raise AnalysisError(
            f"policy={settings['policy']}: this scheduler has no grades of membership; give concurrent_gang"
        )
    found = valid(gradings, made, until)
    if not found:
        raise AnalysisError(
            f"no task reached a second phase by time={until:g}: give a later time, or a workload of phases "
            "(workload=changing_phases)"
        )
    one = _chosen(found, settings)
    alpha, beta = float(made.policy["alpha"]), float(made.policy["beta"])
    shown = np.concatenate([one.before[-AROUND:], one.after[:AROUND]])
    x = np.arange(len(shown)) - len(one.before[-AROUND:]) + 1
    io, computation = one.io[shown], one.computation[shown]
    figure, axes = style.page(7.4, 3.6)
    axes.axvspan(0, MEASURES, color="#eeeeee", zorder=0)
    axes.axvline(0, color="#666666", linewidth=1.0, zorder=1)
    axes.plot(x, io, "o-", color="#e69f00", label="grade of I/O", zorder=3)
    axes.plot(x, computation, "s-", color="#0072b2", label="grade of computation", zorder=3)
    top = 1.0
    if made.policy["local"] == "priority":
        priority = np.maximum(alpha * io, computation)
        wording = f"priority: max({alpha:g} × I/O, computation)"
        axes.plot(x, priority, ":", color="#333333", label=wording, zorder=2)
        axes.axhline(beta, color="#888888", linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
        wording = f"β = {beta:g}: at or below it, no local slot"
        axes.text(x[0], beta + 0.015, wording, fontsize=7.5, color="#666666")
        top = max(1.0, float(priority.max()))
    axes.text(
        0.1,
        1.04 * top,
        f"phase changes by {one.change:,.0f} s; grey: the next five measures",
        fontsize=7.5,
        color="#555555",
    )
    axes.set(
        xlabel="Slices in which the task was scheduled, from its change of phase on",
        ylabel="Grade of membership",
    )
    axes.set_ylim(-0.03, 1.12 * top)
    style.put_headline(
        figure, f"Task {one.task} of job {one.job + 1}: {title(settings, made.policy['name'])}"
    )
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _chosen(found: Sequence[Grading], settings: Mapping[str, str]) -> Grading:
    """Return the task that was asked for, else the first with most measures around its change."""
    if settings["job"]:
        job, task = whole(settings, "job") - 1, whole(settings, "task", 0)
        for one in found:
            if (one.job, one.task) == (job, task):
                return one
        there = sorted({one.job + 1 for one in found})
        wording = ", ".join(map(str, there[:12])) + (" …" if len(there) > 12 else "")
        raise AnalysisError(
            f"job={job + 1} task={task}: this task has not changed phase by then; tasks that have: {wording}"
        )
    return max(found, key=lambda one: min(len(one.before), len(one.after), AROUND))
