"""What has to be so under any scheduler of tasks, whatever the engine does inside."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from concurrent_gang_twin import Draws, Phase, Settings, run
from family_cases import CONF, LOG, read

from models.concurrent_gang import FAMILY, model
from models.concurrent_gang.metrics import STATES
from models.concurrent_gang.recording import Recorder
from models.gang import FAMILY as PACKING
from models.point import Batches, Point

POLICIES = ("gang", "concurrent_gang_rr", "concurrent_gang", "uncoordinated")
KINDS = ("computation", "communication", "io", "synchronization")
HORIZON = 4000.0


@cache
def file(group: str, name: str) -> dict[str, Any]:
    (path,) = (CONF / group).rglob(f"{name}.yaml")
    return read(path)


def point(
    policy: str, kinds: Any = "computation", n_pes: int = 16, load: float | None = 1.5, **keys: Any
) -> Point:
    """Return a point that is cut at the horizon; keys of statements and of the policy."""
    statements = {
        key: keys.pop(key) for key in list(keys) if key in file("workload", "jann1997_nasa")["statements"]
    }
    workload = file("workload", "jann1997_nasa")
    return Point(
        file("policy/concurrent_gang", policy) | {"horizon": HORIZON} | keys,
        workload | {"statements": workload["statements"] | {"kinds": kinds} | statements},
        file("machine", "pe128") | {"name": "torus", "processors": n_pes},
        load,
        Batches(100, 0, (1,)),
        (1, 2, 0),
    )


def one_job(size: int, runtime: float) -> dict[str, Any]:
    """Return a workload of one job alone."""
    jobs = {"submit": np.array([5.0]), "runtime": np.array([runtime]), "processors": np.array([size])}
    return file("workload", "arrays") | {"jobs": jobs}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kinds", KINDS)
def test_every_second_of_every_pe_is_accounted_for(policy: str, kinds: str) -> None:
    metrics = FAMILY.simulate(point(policy, kinds)).metrics
    assert metrics["pe_time"].sum() == pytest.approx(16 * HORIZON)
    assert metrics["idle_time"][0] == pytest.approx(metrics["pe_time"][0, 2:].sum())
    assert metrics["utilization"][0] == pytest.approx(metrics["pe_time"][0, 0] / (16 * HORIZON))
    waited = dict(zip(STATES[3:], metrics["task_wait"][0], strict=True))
    assert [cause for cause, seconds in waited.items() if seconds] == ([kinds] if kinds in waited else [])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kinds", KINDS)
def test_no_task_runs_twice_at_once(policy: str, kinds: str) -> None:
    recorder = Recorder()
    simulation = model.prepare(point(policy, kinds), recorder)
    simulation.run(1, until=HORIZON)
    simulation.cut(HORIZON)
    made = recorder.timeline()
    for of in ((made.pe,), (made.job, made.task)):
        these = np.flatnonzero(made.job >= 0)
        these = these[np.lexsort((made.begin[these], *(each[these] for each in of)))]
        same = np.all([each[these][1:] == each[these][:-1] for each in of], axis=0)
        assert (made.begin[these][1:][same] >= made.end[these][:-1][same] - 1e-9).all()
    for job, task in {(int(j), int(t)) for j, t in zip(made.job, made.task, strict=True) if j >= 0}:
        assert len(set(made.pe[(made.job == job) & (made.task == task)])) == 1, "tasks stay on their PE"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("kinds", "alone"),
    [
        ("computation", 100.0),
        ("io", 100.0 + 10 * 5.0),
        ("synchronization", 100.0 + 25 * 0.25),
    ],
)
def test_a_job_alone_takes_its_time(policy: str, kinds: str, alone: float) -> None:
    given = point(policy, kinds, load=None, costs="regular", barrier_latency=0.25)
    statements = given.workload["statements"]
    given = replace(given, workload=one_job(8, 100.0) | {"statements": statements})
    metrics = FAMILY.simulate(given).metrics
    # In regular steps the twenty-fifth barrier is the program's end.
    assert metrics["response_time"][0] == pytest.approx(alone, rel=1e-12)
    assert metrics["wait"][0] == 0.0


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
    workload = file("workload", "arrays") | {"jobs": jobs}
    machine = file("machine", "pe128") | {"processors": 16, "context_switch": 0.0}
    batches = Batches(None, 0, (1,))
    policy = file("policy/concurrent_gang", "gang") | {"scheme": scheme, "slice": 0.01}
    tasks = FAMILY.schedule(Point(policy, workload, machine, None, batches))
    packing = file("policy/gang", "first_fit") | {"alternation": "none", "unification": False, "threshold": 8}
    packing |= {"scheme": scheme, "slot_choice": "first", "controller_load": "paths"}
    fluid = PACKING.schedule(Point(packing, workload, machine, None, batches))
    used = float(FAMILY.simulate(Point(policy, workload, machine, None, batches)).metrics["used_slots"][0])
    assert used > 1.5
    np.testing.assert_allclose(tasks.end, fluid.end, atol=0.5)


@pytest.mark.parametrize("policy", ["concurrent_gang", "gang"])
def test_grades_follow_a_change_of_phase_within_five_slots(policy: str) -> None:
    kinds = [{"share": 0.5, "kinds": "io"}, {"share": 0.5, "kinds": "computation"}]
    given = point(policy, kinds, load=None, costs="regular", io_time=10.0)
    given = replace(given, workload=one_job(4, 200.0) | {"statements": given.workload["statements"]})
    recorder = Recorder()
    simulation = model.prepare(given, recorder)
    simulation.run(1, until=1000.0)
    simulation.cut(1000.0)
    grades = recorder.grades()
    mine = grades.task == 0
    change = 5.0 + 100.0 + 10 * 10.0  # submission, ten stretches and ten times of input and output
    before = grades.io[mine & (grades.time <= change)][-1]
    after = grades.io[mine & (grades.time >= change + 6 * 10.0)]
    assert before == pytest.approx(0.5, abs=0.1)
    assert (after == 0).all()
    assert (grades.computation[mine & (grades.time >= change + 6 * 10.0)] == 1).all()


def test_idle_slots_are_filled_by_whom_coordination_does_not_matter() -> None:
    busy = {policy: FAMILY.simulate(point(policy)).metrics for policy in ("gang", "concurrent_gang")}
    assert busy["gang"]["local_share"] == 0
    assert busy["concurrent_gang"]["local_share"] > 0.05
    assert busy["concurrent_gang"]["pe_time"][0, 0] > busy["gang"]["pe_time"][0, 0]


def test_cells_are_freed_with_tasks_or_with_jobs() -> None:
    """With tasks more jobs share the machine: idle slots of ended tasks are given to newcomers."""
    kept, freed = (FAMILY.simulate(point("gang", "io", cells=cells)).metrics for cells in ("job", "task"))
    assert freed["idling_ratio"] < kept["idling_ratio"]


def of_jobs(jobs: Sequence[tuple[float, int, float]], n_pes: int, switch: float, **keys: Any) -> Point:
    """Return a point of (arrival, size, runtime) under gang scheduling with slices of 10 s."""
    given = point("gang", load=None, n_pes=n_pes, **({"costs": "regular", "slice": 10.0} | keys))
    submit, size, runtime = map(np.array, zip(*jobs, strict=True))
    columns = {"submit": submit, "processors": size, "runtime": runtime}
    workload = file("workload", "arrays") | {"jobs": columns, "statements": given.workload["statements"]}
    return replace(given, workload=workload, machine=given.machine | {"context_switch": switch})


def ends(jobs: Sequence[tuple[float, int, float]], n_pes: int, switch: float = 0.0) -> list[float]:
    """Return when jobs end, by the engine and by its twin, which agree."""
    found = FAMILY.schedule(of_jobs(jobs, n_pes, switch)).end.tolist()
    settings = Settings(n_pes, (1, n_pes), 10.0, local="none", context_switch=switch)
    draws = Draws(
        lambda *_: 0.0, lambda *_: 0.0, lambda key, task, step, mean: mean, lambda key, exchange, size: 1
    )
    given = [(*job, number) for number, job in enumerate(jobs)]
    twin = run(given, [Phase(1.0, 1, 1)], settings, draws, HORIZON)
    assert found == pytest.approx(twin.ends)
    return found


def test_a_switch_that_the_signal_interrupts_is_made_again() -> None:
    """The second PE switches to job 2 from 9.75 on, and at 10 another row is next."""
    jobs = [(0.0, 2, 2.0), (9.75, 1, 1.0), (9.75, 1, 5.0), (9.75, 1, 5.0)]
    assert ends(jobs, 2, switch=0.5) == pytest.approx([2.0, 21.5, 25.5, 15.5])


def test_jobs_that_arrive_at_a_signal_run_in_the_order_of_those_that_arrive_first_of_all() -> None:
    assert ends([(0.0, 2, 5.0), (0.0, 2, 5.0)], 2) == [5.0, 15.0]
    assert ends([(0.0, 1, 1.0), (10.0, 2, 5.0), (10.0, 2, 5.0)], 2) == [1.0, 15.0, 25.0]


@pytest.mark.parametrize(("cells", "n_notified"), [("task", 4), ("job", 4)])
def test_the_end_of_a_task_is_a_change_of_the_workload(cells: str, n_notified: int) -> None:
    """A job of two tasks comes, which end one after the other on account of their links: three changes."""
    given = of_jobs([(1.0, 2, 7.0)], 2, 0.0, kinds="io", costs="exponential", cells=cells)
    metrics = FAMILY.simulate(given).metrics
    assert metrics["workload_changes"] == 3
    assert metrics["pes_notified"] == n_notified


def test_a_slot_whose_owner_is_held_is_no_empty_one() -> None:
    """One job: 1 s of I/O after 10 s; under at_signal it has its PE again at 20."""
    given = of_jobs([(0.0, 1, 15.0)], 1, 0.0, kinds="io", io_time=1.0, slice=20.0, returns="at_signal")
    time = dict(zip(STATES, FAMILY.simulate(given).metrics["pe_time"][0], strict=True))
    assert time["io"] == pytest.approx(10.0)


def test_under_gang_scheduling_a_task_is_scheduled_once_a_period() -> None:
    """Three rows: a job has every third slice, and no other (section 3.2)."""
    pieces = FAMILY.schedule(of_jobs([(0.0, 2, 45.0)] * 3, 2, 0.0)).pieces
    assert pieces is not None
    for job in range(3):
        begins = np.unique(pieces.begin[pieces.job == job])
        assert begins[:4].tolist() == [10.0 * (job + 3 * period) for period in range(4)]


@pytest.mark.parametrize(("central_cost", "of_machine"), [(0.0, 0.5), (0.01, None)])
def test_a_controller_costs_in_proportion_to_the_machine_and_a_clock_does_not(
    central_cost: float, of_machine: float | None
) -> None:
    for n_pes in (2, 8, 64):
        jobs = [(0.0, n_pes, 55.0)] * 2
        metrics = FAMILY.simulate(of_jobs(jobs, n_pes, of_machine or 0.0, central_cost=central_cost)).metrics
        switching = metrics["pe_time"][0, STATES.index("switching")] / metrics["switches"][0]
        assert switching == pytest.approx(of_machine or central_cost * n_pes)


def test_rows_are_limited_and_the_next_job_waits() -> None:
    jobs = [(0.0, 2, 12.0), (1.0, 2, 5.0), (2.0, 1, 1.0)]
    found = FAMILY.schedule(of_jobs(jobs, 2, 0.0, slots_limit=1))
    assert found.start.tolist() == [0.0, 12.0, 17.0]
    assert found.end.tolist() == [12.0, 17.0, 18.0]


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
        ({"slice": 0.0004}, "not longer than a switch"),
        ({"central_cost": 1.0}, "16 s to notify 16 PEs"),
        ({"scheme": "migration"}, "tasks here stay on their PE"),
        ({"mix": {"io": 0}}, "allowed: a share, above 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        FAMILY.check(point("concurrent_gang", **keys))
    assert "\n" not in str(refused.value)


def test_a_horizon_is_one_batch_and_has_room_for_every_job() -> None:
    given = point("concurrent_gang", "io")
    few = point("concurrent_gang", "io", job_limit=3)
    np.testing.assert_array_equal(
        FAMILY.simulate(few).metrics["throughput"], FAMILY.simulate(given).metrics["throughput"]
    )
    with pytest.raises(ValueError, match="makes a run one batch"):
        FAMILY.check(replace(given, batches=Batches(100, 1, (10,))))
    FAMILY.check(replace(given, batches=Batches(None, 0, (1,))))


def test_a_log_that_is_cut_says_so_and_can_be_written(tmp_path: Path) -> None:
    log = file("workload", "swf") | {
        "path": str(LOG),
        "statements": file("workload", "jann1997_nasa")["statements"],
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
