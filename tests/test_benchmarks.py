"""Benchmarks measure what they claim to measure. No test here depends on a clock."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmarks import __main__ as command
from benchmarks import (
    against_simpy,
    coverage,
    record,
    simpy_model,
    timed_gang,
)
from models import gang
from models.point import Batches


@pytest.mark.parametrize("load", [0.3, 0.7, 0.95])
def test_simpy_and_the_kernel_simulate_the_same_model(load):
    n_jobs = 600
    (task,) = against_simpy.tasks((load,), n_jobs)
    sessions = against_simpy.session_list(task, n_jobs)
    by_simpy = simpy_model.simulate(
        sessions, task.point.machine["processors"], n_jobs, simpy_model.GangScheduler
    )
    by_kernel = against_simpy.kernel_measures(task)
    assert np.count_nonzero(np.isfinite(by_simpy.responses)) == n_jobs
    np.testing.assert_allclose(by_simpy.responses, by_kernel.responses, rtol=1e-9)
    # The model in SimPy has no average of slots over jobs; the twin of the tests has.
    shared = {name: by_kernel.metrics[name] for name in by_simpy.metrics}
    assert by_simpy.metrics == pytest.approx(shared, rel=1e-9)
    assert set(by_kernel.metrics) - set(shared) <= {"slots_per_job_over_jobs"}


def test_the_timed_family_simulates_what_the_family_does():
    (task,) = against_simpy.tasks((0.5,), 500)
    point = replace(task.point, batches=Batches(50, 1, (9,)))
    plain, timed = gang.FAMILY.simulate(point), timed_gang.FAMILY.simulate(point)
    assert set(timed.metrics) == {metric.name for metric in timed_gang.FAMILY.measured({})}
    assert timed.metrics[timed_gang.METRIC].shape == (9,)
    for name, values in plain.metrics.items():
        np.testing.assert_array_equal(timed.metrics[name], values)


def test_limits_of_a_share_are_wilsons():
    for hits, n in ((0, 40), (35, 40), (380, 400)):
        expected = binomtest(hits, n).proportion_ci(method="wilson")
        assert coverage.wilson(hits / n, n) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_coverage_is_counted_against_the_mean_that_is_known():
    values = np.random.default_rng(1).normal(3, 1, (2000, 5, 2))
    share, (low, high), width = coverage.covered(values, 3.0)
    assert low < 0.95 < high
    assert low < share < high
    assert width == pytest.approx(2.776 * 0.94 / 1.96, rel=0.05), "t over normal, and the median of s"
    assert coverage.covered(values, 9.0)[0] == 0
    independent = np.random.default_rng(2).normal(size=(4000, 1, 30))
    shown = ~np.isnan(coverage.plain(independent))
    assert shown.mean() == pytest.approx(0.99, abs=0.005)
    assert np.isnan(coverage.plain(np.arange(60.0).reshape(2, 1, 30))).all()


def test_an_unknown_name_gets_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["pakcing"])
    assert ended.value.code == 2
    assert "no benchmark 'pakcing'; there are families, backfill, slurm, simpy" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in command.BENCHMARKS if name not in ("coverage", "sweep")])
def test_quick_benchmarks_run(name, tmp_path, monkeypatch):
    monkeypatch.setattr(record.write, "__defaults__", (tmp_path,))
    assert command.main([name, "--quick"]) == 0
    (kept,) = tmp_path.glob("*.json")
    assert json.loads(kept.read_text())["benchmarks"][name]["tables"]
