"""What the explorer shows, without a web page: choices, points, commands, pictures, and what is wrong."""

from __future__ import annotations

import asyncio
import builtins
import io
import math
import shlex
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib import image

import sweep
from analysis.command import main
from analysis.errors import AnalysisError
from analysis.explorer import choice as chosen
from analysis.explorer import points, remaking, rerun, server, sights, words
from analysis.explorer.choice import Choice
from analysis.explorer.painter import Painter, SupersededError
from analysis.explorer.points import Spot
from analysis.explorer.source import Source
from analysis.figures import policies
from analysis.study import Study
from analysis.study.curve import DONE, SATURATED, UNFINISHED
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


@pytest.fixture(scope="module")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One policy at one load of a log's kind: nothing varies but the groups of jobs."""
    folder = tmp_path_factory.mktemp("waits") / "compare"
    sweep.Study(
        "compare", grid={"policy": ["easy"], "workload": ["lublin2003"], "load": [0.8]}, output=str(folder),
        executor="serial", replications=1, batches=12, batch_size=100, warmup=0,
        measures={"groups": ["runtime", "size"]},
    ).run(progress=False)  # fmt: skip
    return Source(folder).study


def of(study: Study, spot: Spot, name: str) -> float:
    """Return what the dataset has at a point."""
    values = study.data[name]
    at = {axis: study.values_of(axis).index(value) for axis, value in spot.place.items()}
    return float(values.isel({axis: i for axis, i in at.items() if axis in values.dims}))


def test_begins_with_the_headline_over_the_load_a_line_for_each_policy(study: Study) -> None:
    first = Choice.first(study)
    assert (first.metric, first.along, first.lines) == ("slowdown", "load", "policy")
    assert first.at == {"alternation": "exclusive"}
    assert first.shown == ("best_fit", "buddy")


@pytest.mark.parametrize("metric", ["slowdown", "response_time", "utilization"])
def test_points_are_the_datasets_own_numbers(study: Study, metric: str) -> None:
    found = points.spots(study, replace(Choice.first(study), metric=metric))
    assert len(found) == 6
    for spot in found:
        assert spot.mean == pytest.approx(of(study, spot, f"{metric}_mean"), rel=1e-12, nan_ok=True)
        assert spot.half_width == pytest.approx(of(study, spot, f"{metric}_ci"), rel=1e-9, nan_ok=True)
    saturated = {spot.value for spot in found if spot.status == SATURATED}
    assert saturated == {"1.5"}
    assert all(not spot.is_drawn and "saturated" in spot.remark for spot in found if spot.value == "1.5")
    for spot in (one for one in found if one.value != "1.5"):
        at = {axis: study.values_of(axis).index(value) for axis, value in spot.place.items()}
        suspected = int(study.data.suspected.isel(at).sum())
        assert (spot.done, spot.of, spot.doubtful) == (5, 5, suspected)
        assert spot.is_drawn
        assert spot.is_solid == (not suspected)
        assert spot.is_solid or f"{suspected} of 5 replications look saturated" in spot.remark


def test_points_that_the_grid_leaves_out_are_no_points(study: Study) -> None:
    found = points.spots(study, replace(Choice.first(study), at={"alternation": "none"}))
    assert {spot.value for spot in found} == {"0.5", "1.5"}
    over = replace(Choice.first(study), along="alternation", at={"load": "0.75"})
    assert {spot.value for spot in points.spots(study, over)} == {"exclusive"}


def test_ratios_are_paired_and_those_to_itself_are_one(study: Study) -> None:
    found = points.spots(study, replace(Choice.first(study), reference="buddy"))
    for spot in (one for one in found if one.status == DONE):
        place = {**spot.place, "policy": "buddy"}
        below = of(study, replace(spot, place=place), "slowdown_mean")
        assert spot.mean == pytest.approx(of(study, spot, "slowdown_mean") / below, rel=1e-9)
        if spot.line == "buddy":
            assert (spot.mean, spot.half_width) == (1.0, pytest.approx(0.0, abs=1e-12))
        else:
            assert (
                0 < spot.half_width < of(study, spot, "slowdown_ci")
            )  # the same jobs: less is left to chance


def test_a_choice_follows_its_study(study: Study, waits: Study) -> None:
    asked = Choice("slowdown", "alternation", "alternation", {"load": "0.75"}, "easy", ("buddy",))
    found = chosen.normal(study, asked)
    assert (found.along, found.lines) == ("alternation", "policy")
    assert (dict(found.at), found.reference, found.shown) == ({"load": "0.75"}, "", ("buddy",))
    assert chosen.normal(study, found) == found
    gone = chosen.normal(study, Choice("nothing", "nowhere", "neither", {"load": "7"}, "", ("nobody",)))
    assert gone == chosen.normal(study, Choice.first(study))
    assert chosen.normal(study, replace(gone, at={"alternation": "none"})).at == {"alternation": "none"}


def test_one_policy_at_one_load_is_one_point(waits: Study) -> None:
    first = Choice.first(waits)
    assert chosen.axes(waits, first.metric) == []
    assert chosen.references(waits) == []
    (spot,) = points.spots(waits, first)
    assert spot.mean == pytest.approx(of(waits, spot, f"{first.metric}_mean"))


def test_groups_of_jobs_are_axes_of_their_metrics(waits: Study) -> None:
    found = chosen.normal(waits, replace(Choice.first(waits), metric="wait_by_runtime"))
    assert found.along == "runtime_range"
    spots = points.spots(waits, found)
    assert [spot.value for spot in spots] == waits.values_of("runtime_range")
    for spot in spots:
        mean = of(waits, spot, "wait_by_runtime_mean")
        assert spot.mean == pytest.approx(mean, rel=1e-9, nan_ok=True)
        assert spot.is_drawn or spot.remark == "no such jobs"


def test_a_table_has_every_point_with_all_its_digits(study: Study) -> None:
    choice = Choice.first(study)
    spots = points.spots(study, choice)
    table = points.table(study, choice, spots)
    assert list(table["mean"].dropna()) == [spot.mean for spot in spots if spot.is_drawn]
    row = table[(table.policy == "buddy") & (table.load == "0.75")].iloc[0]
    assert (row.metric, row.unit, row.status, row.replications_done) == ("slowdown", "1", "done", 5)
    assert row.high - row.low == pytest.approx(2 * row.half_width)


def test_the_command_of_a_point_gives_its_numbers_again_bit_for_bit(study: Study, tmp_path: Path) -> None:
    spot = next(
        one
        for one in points.spots(study, replace(Choice.first(study), at={"alternation": "none"}))
        if (one.line, one.value) == ("buddy", "0.5")
    )
    typed = shlex.split(rerun.command(study, spot.place))
    assert typed[:3] == ["python", "-m", "sweep"]
    assert "executor=serial" not in typed
    assert typed.pop() == "output=results/packing-again"
    assert cli.main([*typed[3:], "executor=serial", f"output={tmp_path / 'packing'}"]) == 0
    again = Source(tmp_path / "packing").study
    assert again.status.size == 1
    at = {axis: study.values_of(axis).index(value) for axis, value in spot.place.items()}
    np.testing.assert_array_equal(
        again.data.slowdown.values.squeeze(), study.data.slowdown.isel(at).values.squeeze()
    )


@pytest.mark.parametrize(("policy", "level"), [("easy", "null"), ("buddy", "2")])
def test_points_of_other_families_than_an_axis_is_for_run_again(
    policy: str, level: str, mixed: Study, tmp_path: Path
) -> None:
    choice = Choice("slowdown", "policy", "level", shown=("null", "2"))
    spots = points.spots(mixed, chosen.normal(mixed, choice))
    spot = next(one for one in spots if (one.value, one.line) == (policy, level))
    at = {axis: mixed.values_of(axis).index(value) for axis, value in spot.place.items()}
    before = mixed.data.slowdown.isel(at).values.squeeze()
    point = remaking.point_of(mixed, spot.place, replication=0)
    outcome = families.find(point.policy["family"]).simulate(point)
    np.testing.assert_array_equal(outcome.metrics["slowdown"], before)
    typed = shlex.split(rerun.command(mixed, spot.place))[3:-1]
    assert cli.main([*typed, "executor=serial", f"output={tmp_path / 'families'}"]) == 0
    again = Source(tmp_path / "families").study
    assert again.tally()[DONE] == 1
    np.testing.assert_array_equal(again.data.slowdown.sel(policy=policy).values.squeeze(), before)


def test_more_lines_than_looks_are_drawn() -> None:
    names = [f"value {n}" for n in range(100)]
    assert list(policies.apart(names)) == names


@pytest.mark.parametrize(
    ("command", "config"),
    [("", {}), ("python -m sweep +experiment=own", {"described": {"policy": {}, "workload": {}}})],
)
def test_what_no_command_makes_has_none(study: Study, command: str, config: dict[str, Any]) -> None:
    import json

    data = study.data.assign_attrs(command=command, facts=json.dumps(config))
    (spot, *_) = points.spots(study, Choice.first(study))
    assert rerun.command(Study(data, study.folder, axes=study.axes), spot.place) == ""


@pytest.mark.parametrize("alternation", ["exclusive", "none"])
def test_a_point_is_made_anew_as_it_was(study: Study, alternation: str) -> None:
    place = {
        "policy": "buddy", "workload": "feitelson1996", "load": "0.5", "machine": "pe128",
        "alternation": alternation, "unification": "true",
    }  # fmt: skip
    point = remaking.point_of(study, place, replication=3)
    assert point.policy["alternation"] == alternation
    outcome = families.find(point.policy["family"]).simulate(point)
    at = {axis: study.values_of(axis).index(value) for axis, value in place.items()}
    np.testing.assert_array_equal(
        outcome.metrics["slowdown"], study.data.slowdown.isel(at | {"replication": 3}).values
    )


def test_a_log_is_found_by_what_is_in_it(tmp_path: Path) -> None:
    rows = [f"{n + 1} {60 * n} -1 {300 + n} 2 -1 -1 2 600 -1 1 1 1 -1 -1 -1 -1 -1" for n in range(50)]
    log = tmp_path / "small.swf"
    log.write_text("; MaxProcs: 8\n" + "\n".join(rows) + "\n")
    grid = {"policy": ["easy"], "ties": ["instant"]}
    sweep.Study(
        "replay", workload={"path": str(log)}, grid=grid, executor="serial", output=str(tmp_path / "out")
    ).run(progress=False)
    study = Source(tmp_path / "out").study
    (spot, *_) = points.spots(study, Choice.first(study))
    point = remaking.point_of(study, spot.place, 0, [tmp_path])
    assert sights.drawn(sights.Request("gantt", point)).startswith(b"\x89PNG")
    log.write_text(log.read_text() + rows[-1] + "\n")
    remaking._digest.cache_clear()
    with pytest.raises(AnalysisError, match=r"small.swf.*logs=FOLDER"):
        remaking.point_of(study, spot.place, 0, [tmp_path])


def test_pictures_that_there_are_depend_on_the_family() -> None:
    assert sights.offered({"family": "models.gang"}) == ["matrix", "gantt", "queue"]
    assert sights.offered({"family": "models.backfill"}) == ["gantt", "queue"]
    assert sights.offered({"family": "models.concurrent_gang", "coordinated": True})[0] == "trace_diagram"
    assert sights.offered({"family": "models.concurrent_gang", "coordinated": False}) == ["gantt", "queue"]
    assert sights.offered({"family": "models.medium_term"}) == []
    assert sights.offered({"family": "somebody.elses"}) == []


def request(study: Study, sight: str, **times: str) -> sights.Request:
    """Return a request of the busiest point that keeps up."""
    spots = points.spots(study, Choice.first(study))
    spot = next(one for one in spots if (one.line, one.value) == ("buddy", "0.75"))
    return sights.Request(sight, remaking.point_of(study, spot.place, 0), **times)


def test_each_picture_is_drawn(study: Study) -> None:
    for sight in ("matrix", "gantt", "queue"):
        height, width, _ = image.imread(io.BytesIO(sights.drawn(request(study, sight)))).shape
        assert width > 800
        assert height > 150


def test_a_stretch_of_time_that_suits_can_be_read(study: Study) -> None:
    shown = sights._scene(request(study, "gantt").point)
    first, last = sights.suiting(shown)
    submitted = shown.schedule.jobs.submit
    assert first < last
    assert 5 <= ((submitted >= first) & (submitted <= last)).sum() <= sights.JOBS + 1


@pytest.mark.parametrize(
    ("times", "told"),
    [({"begin": "soon"}, "from=soon: give hours"), ({"begin": "900d"}, "the schedule ends after")],
)
def test_times_that_cannot_be_drawn_are_told_in_a_line(
    study: Study, times: dict[str, str], told: str
) -> None:
    with pytest.raises(AnalysisError, match=told):
        sights.drawn(request(study, "gantt", **times))


def test_another_picture_ends_the_one_that_is_drawn(study: Study) -> None:
    async def both() -> tuple[object, bytes]:
        painter = Painter()
        try:
            first = asyncio.create_task(painter.draw(request(study, "gantt")))
            await asyncio.sleep(0)  # it is asked for, and nobody has looked yet whether it is done
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
    """Replace a dataset as a sweep does: whoever opens it reads the old or the new one."""
    private = path.with_name(f".{path.name}")
    data.to_netcdf(private, engine="netcdf4")
    private.replace(path)


def test_a_dataset_that_is_filled_is_followed(results: Path, study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "packing"
    folder.mkdir()
    write(unfinished(study, left=2), folder / "packing.nc")
    source = Source(folder)
    assert source.is_running
    spots = points.spots(source.study, Choice.first(source.study))
    assert {(spot.status, spot.done) for spot in spots if spot.value == "0.75"} == {(UNFINISHED, 3)}
    assert all("3 of 5 replications" in spot.remark for spot in spots if spot.value == "0.75")
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


def test_words_are_what_a_reader_needs(study: Study) -> None:
    choice = Choice.first(study)
    spots = points.spots(study, choice)
    unit = words.unit_of(study, choice, spots)
    assert words.value_label(study, choice, unit) == "Mean slowdown"
    spot = next(one for one in spots if (one.line, one.value) == ("buddy", "0.75"))
    assert words.heading(study, choice, spot) == "Buddy, offered load 0.75, alternation exclusive"
    told = dict(words.facts(study, choice, spot, unit))
    assert told["Replications"] == "5 of 5 done"
    assert told["Mean slowdown"].startswith(f"{spot.mean:.3g}"[:4])
    seconds = replace(choice, metric="response_time")
    assert "(s)" in words.value_label(study, seconds, words.unit_of(study, seconds, spots))
    assert math.isnan(next(one for one in spots if one.value == "1.5").mean)


# What is wrong is told in one line.


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the line of a command that is refused."""
    assert main(["explore", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line.removeprefix("error: ")


def test_what_cannot_be_explored_is_told_in_a_line(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "does not exist" in refused([str(tmp_path / "nowhere")], capsys)
    assert "holds no dataset" in refused([str(tmp_path)], capsys)
    old = tmp_path / "old.nc"
    with xr.open_dataset(results / "packing.nc") as data:
        of_runs = data.saturated.expand_dims(replication=data.sizes["replication"])
        data.drop_vars("saturated").assign(saturated=of_runs).to_netcdf(old)
    assert "earlier version" in refused([str(old)], capsys)
    assert "port=80: give a number from 1024" in refused([str(results), "port=80"], capsys)
    assert "browser=maybe: give true or false" in refused([str(results), "browser=maybe"], capsys)
    assert "valid: port=, browser=, logs=" in refused([str(results), "colour=red"], capsys)
    assert "no such folder" in refused([str(results), "logs=/nowhere"], capsys)


def test_the_extra_is_named_where_it_lacks(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "panel":
            raise ImportError(name)
        return known(name, *rest)

    import importlib

    monkeypatch.setattr(importlib, "import_module", without)
    assert "pip install 'schedsweep[explore]'" in refused([str(results)], capsys)


def test_help_is_there_without_anything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--help"]) == 0
    assert "port=N" in capsys.readouterr().out
    assert main(["explore"]) == 2


def test_a_port_in_use_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind((server.ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < server.free_port(port) < port + server.TRIED


def test_no_browser_is_looked_for_where_none_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("webbrowser.open", lambda address: pytest.fail("a browser in the terminal"))
    assert not server.opened("http://127.0.0.1:1/")
