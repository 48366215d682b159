"""The family as the sweep sees it: batches, logs, refusals, conf, and schedules as files."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backfill_cases import TABLE_3, rules
from family_cases import composed, opened_on, refused
from reference_schedules import GENERATED, generated_starts

from benchmarks import against_simpy
from models.backfill import FAMILY
from models.backfill.engine import schedule
from models.backfill.policies import rules_of
from models.jobs import machine as machines
from models.jobs import swf
from models.jobs.swf_schedule import write_schedule
from models.point import Batches, Point
from models.workloads import synthetic
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.plan import checks
from sweep.plan.expansion import expand

EASY = composed("policy", "easy")
LOG = {"name": "swf", "model": "swf", "path": str(GENERATED), "oversized": "drop"}
AS_LOG: dict[str, Any] = {"name": "log", "processors": None}
STREAM = composed("workload", "synthetic", largest_job=64, runtime_spread=1.0, overestimate=3, memory_mb=150)
HOSTS = {
    "name": "two",
    "hosts": [
        {"name": "a", "processors": 128, "memory_gb": 32},
        {"name": "b", "processors": 64, "memory_gb": None},
    ],
    "spans": False,
}


def write_log(path: Path, **columns: list[float]) -> dict[str, Any]:
    base = {"submit": [0, 5], "runtime": [10, 20], "processors": [2, 4], "requested_time": [10, 30]}
    swf.write(path, {n: np.array(v) for n, v in (base | columns).items()}, {"MaxProcs": ["8"]})
    return LOG | {"path": str(path)}


@pytest.mark.parametrize(
    ("policy", "workload", "machine", "load", "words"),
    [
        ({"discipline": "greedy"}, LOG, AS_LOG, None, "allowed: fcfs, backfill, conservative, ncsa_lsf"),
        ({"ties": "random"}, LOG, AS_LOG, None, "policy.ties=random; allowed: instant, event"),
        ({"kill": 1}, LOG, AS_LOG, None, "policy.kill=1; allowed: true, false"),
        ({"reservations": -1}, LOG, AS_LOG, None, "a whole number from 0 on, or all"),
        ({"weights": {"luck": 1}}, LOG, AS_LOG, None, "policy.weights.luck is not known; allowed: wait,"),
        ({"weights": {"wait": "x"}}, LOG, AS_LOG, None, "policy.weights.wait=x"),
        ({}, LOG, {"processors": 0}, None, "machine.processors=0; allowed"),
        ({}, LOG, {"hosts": []}, None, "machine.hosts"),
        ({}, LOG, {"hosts": [{"processors": 4, "ram": 1}]}, None, "memory_gb may be null"),
        ({}, LOG, {"hosts": [{"processors": 4, "memory_gb": -1}]}, None, "memory_gb=-1"),
        ({}, LOG | {"oversized": "error"}, {"processors": 64}, None, "line 265 has a job of 128 processors"),
        ({}, {"model": "spmd"}, AS_LOG, None, "has no rigid jobs; those that do: arrays"),
        ({}, STREAM, AS_LOG, 0.5, "machine.processors=null takes the processors from a log's header"),
        ({}, STREAM, HOSTS, None, "give one, for instance grid.load=[0.8]"),
        ({}, STREAM | {"largest_job": 129}, HOSTS, 0.5, "the largest host has 128"),
        ({}, STREAM | {"overestimate": 0.5}, HOSTS, 0.5, "workload.overestimate=0.5; allowed: 1 to"),
    ],
)
def test_refusals(policy, workload, machine, load, words: str) -> None:
    with refused(re.escape(words)):
        FAMILY.check(Point(EASY | policy, workload, machine, load))


def test_jobs_without_a_request(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf", requested_time=[-1, 30])
    with pytest.raises(ValueError, match=r"1 of 2 jobs has no requested time.*policy.unrequested=runtime"):
        FAMILY.check(Point(EASY, log, AS_LOG))
    notes = FAMILY.check(Point(EASY | {"unrequested": "runtime"}, log, AS_LOG))
    assert any("1 job has no requested time: the runtime is used for" in note for note in notes)
    assert FAMILY.check(Point(composed("policy", "fcfs"), log, AS_LOG))


def test_jobs_beyond_their_request(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf", requested_time=[10, 15])
    assert "1 job runs longer than requested: killed" in FAMILY.check(Point(EASY, log, AS_LOG))[-1]
    lenient = {"kill": False}
    assert "which is allowed" in FAMILY.check(Point(EASY | lenient, log, AS_LOG))[-1]
    refused = r"^a\.swf: 1 of 2 jobs runs longer .* no start can be reserved; .*policy\.kill=true"
    with pytest.raises(ValueError, match=refused + "$"):
        FAMILY.check(Point(composed("policy", "conservative", **lenient), log, AS_LOG))
    drawn = composed("workload", "_rigid") | log
    other = ", or workload.estimates=exact workload.estimates_for=all$"
    with pytest.raises(ValueError, match=refused + other):
        FAMILY.check(Point(composed("policy", "conservative", **lenient), drawn, AS_LOG))
    exact = composed("workload", "_rigid", estimates="exact", estimates_for="all") | log
    FAMILY.check(Point(composed("policy", "conservative", **lenient), exact, AS_LOG))


def test_a_schedule_is_a_log_that_other_tools_read(tmp_path: Path) -> None:
    opened = opened_on(LOG, AS_LOG)
    made = schedule(opened.jobs, opened.machine, rules("easy"))
    write_schedule(tmp_path / "easy.swf.gz", replace(made, trace=opened), ["EASY, ties instant"])
    back, log = swf.read(tmp_path / "easy.swf.gz"), opened.log
    starts = back.columns["submit"] + back.columns["wait"]
    np.testing.assert_array_equal(starts, generated_starts())
    for name in ("job", "submit", "runtime", "processors", "requested_time", "user"):
        np.testing.assert_array_equal(back.columns[name], log.columns[name])
    assert (back.columns["status"] == log.columns["status"]).all()
    assert back.max_processors == 128
    assert "EASY, ties instant" in back.header["Note"]
    assert not back.notes


def test_policies_of_conf_are_those_of_the_tests() -> None:
    names = [*TABLE_3, "conservative"]
    arguments = ["+experiment=replay", f"grid.policy=[{','.join(names)}]", f"workload.path={LOG['path']}"]
    study = expand(compose.load(parsed(arguments), locate.conf_folder()))
    for variant in study.variants["policy"]:
        assert rules_of(variant.parameters) == rules(variant.parameters["name"])
    assert checks.notes(study)


def test_the_simpy_script_of_the_benchmark_makes_the_same_schedule() -> None:
    jobs = synthetic.draw(STREAM, machines.pool(64), 0.9, 1500, (1,))
    expected = schedule(jobs, machines.pool(64), rules("easy"))
    assert np.count_nonzero(expected.wait) > 500
    np.testing.assert_allclose(against_simpy.starts(jobs, 64), expected.start, rtol=1e-9)


def test_one_processor_is_a_queue_of_pollaczek_and_khinchine() -> None:
    """M/G/1 in order of arrival: mean wait = load E[S^2] / (2 E[S] (1 - load))."""
    spread, load = 0.5, 0.6
    workload = STREAM | {"largest_job": None, "median_runtime": 1.0, "runtime_spread": spread}
    fcfs, batches = composed("policy", "fcfs"), Batches(5_000, 1, (20,))
    metrics = FAMILY.simulate(Point(fcfs, workload, {"processors": 1}, load, batches, (5,))).metrics
    means = metrics["wait"]
    expected = load * np.exp(2 * spread**2) / (2 * np.exp(spread**2 / 2) * (1 - load))
    assert abs(means.mean() - expected) < 4 * means.std(ddof=1) / np.sqrt(len(means))
    assert means.std() < 0.1 * expected
    assert metrics["utilization"].mean() == pytest.approx(load, rel=0.02)
