"""Backfilling on one pool: its index against a plain list, its starts against the kernel without one."""

from __future__ import annotations

import numpy as np
import pytest
from backfill_cases import by_priority
from backfill_checker import faults
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import void

from models.arrays import Floats, Ints
from models.backfill.judging import under
from models.backfill.priority.instants import INSTANTS, Instants, insert, none, remove
from models.backfill.priority.line import (
    BLOCK,
    GONE,
    LINE,
    N_BLOCKS,
    N_MADE,
    Line,
    enter,
    first,
    job_of,
    may_have,
    nobody,
    take_out,
    tidy,
)
from models.backfill.priority.rules import Priority
from models.backfill.priority.schedules import on_hosts, on_pool
from models.jobs.jobs import Jobs
from models.jobs.machine import pool
from models.jobs.schedule import Schedule
from models.kernels.compiling import kernel
from models.kernels.types import FLOATS, INTS

PROCESSORS = 64
ENTERS, LEAVES, CHECKPOINTS = range(3)


@kernel(void(LINE, INTS, FLOATS, INTS, FLOATS, INTS))
def drive(line: Line, size: Ints, requested: Floats, what: Ints, shadow: Floats, found: Ints) -> None:
    """Let jobs enter and leave, and look for those that fit.

    Parameters
    ----------
    size, requested : of each job
    what : three numbers a step: what happens, and the job, or the free and the extra processors
    shadow : the shadow time of each step
    found : n_jobs + 1 numbers for each look, -1; filled in: the first of the line, and those that fit
    """
    row = 0
    for step in range(shadow.shape[0]):
        event, a, b = what[3 * step], what[3 * step + 1], what[3 * step + 2]
        if event == ENTERS:
            enter(line, a, size[a], requested)
        elif event == LEAVES:
            take_out(line, a)
        else:
            at_row = row
            if line.counts[N_BLOCKS] > 0:
                found[at_row] = first(line)
            place = 0
            while place < line.counts[N_BLOCKS]:
                if not may_have(line, place, 0.0, shadow[step], a, b):
                    place += 1
                    continue
                block = line.blocks[place]
                before = at_row
                for at in range(line.begin[block], line.end[block]):
                    if line.entries[at] >= GONE:
                        continue
                    job = job_of(line.entries[at])
                    if size[job] <= a and (requested[job] <= shadow[step] or size[job] <= b):
                        at_row += 1
                        found[at_row] = job
                if at_row > before or line.counts[N_BLOCKS] == 1:
                    place += 1
                else:
                    place = tidy(line, place)
            row += size.shape[0] + 1


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([1, BLOCK - 1, BLOCK, BLOCK + 1, 300, 700]),
    order=st.sampled_from(["as submitted", "ties", "any"]),
    sizes=st.sampled_from(["few", "any"]),
    leaving=st.sampled_from([0.2, 0.45, 0.6]),
)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_who_fits_is_who_a_plain_list_says(seed: int, n: int, order: str, sizes: str, leaving: float) -> None:
    """Blocks split, run empty and join; every look finds all that fit in their order, and nobody else."""
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
    line = nobody(size, PROCESSORS, key)
    what = np.array([numbers for *numbers, _ in steps], np.int64).ravel()
    drive(line, size, requested, what, np.array([shadow for *_, shadow in steps]), found)
    np.testing.assert_array_equal(found.reshape(-1, n + 1), np.array(expected, np.int64).reshape(-1, n + 1))
    assert line.counts[N_BLOCKS] == 0
    assert line.counts[N_MADE] <= line.blocks.size


@kernel(void(INSTANTS, FLOATS, INTS, INTS))
def go_in_and_out(instants: Instants, time: Floats, what: Ints, order: Ints) -> None:
    """Add entries by their numbers, and take away those whose number is negative, less 1."""
    n = 0
    for k in range(order.shape[0]):
        i = order[k]
        if i >= 0:
            insert(instants, n, time[i], what[i])
            n += 1
        else:
            n -= 1
            remove(instants, n, time[-1 - i], what[-1 - i])


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([1, 8, 20, 200]),
    grid=st.sampled_from([2, 50]),
    left=st.floats(0, 1),
)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_instants_are_those_of_a_sorted_list(seed: int, n: int, grid: int, left: float) -> None:
    rng = np.random.default_rng(seed)
    time, what = rng.integers(0, grid, n) * 1.0, rng.integers(0, 4, n)
    inside: list[int] = []
    order = []
    for i in range(n):
        order.append(i)
        inside.append(i)
        while inside and rng.random() < 0.3:
            order.append(-1 - inside.pop(int(rng.integers(len(inside)))))
    while len(inside) > left * n:
        order.append(-1 - inside.pop(int(rng.integers(len(inside)))))
    instants = none(n)
    go_in_and_out(instants, time, what, np.array(order))
    expected = sorted(((time[i], what[i]) for i in inside), reverse=True)
    kept = slice(1, 1 + len(inside))
    assert list(zip(instants.time[kept], instants.what[kept], strict=True)) == expected


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
    """Return a pool's schedule, once the kernel that looks at every waiting job has made the same."""
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
@given(
    seed=st.integers(0, 2**32),
    grid=st.sampled_from([0.0, 60.0, 600.0]),
    sizes=st.sampled_from(["narrow", "powers", "any"]),
    at_once=st.booleans(),
    ties=st.sampled_from(["instant", "event"]),
    kill=st.booleans(),
)
@example(seed=1, grid=600.0, sizes="any", at_once=True, ties="instant", kill=False)
@settings(derandomize=True, deadline=None, max_examples=25)
def test_queues_of_hundreds(
    name: str, seed: int, grid: float, sizes: str, at_once: bool, ties: str, kill: bool
) -> None:
    both(overloaded(seed, 400, grid, sizes, at_once), fixed(name, ties, kill))


@pytest.mark.parametrize("name", FIXED)
def test_queues_of_thousands(name: str) -> None:
    made = both(overloaded(3, 3000, 1.0, "any", at_once=True), fixed(name, "instant", kill=True))
    assert not faults(made)
