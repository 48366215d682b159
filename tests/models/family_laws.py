"""The laws that every family obeys with a policy on a workload that it takes, for `family_contract`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from family_cases import BOUND_S, CHECKPOINTS, MONTHS, OTHER_SEED, Run

from models.family import Outcome
from models.jobs import swf
from models.jobs.schedule import Schedule
from models.jobs.swf_schedule import write_schedule
from models.production_gang.daytime import DISPLAYED

OF_JOBS = ("wait", "response_time", "slowdown", "bounded_slowdown")
OF_TIME = ("utilization", "allocated", "jobs_in_system", "used_slots", "slots_per_job")
"""Averages over the time of a batch."""
OF_SOME_DAYS = ("no_work_weekdays", "no_work_weekends", "demand_usual", *DISPLAYED)
"""Averages over days or their working hours: a batch may have none; only the T3D has what is displayed."""

TOLERANCE = 1e-6


def notes_are_lines(run: Run) -> None:
    for note in run.family.check(run.point):
        assert note
        assert "\n" not in note


def metrics_are_those_declared(run: Run) -> None:
    metrics = run.outcome.metrics
    declared = {metric.name: metric for metric in run.family.measured(run.point.measures)}
    coords = run.family.coordinates(run.point.measures)
    assert set(metrics) == set(declared)
    numbers = set()
    for name, values in metrics.items():
        assert values.dtype == np.float64, name
        assert values.shape[1:] == tuple(len(coords[dim]) for dim in declared[name].dims), name
        numbers.add(len(values))
    (n_batches,) = numbers
    if run.family.is_exact(run.point):
        assert n_batches == 1
    elif run.case.ends or run.outcome.overflowed:
        assert n_batches <= CHECKPOINTS.checkpoints[-1]
    else:
        assert n_batches in CHECKPOINTS.checkpoints
    assert run.outcome.jobs > 0
    assert run.family.headline in declared


def measured_values_are_finite(run: Run) -> None:
    metrics = run.outcome.metrics
    for name, values in metrics.items():
        of, _, group = name.rpartition("_by_")
        number = metrics.get(f"jobs_by_{group}" if of else "jobs")
        if (
            of in ("number", "work")
            or name in OF_SOME_DAYS
            or (name.endswith("energy") and run.point.policy["watts"] is None)
            or (values.ndim > 1 and (not of or number is None))
        ):
            continue  # absent users, classes whose number of jobs is not measured, nodes of unknown watts
        there = np.ones(values.shape, bool) if number is None else number > 0
        if name in OF_TIME and run.case.workload in MONTHS:  # all jobs of a batch may end after it
            there = np.isfinite(metrics["utilization"])
            assert there[0]
            assert not np.diff(there.astype(int)).max(initial=0), "only the last batches"
        assert np.isfinite(values[there]).all(), name


def the_same_point_gives_the_same_bits(run: Run) -> None:
    same(run.family.simulate(run.point), run.outcome)


def replications_differ_if_stochastic(run: Run) -> None:
    other = run.family.simulate(replace(run.point, seed=OTHER_SEED))
    if run.family.is_stochastic(run.point):
        assert differ(other.metrics, run.outcome.metrics)
    else:  # except groups by requested times, which may be drawn although no policy reads them
        same(_of_all_jobs(other), _of_all_jobs(run.outcome))


def a_run_ends_at_the_checkpoint_that_suffices(run: Run) -> None:
    if run.case.ends:  # a trace has no checkpoints
        return
    seen: list[int] = []

    def enough(metrics: Mapping[str, np.ndarray]) -> bool:
        seen.append(len(metrics[run.family.headline]))
        return len(seen) == 2

    outcome = run.family.simulate(replace(run.point, batches=replace(CHECKPOINTS, enough=enough)))
    assert seen == list(CHECKPOINTS.checkpoints[: len(seen)])
    if len(seen) == 2:
        assert len(outcome.metrics[run.family.headline]) == CHECKPOINTS.checkpoints[1]


def a_schedule_is_possible(run: Run, made: Schedule) -> None:
    """No host runs more than its processors, and jobs run between their submission and their end."""
    jobs, runs = made.jobs, made.runs
    assert len(jobs) == len(made.start) == len(made.end) == len(made.host) > 0
    assert (made.start >= jobs.submit).all()
    assert (runs.end >= runs.begin).all()
    assert (runs.begin >= made.start[runs.job] - TOLERANCE).all()
    assert (runs.end <= made.end[runs.job] + TOLERANCE).all()
    for host, processors in enumerate(made.machine.processors.tolist()):
        here = runs.host == host
        instant = np.concatenate([runs.end[here], runs.begin[here]])
        change = np.concatenate([-runs.processors[here], runs.processors[here]]).astype(float)
        order = np.argsort(instant, kind="stable")  # at one instant, ends precede starts
        assert np.cumsum(change[order]).max(initial=0.0) <= processors * (1 + TOLERANCE)


def every_job_completes_its_work(run: Run, made: Schedule) -> None:
    if run.case.package == "models.partitioning" and run.point.workload.get("model") == "short_long":
        return  # threads that communicate lose less time on fewer processors
    jobs, runs = made.jobs, made.runs
    done = np.bincount(runs.job, (runs.end - runs.begin) * runs.processors, len(jobs))
    needed = jobs.runtime * jobs.size
    assert (done >= needed * (1 - 1e-9) - TOLERANCE).all()
    if made.pieces is None:
        np.testing.assert_allclose(done, needed, rtol=1e-9, atol=TOLERANCE)


def a_schedule_gives_the_measured_values(run: Run, made: Schedule) -> None:
    """Recompute the metrics from the schedule of a whole trace in one batch."""
    if not run.case.ends:
        return
    common, metrics = run.family.common, run.family.simulate(run.whole).metrics
    trace = made.trace
    measured = slice(None) if trace is None else trace.measured
    jobs, submit = made.jobs.part(measured), made.jobs.submit[measured]
    response = made.end[measured] - submit
    values = {
        "wait": made.start[measured] - submit,
        "response_time": response,
        "slowdown": response / jobs.runtime,
        "bounded_slowdown": np.maximum(response / np.maximum(jobs.runtime, BOUND_S), 1),
    }
    if run.case.package != "models.concurrent_gang":  # its statements may take less than their mean
        assert values["slowdown"].min(initial=1.0) >= 1 - 1e-9
    for name in set(OF_JOBS) & set(common):
        expected = values[name]
        assert metrics[name] == pytest.approx([expected.mean()], abs=TOLERANCE)
        assert metrics[f"{name}_p95"] == pytest.approx([np.percentile(expected, 95)], abs=TOLERANCE)
        assert metrics[f"{name}_max"] == pytest.approx([expected.max()], abs=TOLERANCE)
    first = float(jobs.submit[0])
    last = made.end[measured].max() if trace is None or trace.until is None else trace.until
    runs, capacity = made.runs, made.machine.total * (last - first)
    during = np.clip(runs.end, first, last) - np.clip(runs.begin, first, last)
    in_system = np.clip(made.end, first, last) - np.clip(made.jobs.submit, first, last)
    held = "allocated" if "allocated" in metrics else "utilization"
    of_machine = {held: during @ runs.processors / capacity}
    of_machine["jobs_in_system"] = in_system.sum() / (last - first)
    if made.end.max() <= last and first == made.jobs.submit[0] and loses_no_work(run):
        of_machine["utilization"] = made.jobs.size @ made.jobs.runtime / capacity
    for name in set(of_machine) & set(metrics):
        assert metrics[name] == pytest.approx([of_machine[name]])


def loses_no_work(run: Run) -> bool:
    """Return whether a job's processor time is its processors times its runtime: nothing is done twice."""
    of_statements = run.case.package in ("models.concurrent_gang", "models.medium_term")
    return not of_statements and not any(run.point.policy.get(key) for key in ("immediate", "quantum"))


def a_schedule_is_written_as_a_log(run: Run, made: Schedule, path: Path) -> None:
    write_schedule(path, made, [str(run.whole)])
    columns = swf.read(path).columns
    assert len(columns["job"]) == len(made.jobs)
    np.testing.assert_array_equal(columns["processors"], made.jobs.size)
    np.testing.assert_allclose(columns["runtime"], made.jobs.runtime)
    np.testing.assert_allclose(columns["wait"], made.delay, atol=TOLERANCE)


def same(outcome: Outcome, other: Outcome) -> None:
    """Compare bits, NaN included."""
    assert outcome.overflowed == other.overflowed
    assert outcome.jobs == other.jobs
    assert set(outcome.metrics) == set(other.metrics)
    for name, values in outcome.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name], err_msg=name, strict=True)


def differ(metrics: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> bool:
    """Return whether any number differs; much faster than `same`, which formats the differences."""
    return any(not np.array_equal(values, others[name], equal_nan=True) for name, values in metrics.items())


def _of_all_jobs(outcome: Outcome) -> Outcome:
    return replace(outcome, metrics={n: v for n, v in outcome.metrics.items() if v.ndim == 1})
