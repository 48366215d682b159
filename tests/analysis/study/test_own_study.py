"""A study that belongs to no paper: its figures, comparisons, tables and excluded points."""

import csv
import io
import math
from functools import cache
from pathlib import Path

import fabricated_operators
import pytest
import xarray as xr
from fabricated import EXCLUDED, write
from matplotlib.figure import Figure
from scipy import stats

import sweep
from analysis.command import main
from analysis.compare import figures, tables
from analysis.compare.layout import Layout
from analysis.figures import style
from analysis.registry import opened
from analysis.study import Study
from sweep.store.loading import loaded

SMALL = {"batches": 3, "batch_size": 60, "warmup": 0, "executor": "serial"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three policies of two families at three loads, with requested times as they are and as users ask."""
    folder = tmp_path_factory.mktemp("own")
    conf = folder / "conf" / "experiment"
    conf.mkdir(parents=True)
    (conf / "mine.yaml").write_text(
        """\
# @package _global_
name: mine
grid:
  policy: [fcfs, easy, buddy]
  workload: [lublin2003]
  load: [0.3, 0.5, 0.7]
  machine: [pe128]
axes: {requests: workload.estimates}
values:
  requests: {exact: exact, as users ask: tsafrir2005}
exclude:
  - {load: 0.7, requests: as users ask}
measures: {groups: [runtime]}
"""
    )
    study = sweep.Study("mine", config_dir=folder / "conf", output=str(folder / "mine"), **SMALL)
    study.run(progress=False)
    return study.folder


@pytest.fixture(scope="module")
def analysed(own: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its analysis."""
    output = tmp_path_factory.mktemp("analysed")
    metrics = "wait,response_time,slots_per_job,wait_by_runtime"
    assert main([str(own), f"output={output}", f"metrics={metrics}"]) == 0
    return output


@cache
def view(own: Path, **chosen: str) -> Study:
    """Return the study as it is drawn, opened once; no test changes it."""
    return opened(own, chosen=chosen)[0]


def drawn(study: Study, name: str) -> Figure:
    """Return one of its figures."""
    with style.styled():
        return next(picture for picture in figures.pictures(study) if picture.name == name).draw()


def rows(folder: Path) -> list[dict[str, str]]:
    """Return the numbers that were written."""
    return list(csv.DictReader(io.StringIO((folder / "table.csv").read_text())))


def test_the_numbers_are_those_of_the_dataset(own: Path, analysed: Path) -> None:
    data = loaded(own / "mine.nc")
    found = rows(analysed)
    waits = [row for row in found if row["metric"] == "wait"]
    assert len(waits) == 3 * (3 + 2), "a row for each line at each point that the grid has"
    for row in waits:
        at = {"policy": row["policy"], "load": float(row["load"]), "requests": row["requests"]}
        if row["status"] == "done":
            for column, name in (("mean", "wait_mean"), ("half_width", "wait_ci")):
                stored = data[name].sel(at).squeeze().item()
                assert float(row[column]) == pytest.approx(stored), (at, column)
    grouped = [row for row in found if row["metric"] == "wait_by_runtime" and row["mean"]]
    assert {row["runtime_range"] for row in grouped} <= set(data.runtime_range.values)
    for row in grouped:
        at = {name: row[name] for name in ("policy", "requests", "runtime_range")}
        stored = data.wait_by_runtime_mean.sel(at | {"load": float(row["load"])}).squeeze().item()
        assert float(row["mean"]) == pytest.approx(stored)


@pytest.mark.parametrize("reference", ["easy", "fcfs"])
def test_differences_are_paired_by_replication(own: Path, reference: str) -> None:
    """Student's t of the log ratio of the replications' means, weighed by jobs, computed here once more."""
    data = loaded(own / "mine.nc").squeeze(["workload", "machine"])
    table = tables.numbers(view(own, reference=reference, metrics="wait"))
    assert set(table.reference) == {reference}
    runs = (data.wait * data.jobs).sum("batch") / data.jobs.sum("batch")
    judged = 0
    for row in table.itertuples():
        at = {"load": float(row.load), "requests": row.requests}
        mine, other = (runs.sel(at).sel(policy=policy) for policy in (row.policy, reference))
        if math.isnan(row.difference):
            continue
        judged += 1
        first, second = float(mine.mean()), float(other.mean())
        assert row.difference == pytest.approx(first - second, abs=1e-6)
        if not min(first, second) > 0:
            continue
        wide = stats.t.ppf(0.975, 4) * stats.sem((mine / first - other / second).values)
        for end, sign in ((row.difference_low, -1), (row.difference_high, 1)):
            assert end == pytest.approx(first * math.exp(sign * wide) - second, rel=1e-3, abs=1e-6)
    assert judged >= 9


def test_choosing_values_of_axes(own: Path) -> None:
    study = view(own, load="0.5", requests="exact", policy="[easy,buddy]")
    layout = Layout.of(study)
    assert layout.names == ["easy", "buddy"]
    assert layout.along == "", "one load is not an axis"
    assert layout.facets == ()
    figure = drawn(study, "wait_by_runtime")
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert "under 1 min" in ticks, "groups are the categories"
    figure = drawn(study, "response_time")
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["EASY", "Buddy"]


def test_operators_choose_the_reference(tmp_path: Path) -> None:
    from analysis.operators.case import cases

    results = write(tmp_path, fabricated_operators.dataset())
    chosen = [next(cases(opened(results, chosen={"reference": name})[0])) for name in ("quick", "slow")]
    assert [case.reference for case in chosen] == ["quick", "slow"]
    there, back = chosen[0].difference("delay", "slow"), chosen[1].difference("delay", "quick")
    assert there.mean == pytest.approx(-back.mean)


def test_saturated_points_are_marked_and_in_no_mean(tmp_path: Path) -> None:
    data = fabricated_operators.dataset(("easy", "quick"), name="mine", batches=12)
    data["saturated"][{"policy": 1}] = True
    study = opened(write(tmp_path, data))[0]
    figure = drawn(study, "wait")
    assert "at the upper edge: saturated" in [text.get_text() for text in figure.legends[0].get_texts()]
    table = tables.numbers(study)
    quick = table[(table.policy == "quick") & (table.metric == "wait")].iloc[0]
    assert quick.status == "saturated"
    assert math.isnan(quick["mean"])
    assert math.isnan(quick.difference)


def test_workloads_are_no_pairs(tmp_path: Path) -> None:
    data = fabricated_operators.dataset(("easy",), ties=("a", "b"), name="mine", batches=12)
    data = data.isel(workload=0, drop=True).rename(ties="workload").transpose("policy", "workload", ...)
    study = opened(write(tmp_path, data))[0]
    assert Layout.of(study).lines == "workload"
    assert not Layout.of(study).compared
    assert not any(picture.name.endswith("against-reference") for picture in figures.pictures(study))


def test_axes_that_zip_ties_together_are_no_axis_of_numbers(tmp_path: Path) -> None:
    data = fabricated_operators.dataset(("easy", "quick"), ties=("a", "b"), name="mine", batches=12)
    data = xr.concat([data, data], "load").assign_coords(load=[0.5, 0.7])
    data["state"] = data.state.copy()
    data["state"][{"load": 0, "ties": 1}] = EXCLUDED
    data["state"][{"load": 1, "ties": 0}] = EXCLUDED
    study = opened(write(tmp_path, data.transpose("policy", "workload", "load", ...)))[0]
    assert Layout.of(study).along == ""
    assert Layout.of(study).facets == ("load", "ties")
