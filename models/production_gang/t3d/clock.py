"""The changes that time alone brings: prime time and night, high nice values, and timers."""

from numba import float64, void

from models.jobs.calendar import DAY
from models.kernels.compiling import part
from models.production_gang.t3d.events import push
from models.production_gang.t3d.periods import NIGHT, PRIME
from models.production_gang.t3d.ranking import parameters_of, slice_end
from models.production_gang.t3d.state import SYSTEM, JobState, Kind

BOUNDARIES_A_DAY = 3


@part()
def boundary_second(which, settings):
    """Return the second of the day of a boundary: midnight, the begin of prime time, its end."""
    if which == 0:
        return 0.0
    return settings.prime_begin if which == 1 else settings.prime_end


@part()
def boundary_time(number, settings):
    """Return the time of a boundary; boundaries are counted from Monday, 0:00, before time 0."""
    day = number // BOUNDARIES_A_DAY
    return day * DAY + boundary_second(number % BOUNDARIES_A_DAY, settings) - settings.clock


@part(void(float64, SYSTEM))
def set_timers(now, system):
    """Add events for when jobs become urgent and minimum slices end, by the present parameters."""
    state = system.state[0]
    for i in range(state.n_waiting):
        job = system.waiting[i]
        time = system.jobs[job].since + parameters_of(job, system).max_wait
        if now < time < 1e300:
            push(time, Kind.TIMER, job, system)
    for i in range(state.n_residents):
        job = system.residents[i]
        if system.jobs[job].state == JobState.RUNNING and slice_end(job, system) > now:
            push(slice_end(job, system), Kind.TIMER, job, system)


@part(void(SYSTEM))
def enter_period(system):
    """Set period and weekend at a boundary, and timers for waits and slices of other lengths."""
    state, settings = system.state[0], system.settings
    second = boundary_second(state.boundary % BOUNDARIES_A_DAY, settings)
    state.weekend_day = max(state.boundary // BOUNDARIES_A_DAY % 7 - 4, 0)
    prime = settings.prime_begin <= second < settings.prime_end and (
        settings.prime_on_weekends or state.weekend_day == 0
    )
    state.period = PRIME if prime else NIGHT
    state.boundary += 1
    state.next_boundary = boundary_time(state.boundary, settings)
    state.scan_from = 0
    set_timers(state.now, system)


@part()
def count_usage(job, system):
    """Add the processor seconds of a running job since the last tick to its user's."""
    it, state = system.jobs[job], system.state[0]
    if it.user >= 0:
        since = max(it.run_since, state.last_tick)
        system.users[it.user].recent += it.processors * (state.now - since)


@part(void(SYSTEM))
def tick(system):
    """Update the usage of all users and which of them have a high nice value. O(owners + users)."""
    state, settings, users = system.state[0], system.settings, system.users
    for i in range(state.n_residents):
        job = system.residents[i]
        if system.jobs[job].state == JobState.RUNNING:
            count_usage(job, system)
    fades = 2.0 ** (-settings.nice_every / settings.half_life)
    total, n_active = 0.0, 0
    for i in range(users.shape[0]):
        user = users[i]
        user.usage = user.usage * fades + user.recent
        user.recent = 0.0
        if user.active > 0:
            total += user.usage
            n_active += 1
    changed = False
    for i in range(users.shape[0]):
        is_nice = n_active > 0 and users[i].usage > settings.nice_above * (total / n_active)
        changed = changed or is_nice != users[i].is_nice
        users[i].is_nice = is_nice
    state.last_tick = state.now
    state.n_ticks += 1
    state.next_tick = (state.n_ticks + 1) * settings.nice_every
    if changed:
        set_timers(state.now, system)
