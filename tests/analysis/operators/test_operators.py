"""Operators' reports: means over jobs, verdicts from intervals, tables and pictures without a paper."""

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from fabricated import write
from fabricated_operators import dataset
from matplotlib.figure import Figure

from analysis import operators
from analysis.command import main
from analysis.operators import tables
from analysis.operators.case import Case, cases
from analysis.operators.labels import WAIT
from analysis.study import Study
from analysis.study.axes import RUNTIME, SIZE, USER
from sweep import statistics


def case_of(**settings: object) -> Case:
    (case,) = cases(Study(dataset(**settings), Path("results")))  # type: ignore[arg-type]
    return case


def test_a_mean_is_one_over_jobs_however_they_fall_into_batches() -> None:
    random = np.random.default_rng(3)
    batch, wait = random.integers(0, 40, 500), random.exponential(1.0, 500)
    number = np.bincount(batch, minlength=40)
    means = np.where(number > 0, np.bincount(batch, wait, 40) / np.maximum(number, 1), np.nan)
    jobs = number[None].astype(float)
    found = statistics.interval(means[None], weight=jobs)
    assert found.mean == pytest.approx(wait.mean(), rel=1e-12)
    gained = statistics.compare(means[None] + 2.0, means[None], weights=(jobs, jobs))
    assert gained.mean == pytest.approx(2.0)
    assert gained.reference == pytest.approx(wait.mean())


def test_a_batch_that_one_policy_lacks_counts_for_neither() -> None:
    first, second = np.full((1, 12), 3.0), np.full((1, 12), 5.0)
    first[0, 0], second[0, 1] = np.nan, np.nan
    first[0, 2] = 0.0  # of a batch without a job of the group
    jobs = np.ones((1, 12))
    jobs[0, 2] = 0.0
    found = statistics.compare(first, second, weights=(jobs, jobs))
    assert (found.mean, found.lower) == (-2.0, 9)


def test_verdicts_match_the_truth() -> None:
    case = case_of()
    assert case.reference == "easy"
    found = {policy: case.difference(WAIT, policy).verdict for policy in case.others}
    assert found == {"fcfs": "worse", "copy": "identical", "quick": "better", "slow": "worse"}
    by_runtime = case.differences(WAIT, "quick", RUNTIME)
    assert [by_runtime[group].verdict for group in by_runtime] == ["better", "better", "worse"]
    medium = by_runtime[RUNTIME.of("10 to 100 min")]
    assert medium.mean == pytest.approx(0.6 * medium.reference, rel=0.1)
    assert case.differences(WAIT, "slow", SIZE)[SIZE.of("17 to 64")].verdict == "worse"
    assert [case.label_of(group) for group in case.groups(USER)] == ["user 17", "user 4", "others"]
    shares = [case.share_of_work(group) for group in case.groups(USER)]
    assert sum(shares) == pytest.approx(1.0)


def test_the_machine_is_averaged_over_time() -> None:
    data = dataset(("easy", "quick"))
    lasts = xr.full_like(data["utilization"], 3600.0)
    lasts[..., 0] = 36_000.0
    lasts.attrs = {}
    data["utilization"][..., 0] = 0.1
    (case,) = cases(Study(data.assign(period=lasts), Path("results")))
    values = case.values("utilization", "easy")
    known = ~np.isnan(values)
    expected = np.average(values[known], weights=lasts.values[0, 0, 0, 0, 0][known])
    assert case.mean("utilization", "easy").mean == pytest.approx(expected)
    assert case.difference("utilization", "quick").reference == pytest.approx(expected)


def test_one_batch_has_differences_but_no_verdicts() -> None:
    study = Study(dataset(batches=1, most=1, name="replay"), Path("results"))
    assert study.settings["name"] == "replay"
    found = {table.name: table for table in tables.tables(study)}
    assert "winners" not in found
    assert "All jobs are one batch" in found["against"].caption
    verdicts = {row[1].note for row in found["against"].rows}
    assert verdicts == {"no interval", "identical"}
    assert all(isinstance(picture.draw(), Figure) for picture in operators.PAPER.pictures(study, None))
    assert not any("better" in line or "±" in line for line in tables.brief(study))


@pytest.mark.exhaustive
def test_a_report_without_a_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write(tmp_path, dataset(("easy", "quick", "slow")))
    assert main([str(results)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("what_if: points: 3 done; paper: operators")
    assert re.search(r"^quick +\d.* min .*−\d+ % \(−\d+ to −\d+ %\), better +40 of 40$", said, re.MULTILINE)
    assert "Nothing to change: every policy that is shown to be better breaks a limit" in said
    assert not (results / "claims.json").exists()
    text = (results / "report.html").read_text()
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links <= set(re.findall(r'id="([^"]+)"', text))
    assert "user 17" in text
    assert "Reading of the paper" not in text
    assert len(list((results / "figures").glob("*.png"))) == 9
