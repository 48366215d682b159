"""Start times by independent programs, for every family that can run as EASY or FCFS on one pool.

Where they come from: ``tests/data/backfill/README.md``.
"""

import gzip
from pathlib import Path

import numpy as np
from family_cases import archive_log

from models.jobs import swf

DATA = Path(__file__).parents[1] / "data" / "backfill"
GENERATED = DATA / "syn1k.swf.gz"
PROCESSORS = 128


def generated_starts() -> np.ndarray:
    """Return the start times of the generated jobs under EASY, ties by instant."""
    return _table("ref_easy_batch_1k.csv.gz")[:, 1]


def real_starts(schedule: str) -> np.ndarray:
    """Return the start times of `real_jobs` under a schedule, e.g. ``easy_instant``."""
    columns = ("easy_instant", "easy_event", "conservative_event", "fcfs")
    return _table("sdsc_sp2_5k_starts.csv.gz")[:, columns.index(schedule)] - real_jobs()[1]


def real_jobs() -> tuple[dict[str, np.ndarray], float]:
    """Return the jobs of SDSC-SP2 and the first submission, their time 0; skip the test without that log."""
    log = swf.read(archive_log("SDSC-SP2-1998-first5K")).columns
    kept = (log["runtime"] > 0) & (log["processors"] > 0) & (log["processors"] <= PROCESSORS)
    submit, runtime, requested, size = (
        log[name][kept].astype(float) for name in ("submit", "runtime", "requested_time", "processors")
    )
    jobs = {
        "submit": submit - submit[0],
        "runtime": np.minimum(runtime, requested),
        "requested": requested,
        "processors": size.astype(np.int64),
    }
    return jobs, float(submit[0])


def _table(name: str) -> np.ndarray:
    text = gzip.decompress((DATA / name).read_bytes()).decode()
    return np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
