"""The compiled simulation of partitioned machines against its twin."""

import numpy as np
import pytest
from partitioning_cases import POLICIES, SPEEDUPS, Case, Outcome, random_case, run_out

from models.partitioning.metrics import sums_over

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
    sums = sums_over(*(values[order] for values in columns), batch, len(found.closed))
    return [values[:, job_class] for job_class in (0, 1) for values in sums.swapaxes(0, 1)]


SOME_OR_MORE = pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 30), marks=pytest.mark.exhaustive)], ids=["some", "more"]
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


def test_of_jobs_that_end_at_once_the_first_to_arrive_ends_first() -> None:
    """The third one has the place of the first one then, before the second."""
    case = Case("processor_sharing", ((1.0, 0, 1.0, 1), (0.0, 0, 5.0, 1), (0.0, 0, 5.0, 1)))
    simulation = case.kernel()
    simulation.run(2**40)
    ended = simulation.take().ended
    assert ended.number.tolist() == [0, 1, 2]
    assert ended.end[1] == ended.end[2]
