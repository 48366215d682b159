"""Figs. 3 to 10: throughput and idle time of the schedulers over the length of the simulation."""

from collections.abc import Iterator
from functools import partial

from analysis.figures.captions import captioned
from analysis.paper import Picture
from analysis.silva1999.figures.panels import over_time, relative
from analysis.silva1999.labels import (
    COMMUNICATION,
    COMPUTATION,
    IDLE,
    IDLE_OF_TASKS,
    IO,
    JOBS,
    KEY,
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
        if name in there:
            title = f"Fig. {number}: {workload(name)}: {OF[metric]}"
            drawn = {f"fig{number}": partial(over_time, metric=metric, workload=name, title=title)}
            yield from captioned(KEY, study, drawn, "over-time", title=title, shows=SHOWS[metric])
    for name in there:
        kind = name.removesuffix("_intensive")
        title = f"All schedulers, relative to gang scheduling: {workload(name)}"
        drawn = {f"all-{kind}": partial(relative, metrics=(JOBS, IDLE), workload=name, title=title)}
        yield from captioned(KEY, study, drawn, "all-schedulers", title=title)
        # Without blocking statements no task waits, and both readings are one.
        if name != COMPUTATION:
            title = f"Idle time read otherwise: {workload(name)}: empty slots and waiting of tasks"
            one = partial(over_time, metric=IDLE_OF_TASKS, workload=name, title=title)
            shows, drawn = SHOWS[IDLE_OF_TASKS], {f"idle-of-tasks-{kind}": one}
            yield from captioned(KEY, study, drawn, "idle-of-tasks", title=title, shows=shows)
