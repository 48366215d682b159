"""Every start time as independent programs have it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backfill_cases import by_priority, rules

from models import workloads
from models.backfill.conservative import hosts
from models.backfill.engine import schedule
from models.backfill.priority import reservations, single_reservation
from models.jobs import swf
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.trace import Trace
from models.point import Point

DATA = Path(__file__).parents[2] / "data" / "backfill"
LOG = Path(os.environ.get("TRACES", "")) / "SDSC-SP2-1998-first5K.swf.gz"


def starts_of(path: Path, column: int = 1) -> np.ndarray:
    text = gzip.decompress(path.read_bytes()).decode()
    return np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)[:, column]


@pytest.mark.parametrize("engine", [schedule, reservations.simulate, single_reservation.simulate])
def test_easy_on_generated_jobs(engine: Any) -> None:
    path = DATA / "syn1k.swf.gz"
    opened = workloads.open_workload(Point({}, {"model": "swf", "path": path}, {"processors": None}))
    assert isinstance(opened, Trace)
    assert opened.log is not None
    made = engine(opened.jobs, opened.machine, by_priority("easy"))
    expected = starts_of(DATA / "ref_easy_batch_1k.csv.gz") - opened.log.columns["submit"][0]
    np.testing.assert_array_equal(made.start, expected)


@pytest.mark.parametrize(
    ("policy", "ties", "column", "other"),
    [
        ("easy", "instant", 0, reservations),
        ("easy", "event", 1, single_reservation),
        ("conservative", "event", 2, hosts),
        ("fcfs", "instant", 3, single_reservation),
        ("fcfs", "event", 3, single_reservation),
    ],
)
@pytest.mark.skipif(not LOG.is_file(), reason=f"no {LOG.name} in the folder that TRACES names")
def test_a_real_log(policy: str, ties: str, column: int, other: Any) -> None:
    """By the kernel for one pool and by one for hosts."""
    log = swf.read(LOG).columns
    kept = (log["runtime"] > 0) & (log["processors"] > 0) & (log["processors"] <= 128)
    submit, runtime, requested, size = (
        log[name][kept].astype(float) for name in ("submit", "runtime", "requested_time", "processors")
    )
    runtime = np.minimum(runtime, requested)
    n = len(submit)
    jobs = Jobs(submit - submit[0], runtime, requested, size.astype(np.int64), np.zeros(n, np.int64))
    expected = starts_of(DATA / "sdsc_sp2_5k_starts.csv.gz", column) - submit[0]
    how = rules(policy, ties=ties)
    np.testing.assert_array_equal(schedule(jobs, pool(128), how).start, expected)
    np.testing.assert_array_equal(other.simulate(jobs, pool(128), how).start, expected)
