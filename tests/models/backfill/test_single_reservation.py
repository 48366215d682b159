"""Backfilling past at most one reservation: against the kernel for any number, which examines all jobs."""

import numpy as np
from backfill_cases import tiers
from family_cases import for_all
from hypothesis import strategies as st

from models.backfill.priority.declared import ORDERS, Weights
from models.backfill.priority.reservations import simulate as on_hosts
from models.backfill.priority.rules import Backfill, Priority
from models.backfill.priority.single_reservation import BLOCK
from models.backfill.priority.single_reservation import simulate as single
from models.backfill.requests import under
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine


def hosts(rng: np.random.Generator) -> Machine:
    """Draw hosts with more or less processors, and more or less memory (KB), or any."""
    n = int(rng.choice([1, 2, 3, 8, 12]))
    processors, memory = rng.choice([4, 16, 64], n), rng.choice([50, 100, 400, UNLIMITED_KB], n)
    return Machine(tuple(map(str, range(n))), processors, memory)


def jobs_for(machine: Machine, n: int, rng: np.random.Generator) -> Jobs:
    """Draw jobs that each fit on a host; many times and sizes are equal, some run beyond their requests."""
    home = rng.integers(0, len(machine.names), n)
    most, most_memory = machine.processors[home], np.minimum(machine.memory[home], 500)
    size = np.minimum(2 ** rng.integers(0, 7, n), most)
    if rng.random() < 0.5:
        size = rng.integers(1, most + 1)
    runtime = rng.exponential(600, n) + 1
    requested = runtime * rng.choice([0.5, 1, 2, 5], n)
    submit = np.cumsum(rng.exponential(rng.choice([1e-9, 5, 30, 120, 600]), n))
    if (grid := rng.choice([0, 10, 60])) > 0:
        runtime, requested = np.ceil(runtime / grid) * grid, np.ceil(requested / grid) * grid
        submit = np.floor(submit / grid) * grid
    memory = rng.integers(0, most_memory + 1) if rng.random() < 0.7 else np.zeros(n, np.int64)
    return Jobs(submit, runtime, requested, size, memory)


def rules(rng: np.random.Generator) -> Priority:
    """Draw rules with at most one reservation, also those in whose order jobs are submitted."""
    orders, none = [None, *ORDERS], Weights(*[0.0] * len(Weights._fields))
    reservations = int(rng.choice([0, 1, 1, 1]))
    reorders = reservations == 1 and rng.random() < 0.4
    priority = orders[rng.integers(len(orders))] if rng.random() < 0.5 else None
    drawn = Weights(*(float(rng.choice([0, 0, 0.5, 1, 3, -1])) for _ in Weights._fields))
    return Backfill(
        discipline="backfill",
        immediate=None,
        unrequested="error",
        reservations=reservations,
        keep_start=rng.random() < 0.4,
        weights=none if priority or rng.random() < 0.4 else drawn,
        priority=priority,
        backfill_order=orders[rng.integers(1, len(orders))] if reorders else None,
        ties=str(rng.choice(["instant", "event"])),
        kill=rng.random() < 0.5,
    )


@tiers(40, 300)
def test_schedules_are_those_of_the_kernel_for_any_number(n_examples: int) -> None:
    def check(seed: int, n: int) -> None:
        rng = np.random.default_rng(seed)
        machine = hosts(rng)
        how = rules(rng)
        ran = under(jobs_for(machine, n, rng), how)
        made, expected = single(ran, machine, how), on_hosts(ran, machine, how)
        for name in ("start", "end", "host", "promised"):
            np.testing.assert_array_equal(getattr(made, name), getattr(expected, name), name)

    for_all(n_examples, check, seed=st.integers(0, 2**32), n=st.sampled_from([1, 40, 2 * BLOCK, 600]))
