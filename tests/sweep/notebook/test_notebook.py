"""The face for notebooks: what it returns, and one exception of one line for whatever is wrong."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numba import njit

import sweep
from models.jobs import swf

ROOT = Path(__file__).parents[3]
SMALL = {"batches": 5, "batch_size": 50, "replications": 1, "executor": "serial"}


def jobs(**changed: Any) -> dict[str, Any]:
    """Return four jobs for four processors; the last can go ahead of those that wait before it."""
    columns = {
        "submit": [0.0, 1.0, 2.0, 3.0],
        "runtime": [10.0, 10.0, 10.0, 5.0],
        "requested": [10.0, 10.0, 10.0, 5.0],
        "processors": [3, 3, 4, 1],
    }
    return {**{name: np.array(values) for name, values in columns.items()}, **changed}


def test_easy_by_hand() -> None:
    made = sweep.simulate("easy", workload=jobs(), machine=4)
    assert made.start.values.tolist() == [0.0, 10.0, 20.0, 3.0]
    assert made.end.values.tolist() == [10.0, 20.0, 30.0, 8.0]
    assert made.wait.values.tolist() == [0.0, 9.0, 18.0, 0.0]
    assert made.slowdown.values.tolist() == [1.0, 1.9, 2.8, 1.0]
    assert made.processors.attrs == {"units": "1", "long_name": "processors"}


@njit
def shortest(submitted, requested, processors, memory):
    return -requested


@njit
def short_for_its_wait(waited, requested, processors, memory, bypassed):
    return (waited + 1.0) / requested


@njit
def longest_waiting(waited, requested, processors, memory, bypassed):
    return waited


def test_an_order_of_ones_own_for_the_queue_and_for_backfilling() -> None:
    """Until 10 one processor is idle, the second job needs all four, and the others one each."""
    long = np.array([10.0, 10.0, 8.0, 5.0])
    waiting = jobs(submit=np.array([0.0, 1.0, 2.0, 2.0]), processors=np.array([3, 4, 1, 1]))
    waiting |= {"runtime": long, "requested": long}

    def starts(policy: Any) -> list[float]:
        made = sweep.simulate(policy, workload=waiting, machine=4)
        return made.start.values.tolist()

    assert starts("easy") == starts(longest_waiting) == [0, 10, 2, 20]
    assert starts(shortest) == starts({"name": "easy", "priority": shortest}) == [0, 15, 7, 2]
    for order in (shortest, short_for_its_wait, "shortest_first"):
        assert starts({"name": "easy", "backfill_order": order}) == [0, 10, 20, 2]
        assert starts({"name": "easy", "priority": longest_waiting, "backfill_order": order}) == [
            0,
            10,
            20,
            2,
        ]
    assert starts({"name": "easy", "priority": shortest, "backfill_order": longest_waiting}) == [0, 15, 7, 2]


def test_a_table_and_a_dataset_are_jobs_too() -> None:
    dataset = xr.Dataset({name: ("job", values) for name, values in jobs().items()})
    for given in (dataset, dataset.to_dataframe()):
        assert sweep.simulate("easy", workload=given, machine=4).start.values.tolist() == [
            0.0,
            10.0,
            20.0,
            3.0,
        ]


def test_a_schedule_as_a_log(tmp_path: Path) -> None:
    made = sweep.simulate("easy", workload=jobs(), machine=4)
    log = swf.read(made.schedule.to_swf(tmp_path / "easy.swf.gz"))
    assert np.array_equal(log.columns["submit"] + log.columns["wait"], made.start)
    path = tmp_path / "jobs.nc"
    made.to_netcdf(path)
    with xr.open_dataset(path) as stored:
        assert stored.schedule.made().start.tolist() == made.start.values.tolist()


@pytest.mark.exhaustive
def test_claims_and_figures(tmp_path: Path) -> None:
    study = sweep.Study("packing", grid={"load": [0.5, 0.9]}, output=tmp_path / "r", **SMALL)
    study.run(progress=False)
    assert set(study.claims()["verdict"]) <= {"holds", "fails", "inconclusive"}
    assert study.report().is_file()


@pytest.mark.exhaustive
def test_a_script_without_a_guard_starts_workers_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sweep\nprint('begins')\n"
        "study = sweep.Study('packing', grid={'policy': ['buddy'], 'load': [0.5]}, batches=5,\n"
        "                    batch_size=50, replications=1, output='results',\n"
        "                    executor={'name': 'dask', 'workers': 2})\n"
        "print(study.run(progress=False).sizes['batch'])\n"
    )
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["begins", "5"]


def test_values_of_axes_have_names_of_any_kind() -> None:
    """Names with signs of the command line's grammar, values that are not scalars."""
    study = sweep.Study(
        "compare",
        grid={"policy": ["priority_backfill"], "load": [0.5]},
        axes={"weighing": "policy.weights", "ties": "policy.ties"},
        values={"weighing": {"mild: {1, 2}": {"wait": 1, "expansion": 0}}, "ties": {"at (once)": "instant"}},
        **SMALL,
    )
    assert study.plan.axes["weighing"] == ("mild: {1, 2}",)
    assert study.plan.axes["ties"] == ("at (once)",)
    policy = study.plan.task(0).point.policy
    assert policy["ties"] == "instant"
    assert (policy["weights"]["wait"], policy["weights"]["expansion"]) == (1, 0)


@pytest.mark.parametrize("policy", ["easy", "lxf_w_immediate", "gang/buddy"])
def test_some_jobs_of_a_schedule(policy: str, tmp_path: Path) -> None:
    """Jobs that are left out take their pieces with them."""
    made = sweep.simulate(policy, workload="lublin2003", load=0.8, jobs=60)
    some = made.isel(job=slice(10, 40))
    log = swf.read(some.schedule.to_swf(tmp_path / "some.swf"))
    assert log.columns["job"].size == 30
    some.schedule.gantt()
    runs, all_runs = some.schedule.made().runs, made.schedule.made().runs
    work = np.bincount(all_runs.job, (all_runs.end - all_runs.begin) * all_runs.processors)
    of_some = np.bincount(runs.job, (runs.end - runs.begin) * runs.processors)
    assert of_some == pytest.approx(work[10:40])


@pytest.mark.parametrize("policy", ["easy", {"name": "gang/buddy", "kill": True}])
def test_jobs_that_are_killed_have_failed(policy: Any, tmp_path: Path) -> None:
    """The Standard Workload Format has 0 for a job that failed, and 1 for one that completed."""
    made = sweep.simulate(policy, workload=jobs(requested=np.array([9.0, 10.0, 5.0, np.nan])), machine=4)
    assert made.killed.values.tolist() == [True, False, True, False]
    log = swf.read(made.schedule.to_swf(tmp_path / "killed.swf"))
    assert log.columns["status"].tolist() == [0, 1, 0, 1]


def test_what_was_left_out_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "two.swf"
    rows = [[number, number, 0, 10, size, -1, -1, size, 10, *[-1] * 9] for number, size in ((1, 2), (2, 8))]
    log.write_text("; MaxProcs: 8\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows))
    for _ in range(2):
        made = sweep.simulate("easy", workload=log, machine=4)
    assert made.sizes["job"] == 1
    assert "two.swf: 2 rows, 1 kept; dropped 1 larger than 4 processors" in made.notes
    assert capsys.readouterr().err.count("2 rows, 1 kept") == 1


@pytest.mark.exhaustive
def test_a_grid_of_ones_own_values(tmp_path: Path) -> None:
    """Settings, a log, arrays, sizes of machines stand where names do; a point is what `simulate` gives."""
    log = sweep.simulate("easy", workload=jobs(), machine=4).schedule.to_swf(tmp_path / "log.swf")
    policies = ["easy", {"name": "easy", "reservations": 2}, {"name": "fcfs", "ties": "event"}, "gang/buddy"]
    grid = {"policy": policies, "workload": [log, jobs()], "load": [None], "machine": [4, {"processors": 8}]}
    one = {"batches": 1, "batch_size": None, "warmup": 0, "replications": 1, "executor": "serial"}
    study = sweep.Study("compare", grid=grid, output=tmp_path / "out", **one)
    data = study.run(progress=False)
    labels = ["easy", "easy reservations=2", "fcfs", "buddy"]
    assert data.policy.values.tolist() == labels
    assert data.workload.values.tolist() == ["log.swf", "arrays"]
    assert data.machine.values.tolist() == ["4 processors", "own"]
    for label, policy in zip(labels, policies, strict=True):
        for name, workload in zip(data.workload.values, grid["workload"], strict=True):
            for size, machine in zip(data.machine.values, grid["machine"], strict=True):
                at = data.sel(policy=label, workload=name, machine=size).squeeze()
                alone = sweep.simulate(policy, workload=workload, machine=machine)
                for measure in ("wait", "response_time", "bounded_slowdown"):
                    assert float(at[measure]) == pytest.approx(float(alone[measure].mean()))
    assert sweep.Study("compare", grid=grid, output=tmp_path / "out", **one).run(progress=False).equals(data)
    with pytest.raises(sweep.Error, match="holds results of another config") as error:
        sweep.Study(
            "compare", grid={**grid, "workload": [jobs(user=np.arange(4))]}, output=tmp_path / "out", **one
        ).run()
    assert len(str(error.value)) < 1500


def test_an_array_without_axes_is_one_value() -> None:
    grid = {"policy": np.array("buddy"), "load": np.array(0.5), "alternation": "none", "unification": True}
    assert sweep.Study("packing", grid=grid).points == 1
    with pytest.raises(sweep.Error):
        sweep.Study("packing", grid={"policy": np.array(3)})


@pytest.mark.parametrize(
    ("key", "value"),
    [("schedule", "x\0.csv"), ("schedule", "x" * 300 + ".csv"), ("batches", np.datetime64(1, "s"))],
)
def test_a_value_that_no_setting_has_is_refused(key: str, value: object) -> None:
    with pytest.raises(sweep.Error, match=f"^{key}="):
        sweep.Study("packing", **{key: value})


def test_what_a_function_does_not_take_is_refused() -> None:
    def area(width: float, height: float) -> float:
        return width * height

    said = r"^reference: is neither .* of area \(width, height\); give it to report\(\) or figures\(\)$"
    for value in ({}, {"width": 1}, "wide"):
        with pytest.raises(sweep.Error, match=said):
            sweep.Study(area, grid={"width": [1, 2]}, reference=value)


def test_names_are_offered_before_they_are_imported() -> None:
    code = "import sweep, sys; print({*sweep.__all__} <= {*dir(sweep)}, 'xarray' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert shown.stdout.split() == ["True", "False"]


@pytest.mark.exhaustive
def test_what_a_cell_shows(tmp_path: Path) -> None:
    """A study its axes, a run one bar that is full at its end, a schedule the rows of its table."""
    import nbclient
    import nbformat

    cells = (
        f"import sweep; study = sweep.Study('packing', grid={{'policy': ['buddy'], 'load': [0.5]}}, "
        f"output={str(tmp_path / 'run')!r}, exclude=[], **{SMALL!r}); study",
        "study.run();",
        "sweep.simulate('fcfs', workload='lublin2003', machine=64, load=0.5, jobs=50).schedule",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=300).execute(cwd=str(ROOT))
    study, run, schedule = (
        [output["data"]["text/html"] for output in cell.outputs if "text/html" in output.get("data", {})]
        for cell in notebook.cells
    )
    assert "alternation" in study[0]
    assert "6 points" in study[0]
    assert [html for html in run if "<progress" in html] == [run[0]]
    assert "value=18 max=18" in run[0], "six points, and two overload runs of each of six curves"
    assert "fcfs, lublin2003" in schedule[0]
    assert "bounded_slowdown" in schedule[0]
