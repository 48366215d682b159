"""The parts of the event loop of NCSA-LSF, with the rules of `models.backfill.ncsa_lsf`."""

from typing import Any

from numba import boolean, void

from models.backfill.event_loop import next_to_end, part_of, run_events, run_job
from models.backfill.job_table import NO_HOST, NO_JOB, schedule_of
from models.backfill.ncsa_lsf import queue as waiting
from models.backfill.ncsa_lsf import tables
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.backfill.pieces import add_piece, pieces_of
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels import standstill
from models.kernels.compiling import kernel, part


@part_of(tables.NcsaLsfSystem)
def end_job(system):
    """End the executing job whose end is the first. O(log running jobs + classes)."""
    state, jobs, hosts, queue = system.state[0], system.jobs, system.hosts, system.queue
    job = next_to_end(system)
    h, user = jobs.host[job], system.user[job]
    s, t = divmod(system.job_class[job], tables.N_TIMES)
    if hosts.reserved[h] != NO_JOB:
        if state.now > hosts.since[h] and hosts.free[h] > 0:
            add_piece(system.held, hosts.reserved[h], h, hosts.since[h], state.now, hosts.free[h])
        hosts.since[h] = state.now
    hosts.free[h] += jobs.size[job]
    hosts.free_memory[h] += jobs.need[job]
    hosts.executing[h * tables.N_SIZES + s] -= 1
    # Jobs that a limit barred on all hosts may now start on any of them.
    if waiting.is_barred(system, t):
        hosts.may_start[:] = 1
    system.of_time[t] -= 1
    if system.of_user[user] == system.limits.of_user:
        queue.examined[:] = NO_JOB
        hosts.may_start[:] = 1
    system.of_user[user] -= 1
    queue.examined[h * tables.N_CLASSES : (h + 1) * tables.N_CLASSES] = NO_JOB
    hosts.may_start[h] = 1
    hosts.has_ended[h] = 1


@part_of(tables.NcsaLsfSystem)
def submit_job(system):
    """Add the next job to the queue. O(1)."""
    waiting.append(system, system.state[0].arrived)


@part_of(tables.NcsaLsfSystem)
def schedule_jobs(system, functions):
    """Serve special reservations where a job has ended, then start waiting jobs until none starts anywhere.

    O(hosts x classes) after a submission at most. A host takes waiting jobs only after an event that may let
    one start there: an end there, an end that lifts a limit of all hosts, or the start of a job that held
    smaller ones back. This takes O(classes), and after an end at most O(waiting jobs) of the classes that the
    host may take.
    """
    state, hosts = system.state[0], system.hosts
    for h in range(hosts.free.shape[0] if state.n_ended > 0 else 0):
        if hosts.has_ended[h] == 1:
            hosts.has_ended[h] = 0
            serve_reservations(system, h)
    if state.arrived == state.first_new + 1 and not some_may_start(hosts):
        h = host_for_new(system, state.first_new)
        if h != NO_HOST:
            admit(system, state.first_new)
            begin(system, state.first_new, h)
            # If the bound on its size class is reached now, this class holds no smaller jobs back.
            hosts.may_start[h] = 1
    elif state.arrived > state.first_new:
        hosts.may_start[:] = 1
    # A start can lift a bar on another host, where its job may have held smaller jobs back.
    some_started = True
    while some_started and state.n_waiting > 0 and some_may_start(hosts):
        some_started = False
        if system.limits.fullest_first:
            sort_by_fullness(hosts)
        for i in range(hosts.turn.shape[0]):
            h = hosts.turn[i]
            if hosts.may_start[h] == 1 and hosts.reserved[h] == NO_JOB:
                some_started |= assign(system, h)
    if state.n_waiting == 0:
        hosts.may_start[:] = 0
        hosts.held_back_by[:] = tables.NO_CLASS


@part()
def begin(system, job, h):
    """Start a job on host `h`, where the limits count it already. O(log running jobs)."""
    jobs, hosts = system.jobs, system.hosts
    run_job(system, job, h, jobs.runtime[job])
    hosts.free[h] -= jobs.size[job]
    hosts.free_memory[h] -= jobs.need[job]
    hosts.executing[h * tables.N_SIZES + system.job_class[job] // tables.N_TIMES] += 1


@part()
def admit(system, job):
    """Remove a job from the queue, and count it in the limits of its time class and user.

    O(hosts), and O(time classes) for each host where smaller jobs were held back, perhaps for this job, or
    for one that a limit bars from now on.
    """
    hosts = system.hosts
    s, t = divmod(system.job_class[job], tables.N_TIMES)
    waiting.remove(system, job)
    system.of_time[t] += 1
    system.of_user[system.user[job]] += 1
    bars = waiting.is_barred(system, t) or waiting.user_is_barred(system, job)
    for h in range(hosts.may_start.shape[0]):
        by = hosts.held_back_by[h]
        if by != tables.NO_CLASS and (bars or by == s) and not waiting.holds_back(system, h, by):
            hosts.may_start[h] = 1


@part()
def serve_reservations(system, h):
    """After an end on host `h`, start the job with its special reservation, and find an overdue one."""
    state, hosts = system.state[0], system.hosts
    job = hosts.reserved[h]
    if job != NO_JOB:
        if not waiting.fits_now(system, h, job):
            return
        begin(system, job, h)
        hosts.reserved[h] = NO_JOB
    if state.n_waiting == 0:
        return
    job = waiting.overdue(system, h)
    if job == NO_JOB:
        return
    # With a reservation it counts as executing immediately, so that no limit can bar its start.
    admit(system, job)
    if waiting.fits_now(system, h, job):
        begin(system, job, h)
    else:
        hosts.reserved[h] = job
        hosts.since[h] = state.now


@part(void(tables.HOSTS))
def sort_by_fullness(hosts: tables.Hosts) -> None:
    """Sort the hosts by free processors, ascending; the sort is stable.

    O(hosts) where little has changed since the last time.
    """
    turn, free = hosts.turn, hosts.free
    for i in range(1, turn.shape[0]):
        h = turn[i]
        at = i
        while at > 0 and (
            free[turn[at - 1]] > free[h] or (free[turn[at - 1]] == free[h] and turn[at - 1] > h)
        ):
            turn[at] = turn[at - 1]
            at -= 1
        turn[at] = h


@part(boolean(tables.HOSTS))
def some_may_start(hosts: tables.Hosts) -> bool:
    """Return whether a waiting job may start on some host. O(hosts)."""
    found = False
    for h in range(hosts.may_start.shape[0]):
        found |= hosts.may_start[h] == 1 and hosts.reserved[h] == NO_JOB
    return found


@part()
def takes_class(system, h, wanted):
    """Return whether host `h` would take a job of size class `wanted` now, if it fits. O(classes)."""
    hosts = system.hosts
    for rank in range(tables.N_SIZES):
        s = hosts.classes[h * tables.N_SIZES + rank]
        if s == tables.NO_CLASS:
            return False
        if s == wanted:
            return not waiting.is_bounded(system, h, s)
        if not waiting.is_bounded(system, h, s) and waiting.holds_back(system, h, s):
            hosts.held_back_by[h] = s
            return False
    return False


@part()
def host_for_new(system, job):
    """Return the host that takes a job just submitted, where no other job can start, or `NO_HOST`.

    This is the first host in turn: the one with the fewest free processors (ties go to the first), or simply
    the first. O(hosts), and O(classes) for each host on which the job fits.
    """
    hosts, best = system.hosts, NO_HOST
    s, t = divmod(system.job_class[job], tables.N_TIMES)
    if waiting.is_barred(system, t) or waiting.user_is_barred(system, job):
        return best
    for h in range(hosts.free.shape[0]):
        if hosts.reserved[h] != NO_JOB or not waiting.fits_now(system, h, job):
            continue
        if best != NO_HOST and (not system.limits.fullest_first or hosts.free[h] >= hosts.free[best]):
            continue
        if takes_class(system, h, s):
            best = h
    return best


@part()
def assign(system, h):
    """Start waiting jobs on host `h` in its order of priority; return whether any started.

    A job that is too large is skipped within its size class. Smaller size classes follow only if the bound on
    the executing jobs of this class is reached, or no job of it waits (section 2.1).
    """
    hosts = system.hosts
    some_started = False
    hosts.may_start[h] = 0
    hosts.held_back_by[h] = tables.NO_CLASS
    for rank in range(tables.N_SIZES):
        s = hosts.classes[h * tables.N_SIZES + rank]
        # Without a free processor no job can start, and nothing depends on which class is held back.
        if s == tables.NO_CLASS or hosts.free[h] == 0:
            break
        if waiting.is_bounded(system, h, s):
            continue
        for level in range(system.limits.n_levels if waiting.has_new(system, h, s) else 0):
            some_started |= assign_level(system, h, s, level)
        if not waiting.is_bounded(system, h, s) and waiting.holds_back(system, h, s):
            hosts.held_back_by[h] = s
            break
    return some_started


@part()
def assign_level(system, h, s, level):
    """Start waiting jobs of one size class and level on host `h`; return whether any started."""
    limits, queue = system.limits, system.queue
    some_started = False
    for t in range(tables.N_TIMES):
        queue.cursor[t] = NO_JOB
        if limits.level[t] != level or waiting.is_barred(system, t):
            continue
        c = s * tables.N_TIMES + t
        mark = queue.examined[h * tables.N_CLASSES + c]
        if mark == NO_JOB:
            queue.cursor[t] = queue.first[c]
            continue
        job = queue.last[c]
        while job > mark:
            queue.cursor[t] = job
            job = queue.before[job]
    while not waiting.is_bounded(system, h, s):
        # First come, first served among the time classes of one level.
        job = NO_JOB
        t = 0
        for other in range(tables.N_TIMES):
            if queue.cursor[other] != NO_JOB and (job == NO_JOB or queue.cursor[other] < job):
                job = queue.cursor[other]
                t = other
        if job == NO_JOB:
            break
        queue.cursor[t] = queue.after[job]
        queue.examined[h * tables.N_CLASSES + s * tables.N_TIMES + t] = job
        if waiting.user_is_barred(system, job) or not waiting.fits_now(system, h, job):
            continue
        admit(system, job)
        begin(system, job, h)
        some_started = True
        if waiting.is_barred(system, t):
            queue.cursor[t] = NO_JOB
    return some_started


@kernel(void(tables.SYSTEM))
def run(system):
    """Simulate jobs to their last end, see `models.backfill.event_loop.run_events`."""
    run_events(system, ())


def simulate(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> Schedule:
    """Run all jobs to their ends, see `models.backfill.rules.Rules.simulate`.

    Returns
    -------
    Schedule
        The schedule, with `held`: the processors kept idle for special reservations. No start is ever
        promised.
    """
    system: Any = tables.system_of(jobs, machine, rules)
    run(system)
    standstill.check(system.state[0], len(jobs))
    return schedule_of(system.jobs, jobs, machine, promised=None, held=pieces_of(system.held))
