"""What has to be so under fixed slices whatever the engines do inside: laws on whole schedules, and closed
forms.
"""

from typing import Any

import numpy as np
import pytest
import slices_cases as cases
from family_cases import CONF, read

from models.jobs.jobs import Jobs
from models.jobs.machine import Machine, pool
from models.point import Point
from models.production_gang import FAMILY
from models.production_gang.systems import Run

TC2000 = {
    "system": "tc2000", "slice": 10.0, "switch": 0.0, "adapts": True, "fair_share": "user",
    "newcomer_slices": 1, "placement": "blocks", "unclassified": "production",
}  # fmt: skip
ALPHA = {
    "system": "alpha", "slice": 10.0, "switch": 0.0, "adapts": True, "reserved": 1, "gang_from": 2,
    "frame": 6, "delivered": 1.0, "memory_room": 2.0, "oversized": "cut", "priority": cases.PRIORITY,
    "unclassified": "production",
}  # fmt: skip


def jobs_of(*rows: tuple[float, float, int, int]) -> Jobs:
    """Return jobs of (submission, runtime, processors, user)."""
    submit, runtime, size, user = (np.array(column) for column in zip(*rows, strict=True))
    no_memory = np.zeros(len(rows), np.int64)
    return Jobs(submit * 1.0, runtime * 1.0, np.full(len(rows), np.nan), size, no_memory, user=user)


def run(jobs: Jobs, machine: Machine, policy: dict[str, Any], phases: Any = None, **keys: Any) -> Run:
    return cases.Case(jobs, machine, {**policy, **keys}, {"phases": phases}).run()


def cluster(*processors: int, memory: int = 2**60) -> Machine:
    names = tuple(f"alpha{h}" for h in range(len(processors)))
    return Machine(names, np.array(processors), np.full(len(processors), memory), spans=True)


@pytest.mark.parametrize(
    ("machine", "policy", "size"),
    [(pool(126), TC2000, 64), (cluster(8, 10, 12), ALPHA, 9), (cluster(8, 10, 12), ALPHA, 27)],
)
def test_a_job_alone_runs_as_on_a_dedicated_machine(machine: Machine, policy: dict, size: int) -> None:
    made = run(jobs_of((3.0, 123.456, size, 0)), machine, policy, switch=0.005)
    assert made.start.tolist() == [10.0]
    assert made.end.tolist() == [10.0 + 123.456]
    assert made.delay.tolist() == [7.0]
    assert (made.pieces.begin == 10.0).all()
    assert (made.pieces.end == made.end[0]).all()
    assert made.pieces.processors.sum() == size


def delivered_to(made: Run, until: float) -> np.ndarray:
    pieces = made.pieces
    during = np.minimum(pieces.end, until) - np.minimum(pieces.begin, until)
    return np.bincount(made.jobs.user[pieces.job], during * pieces.processors)


@pytest.mark.parametrize("sizes", [(8, 8, 8), (8, 4, 8), (4, 4, 4)])
def test_users_share_equally_where_all_have_enough_to_do(sizes: tuple[int, int, int]) -> None:
    rows = [(0.0, 1e5, size, user) for user, size in enumerate(sizes) for _ in range((1, 3, 6)[user])]
    rows += [(0.0, 1e5, sizes[0], 0)]  # so that each user alone could fill the machine
    made = run(jobs_of(*rows), pool(8), TC2000)
    until = 30_000.0
    shares = delivered_to(made, until)
    # No job ends before: all processors are always busy, and each user has a third, to a slice of the
    # machine.
    assert shares.sum() == pytest.approx(8 * until)
    assert np.abs(shares - 8 * until / 3).max() <= 2 * 8 * 10.0


def test_two_jobs_in_turn_pay_for_each_switch() -> None:
    made = run(jobs_of((0.0, 95.0, 8, 0), (0.0, 95.0, 8, 1)), pool(8), TC2000, switch=0.5)
    # The first has slices 0, 2, …, the other 1, 3, …; each loses half a second in all of them, but the first
    # in its first, and the second in its last, when the first has ended: 10 + 8 x 9.5 + 9 s, and 9 x 9.5 +
    # 9.5 s.
    assert made.end.tolist() == pytest.approx([180.0 + 0.5 + 9.0, 190.0 + 9.5])
    assert made.preemptions.tolist() == [9, 9]
    assert made.detail.switches.end - made.detail.switches.begin == pytest.approx(np.full(18, 0.5))


def test_who_comes_back_has_saved_up_nothing() -> None:
    rows = [(0.0, 1e5, 8, 0), (10_000.0, 1e5, 8, 1)]
    made = run(jobs_of(*rows), pool(8), TC2000)
    late = delivered_to(made, 20_000.0) - delivered_to(made, 10_000.0)
    assert np.abs(late - 8 * 5_000.0).max() <= 2 * 8 * 10.0


TOO_LARGE = {"submit": [0.0], "runtime": [10.0], "processors": [75]}


@pytest.mark.parametrize(
    ("policy", "machine", "keys", "message"),
    [
        ("tc2000", "tc2000", {"policy": {"switch": 10}}, "policy.switch=10; .* than policy.slice=10"),
        ("tc2000", "alpha", {}, "machine alpha has 8 hosts, and policy tc2000_gang "),
        ("alpha", "alpha", {"policy": {"reserved": 8}}, "policy.reserved=8 leaves gangs no CPU of alpha7"),
        ("alpha", "alpha", {"policy": {"gang_from": 13}}, "policy.gang_from=13: .* allowed: 1 to 12"),
        (
            "alpha", "alpha", {"workload": {"phases": [{"share": 0.5, "processors": 1}]}},
            "workload.phases=.* add up to 1",
        ),
        (
            "alpha", "alpha", {"workload": {"jobs": TOO_LARGE}, "policy": {"oversized": "error"}},
            "job 1 asks for 75 processors, and gangs may have 72",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(
    policy: str, machine: str, keys: dict[str, Any], message: str
) -> None:
    workload = "arrays" if "jobs" in keys.get("workload", {}) else "lublin2003"
    names = {"policy": f"{policy}_gang", "workload": workload, "machine": machine}
    parts = [read(next((CONF / group).rglob(f"{name}.yaml"))) for group, name in names.items()]
    parts = [part | keys.get(group, {}) for part, group in zip(parts, names, strict=True)]
    with pytest.raises(ValueError, match=message) as refused:
        FAMILY.check(Point(*parts))
    assert "\n" not in str(refused.value)
