"""The compiled simulation of partitioned machines against its twin, by hand, and at any moment."""

import numpy as np
import pytest
from partitioning_cases import (
    POLICIES,
    SPEEDUPS,
    Case,
    Outcome,
    random_case,
    run_out,
)

from models.partitioning.metrics import Sums

TIGHT = 1e-9


def assert_agreement(case: Case, recording: bool = False) -> None:
    twin, found = case.twin(), run_out(case.kernel(recording=recording))
    twin.run()
    numbers = range(len(case.jobs))
    np.testing.assert_allclose(found.responses, [twin.responses[number] for number in numbers], rtol=TIGHT)
    np.testing.assert_allclose(found.ended.start, [twin.starts[number] for number in numbers], rtol=TIGHT)
    ours = np.column_stack(
        [*_sums(found, case.batch_size), *(found.closed[name] for name in found.closed.dtype.names)]
    )
    assert len(ours) == len(twin.batches)
    np.testing.assert_allclose(ours, np.array(twin.batches).reshape(ours.shape), rtol=TIGHT, atol=1e-6)
    if recording:
        held = found.held
        by_job = np.bincount(held.number, held.processors * (held.end - held.begin), len(case.jobs))
        np.testing.assert_allclose(by_job, [twin.held.get(number, 0.0) for number in numbers], rtol=TIGHT)


def _sums(found: Outcome, size: int) -> list[np.ndarray]:
    """Return number, responses, blow-ups and their squares of each class, batch by batch."""
    order = np.argsort(found.ended.end, kind="stable")[: len(found.closed) * size]
    columns = (found.responses, found.ended.work, found.ended.job_class)
    batch = np.arange(len(order)) // size
    sums = Sums.over(*(values[order] for values in columns), batch, len(found.closed))
    return [values[:, job_class] for job_class in (0, 1) for values in sums]


SOME_OR_MORE = pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 60), marks=pytest.mark.exhaustive)], ids=["some", "more"]
)


@SOME_OR_MORE
@pytest.mark.parametrize("name", POLICIES)
def test_kernel_and_twin_agree(name: str, seeds: range) -> None:
    for seed in seeds:
        assert_agreement(random_case(name, seed))


@SOME_OR_MORE
@pytest.mark.parametrize("speedup", SPEEDUPS)
@pytest.mark.parametrize("name", POLICIES)
def test_kernel_and_twin_agree_on_rigid_jobs(name: str, speedup: str, seeds: range) -> None:
    for seed in seeds:
        assert_agreement(random_case(name, seed, speedup), recording=seed % 2 == 0)


def test_an_arrival_stops_the_job_that_folds_and_delays_the_newcomer() -> None:
    """By hand: the first of two jobs has half of the machine from the other's arrival to its end."""
    case = Case("fold_never", ((0.0, 0, 20.0, 1), (10.0, 0, 2.0, 1)))
    found = run_out(case.kernel())
    folding, unfolding = 8 * 0.02, 8 * 0.0225
    second = folding + 2.0 / case.system.rate(8, 16)
    first = 10.0 + second + unfolding + (10.0 - 2.0)
    assert found.responses == pytest.approx([first, second])


def test_admission_by_hand() -> None:
    """One place in memory, Q = 10 s, O = 1 s: the jobs take turns, and one follows the end of another."""
    case = Case("equi", ((0.0, 0, 15.0, 1), (1.0, 0, 15.0, 1)), limit=1, interval=10.0, overhead=1.0)
    found = run_out(case.kernel())
    # The first 0-10, the second 11-20, the first 21-26 with its last 5 s, the second 26-32 with its last 6.
    assert found.responses == pytest.approx([26.0, 31.0])
    assert found.ended.start == pytest.approx([0.0, 10.0])


@pytest.mark.parametrize("name", ["equi", "equi_plus", "fold_never", "fold_7", "one_at_a_time"])
def test_a_rigid_job_alone_takes_its_runtime_and_two_share(name: str) -> None:
    """Linear to p: exactly t on p processors or more; on fewer, p t of work at one a processor."""
    alone = run_out(Case(name, ((3.0, 0, 7.1, 5),), speedup="linear").kernel())
    assert alone.ended.end[0] == 3.0 + 7.1
    small = Case(name, ((0.0, 0, 10.0, 128), (0.0, 0, 10.0, 128)), speedup="linear", charged=False)
    large = Case(name, ((0.0, 0, 10.0, 256), (0.0, 0, 10.0, 256)), speedup="linear", charged=False)
    if name == "one_at_a_time":
        assert run_out(small.kernel()).ended.end.tolist() == [10.0, 20.0]
        return
    assert run_out(small.kernel()).ended.end == pytest.approx([10.0, 10.0])
    assert run_out(large.kernel()).ended.end == pytest.approx([20.0, 20.0])
