"""Rigid jobs under partitioning policies: any workload, streams and traces, with a declared speed-up."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, refused
from partitioning_cases import MACHINE, POLICIES, WORKLOAD

from models import workloads
from models.partitioning import FAMILY
from models.point import Batches, Point
from models.topology.mesh import Mesh, Rectangle
from models.workloads.short_long import jobs_and_work
from models.workloads.speedup.cycle import Steps, best_speeds
from sweep.config import compose
from sweep.config.overrides import parsed
from sweep.plan.expansion import expand

CONF = Path(__file__).parents[3] / "conf"
SYNTHETIC = composed("workload", "synthetic", runtime_spread=1.0, overestimate=3.0)
POOL = composed("machine", "log", name="pe64", processors=64)
SEED = (1, 2, 0)
STEADY = WORKLOAD | {"delta": 0.0}


def point(policy: str = "equi", workload: dict[str, Any] = SYNTHETIC, **changes: Any) -> Point:
    given = Point(POLICIES[policy], workload, POOL, 0.5, Batches(200, 1, (3,)), SEED)
    return replace(given, **changes)


def light(policy: str) -> float:
    """Return a load that a policy bears: those with few jobs at a time leave most processors idle."""
    return 0.1 if policy in ("one_at_a_time", "processor_sharing", "static_4") else 0.5


def of_conf(policy: str, workload: str, load: float | None, processors: int) -> Point:
    """Return a point as the command line makes it."""
    chosen = (f"grid.policy=[{policy}]", f"grid.workload=[{workload}]", f"machine.processors={processors}")
    grid = (f"grid.load=[{'null' if load is None else load}]", "grid.machine=[pe128]")
    made = expand(compose.load(parsed(("+experiment=compare", *chosen, *grid)), CONF))
    return replace(made.task(0).point, batches=Batches(100, 1, (2,)))


def test_feedback_is_refused_with_the_option_that_unrolls_it() -> None:
    given = of_conf("equi", "feitelson1996", 0.4, 128)
    with refused(r"add workload\.repetition=sequence, which unrolls"):
        FAMILY.check(given)
    FAMILY.check(replace(given, workload={**given.workload, "repetition": "sequence"}))


def strips(rows: int, columns: int, jobs: int) -> list[Rectangle]:
    """Divide a machine into strips of columns."""
    ends = [columns * i // jobs for i in range(jobs + 1)]
    return [Rectangle(0, left, rows, right - left) for left, right in pairwise(ends)]


def test_rectangles_of_one_s_own() -> None:
    """On a machine that is not a power of two; with more jobs than columns there is none for each."""
    policy = POLICIES["equi"] | {"discipline": f"{__name__}.strips"}
    machine = composed("machine", "log", mesh="3x5", memory_limit=5)
    given = replace(point(), policy=policy, machine=machine)
    FAMILY.check(given)
    assert (FAMILY.simulate(given).metrics["response_time"] > 0).all()
    with pytest.raises(ValueError, match="one of 6 jobs is empty, taken or not on the 3 × 5 machine"):
        FAMILY.simulate(replace(given, machine=machine | {"memory_limit": None}, load=3.0))


@pytest.mark.parametrize(
    ("policy", "workload"), [*zip(POLICIES, 4 * [SYNTHETIC, WORKLOAD], strict=True)], ids=[*POLICIES]
)
def test_the_measures_are_those_of_the_schedule(policy: str, workload: dict[str, Any]) -> None:
    given = point(policy, workload, load=light(policy), machine=MACHINE, batches=Batches(100, 0, (3,)))
    metrics, made = FAMILY.simulate(given).metrics, FAMILY.schedule(given)
    order = np.argsort(made.end, kind="stable")[:300]
    response = (made.end - made.jobs.submit)[order].reshape(3, 100)
    assert metrics["response_time"] == pytest.approx(response.mean(axis=1))
    assert (np.diff(made.jobs.submit) >= 0).all()
    assert made.jobs.submit[-1] <= made.end[order[-1]]  # all that were submitted until then, no others
    edges = np.concatenate([[0.0], made.end[order[99::100]]])
    pieces, delivered = made.pieces, 0.0
    for batch, (begin, end) in enumerate(pairwise(edges)):
        inside = np.clip(pieces.end, begin, end) - np.clip(pieces.begin, begin, end)
        share = inside @ pieces.processors / 256 / (end - begin)
        assert metrics["allocated"][batch] == pytest.approx(share)
        # Jobs that have ended have got all, others in the system a part.
        delivered += metrics["utilization"][batch] * 256 * (end - begin)
        whole = made.jobs.size * made.jobs.runtime
        ended = whole[order[: 100 * batch + 100]].sum()
        assert ended * (1 - 1e-9) <= delivered <= whole[made.jobs.submit <= end].sum() * (1 + 1e-9)
        present = np.clip(made.end, begin, end) - np.clip(made.jobs.submit, begin, end)
        assert metrics["jobs_in_system"][batch] == pytest.approx(present.sum() / (end - begin))


def test_short_and_long_jobs_of_a_size_are_rigid_jobs() -> None:
    stream = workloads.open_workload(
        point(workload=STEADY | {"size": {"short": 16, "long": 64}}, machine=MACHINE)
    )
    jobs = stream.first(500)
    assert set(np.unique(jobs.size)) == {16, 64}
    mesh = Mesh.of(MACHINE)
    best = best_speeds(mesh, Steps.of(STEADY))
    without, drawn = next(jobs_and_work(STEADY, mesh, 0.5, SEED))
    assert np.array_equal(jobs.submit, without.submit[:500])
    assert jobs.runtime == pytest.approx(drawn.work[:500] / best[jobs.size])
    (note,) = stream.notes
    many = stream.first(200_000)
    load = float(many.size @ many.runtime) / (256 * many.submit[-1])
    assert float(note.partition("load 0.5 is ")[2].split()[0]) == pytest.approx(load, rel=0.05)
