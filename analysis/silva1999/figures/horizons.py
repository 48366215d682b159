"""Figs. 3 to 10: throughput and idle time of the schedulers over the length of the simulation."""

from collections.abc import Iterator
from functools import partial

from analysis.figures.load_plot import bars
from analysis.paper import Picture
from analysis.silva1999.figures.panels import over_time, relative
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
    """Yield the paper's figures, with its machine and schedulers, and what it has no figures of."""
    there = study.values_of(WORKLOAD)
    for number, (name, metric) in FIGURES.items():
        if name not in there:
            continue
        title = f"Fig. {number}: {workload(name)}: {OF[metric]}"
        yield Picture(
            f"fig{number}",
            title,
            f"{SHOWS[metric]} Below: the same relative to gang scheduling, paired by the same jobs. Lines "
            f"that would hide each other stand side by side. {bars(study)}",
            partial(over_time, study, metric, name, title),
        )
    for name in there:
        kind = name.removesuffix("_intensive")
        title = f"All schedulers, relative to gang scheduling: {workload(name)}"
        yield Picture(
            f"all-{kind}",
            title,
            "Completed jobs and total idle time over those of gang scheduling, paired by the same jobs. The "
            "paper speaks of uncoordinated scheduling and of 32 processors in the text, and has no figures "
            f"of them. {bars(study)}",
            partial(relative, study, (JOBS, IDLE), name, title),
        )
        # Without blocking statements no task waits, and both readings are one.
        if name != COMPUTATION:
            title = f"Idle time read otherwise: {workload(name)}: empty slots and waiting of tasks"
            yield Picture(
                f"idle-of-tasks-{kind}",
                title,
                f"{SHOWS[IDLE_OF_TASKS]} {bars(study)}",
                partial(over_time, study, IDLE_OF_TASKS, name, title),
            )
