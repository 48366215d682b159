"""What a job counts as: its class, its priority, whether it is urgent, and who goes before whom."""

from __future__ import annotations

from numba import boolean, int64, void

from models.jobs.job_classes import STANDBY
from models.kernels.compiling import part
from models.production_gang.t3d.periods import N_PERIODS
from models.production_gang.t3d.state import (
    CLASS,
    DO_NOT_DISTURB,
    MAX_WAIT,
    N_WAITING,
    NOW,
    PERIOD,
    PREEMPTABLE,
    PRIORITY,
    PROCESSORS,
    RUN_SINCE,
    SINCE,
    SYSTEM,
    USER,
)


@part(int64(int64, SYSTEM))
def class_of(job, system):
    """Return the class that a job counts as: standby, while its user has a high nice value."""
    whole = system.work.whole
    job_class = whole[job, CLASS]
    user = whole[job, USER]
    if user >= 0 and system.users.nice[user] and system.parameters.switches[job_class, PREEMPTABLE]:
        return STANDBY
    return job_class


@part()
def number_of(job, column, system):
    """Return a parameter of a job's class in this period."""
    row = class_of(job, system) * N_PERIODS + system.counts[PERIOD]
    return system.parameters.numbers[row, column]


@part()
def is_urgent(job, system):
    """Tell whether a job has waited for as long as its class may."""
    return system.clocks[NOW] >= system.work.real[job, SINCE] + number_of(job, MAX_WAIT, system)


@part()
def slice_ends(job, system):
    """Return when the minimum slice of a running job is over: processors times its class' multiplier."""
    size = system.work.whole[job, PROCESSORS]
    return system.work.real[job, RUN_SINCE] + size * number_of(job, DO_NOT_DISTURB, system)


@part(boolean(int64, int64, SYSTEM))
def goes_before(job, other, system):
    """Tell which of two jobs that wait for nodes is looked at first."""
    priority, of_other = number_of(job, PRIORITY, system), number_of(other, PRIORITY, system)
    if priority != of_other:
        return priority > of_other
    urgent, other_urgent = is_urgent(job, system), is_urgent(other, system)
    if urgent != other_urgent:
        return urgent
    whole, real = system.work.whole, system.work.real
    if system.settings.largest_first and whole[job, PROCESSORS] != whole[other, PROCESSORS]:
        return whole[job, PROCESSORS] > whole[other, PROCESSORS]
    if real[job, SINCE] != real[other, SINCE]:
        return real[job, SINCE] < real[other, SINCE]
    return job < other


@part(void(SYSTEM))
def sort_waiting(system):
    """Put the jobs that wait in order. O(waiting), and for each that is in a wrong place how far it moves."""
    waiting, n = system.work.waiting, system.counts[N_WAITING]
    for i in range(1, n):
        job = waiting[i]
        at = i
        while at > 0 and goes_before(job, waiting[at - 1], system):
            waiting[at] = waiting[at - 1]
            at -= 1
        waiting[at] = job
