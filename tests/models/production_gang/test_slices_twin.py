"""The engines of fixed slices against their plain twin: job by job, piece by piece."""

import numpy as np
import pytest
import slices_cases as cases

from models.production_gang.systems import Run

CLOSE = 1e-6
SEEDS = [*range(20), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(20, 70))]


def rows(job: np.ndarray, pieces: object, used: np.ndarray) -> np.ndarray:
    columns = (job, pieces.host, pieces.begin, pieces.end, used)  # type: ignore[attr-defined]
    table = np.stack([np.asarray(column, float) for column in columns], axis=1)
    return table[np.lexsort((np.round(table[:, 2], 4), table[:, 1], table[:, 0]))]


def compare(case: cases.Case) -> Run:
    made, twin = case.run(), case.twin()
    submit = np.array([job.submit for job in twin.jobs])
    order = np.lexsort((np.arange(len(submit)), submit))
    position = np.empty(len(order), int)
    position[order] = np.arange(len(order))
    for name in ("start", "end", "submit"):
        expected = np.array([getattr(twin.jobs[job], name) for job in order])
        found = made.jobs.submit if name == "submit" else getattr(made, name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE, err_msg=name)
    np.testing.assert_array_equal(made.preemptions, [twin.jobs[job].stops for job in order])
    np.testing.assert_array_equal(made.preempted, made.preemptions > 0)
    for found, listed in ((made.pieces, twin.pieces), (made.detail.switches, twin.switches)):
        expected = np.array([row for row in listed if row[4] > 0], float).reshape(-1, 5)
        expected[:, 0] = position[expected[:, 0].astype(int)]
        expected = expected[np.lexsort((np.round(expected[:, 2], 4), expected[:, 1], expected[:, 0]))]
        if found is made.pieces:
            gang = made.jobs.size[expected[:, 0].astype(int)] >= case.policy.get("gang_from", 0)
            expected[:, 4] *= np.where(gang, case.policy.get("delivered", 1.0), 1.0)
        used = found.processors if hasattr(found, "processors") else found.used
        mine = rows(found.job, found, used)
        np.testing.assert_allclose(mine[mine[:, 4] > 0], expected, rtol=0, atol=CLOSE)
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_tc2000(seed: int) -> None:
    case = cases.tc2000(seed)
    made = compare(case)
    if case.workload["phases"] is None:
        twin = case.twin()
        submit = np.array([job.submit for job in twin.jobs])
        for row, job in enumerate(np.lexsort((np.arange(len(submit)), submit)).tolist()):
            assert set(np.flatnonzero(made.detail.pes[row]).tolist()) == twin.given[job]


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha(seed: int) -> None:
    case = cases.alpha(seed)
    made = compare(case)
    twin = case.twin()
    assert tuple(made.detail.tickets) == (twin.issued, twin.revoked)
