"""Gang scheduling: which of the jobs that share nodes run in this time slice, and which are suspended.

Each partition has a list of its jobs and an active row: the jobs that run, no two on one CPU. A job
that starts runs if it fits into the row, else it is suspended at once. After a time slice the jobs of the row
move to the end of the list, and a new row is filled from its beginning. When a job has left its nodes, rows
are filled with suspended jobs, which keep their place in the list and have no slice of their own. Jobs of a
higher tier come first in the rows of all lower ones (slurm.conf, SchedulerTimeSlice; gang_scheduling.html;
preempt.html).

Seen on Slurm 22.05.8: a suspended job runs for two seconds more, and keeps its nodes and its expected end
until it is resumed; a job counts in its row until its nodes have answered.
"""

import math

import numpy as np

from models.kernels.compiling import part
from models.kernels.lists import remove
from models.slurm.kernel.running import RUNNING, insert_running, push_end, remove_end, remove_running
from models.slurm.kernel.tables import NONE

IDLE, ACTIVE, FILLER = range(3)
"""Place of a job: not in the row, there for a slice, there until the next turn of the list."""


@part(inline=False)
def suspend(system, job):
    """Suspend a running job. It still ends if its end is within the time for which it runs on, or if it was
    resumed in the same pass, because the two messages cross (seen on Slurm 22.05.8)."""
    state, fate, one = system.state[0], system.fate, system.members[job]
    one.signal = 1
    if fate[job].status != RUNNING or one.suspended:
        return
    resumed = one.since
    one.suspended, one.since = 1, state.now
    now = math.floor(state.now)
    one.ran += now - one.last
    one.last = now
    left = fate[job].end - state.now - system.settings[0].suspend_grace
    if left > 0 and resumed != state.now:
        remove_end(system, fate[job].end, 2 * job)
        fate[job].end, one.left = np.inf, left
    state.last_update = now


@part(inline=False)
def resume(system, job):
    """Resume a suspended job; only now it gets a new expected end, unless it is being preempted. O(running
    jobs)."""
    state, fate, one = system.state[0], system.fate, system.members[job]
    one.signal = 0
    if fate[job].status != RUNNING or not one.suspended:
        return
    one.suspended = 0
    one.lost += state.now - one.since
    one.last = state.last_update = math.floor(state.now)
    if fate[job].end == np.inf:
        fate[job].end = max(state.now, one.since + system.settings[0].suspend_grace) + one.left
        push_end(system, fate[job].end, 2 * job)
    one.since = state.now
    if fate[job].warned:
        return
    remove_running(system, job)
    fate[job].expected = one.last + system.jobs[job].limit - one.ran
    insert_running(system, job)


@part(inline=False)
def fits_row(system, job, partition):
    """Return whether a job fits into the row of a partition. O(its nodes)."""
    if system.partitions[partition].n_active == 0:
        return True
    first = partition * len(system.nodes)
    entry = system.fate[job].entry
    while entry != NONE:
        node = system.entries[entry].node
        if system.settings[0].by_core:
            if system.active[first + node] & system.entries[entry].cores:
                return False
        elif system.active[first + node] + system.entries[entry].cpus > system.nodes[node].cpus:
            return False
        entry = system.entries[entry].next
    return True


@part(inline=False)
def add_to_row(system, job, partition):
    """Add a job to the row of a partition. O(its nodes)."""
    first = partition * len(system.nodes)
    entry = system.fate[job].entry
    while entry != NONE:
        at = first + system.entries[entry].node
        if system.settings[0].by_core:
            system.active[at] |= system.entries[entry].cores
        else:
            system.active[at] = min(
                system.active[at] + system.entries[entry].cpus, system.nodes[system.entries[entry].node].cpus
            )
        entry = system.entries[entry].next
    system.partitions[partition].n_active += 1


@part()
def is_above(system, k, partition):
    """Return whether the k-th job runs in a higher tier than a partition, and so comes first in its rows."""
    job, partitions = system.order[k], system.partitions
    return (
        system.members[job].runs and partitions[system.fate[job].partition].tier > partitions[partition].tier
    )


@part(inline=False)
def begin_row(system, partition):
    """Begin a row with the running jobs of higher tiers. O(jobs x nodes)."""
    n_nodes = len(system.nodes)
    for at in range(partition * n_nodes, (partition + 1) * n_nodes):
        system.active[at] = 0
    system.partitions[partition].n_active = 0
    for k in range(system.state[0].n_members):
        if is_above(system, k, partition):
            add_to_row(system, system.order[k], partition)


@part(inline=False)
def update_rows(system):
    """Fill all rows again, rows of high tiers first: running jobs stay if they fit, then others join them.

    O(partitions x jobs x nodes).
    """
    state, members = system.state[0], system.members
    for place in range(len(system.partitions)):
        partition = system.partitions[place].ranked
        begin_row(system, partition)
        for kind in (ACTIVE, FILLER, IDLE):
            for k in range(state.n_members):
                job = system.order[k]
                if system.fate[job].partition != partition or members[job].row != kind:
                    continue
                if fits_row(system, job, partition):
                    add_to_row(system, job, partition)
                    members[job].runs = 1
                    if kind == IDLE:
                        members[job].row = FILLER
                        if members[job].signal:
                            resume(system, job)
                elif kind != IDLE:
                    members[job].row = IDLE
                    if not members[job].signal:
                        members[job].runs = 0
                        suspend(system, job)


@part(inline=False)
def enter(system, job):
    """Add a job that starts now; it runs if it fits into the row, otherwise it is suspended."""
    state, partition = system.state[0], system.fate[job].partition
    system.order[state.n_members] = job
    state.n_members += 1
    one = system.members[job]
    one.row, one.runs, one.signal, one.suspended = IDLE, 0, 0, 0
    one.last, one.ran, one.lost, one.since = math.floor(state.now), 0, 0.0, -1.0
    if fits_row(system, job, partition):
        add_to_row(system, job, partition)
        one.row, one.runs = FILLER, 1
        update_rows(system)
    else:
        suspend(system, job)


@part(inline=False)
def leave(system, job):
    """Remove a job that has left its nodes."""
    state, one = system.state[0], system.members[job]
    remove(system.order, state.n_members, job)
    state.n_members -= 1
    one.runs = 0
    if one.suspended:
        one.lost += system.fate[job].end - one.since
    update_rows(system)


@part(inline=False)
def turn(system, partition):
    """Begin a time slice of a partition whose jobs cannot all run at once. O(jobs x nodes)."""
    state, members, order = system.state[0], system.members, system.order
    n, n_mine, n_last = 0, 0, 0
    for k in range(state.n_members):
        job = order[k]
        mine = system.fate[job].partition == partition
        n_mine += mine
        if mine and members[job].row == ACTIVE:
            order[len(members) + n_last] = job
            n_last += 1
        else:
            order[n] = job
            n += 1
        if mine:
            members[job].row = IDLE
    for k in range(n_last):
        order[n + k] = order[len(members) + k]
    if n_mine == 0:
        system.partitions[partition].n_active = 0
        return
    begin_row(system, partition)
    for k in range(state.n_members):
        job = order[k]
        if system.fate[job].partition == partition and fits_row(system, job, partition):
            add_to_row(system, job, partition)
            members[job].row = ACTIVE
    for row in (IDLE, ACTIVE):  # jobs are suspended before others are resumed
        for k in range(state.n_members):
            job = order[k]
            one = members[job]
            if system.fate[job].partition != partition or one.row != row or one.signal != (row == ACTIVE):
                continue
            one.runs = row == ACTIVE
            if row == ACTIVE:
                resume(system, job)
            else:
                suspend(system, job)


@part(inline=False)
def next_slice(system):
    """Begin a time slice in all partitions, and set when the next one begins."""
    state, partitions = system.state[0], system.partitions
    for place in range(len(partitions)):
        partition = partitions[place].ranked
        n = 0
        for k in range(state.n_members):
            n += system.fate[system.order[k]].partition == partition or is_above(system, k, partition)
        if partitions[partition].n_active < n:
            turn(system, partition)
    state.n_slices += 1
    if state.n_slices < len(system.slices):
        state.next_slice = system.slices[state.n_slices]
    else:
        state.next_slice += system.settings[0].time_slice
