"""Every report begins with its facts and a summary, from the dataset alone; no table loses a column."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from analysis.operators import tables
from analysis.operators.case import cases
from analysis.operators.labels import AS_IT_WAS, WAIT
from analysis.paper import Paper
from analysis.registry import opened
from analysis.report.facts import NO_WAITS, facts
from analysis.report.summary import ranked, summary
from analysis.study import Study
from analysis.study.axes import ALL_JOBS, RUNTIME, SIZE
from models.jobs.swf import write
from sweep import cli
from sweep.store.loading import loaded

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs on 128 processors; it records no waits."""

POLICIES = "grid.policy=[easy,fcfs]"


def run(folder: Path, log: Path, *arguments: str) -> Path:
    """Run the what-if study of a log; return the results folder."""
    results = folder / "what_if"
    asked = ["+experiment=what_if", "workload=swf", f"workload.path={log}", f"output={results}", POLICIES]
    few = "measures.groups=[runtime,fifth,size]"
    assert cli.main([*asked, few, "executor=serial", "batches=10", *arguments]) == 0
    return results


@pytest.fixture(scope="module")
def as_easy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a site that runs EASY: the waits of its log come from this simulator's own schedule."""
    folder = tmp_path_factory.mktemp("site")
    log = folder / "site.swf"
    asked = ["+experiment=replay", f"workload.path={LOG}", "grid.policy=[easy]", "policy.unrequested=runtime"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert (
            cli.main(
                [
                    *asked,
                    "executor=serial",
                    f"schedule={log}",
                    "measures.groups=[]",
                    f"output={folder / 'first'}",
                ]
            )
            == 0
        )
        return run(folder, log, "policy.unrequested=runtime")


@pytest.fixture(scope="module")
def without_waits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("waitless")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return run(folder, LOG, "policy.unrequested=runtime")


def shown(study: Study) -> dict[str, str]:
    return {label: " ".join(lines) for label, lines in facts(study)}


def paragraphs(study: Study, paper: Paper) -> dict[str, str]:
    return {title: " ".join(sentences) for title, sentences in summary(study, paper)}


def test_what_a_site_recorded_is_what_its_own_policy_gives(as_easy: Path) -> None:
    """The log is EASY's schedule: under EASY all measures of all groups are those that it recorded."""
    data = loaded(as_easy / "what_if.nc").squeeze(drop=True)
    names = [str(name) for name in data if str(name).startswith("recorded_")]
    assert {"recorded_wait", "recorded_delay_p95", "recorded_wait_by_size", "recorded_utilization"} <= set(
        names
    )
    for name in names:
        own = data[name.removeprefix("recorded_")].sel(policy="easy")
        # Times in the file are rounded to nothing, but a sum of two numbers may end in another digit.
        np.testing.assert_allclose(data[name].values, own.values, rtol=1e-9, atol=1e-6, err_msg=name)


def test_the_reference_looks_like_a_site_that_runs_it(as_easy: Path) -> None:
    study, paper = opened(as_easy)
    (case,) = cases(study)
    for group in (ALL_JOBS, *case.groups(RUNTIME), *case.groups(SIZE)):
        mine = case.mean(WAIT, "easy", group).mean
        assert case.recorded(WAIT, group).mean == pytest.approx(mine, rel=1e-9)
    assert "EASY matches this site" in paragraphs(study, paper)["Does EASY match this site?"]
    overview = next(table for table in tables.tables(study) if table.name == "overview")
    assert [row[0].text for row in overview.rows] == [AS_IT_WAS, "EASY (reference)", "FCFS"]
    assert [cell.text for cell in overview.rows[0]][1:] == [cell.text for cell in overview.rows[1]][1:]
    assert any(line.startswith(AS_IT_WAS) for line in tables.brief(study))
    by_size = next(table for table in tables.tables(study) if table.name == "by-fifth")
    column = list(by_size.columns).index(AS_IT_WAS)
    assert all(row[column].text == row[column + 1].text for row in by_size.rows)


def test_facts_of_a_log(as_easy: Path) -> None:
    found = shown(opened(as_easy)[0])
    assert list(found) == ["Log", "Period", "Jobs", "Machine", "Load", "As recorded", "Assumed", "Set", "Run"]
    assert found["Log"] == "site.swf (Standard Workload Format), synthetic."
    assert found["Jobs"].startswith("1,000 rows, 1,000 kept; dropped nothing")
    assert found["Machine"] == "128 processors."
    assert found["Load"] == "Not rescaled, 0.802."
    assert found["As recorded"].startswith("Mean wait ")
    assert "workload swf is deterministic" in found["Assumed"]
    assert found["Set"] == "policy.unrequested=runtime"
    assert "2 points of 2 policies: all done." in found["Run"]
    assert "up to 10 batches, each a week of the log" in found["Run"]


@pytest.mark.exhaustive
def test_dropped_killed_and_drawn_jobs_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    log = tmp_path / "mixed.swf"
    columns = {
        "submit": np.arange(200) * 100,
        "wait": np.where(np.arange(200) < 150, 60, -1),
        "runtime": np.full(200, 600),
        "processors": np.where(np.arange(200) < 3, 80, 4),
        # Of those that are small enough 47 ask for too little, and 60 for nothing.
        "requested_time": np.select([np.arange(200) < 60, np.arange(200) < 120], [300, -1], 900),
    }
    columns["requested_time"][3:13] = 900
    write(log, columns, {"MaxProcs": ["64"]})
    drawn = ["workload.estimates=tsafrir2005", "workload.longest_request=86400", "replications=2"]
    results = run(tmp_path, log, *drawn)
    study, paper = opened(results)
    found = shown(study)
    assert found["Jobs"] == "200 rows, 197 kept; dropped 3 larger than 64 processors (oversized=drop)."
    assert found["As recorded"].startswith("Mean wait 60.0 s, 95th percentile 60.0 s")
    assert found["As recorded"].endswith("over the 147 jobs whose wait it records.")
    assert "60 requested times are drawn (tsafrir2005), at most 86,400 s." in found["Assumed"]
    assert "47 jobs run longer than requested: killed at the request (policy.kill=true)." in found["Assumed"]
    assert "workload.estimates=tsafrir2005" in found["Set"]
    assert "2 replications of each point" in found["Run"]
    assert "on assumptions and the run" in paragraphs(study, paper)["What to be careful of"]


def test_a_log_without_waits_is_reported(without_waits: Path) -> None:
    study, paper = opened(without_waits)
    assert shown(study)["As recorded"][1:] == NO_WAITS[1:] + "."
    assert NO_WAITS[1:] in paragraphs(study, paper)["What to be careful of"]
    assert not [name for name in study.data if str(name).startswith("recorded_")]
    assert AS_IT_WAS not in "\n".join(tables.brief(study))


def test_recorded_values_belong_to_the_logs_own_load(as_easy: Path, tmp_path: Path) -> None:
    study, _ = opened(as_easy)
    denser = study.data.assign_coords(load=[0.9]) if "load" in study.data.dims else study.data
    other = Study(denser, tmp_path)
    (case,) = cases(other)
    assert not case.has_record
    assert AS_IT_WAS not in "\n".join(tables.brief(other))
    assert shown(other)["As recorded"].startswith("Mean wait ")  # a fact, whatever was run
    assert shown(other)["Load"] == "Rescaled to 0.9 (unscaled, 0.802)."


def levels(values: dict[str, list[float]], loads: list[float], saturated: dict[str, list[int]]) -> Study:
    """A study of means alone: policy -> its mean at each load."""
    shape = (len(values), 1, len(loads), 1)
    means = np.array(list(values.values())).reshape(shape)
    axes = ("policy", "workload", "load", "machine")
    lost = np.array([saturated.get(policy, [0] * len(loads)) for policy in values]).reshape(shape)
    data = xr.Dataset(
        {
            "wait": (
                (*axes, "replication", "batch"),
                means[..., None, None],
                {"units": "s", "long_name": "mean wait"},
            ),
            "wait_mean": (axes, np.where(lost, np.nan, means)),
            "state": ((*axes, "replication"), np.full((*shape, 1), "done")),
            "saturated": (axes, lost),
        },
        {"policy": list(values), "workload": ["model"], "load": loads, "machine": ["m"]},
        {"headline": "wait", "config": json.dumps({"settings": {"name": "own"}})},
    )
    return Study(data.isel(workload=0, machine=0), Path("results"))


def test_best_and_worst_policy_at_the_highest_load_with_enough_means() -> None:
    values = {"a": [3.0, 7200.0, 9.0], "b": [2.0, 600.0, 9.0], "c": [1.0, 1800.0, 9.0]}
    lost = {"a": [0, 0, 1], "b": [0, 0, 1], "c": [0, 0, 0]}
    (line,) = ranked(levels(values, [0.5, 0.8, 0.9], lost))
    assert line == "b has the lowest mean wait at load 0.8 with 10.0 min, a the highest with 120 min."
    lost["b"] = [0, 1, 1]
    (line,) = ranked(levels(values, [0.5, 0.8, 0.9], lost))
    assert line.startswith(
        "c has the lowest mean wait at load 0.8 with 30.0 min, a the highest with 120 min;"
    )
    assert line.endswith("saturated there: b.")
    assert not list(ranked(levels({"a": [1.0]}, [0.5], {})))
