"""Policies with an order from the literature: their schedules by the formulas as they are printed."""

import re
from collections.abc import Callable
from math import log2, log10, sqrt
from typing import Any

import backfill_twin
import numpy as np
import pytest
from numba import njit

from models.backfill.engine import schedule
from models.backfill.policies import rules_of
from models.backfill.priority.order import changes, compiled
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from sweep.config import chosen, locate

CONF = locate.conf_folder()


Rank = Callable[[backfill_twin.Job, float], float]
"""The lowest is first."""
FIRST = 1000.0


def learned(value: Rank, weight: float) -> Rank:
    """F1 to F4: what r and n give, and the logarithm of the submission."""
    return lambda job, now: value(job, now) + weight * log10(max(job.submit - FIRST, 1.0))


def cube(ratio: float) -> float:
    """Multiplied out, as the kernel does it: `**` may differ in the last bit, and so in a tie."""
    return ratio * ratio * ratio


FORMULAS: dict[str, Rank] = {
    "wfp3": lambda job, now: -cube((now - job.submit) / job.requested) * job.size,
    "unicef": lambda job, now: -(now - job.submit) / (max(log2(job.size), 1.0) * job.requested),
    "f1": learned(lambda job, now: log10(job.requested) * job.size, 870),
    "f2": learned(lambda job, now: sqrt(job.requested) * job.size, 25_600),
    "f3": learned(lambda job, now: job.requested * job.size, 6_860_000),
    "f4": learned(lambda job, now: job.requested * sqrt(job.size), 530_000),
    "smallest_area_first": lambda job, now: job.size * job.requested,
    "shortest_first": lambda job, now: job.requested,
}


def submission(job: backfill_twin.Job, now: float) -> float:
    return job.submit


POLICIES: dict[str, tuple[Rank, Rank | None]] = {
    "wfp3": (FORMULAS["wfp3"], None),
    "unicef": (FORMULAS["unicef"], None),
    "f1": (FORMULAS["f1"], None),
    "f2": (FORMULAS["f2"], None),
    "f3": (FORMULAS["f3"], None),
    "f4": (FORMULAS["f4"], None),
    "saf": (FORMULAS["smallest_area_first"], None),
    "easy_sjbf": (submission, FORMULAS["shortest_first"]),
}
"""Files of conf, with their queue and their backfill order."""


def draw(seed: int, n: int = 80, processors: int = 16) -> Jobs:
    """Return jobs that pile up, with requests longer than runtimes; every other time many at one instant."""
    random = np.random.default_rng(seed)
    step = 600.0 if seed % 2 else 1.0
    gaps = np.append(0, random.exponential(1500, n - 1))
    submit = FIRST + np.floor(gaps.cumsum() / step) * step
    runtime = (np.ceil(random.lognormal(7.5, 1.5, n) / step)) * step
    requested = runtime * random.integers(1, 6, n)
    size = random.integers(1, processors + 1, n)
    return Jobs(submit, runtime, requested, size, np.zeros(n, np.int64))


def starts_of_the_twin(jobs: Jobs, processors: int, rank: Rank, backfill_rank: Rank | None) -> list[float]:
    columns = (getattr(jobs, name).tolist() for name in ("submit", "runtime", "requested", "size"))
    plain = [backfill_twin.Job(number, *row) for number, row in enumerate(zip(*columns, strict=True))]
    order = None if backfill_rank is None else lambda job, now: -backfill_rank(job, now)
    hosts = [backfill_twin.Host(processors)]
    scheduler = backfill_twin.Backfill(hosts, priority=lambda job, now: -rank(job, now), backfill_order=order)
    backfill_twin.simulate(plain, scheduler)
    return [job.start for job in plain if job.start is not None]


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_those_of_the_formula(name: str) -> None:
    function, jobs, waited = compiled(name), draw(1), 777.0
    for row in zip(jobs.submit, jobs.runtime, jobs.requested, jobs.size.tolist(), strict=True):
        job = backfill_twin.Job(0, *row)
        time, *more = (waited, 0) if changes(function) else (job.submit - FIRST,)
        value = function(time, job.requested, job.size, 0, *more)
        assert value == pytest.approx(-FORMULAS[name](job, job.submit + waited), rel=1e-12)


def policy(name: str, **keys: Any) -> Any:
    return rules_of(chosen.parameters("policy", name, keys, [CONF]))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(2, 6))]
)
def test_a_shipped_policy_job_by_job(name: str, seed: int) -> None:
    jobs = draw(seed)
    made = schedule(jobs, pool(16), policy(name))
    assert made.start.tolist() == starts_of_the_twin(jobs, 16, *POLICIES[name])
    assert (made.start > jobs.submit).mean() > 0.3  # they do wait


@njit
def narrow_first(submitted, requested, processors, memory):
    return -float(processors)


@njit
def of_three(submitted, requested, processors):
    return 0.0


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        (
            "easy",
            {"discipline": "conservative"},
            "needs discipline backfill, and this is conservative; set it to queue",
        ),
        (
            "easy",
            {"discipline": "ncsa_lsf"},
            "needs discipline backfill, and this is ncsa_lsf; set it to queue",
        ),
        (
            "easy",
            {"discipline": "eq_spatial"},
            "needs discipline backfill, and this is eq_spatial; set it to queue",
        ),
        ("easy", {"discipline": "fcfs"}, "needs discipline backfill, and this is fcfs; set it to queue"),
        ("easy_immediate", {}, "cannot be combined with policy.immediate"),
        ("easy", {"reservations": "all"}, "every waiting job has a reservation.*give a number"),
        ("easy", {"reservations": 0}, "give this order as policy.priority"),
        (
            "easy",
            {"backfill_order": "shortest"},
            "allowed: queue, wfp3, .*shortest_first, or the dotted name",
        ),
        ("easy", {"backfill_order": None}, "policy.backfill_order=null; allowed: queue, wfp3"),
        ("easy", {"backfill_order": "math.sqrt"}, "policy.backfill_order=math.sqrt, which is not compiled"),
        ("easy", {"backfill_order": of_three}, "policy.backfill_order=of_three, which takes or returns"),
    ],
)
def test_where_a_backfill_order_makes_no_sense(name: str, keys: dict[str, Any], words: str) -> None:
    for order in ("shortest_first", narrow_first):
        with pytest.raises(ValueError, match=re.compile(words)) as caught:
            policy(name, **{"backfill_order": order, **keys})
        assert "\n" not in str(caught.value)
        assert "policy.backfill_order=" in str(caught.value)
