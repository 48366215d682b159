"""The plan of a backfill cycle: the available nodes over time, as a list of segments.

A planned job blocks whole nodes from the beginning of the slot of `bf_resolution` in which it starts to the
beginning of the slot in which it ends, one at least (slurm.conf, SchedulerParameters, bf_resolution).
"""

import math

import numpy as np

from models.kernels.bits import ONE, ZERO, lowest_position, population
from models.kernels.compiling import part
from models.slurm.kernel.tables import (
    FAR,
    MASK,
    N_BOUNDED,
    N_LIMITS,
    NONE,
    ORIGINAL,
    PICKED,
    UNAVAILABLE,
    WINDOW,
)


@part(inline=False)
def begin_plan(system, now):
    """Start with all nodes available from this slot to the end of the window."""
    state, settings = system.state[0], system.settings[0]
    slot = settings.bf_resolution
    system.segments[0].begin = now // slot * slot
    system.segments[0].end = (now + settings.bf_window) // slot * slot
    system.segments[0].adds, system.segments[0].is_same, system.timeline[0] = 0, 0, 0
    for k in range(first_count(system, 1)):
        system.counts[k] = NONE
    for k in range(first_bound(system, 1)):
        system.bounds[k].cpus = FAR
    for w in range(system.sets.shape[1]):
        system.available[0, w] = ~system.sets[UNAVAILABLE, w]
    if settings.plans_licences:
        for k in range(settings.first_licence, len(system.limits)):
            at = system.sets.shape[1] + k - settings.first_licence
            system.available[0, at] = np.uint64(system.limits[k].cap)
    state.n_segments = state.n_times = 1
    system.reserved_from[:] = FAR


@part(inline=False)
def same_segment(system, one, other):
    """Return whether two segments have the same nodes."""
    for w in range(system.available.shape[1]):
        if system.available[one, w] != system.available[other, w]:
            return False
    return True


@part()
def first_count(system, j):
    """Return where the counts of a segment begin; with licences in the plan there are none."""
    if system.settings[0].plans_licences:
        return 0
    return j * min(len(system.partitions), N_BOUNDED)


@part()
def first_bound(system, j):
    """Return where the bounds of a segment begin."""
    return N_LIMITS * first_count(system, j)


@part()
def nodes_of(system, j, partition):
    """Return how many nodes of a partition are available in a segment. O(W) where it is not known."""
    at = first_count(system, j) + partition
    if system.counts[at] == NONE:
        n = 0
        for w in range(system.sets.shape[1]):
            n += population(system.available[j, w] & system.partition_words[partition, w])
        system.counts[at] = n
    return system.counts[at]


@part(inline=False)
def additions(system, one, other):
    """Return the partitions of nodes that are available in a segment and not in another one, as bits.
    O(words + partitions x words with such nodes)."""
    found = 0
    for w in range(system.sets.shape[1]):
        added = system.available[other, w] & ~system.available[one, w]
        if added:
            for partition in range(len(system.partitions)):
                if added & system.partition_words[partition, w]:
                    found |= 1 << (partition % 63)
    return found


@part(inline=False)
def split(system, place, at):
    """Divide the segment at a place at an instant within it; bounds of it hold for both parts.
    O(segments + words)."""
    state, segments, timeline = system.state[0], system.segments, system.timeline
    one, new = timeline[place], state.n_segments
    state.n_segments += 1
    segments[new].begin, segments[new].end = at, segments[one].end
    segments[new].adds, segments[new].is_same = segments[one].adds, segments[one].is_same
    segments[one].end, segments[one].adds, segments[one].is_same = at, 0, 1
    for w in range(system.available.shape[1]):
        system.available[new, w] = system.available[one, w]
    first, other = first_bound(system, one), first_bound(system, new)
    for k in range(first_bound(system, 1)):
        system.bounds[other + k] = system.bounds[first + k]
    first, other = first_count(system, one), first_count(system, new)
    for k in range(first_count(system, 1)):
        system.counts[other + k] = system.counts[first + k]
    for k in range(state.n_times, place + 1, -1):
        timeline[k] = timeline[k - 1]
    timeline[place + 1] = new
    state.n_times += 1


@part(inline=False)
def compare(system, place):
    """Note how the segment at a place differs from the next one, if there is one."""
    if place + 1 < system.state[0].n_times:
        one, other = system.timeline[place], system.timeline[place + 1]
        system.segments[one].adds = additions(system, one, other)
        system.segments[one].is_same = same_segment(system, one, other)


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
    state, segments, timeline = system.state[0], system.segments, system.timeline
    taken = first_count(system, len(segments))
    for k in range(first_count(system, 1)):
        system.counts[taken + k] = 0
        for w in range(system.sets.shape[1]):
            picked = system.sets[PICKED, w] & system.partition_words[k, w]
            system.counts[taken + k] += population(picked)
    first, all_changed = 0, settings.plans_licences
    while first < state.n_times and segments[timeline[first]].end < begin:
        first += 1
    if first == state.n_times:
        return
    if segments[timeline[first]].end > begin:
        split(system, first, begin)
    last = first
    while last + 1 < state.n_times and segments[timeline[last]].end < end:
        last += 1
        j, lacking = np.uint64(timeline[last]), ZERO
        if end < segments[j].end:
            split(system, last, end)
        for w in range(system.sets.shape[1]):
            lacking |= system.sets[PICKED, w] & ~system.available[j, w]
            system.available[j, w] &= ~system.sets[PICKED, w]
        at = first_count(system, timeline[last])
        for k in range(first_count(system, 1)):
            known = system.counts[at + k] != NONE and lacking == ZERO
            system.counts[at + k] = system.counts[at + k] - system.counts[taken + k] if known else NONE
        all_changed = all_changed or lacking != ZERO
        if settings.plans_licences:
            deduct(system, job, j)
    # Between segments that lost the same nodes the difference stays what it was.
    for k in range(first, last + 1):
        if k in (first, last) or all_changed:
            compare(system, k)
    for k in range(max(first - 1, 0), min(last + 1, state.n_times - 1)):
        one, other = timeline[k], timeline[k + 1]
        if segments[one].is_same:
            segments[one].end, segments[one].adds = segments[other].end, segments[other].adds
            segments[one].is_same = segments[other].is_same
            state.n_times -= 1
            for i in range(k + 1, state.n_times):
                timeline[i] = timeline[i + 1]
            break


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
def open_window(system):
    """Begin with an empty window before the plan; O(words)."""
    state = system.state[0]
    state.first_time, state.middle_time, state.last_time, state.n_joined = 0, 0, 0, 0
    state.n_counted, state.narrowest = 0, NONE
    for w in range(system.sets.shape[1]):
        system.sets[WINDOW, w] = ~ZERO


@part()
def place_of_limit(partition, limit):
    """Return the place of a bound among the ones of a segment. O(log limit)."""
    bits, minutes = 0, limit // 60
    while minutes and bits < N_LIMITS - 1:
        bits += 1
        minutes >>= 1
    return N_LIMITS * partition + bits


@part()
def is_certain(system):
    """Return whether `adds` of a segment is as it says: each partition has a bit, and nothing is reserved."""
    return len(system.partitions) <= 63 and not len(system.reservations)


@part()
def adds(system, partition, place):
    """Return whether nodes of a partition may be added at the end of the segment at a place."""
    return (system.segments[system.timeline[place]].adds >> (partition % 63)) & 1


@part()
def adds_later(system, partition, first):
    """Return the first place from one on at whose end nodes of a partition may be added, or the last place.
    O(places passed)."""
    last = system.state[0].n_times - 1
    while first < last and not adds(system, partition, first):
        first += 1
    return first


@part()
def begun_by(system, first, instant):
    """Return the first place from one on whose segment begins after an instant. O(log segments)."""
    end = system.state[0].n_times
    while first < end:
        middle = (first + end) // 2
        if system.segments[system.timeline[middle]].begin > instant:
            end = middle
        else:
            first = middle + 1
    return first


@part()
def rules_out(system, bound, end, until, cpus):
    """Return whether a bound is below a number of CPUs by an instant, in a window with an end."""
    noted = system.bounds[bound]
    return noted.cpus < cpus and noted.end <= end and noted.until >= until


@part(inline=False)
def pass_by(system, partition, at, start, limit, least, cpus):
    """Return the first start from one on, in the order of `move_window`, for which each segment of the window
    has as many nodes as a job needs, and its bound does not rule out as many free CPUs by the next start.

    In a cycle plans only take nodes away, and a window that begins in a part of a segment and ends later has
    no further nodes: bounds hold on, also for the parts of a segment that is split. From one call to the
    next, until `open_window`, a job may not need fewer nodes. O(starts x log segments + segments
    compared, each once, and W for each that was not counted).
    """
    state, segments, timeline = system.state[0], system.segments, system.timeline
    first = state.first_time
    while True:
        while first < state.n_times and segments[timeline[first]].end <= start:
            first += 1
        if first == state.n_times:
            break
        counted, state.n_counted = (
            state.n_counted,
            begun_by(system, max(first, state.n_counted), start + limit),
        )
        last = state.n_counted - 1
        while last >= max(first, counted) and nodes_of(system, timeline[last], partition) >= least:
            last -= 1
        if last >= max(first, counted):
            state.narrowest = last  # the last segment with too few nodes
        if state.narrowest >= first:  # all starts up to its end are ruled out
            last = state.narrowest - 1
            while last >= first and not adds(system, partition, last):
                last -= 1
            if last >= first:
                start, first = segments[timeline[last]].end, last + 1
        k = adds_later(system, partition, first)
        bound, until = first_bound(system, timeline[first]) + at, segments[timeline[k]].end
        if state.narrowest < first and not rules_out(system, bound, start + limit, until, cpus):
            break
        if k == state.n_times - 1 or (k > first and segments[timeline[k - 1]].begin > start + limit):
            break
        start = segments[timeline[k]].end
        first = k + 1
    state.first_time = first
    return start


@part(inline=False)
def note_bound(system, at, end, until, cpus):
    """Note how many CPUs are free by `until` in the window, which ends at `end`: for its limit and longer."""
    bounds, first = system.bounds, system.state[0].first_time
    if first == system.state[0].n_times:
        return
    first = first_bound(system, system.timeline[first])
    for k in range(first + at, first + (at // N_LIMITS + 1) * N_LIMITS):
        if bounds[k].cpus > cpus or bounds[k].until < until:
            bounds[k].end, bounds[k].until, bounds[k].cpus = end, until, cpus


@part(inline=False)
def move_window(system, partition, start, end):
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
    certain = is_certain(system)
    k = adds_later(system, partition, first)
    while k < min(last + 1, n - 1):
        one, following, added = np.uint64(timeline[k]), np.uint64(timeline[k + 1]), ZERO
        for w in range(0 if certain else n_words):
            added |= system.sets[ORIGINAL, w] & system.available[following, w] & ~system.available[one, w]
        if certain or added:
            return segments[one].end
        k = adds_later(system, partition, k + 1)
    if system.settings[0].bounded and last + 2 < n:
        return segments[timeline[last + 1]].end
    return 0


@part(inline=False)
def join_window(system):
    """Intersect the segments that have entered the window; the nodes of it are `in_window` then.

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


@part()
def in_window(system, w):
    """Return a word of the nodes that are available in the whole window."""
    if system.state[0].first_time < system.state[0].middle_time:
        return system.sets[WINDOW, w] & system.suffixes[system.state[0].first_time, w]
    return system.sets[WINDOW, w]


@part(inline=False)
def restrict(system):
    """Leave in row `MASK` the nodes of row `ORIGINAL` that are available in the window; return their number.
    O(words), and what `join_window` takes."""
    sets, found = system.sets, 0
    join_window(system)
    for w in range(sets.shape[1]):
        sets[MASK, w] = sets[ORIGINAL, w] & in_window(system, w)
        found += population(sets[MASK, w])
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
