"""A multiprogramming level of 1 is space sharing: EASY with a backfilled queue, FCFS without.

Of all schemes but buddy, which needs whole groups of PEs to be free.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gang_cases import EIGHT, POLICIES

from models import backfill, gang
from models.jobs.schedule import Schedule
from models.point import Batches, Point

DATA = Path(__file__).parents[2] / "data" / "backfill"
SHARED = Path(__file__).parents[3] / ".." / "shared" / "reference-schedules"
REFERENCES = Path(os.environ.get("REFERENCE_SCHEDULES", SHARED))
SDSC = "sdsc_sp2_5k_clean"

SCHEMES = [name for name in EIGHT if name != "buddy"]
ONE = {"slots_limit": 1, "alternation": "exclusive"}


def of_log(path: Path, scheme: str, queue: str, ties: str) -> Schedule:
    policy = POLICIES[scheme] | ONE | {"queue": queue, "ties": ties}
    workload = {"name": "log", "model": "swf", "path": str(path)}
    return gang.FAMILY.schedule(Point(policy, workload, {"name": "log"}, None, Batches(None, 0, (1,))))


def starts_of(path: Path) -> np.ndarray:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)[:, 1]


def assert_starts(made: Schedule, expected: np.ndarray) -> None:
    assert made.trace is not None
    assert made.trace.log is not None
    first = float(made.trace.log.columns["submit"][0])
    np.testing.assert_array_equal(made.start + first, expected)
    np.testing.assert_allclose(made.end, made.start + made.jobs.runtime, rtol=0, atol=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_easy_on_generated_jobs(scheme: str) -> None:
    made = of_log(DATA / "syn1k.swf.gz", scheme, "backfill", "instant")
    assert_starts(made, starts_of(DATA / "ref_easy_batch_1k.csv.gz"))


@pytest.mark.parametrize(
    ("queue", "ties", "file"),
    [
        ("backfill", "instant", f"ref_easy_batch_{SDSC}.csv"),
        ("backfill", "event", f"pyss_easy_{SDSC}.csv"),
        ("fcfs", "instant", f"pyss_fcfs_{SDSC}.csv"),
        ("fcfs", "event", f"pyss_fcfs_{SDSC}.csv"),
    ],
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_real_log(scheme: str, queue: str, ties: str, file: str) -> None:
    """Every start as independent programs have it."""
    if not (REFERENCES / file).exists():
        pytest.skip(f"no {file} in {REFERENCES}")
    assert_starts(of_log(REFERENCES / f"{SDSC}.swf", scheme, queue, ties), starts_of(REFERENCES / file))


@pytest.mark.parametrize("ties", ["instant", "event"])
@pytest.mark.parametrize(("queue", "other"), [("backfill", "easy"), ("fcfs", "fcfs")])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_projects_own_backfilling(scheme: str, queue: str, other: str, ties: str) -> None:
    """Requests above and below runtimes, which end a job, and times that are no whole numbers.

    Many jobs are submitted at one instant, so that ties matter.
    """
    rng = np.random.default_rng(7)
    n_jobs = 1500
    runtime = np.ceil(rng.lognormal(5, 1.5, n_jobs)) / 4
    jobs = {
        "submit": np.floor(np.cumsum(rng.exponential(60, n_jobs)) / 100) * 100,
        "runtime": runtime,
        "processors": np.minimum(2 ** rng.integers(0, 7, n_jobs) + rng.integers(0, 5, n_jobs), 64),
        "requested": np.ceil(runtime * rng.uniform(0.7, 4, n_jobs)) / 4,
    }
    workload = {"name": "mine", "model": "arrays", "jobs": jobs}
    space = {"name": other, "discipline": queue, "ties": ties}
    gangs = POLICIES[scheme] | ONE | {"queue": queue, "ties": ties, "kill": True}
    point = Point(space, workload, {"name": "pe64", "processors": 64}, None, Batches(None, 0, (1,)))
    expected = backfill.FAMILY.schedule(point)
    made = gang.FAMILY.schedule(replace(point, policy=gangs))
    assert (expected.wait > 0).mean() > 0.3
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.end, expected.end)
    np.testing.assert_array_equal(made.jobs.runtime, expected.jobs.runtime)
