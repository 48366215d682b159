"""The steps of a job that both systems have in common."""

import numpy as np

from models.kernels.compiling import part
from models.kernels.ends import pop, push
from models.production_gang.slices.recording import count_work, record_piece
from models.production_gang.slices.state import NONE, SPANS


@part()
def next_submission(system):
    """Return the next job to be submitted, among jobs with a known time, or `NONE`. O(1)."""
    state, submit, lists = system.state[0], system.submit, system.lists
    found = NONE
    if state.next_job < lists.independent.shape[0]:
        found = lists.independent[state.next_job]
    if state.n_feedback > 0:
        other = lists.feedback[0]
        if (
            found == NONE
            or submit[other] < submit[found]
            or (submit[other] == submit[found] and other < found)
        ):
            found = other
    return found


@part()
def remove_submission(job, system):
    """Remove the job that `next_submission` returned. O(log jobs)."""
    state = system.state[0]
    if state.n_feedback > 0 and system.lists.feedback[0] == job:
        pop(system.submit, system.lists.feedback, state.n_feedback)
        state.n_feedback -= 1
    else:
        state.next_job += 1


@part()
def submit_children(job, now, system):
    """Set the submission of the jobs that follow a job's end. O(their number x log jobs)."""
    state, jobs = system.state[0], system.jobs
    child = jobs[job].first_child
    while child != NONE:
        system.submit[child] = now + jobs[child].think
        push(system.submit, system.lists.feedback, state.n_feedback, child)
        state.n_feedback += 1
        child = jobs[child].sibling


@part()
def decide_next(now, system):
    """Let the next decision be made at the first beginning of a slice at or after now. O(1)."""
    state, length = system.state[0], system.settings.slice
    k = np.int64(np.floor(now / length))
    while k * length < now:
        k += 1
    while (k - 1) * length >= now:
        k -= 1
    k = max(k, state.decided + 1)
    if state.boundary == NONE or k < state.boundary:
        state.boundary = k


@part()
def request(job, system):
    """Return how many processors a job requests from the daemon."""
    it = system.jobs[job]
    return it.wants if system.settings.adapts else it.most


@part()
def uses(job, system):
    """Return how many processors a job uses while it runs."""
    return min(system.jobs[job].has, system.jobs[job].wants)


@part()
def begin_phase(job, system):
    """Set the work of a job's phase and its number of processors."""
    it, phases = system.jobs[job], system.phases
    it.left = phases.work[it.phase] * it.runtime
    wanted = np.int64(np.floor(phases.processors[it.phase] * it.size + 0.5))
    it.wants = min(max(wanted, 1), it.most)


@part()
def resume(job, since, system):
    """Let a job run from a time on."""
    it = system.jobs[job]
    it.since = it.counted = since
    speed = uses(job, system) / it.size * system.settings.delivered
    it.due = since + it.left / speed


@part()
def halt(job, now, system):
    """Record the piece of a running job up to now, and subtract its work."""
    record_run(job, now, system)
    it = system.jobs[job]
    speed = uses(job, system) / it.size * system.settings.delivered
    it.left -= (now - it.since) * speed
    it.since = now
    count_used(job, -1, system)


@part()
def record_run(job, now, system):
    """Record what a gang has used on each host since it began to run."""
    it = system.jobs[job]
    if now > it.since:
        if it.start != it.start:
            it.start = it.since
        if system.settings.sums:
            count_work(job, now, uses(job, system), system)
            return
        system.state[0].n_pieces = record_on_hosts(
            job, it.since, now, uses(job, system), system.pieces, system.state[0].n_pieces, system
        )


@part()
def record_on_hosts(job, begin, end, used, pieces, n, system):
    """Record what a gang uses on each host; return the new number of pieces. O(1), or O(hosts)."""
    it = system.jobs[job]
    if it.home != SPANS:
        record_piece(pieces, n, job, it.home, begin, end, float(used))
        return n + 1
    n_hosts = system.hosts.gang.shape[0]
    for h in range(n_hosts):
        used_here = min(used, system.hosts.layout[it.row * n_hosts + h])
        if used_here > 0:
            record_piece(pieces, n, job, h, begin, end, float(used_here))
            n += 1
        used -= used_here
    return n


@part()
def add(job, n, sign, cpus, at, system):
    """Add a gang's first `n` CPUs to each host's, from position `at` on. O(1), or O(hosts)."""
    it, hosts = system.jobs[job], system.hosts
    if it.home != SPANS:
        cpus[at + it.home] += sign * n
        return
    n_hosts = hosts.gang.shape[0]
    for h in range(n_hosts):
        k = min(n, hosts.layout[it.row * n_hosts + h])
        cpus[at + h] += sign * k
        n -= k


@part()
def count_used(job, sign, system):
    """Add the CPUs that a gang uses to its hosts' used CPUs, or subtract them."""
    add(job, uses(job, system), sign, system.hosts.used, 0, system)


@part()
def first_due(now, system):
    """Return the first job by number whose phase is over, or `NONE`. O(active jobs)."""
    found = NONE
    for i in range(system.state[0].n_active):
        job = system.lists.active[i]
        if system.jobs[job].due <= now and (found == NONE or job < found):
            found = job
    return found


@part()
def next_instant(system):
    """Return the time of the next event, infinity for never. O(active jobs + hosts)."""
    state, hosts = system.state[0], system.hosts
    now = np.inf
    if state.boundary != NONE:
        now = state.boundary * system.settings.slice
    for i in range(state.n_active):
        now = min(now, system.jobs[system.lists.active[i]].due)
    job = next_submission(system)
    if job != NONE:
        now = min(now, system.submit[job])
    for h in range(hosts.gang.shape[0]):
        now = min(now, hosts.next_end[h])
    return min(now, state.next_mark) if now < np.inf else now


@part()
def next_to_grow(after, system):
    """Return the next job by number that is to have more processors, or `NONE`. O(active jobs)."""
    found = NONE
    for i in range(system.state[0].n_active):
        job = system.lists.active[i]
        if job > after and request(job, system) > system.jobs[job].has and (found == NONE or job < found):
            found = job
    return found
