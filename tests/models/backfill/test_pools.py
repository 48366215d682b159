"""Conservative backfilling on one pool, where few waiting jobs are examined, against hosts, where all are."""

import numpy as np
from backfill_cases import rules, tiers
from family_cases import for_all
from hypothesis import strategies as st

from models.backfill.conservative import hosts, pool
from models.backfill.requests import under
from models.jobs import machine
from models.jobs.jobs import Jobs

PROCESSORS = 64


def check_both(jobs: Jobs, ties: str) -> None:
    how = rules("conservative", ties=ties)
    made, expected = (
        kernel.simulate(under(jobs, how), machine.pool(PROCESSORS), how) for kernel in (pool, hosts)
    )
    for column in ("start", "end", "promised"):
        np.testing.assert_array_equal(getattr(made, column), getattr(expected, column), column)


def overloaded(seed: int, n: int, grid: float, sizes: str, at_once: bool) -> Jobs:
    """Draw jobs that are more than the machine can do; their times are multiples of `grid` (s), 0 for any."""
    rng = np.random.default_rng(seed)
    size = {
        "narrow": rng.integers(1, 4, n),
        "powers": 2 ** rng.integers(0, 7, n),
        "any": rng.integers(1, PROCESSORS + 1, n),
    }[sizes]
    requested = np.asarray(rng.choice([60.0, 300.0, 3600.0], n) * rng.integers(1, 9, n), np.float64)
    runtime = requested * rng.choice([0.01, 0.3, 1.0, 1.5], n)
    submit = np.zeros(n) if at_once else np.sort(rng.random(n)) * (size @ runtime) / PROCESSORS / 1.5
    if grid:
        submit, runtime = np.floor(submit / grid) * grid, np.ceil(runtime / grid) * grid
    return Jobs(submit, runtime, requested, size, np.zeros(n, np.int64))


@tiers(12, 160)
def test_queues_of_hundreds(n_examples: int) -> None:
    def check(seed: int, grid: float, sizes: str, at_once: bool, ties: str) -> None:
        check_both(overloaded(seed, 400, grid, sizes, at_once), ties)

    for_all(
        n_examples, check, seed=st.integers(0, 2**32), grid=st.sampled_from([0.0, 60.0, 600.0]),
        sizes=st.sampled_from(["narrow", "powers", "any"]), at_once=st.booleans(),
        ties=st.sampled_from(["instant", "event"]),
    )  # fmt: skip
