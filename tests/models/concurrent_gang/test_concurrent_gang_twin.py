"""The engine and its slow twin agree, statement by statement, under whatever settings."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
from concurrent_gang_twin import Draws, run
from concurrent_gang_twin import Simulation as Twin
from family_cases import composed, jobs_of

from models.concurrent_gang.metrics import STATES
from models.concurrent_gang.policies import Hardware, Rules, Uncoordinated, rules_of
from models.concurrent_gang.recording import Recorder
from models.concurrent_gang.simulation import Simulation
from models.jobs.jobs import Jobs
from models.packing.driver import Measured
from models.workloads.statements import OTHER, Phase, Statements, draws

SIDES = ((1, 1), (2, 2), (2, 3), (4, 4))
PHASES: dict[str, tuple[Phase, ...]] = {
    "computation": (Phase(1.0, 1),),
    "io": (Phase(1.0, 10, io=1),),
    "communication": (Phase(1.0, 4, communication=1),),
    "synchronization": (Phase(1.0, 4, synchronization=1),),
    "mixed": (Phase(1.0, 7, communication=2, io=1, synchronization=1),),
    "changing": (Phase(0.5, 3, io=1), Phase(0.5, 4, communication=2)),
    "partial": (
        Phase(0.25, 4, synchronization=1, tasks=0.5),
        Phase(0.5, 4, communication=1),
        Phase(0.25, 3, io=1, communication=1, tasks=0.75),
    ),
}
HORIZON = 400.0
READINGS = ("first_load", "arrivals", "turns", "quantum_from", "idle_cause", "measured")
"""Choices of a policy that have the same names in the twin."""


def case(seed: int, workload: str, regular: bool) -> tuple[Rules, Hardware, Statements]:
    """Return random settings, other ones for each workload."""
    rng = np.random.default_rng([seed, list(PHASES).index(workload), regular])
    coordinated = bool(rng.random() < 0.8)
    slice_ = float(rng.choice([4.0, 10.0]))
    policy = {
        "scheme": "first_fit",
        "coordinated": coordinated,
        "local": str(rng.choice(["none", "round_robin", "priority"])),
        "slice": slice_,
        "alpha": float(rng.choice([1.0, 2.0])),
        "beta": float(rng.choice([0.0, 0.25, 0.6])),
        "newcomer_priority": float(rng.choice([0.0, 0.5])),
        "returns": str(rng.choice(["at_once", "at_decision", "at_signal"])),
        "local_preemption": bool(rng.random() < 0.3),
        "cells": str(rng.choice(["job", "task"])),
        "central_cost": float(rng.choice([0.0, 0.03125])),
        "quantum": None if rng.random() < 0.5 else 3.0,
        "waits": str(rng.choice(["block", "spin"])),
        "slots_limit": [None, 2][int(rng.integers(2))],
        "window": int(rng.choice([2, 5])),
        **{key: str(rng.choice(allowed(key))) for key in READINGS},
        "horizon": HORIZON,
    }
    machine = {
        "torus": "x".join(str(side) for side in SIDES[int(rng.integers(len(SIDES)))]),
        "context_switch": float(rng.choice([0.0, 0.125])),
        "bandwidth": 1048576.0,
        "link_latency": float(rng.choice([0.0, 0.25])),
        "link_contention": bool(rng.random() < 0.7),
        "disks": [None, 2, "per_pe"][int(rng.integers(3))],
    }
    statements = Statements(
        programs=(PHASES[workload],),
        shares=(1.0,),
        classes=(OTHER,),
        seconds=1.0,
        costs="regular" if regular else "exponential",
        spacing=str(rng.choice(["regular", "random", "random_each"])),
        io_time=float(rng.choice([1.0, 5.0])),
        message_bytes=float(rng.choice([0.0, 262144.0])),
        barrier_latency=float(rng.choice([0.0, 0.5])),
        partners=str(rng.choice(["ring", "neighbours", "random", "all_to_all"])),
        overhead=float(rng.choice([0.0, 0.25])),
        alone=str(rng.choice(["passes", "waits"])),
    )
    rules = rules_of(composed("policy", "uncoordinated", **policy))
    return rules, Hardware.of(composed("machine", "torus4x4", **machine)), statements


def allowed(key: str) -> tuple[str, ...]:
    """Return what a choice of a policy allows."""
    (names,) = (one.metadata["names"] for one in fields(Uncoordinated) if one.name == key)
    return tuple(names)


def some_jobs(seed: int, n_pes: int, whole: bool) -> Jobs:
    """Return jobs that keep the machine busy until shortly before the horizon."""
    rng = np.random.default_rng([seed, 1])
    n = 14
    submit = np.sort(rng.uniform(0, HORIZON * 0.7, n))
    runtime = rng.exponential(30.0, n) + 1.0
    if whole:
        submit, runtime = np.floor(submit), np.ceil(runtime)
    size = np.minimum(2 ** rng.integers(0, 5, n), n_pes)
    return jobs_of(submit, runtime, size)


def twin_of(rules: Rules, hardware: Hardware, statements: Statements, jobs: Jobs, keys: np.ndarray) -> Twin:
    """Run the twin on the same."""
    keys_of_all = vars(statements) | vars(hardware) | vars(rules)
    own = {
        "n_pes": hardware.torus.n_processors,
        "sides": hardware.torus.sides,
        "slots_limit": np.inf if rules.slots_limit is None else rules.slots_limit,
        "disks": {0: None, -1: "per_pe"}.get(hardware.disks, hardware.disks),
    }
    settings = SimpleNamespace(**(keys_of_all | own))

    def stretch(key: int, task: int, step: int, n: int) -> float:
        length = draws.stretch(key, task, step, n) if statements.costs == "exponential" else float(n)
        return float(statements.seconds * length)

    def service(key: int, task: int, step: int) -> float:
        return statements.io_time * (
            draws.service(key, task, step) if statements.costs == "exponential" else 1.0
        )

    def number(key: int, task: int, step: int, mean: int) -> int:
        if statements.spacing == "regular":
            return mean
        of = task if statements.spacing == "random_each" else draws.OF_JOB
        return int(draws.statements(key, of, step, float(mean)))

    given = zip(jobs.submit.tolist(), jobs.size.tolist(), jobs.runtime.tolist(), keys.tolist(), strict=True)
    return run(
        list(given), statements.phases, settings, Draws(stretch, service, number, draws.shift), HORIZON
    )


@pytest.mark.parametrize("regular", [False, True])
@pytest.mark.parametrize(
    "seed",
    [
        *range(6),
        14,
        *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (*range(6, 14), 15, 16, 17)),
    ],
)
@pytest.mark.parametrize("workload", PHASES)
def test_engine_and_twin_agree(workload: str, seed: int, regular: bool) -> None:
    rules, hardware, statements = case(seed, workload, regular)
    jobs = some_jobs(seed, hardware.torus.n_processors, regular)
    recorder = Recorder()
    simulation = Simulation(
        rules, hardware, statements, iter([jobs]), (1, 2, seed), Measured(), recorder=recorder
    )
    simulation.run(1, until=HORIZON)
    simulation.cut(HORIZON)
    keys = keys_of((1, 2, seed), len(jobs))
    twin = twin_of(rules, hardware, statements, jobs, keys)

    ended = simulation.ended()
    assert set(ended.number.tolist()) == {job.number for job in twin.jobs if job.end is not None}
    for number, start, end in zip(ended.number, ended.start, ended.end, strict=True):
        assert start == pytest.approx(twin.jobs[number].start, abs=1e-9)
        assert end == pytest.approx(twin.jobs[number].end, abs=1e-9)
    made = recorder.timeline()
    for pe in range(hardware.torus.n_processors):
        mine = np.flatnonzero(made.pe == pe)
        recorded = [
            (STATES[made.state[i]], made.begin[i], made.end[i])
            for i in mine
            if made.end[i] - made.begin[i] > 1e-7
        ]
        assert merged(recorded) == merged(
            [
                (each.state, each.begin, each.end)
                for each in twin.pes[pe].timeline
                if each.end - each.begin > 1e-7
            ]
        )
    found = sorted(tuple(grade) for grade in recorder.grades().tolist())
    grades = sorted((*task, *grade) for task, its in twin.grades.items() for grade in its)
    np.testing.assert_allclose(np.reshape(found, (-1, 5)), np.reshape(grades, (-1, 5)), atol=1e-9)
    (sums,) = simulation.batches
    pe_time = dict(zip(STATES, sums["pe_time"], strict=True))
    assert sum(pe_time.values()) == pytest.approx(simulation.n_pes * (sums["now"] - sums["batch_start"]))
    for state, seconds in pe_time.items():
        assert seconds == pytest.approx(twin.totals[state], abs=1e-6), state
    for cause, seconds in zip(STATES[3:], sums["task_wait"], strict=True):
        assert seconds == pytest.approx(sum(waits.get(cause, 0.0) for waits in twin.waits.values()), abs=1e-6)


def merged(segments: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Return what a PE did, rounded, without cuts where nothing changes."""
    found: list[tuple[str, float, float]] = []
    for state, begin, end in segments:
        if found and found[-1][0] == state and abs(found[-1][2] - begin) < 1e-6:
            found[-1] = (state, found[-1][1], round(end, 6))
        else:
            found.append((state, round(begin, 6), round(end, 6)))
    return found


def keys_of(seed: tuple[int, ...], n: int) -> np.ndarray:
    """Return the keys that a simulation gives to its first jobs."""
    from models.streams import stream

    return stream(seed, "statements").integers(0, 1 << 62, n)
