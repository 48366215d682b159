"""The T3D's engine against a plain twin written from the rules, and rules that hold over whole weeks."""

import pytest
import t3d_cases

EXHAUSTIVE = pytest.mark.exhaustive
SEEDS = [306, 333, *range(100, 125), *(pytest.param(seed, marks=EXHAUSTIVE) for seed in range(125, 160))]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_does_what_the_twin_does(seed: int) -> None:
    """Machines from one node on, places, classes, queues, limits, orders, nice values, feedback, commands."""
    case = t3d_cases.of_random(seed)
    compare(case)
    compare(t3d_cases.with_commands(case, seed))


def compare(case: t3d_cases.Case) -> None:
    """Compare the engine with the twin, job by job."""
    try:
        expected = t3d_cases.story(t3d_cases.by_twin(case), case)
    except AssertionError as stuck:
        if " for ever" not in str(stuck):
            raise
        with pytest.raises(ValueError, match=r"waits? for ever"):
            t3d_cases.by_engine(case)
        return
    found = t3d_cases.story_of_engine(t3d_cases.by_engine(case))
    for what, values in expected.items():
        assert found[what] == values, what
