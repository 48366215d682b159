"""The twin of Concurrent Gang against examples worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from concurrent_gang_twin import (
    BUSY,
    COMMUNICATION,
    EMPTY,
    IO,
    SWITCHING,
    SYNCHRONIZATION,
    Draws,
    Phase,
    Result,
    Settings,
    run,
)

pytestmark = pytest.mark.exhaustive

COMPUTATION = [Phase(1.0, 1, 1)]
COMMUNICATION_INTENSIVE = [Phase(1.0, 5, 4, communication=1)]
ONE_IO = [Phase(1.0, 2, 1, io=1)]
ONE_BARRIER = [Phase(1.0, 2, 1, synchronization=1)]


def regular(settings: Settings) -> Draws:
    """Statements that all take equally long."""
    return Draws(
        stretch=lambda key, task, step, n: n * settings.seconds,
        service=lambda key, task, step: settings.io_time,
        statements=lambda key, step, mean: mean,
        shift=lambda key, exchange, size: 1 + exchange % (size - 1),
    )


def by_hand(
    stretch: Callable[[int, int, int], float], service: Callable[[int, int, int], float] = lambda *_: 0.0
) -> Draws:
    """Times of the stretches and services of (key, task, step), as an example needs them."""
    return Draws(
        stretch=lambda key, task, step, n: stretch(key, task, step),
        service=service,
        statements=lambda key, step, mean: mean,
        shift=lambda key, exchange, size: 1,
    )


def shown(result: Result, pe: int) -> list[tuple[float, float, str, int | None]]:
    """What a PE does, by job."""
    return [segment[:4] for segment in result.timelines[pe]]


# Worked by hand.


def hand_settings(n_pes: int = 1, **others: object) -> Settings:
    return Settings(**({"n_pes": n_pes, "sides": (1, n_pes), "slice": 10.0} | others))  # type: ignore[arg-type]


C, B, A = 0, 1, 2


def three_rows(settings: Settings, service_of_a: float) -> Result:
    """Three sequential jobs: C blocks at 32 s, when A is graded I/O intensive, and B has waited longer."""
    draws = by_hand(
        lambda key, task, step: {C: 20.0, B: 100.0, A: 2.0}[key],
        lambda key, task, step: {C: 18.0, B: 1.0, A: 8.0 if step != 1 else service_of_a}[key],
    )
    jobs = [(0.0, 1, 1.0, C), (0.0, 1, 1.0, B), (0.0, 1, 9.0, A)]
    result = run(jobs, ONE_IO, settings, draws, 50.0)
    assert shown(result, 0)[:4] == [(0, 10, BUSY, C), (10, 20, BUSY, B), (20, 22, BUSY, A), (22, 32, BUSY, C)]
    assert result.grades[A, 0][0] == (30.0, 0.8, 0.2)
    return result


def test_the_greatest_priority_is_chosen_not_the_longest_wait() -> None:
    result = three_rows(hand_settings(local="round_robin"), 8.0)
    assert shown(result, 0)[4:] == [(32, 50, BUSY, B)]
    result = three_rows(hand_settings(local="priority", alpha=2.0), 8.0)
    assert shown(result, 0)[4:] == [(32, 34, BUSY, A), (34, 50, BUSY, B)]
    # Without the emphasis on I/O a grade of 0.8 is less than that of computation.
    result = three_rows(hand_settings(local="priority", alpha=1.0), 8.0)
    assert shown(result, 0)[4:] == [(32, 50, BUSY, B)]


def test_a_task_of_higher_priority_that_wakes_preempts_where_it_may() -> None:
    result = three_rows(hand_settings(local_preemption=True), 3.0)
    assert shown(result, 0)[4:] == [
        (32, 34, BUSY, A),
        (34, 37, BUSY, B),
        (37, 39, BUSY, A),
        (39, 50, BUSY, B),
    ]
    result = three_rows(hand_settings(local_preemption=False), 3.0)
    assert shown(result, 0)[4:] == [(32, 34, BUSY, A), (34, 50, BUSY, B)]


def test_tasks_of_barriers_are_left_to_their_slots_by_priority_and_not_by_round_robin() -> None:
    """Two rows; the first task of each job needs 2 s to a barrier, the second one 10 s."""
    jobs = [(0.0, 2, 9.0, 0), (0.0, 2, 9.0, 1)]
    draws = by_hand(lambda key, task, step: (2.0, 10.0)[task])

    settings = hand_settings(2, local="priority", beta=0.25, newcomer_priority=0.0)
    result = run(jobs, ONE_BARRIER, settings, draws, 30.0)
    assert shown(result, 0) == [
        (0, 2, BUSY, 0),
        (2, 10, SYNCHRONIZATION, 0),
        (10, 12, BUSY, 1),
        (12, 20, SYNCHRONIZATION, 1),
        (20, 22, BUSY, 0),
        (22, 30, SYNCHRONIZATION, 0),
    ]
    assert shown(result, 1) == [(0, 10, BUSY, 0), (10, 20, BUSY, 1), (20, 30, BUSY, 0)]
    assert result.grades[0, 0][0] == (10.0, 0.0, 0.2)
    assert result.grades[0, 1][0] == (10.0, 0.0, 1.0)

    result = run(jobs, ONE_BARRIER, replace(settings, local="round_robin"), draws, 30.0)
    assert shown(result, 0) == [
        (0, 2, BUSY, 0),
        (2, 4, BUSY, 1),
        (4, 10, SYNCHRONIZATION, 0),
        (10, 12, BUSY, 0),
        (12, 20, SYNCHRONIZATION, 1),
        (20, 22, BUSY, 1),
        (22, 30, SYNCHRONIZATION, 0),
    ]
    # At the bar they still wait; computation alone has a grade of 1.
    assert shown(run(jobs, ONE_BARRIER, replace(settings, beta=0.2), draws, 30.0), 0)[3][1:] == (
        20,
        SYNCHRONIZATION,
        1,
    )
    # A lower bar lets them run: both then do as under round robin.
    lower = replace(settings, beta=-1.0)
    assert shown(run(jobs, ONE_BARRIER, lower, draws, 30.0), 0) == shown(result, 0)


def test_spinning_and_blocking_without_coordination() -> None:
    """Quanta of 4 s; the first task of each job needs 2 s to a barrier, the second one 10 s."""
    jobs = [(0.0, 2, 9.0, 0), (0.0, 2, 9.0, 1)]
    draws = by_hand(lambda key, task, step: (2.0, 10.0)[task])
    settings = hand_settings(2, coordinated=False, quantum=4.0, waits="spin")

    result = run(jobs, ONE_BARRIER, settings, draws, 26.0)
    assert shown(result, 0) == [
        (0, 2, BUSY, 0),
        (2, 4, SYNCHRONIZATION, 0),
        (4, 6, BUSY, 1),
        (6, 8, SYNCHRONIZATION, 1),
        (8, 12, SYNCHRONIZATION, 0),
        (12, 16, SYNCHRONIZATION, 1),
        (16, 18, SYNCHRONIZATION, 0),
        (18, 20, BUSY, 0),
        (20, 22, SYNCHRONIZATION, 1),
        (22, 24, BUSY, 1),
        (24, 26, SYNCHRONIZATION, 0),
    ]
    second = [
        (0, 4, BUSY, 0),
        (4, 8, BUSY, 1),
        (8, 12, BUSY, 0),
        (12, 16, BUSY, 1),
        (16, 20, BUSY, 0),
        (20, 24, BUSY, 1),
        (24, 26, BUSY, 0),
    ]
    assert shown(result, 1) == second
    assert result.barriers == [(0, 18.0, (2.0, 18.0)), (1, 22.0, (6.0, 22.0))]
    assert result.n_signals == 0

    result = run(jobs, ONE_BARRIER, replace(settings, waits="block"), draws, 26.0)
    assert shown(result, 0) == [
        (0, 2, BUSY, 0),
        (2, 4, BUSY, 1),
        (4, 18, SYNCHRONIZATION, 1),
        (18, 20, BUSY, 0),
        (20, 22, SYNCHRONIZATION, 0),
        (22, 24, BUSY, 1),
        (24, 26, SYNCHRONIZATION, 1),
    ]
    assert shown(result, 1) == second


def test_when_the_owner_of_a_slot_gets_its_pe_back() -> None:
    """Job 0 computes for 2 s and waits for 3 s of I/O, job 1 computes."""
    draws = by_hand(lambda key, task, step: (2.0, 100.0)[key], lambda *_: 3.0)
    jobs = [(0.0, 1, 9.0, 0), (0.0, 1, 1.0, 1)]

    def timeline(**others: object) -> list[tuple[float, float, str, int | None]]:
        return shown(run(jobs, ONE_IO, hand_settings(**others), draws, 20.0), 0)

    mine = [(0, 2, BUSY, 0), (2, 5, BUSY, 1), (5, 7, BUSY, 0), (7, 20, BUSY, 1)]
    assert timeline(returns="at_once") == mine
    assert timeline(returns="at_decision") == [(0, 2, BUSY, 0), (2, 20, BUSY, 1)]
    assert timeline(returns="at_signal") == [(0, 2, BUSY, 0), (2, 20, BUSY, 1)]
    for returns in ("at_once", "at_decision"):
        assert timeline(local="none", returns=returns) == [
            (0, 2, BUSY, 0),
            (2, 5, IO, 0),
            (5, 7, BUSY, 0),
            (7, 10, IO, 0),
            (10, 20, BUSY, 1),
        ]
    assert timeline(local="none", returns="at_signal") == [
        (0, 2, BUSY, 0),
        (2, 5, IO, 0),
        (5, 10, EMPTY, None),
        (10, 20, BUSY, 1),
    ]


def test_a_row_that_closes_leaves_its_slice_to_nobody() -> None:
    jobs = [(0.0, 1, 5.0, 0), (0.0, 1, 20.0, 1), (0.0, 1, 20.0, 2), (72.0, 1, 1.0, 3), (72.0, 1, 9.0, 4)]
    settings = hand_settings(local="none")
    result = run(jobs, COMPUTATION, settings, regular(settings), 95.0)
    assert shown(result, 0) == [
        (0, 5, BUSY, 0),
        (5, 10, EMPTY, None),
        (10, 20, BUSY, 1),
        (20, 30, BUSY, 2),
        (30, 40, BUSY, 1),
        (40, 50, BUSY, 2),
        (50, 72, EMPTY, None),
        (72, 73, BUSY, 3),
        (73, 80, EMPTY, None),
        (80, 89, BUSY, 4),
        (89, 95, EMPTY, None),
    ]
    assert result.rows == [
        [(0, 0), (5, None)],
        [(0, 1), (5, 0), (40, None)],
        [(0, 2), (5, 1), (40, 0), (50, None)],
        [(72, 0), (73, None)],
        [(72, 1), (73, 0), (89, None)],
    ]
    assert result.n_signals == 9
    assert result.totals == {BUSY: 55, SWITCHING: 0, EMPTY: 40, IO: 0, COMMUNICATION: 0, SYNCHRONIZATION: 0}
    # The local task scheduler fills that slice, and the next one goes on with it.
    settings = hand_settings(local="round_robin")
    result = run(jobs, COMPUTATION, settings, regular(settings), 80.0)
    assert shown(result, 0)[:3] == [(0, 5, BUSY, 0), (5, 20, BUSY, 1), (20, 30, BUSY, 2)]


def test_ends_come_before_arrivals_and_arrivals_before_the_signal() -> None:
    """Job 1 takes the place of job 0, which ends with its I/O; the slice after it is that of job 2."""
    settings = hand_settings(local="none")
    draws = by_hand(lambda key, task, step: 4.0 if key == 0 else 50.0, lambda *_: 3.0)
    jobs = [(0.0, 1, 1.0, 0), (7.0, 1, 1.0, 1), (10.0, 1, 1.0, 2)]
    result = run(jobs, ONE_IO, settings, draws, 30.0)
    assert shown(result, 0) == [
        (0, 4, BUSY, 0),
        (4, 7, IO, 0),
        (7, 10, BUSY, 1),
        (10, 20, BUSY, 2),
        (20, 30, BUSY, 1),
    ]
    assert result.rows == [[(0, 0), (7, None)], [(7, 0)], [(10, 1)]]


def test_switching_costs_its_time_and_more_at_a_signal() -> None:
    jobs = [(0.0, 1, 15.0, 0), (0.0, 1, 40.0, 1)]
    settings = hand_settings(local="none", context_switch=1.0, central_cost=0.5)
    assert shown(run(jobs, COMPUTATION, settings, regular(settings), 40.0), 0) == [
        (0, 10, BUSY, 0),
        (10, 11.5, SWITCHING, 1),
        (11.5, 20, BUSY, 1),
        (20, 21.5, SWITCHING, 0),
        (21.5, 26.5, BUSY, 0),
        (26.5, 30, EMPTY, None),
        (30, 31.5, SWITCHING, 1),
        (31.5, 40, BUSY, 1),
    ]
    settings = replace(settings, local="priority")
    assert shown(run(jobs, COMPUTATION, settings, regular(settings), 40.0), 0)[-2:] == [
        (26.5, 27.5, SWITCHING, 1),
        (27.5, 40, BUSY, 1),
    ]
    # Switched to for longer than a slice, no task ever computes after the first slice.
    settings = replace(settings, local="none", context_switch=12.0)
    result = run(jobs, COMPUTATION, settings, regular(settings), 95.0)
    assert result.totals[BUSY] == 10
    assert result.totals[SWITCHING] == 85


def test_a_task_that_blocks_at_a_signal_leaves_its_pe_to_the_next_row() -> None:
    """No decision is made between the two: the switch is that of the signal, with its cost."""
    draws = by_hand(lambda key, task, step: (10.0, 50.0)[key], lambda *_: 5.0)
    settings = hand_settings(local="round_robin", context_switch=1.0, central_cost=0.5)
    result = run([(0.0, 1, 9.0, 0), (0.0, 1, 1.0, 1)], ONE_IO, settings, draws, 20.0)
    assert shown(result, 0) == [(0, 10, BUSY, 0), (10, 11.5, SWITCHING, 1), (11.5, 20, BUSY, 1)]


@pytest.mark.parametrize("waits", ["block", "spin"])
def test_a_quantum_begins_after_the_switch_and_ends_with_io(waits: str) -> None:
    """Job 0 computes, job 1 waits for I/O for 2 s after 6 s."""
    draws = by_hand(lambda key, task, step: (100.0, 6.0)[key], lambda *_: 2.0)
    settings = hand_settings(coordinated=False, quantum=4.0, waits=waits, context_switch=1.0)
    result = run([(0.0, 1, 9.0, 0), (3.0, 1, 1.0, 1)], ONE_IO, settings, draws, 26.0)
    assert shown(result, 0) == [
        (0, 4, BUSY, 0),
        (4, 5, SWITCHING, 1),
        (5, 9, BUSY, 1),
        (9, 10, SWITCHING, 0),
        (10, 14, BUSY, 0),
        (14, 15, SWITCHING, 1),
        (15, 17, BUSY, 1),
        (17, 18, SWITCHING, 0),
        (18, 26, BUSY, 0),
    ]
    assert result.ends == [None, 19]


def test_a_spinning_task_that_wakes_while_it_is_switched_to_computes_after_the_switch() -> None:
    """Quanta of 4 s and switches of 2 s; the barrier opens at 13 s, or at 11 s in the midst of a switch."""
    draws = by_hand(lambda key, task, step: ((1.0, 100.0), (13.0, 100.0))[task][key])
    jobs = [(0.0, 2, 9.0, 0), (0.5, 1, 9.0, 1)]
    settings = hand_settings(2, coordinated=False, quantum=4.0, waits="spin", context_switch=2.0)
    result = run(jobs, ONE_BARRIER, settings, draws, 17.5)
    assert shown(result, 0) == [
        (0, 1, BUSY, 0),
        (1, 4, SYNCHRONIZATION, 0),
        (4, 6, SWITCHING, 1),
        (6, 10, BUSY, 1),
        (10, 12, SWITCHING, 0),
        (12, 13, SYNCHRONIZATION, 0),
        (13, 14, BUSY, 0),
        (14, 16, SYNCHRONIZATION, 0),
        (16, 17.5, SWITCHING, 1),
    ]
    later = by_hand(lambda key, task, step: ((1.0, 100.0), (11.0, 100.0))[task][key])
    result = run(jobs, ONE_BARRIER, settings, later, 17.5)
    assert shown(result, 0)[4:] == [
        (10, 12, SWITCHING, 0),
        (12, 13, BUSY, 0),
        (13, 16, SYNCHRONIZATION, 0),
        (16, 17.5, SWITCHING, 1),
    ]


def test_messages_wait_for_links() -> None:
    """Two jobs of two tasks; 1 s a link, and 10 s until all bytes have passed it."""
    jobs = [(0.0, 2, 20.0, 0), (0.0, 2, 20.0, 1)]
    settings = hand_settings(
        2,
        coordinated=False,
        quantum=100.0,
        link_latency=1.0,
        bandwidth=5.0,
        message_bytes=50.0,
        link_contention=True,
    )

    def first_messages() -> list[tuple[int, int, float, float, float | None]]:
        result = run(jobs, COMMUNICATION_INTENSIVE, settings, regular(settings), 40.0)
        mine = [message for message in result.messages if message.sender == 0]
        return [(each.job, each.exchange, each.sent, each.arrived, each.received) for each in mine][:3]

    assert first_messages() == [(0, 0, 4, 15, 15), (1, 0, 12, 25, 25), (0, 1, 20, 35, 35)]
    settings = replace(settings, link_contention=False)
    assert first_messages() == [(0, 0, 4, 15, 15), (1, 0, 12, 23, 23), (0, 1, 20, 31, 31)]


# Grades.


def test_an_owner_that_waits_through_its_slot_is_measured() -> None:
    draws = by_hand(lambda *_: 2.0, lambda *_: 100.0)
    result = run([(0.0, 1, 9.0, 0), (0.0, 1, 9.0, 1)], ONE_IO, hand_settings(local="none"), draws, 50.0)
    assert [(grade.time, grade.io) for grade in result.grades[0, 0]] == [
        (10, 0.8),
        (30, pytest.approx(0.9)),
        (50, pytest.approx((0.8 + 1 + 1) / 3)),
    ]


def test_a_wait_counts_in_each_slice_for_its_part_there() -> None:
    """Computation of 4 s and I/O of 12 s in turns."""
    draws = by_hand(lambda *_: 4.0, lambda *_: 12.0)
    result = run([(0.0, 1, 9.0, 0)], ONE_IO, hand_settings(), draws, 30.0)
    assert [grade[:2] for grade in result.grades[0, 0]] == [
        (10, 0.6),
        (20, 0.6),
        (30, pytest.approx((0.6 + 0.6 + 1) / 3)),
    ]


def test_local_tasks_are_measured_too() -> None:
    """Job 0 waits from 2 s on; job 1 computes: chosen, then in its slot, then still running, and so on."""
    draws = by_hand(lambda key, task, step: (2.0, 100.0)[key], lambda *_: 99.0)
    result = run([(0.0, 1, 9.0, 0), (0.0, 1, 1.0, 1)], ONE_IO, hand_settings(), draws, 40.0)
    assert result.grades[1, 0] == [(10, 0, 1), (20, 0, 1), (30, 0, 1), (40, 0, 1)]
    assert [grade.time for grade in result.grades[0, 0]] == [10, 30]
    # A task that only blocks has been scheduled.
    draws = by_hand(lambda key, task, step: (2.0, 0.0)[key], lambda *_: 99.0)
    result = run([(0.0, 1, 9.0, 0), (0.0, 1, 1.0, 1)], ONE_IO, hand_settings(), draws, 40.0)
    assert result.grades[1, 0] == [(10, 1, 0), (20, 1, 0), (40, 1, 0)]
