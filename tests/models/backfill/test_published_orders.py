"""Policies with an order from the literature: their formulas as they are printed."""

import re
from collections.abc import Callable
from math import log2, log10, sqrt
from typing import Any

import backfill_twin
import numpy as np
import pytest
from numba import njit

from models.backfill.policies import rules_of
from models.backfill.priority.order import changes, compiled
from sweep.config import chosen, locate

CONF = locate.conf_folder()


Rank = Callable[[backfill_twin.Job, float], float]
"""The lowest is first."""
FIRST = 1000.0


def learned(value: Rank, weight: float) -> Rank:
    """F1 to F4: what r and n give, and the logarithm of the submission."""
    return lambda job, now: value(job, now) + weight * log10(max(job.submit - FIRST, 1.0))


FORMULAS: dict[str, Rank] = {
    "wfp3": lambda job, now: -(((now - job.submit) / job.requested) ** 3) * job.size,
    "unicef": lambda job, now: -(now - job.submit) / (max(log2(job.size), 1.0) * job.requested),
    "f1": learned(lambda job, now: log10(job.requested) * job.size, 870),
    "f2": learned(lambda job, now: sqrt(job.requested) * job.size, 25_600),
    "f3": learned(lambda job, now: job.requested * job.size, 6_860_000),
    "f4": learned(lambda job, now: job.requested * sqrt(job.size), 530_000),
    "smallest_area_first": lambda job, now: job.size * job.requested,
    "shortest_first": lambda job, now: job.requested,
}


POLICIES = {name: (name, None) for name in ("wfp3", "unicef", "f1", "f2", "f3", "f4")} | {
    "saf": ("smallest_area_first", None),
    "easy_sjbf": (None, "shortest_first"),
}
"""Files of conf, with their priority and their backfill order: `test_order_contract` runs these orders."""


@pytest.mark.parametrize("name", POLICIES)
def test_a_shipped_policy_has_its_orders(name: str) -> None:
    how = policy(name)
    assert (how.priority, how.backfill_order) == POLICIES[name]
    assert (how.reservations, how.discipline, any(how.weights)) == (1, "backfill", False)


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_those_of_the_formula(name: str) -> None:
    function, waited, random = compiled(name), 777.0, np.random.default_rng(1)
    for gap, requested, size in zip(*random.exponential([[1e5], [1e4], [50.0]], (3, 80)), strict=True):
        job = backfill_twin.Job(0, FIRST + gap, 1.0, requested, int(size) + 1)
        time, *more = (waited, 0) if changes(function) else (job.submit - FIRST,)
        value = function(time, job.requested, job.size, 0, *more)
        assert value == pytest.approx(-FORMULAS[name](job, job.submit + waited), rel=1e-12)


def policy(name: str, **keys: Any) -> Any:
    return rules_of(chosen.parameters("policy", name, keys, [CONF]))


@njit
def narrow_first(submitted, requested, processors, memory):
    return -float(processors)


@njit
def of_three(submitted, requested, processors):
    return 0.0


@pytest.mark.parametrize(
    ("name", "keys", "words"),
    [
        ("easy", {"discipline": "conservative"}, "needs discipline backfill, but this is conservative; set"),
        ("easy", {"discipline": "ncsa_lsf"}, "needs discipline backfill, but this is ncsa_lsf; set it to"),
        ("easy", {"discipline": "eq_spatial"}, "needs discipline backfill, but this is eq_spatial; set it"),
        ("easy", {"discipline": "fcfs"}, "needs discipline backfill, but this is fcfs; set it to queue"),
        ("easy_immediate", {}, "cannot be combined with policy.immediate"),
        ("easy", {"reservations": "all"}, "every waiting job has a reservation.*give a number"),
        ("easy", {"reservations": 0}, "give this order as policy.priority"),
        ("easy", {"backfill_order": "shortest"}, "allowed: queue, wfp3, .*shortest_first, or the dotted"),
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
