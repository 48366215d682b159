"""Backfilling on one pool: its index against a plain list, its starts against the kernel without one."""

from __future__ import annotations

import numpy as np
import pytest
from backfill_cases import by_priority, for_all, tiers
from backfill_checker import faults
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import void

from models.arrays import Floats, Ints
from models.backfill.priority.indexed_queue import (
    BLOCK,
    GONE,
    N_BLOCKS,
    N_MADE,
    QUEUE,
    IndexedQueue,
    empty_queue,
    first,
    insert,
    job_of,
    may_have,
    remove,
    tidy,
)
from models.backfill.priority.pool import simulate as on_pool
from models.backfill.priority.rules import Priority
from models.backfill.priority.single_reservation import simulate as on_hosts
from models.backfill.requests import under
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.schedule import Schedule
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS

PROCESSORS = 64
ENTERS, LEAVES, CHECKPOINTS = range(3)


@kernel(void(QUEUE, INTS, FLOATS, INTS, FLOATS, INTS))
def drive(
    queue: IndexedQueue, size: Ints, requested: Floats, events: Ints, shadow: Floats, found: Ints
) -> None:
    """Insert and remove jobs, and find those that fit.

    Parameters
    ----------
    size, requested : of each job
    events : three numbers a step: the event, and the job, or the free and the extra processors
    shadow : the shadow time of each step
    found : n_jobs + 1 numbers for each scan, -1; filled in: the first of the queue, and those that fit
    """
    row = 0
    for step in range(shadow.shape[0]):
        event, a, b = events[3 * step], events[3 * step + 1], events[3 * step + 2]
        if event == ENTERS:
            insert(queue, a, size[a], requested)
        elif event == LEAVES:
            remove(queue, a)
        else:
            at_row = row
            if queue.counts[N_BLOCKS] > 0:
                found[at_row] = first(queue)
            place = 0
            while place < queue.counts[N_BLOCKS]:
                if not may_have(queue, place, 0.0, shadow[step], a, b):
                    place += 1
                    continue
                block = queue.blocks[place]
                before = at_row
                for at in range(queue.begin[block], queue.end[block]):
                    if queue.entries[at] >= GONE:
                        continue
                    job = job_of(queue.entries[at])
                    if size[job] <= a and (requested[job] <= shadow[step] or size[job] <= b):
                        at_row += 1
                        found[at_row] = job
                if at_row > before or queue.counts[N_BLOCKS] == 1:
                    place += 1
                else:
                    place = tidy(queue, place)
            row += size.shape[0] + 1


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([1, BLOCK - 1, BLOCK, BLOCK + 1, 300, 700]),
    order=st.sampled_from(["as submitted", "ties", "any"]),
    sizes=st.sampled_from(["few", "any"]),
    leaving=st.sampled_from([0.2, 0.45, 0.6]),
)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_jobs_that_fit_are_those_of_a_plain_list(
    seed: int, n: int, order: str, sizes: str, leaving: float
) -> None:
    """Blocks split, run empty and join; every scan finds all that fit in their order, and no other."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 4, 64], n) if sizes == "few" else rng.integers(1, PROCESSORS + 1, n)
    requested = rng.choice([60.0, 600.0, 3600.0], n) * rng.integers(1, 20, n)
    key = {"as submitted": np.empty(0), "ties": rng.integers(0, 5, n) * 1.0, "any": rng.random(n)}[order]
    n_entered = 0
    waiting: list[int] = []
    steps: list[tuple[int, int, int, float]] = []
    expected = []
    while n_entered < n or waiting:
        if rng.random() < 0.2:
            free, extra = int(rng.integers(0, PROCESSORS + 1)), int(rng.integers(-3, 9))
            shadow = float(rng.choice([0.0, 60.0, 700.0, 5000.0]))
            steps.append((CHECKPOINTS, free, extra, shadow))
            ordered = sorted(waiting, key=lambda job: (-key[job] if key.size else 0.0, job))
            fits = [j for j in ordered if size[j] <= free and (requested[j] <= shadow or size[j] <= extra)]
            row = ordered[:1] + fits
            expected.append(row + [-1] * (n + 1 - len(row)))
        elif waiting and (n_entered == n or rng.random() < leaving):
            steps.append((LEAVES, waiting.pop(int(rng.integers(len(waiting)))), 0, 0.0))
        elif n_entered < n:
            steps.append((ENTERS, n_entered, 0, 0.0))
            waiting.append(n_entered)
            n_entered += 1
    found = np.full(len(expected) * (n + 1), -1)
    queue = empty_queue(size, PROCESSORS, key)
    events = np.array([numbers for *numbers, _ in steps], np.int64).ravel()
    drive(queue, size, requested, events, np.array([shadow for *_, shadow in steps]), found)
    np.testing.assert_array_equal(found.reshape(-1, n + 1), np.array(expected, np.int64).reshape(-1, n + 1))
    assert queue.counts[N_BLOCKS] == 0
    assert queue.counts[N_MADE] <= queue.blocks.size


FIXED: dict[str, dict[str, object]] = {
    "fcfs": {}, "easy": {}, "sjf_backfill": {}, "no reservation": {}, "sizes": {}, "sjbf": {}, "learned": {},
    "no passing": {},
    "sjf_backfill in another order": {"backfill_order": "smallest_area_first"},
    "learned in another order": {"backfill_order": "shortest_first"},
}  # fmt: skip
"""Policies of `backfill_cases` whose orders never change, and keys of their own."""


def fixed(name: str, ties: str, kill: bool) -> Priority:
    keys = {"ties": ties, "kill": kill, **FIXED[name]}
    if name != "no reservation":
        keys["reservations"] = 1
    return by_priority(name.removesuffix(" in another order"), **keys)


def both(jobs: Jobs, how: Priority) -> Schedule:
    """Return a pool's schedule, once the kernel for hosts has made the same."""
    machine = pool(PROCESSORS)
    ran = under(jobs, how)
    made, expected = on_pool(ran, machine, how), on_hosts(ran, machine, how)
    np.testing.assert_array_equal(made.start, expected.start)
    np.testing.assert_array_equal(made.end, expected.end)
    np.testing.assert_array_equal(made.promised, expected.promised)
    return made


def overloaded(seed: int, n: int, grid: float, sizes: str, at_once: bool) -> Jobs:
    """Draw jobs that are more than the machine can do; their times are multiples of `grid` (s), 0 for any."""
    rng = np.random.default_rng(seed)
    size = {
        "narrow": rng.integers(1, 4, n),
        "powers": 2 ** rng.integers(0, 7, n),
        "any": rng.integers(1, PROCESSORS + 1, n),
    }[sizes]
    requested = rng.choice([60.0, 300.0, 3600.0], n) * rng.integers(1, 9, n)
    runtime = requested * rng.choice([0.01, 0.3, 1.0, 1.5], n)
    submit = np.zeros(n) if at_once else np.sort(rng.random(n)) * (size @ runtime) / PROCESSORS / 1.5
    if grid:
        submit, runtime = np.floor(submit / grid) * grid, np.ceil(runtime / grid) * grid
    return Jobs(submit, runtime, requested, size, np.zeros(n, np.int64))


@pytest.mark.parametrize("name", FIXED)
@tiers(3, 40)
def test_queues_of_hundreds(name: str, n_examples: int) -> None:
    def check(seed: int, grid: float, sizes: str, at_once: bool, ties: str, kill: bool) -> None:
        both(overloaded(seed, 400, grid, sizes, at_once), fixed(name, ties, kill))

    for_all(
        n_examples, check, seed=st.integers(0, 2**32), grid=st.sampled_from([0.0, 60.0, 600.0]),
        sizes=st.sampled_from(["narrow", "powers", "any"]), at_once=st.booleans(),
        ties=st.sampled_from(["instant", "event"]), kill=st.booleans(),
    )  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FIXED)
def test_queues_of_thousands(name: str) -> None:
    made = both(overloaded(3, 3000, 1.0, "any", at_once=True), fixed(name, "instant", kill=True))
    assert not faults(made)
