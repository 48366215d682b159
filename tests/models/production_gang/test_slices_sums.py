"""Sums instead of pieces, where only measures are needed: the same measures, in little space."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from family_cases import composed, jobs_of

from models import workloads
from models.jobs import outcomes
from models.point import Batches, Point
from models.production_gang import FAMILY
from models.production_gang.measuring import of_run
from models.production_gang.slices import simulation

PHASES = [{"share": 0.4, "processors": 0.5}, {"share": 0.6, "processors": 1.0}]


def point(system: str, workload: dict[str, Any], load: float | None, batches: Batches, **keys: Any) -> Point:
    policy = composed("policy/production_gang", f"{system}_gang", **keys)
    return Point(policy, workload, composed("machine", system), load, batches, (3, 1, 2))


WEEKS = Batches(None, 0, (50,), weeks=True)
T3D = {"weeks": 2, "warmup_days": 2}
CASES = {
    "TC2000": point("tc2000", composed("workload", "lublin2003"), 0.7, Batches(40, 1, (3,)), switch=2.0),
    "Alpha, three phases, jobs that are not gangs": point(
        "alpha", composed("workload", "lublin2003", phases=PHASES), 0.7, Batches(40, 1, (3,)), switch=2.0,
        gang_from=3,
    ),
    "feedback, classes, days, weekends": replace(
        point("tc2000", composed("workload", "t3d_three_weeks", **T3D), None, WEEKS, slice=600.0),
        machine=composed("machine", "t3d"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("one", CASES.values(), ids=CASES)
def test_measures_of_sums_are_those_of_pieces(one: Point) -> None:
    opened = workloads.open_workload(one)
    of_pieces = outcomes.simulate(FAMILY, one, opened, partial(simulation.run, one, opened), of_run).metrics
    of_sums = FAMILY.simulate(one).metrics
    assert set(of_sums) == set(of_pieces)
    for name, values in of_pieces.items():
        np.testing.assert_allclose(of_sums[name], values, rtol=1e-9, atol=1e-9, err_msg=name)


def test_a_run_has_few_sums_however_short_its_slices_are() -> None:
    """Two jobs that take turns for three days have 52,000 pieces of ten seconds, and some ten sums."""
    jobs = jobs_of([0, 0], 1.5 * 86_400, 126)
    one = point("tc2000", composed("workload", "arrays", jobs=jobs), None, Batches(None, 0, (1,)), switch=0.0)
    opened = workloads.open_workload(one)
    whole = FAMILY.schedule(one)
    sums = simulation.run(one, opened, opened.jobs, opened.machine, pieces=False)
    assert len(whole.pieces.job) > 25_000
    assert len(sums.pieces.job) < 20
    assert sums.end.tolist() == whole.end.tolist()
    delivered = ((sums.pieces.end - sums.pieces.begin) * sums.pieces.processors).sum()
    assert delivered == pytest.approx(2 * 126 * 1.5 * 86_400)
