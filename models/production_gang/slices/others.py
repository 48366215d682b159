"""Jobs that are not gang scheduled: the class scheduler shares the other processors among them equally."""

import numpy as np

from models.kernels.compiling import part
from models.production_gang.slices.recording import count_work, record_piece
from models.production_gang.slices.state import NONE
from models.production_gang.slices.steps import submit_children


@part()
def _read_clock(h, now, hosts):
    hosts.clock[h] += hosts.speed[h] * (now - hosts.read[h])
    hosts.read[h] = now


@part()
def _find_next_end(h, hosts):
    hosts.next_end[h] = np.inf
    if hosts.processes[h] > 0 and hosts.speed[h] > 0:
        hosts.next_end[h] = hosts.read[h] + (hosts.least[h] - hosts.clock[h]) / hosts.speed[h]


@part()
def _record(job, now, system):
    it, hosts, state = system.jobs[job], system.hosts, system.state[0]
    h = it.home
    if now > it.since and hosts.speed[h] > 0:
        if it.start != it.start:
            it.start = it.since
        used = it.size * hosts.speed[h]
        if system.settings.sums:
            count_work(job, now, used, system)
            return
        record_piece(system.pieces, state.n_pieces, job, h, it.since, now, used)
        state.n_pieces += 1


@part()
def end_others(h, now, system):
    """End the jobs of a host that have reached their targets. O(jobs that are not gang scheduled)."""
    jobs, hosts, state, others = system.jobs, system.hosts, system.state[0], system.lists.others
    hosts.clock[h] = hosts.least[h]
    hosts.read[h] = now
    n = 0
    least = np.inf
    for i in range(state.n_others):
        job = others[i]
        it = jobs[job]
        if it.home != h or it.target > hosts.least[h]:
            others[n] = job
            n += 1
            if it.home == h:
                least = min(least, it.target)
            continue
        _record(job, now, system)
        it.end = now
        hosts.processes[h] -= it.size
        hosts.memory[h] += it.size * it.memory
        submit_children(job, now, system)
    state.n_others = n
    if hosts.processes[h] == 0:
        hosts.clock[h] = 0.0
    hosts.least[h] = least
    _find_next_end(h, hosts)


@part()
def place_others(now, system):
    """Place waiting jobs on the least loaded hosts, as long as the first one fits. O(hosts) each."""
    state, hosts, lists = system.state[0], system.hosts, system.lists
    while state.others_from < state.others_to:
        job = lists.others_waiting[state.others_from]
        it = system.jobs[job]
        found = NONE
        least = np.inf
        for h in range(hosts.processors.shape[0]):
            if hosts.processors[h] < it.size or hosts.memory[h] < it.memory * it.size:
                continue
            load = (hosts.processes[h] + it.size) / hosts.processors[h]
            if load < least:
                found = h
                least = load
        if found == NONE:
            return
        state.others_from += 1
        _read_clock(found, now, hosts)
        it.home = found
        hosts.memory[found] -= it.size * it.memory
        hosts.processes[found] += it.size
        it.target = hosts.clock[found] + it.runtime
        lists.others[state.n_others] = job
        state.n_others += 1
        it.since = it.counted = now
        hosts.least[found] = min(hosts.least[found], it.target)
        _find_next_end(found, hosts)


@part()
def share(now, system):
    """Set the speed of processes by the processors that gangs leave. O(hosts), O(jobs) if these change."""
    hosts = system.hosts
    for h in range(hosts.processors.shape[0]):
        if hosts.processes[h] == 0:
            hosts.speed[h] = 0.0
            continue
        speed = min(1.0, (hosts.processors[h] - hosts.used[h]) / hosts.processes[h])
        if speed == hosts.speed[h]:
            continue
        _read_clock(h, now, hosts)
        for i in range(system.state[0].n_others):
            job = system.lists.others[i]
            it = system.jobs[job]
            if it.home == h:
                _record(job, now, system)
                it.since = it.counted = now
        hosts.speed[h] = speed
        _find_next_end(h, hosts)


@part()
def count_others(now, system):
    """Count the processor time of these jobs up to now. O(jobs that are not gang scheduled)."""
    for i in range(system.state[0].n_others):
        job = system.lists.others[i]
        it = system.jobs[job]
        count_work(job, now, it.size * system.hosts.speed[it.home], system)
