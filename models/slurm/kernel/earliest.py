"""The earliest start of a job as Slurm finds it: on nodes that are free now, or once running jobs have ended.

Slurm takes running jobs out in order of their expected ends, a window of time after the other, and tests a
job at the end of each (`_will_run_test`). For many jobs it can be counted which test succeeds
(`RECORD.counted`): only that one is made, and only if plans leave enough of the nodes that it may choose.
"""

import numpy as np

from models.kernels.bits import ONE, lowest_position, population
from models.kernels.compiling import part
from models.slurm.kernel.counting import (
    FIRST_WINDOW,
    UNCLEAR,
    UNTESTED,
    fits_after,
    narrow_counted,
    tested_after,
)
from models.slurm.kernel.offering import count, free_cpus, is_single, offered_by
from models.slurm.kernel.plan import FAR, in_window, join_window, move_window, picked_set
from models.slurm.kernel.preempting import may_preempt, may_preempt_any
from models.slurm.kernel.rows import shares
from models.slurm.kernel.running import copy_free, remove_in_future
from models.slurm.kernel.tables import (
    ANY,
    COMPLETING,
    EMPTY,
    FREE,
    FUTURE,
    LATER,
    MASK,
    NARROWED,
    NONE,
    NOW,
    PICKED,
    UNCOUNTED,
    VERIFIED,
)
from models.slurm.kernel.upcoming import (
    able_nodes,
    copy_running,
    cpus_within,
    look_ahead,
    narrow,
    nodes_within,
)


@part(inline=False)
def take_out(system, record, preempts, k):
    """Move the view of the future on to where the first k running jobs have ended, with jobs in rows or where
    those that may be preempted have left it before; see `upcoming.look_ahead`. O(nodes of the jobs)."""
    state = system.state[0]
    while state.n_ended < k:
        # Jobs in rows are placed by the order in which they leave their rows, so only jobs that Slurm takes
        # out may leave. Elsewhere nodes outside the mask are not offered, and what is free there is ignored.
        stays = system.settings[0].in_rows and nodes_within(system, state.n_ended, MASK) == 0
        other = system.running[state.n_ended]
        if not stays and not (preempts and may_preempt(system, record, other)):
            remove_in_future(system, other, 1)
        state.n_ended += 1
    for w in range(system.sets.shape[1]):
        system.sets[NARROWED, w] = system.sets[MASK, w] & system.sets[FUTURE, w]


@part(inline=False)
def pick_later(system, record, whole, preempts, k, pick):
    """Choose nodes of row `MASK` for a job, as they are once the first k running jobs have ended; return
    their number, 0 if it does not fit."""
    if preempts or system.settings[0].in_rows:
        take_out(system, record, preempts, k)
    else:
        if not narrow(system, system.records[record].job, able_nodes(system, 0 if whole else 1), k):
            return 0
        look_ahead(system, k)
    return pick(system, record, whole, NARROWED, LATER)


@part(inline=False)
def pick_counted(system, record, whole, k, pick):
    """Choose nodes of row `NARROWED`, as `narrow_counted` has left it, for a job that fits on them once the
    first k running jobs have ended; return their number."""
    if whole:  # what has all CPUs then is empty
        return pick(system, record, whole, NARROWED, EMPTY)
    look_ahead(system, k)
    return pick(system, record, whole, NARROWED, LATER)


@part(inline=False)
def is_blocked(system, record, whole, k, start, end):
    """Return whether too few of the nodes on which a job fits, once the first k running jobs have ended, are
    available between two instants, so that any selection conflicts with a plan; row `NARROWED` has the nodes.
    O(W + log N), and what the window takes to move there."""
    n, partition = 0, system.records[record].partition
    narrow_counted(system, record, whole, k)
    move_window(system, partition, start, end)
    join_window(system)
    for w in range(system.sets.shape[1]):
        n += population(system.sets[NARROWED, w] & in_window(system, w))
    return n < system.jobs[system.records[record].job].least_nodes


@part(inline=False)
def earliest(system, record, whole, now, start, only_now, until, pick):
    """Return when a job can start on the nodes in row `MASK`, -1 if not by `until`; the nodes are picked,
    unless `STATE.n_unpicked` is set.

    Running jobs are taken out in order of their expected ends, several at a time: first the jobs of half a
    minute, then in windows that double; the start is the expected end of the last one taken out. Jobs that
    it may preempt are taken out before them, and it can start at once where that is enough. The view of the
    future is kept from one job to the next, and moved only if the nodes and the CPUs that are free then could
    suffice. O(nodes + running jobs that end by `until` x words) where they could not, else
    O(windows x nodes) more; for a job that is counted what `fits_after` and `tested_after` take.

    With `bounded` the jobs whose ends are expected before `start` are taken out first, all at once, and none
    that ends after `until`; a job that can start once they are gone starts "now", as in Slurm.
    """
    state, upcoming = system.state[0], system.upcoming
    bounded = system.settings[0].bounded and not system.settings[0].linear
    job, preempts = system.records[record].job, system.settings[0].preempts
    n_words = system.sets.shape[1]
    for w in range(n_words):
        system.sets[NARROWED, w] = system.sets[MASK, w] & system.sets[FREE, w]
    # A node offers at most its free CPUs, and a job gets all CPUs that it asks for or does not start: with
    # fewer in all, no selection of nodes succeeds. Jobs in rows share cores, so nothing bounds their CPUs.
    needed, unbounded = system.jobs[job].tasks * system.jobs[job].task_cpus, system.settings[0].in_rows
    rows, n_most = system.partitions[system.records[record].partition].rows, 1
    state.most_shared, state.cpus_by_then, state.n_unpicked = n_most, FAR, 0
    counted, place, most_cpus = system.records[record].counted != UNCOUNTED, NONE, FAR
    if counted and state.is_copied:
        place = fits_after(system, record, whole, until)
        most_cpus = 0 if place > 0 else FAR
    elif not unbounded:
        most_cpus = free_cpus(system, NARROWED)
    if system.settings[0].completing_last and not (system.settings[0].linear or (bounded and start > now)):
        weigh_completing(system, 1)
    while not (bounded and start > now):  # nodes with one job, then nodes with as many jobs as may share one
        state.most_shared = n_most
        if most_cpus >= needed and pick(system, record, whole, NARROWED, NOW):
            return now
        if n_most >= rows - 1:
            break
        n_most = rows - 1
    if bounded and state.weighed:
        lighten(system, job, system.records[record].partition, whole)
    preempts = preempts and may_preempt_any(system, record)
    if only_now and not preempts:
        return -1
    copy_running(system)
    if preempts:
        copy_free(system)
        after = start + system.settings[0].ended_at
        for k in range(state.n_running):
            if may_preempt(system, record, system.running[k]):
                late = bounded and system.fate[system.running[k]].expected < after
                of_memory = 1 if late else 1 - system.settings[0].in_rows
                remove_in_future(system, system.running[k], of_memory)
        take_out(system, record, preempts, ended_before(system, start) if bounded else 0)
        if pick(system, record, whole, NARROWED, LATER):
            return now
        if only_now:
            return -1
    elif system.settings[0].linear or system.settings[0].in_rows:
        copy_free(system)
    if system.settings[0].linear:
        return earliest_end(system, record, whole, now, pick)
    if counted:
        first_out = ended_before(system, start) if bounded else 0
        place = fits_after(system, record, whole, until) if place == NONE else place
        k = first_out
        if place > k:
            k = tested_after(system, k, place, until, bounded)
        if k == NONE:
            return -1
        if k != UNCLEAR:
            return counted_end(system, record, whole, now, first_out, k, pick)
        most_cpus = free_cpus(system, NARROWED)
    window, border = FIRST_WINDOW, 0
    k, most = 0, count(system, NARROWED)  # upper bound on the nodes that are free then
    if bounded:
        k = ended_before(system, start)
        for other in range(k):
            n_within = nodes_within(system, other, MASK)
            most += n_within
            most_cpus += cpus_within(system, other, n_within)
        enough = not preempts and most >= system.jobs[job].least_nodes and most_cpus >= needed
        if enough and pick_later(system, record, whole, preempts, k, pick):
            return now
    first_out, exhausted = k, False
    while True:
        last = -1
        following = -1
        n_removed = 0
        checked_late = False
        while True:
            if k >= state.n_running:
                following = -1
                break
            other = k
            k += 1
            expected = upcoming[other].expected
            # The list is sorted by expected end, and the start is at or after the end of the last job taken
            # out: once a job ends past `until`, neither this window nor a later one has a start by then.
            if expected > until and (last < 0 or bounded):
                exhausted, k, following = True, k - 1, -1
                break
            n_within = nodes_within(system, other, MASK)
            if n_within == 0 or (preempts and may_preempt(system, record, system.running[other])):
                continue
            if expected > until:
                state.cpus_by_then = most_cpus
                return -1
            if border == 0:
                border = expected + window - expected % window
            last = other
            most += n_within
            most_cpus += cpus_within(system, other, n_within)
            following = k
            while (  # jobs that may be preempted have been taken out
                preempts
                and following < state.n_running
                and may_preempt(system, record, system.running[following])
            ):
                following += 1
            if following >= state.n_running:
                following = -1
                break
            if upcoming[following].expected > border + window:
                break
            n_removed += 1
            if n_removed > UNTESTED:
                checked_late = True
                break
        if last < 0:
            state.cpus_by_then = most_cpus
            return -1
        if checked_late:
            continue
        window *= 2
        while following >= 0 and upcoming[following].expected > border + window:
            window *= 2
        # With preemption more is free than was counted above, so only a test can decide.
        if preempts or (most >= system.jobs[job].least_nodes and most_cpus >= needed):
            state.busy_first = system.settings[0].busy_nodes
            found = pick_later(system, record, whole, preempts, k, pick)
            state.busy_first = 0
            if found:
                if system.settings[0].last_relevant:
                    last = last_relevant(system, record, preempts, last, first_out)
                return guessed_end(system, system.running[last], now)
        if exhausted or k >= state.n_running:
            state.cpus_by_then = most_cpus
            return -1


@part(inline=False)
def counted_end(system, record, whole, now, first, k, pick):
    """Return when a job starts that fits once k running jobs have ended, of which the first ones end before
    the plan; its nodes are picked, or `STATE.n_unpicked` is k."""
    settings, last = system.settings[0], k - 1
    if settings.bounded and k == first:
        narrow_counted(system, record, whole, k)
        pick_counted(system, record, whole, k, pick)
        return now
    while nodes_within(system, last, MASK) == 0:
        last -= 1
    if settings.bounded:
        narrow_counted(system, record, whole, k)
        pick_counted(system, record, whole, k, pick)
        if settings.last_relevant:
            last = last_relevant(system, record, 0, last, first)
    else:
        system.state[0].n_unpicked = k
    return guessed_end(system, system.running[last], now)


@part(inline=False)
def weigh_completing(system, more):
    """Make nodes that are completing heavier than others of their weight, or (0) as heavy again.
    O(words + those nodes)."""
    state = system.state[0]
    if state.weighed == more:
        return
    state.weighed = 0
    for w in range(system.sets.shape[1]):
        word = system.sets[COMPLETING, w]
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            system.nodes[node].weight += more - system.nodes[node].weight % 2
            state.weighed = more


@part(inline=False)
def lighten(system, job, partition, whole):
    """Make the completing nodes as heavy as others again that the failed test of now has left
    (`_future_run_test` of select/cons_tres resets the weights of these only).

    These are all that have anything for the job where they are too few; otherwise those that were not left
    out for their few CPUs; all where a job may share cores. O(N), since Slurm 25.11 for each node that the
    job asks for.
    """
    nodes, offers, settings, n, most = system.nodes, system.offers, system.settings[0], 0, 0
    least, single = system.jobs[job].min_nodes, is_single(system, job) or settings.in_rows
    row, supply = NARROWED, system.free
    if settings.shares_cores and not shares(system, job, partition):
        row, supply, single = VERIFIED, system.usable, is_single(system, job)  # of the failed test
    system.state[0].shared = ANY
    for node in range(len(nodes)):
        inside = (system.sets[row, node // 64] >> np.uint64(node % 64)) & ONE
        offers[node].cpus = 0
        if inside:
            offers[node].cpus = offered_by(system, job, whole, node, supply, system.free_gres)
        n += offers[node].cpus > 0
        most = max(most, offers[node].cpus)
    tried = n >= least and not single
    for _ in range(least if settings.one_by_one and tried else 0):
        best = 0
        for node in range(len(nodes)):
            if offers[node].cpus >= offers[best].cpus:
                best = node
        offers[best].cpus = -1
    for node in range(len(nodes)):
        is_left = single or offers[node].cpus > 0
        if tried:
            is_left = offers[node].cpus < 0 if settings.one_by_one else offers[node].cpus == most
        if is_left:
            nodes[node].weight -= nodes[node].weight % 2


@part(inline=False)
def ended_before(system, start):
    """Return how many running jobs are expected to end before an instant (since Slurm 25.05 also at it).
    O(those)."""
    state, k = system.state[0], 0
    start += system.settings[0].ended_at
    while k < state.n_running:
        if system.upcoming[k].expected >= start:
            break
        k += 1
    return k


@part(inline=False)
def last_relevant(system, record, preempts, last, first):
    """Return the last place from `first` to `last` whose running job has a picked node, else `last`.
    O(running jobs x words)."""
    picked_set(system)
    for k in range(last, first - 1, -1):
        if nodes_within(system, k, PICKED) and not (
            preempts and may_preempt(system, record, system.running[k])
        ):
            return k
    return last


@part(inline=False)
def earliest_end(system, record, whole, now, pick):
    """Return when a job can start as `earliest` does, with `select/linear`: running jobs are taken out one by
    one."""
    fate = system.fate
    for k in range(system.state[0].n_running):
        other = system.running[k]
        if system.settings[0].preempts and may_preempt(system, record, other):
            continue  # it has been taken out already
        remove_in_future(system, other, 1)
        for w in range(system.sets.shape[1]):
            system.sets[NARROWED, w] = system.sets[MASK, w] & system.sets[FUTURE, w]
        if pick(system, record, whole, NARROWED, LATER):
            return fate[other].expected if fate[other].expected > now else now + 1
    return -1


@part()
def guessed_end(system, job, now):
    """Return the expected end of a running job; an overdue one ends when it is killed, or in a second."""
    expected = system.fate[job].expected
    if expected > now:
        return expected
    over = system.partitions[system.fate[job].partition].over
    return max(expected + system.settings[0].kill_wait + over, now + 1)
