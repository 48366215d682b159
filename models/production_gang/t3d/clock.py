"""What time alone changes: prime time and night, whose nice value is high, and when to look again."""

from __future__ import annotations

from numba import float64, void

from models.jobs.calendar import DAY
from models.kernels.compiling import part
from models.production_gang.t3d.events import push
from models.production_gang.t3d.periods import NIGHT, PRIME
from models.production_gang.t3d.ranking import number_of, slice_ends
from models.production_gang.t3d.state import (
    BOUNDARY,
    LAST_TICK,
    MAX_WAIT,
    N_RESIDENTS,
    N_TICKS,
    N_WAITING,
    NEXT_BOUNDARY,
    NEXT_TICK,
    NOW,
    PERIOD,
    PROCESSORS,
    RUN_SINCE,
    RUNNING,
    SCAN,
    SINCE,
    STATE,
    STOPS,
    SYSTEM,
    TIMER,
    USER,
    WEEKEND,
)

BOUNDARIES_A_DAY = 3


@part()
def boundary_second(which, costs):
    """Return the second of the day of a boundary: midnight, the begin of prime time, its end."""
    if which == 0:
        return 0.0
    return costs.prime_begin if which == 1 else costs.prime_end


@part()
def boundary_time(number, costs):
    """Return when a boundary comes; they are counted from Monday, 0:00, before time 0 on."""
    day = number // BOUNDARIES_A_DAY
    return day * DAY + boundary_second(number % BOUNDARIES_A_DAY, costs) - costs.clock


@part(void(float64, SYSTEM))
def set_timers(now, system):
    """Wake up when jobs become urgent, and when minimum slices are over, as things stand now."""
    work, counts = system.work, system.counts
    for i in range(counts[N_WAITING]):
        job = work.waiting[i]
        time = work.real[job, SINCE] + number_of(job, MAX_WAIT, system)
        if now < time < 1e300:
            push(time, TIMER, job, work.whole[job, STOPS], system)
    for i in range(counts[N_RESIDENTS]):
        job = work.residents[i]
        if work.whole[job, STATE] == RUNNING and slice_ends(job, system) > now:
            push(slice_ends(job, system), TIMER, job, work.whole[job, STOPS], system)


@part(void(SYSTEM))
def enter_period(system):
    """A boundary is passed: set period and weekend, and wake up for waits and slices of other lengths."""
    counts, costs = system.counts, system.costs
    now = system.clocks[NOW]
    number = counts[BOUNDARY]
    second = boundary_second(number % BOUNDARIES_A_DAY, costs)
    counts[WEEKEND] = number // BOUNDARIES_A_DAY % 7 >= 5
    prime = costs.prime_begin <= second < costs.prime_end and (
        system.settings.weekends == 1 or counts[WEEKEND] == 0
    )
    counts[PERIOD] = PRIME if prime else NIGHT
    counts[BOUNDARY] += 1
    system.clocks[NEXT_BOUNDARY] = boundary_time(counts[BOUNDARY], costs)
    counts[SCAN] = 0
    set_timers(now, system)


@part()
def count_usage(job, now, system):
    """Count what a running job has had since the last tick, for its user."""
    user = system.work.whole[job, USER]
    if user >= 0:
        since = max(system.work.real[job, RUN_SINCE], system.clocks[LAST_TICK])
        system.users.recent[user] += system.work.whole[job, PROCESSORS] * (now - since)


@part(void(SYSTEM))
def tick(system):
    """Look at what users have had, and at whose nice value is high. O(owners + users)."""
    clocks, users, work, counts, costs = (
        system.clocks, system.users, system.work, system.counts, system.costs,
    )  # fmt: skip
    now = clocks[NOW]
    for i in range(counts[N_RESIDENTS]):
        job = work.residents[i]
        if work.whole[job, STATE] == RUNNING:
            count_usage(job, now, system)
    fades = 2.0 ** (-costs.nice_every / costs.half_life)
    total, n_active = 0.0, 0
    for user in range(users.usage.shape[0]):
        users.usage[user] = users.usage[user] * fades + users.recent[user]
        users.recent[user] = 0.0
        if users.active[user] > 0:
            total += users.usage[user]
            n_active += 1
    changed = False
    for user in range(users.usage.shape[0]):
        high = n_active > 0 and users.usage[user] > costs.nice_above * (total / n_active)
        changed = changed or high != users.nice[user]
        users.nice[user] = high
    clocks[LAST_TICK] = now
    counts[N_TICKS] += 1
    clocks[NEXT_TICK] = (counts[N_TICKS] + 1) * costs.nice_every
    if changed:
        set_timers(now, system)
