"""Every start time as independent programs have it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from backfill_cases import by_priority, rules

from models import workloads
from models.backfill.conservative.hosts import simulate as conservative_on_hosts
from models.backfill.conservative.rules import Conservative
from models.backfill.engine import schedule
from models.backfill.priority.reservations import simulate as on_hosts
from models.backfill.priority.rules import Priority
from models.backfill.priority.single_reservation import simulate as with_one
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.trace import Trace
from models.point import Point

DATA = Path(__file__).parents[2] / "data" / "backfill"
SHARED = Path(__file__).parents[3] / ".." / "shared" / "reference-schedules"
REFERENCES = Path(os.environ.get("REFERENCE_SCHEDULES", SHARED))

SDSC = "sdsc_sp2_5k_clean"


def jobs_of(path: Path) -> tuple[Jobs, Machine, float]:
    """Return a log's jobs, the machine of its header, and the time of the first submission."""
    opened = workloads.open_workload(Point({}, {"model": "swf", "path": path}, {"processors": None}))
    assert isinstance(opened, Trace)
    assert opened.log is not None
    assert len(opened.jobs) == opened.log.n_jobs, "every row is simulated"
    return opened.jobs, opened.machine, float(opened.log.columns["submit"][0])


def starts_of(path: Path) -> np.ndarray:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)[:, 1]


@pytest.mark.parametrize("engine", [schedule, on_hosts, with_one])
def test_easy_on_generated_jobs(engine) -> None:
    jobs, machine, first = jobs_of(DATA / "syn1k.swf.gz")
    made = engine(jobs, machine, by_priority("easy"))
    np.testing.assert_array_equal(made.start + first, starts_of(DATA / "ref_easy_batch_1k.csv.gz"))


@pytest.mark.parametrize(
    ("policy", "ties", "file"),
    [
        ("easy", "instant", f"ref_easy_batch_{SDSC}.csv"),
        ("easy", "event", f"pyss_easy_{SDSC}.csv"),
        ("conservative", "event", f"pyss_cons_{SDSC}.csv"),
        ("fcfs", "instant", f"pyss_fcfs_{SDSC}.csv"),
        ("fcfs", "event", f"pyss_fcfs_{SDSC}.csv"),
    ],
)
def test_a_real_log(policy: str, ties: str, file: str) -> None:
    if not (REFERENCES / file).exists():
        pytest.skip(f"no {file} in {REFERENCES}")
    jobs, machine, first = jobs_of(REFERENCES / f"{SDSC}.swf")
    how, expected = rules(policy, ties=ties), starts_of(REFERENCES / file)
    np.testing.assert_array_equal(schedule(jobs, machine, how).start + first, expected)
    if isinstance(how, Priority):
        np.testing.assert_array_equal(with_one(jobs, machine, how).start + first, expected)
    if isinstance(how, Conservative):
        np.testing.assert_array_equal(conservative_on_hosts(jobs, machine, how).start + first, expected)
