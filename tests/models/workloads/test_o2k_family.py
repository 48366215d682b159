"""The characterization of generated months, against a recount of the same jobs one by one."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from family_cases import CONF, read, workload_of
from o2k_cases import MACHINE, SEEDS, month_of_jobs, workload

from models.o2k_workload import FAMILY
from models.point import Batches, Point
from models.workloads.o2k.job_classes import CLASSES, classify

POLICY = read(CONF / "policy" / "o2k_workload" / "characterization.yaml")
MONTH, SEED = "1999-11", SEEDS[0]
BATCHES = Batches(size=None, warmup=0, checkpoints=(1,))


def point(**keys: Any) -> Point:
    return Point(POLICY, workload(MONTH, **keys), MACHINE, None, BATCHES, SEED)


@pytest.fixture(scope="module")
def metrics() -> dict[str, np.ndarray]:
    outcome = FAMILY.simulate(point())
    assert not outcome.overflowed
    return {name: values[0] for name, values in outcome.metrics.items()}


def test_metrics_of_classes_are_those_of_a_recount(metrics: dict[str, np.ndarray]) -> None:
    jobs = month_of_jobs(MONTH, SEED)
    index = classify(jobs.requested, jobs.size, jobs.memory)
    for place, name in enumerate(FAMILY.coords["job_class"]):
        these = [k for k in range(len(jobs)) if name == "all" or CLASSES[index[k]] == name]
        n = len(these)
        hours = [jobs.runtime[k] / 3600 for k in these]
        expected = {
            "number_of_jobs": n,
            "processor_demand": sum(h * jobs.size[k] for h, k in zip(hours, these, strict=True)) / 9.6 / 720,
            "memory_demand": sum(h * jobs.memory[k] for h, k in zip(hours, these, strict=True))
            / (3.36 * 2**20 * 720),
            "under_a_minute": sum(jobs.runtime[k] < 60 for k in these) / n,
            "short_enough_for_st": sum(h <= 50 for h in hours) / n,
            "memory_under_tenth": sum(10 * jobs.used[k] < jobs.memory[k] for k in these) / n,
            "near_request": sum(10 * jobs.runtime[k] > 9 * jobs.requested[k] for k in these) / n,
            "mean_runtime": 3600 * sum(hours) / n,
            "mean_size": sum(jobs.size[k] for k in these) / n,
            "mean_memory": sum(jobs.memory[k] for k in these) / 2**20 / n,
        }
        assert {metric: metrics[metric][place] for metric in expected} == pytest.approx(expected)


def test_times_are_those_of_a_recount(metrics: dict[str, np.ndarray]) -> None:
    """Fig. 1 and Fig. 2; November 1999 began on a Monday, a week after the first job."""
    jobs = month_of_jobs(MONTH, SEED)
    moments = [datetime(1999, 10, 25) + timedelta(seconds=float(second)) for second in jobs.submit]
    counts = np.zeros((7, 24))
    for moment in moments:
        assert moment.month == 11
        counts[moment.weekday(), moment.hour] += 1
    days = np.bincount([datetime(1999, 11, day).weekday() for day in range(1, 31)])
    assert metrics["arrivals"] == pytest.approx(counts / days[:, None])
    peak = [k for k, moment in enumerate(moments) if moment.weekday() < 5 and 9 <= moment.hour < 17]
    for place, limit in enumerate(FAMILY.coords["actual_runtime"]):
        share = sum(jobs.runtime[k] <= limit for k in peak) / len(peak)
        assert metrics["runtime_cdf"][0, place] == pytest.approx(share)
    of_classes = metrics["runtime_cdf"][1:]
    assert (np.diff(of_classes, axis=1) >= 0).all()
    assert (of_classes[:, -1] == 1).all()


def test_other_workloads_are_refused() -> None:
    assert FAMILY.check(point())
    assert FAMILY.is_stochastic(point())
    with pytest.raises(ValueError, match=r"load=0.5: .*; set grid.load=\[null\]"):
        FAMILY.check(replace(point(), load=0.5))
    with pytest.raises(ValueError, match=r"has model synthetic; models\.o2k_workload takes o2k"):
        FAMILY.check(replace(point(), workload=workload_of("synthetic")))
    words = r"workload\.estimates=exact: a month is measured as it is; set workload\.estimates=null"
    with pytest.raises(ValueError, match=words):
        FAMILY.check(point(estimates="exact"))
