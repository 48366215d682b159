"""The effective class and priority of a job, its urgency, and the order of jobs that wait for nodes."""

from numba import boolean, int64, void

from models.jobs.job_classes import STANDBY
from models.kernels.compiling import part
from models.production_gang.t3d.periods import N_PERIODS
from models.production_gang.t3d.state import CLASS_TYPE, SYSTEM, JobState

DISK_LAST, DISK_FIRST = 1, 2
"""Indices into the choices of `rules.Rules.location`."""


@part(int64(int64, SYSTEM))
def class_of(job, system):
    """Return the effective class of a job: standby while its user has a high nice value."""
    it = system.jobs[job]
    if (
        it.user >= 0
        and system.users[it.user].is_nice
        and system.classes[N_PERIODS * it.job_class].preemptable
    ):
        return STANDBY
    return it.job_class


@part(CLASS_TYPE(int64, SYSTEM))
def parameters_of(job, system):
    """Return the parameters of a job's class in this period."""
    return system.classes[class_of(job, system) * N_PERIODS + system.state[0].period]


@part()
def is_urgent(job, system):
    """Return whether a job has reached the maximum wait of its class."""
    return system.state[0].now >= system.jobs[job].since + parameters_of(job, system).max_wait


@part()
def slice_end(job, system):
    """Return when the minimum slice of a running job is over: processors times its class's multiplier."""
    it = system.jobs[job]
    return it.run_since + it.processors * parameters_of(job, system).do_not_disturb


@part(boolean(int64, int64, SYSTEM))
def precedes(job, other, system):
    """Return whether a job that waits for nodes is placed before another one."""
    priority, of_other = parameters_of(job, system).priority, parameters_of(other, system).priority
    if priority != of_other:
        return priority > of_other
    urgent = is_urgent(job, system)
    if urgent != is_urgent(other, system):
        return urgent
    it, its_rival = system.jobs[job], system.jobs[other]
    if system.settings.location > 0:
        on_disk = it.state == JobState.ON_DISK or it.state == JobState.LEAVING
        rival_on_disk = its_rival.state == JobState.ON_DISK or its_rival.state == JobState.LEAVING
        if on_disk != rival_on_disk:
            return on_disk == (system.settings.location == DISK_FIRST)
    if system.settings.largest_first and it.processors != its_rival.processors:
        return it.processors > its_rival.processors
    if it.since != its_rival.since:
        return it.since < its_rival.since
    return job < other


@part(void(SYSTEM))
def sort_waiting(system):
    """Sort the jobs that wait for nodes. O(waiting jobs + changes of places)."""
    waiting = system.waiting
    for i in range(1, system.state[0].n_waiting):
        job = waiting[i]
        at = i
        while at > 0 and precedes(job, waiting[at - 1], system):
            waiting[at] = waiting[at - 1]
            at -= 1
        waiting[at] = job
