"""Measures by group and over time against plain recounts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from models.jobs.division import Division
from models.jobs.groups import Grouping
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, Machine, pool
from models.jobs.measures import Measures
from models.jobs.schedule import Pieces, Schedule
from models.jobs.schedule_measures import measure
from models.point import Batches

HOUR = 3600.0
FILES = {path.stem: path for path in (Path(__file__).parents[3] / "conf" / "groups").glob("*.yaml")}
GROUPINGS = {
    name: Grouping.of(name, OmegaConf.to_container(OmegaConf.load(path))) for name, path in FILES.items()
}
ALL = Measures(10.0, tuple(GROUPINGS.values()))
NONE = Measures(10.0)


def drawn(n: int, seed: int) -> Schedule:
    """Return a schedule of independent columns: measures ask for nothing else."""
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.uniform(0, 1e6, n))
    runtime = np.exp(rng.uniform(0, 14, n))
    jobs = Jobs(
        submit,
        runtime,
        np.where(rng.random(n) < 0.1, np.nan, runtime * rng.uniform(1, 5, n)),
        np.rint(2 ** rng.uniform(0, 11, n)).astype(np.int64),
        rng.integers(0, 20 * KB_IN_GB, n),
        user=rng.integers(-1, 40, n),
    )
    start = submit + rng.exponential(1e4, n) * (rng.random(n) < 0.8)
    named = {name: rng.integers(-1, 12, n) for name in ("partition", "account", "qos", "reservation")}
    jobs = replace(jobs, **named, over_limit=rng.random(n) < 0.1)
    return Schedule(jobs, pool(2048), start, start + runtime, np.zeros(n, np.int64))


def label(name: str, made: Schedule, job: int) -> str:
    """Name a job's group in words, from the definitions."""
    jobs, labels = made.jobs, GROUPINGS[name].labels
    if name == "runtime":
        return labels[sum(jobs.runtime[job] >= 60.0 * 10**k for k in range(5))]
    if name == "size":
        return labels[sum(jobs.size[job] > most for most in (1, 4, 16, 64, 256, 1024))]
    if name == "ncsa_class":
        hours = jobs.requested[job] / HOUR
        time = next(
            (name for name, most in (("vst", 5), ("st", 50), ("mt", 200), ("lt", 400)) if hours <= most), ""
        )
        gigabytes = jobs.memory[job] / KB_IN_GB
        sizes = (("sj", 8, 2), ("mj", 16, 4), ("lj", 64, 16))
        size = next((n for n, p, m in sizes if jobs.size[job] <= p and gigabytes <= m), "")
        return f"{time}_{size}" if time and size else "other"
    if name == "job_class":
        return ""
    if name == "limit":
        return labels[int(jobs.over_limit[job])]
    every = jobs.size * jobs.runtime
    if name == "fifth":  # where the middle of the work of all jobs with this size lies
        smaller, alike = (
            every[which].sum() for which in (jobs.size < jobs.size[job], jobs.size == jobs.size[job])
        )
        return labels[int(5 * (smaller + alike / 2) / every.sum())]
    column = getattr(jobs, name)
    work = {u: float(every[column == u].sum()) for u in set(column.tolist()) - {-1}}
    ranked = sorted(work, key=lambda u: -work[u])[: len(labels) - 1]
    user = int(column[job])
    return str(ranked.index(user) + 1) if user in ranked else "others"


@pytest.mark.parametrize("name", GROUPINGS)
def test_every_group_is_a_plain_recount(name: str) -> None:
    made = drawn(400, 1)
    found = measure(made, Division.of(made.jobs.submit, Batches(150), 3), ALL)
    labels = [label(name, made, job) for job in range(400)]
    slowdown = (made.wait + made.jobs.runtime) / made.jobs.runtime
    for batch in range(3):
        these = range(150 * batch, min(150 * (batch + 1), 400))
        for k, group in enumerate(GROUPINGS[name].labels):
            inside = [job for job in these if labels[job] == group]
            assert found[f"jobs_by_{name}"][batch, k] == len(inside)
            waits = made.wait[inside]
            expected = {
                "wait": np.mean(waits) if inside else np.nan,
                "wait_p95": np.percentile(waits, 95) if inside else np.nan,
                "wait_max": np.max(waits) if inside else np.nan,
                "slowdown": np.mean(slowdown[inside]) if inside else np.nan,
            }
            for metric, value in expected.items():
                assert found[f"{metric}_by_{name}"][batch, k] == pytest.approx(value, nan_ok=True), (
                    metric,
                    group,
                )


def test_only_measured_jobs_count() -> None:
    """A month after its warm-up equals a log that begins with it; time ends at ``until``."""
    made = drawn(300, 3)
    month = slice(100, 250)
    found = measure(
        made, Division.of(made.jobs.submit, Batches(10**9), 1, month), ALL, until=float(made.jobs.submit[250])
    )
    alone = Schedule(
        made.jobs.part(month), made.machine, made.start[month], made.end[month], made.host[month]
    )
    expected = measure(alone, Division.of(alone.jobs.submit, Batches(10**9), 1), ALL)
    for name in expected:
        if name.startswith(("wait", "response_time", "slowdown", "bounded_slowdown", "delay", "jobs_by")):
            np.testing.assert_array_equal(found[name], expected[name])


def test_pieces_and_processors_kept_idle() -> None:
    """Two hosts of 4 processors over 10 s: one job in two pieces, one that waits, 2 processors kept idle."""
    machine = Machine(("a", "b"), np.array([4, 4]), np.array([KB_IN_GB, KB_IN_GB]))
    whole = np.array
    runtime = whole([4.0, 5.0])
    jobs = Jobs(np.zeros(2), runtime, runtime, whole([4, 2]), whole([1, 1]))
    made = Schedule(
        jobs, machine, whole([0.0, 5.0]), whole([10.0, 10.0]), whole([0, 1]),
        began=whole([0.0, 5.0]), waited=whole([6.0, 5.0]), preempted=whole([True, False]),
        pieces=Pieces(
            whole([0, 0, 1]), whole([0, 0, 1]), whole([0.0, 8.0, 5.0]), whole([2.0, 10.0, 10.0]),
            whole([4, 4, 2]),
        ),
        held=Pieces(whole([1]), whole([1]), whole([1.0]), whole([5.0]), whole([2])),
    )  # fmt: skip
    found = measure(made, Division.of(made.jobs.submit, Batches(2), 1), NONE)
    assert found["utilization"][0] == pytest.approx((2 * 4 + 2 * 4 + 5 * 2) / 80)
    assert found["held_idle"][0] == pytest.approx(4 * 2 / 80)
    assert found["loss_of_capacity"][0] == pytest.approx((2 * 4 + 3 * 8) / 80)
    assert found["queue_length"][0] == pytest.approx(0.5)
    assert found["preempted_share"][0] == 0.5
    assert found["started_at_once"][0] == 0.5
    assert found["wait"][0] == pytest.approx(2.5)
    assert found["delay"][0] == pytest.approx(5.5)
    assert found["response_time"][0] == pytest.approx(10.0)
