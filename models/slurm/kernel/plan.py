"""The plan of a backfill cycle: the available nodes over time, as a linked list of segments.

A planned job blocks whole nodes from the beginning of the slot of `bf_resolution` in which it starts to the
beginning of the slot in which it ends, one at least (slurm.conf, SchedulerParameters, bf_resolution).
"""

import math

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest_position, population
from models.kernels.compiling import part
from models.slurm.kernel.tables import FAR, MASK, ORIGINAL, PICKED, UNAVAILABLE, WINDOW


@part(inline=False)
def begin_plan(system, now):
    """Start with all nodes available from this slot to the end of the window."""
    state, settings = system.state[0], system.settings[0]
    slot = settings.bf_resolution
    system.segments[0].begin = now // slot * slot
    system.segments[0].end = (now + settings.bf_window) // slot * slot
    system.segments[0].next = 0
    for w in range(system.sets.shape[1]):
        system.available[0, w] = ~system.sets[UNAVAILABLE, w]
    if settings.plans_licences:
        for k in range(settings.first_licence, len(system.limits)):
            at = system.sets.shape[1] + k - settings.first_licence
            system.available[0, at] = np.uint64(system.limits[k].cap)
    state.n_segments = 1
    system.reserved_from[:] = FAR
    list_segments(system)


@part(inline=False)
def same_segment(system, one, other):
    """Return whether two segments have the same nodes."""
    for w in range(system.available.shape[1]):
        if system.available[one, w] != system.available[other, w]:
            return False
    return True


@part(inline=False)
def split(system, j, at):
    """Divide segment j at an instant within it, and return the later part."""
    state = system.state[0]
    new = state.n_segments
    state.n_segments += 1
    system.segments[new].begin, system.segments[new].end = at, system.segments[j].end
    system.segments[j].end = at
    for w in range(system.available.shape[1]):
        system.available[new, w] = system.available[j, w]
    system.segments[new].next = system.segments[j].next
    system.segments[j].next = new
    return new


@part(inline=False)
def reserve(system, job, begin, end):
    """Make the nodes that were picked, and a job's licences, unavailable from slot to slot.
    O(segments x words)."""
    settings = system.settings[0]
    begin = max(begin, system.segments[0].begin)
    end = max(end, begin + settings.bf_resolution)
    for w in range(system.sets.shape[1]):
        word = system.sets[PICKED, w]
        while word:
            node = w * 64 + lowest_position(word)
            word &= word - ONE
            system.reserved_from[node] = min(system.reserved_from[node], begin)
    j, before, after, placed = 0, 0, -1, False
    while True:
        if system.segments[j].end > begin:
            split(system, j, begin)
            placed = True
            break
        if system.segments[j].end == begin:
            placed = True
            break
        before = j
        j = system.segments[j].next
        if j == 0:
            break
    while placed:
        j = system.segments[j].next
        if j == 0:
            break
        if end < system.segments[j].end:
            split(system, j, end)
        for w in range(system.sets.shape[1]):
            system.available[j, w] &= ~system.sets[PICKED, w]
        if settings.plans_licences:
            deduct(system, job, j)
        if end == system.segments[j].end:
            if system.segments[j].next:
                after = system.segments[j].next
            break
    i = before
    while i != after:
        j = system.segments[i].next
        if j == 0:
            break
        if same_segment(system, i, j):
            system.segments[i].end = system.segments[j].end
            system.segments[i].next = system.segments[j].next
            break
        i = j
    list_segments(system)


@part(inline=False)
def deduct(system, job, j):
    """Take a job's licences from a segment. O(charges of the job)."""
    first, n_words = system.settings[0].first_licence, system.sets.shape[1]
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        at, amount = system.charges[k].limit - first, np.uint64(system.charges[k].amount)
        if at >= 0:
            left = system.available[j, n_words + at]
            system.available[j, n_words + at] = left - min(amount, left)


@part(inline=False)
def has_licences(system, job, j):
    """Return whether a segment has the licences of a job. O(charges of the job)."""
    first, n_words = system.settings[0].first_licence, system.sets.shape[1]
    for k in range(system.jobs[job].first_charge, system.jobs[job + 1].first_charge):
        at, amount = system.charges[k].limit - first, np.uint64(system.charges[k].amount)
        if at >= 0 and system.available[j, n_words + at] < amount:
            return False
    return True


@part(inline=False)
def licences_return(system, job, start, end):
    """Return the end of the last segment between two instants without the licences of a job, 0 for none.
    O(segments x charges of the job)."""
    found = 0
    for k in range(system.state[0].n_times):
        j = system.timeline[k]
        overlaps = system.segments[j].end > start and system.segments[j].begin <= end
        if overlaps and not has_licences(system, job, j):
            found = system.segments[j].end
    return found


@part(inline=False)
def list_segments(system):
    """Write the segments in order of time, for windows that move over them. O(segments)."""
    state, n, j = system.state[0], 0, 0
    while n == 0 or j != 0:
        system.timeline[n] = j
        n += 1
        j = system.segments[j].next
    state.n_times = n


@part(inline=False)
def open_window(system):
    """Begin with an empty window before the plan; O(words)."""
    state = system.state[0]
    state.first_time, state.middle_time, state.last_time, state.n_joined = 0, 0, 0, 0
    for w in range(system.sets.shape[1]):
        system.sets[WINDOW, w] = ~ZERO


@part(inline=False)
def move_window(system, start, end):
    """Move the window on to the segments between two instants; return the next time to try, 0 for none.

    Row `ORIGINAL` has the nodes that the job may use. Searching again is worthwhile where the first change
    after the start adds nodes: only there a node is available that was not before. With `bounded` it is tried
    again at the end of the second segment after the window, if a further one follows. From one call to the
    next, until `open_window`, neither instant may go back. O(segments passed + words for each segment up to
    the first change).
    """
    state, segments, timeline = system.state[0], system.segments, system.timeline
    n_words, n = system.sets.shape[1], state.n_times
    first, last = state.first_time, state.last_time
    while first < n and segments[timeline[first]].end <= start:
        first += 1
    last = max(first, last)
    while last < n and segments[timeline[last]].begin <= end:
        last += 1
    state.first_time, state.last_time = first, last
    for k in range(first, min(last + 1, n - 1)):
        one, following, added = np.uint64(timeline[k]), np.uint64(timeline[k + 1]), ZERO
        for w in range(n_words):
            added |= system.sets[ORIGINAL, w] & system.available[following, w] & ~system.available[one, w]
        if added:
            return segments[one].end
    if system.settings[0].bounded and last + 2 < n:
        return segments[timeline[last + 1]].end
    return 0


@part(inline=False)
def restrict(system):
    """Leave in row `MASK` the nodes of row `ORIGINAL` that are available in the window; return their number.

    The window of segments is a queue of two stacks: its later segments, from place `middle_time` on, are
    intersected in row `WINDOW`, which grows as the end moves on. Of its earlier segments row k of
    `System.suffixes` is the intersection from place k to the middle, so that the window loses its first
    segment by reading the next row. Once the start has passed the middle, the later part becomes the earlier
    one. O(words) for each segment that enters the window or that the start passes, amortized.
    """
    state, timeline = system.state[0], system.timeline
    available, suffixes, sets = system.available, system.suffixes, system.sets
    n_words, first, last = sets.shape[1], state.first_time, state.last_time
    if first > state.middle_time:
        for w in range(n_words):
            sets[WINDOW, w] = ~ZERO
        for k in range(last - 1, first - 1, -1):
            j = np.uint64(timeline[k])
            for w in range(n_words):
                suffixes[k, w] = available[j, w]
            if k + 1 < last:
                for w in range(n_words):
                    suffixes[k, w] &= suffixes[k + 1, w]
        state.middle_time = last
    else:
        for k in range(state.n_joined, last):
            j = np.uint64(timeline[k])
            for w in range(n_words):
                sets[WINDOW, w] &= available[j, w]
    state.n_joined = last
    found, is_early = 0, first < state.middle_time
    for w in range(n_words):
        word = sets[ORIGINAL, w] & sets[WINDOW, w]
        if is_early:
            word &= suffixes[first, w]
        sets[MASK, w] = word
        found += population(word)
    return found


NO_RESERVATION, ELSEWHERE, OF_SOME = range(3)

ROUNDED_S = 1e-4
"""Instants of reservations are whole seconds, except for the rounding of numbers."""


@part()
def counts(system, k, start, end):
    """Return whether a known reservation keeps its nodes at some time between two instants."""
    kept = system.reservations[k]
    return kept.begin < end and kept.end > start and kept.known <= system.state[0].now


@part(inline=False)
def keep_out(system, start, end):
    """Remove nodes that are reserved between two instants from rows `MASK` and `ORIGINAL`.

    Return `NO_RESERVATION`, `ELSEWHERE` where none of the nodes is reserved, `OF_SOME` of them, or when a
    reservation of all of them ends. O(reservations x words).
    """
    found = NO_RESERVATION
    for k in range(len(system.reservations)):
        if counts(system, k, start, end):
            of_all, some = True, False
            for w in range(system.sets.shape[1]):
                of_all = of_all and not system.sets[MASK, w] & ~system.reserved_words[k, w]
                some = some or (system.sets[MASK, w] & system.reserved_words[k, w]) != ZERO
                system.sets[MASK, w] &= ~system.reserved_words[k, w]
                system.sets[ORIGINAL, w] &= ~system.reserved_words[k, w]
            if some:
                found = math.ceil(system.reservations[k].end) if of_all else max(found, OF_SOME)
            found = max(found, ELSEWHERE)
    return found


@part(inline=False)
def after_reservations(system, kept, start):
    """Return when a job is tried again whose nodes were kept out, 0 for never; `keep_out` has found `kept`.

    That is the end of a reservation of all of its nodes, else a second after the end of the slot in which the
    first one of all reservations ends, within the window. O(reservations).
    """
    if kept <= OF_SOME:
        if kept < OF_SOME:
            return 0
        settings, first = system.settings[0], FAR
        for k in range(len(system.reservations)):
            one = system.reservations[k]
            if one.known <= system.state[0].now and one.end >= start:
                first = min(first, math.ceil(one.end - ROUNDED_S))
        kept = (first + settings.bf_resolution - 1) // settings.bf_resolution * settings.bf_resolution + 1
        if kept >= math.floor(system.state[0].now) + settings.bf_window:
            return 0
    return kept


@part(inline=False)
def conflicts(system, job, begin, end):
    """Return whether a picked node, or a licence of a job, is not available from slot to slot, from
    one in the window on. O(segments between x words)."""
    for k in range(system.state[0].first_time, system.state[0].n_times):
        j = system.timeline[k]
        if system.segments[j].begin >= end:
            return False
        if system.segments[j].end > begin:
            for w in range(system.sets.shape[1]):
                if system.sets[PICKED, w] & ~system.available[j, w]:
                    return True
            if system.settings[0].plans_licences and not has_licences(system, job, j):
                return True
    return False


@part(inline=False)
def picked_set(system):
    """Write the nodes that were picked as a set."""
    for w in range(system.sets.shape[1]):
        system.sets[PICKED, w] = ZERO
    w, word = 0, ZERO
    for k in range(system.state[0].n_chosen):  # most nodes of a word follow each other
        node = system.choices[k].node
        if node // 64 != w:
            system.sets[PICKED, w] |= word
            w, word = node // 64, ZERO
        word |= ONE << np.uint64(node % 64)
    system.sets[PICKED, w] |= word
