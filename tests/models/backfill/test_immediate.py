"""Backfilling with immediate service: against its twin, by hand, and what always holds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from backfill_cases import for_all, make_jobs, make_machine, tiers
from family_cases import composed
from immediate_cases import BACKFILLS, TICK, cases, pieces_of, plain, policies, rules, twin_of

from models.backfill.engine import schedule
from models.backfill.policies import rules_of
from models.backfill.priority.rules import Priority
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB, UNLIMITED_KB, Machine
from models.jobs.schedule import Schedule


def run(
    rows: list[tuple[float, float, float, int, int]],
    hosts: list[tuple[int, int]],
    name: str = "easy",
    **keys: Any,
) -> Schedule:
    """Simulate rows of submit, runtime, requested, size and GB on hosts of processors and GB."""
    jobs = make_jobs([(*row[:4], row[4] * KB_IN_GB) for row in rows])
    machine = make_machine([(processors, gb * KB_IN_GB) for processors, gb in hosts])
    return schedule(jobs, machine, rules(name, {"kind": "preempt", **keys}))


@pytest.mark.parametrize("kind", ["preempt", "soon"])
@tiers(25, 300)
def test_kernel_and_twin(kind: str, n_examples: int) -> None:
    def check(case: tuple[Jobs, Machine], how: Priority) -> None:
        made = schedule(*case, how)
        twin = twin_of(made.jobs, case[1], how)
        twin.run(how.ties)
        jobs = twin.jobs
        pieces = sorted((j.number, h, a * TICK, b * TICK) for j in jobs for h, a, b in j.pieces)
        assert pieces_of(made) == pieces
        assert made.start.tolist() == [job.first * TICK for job in jobs]
        assert made.full_start.tolist() == [min(job.began, job.end) * TICK for job in jobs]
        assert made.end.tolist() == [job.end * TICK for job in jobs]
        assert made.host.tolist() == [job.host for job in jobs]
        assert made.preempted.tolist() == [job.was_preempted for job in jobs]
        promised = [np.nan if job.promised == np.inf else job.promised * TICK for job in jobs]
        np.testing.assert_array_equal(made.promised, promised)

    for_all(n_examples, check, case=cases(), how=policies(kind))


# One job holds all processors of a host of 8; the other asks for 2 of them and for long, and ends soon.
HOLDER = (0, 5000, 5000, 8, 1)


def test_a_short_job_is_done_in_its_quantum() -> None:
    made = run([HOLDER, (700, 20, 9000, 2, 1)], [(8, 16)])
    assert pieces_of(made) == [(0, 0, 0, 700), (0, 0, 720, 5020), (1, 0, 700, 720)]
    assert made.delay.tolist() == [20, 0]
    assert made.preempted.tolist() == [True, False]
    assert made.full_start.tolist() == [0, 720]


def test_a_longer_job_waits_after_its_quantum_and_starts_anew() -> None:
    rows = [HOLDER, (700, 100, 9000, 2, 1)]
    assert pieces_of(run(rows, [(8, 16)])) == [
        (0, 0, 0, 700), (0, 0, 760, 5060), (1, 0, 700, 760), (1, 0, 5060, 5160),
    ]  # fmt: skip
    kept = run(rows, [(8, 16)], keep_quantum=True)
    assert pieces_of(kept)[-1] == (1, 0, 5060, 5100)
    assert kept.delay.tolist() == [60, 4300]


def test_a_quantum_that_counts_is_no_waiting_time() -> None:
    """The first new job has waited for 4300 s of its 4360, the other, without a quantum, for 4330."""
    rows = [HOLDER, (700, 100, 900, 8, 1), (730, 100, 900, 8, 1)]
    for keep, start in ((True, [700, 5060]), (False, [700, 5160])):
        made = run(rows, [(8, 16)], "lxf_backfill", keep_quantum=keep)
        assert made.start.tolist()[1:] == start


def test_no_job_is_preempted_before_its_ten_minutes() -> None:
    """Not at 599 s; and the time begins anew after a preemption, which ends at 760 here."""
    assert run([HOLDER, (599, 20, 900, 2, 1)], [(8, 16)]).start.tolist() == [0, 5000]
    assert run([HOLDER, (600, 20, 900, 2, 1)], [(8, 16)]).start.tolist() == [0, 600]
    again = [HOLDER, (700, 60, 900, 2, 1), (1359, 20, 900, 2, 1), (1360, 20, 900, 2, 1)]
    assert run(again, [(8, 16)]).start.tolist() == [0, 700, 5080, 1360]


def test_the_smallest_current_slowdown_goes_first() -> None:
    """At 4000 the first has been there for 4000 s and has run all the time, the other for 3000 of 3900 s."""
    rows = [(0, 9000, 9000, 4, 1), (0, 1000, 1000, 4, 1), (100, 9000, 9000, 4, 1), (4000, 10, 900, 3, 1)]
    assert run(rows, [(8, 16)], quantum=1).preempted.tolist() == [True, False, False, False]
    both = [*rows[:3], (4000, 10, 900, 5, 1)]
    assert run(both, [(8, 16)]).preempted.tolist() == [True, False, True, False]


def test_the_host_with_the_fewest_idle_processors_afterwards_is_taken() -> None:
    """Preempted are 8 of the first host or 4 of the second for 3; idle processors come before all that."""
    rows = [(0, 9000, 9000, 8, 1), (0, 9000, 9000, 4, 1), (700, 10, 900, 3, 1)]
    assert run(rows, [(8, 16), (4, 16)]).host.tolist() == [0, 1, 1]
    promised = [(0, 9000, 9000, 8, 1), (0, 9000, 9000, 4, 1), (5, 99, 99, 7, 1), (700, 99, 9999, 3, 1)]
    made = run(promised, [(8, 16), (7, 16)])
    assert made.preempted.tolist() == [False] * 4
    assert (made.start[3], made.host[3]) == (700, 1)


def test_a_preempted_job_keeps_its_memory() -> None:
    """A GB is left beside the holder or not; a quantum has a GB at most, or what its job asks for."""
    for gb, start in ((15, 700), (16, 5000)):
        assert run([(*HOLDER[:4], gb), (700, 20, 900, 2, 9)], [(8, 16)]).start[1] == start
    assert run([(*HOLDER[:4], 14), (700, 20, 900, 2, 9)], [(8, 16)], memory_gb=3).start[1] == 5000
    assert run([(*HOLDER[:4], 14), (700, 20, 900, 2, 2)], [(8, 16)], memory_gb=3).start[1] == 700


def test_who_uses_more_memory_than_a_quantum_has_is_not_done_in_it() -> None:
    rows = [HOLDER, (700, 20, 900, 2, 9)]
    assert run(rows, [(8, 16)]).end.tolist() == [5020, 5040]
    assert run(rows, [(8, 16)], beyond_memory="leaves").start.tolist() == [0, 5000]
    jobs = make_jobs([(*row[:4], row[4] * KB_IN_GB) for row in rows])
    sparing = replace(jobs, used_memory=np.array([1, KB_IN_GB]))
    made = schedule(sparing, make_machine([(8, 16 * KB_IN_GB)]), rules("easy", {"beyond_memory": "leaves"}))
    assert made.end.tolist() == [5020, 720]


def test_soon_waits_for_idle_processors_and_disturbs_no_start() -> None:
    """Two processors are idle, promised from 100 on; at 50 there is not a minute left, after 200 there is."""
    rows = [(0, 100, 100, 6, 1), (1, 100, 100, 8, 1), (50, 90, 900, 2, 1), (60, 500, 500, 8, 1)]
    made = run(rows, [(8, 16)], kind="soon")
    assert pieces_of(made) == [
        (0, 0, 0, 100), (1, 0, 100, 200), (2, 0, 200, 290), (3, 0, 290, 790),
    ]  # fmt: skip
    early = run(rows, [(8, 16)], kind="soon", quantum=40)
    assert pieces_of(early)[2:4] == [(2, 0, 50, 90), (2, 0, 200, 290)]
    careless = run(rows, [(8, 16)], kind="soon", keep_promises=False)
    assert pieces_of(careless)[1:3] == [(1, 0, 110, 210), (2, 0, 50, 110)]


@pytest.mark.parametrize("name", BACKFILLS)
@tiers(3, 30)
def test_without_use_for_quanta_it_is_the_plain_backfill(name: str, n_examples: int) -> None:
    """A ``soon`` that asks for more time than any job; or no idle processors and no long execution."""

    def check(case: tuple[Jobs, Machine]) -> None:
        made = schedule(*case, rules(name, {"kind": "soon", "quantum": 31 * TICK, "memory_gb": None}))
        expected = schedule(*case, plain(name))
        for column in ("start", "host", "promised"):
            np.testing.assert_array_equal(getattr(made, column), getattr(expected, column))
        machine = make_machine([(8, UNLIMITED_KB)])
        whole = replace(case[0], size=np.full(len(case[0]), 8))
        made = schedule(whole, machine, rules(name, {"uninterrupted": 31 * TICK}))
        np.testing.assert_array_equal(made.start, schedule(whole, machine, plain(name)).start)

    for_all(n_examples, check, case=cases())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"quantum": 0}, "policy.immediate.quantum=0; allowed: a positive number of seconds"),
        ({"kind": "never"}, "policy.immediate.kind=never; allowed: preempt, soon"),
        ({"quantom": 60}, "policy.immediate.quantom is not known; allowed: kind, quantum, memory_gb"),
        (60, "policy.immediate=60; allowed: null, or a mapping of kind"),
    ],
)  # fmt: skip
def test_refusals(keys: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r"^policy") as raised:
        rules_of(composed("policy", "easy_immediate", immediate=keys))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
