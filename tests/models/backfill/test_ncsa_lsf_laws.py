"""What must hold of any schedule of NCSA-LSF (Chiang and Vernon 2001, section 2.1), seen from outside."""

from __future__ import annotations

import numpy as np
import pytest
from backfill_checker import faults
from ncsa_lsf_cases import CONFIGURATIONS, NEVER, O2K, SIZES, TIMES, months, rules

from models.backfill.ncsa_lsf.kernel import simulate
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.jobs.schedule import Schedule
from models.workloads.o2k.job_classes import CLASSES, classify


@pytest.fixture(scope="module", params=[*CONFIGURATIONS])
def large(request: pytest.FixtureRequest) -> tuple[Schedule, NcsaLsf]:
    configured = rules(**CONFIGURATIONS[request.param])
    return simulate(months(1500, 0.55, 5), O2K, configured), configured


def running(made: Schedule, instant: float) -> np.ndarray:
    return (made.start <= instant) & (instant < made.end)


def classes_of(made: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the jobs' size and time classes."""
    size_class, time_class = np.divmod(classify(made.jobs.requested, made.jobs.size, made.jobs.memory), 4)
    return size_class, time_class


def test_it_is_physically_possible(large: tuple[Schedule, NcsaLsf]) -> None:
    assert not faults(large[0])


def test_no_limit_is_ever_exceeded_and_each_is_reached(large: tuple[Schedule, NcsaLsf]) -> None:
    made, configured = large
    size_class, time_class = classes_of(made)
    most = {}
    for instant in np.unique(made.start):
        now = running(made, instant)
        counts = {
            (name, size): int((now & (made.host == h) & (size_class == s)).sum())
            for h, name in enumerate(O2K.names)
            for s, size in enumerate(SIZES)
        }
        counts |= {("all", name): int((now & (time_class == t)).sum()) for t, name in enumerate(TIMES)}
        counts["all", "user"] = int(np.bincount(made.jobs.user[now]).max())
        most = {key: max(most.get(key, 0), count) for key, count in counts.items()}
    for name, row in configured.hosts.items():
        assert {s for s in SIZES if most[name, s]} <= set(row.sizes)
        assert all(most[name, size] <= limit for size, limit in row.limits.items())
    limits = {**configured.system_limits, "user": configured.user_limit or 10**9}
    assert all(most["all", name] <= limit for name, limit in limits.items())
    assert any(most[name, "lj"] == 3 for name in O2K.names)
    if configured.user_limit is not None:
        assert most["all", "user"] == configured.user_limit


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_nobody_overtakes_an_equal(name: str) -> None:
    """Without special reservations, who needs no more than a later job of its class and user goes first."""
    jobs = months(1500, 0.55, 5)
    made = simulate(jobs, O2K, rules(**CONFIGURATIONS[name] | NEVER))
    c = classify(jobs.requested, jobs.size, jobs.memory)
    for job in range(len(jobs)):
        later = np.arange(job + 1, len(jobs))
        same = later[(c[later] == c[job]) & (jobs.user[later] == jobs.user[job])]
        harder = same[(jobs.size[same] >= jobs.size[job]) & (jobs.memory[same] >= jobs.memory[job])]
        assert (made.start[harder] >= made.start[job]).all()


def test_nobody_skips_to_a_smaller_class() -> None:
    """At each start on a host, for each larger class: its bound is reached, or none of it waits unbarred."""
    configured = rules(**NEVER)
    made = simulate(months(1500, 0.55, 5), O2K, configured)
    size_class, time_class = classes_of(made)
    limits = np.array([configured.system_limits.get(name, 10**9) for name in TIMES])
    looked_at = 0
    for job in np.flatnonzero(made.host < 6):
        instant, h = made.start[job], made.host[job]
        now = running(made, instant)
        barred = np.bincount(time_class[now], minlength=4) >= limits
        waits = (made.jobs.submit <= instant) & (made.start > instant) & ~barred[time_class]
        for larger in range(size_class[job] + 1, 3):
            executing = (now & (made.host == h) & (size_class == larger)).sum()
            bound = configured.hosts[O2K.names[h]].limits[SIZES[larger]]
            looked_at += executing == bound and bool((waits & (size_class == larger)).any())
            assert executing == bound or not (waits & (size_class == larger)).any()
    assert looked_at > 100


def test_a_reserved_host_is_kept_until_the_job_fits(large: tuple[Schedule, NcsaLsf]) -> None:
    made, configured = large
    held, jobs = made.held, made.jobs
    assert held is not None
    _, time_class = classes_of(made)
    for at in range(len(held.job)):
        job, h, begin, end = held.job[at], held.host[at], held.begin[at], held.end[at]
        here = made.host == h
        assert not (here & (made.start > begin) & (made.start < end)).any()
        busy = running(made, begin) & here
        idle = O2K.processors[h] - jobs.size[busy].sum()
        assert 0 < idle == held.processors[at]
        assert idle < jobs.size[job] or O2K.memory[h] - jobs.memory[busy].sum() < jobs.memory[job]
        assert (made.host[job], made.start[job] >= end) == (h, True)
        assert begin - jobs.submit[job] > configured.reserve_wait[TIMES[time_class[job]]]
        assert (here & (made.end == begin)).any()
    for h in range(len(O2K.names)):
        order = np.argsort(held.begin[held.host == h])
        assert (held.end[held.host == h][order][:-1] <= held.begin[held.host == h][order][1:]).all()
    for job in np.unique(held.job):
        assert held.end[held.job == job].max() == made.start[job]


def test_classes_are_in_the_order_that_the_kernel_divides() -> None:
    assert [f"{time}_{size}" for size in SIZES for time in TIMES] == list(CLASSES)
