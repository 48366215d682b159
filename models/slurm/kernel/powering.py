"""Power saving: nodes that are idle for a while are powered down, and boot when a job gets them.

A thread of the controller checks all nodes in the second after one has changed, else each 10 s (as
`src/slurmctld/power_save.c` of Slurm 22.05.8 does).
"""

import math

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest_position
from models.kernels.compiling import part, passable
from models.slurm.kernel.running import RUNNING, insert_running, push_end, remove_running
from models.slurm.kernel.signatures import CYCLE_SIGNATURE
from models.slurm.kernel.tables import (
    BEGIN,
    BOOTED,
    BOOTING,
    CHANGED,
    CYCLE_BEGINS,
    DOWN,
    FAR,
    NONE,
    PICKED,
    POWERED_DOWN,
    READY,
    SCAN,
    STOPPING,
    UNAVAILABLE,
    UP,
)

LINE_OFF, NODE_OFF = POWERED_DOWN, 2 * POWERED_DOWN
"""Weights of nodes that are powered down, before Slurm 23.02: if all nodes of a line are, and if some are."""

BY_END = 2
"""In `State.node_changed`: a job has ended, which precedes everything else at that instant."""

SCAN_S = 10
"""Seconds between two checks of all nodes by the thread that powers them down, if no node changes; one more
with `later_checks`."""


@part(inline=False)
def wake_up(system, number):
    """Return when the thread that powers nodes down wakes up for the n-th time."""
    known = system.power_wake_ups
    if number < len(known):
        return known[number]
    return known[-1] + (number - len(known) + 1) * system.settings[0].power_period


@part(inline=False)
def scan_after(system, number):
    """Return the wake-up at which nodes are checked next after one check, if none changes."""
    due = math.floor(wake_up(system, number)) + SCAN_S + system.settings[0].later_checks
    while math.floor(wake_up(system, number)) < due:
        number += 1
    return number


@part()
def forget(system, seconds):
    """Let the numbers of nodes that were booted and powered down decay; tokens do not."""
    state = system.state[0]
    slower = 1.0 if system.settings[0].token_rates else max(60 - seconds, 0) / 60
    state.n_resumed *= slower
    state.n_suspended *= slower


@part(inline=False)
def skip_scans(system, until):
    """Skip checks before an instant that change no node. O(wake-ups between)."""
    state = system.state[0]
    following = scan_after(system, state.last_scan)
    while wake_up(system, following) < until:
        forget(system, SCAN_S)
        state.last_scan = following
        following = scan_after(system, state.last_scan)


@part(inline=False)
def plan_scan(system, due):
    """Set when nodes are checked after `last_scan`: at the next wake-up if one has changed, else at the first
    check in which one is due, from a second on. O(wake-ups between)."""
    state = system.state[0]
    state.next_scan = state.last_scan + 1
    if state.node_update < math.floor(wake_up(system, state.last_scan)) + system.settings[0].later_checks:
        if due == FAR:
            state.next_power = np.inf
            return
        state.next_scan = scan_after(system, state.last_scan)
        while math.floor(wake_up(system, state.next_scan)) < due:
            state.next_scan = scan_after(system, state.next_scan)
    state.next_power = wake_up(system, state.next_scan)


@part(inline=False)
def node_changed(system):
    """Note that a node has changed, so that all nodes are checked at the next wake-up."""
    state = system.state[0]
    skip_scans(system, state.now)
    is_end = state.node_changed == BY_END
    state.node_changed, state.node_update = 0, math.floor(state.now)
    if system.settings[0].later_checks and not is_end and state.next_power > state.now:
        skip_scans(system, np.nextafter(state.now, np.inf))
    number, before = scan_after(system, state.last_scan), math.floor(wake_up(system, state.last_scan))
    is_later = state.node_update >= before + system.settings[0].later_checks
    if is_later and not (is_end and wake_up(system, number) == state.now):  # else that check sees it
        number = state.last_scan + 1
        while wake_up(system, number) <= state.now:
            number += 1
    if wake_up(system, number) < state.next_power:
        state.next_scan, state.next_power = number, wake_up(system, number)


@part(inline=False)
def begin_booted(system):
    """Begin the jobs whose nodes have booted, in a test of limits. O(jobs that wait x nodes)."""
    state, fate, power = system.state[0], system.fate, system.power
    n = 0
    for k in range(state.n_booting):
        job = system.booting[k]
        if fate[job].status != RUNNING:
            continue
        entry, ready = fate[job].entry, True
        while entry != NONE:
            one = power[system.entries[entry].node]
            ready = ready and one.state != DOWN and one.state != BOOTING
            entry = system.entries[entry].next
        if not ready:
            system.booting[n] = job
            n += 1
            continue
        fate[job].booting = 0
        remove_running(system, job)
        fate[job].start, fate[job].end = state.now, state.now + system.jobs[job].runtime
        fate[job].expected = math.floor(state.now) + system.jobs[job].limit
        insert_running(system, job)
        push_end(system, fate[job].end, 2 * job)
        state.last_update = math.floor(state.now)
    state.n_booting = n


@part(inline=False)
def log_power(system, at, idle, boot, off):
    """Record a change of the watts that idle, booting and powered-down nodes draw, if there is one."""
    state, log = system.state[0], system.power_log
    if idle != 0 or boot != 0 or off != 0:
        n = state.n_power_log
        log[n].at, log[n].idle, log[n].boot, log[n].off = at, idle, boot, off
        state.n_power_log += 1


@part(inline=False)
def keep_some(system):
    """Mark the first idle nodes of each group of SuspendExcNodes, as many as stay up; with `counts_active`
    busy nodes count as well. O(N)."""
    power, groups = system.power, system.kept_counts
    for group in range(len(groups)):
        groups[group].marked = 0
    for node in range(len(power) * system.settings[0].counts_active):
        if power[node].kept > 0 and power[node].state == UP and system.offers[node].jobs > 0:
            groups[power[node].kept - 1].marked += 1
    for node in range(len(power)):
        power[node].spared = power[node].kept == 0
        group = power[node].kept - 1
        if group >= 0 and groups[group].marked < groups[group].count:
            if power[node].state == UP and system.offers[node].jobs == 0:
                power[node].spared = 1
                groups[group].marked += 1
            power[node].spared = power[node].spared or groups[group].count >= groups[group].members


@part(inline=False)
def weigh(system, plans):
    """Give nodes that are powered down the largest weights; since Slurm 23.02 these keep their order. With
    `booting_last`, nodes that boot come before them, and in plans among them. O(N)."""
    power, nodes, up = system.power, system.nodes, system.groups
    for node in range(len(power)):
        up[nodes[node].line].nodes = 0
    for node in range(len(power)):
        up[nodes[node].line].nodes += power[node].state == UP or power[node].state == BOOTING
    for node in range(len(power)):
        if power[node].state == DOWN or power[node].state == STOPPING:
            nodes[node].weight = NODE_OFF if up[nodes[node].line].nodes else LINE_OFF
            if system.settings[0].off_by_weight:
                above = system.settings[0].booting_last and not plans
                nodes[node].weight = (1 + above) * POWERED_DOWN + power[node].weight
        elif power[node].state == BOOTING and system.settings[0].booting_last:
            nodes[node].weight = POWERED_DOWN + power[node].weight
        else:
            nodes[node].weight = power[node].weight


@part()
def allowed(system, rate, count, periods):
    """Return how many nodes of a rate per minute may be booted or powered down now, the count, and the
    periods so far: with `token_rates` a period adds a token, up to as many as there are in `SCAN_S`."""
    if rate == 0:
        return FAR, 0.0, 0
    if not system.settings[0].token_rates:
        return max(rate - math.floor(count + 0.5), 0), count, 0
    now = math.floor((system.state[0].now + system.settings[0].uptime) * 1000) // max(60_000 // rate, 1)
    tokens = min(math.floor(count) + now - periods, max(rate * SCAN_S // 60, 1))
    return tokens, float(tokens), now


@part(inline=False)
def wake(system):
    """Boot the nodes of jobs that wait for them, as many as ResumeRate allows; return whether there were any,
    and whether a job is left whose nodes are not booting. O(jobs that wait x nodes)."""
    state, settings, power = system.state[0], system.settings[0], system.power
    boot, off, left, woke = 0.0, 0.0, False, False
    most, state.n_resumed, state.resume_periods = allowed(
        system, settings.resume_rate, state.n_resumed, state.resume_periods
    )
    for k in range(state.n_booting):
        job = system.booting[k]
        for w in range(system.sets.shape[1]):
            system.sets[PICKED, w] = ZERO
        entry = system.fate[job].entry if system.fate[job].status == RUNNING else NONE
        while entry != NONE:
            node = system.entries[entry].node
            system.sets[PICKED, node // 64] |= ONE << np.uint64(node % 64)
            entry = system.entries[entry].next
        for w in range(system.sets.shape[1]):
            word = system.sets[PICKED, w]
            while word:
                node = w * 64 + lowest_position(word)
                word &= word - ONE
                if power[node].state != DOWN:
                    continue
                if most <= 0:
                    left = True
                    continue
                most, woke = most - 1, True
                state.n_resumed += 1 - 2 * settings.token_rates
                power[node].state, power[node].ready = BOOTING, state.now + power[node].boots
                state.next_boot = min(state.next_boot, power[node].ready)
                boot += power[node].boot_watts
                off += power[node].off_watts
                log_power(system, power[node].ready, power[node].idle_watts, -power[node].boot_watts, 0.0)
    log_power(system, state.now, 0.0, boot, -off)
    return woke, left


@part(inline=False)
def scan(system):
    """Boot nodes, power down those that are idle, and note which are powered down now; set when to look
    again. O(N + nodes of jobs that wait)."""
    state, settings, power = system.state[0], system.settings[0], system.power
    skip_scans(system, state.now)
    now = math.floor(state.now)
    forget(system, now - math.floor(wake_up(system, state.last_scan)))
    state.last_scan = state.next_scan
    state.n_stopping, idle, off = 0, 0.0, 0.0
    changed, left = wake(system)
    due = now if left else FAR
    most, state.n_suspended, state.suspend_periods = allowed(
        system, settings.suspend_rate, state.n_suspended, state.suspend_periods
    )
    keep_some(system)
    for node in range(len(power)):
        one = power[node]
        word, bit = node // 64, ONE << np.uint64(node % 64)
        if one.state == UP and system.offers[node].jobs == 0 and one.idle_for < FAR and not one.spared:
            if one.since >= now - one.idle_for:
                due = min(due, one.since + one.idle_for + 1)
            elif most > 0:
                most -= 1
                state.n_suspended += 1 - 2 * settings.token_rates
                one.state, one.since, changed = STOPPING, now, True
                system.sets[UNAVAILABLE, word] |= bit
            else:
                due = now
        if one.state == STOPPING:
            if one.since + one.off_for < now:
                one.state, changed = DOWN, True
                system.sets[UNAVAILABLE, word] &= ~bit
                idle += one.idle_watts
                off += one.off_watts
            else:
                state.n_stopping += 1
                due = min(due, one.since + one.off_for + 1)
    log_power(system, state.now, -idle, 0.0, off)
    if changed:
        state.quiet_since = state.now
        weigh(system, False)
        if settings.checks_change:
            state.node_update = state.last_update = now
    plan_scan(system, due)


@part(inline=False)
def note_ready(system):
    """Note which nodes have booted now, and when the next one has. O(N)."""
    state, power = system.state[0], system.power
    state.next_boot = np.inf
    for node in range(len(power)):
        if power[node].state == BOOTING and power[node].ready <= state.now:
            power[node].state = UP
            power[node].since = max(power[node].since, math.floor(power[node].ready))
        elif power[node].state == BOOTING:
            state.next_boot = min(state.next_boot, power[node].ready)
    weigh(system, False)
    state.last_update = math.floor(state.now)
    node_changed(system)


@part(inline=False)
def note_planned(system, begins):
    """Note that a cycle begins or ends: idle nodes with plans change their state. O(N)."""
    state = system.state[0]
    if system.settings[0].booting_last and (state.n_queue or not begins):
        weigh(system, begins)
    if begins:
        changed, state.planned = state.planned, 0
    else:
        for node in range(len(system.power)):
            if system.reserved_from[node] < FAR and system.offers[node].jobs == 0:
                state.planned = 1
        changed = state.planned
    if changed:
        node_changed(system)


@passable(CYCLE_SIGNATURE)
def save_power(system, pick):
    """Do `State.power_task`; O(N + nodes of jobs that wait)."""
    task = system.state[0].power_task
    if task == BEGIN:
        system.state[0].n_resumed = system.state[0].n_suspended = FAR * system.settings[0].token_rates
        weigh(system, False)
        plan_scan(system, 0)
    elif task == CHANGED:
        node_changed(system)
    elif task == BOOTED:
        begin_booted(system)
    elif task == READY:
        note_ready(system)
    elif task == SCAN:
        scan(system)
    else:
        note_planned(system, task == CYCLE_BEGINS)
    return 0
