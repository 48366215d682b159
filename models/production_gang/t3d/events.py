"""The heap of events, ordered by time, then by kind, then by job."""

from numba import boolean, float64, int64, void

from models.kernels.compiling import part
from models.production_gang.t3d.state import EVENT_TYPE, SYSTEM


@part(boolean(EVENT_TYPE, EVENT_TYPE))
def precedes(event, other):
    """Return whether an event happens before another one."""
    if event.time != other.time:
        return event.time < other.time
    if event.kind != other.kind:
        return event.kind < other.kind
    return event.job < other.job


@part(void(float64, int64, int64, int64, SYSTEM))
def insert(time, kind, job, stops, system):
    """Add an event. O(log events)."""
    events, state = system.events, system.state[0]
    new = events[events.shape[0] - 1]  # beyond the heap
    new.time, new.kind, new.job, new.stops = time, kind, job, stops
    at = state.n_events
    state.n_events += 1
    while at > 0 and precedes(new, events[(at - 1) >> 1]):
        events[at] = events[(at - 1) >> 1]
        at = (at - 1) >> 1
    events[at] = new


@part(void(float64, int64, int64, SYSTEM))
def push(time, kind, job, system):
    """Add an event of a job, which is void once the job has been stopped again. O(log events)."""
    insert(time, kind, job, system.jobs[job].stops, system)


@part(void(SYSTEM))
def remove_first(system):
    """Remove the first event from the heap. O(log events)."""
    events, state = system.events, system.state[0]
    state.n_events -= 1
    n = state.n_events
    last = events[n]
    at = 0
    while 2 * at + 1 < n:
        below = 2 * at + 1
        if below + 1 < n and precedes(events[below + 1], events[below]):
            below += 1
        if precedes(last, events[below]):
            break
        events[at] = events[below]
        at = below
    events[at] = last
