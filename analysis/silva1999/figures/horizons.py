"""Figs. 3 to 10: throughput and idle time of the schedulers over the length of the simulation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from analysis.figures.load_plot import bars
from analysis.paper import Picture
from analysis.silva1999.figures.panels import over_time
from analysis.silva1999.labels import (
    COMMUNICATION,
    COMPUTATION,
    IDLE,
    IDLE_OF_TASKS,
    IO,
    JOBS,
    SYNCHRONIZATION,
    WORKLOAD,
    workload,
)
from analysis.study import Study

FIGURES = {
    3: (IO, JOBS),
    4: (IO, IDLE),
    5: (COMPUTATION, JOBS),
    6: (COMPUTATION, IDLE),
    7: (COMMUNICATION, JOBS),
    8: (COMMUNICATION, IDLE),
    9: (SYNCHRONIZATION, JOBS),
    10: (SYNCHRONIZATION, IDLE),
}
"""The paper's number -> what it shows."""

OF = {JOBS: "throughput", IDLE: "total idle time"}

SHOWS = {
    JOBS: "Jobs completed from an empty machine to the time on the axis.",
    IDLE: "PE seconds in which a PE neither computes nor switches: its slot is empty, or the task of the "
    "slot waits and none takes its place.",
    IDLE_OF_TASKS: "The other reading of “the time which a particular task was waiting” (section 3.1): time "
    "of empty slots, and the time that tasks wait, whether or not their PE does something else meanwhile.",
}


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the paper's figures, on every machine of the grid, and idle time under the other reading, too."""
    there = study.values_of(WORKLOAD)
    for number, (name, metric) in FIGURES.items():
        if name not in there:
            continue
        title = f"Fig. {number}: {workload(name)}: {OF[metric]}"
        below = (
            "Below: the same minus gang scheduling's, paired by the same jobs. Uncoordinated scheduling is "
            f"spoken of in the text and not in the paper's figures. {bars(study)}"
        )
        draw = partial(over_time, study, metric, name, title)
        yield Picture(f"fig{number}", title, f"{SHOWS[metric]} {below}", draw)
        # Without blocking statements no task waits, and both readings are one.
        if metric == IDLE and name != COMPUTATION:
            title = f"Fig. {number}, read otherwise: {workload(name)}: empty slots and waiting of tasks"
            draw = partial(over_time, study, IDLE_OF_TASKS, name, title)
            yield Picture(f"fig{number}-tasks", title, f"{SHOWS[IDLE_OF_TASKS]} {below}", draw)
