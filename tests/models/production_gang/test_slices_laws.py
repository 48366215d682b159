"""What has to be so under fixed slices whatever the engines do inside: laws on whole schedules, and closed
forms.
"""

from __future__ import annotations

from dataclasses import replace
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
    "system": "tc2000", "slice": 10.0, "switch": 0.0, "tells": True, "fair_share": "user",
    "newcomer_slices": 1, "placement": "blocks", "unclassified": "production",
}  # fmt: skip
ALPHA = {
    "system": "alpha", "slice": 10.0, "switch": 0.0, "tells": True, "reserved": 1, "gang_from": 2, "frame": 6,
    "delivered": 1.0, "memory_room": 2.0, "oversized": "cut", "priority": cases.PRIORITY,
    "unclassified": "production",
}  # fmt: skip


def jobs_of(*rows: tuple[float, float, int, int]) -> Jobs:
    """Return jobs of (submission, runtime, processors, user)."""
    submit, runtime, size, user = (np.array(column) for column in zip(*rows, strict=True))
    nobody = np.zeros(len(rows), np.int64)
    return Jobs(submit * 1.0, runtime * 1.0, np.full(len(rows), np.nan), size, nobody, user=user)


def run(jobs: Jobs, machine: Machine, policy: dict[str, Any], phases: Any = None, **keys: Any) -> Run:
    return cases.Case(jobs, machine, {**policy, **keys}, {"phases": phases}).run()


def cluster(*processors: int, memory: int = 2**60) -> Machine:
    names = tuple(f"alpha{h}" for h in range(len(processors)))
    return Machine(names, np.array(processors), np.full(len(processors), memory), spans=True)


@pytest.mark.parametrize("seed", range(4))
def test_no_pe_has_two_jobs_and_none_moves(seed: int) -> None:
    case = replace(cases.tc2000(seed), workload={"phases": None})
    made = case.run()
    pes, pieces = made.detail.pes, made.schedule.pieces
    np.testing.assert_array_equal(pes.sum(axis=1), made.schedule.jobs.size)
    # One set of PEs a job, for all of its pieces: no two pieces that overlap in time may share one of them.
    order = np.argsort(pieces.begin, kind="stable")
    free_from = np.full(case.machine.total, -np.inf)
    for piece in order.tolist():
        its = pes[pieces.job[piece]]
        assert free_from[its].max() <= pieces.begin[piece]
        free_from[its] = pieces.end[piece]


@pytest.mark.parametrize("seed", range(4))
def test_the_reserve_is_kept_from_gangs_and_parts_of_a_job_run_together(seed: int) -> None:
    case = cases.alpha(seed)
    try:
        made = case.run()
    except ValueError:
        return
    pieces, jobs = made.detail.noted, made.schedule.jobs
    is_gang = jobs.size >= case.policy["gang_from"]
    for host, processors in enumerate(case.machine.processors.tolist()):
        here = (pieces.host == host) & is_gang[pieces.job]
        time = np.concatenate([pieces.end[here], pieces.begin[here]])
        change = np.concatenate([-pieces.had[here], pieces.had[here]])
        held = np.cumsum(change[np.argsort(time, kind="stable")])
        assert held.max(initial=0) <= processors - case.policy["reserved"]
        everybody = pieces.host == host
        time = np.concatenate([pieces.end[everybody], pieces.begin[everybody]])
        change = np.concatenate([-pieces.used[everybody], pieces.used[everybody]])
        assert np.cumsum(change[np.argsort(time, kind="stable")]).max(initial=0.0) <= processors + 1e-9
    if case.workload["phases"] is None:
        for job in np.flatnonzero((made.detail.layout > 0).sum(axis=1) > 1).tolist():
            its = pieces.job == job
            times = [
                {(b, e) for b, e in zip(pieces.begin[its & at], pieces.end[its & at], strict=True)}
                for at in (pieces.host == host for host in np.flatnonzero(made.detail.layout[job]))
            ]
            assert all(each == times[0] for each in times)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("system", [cases.tc2000, cases.alpha])
def test_no_work_is_lost(system: Any, seed: int) -> None:
    case = system(seed)
    try:
        made = case.run().schedule
    except ValueError:
        return
    got = np.bincount(
        made.pieces.job, (made.pieces.end - made.pieces.begin) * made.pieces.processors, len(made.jobs)
    )
    is_gang = made.jobs.size >= case.policy.get("gang_from", 0)
    needed = made.jobs.size * made.jobs.runtime / np.where(is_gang, case.policy.get("delivered", 1.0), 1.0)
    np.testing.assert_allclose(got, needed, rtol=1e-9)


@pytest.mark.parametrize(
    ("machine", "policy", "size"),
    [(pool(126), TC2000, 64), (cluster(8, 10, 12), ALPHA, 9), (cluster(8, 10, 12), ALPHA, 27)],
)
def test_a_job_alone_runs_as_on_a_dedicated_machine(machine: Machine, policy: dict, size: int) -> None:
    made = run(jobs_of((3.0, 123.456, size, 0)), machine, policy, switch=0.005).schedule
    assert made.start.tolist() == [10.0]
    assert made.end.tolist() == [10.0 + 123.456]
    assert made.delay.tolist() == [7.0]
    assert (made.pieces.begin == 10.0).all()
    assert (made.pieces.end == made.end[0]).all()
    assert made.pieces.processors.sum() == size


def delivered_to(made: Run, until: float) -> np.ndarray:
    pieces = made.schedule.pieces
    during = np.minimum(pieces.end, until) - np.minimum(pieces.begin, until)
    return np.bincount(made.schedule.jobs.user[pieces.job], during * pieces.processors)


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
    assert made.schedule.end.tolist() == pytest.approx([180.0 + 0.5 + 9.0, 190.0 + 9.5])
    assert made.preemptions.tolist() == [9, 9]
    assert made.detail.switches.end - made.detail.switches.begin == pytest.approx(np.full(18, 0.5))


def test_who_comes_back_has_saved_up_nothing() -> None:
    rows = [(0.0, 1e5, 8, 0), (10_000.0, 1e5, 8, 1)]
    made = run(jobs_of(*rows), pool(8), TC2000)
    late = delivered_to(made, 20_000.0) - delivered_to(made, 10_000.0)
    assert np.abs(late - 8 * 5_000.0).max() <= 2 * 8 * 10.0


def test_jobs_that_are_not_gang_scheduled_share_the_reserve() -> None:
    jobs = jobs_of((0.0, 1000.0, 3, 0), *((20.0, 60.0, 1, 1) for _ in range(3)))
    made = run(jobs, cluster(4), ALPHA).schedule
    assert made.end[1:].tolist() == pytest.approx([200.0, 200.0, 200.0])  # one CPU for three of them
    assert made.end[0] == 1000.0


def test_gangs_of_a_higher_class_have_all_slices() -> None:
    jobs = replace(
        jobs_of((0.0, 500.0, 21, 0), (100.0, 200.0, 21, 1)), job_class=np.array([3, 0])
    )  # production, express; each spans all gang CPUs
    made = run(jobs, cluster(8, 8, 8), ALPHA).schedule
    assert (made.start[1], made.end[1]) == (100.0, 300.0)
    assert made.end[0] == 700.0


def test_two_gangs_that_span_computers_have_every_other_slice() -> None:
    made = run(jobs_of((0.0, 300.0, 21, 0), (0.0, 300.0, 21, 1)), cluster(8, 8, 8), ALPHA)
    ends = np.sort(made.schedule.end)
    assert ends.tolist() == [590.0, 600.0]
    assert made.detail.tickets.issued >= 6


def test_memory_that_is_not_there_is_waited_for() -> None:
    jobs = replace(jobs_of((0.0, 100.0, 2, 0), (0.0, 100.0, 2, 1)), memory=np.array([1200, 1000]))
    made = run(jobs, cluster(8, memory=1000), ALPHA).schedule
    assert made.start.tolist() == [0.0, 100.0]
    made = run(jobs, cluster(8, memory=1100), ALPHA).schedule
    assert made.start.tolist() == [0.0, 0.0]


TOO_LARGE = {"submit": [0.0], "runtime": [10.0], "processors": [75]}


@pytest.mark.parametrize(
    ("policy", "machine", "keys", "message"),
    [
        ("tc2000", "tc2000", {"policy": {"slice": 0}}, "policy.slice=0; allowed: a positive number of sec"),
        ("tc2000", "tc2000", {"policy": {"switch": 10}}, "policy.switch=10; .* than policy.slice=10"),
        ("tc2000", "tc2000", {"policy": {"fair_share": "x"}}, "policy.fair_share=x; allowed: user, job"),
        ("tc2000", "tc2000", {"policy": {"system": "t3e"}}, "policy.system=t3e; allowed: t3d, tc2000, alpha"),
        ("tc2000", "alpha", {}, "machine alpha has 8 hosts, and policy tc2000_gang "),
        ("alpha", "alpha", {"policy": {"reserved": 8}}, "policy.reserved=8 leaves gangs no CPU of alpha7"),
        ("alpha", "alpha", {"policy": {"gang_from": 13}}, "policy.gang_from=13: .* allowed: 1 to 12"),
        ("alpha", "alpha", {"policy": {"priority": {"urgent": 1}}}, "policy.priority.urgent is not known"),
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
