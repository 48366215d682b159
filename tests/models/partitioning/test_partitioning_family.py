"""The simulation of partitioned machines as a family: its workload, its batches, and what it refuses."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from family_cases import refused
from partitioning_cases import MACHINE, POLICIES, WORKLOAD

from models.family import Outcome
from models.partitioning import FAMILY
from models.partitioning.metrics import of_classes, sums_over
from models.point import Batches, Point
from models.workloads.short_long import drawn, geometric

SEED = (1, 2, 0)
SHORT, LONG, ALL = range(3)


def run(policy: str, load: float, batches: Batches, **workload: Any) -> Outcome:
    return FAMILY.simulate(Point(POLICIES[policy], WORKLOAD | workload, MACHINE, load, batches, SEED))


def test_number_of_cycles_is_geometric() -> None:
    uniform = (np.arange(1_000_000) + 0.5) / 1_000_000
    cycles = geometric(uniform, np.array([40.0]), np.zeros(1_000_000, int))
    assert cycles.min() == 1
    assert cycles.mean() == pytest.approx(40.0, rel=1e-3)
    assert (cycles == 1).mean() == pytest.approx(1 / 40, abs=1e-5)
    assert geometric(np.array([0.0, 0.99]), np.array([1.0]), np.array([0, 0])).tolist() == [1.0, 1.0]


def test_policies_loads_and_mixes_contend_with_the_same_jobs() -> None:
    light, heavy, mixed = (
        next(drawn(WORKLOAD | {"short_fraction": p}, 0.1, load, SEED))
        for load, p in ((0.25, 0.9), (0.5, 0.9), (0.5, 0.5))
    )
    assert np.allclose(light.submit, 2 * heavy.submit)
    assert np.array_equal(light.work, heavy.work)
    short = mixed.job_class == SHORT
    assert (heavy.job_class[short] == SHORT).all()
    assert np.array_equal(heavy.work[short], mixed.work[short])
    assert mixed.submit[-1] / heavy.submit[-1] == pytest.approx(
        (0.5 * 30 + 0.5 * 900) / (0.9 * 30 + 0.1 * 900)
    )


def of_one_class(blow_ups: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the metrics of batches of short jobs that take 10 s alone."""
    blow_up = np.concatenate(blow_ups)
    batch = np.repeat(np.arange(len(blow_ups)), [len(values) for values in blow_ups])
    work, job_class = np.full(len(blow_up), 10.0), np.zeros(len(blow_up), np.int64)
    return of_classes(sums_over(10 * blow_up, work, job_class, batch, len(blow_ups)))


def test_metrics_are_ratios_over_all_batches() -> None:
    draw = np.random.default_rng(3)
    blow_ups = [1 + draw.exponential(2.0, n) for n in (3, 40, 17)]
    metrics, every = of_one_class(blow_ups), np.concatenate(blow_ups)
    assert metrics["class_response_time"][:, SHORT].mean() == pytest.approx(10 * every.mean())
    assert metrics["blow_up_cv"][:, SHORT].mean() == pytest.approx(every.std() / every.mean())
    assert np.isnan(metrics["class_response_time"][:, LONG]).all()


@pytest.mark.parametrize(("fraction", "known"), [(1.0, [0, 2]), (0.0, [1, 2]), (0.5, [0, 1, 2])])
def test_a_class_without_jobs_does_not_keep_a_run_from_ending(fraction: float, known: list[int]) -> None:
    shown = []

    def enough(metrics: Any) -> bool:
        shown.append(metrics["class_response_time"])
        return True

    outcome = run("equi", 0.5, Batches(200, 0, (3, 6), enough), short_fraction=fraction)
    assert outcome.metrics["class_response_time"].shape == (3, 3)
    assert np.array_equal(shown[0], outcome.metrics["class_response_time"][:, known])
    assert np.isfinite(shown[0]).all()


def test_a_machine_that_does_little_but_rotate_is_saturated() -> None:
    """Folding is then kept up by the number of processors alone."""
    machine, workload = MACHINE | {"mesh": "4x4"}, WORKLOAD | {"short_time": 5.0, "long_time": 20.0}
    policy, batches = POLICIES["fold_7"] | {"rotation": 0.15}, Batches(400, 1, (30,))
    assert FAMILY.simulate(Point(policy, workload, machine, 0.8, batches, SEED)).overflowed


FOLD = POLICIES["fold_7"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy": {"discipline": "ideal_dynamic"}}, "a job here needs a rectangle"),
        ({"policy": FOLD | {"rotation_unit": "runtime"}}, "use seconds or jobs"),
        ({"policy": {"admission": {"interval": 10.0, "overhead": 1.0}}}, "policy.admission.overhead=1.0"),
        ({"workload": {"model": "spmd"}}, "spmd, which has no rigid jobs; those that do: .*short_long"),
        ({"workload": {"size": {"short": 4}}}, "workload.size.long=null; allowed: processors"),
        ({"workload": {"speedup": "linear"}}, "workload.speedup=linear; allowed: mccann"),
        ({"workload": {"long_time": 0.01}}, "at least one cycle"),
        ({"policy": FOLD, "machine": {"mesh": "1x16"}}, "closed walk"),
        ({"load": None}, "have no load of their own"),
    ],
)
def test_bad_input_is_one_clear_line(changes: dict[str, Any], message: str) -> None:
    with refused(message):
        FAMILY.check(
            Point(
                POLICIES["equi"] | changes.get("policy", {}),
                WORKLOAD | changes.get("workload", {}),
                MACHINE | changes.get("machine", {}),
                changes.get("load", 0.5),
            )
        )


def test_a_plan_is_checked_without_loading_numba() -> None:
    code = (
        "import sys; from models.partitioning import FAMILY; from models.point import Point\n"
        f"assert not FAMILY.check(Point({POLICIES['fold_7']!r}, {WORKLOAD!r}, {MACHINE!r}, 0.5))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
