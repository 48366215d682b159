"""The waits that a log recorded, against loops over its rows and over every second."""

from pathlib import Path

import numpy as np
import pytest

from models import workloads
from models.jobs import recorded
from models.jobs.measures import Measures
from models.jobs.swf import write
from models.point import Batches, Point

PROCESSORS = 16
SMALL = {"size": {"dim": "size_range", "by": "processors", "edges": [4], "labels": ["small", "large"]}}


def log(folder: Path, wait: np.ndarray, seed: int = 5, **header: str) -> tuple[Path, dict[str, np.ndarray]]:
    """Write a log whose jobs never overlap on the machine so that any waits are possible ones."""
    random = np.random.default_rng(seed)
    n_jobs = wait.size
    columns = {
        "submit": np.sort(random.integers(0, 4000, n_jobs)),
        "wait": wait,
        "runtime": random.integers(1, 90, n_jobs),
        "processors": random.integers(1, 8, n_jobs),
        "user": random.integers(1, 4, n_jobs),
    }
    path = folder / "made.swf"
    write(path, columns, {"MaxProcs": [str(PROCESSORS)], **{key: [value] for key, value in header.items()}})
    return path, columns


def measured(
    path: Path,
    batches: Batches,
    groups: dict[str, dict[str, object]] | None = None,
    machine: dict[str, object] | None = None,
    **keys: object,
):
    workload = {"name": "mine", "model": "swf", "path": str(path), "zero_runtime": "drop", **keys}
    trace = workloads.open_log(Point({}, workload, machine or {}, None, batches))
    return trace, recorded.measure(trace, batches, Measures.of({"bound": 10.0, "groups": groups or {}}))


@pytest.mark.parametrize("unknown", [0, 30])
def test_measures_of_jobs_are_those_of_a_loop(tmp_path: Path, unknown: int) -> None:
    random = np.random.default_rng(1)
    wait = random.integers(0, 500, 103)
    wait[random.choice(103, unknown, replace=False)] = -1
    path, columns = log(tmp_path, wait)
    _, found = measured(path, Batches(None, 0, (5,)), SMALL)
    assert found["wait"].shape == (5,)
    size = -(-103 // 5)
    for number in range(5):
        rows = [row for row in range(number * size, min(103, (number + 1) * size)) if wait[row] >= 0]
        waits = [float(wait[row]) for row in rows]
        assert found["jobs"][number] == len(rows)
        assert found["wait"][number] == pytest.approx(np.mean(waits), rel=1e-12)
        assert found["wait_max"][number] == max(waits)
        assert found["wait_p95"][number] == pytest.approx(np.percentile(waits, 95))
        for group, is_small in enumerate((True, False)):
            those = [float(wait[row]) for row in rows if (columns["processors"][row] < 4) == is_small]
            assert found["wait_by_size"][number, group] == pytest.approx(np.mean(those))
            assert found["jobs_by_size"][number, group] == len(those)
    assert ("utilization" in found) == (unknown == 0)


@pytest.mark.parametrize(
    ("header", "processors", "defined"),
    [
        ({}, None, True),
        ({}, PROCESSORS * 2, False),
        ({"MaxProcs": "8"}, 9, True),  # of which its jobs had more than 8 at once
        ({"MaxProcs": "-1"}, PROCESSORS * 2, True),  # possible: the log does not name its machine
        ({"MaxProcs": "-1"}, 8, False),  # impossible: its jobs had more at once
    ],
)
def test_shares_of_another_machine_are_undefined(
    tmp_path: Path, header: dict[str, str], processors: int | None, defined: bool
) -> None:
    path, _ = log(tmp_path, np.random.default_rng(2).integers(0, 600, 80), **header)
    _, found = measured(path, Batches(None, 0, (4,)), machine={"processors": processors})
    for name in ("utilization", "loss_of_capacity"):
        assert np.isfinite(found[name]).all() == defined
        assert np.isnan(found[name]).all() != defined
    for name in ("wait", "response_time", "queue_length", "jobs_in_system"):
        assert np.isfinite(found[name]).all()
