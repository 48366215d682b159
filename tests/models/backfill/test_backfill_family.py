"""The family as the sweep sees it: batches, logs, refusals, conf, and schedules as files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backfill_cases import TABLE_3, rules
from models.backfill.engines import schedule
from test_backfill_references import DATA, starts_of

from benchmarks import simpy_easy
from models import backfill
from models.backfill import model
from models.backfill.rules import Rules
from models.jobs import machine as machines
from models.jobs import swf
from models.jobs.swf_schedule import write_schedule
from models.point import Batches
from models.workloads import synthetic
from models.workloads.swf_log import open_source
from sweep import cli
from sweep.config import compose, locate
from sweep.plan import plan

EASY = {"name": "easy", "discipline": "backfill"}
LOG = {"name": "swf", "model": "swf", "path": str(DATA / "syn1k.swf.gz"), "oversized": "drop"}
AS_LOG = {"name": "log", "n_pes": None}
STREAM = {
    "name": "synthetic", "model": "synthetic", "largest_job": 64, "median_runtime": 755,
    "runtime_spread": 1.0, "overestimate": 3, "memory_mb": 150,
}  # fmt: skip
HOSTS = {
    "name": "two",
    "hosts": [
        {"name": "a", "processors": 128, "memory_gb": 32},
        {"name": "b", "processors": 64, "memory_gb": None},
    ],
}
WHOLE = Batches(10**9, 0, (1,))


def write_log(path: Path, **columns: list[float]) -> dict[str, Any]:
    base = {"submit": [0, 5], "runtime": [10, 20], "processors": [2, 4], "requested_time": [10, 30]}
    swf.write(path, {n: np.array(v) for n, v in (base | columns).items()}, {"MaxProcs": ["8"]})
    return LOG | {"path": str(path)}


def test_a_log_is_one_batch_or_full_ones() -> None:
    reference = starts_of(DATA / "ref_easy_batch_1k.csv.gz")
    log = swf.read(LOG["path"])
    waits = reference - log.columns["submit"]
    whole = backfill.simulate(EASY, LOG, AS_LOG, None, WHOLE, (1, 2, 0))
    assert whole.metrics["wait"].shape[0] == 1
    assert whole.metrics["wait"][0, 0] == pytest.approx(waits.mean())
    assert whole.metrics["wait_p95"][0, 0] == pytest.approx(np.percentile(waits, 95))
    assert whole.metrics["jobs"][0, 1:].sum() == whole.metrics["jobs"][0, 0] == 1000
    parts = backfill.simulate(EASY, LOG, AS_LOG, None, Batches(300, 1, (1, 2, 5)), (1, 2, 0))
    expected = [waits[300:600].mean(), waits[600:900].mean()]
    np.testing.assert_allclose(parts.metrics["wait"][:, 0], expected)
    assert parts.jobs == whole.jobs == 1000
    more = backfill.simulate(EASY, LOG, AS_LOG, None, Batches(300, 1, (5,)), (1, 2, 0))
    np.testing.assert_array_equal(more.metrics["wait"], parts.metrics["wait"])


def test_batches_of_a_stream_do_not_depend_on_how_many_follow() -> None:
    short, long = (
        backfill.simulate(EASY, STREAM, HOSTS, 0.8, Batches(500, 1, (look,)), (3,)) for look in (4, 8)
    )
    for name, values in short.metrics.items():
        np.testing.assert_allclose(values, long.metrics[name][:4], err_msg=name)


def test_the_stopping_rule_is_asked_at_looks_and_about_known_ranges_only() -> None:
    asked = []

    def enough(metrics) -> bool:
        asked.append(len(metrics["wait"]))
        assert np.isfinite(metrics["wait"]).all()
        return len(asked) == 2

    outcome = backfill.simulate(EASY, STREAM, HOSTS, 0.5, Batches(300, 1, (2, 4, 8), enough), (3,))
    assert asked == [2, 4]
    assert len(outcome.metrics["wait"]) == 4


def test_an_overloaded_machine_is_saturated() -> None:
    assert backfill.simulate(EASY, STREAM, HOSTS, 1.5, Batches(500, 1, (12,)), (1,)).saturated
    assert not backfill.simulate(EASY, STREAM, HOSTS, 0.5, Batches(500, 1, (12,)), (1,)).saturated


def test_a_load_stretches_a_log() -> None:
    natural = open_source(LOG, AS_LOG, None, ()).jobs
    work = natural.size @ natural.runtime
    dense = open_source(LOG, AS_LOG, 0.9, ()).jobs
    assert work / (128 * dense.submit[-1]) == pytest.approx(0.9)
    np.testing.assert_array_equal(dense.runtime, natural.runtime)


@pytest.mark.parametrize(
    ("policy", "workload", "machine", "load", "words"),
    [
        ({"discipline": "greedy"}, LOG, AS_LOG, None, "allowed: fcfs, backfill, conservative, ncsa_lsf"),
        ({"ties": "random"}, LOG, AS_LOG, None, "policy.ties=random; allowed: instant, event"),
        ({"kill": 1}, LOG, AS_LOG, None, "policy.kill=1; allowed: true, false"),
        ({"reservations": -1}, LOG, AS_LOG, None, "a whole number from 0 on, or all"),
        ({"weights": {"luck": 1}}, LOG, AS_LOG, None, "numbers for wait, expansion"),
        ({"weights": {"wait": "x"}}, LOG, AS_LOG, None, "policy.weights.wait=x"),
        ({"bound": 0}, LOG, AS_LOG, None, "policy.bound=0; allowed: a positive number"),
        ({}, LOG, {"n_pes": 0}, None, "machine.n_pes=0; allowed"),
        ({}, LOG, {"hosts": []}, None, "machine.hosts"),
        ({}, LOG, {"hosts": [{"processors": 4, "ram": 1}]}, None, "memory_gb may be null"),
        ({}, LOG, {"hosts": [{"processors": 4, "memory_gb": -1}]}, None, "memory_gb=-1"),
        ({}, LOG | {"oversized": "error"}, {"n_pes": 64}, None, "line 265 has a job of 128 processors"),
        ({}, {"model": "feitelson1996"}, AS_LOG, None, "models.backfill takes swf, sacct, synthetic"),
        ({}, STREAM, AS_LOG, 0.5, "machine.n_pes=null takes the processors from a log's header"),
        ({}, STREAM, HOSTS, None, "give one, for instance grid.load=[0.8]"),
        ({}, STREAM | {"largest_job": 129}, HOSTS, 0.5, "the largest host has 128"),
        ({}, STREAM | {"overestimate": 0.5}, HOSTS, 0.5, "workload.overestimate=0.5; allowed: 1 to"),
    ],
)
def test_refusals(policy, workload, machine, load, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        backfill.check(EASY | policy, workload, machine, load)
    assert "\n" not in str(caught.value)


def test_jobs_without_a_request(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf", requested_time=[-1, 30])
    with pytest.raises(ValueError, match=r"1 of 2 jobs have no requested time.*policy.unrequested=runtime"):
        backfill.check(EASY, log, AS_LOG, None)
    notes = backfill.check(EASY | {"unrequested": "runtime"}, log, AS_LOG, None)
    assert any("1 jobs have no requested time, judged by the actual one" in note for note in notes)
    assert backfill.check({"discipline": "fcfs"}, log, AS_LOG, None)


def test_jobs_beyond_their_request(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.swf", requested_time=[10, 15])
    assert "1 jobs run longer than requested, killed" in backfill.check(EASY, log, AS_LOG, None)[-1]
    lenient = {"kill": False}
    assert "and may" in backfill.check(EASY | lenient, log, AS_LOG, None)[-1]
    with pytest.raises(ValueError, match=r"no start could be promised.*policy.kill=true"):
        backfill.check({"discipline": "conservative"} | lenient, log, AS_LOG, None)


def test_memory_of_a_log(tmp_path: Path) -> None:
    """Requested, else used, else none; in KB for each processor."""
    gb = machines.KB_IN_GB
    log = write_log(
        tmp_path / "a.swf",
        submit=[0, 1, 2, 3], runtime=[5] * 4, processors=[2] * 4, requested_time=[9] * 4,
        requested_memory=[gb, -1, -1, 100 * gb], memory=[1, 3, -1, -1],
    )  # fmt: skip
    opened = open_source(log, HOSTS | {"hosts": HOSTS["hosts"][:1]}, None, ())
    assert opened.jobs.memory.tolist() == [2 * gb, 6, 0]
    told = "\n".join(opened.notes)
    assert "1 jobs without requested memory take what they used" in told
    assert "1 jobs whose memory is unknown take none" in told
    assert "1 more dropped, whose memory no host has" in told
    with pytest.raises(ValueError, match=r"line 5 asks for 2 processors .* workload.oversized=drop"):
        open_source(log | {"oversized": "error"}, HOSTS | {"hosts": HOSTS["hosts"][:1]}, None, ())
    assert len(open_source(log, HOSTS, None, ()).jobs) == 4  # the second host limits nothing


def test_a_schedule_is_a_log_that_other_tools_read(tmp_path: Path) -> None:
    opened = open_source(LOG, AS_LOG, None, ())
    made = schedule(opened.jobs, opened.machine, rules("easy"))
    write_schedule(tmp_path / "easy.swf.gz", made, opened, ["EASY, ties instant"])
    back, log = swf.read(tmp_path / "easy.swf.gz"), opened.log
    starts = back.columns["submit"] + back.columns["wait"]
    np.testing.assert_array_equal(starts, starts_of(DATA / "ref_easy_batch_1k.csv.gz"))
    for name in ("job", "submit", "runtime", "processors", "requested_time", "user"):
        np.testing.assert_array_equal(back.columns[name], log.columns[name])
    assert back.max_processors == 128
    assert "EASY, ties instant" in back.header["Note"]
    assert not back.notes


def test_a_schedule_on_hosts_names_them(tmp_path: Path) -> None:
    hosts = machines.of(HOSTS)
    made = schedule(synthetic.draw(STREAM, hosts, 0.9, 200, (1,)), hosts, rules("lxf_w_backfill"))
    write_schedule(tmp_path / "a.swf", made)
    back = swf.read(tmp_path / "a.swf")
    np.testing.assert_array_equal(back.columns["partition"], made.host + 1)
    np.testing.assert_allclose(back.columns["submit"] + back.columns["wait"], made.start)
    np.testing.assert_allclose(
        back.columns["requested_memory"] * back.columns["processors"], made.jobs.memory
    )


def test_export_writes_what_was_simulated(tmp_path: Path) -> None:
    batches = Batches(100, 1, (3,))
    for workload, machine, load in ((LOG, AS_LOG, 1.1), (STREAM, HOSTS, 0.9)):
        arguments = (EASY, workload, machine, load, batches, (1,))
        outcome = backfill.simulate(*arguments)
        model.export(*arguments, tmp_path / "a.swf.gz")
        back = swf.read(tmp_path / "a.swf.gz")
        waits = back.columns["wait"][100:400].reshape(3, 100).mean(axis=1)
        np.testing.assert_allclose(outcome.metrics["wait"][:, 0], waits)
        assert back.n_jobs == outcome.jobs
        assert any("ties='instant'" in note for note in back.header["Note"])


def test_policies_of_conf_are_those_of_the_tests() -> None:
    names = [*TABLE_3, "conservative"]
    arguments = ["+experiment=replay", f"grid.policy=[{','.join(names)}]", f"workload.path={LOG['path']}"]
    study = plan.expand(compose.load(arguments, locate.conf_folder()))
    for variant in study.variants["policy"]:
        assert Rules.of(variant.parameters) == rules(variant.parameters["name"])
    assert study.check()


def test_replay_from_the_command_line(tmp_path: Path) -> None:
    command = [
        "+experiment=replay", f"workload.path={LOG['path']}", "grid.policy=[easy]",
        "grid.ties=[instant]", "executor=serial", f"output={tmp_path}",
    ]  # fmt: skip
    assert cli.main(command) == 0
    from netCDF4 import Dataset

    with Dataset(tmp_path / "replay.nc") as stored:
        mean = float(stored["wait_mean"][...].flat[0])
        assert stored["wait"].dimensions[-1] == "runtime_range"
    expected = starts_of(DATA / "ref_easy_batch_1k.csv.gz") - swf.read(LOG["path"]).columns["submit"]
    assert mean == pytest.approx(expected.mean())


def test_the_simpy_script_of_the_benchmark_makes_the_same_schedule() -> None:
    jobs = synthetic.draw(STREAM, machines.pool(64), 0.9, 1500, (1,))
    expected = schedule(jobs, machines.pool(64), rules("easy"))
    assert np.count_nonzero(expected.wait) > 500
    np.testing.assert_allclose(simpy_easy.starts(jobs, 64), expected.start, rtol=1e-9)
