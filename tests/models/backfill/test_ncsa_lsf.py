"""NCSA-LSF (Chiang and Vernon 2001, section 2.1): against a plain twin, and its sentences by hand."""

from math import inf
from typing import Any

import pytest
from backfill_cases import for_all, tiers
from ncsa_lsf_cases import (
    CONFIGURATIONS,
    HOUR,
    NEVER,
    O2K,
    TIMES,
    Row,
    assert_agreement,
    cases,
    make_jobs,
    make_machine,
    months,
    of_paper,
    rules,
)

from models.backfill.ncsa_lsf.kernel import simulate
from models.backfill.ncsa_lsf.rules import NcsaLsf
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule


@tiers(25, 250)
def test_kernel_and_twin_agree(n_examples: int) -> None:
    def check(case: tuple[Jobs, Machine, NcsaLsf]) -> None:
        assert_agreement(*case)

    for_all(n_examples, check, case=cases())


@pytest.mark.parametrize("ties", ["instant", pytest.param("event", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_kernel_and_twin_agree_on_the_origin_2000(name: str, ties: str) -> None:
    policy = {**of_paper(**CONFIGURATIONS[name]), "ties": ties}
    reservations = 0
    for seed, gap in ((1, 0.4), (2, 0.8)):
        did = assert_agreement(months(110, gap, seed), O2K, NcsaLsf.of(policy))
        reservations += sum(what == "reserves" for _, what, _, _ in did.log)
    assert (reservations > 0) == (name != "never")


def run(
    rows: list[Row], processors: int = 128, sizes: str = "lj mj sj", limits: str = "", **keys: Any
) -> Schedule:
    """Run jobs on one host that is configured like ``eir``, if nothing else is said."""
    bounds = {"lj": 3, "mj": 4} if not limits else {s[:2]: int(s[2:]) for s in limits.split()}
    row = {"host": "eir", "sizes": sizes.split(), "limits": bounds}
    user = keys.pop("user", None)
    return simulate(
        make_jobs(rows, user), make_machine({"eir": (processors, inf)}), rules(hosts=[row], **keys)
    )


def starts(*args: Any, **keys: Any) -> list[float]:
    return (run(*args, **keys).start / HOUR).tolist()


def job(submit: float, runtime: float, size: int = 17, requested: float = 0) -> Row:
    """Return a job without memory: its size decides its size class, and its runtime is its request."""
    return (submit, runtime, requested or runtime, size, 0)


def test_a_host_runs_three_large_and_four_medium_jobs() -> None:
    """'Host "eir" will run up to three lj jobs and four mj jobs simultaneously.'"""
    rows = [*[job(0, 5)] * 4, *[job(0, 4, 9)] * 5, job(0, 3, 1)]
    assert starts(rows) == [0, 0, 0, 5, 0, 0, 0, 0, 4, 0]


def test_time_class_then_first_come_first_serve_and_skipping_who_is_too_big() -> None:
    """'vst-lj jobs have highest priority for scheduling on eir, followed by other lj jobs.'"""
    blocked = job(0, 10, 64, 10)
    order = [blocked, job(1, 6, 33, 60), job(2, 6, 33, 6), job(3, 6, 33, 300), job(4, 5, 33, 5)]
    assert starts(order, processors=64) == [0, 15, 21, 27, 10]
    skips = [job(0, 10, 40), job(1, 4, 30), job(2, 8, 20, 300)]
    assert starts(skips, processors=64) == [0, 10, 2]


FLOW = [(2.0 * k, 4.0, 4.0, 8, 3.0) for k in range(10)]
"""Medium jobs of 8 processors, two of which always run: on 16 processors no wider one starts."""


def test_special_reservations() -> None:
    """At 14 hours a job has waited for 13, more than 12, and an end keeps the host for it until 16."""
    rows = [*FLOW[:1], (1, 1, 1, 16, 0), *FLOW[1:]]
    made = run(rows, 16, limits="mj9")
    held = made.held
    assert held is not None
    assert made.start[1] == 16 * HOUR
    assert made.start[8] == made.start[9] == 17 * HOUR
    pieces = zip(held.job, held.host, held.begin / HOUR, held.end / HOUR, held.processors, strict=True)
    assert list(pieces) == [(1, 0, 14, 16, 8)]
    assert run(rows, 16, limits="mj9", **NEVER).start[1] == 22 * HOUR


def test_a_job_is_overdue_only_when_it_waited_longer() -> None:
    """At 14 hours it has waited for 12, not longer, and another one is first once more."""
    rows = [*FLOW[:2], (2, 1, 1, 16, 0), *FLOW[2:]]
    assert run(rows, 16, limits="mj9").start[2] == 18 * HOUR


@pytest.mark.parametrize(("most", "expected"), [(1, 40), (2, 6)])
def test_a_reservation_counts_in_the_system_wide_limits(most: int, expected: float) -> None:
    """From 5 to 30 hours host a is kept for a medium mt job, while another mt job would fit on host b."""
    hosts = [{"host": "a", "sizes": ["mj", "sj"]}, {"host": "b", "sizes": ["sj"]}]
    machine = make_machine({"a": (16, inf), "b": (8, inf)})
    small = [job(0, 5, 8, 20), job(0, 30, 8, 40), job(0, 5, 8, 20)]
    jobs = make_jobs([*small, job(1, 10, 16, 100), job(6, 10, 1, 100)])
    keys = {"hosts": hosts, "reserve_wait_hours": dict.fromkeys(TIMES, 3), "system_limits": {"mt": most}}
    made = simulate(jobs, machine, rules(**keys))
    held = made.held
    assert held is not None
    pieces = zip(held.job, held.host, held.begin / HOUR, held.end / HOUR, held.processors, strict=True)
    assert list(pieces) == [(3, 0, 5, 30, 8)]
    assert (made.start / HOUR).tolist() == [0, 0, 0, 30, expected]


def test_whether_barred_jobs_hold_back_smaller_ones() -> None:
    rows = [job(0, 9, 20, 100), job(1, 9, 20, 100), job(2, 1, 1)]
    assert starts(rows, system_limits={"mt": 1}) == [0, 9, 2]
    assert starts(rows, system_limits={"mt": 1}, barred_hold_back=True) == [0, 9, 9]


def test_a_limit_per_user() -> None:
    rows = [job(0, 4, 1), job(0, 6, 1), job(1, 1, 1), job(1, 1, 1), job(2, 1, 1)]
    assert starts(rows, user=[7, 7, 7, 9, 7], user_limit=2) == [0, 0, 4, 1, 5]
    assert starts(rows, user=[7, 7, 7, 9, 7]) == [0, 0, 1, 1, 2]
