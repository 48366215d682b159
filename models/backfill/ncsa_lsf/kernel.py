"""The event loop of NCSA-LSF, whose rules `models.backfill.ncsa_lsf` tells."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, void

from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.backfill.ncsa_lsf.state import (
    HOSTS,
    JOBS,
    LIMITS,
    NOBODY,
    QUEUE,
    RUNNING,
    Hosts,
    JobTable,
    Limits,
    Queue,
    Running,
    empty_hosts,
    empty_queue,
    job_table,
    limits_of,
    nobody_running,
)
from models.backfill.ncsa_lsf.waiting import append, has_room, holds_back, overdue, take_out
from models.backfill.pieces import NOTED, Noted, note, pieces_of, room_for
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.kernels.compiling import kernel, part
from models.kernels.ends import pop, push
from models.kernels.ties import next_end, next_submission, takes_end, takes_submission


@part(void(JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def end_first(jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running) -> None:
    """End the executing job whose end is the first. O(log running jobs + classes)."""
    job = pop(jobs.end, running.heap, running.n[0])
    running.n[0] -= 1
    h, c, user = jobs.host[job], jobs.job_class[job], jobs.user[job]
    n_times = limits.level.shape[0]
    n_classes = queue.first.shape[0]
    hosts.free[h] += jobs.size[job]
    hosts.free_memory[h] += jobs.memory[job]
    hosts.executing[h * (n_classes // n_times) + c // n_times] -= 1
    # Whom a limit bars on all hosts may start on any of them, once it bars no more.
    if running.of_time[c % n_times] >= limits.of_time[c % n_times]:
        hosts.looks[:] = 1
    running.of_time[c % n_times] -= 1
    if running.of_user[user] == limits.of_user:
        queue.seen[:] = NOBODY
        hosts.looks[:] = 1
    running.of_user[user] -= 1
    queue.seen[h * n_classes : (h + 1) * n_classes] = NOBODY
    hosts.looks[h] = 1
    hosts.has_ended[h] = 1


@part(void(float64, int64, int64, JOBS, HOSTS, LIMITS, RUNNING))
def begin(
    now: float, job: int, h: int, jobs: JobTable, hosts: Hosts, limits: Limits, running: Running
) -> None:
    """Start a job on host `h`, where the limits count it already. O(log running jobs)."""
    n_times = limits.level.shape[0]
    n_sizes = hosts.executing.shape[0] // hosts.free.shape[0]
    jobs.start[job] = now
    jobs.end[job] = now + jobs.runtime[job]
    jobs.host[job] = h
    push(jobs.end, running.heap, running.n[0], job)
    running.n[0] += 1
    hosts.free[h] -= jobs.size[job]
    hosts.free_memory[h] -= jobs.memory[job]
    hosts.executing[h * n_sizes + jobs.job_class[job] // n_times] += 1


@part(void(int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def admit(job: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running) -> None:
    """Take a job from the queue, and count it in the limits of its time class and user.

    O(hosts), and O(time classes) for each where smaller jobs were held back, perhaps for this one, or for one
    that a limit bars from now on.
    """
    n_times = limits.level.shape[0]
    s, t, user = jobs.job_class[job] // n_times, jobs.job_class[job] % n_times, jobs.user[job]
    take_out(job, jobs.job_class[job], queue)
    running.of_time[t] += 1
    running.of_user[user] += 1
    bars = running.of_time[t] >= limits.of_time[t] or running.of_user[user] >= limits.of_user
    for h in range(hosts.looks.shape[0]):
        by = hosts.held_back_by[h]
        if by != NOBODY and (bars or by == s) and not holds_back(h, by, jobs, hosts, limits, queue, running):
            hosts.looks[h] = 1


@part(void(float64, int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def serve_reservations(
    now: float, h: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running
) -> None:
    """After an end on host `h`, start the job with its special reservation, and look for an overdue one."""
    job = hosts.reserved[h]
    if job != NOBODY:
        if not has_room(h, job, jobs, hosts):
            return
        begin(now, job, h, jobs, hosts, limits, running)
        hosts.reserved[h] = NOBODY
    if queue.n[0] == 0:
        return
    job = overdue(now, h, jobs, hosts, limits, queue, running)
    if job == NOBODY:
        return
    # With a reservation it counts as executing at once, so that no limit can bar it from its start.
    admit(job, jobs, hosts, limits, queue, running)
    if has_room(h, job, jobs, hosts):
        begin(now, job, h, jobs, hosts, limits, running)
    else:
        hosts.reserved[h] = job
        hosts.since[h] = now


@part(void(HOSTS))
def sort_by_fullness(hosts: Hosts) -> None:
    """Let the host with the fewest free processors go first, of equals the first.

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


@part(boolean(int64, int64, QUEUE, LIMITS))
def has_news(h: int, s: int, queue: Queue, limits: Limits) -> bool:
    """Tell whether a job of size class `s` waits that host `h` has not looked at. O(time classes)."""
    n_times = limits.level.shape[0]
    n_classes = queue.first.shape[0]
    found = False
    for c in range(s * n_times, (s + 1) * n_times):
        found |= queue.last[c] > queue.seen[h * n_classes + c]
    return found


@part(boolean(int64, int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def reaches(
    h: int, job: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running
) -> bool:
    """Tell whether host `h`, which has room for a job that no limit of all hosts bars, would take it now.

    O(classes).
    """
    n_times = limits.level.shape[0]
    n_sizes = queue.first.shape[0] // n_times
    for rank in range(n_sizes):
        s = hosts.classes[h * n_sizes + rank]
        if s == NOBODY:
            return False
        here = h * n_sizes + s
        is_bounded = hosts.executing[here] >= hosts.most[here]
        if s == jobs.job_class[job] // n_times:
            return not is_bounded
        if not is_bounded and holds_back(h, s, jobs, hosts, limits, queue, running):
            hosts.held_back_by[h] = s
            return False
    return False


@part(int64(int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def host_for_newcomer(
    job: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running
) -> int:
    """Return the host that takes a job just submitted, where nobody else can start, or `NOBODY`.

    The first in turn: that with the fewest free processors, of equals the first; or simply the first.
    O(hosts), and O(classes) for each with room for it.
    """
    t = jobs.job_class[job] % limits.level.shape[0]
    best = NOBODY
    if running.of_time[t] >= limits.of_time[t] or running.of_user[jobs.user[job]] >= limits.of_user:
        return best
    for h in range(hosts.free.shape[0]):
        if hosts.reserved[h] != NOBODY or not has_room(h, job, jobs, hosts):
            continue
        if best != NOBODY and (not limits.fullest_first or hosts.free[h] >= hosts.free[best]):
            continue
        if reaches(h, job, jobs, hosts, limits, queue, running):
            best = h
    return best


@part(boolean(HOSTS))
def some_look(hosts: Hosts) -> bool:
    """Tell whether a waiting job might start on some host. O(hosts)."""
    found = False
    for h in range(hosts.looks.shape[0]):
        found |= hosts.looks[h] == 1 and hosts.reserved[h] == NOBODY
    return found


@part(boolean(float64, int64, JOBS, HOSTS, LIMITS, QUEUE, RUNNING))
def assign(
    now: float, h: int, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running
) -> bool:
    """Give what is free on host `h` to waiting jobs in its order of priority; tell whether any started.

    A job that is too big is passed by within its size class. Smaller size classes come next only where the
    bound on the executing jobs of this one is reached, or nobody of it waits (section 2.1).
    """
    n_times = limits.level.shape[0]
    n_classes = queue.first.shape[0]
    n_sizes = n_classes // n_times
    somebody_started = False
    hosts.looks[h] = 0
    hosts.held_back_by[h] = NOBODY
    for rank in range(n_sizes):
        s = hosts.classes[h * n_sizes + rank]
        # Without a free processor nobody can start, and nothing depends on who is held back.
        if s == NOBODY or hosts.free[h] == 0:
            break
        here = h * n_sizes + s
        if hosts.executing[here] >= hosts.most[here]:
            continue
        n_levels = limits.n_levels if has_news(h, s, queue, limits) else 0
        for level in range(n_levels):
            for t in range(n_times):
                queue.cursor[t] = NOBODY
                if limits.level[t] != level or running.of_time[t] >= limits.of_time[t]:
                    continue
                c = s * n_times + t
                mark = queue.seen[h * n_classes + c]
                if mark == NOBODY:
                    queue.cursor[t] = queue.first[c]
                    continue
                job = queue.last[c]
                while job > mark:
                    queue.cursor[t] = job
                    job = queue.before[job]
            while hosts.executing[here] < hosts.most[here]:
                # First come first serve among the time classes of one level.
                job = NOBODY
                t = 0
                for other in range(n_times):
                    if queue.cursor[other] != NOBODY and (job == NOBODY or queue.cursor[other] < job):
                        job = queue.cursor[other]
                        t = other
                if job == NOBODY:
                    break
                queue.cursor[t] = queue.after[job]
                queue.seen[h * n_classes + s * n_times + t] = job
                is_barred = running.of_user[jobs.user[job]] >= limits.of_user
                if is_barred or not has_room(h, job, jobs, hosts):
                    continue
                admit(job, jobs, hosts, limits, queue, running)
                begin(now, job, h, jobs, hosts, limits, running)
                somebody_started = True
                if running.of_time[t] >= limits.of_time[t]:
                    queue.cursor[t] = NOBODY
        if hosts.executing[here] < hosts.most[here] and holds_back(h, s, jobs, hosts, limits, queue, running):
            hosts.held_back_by[h] = s
            break
    return somebody_started


@kernel(void(boolean, JOBS, HOSTS, LIMITS, QUEUE, RUNNING, NOTED))
def run(
    instant: bool, jobs: JobTable, hosts: Hosts, limits: Limits, queue: Queue, running: Running, held: Noted
) -> None:
    """Simulate jobs to their last end.

    A submission costs O(hosts x classes) at most, an end O(classes), and both O(log running jobs). A host
    looks for waiting jobs only after something that may let one start there: an end there, an end that lifts
    a limit of all hosts, or a start that ends what held smaller jobs back. This takes O(classes), and after
    an end O(waiting jobs) of the classes that the host may take, at most.

    Parameters
    ----------
    instant : see `models.kernels.ties`
    jobs : each of them may run on some host
    hosts, limits, queue, running : see `models.backfill.ncsa_lsf.state`, before anything has run
    held : filled in with what is kept idle for special reservations; room for as many pieces as jobs is
        enough, because every end ends one piece at most
    """
    arrived = 0
    while True:
        next_submit = next_submission(jobs.submit, arrived)
        now = min(next_submit, next_end(jobs.end, running.heap, running.n[0]))
        if now == np.inf:
            break
        n_ended = 0
        while takes_end(instant, now, next_end(jobs.end, running.heap, running.n[0]), next_submit, n_ended):
            h = jobs.host[running.heap[0]]
            if hosts.reserved[h] != NOBODY:
                if now > hosts.since[h] and hosts.free[h] > 0:
                    note(held, hosts.reserved[h], h, hosts.since[h], now, hosts.free[h])
                hosts.since[h] = now
            end_first(jobs, hosts, limits, queue, running)
            n_ended += 1
        newcomer = arrived
        n_taken = n_ended
        while takes_submission(instant, now, next_submission(jobs.submit, arrived), n_taken):
            append(arrived, jobs.job_class[arrived], queue)
            arrived += 1
            n_taken += 1

        if n_ended > 0:
            for h in range(hosts.free.shape[0]):
                if hosts.has_ended[h] == 1:
                    hosts.has_ended[h] = 0
                    serve_reservations(now, h, jobs, hosts, limits, queue, running)
        if arrived == newcomer + 1 and not some_look(hosts):
            h = host_for_newcomer(newcomer, jobs, hosts, limits, queue, running)
            if h != NOBODY:
                admit(newcomer, jobs, hosts, limits, queue, running)
                begin(now, newcomer, h, jobs, hosts, limits, running)
                # It may have as many of its size class with it as it takes: then they hold back nobody.
                hosts.looks[h] = 1
        elif arrived > newcomer:
            hosts.looks[:] = 1
        # A start can lift a bar on another host: it may end what held smaller jobs back there.
        somebody_started = True
        while somebody_started and queue.n[0] > 0 and some_look(hosts):
            somebody_started = False
            if limits.fullest_first:
                sort_by_fullness(hosts)
            for i in range(hosts.turn.shape[0]):
                h = hosts.turn[i]
                if hosts.looks[h] == 1 and hosts.reserved[h] == NOBODY:
                    somebody_started |= assign(now, h, jobs, hosts, limits, queue, running)
        if queue.n[0] == 0:
            hosts.looks[:] = 0
            hosts.held_back_by[:] = NOBODY


def simulate(jobs: Jobs, machine: Machine, rules: NcsaLsf) -> Schedule:
    """Run all jobs to their ends.

    Parameters
    ----------
    jobs : Jobs
        As they run under the rules: with a requested time.
    machine : Machine
    rules : NcsaLsf

    Returns
    -------
    Schedule
        With `held`: what was kept idle for special reservations. No start is ever promised.

    Raises
    ------
    ValueError
        With one line for jobs that could never run, see `NcsaLsf.check`.
    """
    n, n_hosts = len(jobs), len(machine.names)
    table = job_table(jobs, rules.user_limit is not None)
    n_users = int(table.user.max(initial=0)) + 1
    held = room_for(n)
    run(
        rules.instant, table, empty_hosts(machine, rules.hosts), limits_of(rules),
        empty_queue(n, n_hosts), nobody_running(n, n_users), held,
    )  # fmt: skip
    return Schedule(jobs, machine, table.start, table.end, table.host, held=pieces_of(held))
