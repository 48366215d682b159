"""What has to be so under any scheduler of tasks, whatever the engine does inside."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import LOG, composed, refused

from models.concurrent_gang import FAMILY
from models.gang import FAMILY as PACKING
from models.point import Batches, Point

HORIZON = 4000.0


def point(
    policy: str, kinds: Any = "computation", n_pes: int = 16, load: float | None = 1.5, **keys: Any
) -> Point:
    """Return a point that is cut at the horizon; keys of statements and of the policy."""
    statements = {
        key: keys.pop(key) for key in list(keys) if key in composed("workload", "jann1997_nasa")["statements"]
    }
    workload = composed("workload", "jann1997_nasa")
    return Point(
        composed("policy/concurrent_gang", policy) | {"horizon": HORIZON} | keys,
        workload | {"statements": workload["statements"] | {"kinds": kinds} | statements},
        composed("machine", "pe128") | {"name": "torus", "processors": n_pes},
        load,
        Batches(100, 0, (1,)),
        (1, 2, 0),
    )


@pytest.mark.parametrize(
    "scheme",
    ["buddy", *(pytest.param(s, marks=pytest.mark.exhaustive) for s in ("best_fit", "left_right_size"))],
)
def test_short_slices_are_the_fluid_gang_scheduling_of_the_packing_schemes(scheme: str) -> None:
    """Two engines that have the matrix in common, and nothing else."""
    rng = np.random.default_rng(3)
    jobs = {
        "submit": np.cumsum(rng.exponential(8.0, 60)),
        "runtime": rng.exponential(40.0, 60) + 5.0,
        "processors": 2 ** rng.integers(0, 5, 60),
    }
    workload = composed("workload", "arrays") | {"jobs": jobs}
    machine = composed("machine", "pe128") | {"processors": 16, "context_switch": 0.0}
    batches = Batches(None, 0, (1,))
    policy = composed("policy/concurrent_gang", "gang") | {"scheme": scheme, "slice": 0.01}
    tasks = FAMILY.schedule(Point(policy, workload, machine, None, batches))
    packing = composed("policy/gang", "first_fit") | {
        "alternation": "none",
        "unification": False,
        "threshold": 8,
    }
    packing |= {"scheme": scheme, "slot_choice": "first", "controller_load": "paths"}
    fluid = PACKING.schedule(Point(packing, workload, machine, None, batches))
    used = float(FAMILY.simulate(Point(policy, workload, machine, None, batches)).metrics["used_slots"][0])
    assert used > 1.5
    np.testing.assert_allclose(tasks.end, fluid.end, atol=0.5)


def of_jobs(jobs: Sequence[tuple[float, int, float]], n_pes: int, switch: float, **keys: Any) -> Point:
    """Return a point of (arrival, size, runtime) under gang scheduling with slices of 10 s."""
    given = point("gang", load=None, n_pes=n_pes, **({"costs": "regular", "slice": 10.0} | keys))
    submit, size, runtime = map(np.array, zip(*jobs, strict=True))
    columns = {"submit": submit, "processors": size, "runtime": runtime}
    workload = composed("workload", "arrays") | {"jobs": columns, "statements": given.workload["statements"]}
    return replace(given, workload=workload, machine=given.machine | {"context_switch": switch})


@pytest.mark.parametrize(("cells", "n_notified"), [("task", 4), ("job", 4)])
def test_the_end_of_a_task_is_a_change_of_the_workload(cells: str, n_notified: int) -> None:
    """A job of two tasks comes, which end one after the other on account of their links: three changes."""
    given = of_jobs([(1.0, 2, 7.0)], 2, 0.0, kinds="io", costs="exponential", cells=cells)
    metrics = FAMILY.simulate(given).metrics
    assert metrics["workload_changes"] == 3
    assert metrics["pes_notified"] == n_notified


def test_classes_of_jobs_are_drawn_by_their_shares_and_measured_apart() -> None:
    """Local schedulers choose by grades: jobs that meet at barriers less often than those that compute."""
    given = point("concurrent_gang", mix={"computation": 1, "synchronization": 3}, load=0.9, spacing="random")
    metrics = FAMILY.simulate(given).metrics
    computation, communication, io, synchronization, other = metrics["jobs_of_class"][0]
    assert communication == io == other == 0
    assert 1 < synchronization / computation < 9
    assert metrics["busy_of_class"].sum() == pytest.approx(metrics["pe_time"][0, 0])
    share = metrics["local_of_class"][0] / np.maximum(metrics["busy_of_class"][0], 1)
    assert share[0] > share[3]
    assert metrics["local_of_class"].sum() == pytest.approx(
        metrics["local_share"][0] * metrics["pe_time"][0, 0]
    )


def test_a_schedule_up_to_a_horizon_is_in_no_batches() -> None:
    given = replace(point("gang", "io"), batches=Batches(None, 0, (1,)))
    assert len(FAMILY.schedule(given).jobs) > 20


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"kinds": {"of": 6, "local": 4, "communication": 1}}, "must add up"),
        ({"kinds": [{"share": 0.5, "kinds": "io"}]}, "add up to 0.5; they must add up to 1"),
        ({"kinds": {"of": 3, "local": 1, "io": 2}}, "at least one local statement"),
        ({"slice": 0.0004}, "allowed: a positive number of seconds, from 0.001 on"),
        ({"central_cost": 1.0}, "16 s to notify 16 PEs"),
        ({"scheme": "migration"}, "tasks here stay on their PE"),
        ({"mix": {"io": 0}}, "allowed: a share, above 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(keys: dict[str, Any], message: str) -> None:
    with refused(re.escape(message)):
        FAMILY.check(point("concurrent_gang", **keys))


def test_a_horizon_is_one_batch_and_has_room_for_every_job() -> None:
    given = point("concurrent_gang", "io")
    few = point("concurrent_gang", "io", job_limit=3)
    np.testing.assert_array_equal(
        FAMILY.simulate(few).metrics["throughput"], FAMILY.simulate(given).metrics["throughput"]
    )
    with pytest.raises(ValueError, match="makes each run one batch"):
        FAMILY.check(replace(given, batches=Batches(100, 1, (10,))))
    FAMILY.check(replace(given, batches=Batches(None, 0, (1,))))


def test_a_log_that_is_cut_says_so_and_can_be_written(tmp_path: Path) -> None:
    log = composed("workload", "swf") | {
        "path": str(LOG),
        "statements": composed("workload", "jann1997_nasa")["statements"],
    }
    given = replace(point("concurrent_gang", n_pes=128, load=None), workload=log)
    notes = FAMILY.check(given)
    assert any("of 1,000 jobs are submitted before the horizon of 4,000 s" in note for note in notes)
    made = FAMILY.schedule(given)
    assert 0 < len(made.jobs) < 1000
    FAMILY.export(given, tmp_path / "cut.swf")
    late = replace(given, policy=given.policy | {"horizon": 1e9})
    assert any("the rest of the time is counted too" in note for note in FAMILY.check(late))


def test_a_schedule_that_does_not_keep_up_is_no_endless_run() -> None:
    given = point("concurrent_gang", "io", load=0.9, horizon=None, io_time=5.0)
    given = replace(given, machine=given.machine | {"disks": 1}, batches=Batches(100, 0, (1,)))
    with pytest.raises(ValueError, match="does not keep up"):
        FAMILY.schedule(given)
