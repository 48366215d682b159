"""The explorer without a web page: choices, points, commands, pictures, errors."""

import asyncio
import shlex
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from bokeh.models import LogColorMapper
from fabricated import dataset
from papers import KEYS
from papers import of as of_paper

import sweep
from analysis.command import main
from analysis.drawings import remaking
from analysis.errors import AnalysisError
from analysis.explorer import choice as chosen
from analysis.explorer import plot, points, rerun, server, views, words
from analysis.explorer.choice import Choice
from analysis.explorer.page import Page
from analysis.explorer.painter import Painter, SupersededError
from analysis.explorer.source import Source
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, SATURATED, UNFINISHED
from sweep import cli
from sweep.plan import families


@pytest.fixture(scope="module")
def study(results: Path) -> Study:
    """The packing study."""
    return Source(results).study


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two families, and axes that set keys of one of them: whole numbers, or none."""
    folder = tmp_path_factory.mktemp("mixed") / "families"
    grid = {
        "policy": "easy,buddy", "workload": "feitelson1996_seconds", "load": "0.7", "level": "null,2",
        "queue": "fcfs", "switch_cost": "0", "requests": "real", "speedup": "linear",
    }  # fmt: skip
    arguments = [f"grid.{axis}=[{values}]" for axis, values in grid.items()]
    size = ["replications=1", "batches=3", "batch_size=100", "executor=serial", f"output={folder}"]
    assert cli.main(["+experiment=families", *arguments, *size]) == 0
    return Source(folder).study


def of(study: Study, place: dict[str, str], name: str) -> float:
    """Return the value of the dataset at a point."""
    values = study.data[name]
    at = {axis: study.values_of(axis).index(value) for axis, value in place.items()}
    return float(values.isel({axis: i for axis, i in at.items() if axis in values.dims}))


def at(study: Study, choice: Choice, line: str, value: str) -> Any:
    """Return a point of the plot."""
    found = points.points(study, choice)
    return found[(found["line"] == line) & (found["value"] == value)].iloc[0]


@pytest.mark.parametrize("metric", ["slowdown", "response_time", "utilization"])
def test_points_are_the_datasets_own_numbers(study: Study, metric: str) -> None:
    found = points.points(study, replace(Choice.first(study), metric=metric))
    assert len(found) == 6
    for point in found.itertuples():
        assert point.mean == pytest.approx(of(study, point.place, f"{metric}_mean"), rel=1e-12, nan_ok=True)
        half = of(study, point.place, f"{metric}_ci")
        assert point.half_width == pytest.approx(half, rel=1e-9, nan_ok=True)
        bias = float(study.data.bias.isel(indices(study, point.place)))
        assert (point.status == SATURATED) == (point.value == "1.5")
        if point.value != "1.5":
            assert (point.replications_done, point.replications) == (5, 5)
            assert point.expected_bias == pytest.approx(bias, nan_ok=True)
            assert point.solid == np.isnan(bias) == (point.note == "")
        else:
            assert point.note.startswith("saturated")


def test_points_over_categories_are_moved_by_the_control_variate(tmp_path: Path) -> None:
    size = {"replications": 20, "batches": 4, "batch_size": 100, "warmup": 0}
    grid = {
        "policy": ["best_fit", "buddy"],
        "load": [0.8],
        "alternation": ["exclusive"],
        "unification": [True],
    }
    sweep.Study("packing", grid=grid, output=str(tmp_path), executor="serial", **size).run()
    study = Source(tmp_path).study
    found = points.points(study, Choice.first(study))
    assert list(found["value"]) == study.policies
    for point in found.itertuples():
        mean, half = (of(study, point.place, f"slowdown_{part}") for part in ("mean", "ci"))
        assert (point.mean, point.half_width) == (pytest.approx(mean), pytest.approx(half))
    moved = [abs(point.mean - plain_mean(study, point.place)) / point.mean for point in found.itertuples()]
    assert max(moved) > 0.01


def indices(study: Study, place: dict[str, str]) -> dict[str, int]:
    return {axis: study.values_of(axis).index(value) for axis, value in place.items()}


def plain_mean(study: Study, place: dict[str, str]) -> float:
    """Return a mean without the control variate, which cancels in pairs."""
    return float(study.data["slowdown"].isel(indices(study, place)).mean())


def test_ratios_are_paired_and_those_to_itself_are_one(study: Study) -> None:
    found = points.points(study, replace(Choice.first(study), reference="buddy"))
    for point in found[found["status"] == DONE].itertuples():
        below = plain_mean(study, {**point.place, "policy": "buddy"})
        assert point.mean == pytest.approx(plain_mean(study, point.place) / below, rel=1e-9)
        if point.line == "buddy":
            assert (point.mean, point.half_width) == (1.0, pytest.approx(0.0, abs=1e-12))
        else:  # the same jobs: less of the difference is random
            assert 0 < point.half_width < of(study, point.place, "slowdown_ci")


def test_a_load_near_the_capacity_is_undecided(study: Study) -> None:
    data = study.data.copy(deep=True)
    data["capacity"][:], data["capacity_se"][:], data["capacity_upper"][:] = 0.74, 0.01, 0.76
    found = points.points(replace(study, data=data), Choice.first(study))
    assert {*found["status"][found["value"] == "0.75"]} == {points.UNDECIDED}
    assert {*found["status"][found["value"] == "0.5"]} == {DONE}


def test_many_policies_and_loads_have_a_legend_and_short_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("command", "seeds"):  # a fabricated dataset has no config
        monkeypatch.setattr(rerun, name, lambda *_: "")
    found = of_paper(KEYS[0], dataset(loads=tuple(np.linspace(0.1, 0.75, 14).round(2).tolist())))
    first = chosen.normal(found, replace(Choice.first(found), shown=tuple(found.policies)))

    def drawn(**changed: Any) -> plot.Drawing:
        choice = chosen.normal(found, replace(first, **changed))
        return plot.drawn(found, choice, words.described(found, choice, points.points(found, choice)))

    (legend,) = drawn().figure.legend
    assert len(legend.items) == len(found.policies) == 8
    texts = drawn(kind=chosen.HEAT_MAP).points["text"]
    assert len(texts) == 8 * 14
    assert all(0 < len(text) < 6 for text in texts)
    scale = drawn(kind=chosen.HEAT_MAP, reference="best_fit").figure.select_one(LogColorMapper)
    assert scale.low * scale.high == pytest.approx(1.0), "1 is in the middle"


def test_parallel_coordinates_show_all_points_at_their_places(study: Study) -> None:
    choice = chosen.normal(study, replace(Choice.first(study), kind=chosen.PARALLEL))
    drawing = plot.drawn(study, choice, words.described(study, choice, points.points(study, choice)))
    frame, lines = drawing.points, drawing.targets.data["ys"]
    axes = chosen.axes(study, choice.metric)
    assert len(frame) == len(lines) == int((study.status != EXCLUDED).sum())
    heights = {}
    for line, point in zip(lines, frame.itertuples(), strict=True):
        ys = line.tolist()
        for axis, y in zip(axes, ys[:-1], strict=True):
            order = chosen.values(study, axis)
            assert y == pytest.approx(order.index(point.place[axis]) / (len(order) - 1) if order[1:] else 0.5)
        heights[point.Index] = ys[-1]
    means = frame["mean"].dropna().sort_values().index
    rising = [heights[index] for index in means]
    assert (rising[0], rising[-1]) == (0, 1)
    assert rising == sorted(rising)
    assert all(heights[index] > 1 for index in frame.index[frame["status"] == SATURATED])


def test_a_choice_follows_its_study(study: Study) -> None:
    asked = Choice("slowdown", "alternation", "alternation", {"load": "0.75"}, "easy", ("buddy",))
    found = chosen.normal(study, asked)
    assert (found.along, found.lines) == ("alternation", "policy")
    assert (dict(found.at), found.reference, found.shown) == ({"load": "0.75"}, "", ("buddy",))
    assert chosen.normal(study, found) == found
    gone = chosen.normal(study, Choice("nothing", "nowhere", "neither", {"load": "7"}, "", ("unknown",)))
    assert gone == chosen.normal(study, Choice.first(study))
    assert chosen.normal(study, replace(gone, at={"alternation": "none"})).at == {"alternation": "none"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("policy", "level"), [("easy", "null"), ("buddy", "2")])
def test_points_of_other_families_than_an_axis_is_for_run_again(
    policy: str, level: str, mixed: Study, tmp_path: Path
) -> None:
    choice = Choice("slowdown", "policy", "level", shown=("null", "2"))
    place = at(mixed, chosen.normal(mixed, choice), level, policy).place
    before = mixed.data.slowdown.isel(indices(mixed, place)).values.squeeze()
    point = remaking.point_of(mixed, place, replication=0)
    outcome = families.find(point.policy["family"]).simulate(point)
    np.testing.assert_array_equal(outcome.metrics["slowdown"], before)
    typed = shlex.split(rerun.command(mixed, place))[3:-1]
    assert cli.main([*typed, "executor=serial", f"output={tmp_path / 'families'}"]) == 0
    again = Source(tmp_path / "families").study
    assert again.tally()[DONE] == 1
    np.testing.assert_array_equal(again.data.slowdown.sel(policy=policy).values.squeeze(), before)


@pytest.mark.parametrize("alternation", ["exclusive", "none"])
def test_a_repeated_point_has_the_same_numbers(study: Study, alternation: str) -> None:
    place = {
        "policy": "buddy", "workload": "feitelson1996", "load": "0.5", "machine": "pe128",
        "alternation": alternation, "unification": "true",
    }  # fmt: skip
    point = remaking.point_of(study, place, replication=3)
    assert point.policy["alternation"] == alternation
    outcome = families.find(point.policy["family"]).simulate(point)
    before = study.data.slowdown.isel(indices(study, place) | {"replication": 3}).values
    np.testing.assert_array_equal(outcome.metrics["slowdown"], before)


@pytest.mark.exhaustive
def test_a_log_is_identified_by_its_content(tmp_path: Path) -> None:
    rows = [f"{n + 1} {60 * n} -1 {300 + n} 2 -1 -1 2 600 -1 1 1 1 -1 -1 -1 -1 -1" for n in range(50)]
    log = tmp_path / "small.swf"
    log.write_text("; MaxProcs: 8\n" + "\n".join(rows) + "\n")
    grid = {"policy": ["easy"], "ties": ["instant"]}
    sweep.Study(
        "replay", workload={"path": str(log)}, grid=grid, executor="serial", output=str(tmp_path / "out")
    ).run(progress=False)
    study = Source(tmp_path / "out").study
    place = points.points(study, Choice.first(study))["place"].iloc[0]
    point = remaking.point_of(study, place, 0, [tmp_path])
    assert views.drawn(views.Request("gantt", point)).startswith(b"\x89PNG")
    log.write_text(log.read_text() + rows[-1] + "\n")
    with pytest.raises(AnalysisError, match=r"small.swf.*logs=FOLDER"):
        remaking.point_of(study, place, 0, [tmp_path])


def request(study: Study, view: str, **times: str) -> views.Request:
    """Return a request of the busiest point that keeps up."""
    place = at(study, Choice.first(study), "buddy", "0.75").place
    return views.Request(view, remaking.point_of(study, place, 0), **times)


@pytest.mark.exhaustive
def test_a_new_request_ends_the_one_before(study: Study) -> None:
    async def both() -> tuple[object, bytes]:
        painter = Painter()
        try:
            first = asyncio.create_task(painter.draw(request(study, "gantt")))
            await asyncio.sleep(0)  # the first picture has been requested, and is not done
            second = await painter.draw(request(study, "matrix"))
            return (await asyncio.gather(first, return_exceptions=True))[0], second
        finally:
            painter.close()

    first, second = asyncio.run(both())
    assert isinstance(first, SupersededError)
    assert second.startswith(b"\x89PNG")


def unfinished(study: Study, left: int) -> xr.Dataset:
    """Return the dataset as it was when the last replications of each point were still to be run."""
    data = study.data.copy(deep=True)
    rest = {"replication": slice(5 - left, None)}
    for name, values in data.items():
        if "batch" in values.dims:
            values[rest] = np.nan
        elif name == "state":
            values[rest] = xr.where(values[rest] == 1, 0, values[rest])
    return data


def write(data: xr.Dataset, path: Path) -> None:
    """Replace a dataset as a sweep does: a reader gets the old or the new one."""
    private = path.with_name(f".{path.name}")
    data.to_netcdf(private, engine="netcdf4")
    private.replace(path)


def test_a_growing_dataset_is_reloaded(results: Path, study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "packing"
    folder.mkdir()
    write(unfinished(study, left=2), folder / "packing.nc")
    source = Source(folder)
    with source._folder.lock():
        assert source.is_running
    assert not source.is_running  # the run was killed
    assert source.tasks[0] < source.tasks[1]
    point = at(source.study, Choice.first(source.study), "buddy", "0.75")
    assert (point.status, point.replications_done) == (UNFINISHED, 3)
    assert "3 of 5 replications" in point.note
    kept = source.study
    assert source.refresh() is kept
    write(study.data, folder / "packing.nc")
    assert source.refresh() is not kept
    assert not source.is_running
    (folder / "packing.nc").write_bytes(b"no dataset")
    kept = source.study
    assert source.refresh() is kept
    assert "cannot be read" in source.problem
    shutil.copy(results / "packing.nc", folder / "packing.nc")
    source.refresh()
    assert source.problem == ""


# Errors are one line.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{new}/nowhere"], "does not exist"),
        (["{new}"], "holds no dataset"),
        (["{results}", "port=80"], "port=80: give a number from 1024"),
        (["{results}", "browser=maybe"], "browser=maybe: give true or false"),
        (["{results}", "colour=red"], "valid: port=, browser=, hosts=, logs="),
        (["{results}", "logs=/nowhere"], "no such folder"),
        (["{results}", "--port", "5007"], "unknown argument '--port'; valid: port=, browser=, hosts=, logs="),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *(one.format(new=tmp_path, results=results) for one in arguments)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_missing_extra_is_named(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "panel", None)
    assert main(["explore", str(results)]) == 2
    assert "pip install 'schedsweep[explore]'" in capsys.readouterr().err


def test_a_port_in_use_is_skipped() -> None:
    with socket.socket() as taken:
        taken.bind((server.ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < server.free_port(port) < port + server.TRIED


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore:The inplace keyword")  # Panel's own
def test_quick_choices_are_not_taken_back(results: Path) -> None:
    """The second one comes before the page has answered the first."""

    async def choose() -> list[list[str]]:
        page, seen = Page(Source(results)), []
        page._shown.param.watch(lambda event: seen.append(event.new), "value")
        page._shown.value = ["buddy"]
        page._shown.value = ["best_fit", "buddy"]
        await asyncio.sleep(0.2)
        page.close()
        return seen

    assert asyncio.run(choose()) == [["buddy"], ["best_fit", "buddy"]]
