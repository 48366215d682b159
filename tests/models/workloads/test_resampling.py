"""Logs resampled by users and by weeks: invariants, randomness, and whether the log is a possible sample."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, jobs_of

import sweep
from models import workloads
from models.backfill import FAMILY
from models.jobs import swf
from models.jobs.calendar import DAY, WEEK
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.requests import Requests
from models.jobs.trace import Origin, Trace
from models.point import Point
from models.workloads.resampling import resampled
from sweep import cli

HOUR = 3600.0
EASY = composed("policy", "easy")


def site(n_users: int = 30, weeks: float = 9.4, seed: int = 0) -> Trace:
    """Return a log whose users work in the day time, in sessions of like jobs; half of them come and go."""
    rng = np.random.default_rng(seed)
    columns: list[list[float]] = []
    for user in range(n_users):
        begin, end = (0.0, weeks) if user % 2 else np.sort(rng.uniform(0, weeks, 2))
        for day in range(int(begin * 7), int(end * 7) + 1):
            if day % 7 in (5, 6) or rng.random() < 0.4:
                continue
            at = day * DAY + rng.uniform(8, 16) * HOUR
            size, runtime = 2 ** rng.integers(0, 5), rng.lognormal(6, 1)
            for _ in range(rng.integers(1, 9)):
                if at < weeks * WEEK:
                    columns.append([np.floor(at), np.ceil(runtime * rng.uniform(0.8, 1.2)), size, user])
                at += rng.exponential(600)
    submit, runtime, size, user = np.array(sorted(columns)).T
    return Trace("site", jobs_of(submit - submit[0], runtime, size, user=user.astype(int)), pool(100))


def drawn(trace: Trace, replication: int, resample: str = "users", **settings: Any) -> Jobs:
    return resampled(
        trace, composed("workload", "_log", resample=resample, **settings), (1, 2, replication)
    ).jobs


def bags(jobs: Jobs) -> dict[int, Counter[tuple[float, float, int]]]:
    """Return by user what it submits: time of the week, runtime and size of each job."""
    found: dict[int, Counter[tuple[float, float, int]]] = {}
    for user, submit, runtime, size in zip(jobs.user, jobs.submit, jobs.runtime, jobs.size, strict=True):
        found.setdefault(int(user), Counter())[float(submit % WEEK), float(runtime), int(size)] += 1
    return found


def test_every_user_brings_its_jobs_moved_by_whole_weeks() -> None:
    """A plain recount, user by user: each has all jobs of one user of the log, at their times of the week."""
    log = site()
    of_log = bags(log.jobs)
    for replication in range(5):
        made = drawn(log, replication)
        assert (np.diff(made.submit) >= 0).all()
        assert 0 <= made.submit[0] <= made.submit[-1] <= log.jobs.submit[-1]
        found = bags(made)
        assert len(found) == len(of_log), "a user drawn twice is two users"
        for user, bag in found.items():
            (source,) = (one for one, whole in of_log.items() if whole == bag)
            assert user == source or user > max(of_log), "the first copy keeps its number"


@pytest.mark.parametrize("resample", ["users", "weeks"])
def test_each_copy_of_a_heterogeneous_job_is_one_of_its_own(resample: str) -> None:
    """Two jobs of one user follow each other as components; each copy of a pair has its own number."""
    log = site()
    user, pairs = log.jobs.user, np.full(len(log.jobs), -1)
    first = np.flatnonzero(user[1:] == user[:-1])[::3]
    first = first[log.jobs.submit[first] // WEEK == log.jobs.submit[first + 1] // WEEK]
    pairs[first] = pairs[first + 1] = np.arange(len(first))
    request = Requests.of(log.jobs.size, log.jobs.memory, het_job=pairs)
    jobs = drawn(replace(log, jobs=replace(log.jobs, request=request)), 3, resample)
    assert jobs.request is not None
    n = Counter(jobs.request.het_job.tolist())
    assert n.pop(-1) > 0
    assert min(n) >= 0
    assert len(n) > len(first) / 2
    assert set(n.values()) == {2}


@pytest.mark.parametrize("resample", ["users", "weeks"])
def test_each_time_of_the_week_has_the_work_that_it_had(resample: str) -> None:
    log = site()
    n_times = 28  # of six hours

    def cycle(jobs: Jobs) -> np.ndarray:
        at = (jobs.submit % WEEK // (6 * HOUR)).astype(int)
        return np.bincount(at, jobs.size * jobs.runtime, n_times)

    runs = np.array([cycle(drawn(log, k, resample)) for k in range(60)])
    expected, mean = cycle(log.jobs), runs.mean(axis=0)
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert (mean[expected == 0] == 0).all(), "no work at night"
    busy = expected > 0.02 * expected.sum()
    assert (np.abs(mean - expected)[busy] <= 4 * error[busy]).all()
    assert mean.sum() == pytest.approx(expected.sum(), rel=0.03)


@pytest.mark.parametrize("hour", [0.0, 70.0, 160.0])
@pytest.mark.parametrize("weeks", [3.1, 3.9])
def test_weeks_lose_no_job(hour: float, weeks: float) -> None:
    """A plain recount by the calendar: each week drawn is one of the log, and each job is in one of these."""
    log = site(weeks=weeks)
    monday = 4 * DAY
    log = replace(log, origin=Origin("a", "", "", zero=monday + 8 * WEEK + hour * HOUR))
    phase = hour * HOUR
    last = float(log.jobs.submit[-1] + phase)
    n_weeks = int(last // WEEK) + 1
    if last % WEEK < phase:
        n_weeks -= 1
    of_log: dict[int, list[tuple[float, float]]] = {}
    for submit, runtime in zip(log.jobs.submit + phase, log.jobs.runtime, strict=True):
        of_log.setdefault(int(submit // WEEK) % n_weeks, []).append((submit % WEEK, runtime))
    assert sum(map(len, of_log.values())) == len(log.jobs)
    weeks_of_log = {tuple(sorted(jobs)) for jobs in of_log.values()}
    seen = set()
    for replication in range(20):
        trace = resampled(log, composed("workload", "_log", resample="weeks"), (1, 2, replication))
        jobs, origin = trace.jobs, trace.origin
        assert (np.diff(jobs.submit) >= 0).all()
        assert jobs.submit[0] >= 0
        at = jobs.submit - jobs.submit[0] + origin.zero - monday
        for week in range(int(at[0] // WEEK), int(at[-1] // WEEK) + 1):
            there = at // WEEK == week
            seen.add(tuple(sorted(zip((at % WEEK)[there], jobs.runtime[there], strict=True))))
    assert seen - {()} == weeks_of_log


def test_heavy_users_are_in_each_replication_once() -> None:
    log = site()
    whose = log.jobs.user == 4
    jobs = replace(log.jobs, runtime=np.where(whose, 50.0, 1.0) * log.jobs.runtime)
    trace = replace(log, jobs=jobs)
    share = (jobs.size * jobs.runtime)[whose].sum() / (jobs.size @ jobs.runtime)
    assert share > 0.4
    of_user = bags(jobs)[4]
    copies, loads = [], {}
    for heavy_share in (0.2, 1.0):
        made = [drawn(trace, k, heavy_share=heavy_share) for k in range(30)]
        copies.append([sum(bag == of_user for bag in bags(one).values()) for one in made])
        loads[heavy_share] = np.std([one.size @ one.runtime for one in made]) / (jobs.size @ jobs.runtime)
    assert set(copies[0]) == {1}
    assert set(copies[1]) > {0, 1}
    assert loads[0.2] < loads[1.0] / 2
    notes = " ".join(
        resampled(trace, composed("workload", "_log", resample="users", heavy_share=0.2), (1, 2, 3)).notes
    )
    assert f"1 user has more than 20% of its work each ({share:.0%} together)" in notes
    found = re.search(r"the load of replications varies by ± (\d+)%", notes)
    assert int(found[1]) / 100 == pytest.approx(loads[0.2], rel=0.4, abs=0.01)


def test_more_users_are_more_load() -> None:
    log = site()
    work = float(log.jobs.size @ log.jobs.runtime)
    for population in (0.5, 1.0, 1.5):
        made = [drawn(log, k, population=population) for k in range(30)]
        ratios = [float(jobs.size @ jobs.runtime) / work for jobs in made]
        error = np.std(ratios) / np.sqrt(len(ratios))
        assert np.mean(ratios) == pytest.approx(population, abs=4 * error)
        assert all(len(bags(jobs)) == round(len(bags(log.jobs)) * population) for jobs in made)


def test_long_lasting_users_stay_as_many() -> None:
    log = site(weeks=30.0)
    of_log, user = bags(log.jobs), log.jobs.user
    lasting = {one for one in of_log if np.ptp(log.jobs.submit[user == one]) >= 12 * WEEK}
    assert 5 < len(lasting) < len(of_log) - 5
    numbers = set()
    for replication in range(10):
        sources = [
            next(one for one, whole in of_log.items() if whole == bag)
            for bag in bags(drawn(log, replication)).values()
        ]
        assert sum(one in lasting for one in sources) == len(lasting)
        numbers.add(len(set(sources)))
    assert max(numbers) < len(of_log), "with replacement"


def write(path: Path, log: Trace) -> Path:
    jobs = log.jobs
    columns = {
        "submit": jobs.submit, "runtime": jobs.runtime, "processors": jobs.size, "user": jobs.user,
        "requested_time": jobs.runtime * 2, "preceding_job": np.full(len(jobs), 1), "application": jobs.size,
    }  # fmt: skip
    swf.write(path, columns, {"MaxProcs": ["100"], "UnixStartTime": ["796608000"]})
    return path


def test_its_schedule_is_a_log_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.swf", site())
    work = composed("workload", "swf", path=str(path), resample="users")
    FAMILY.export(Point(EASY, work, {"processors": None}, seed=(1, 2, 0)), tmp_path / "out.swf")
    found = swf.read(tmp_path / "out.swf")
    trace = workloads.open_workload(Point(EASY, work, {"processors": None}, seed=(1, 2, 0)))
    assert found.columns["job"].tolist() == list(range(1, len(trace.jobs) + 1))
    assert found.columns["user"].tolist() == trace.jobs.user.tolist()  # type: ignore[union-attr]
    assert (found.columns["preceding_job"] == -1).all()
    np.testing.assert_array_equal(found.columns["application"], trace.jobs.size)
    np.testing.assert_allclose(np.diff(found.columns["submit"]), np.diff(trace.jobs.submit))
    # At its time of the day, so that the header's start of the log remains valid.
    original = swf.read(path).columns["submit"]
    assert set((found.columns["submit"] % WEEK).tolist()) <= set((original % WEEK).tolist())


@pytest.mark.exhaustive
def test_a_study_gets_replications_unasked(tmp_path: Path) -> None:
    path = write(tmp_path / "a.swf", site())
    arguments = ["executor=serial", f"workload.path={path}", "grid.policy=[easy,fcfs]"]
    assert (
        cli.main(["+experiment=replay", *arguments, "workload.resample=users", f"output={tmp_path / 'r'}"])
        == 0
    )
    from analysis.study import open_study

    data = open_study(tmp_path / "r").data
    assert data.sizes["replication"] == 5
    assert len(set(data.jobs.sel(policy="easy").values.ravel().tolist())) == 5
    np.testing.assert_array_equal(data.jobs.sel(policy="easy"), data.jobs.sel(policy="fcfs"))
    with pytest.raises(sweep.Error, match="copies of one run are not a sample"):
        sweep.Study("replay", workload={"path": str(path)}, replications=3).run()
