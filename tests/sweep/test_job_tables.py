"""Schedules as tables (``schedule=FILE.csv``): every job a row, with the names that a log has."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from study_commands import load, results
from test_schedule_files import ONE, SIZE

import sweep as face
from analysis.registry import opened
from models.jobs.job_classes import JOB_CLASSES
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, pool
from models.jobs.schedule import Schedule
from models.point import Point
from sweep import cli, job_tables
from sweep.labelling import labelled, schedule_of
from sweep.store.loading import loaded

HEAD = "JobID|User|Partition|State|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem"


def sacct(folder: Path) -> Path:
    """Write four jobs of three users on four processors; the second one is larger than the machine."""
    rows = [
        ("7", "carol", "00:00:00", 600, 20, 3),
        ("8", "bob", "00:00:10", 600, 20, 64),
        ("9_2", "dave, jr", "00:00:20", 600, 20, 3),
        ("10", "carol", "00:00:30", 300, 10, 1),
    ]
    lines = [
        f"{job}|{user}|batch|COMPLETED|2024-03-01T{at}|2024-03-01T{at}|2024-03-01T{at}|{ran}|{limit}|{size}|1|4000M"
        for job, user, at, ran, limit, size in rows
    ]
    path = folder / "march.txt"
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return path


def responses(table: pd.DataFrame) -> np.ndarray:
    """Return the mean time in the system of each measured batch."""
    return table.response_time.to_numpy().reshape(-1, SIZE)[1:].mean(axis=1)


def test_one_schedule_is_a_table_whose_jobs_give_the_datasets_numbers(sweep):
    answer = sweep(*ONE, "schedule=out/one.csv")
    assert answer.status == 0, answer
    assert "schedules: out/one.csv" in answer.out.splitlines()
    table = pd.read_csv("out/one.csv")
    np.testing.assert_allclose(responses(table), load().response.values.ravel())
    first = ["policy", "workload", "load", "machine", "preemption", "urgent", "replication", "job"]
    assert list(table.columns) == [*first, *job_tables.COLUMNS]
    np.testing.assert_allclose(table.wait, table.start - table.submit)
    assert list(table.job) == list(range(1, len(table) + 1))


def test_several_schedules_are_one_table(sweep):
    answer = sweep("schedule=all.csv", "grid.load=[0.3,null]", "grid.urgent=[true]")
    assert answer.status == 0, answer
    table = pd.read_csv("all.csv", keep_default_na=False, na_values=[""])
    assert len(table.groupby(["policy", "load", "preemption", "replication"], dropna=False)) == 16
    one = table[(table.policy == "slow") & (table.load == 0.3) & (table.preemption == "resume")]
    stored = load().response.sel(policy="slow", load=0.3, preemption="resume", replication=1)
    np.testing.assert_allclose(responses(one[one.replication == 1]), stored.values.ravel())
    assert (
        "more.csv (one table of 24 schedules)" in sweep("action=plan", "output=new", "schedule=more.csv").out
    )


def test_parquet_needs_an_engine_and_says_so_before_anything_runs(sweep, monkeypatch):
    monkeypatch.setattr(job_tables, "parquet_engine", lambda: None)
    answer = sweep(*ONE, "schedule=one.parquet")
    assert answer.status == 2
    assert "pandas writes Parquet with pyarrow or fastparquet, and neither is installed" in answer.err
    assert answer.err.count("\n") == 1
    assert results() == 0


def test_names_of_users_and_jobs_by_hand(tmp_path):
    """EASY on four processors: 9_2 waits for 7, and 10 goes ahead beside 7; 8 has no place."""
    work = {"name": "sacct", "path": str(sacct(tmp_path))}
    made = face.simulate("easy", workload=work, machine=4)
    table = made.schedule.table()
    assert list(table.job_id) == ["7", "9_2", "10"]
    assert list(table.user_name) == ["carol", "dave, jr", "carol"]
    assert list(table.user) == [1, 3, 1]
    assert list(table.start) == [0.0, 600.0, 30.0]
    assert list(table.wait) == [0.0, 580.0, 0.0]
    assert list(table.requested) == [1200.0, 1200.0, 600.0]
    back = pd.read_csv(made.schedule.to_table(tmp_path / "jobs.csv"))
    pd.testing.assert_frame_equal(back, table, check_dtype=False)
    made.to_netcdf(tmp_path / "jobs.nc")
    with xr.open_dataset(tmp_path / "jobs.nc") as stored:
        assert stored.schedule.table().user_name.tolist() == table.user_name.tolist()
    with pytest.raises(face.Error, match=r"end the name of a table in .csv, .csv.gz, .parquet"):
        made.schedule.to_table(tmp_path / "jobs.txt")


def test_a_host_whose_memory_has_no_limit_has_none_in_the_attributes():
    jobs = {"submit": [0.0, 0.0], "runtime": [5.0, 5.0], "processors": [4, 2], "requested": [5.0, 5.0]}
    made = face.simulate("easy", workload=jobs, machine=4)
    (host,) = json.loads(made.attrs["hosts"])
    assert set(host) == {"name", "processors"}
    hosts = [{"name": "small", "processors": 2, "memory_gb": 1}, {"name": "big", "processors": 4}]
    made = face.simulate("easy", workload=jobs, machine={"hosts": hosts})
    small, big = json.loads(made.attrs["hosts"])
    assert small == {"name": "small", "processors": 2, "memory": 2**20}
    assert big == {"name": "big", "processors": 4}
    assert schedule_of(made).machine.memory.tolist() == [2**20, UNLIMITED_KB]


def test_every_column_of_a_workload_is_returned_and_read_again(tmp_path):
    jobs = Jobs(
        np.array([0.0, 15.0, 40.0]), np.full(3, 10.0), np.full(3, 20.0), np.array([1, 2, 1]),
        np.array([8, 9, 7]),
        used_memory=np.array([5, 4, 3]), user=np.array([1, 2, 1]), runs=np.array([1, 2, 1]),
        job_class=np.array([JOB_CLASSES.index(name) for name in ("debug", "express", "debug")]),
        after=np.array([-1, 0, 1]), think=np.array([0.0, 5.0, 15.0]),
    )  # fmt: skip
    made = Schedule(jobs, pool(4), jobs.submit, jobs.submit + 10, np.zeros(3, np.int64))
    data = labelled(made, Point({"name": "easy"}, {"name": "mine"}, {"name": "four"}))
    assert data.job_class.values.tolist() == ["debug", "express", "debug"]
    assert data.after.values.tolist() == [0, 1, 2]
    assert data.submit.groupby("job_class").mean().values.tolist() == [20.0, 15.0]
    data.to_netcdf(tmp_path / "jobs.nc")
    with xr.open_dataset(tmp_path / "jobs.nc") as stored:
        found = schedule_of(stored).jobs
    for name in ("memory", "used_memory", "user", "runs", "job_class", "after", "think"):
        np.testing.assert_array_equal(getattr(found, name), getattr(jobs, name), err_msg=name)


@pytest.mark.exhaustive
def test_reports_call_users_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = sacct(tmp_path)
    status = cli.main(
        ["+experiment=what_if", f"workload.path={path}", "machine.processors=4", "grid.policy=[easy,fcfs]",
         "batches=1", "executor=serial", "schedule=jobs.csv.gz"]
    )  # fmt: skip
    assert status == 0
    with gzip.open("jobs.csv.gz", "rt") as file:
        assert "dave, jr" in file.read()
    with loaded(Path("results/what_if/what_if.nc")) as data:
        names = data.name_by_user.sel(policy="easy").values.ravel().tolist()
        numbers = data.number_by_user.sel(policy="easy").values.ravel()[:2].tolist()
    # carol has 3 x 600 + 300 processor-seconds, dave 3 x 600.
    assert names[:3] == ["carol", "dave, jr", ""]
    assert numbers == [1, 3]
    study, _ = opened(Path("results/what_if"), "operators")
    assert [study.user_label(rank) for rank in ("1", "3", "others")] == ["carol", "rank 3", "others"]
