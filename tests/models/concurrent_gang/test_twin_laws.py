"""The twin of Concurrent Gang against examples worked by hand."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from concurrent_gang_twin import (
    BUSY,
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
ONE_IO = [Phase(1.0, 2, 1, io=1)]
ONE_BARRIER = [Phase(1.0, 2, 1, synchronization=1)]


def regular(settings: Settings) -> Draws:
    """Statements that all take equally long."""
    return Draws(
        stretch=lambda key, task, step, n: n * settings.seconds,
        service=lambda key, task, step: settings.io_time,
        statements=lambda key, task, step, mean: mean,
        shift=lambda key, exchange, size: 1 + exchange % (size - 1),
    )


def by_hand(
    stretch: Callable[[int, int, int], float], service: Callable[[int, int, int], float] = lambda *_: 0.0
) -> Draws:
    """Times of the stretches and services of (key, task, step), as an example needs them."""
    return Draws(
        stretch=lambda key, task, step, n: stretch(key, task, step),
        service=service,
        statements=lambda key, task, step, mean: mean,
        shift=lambda key, exchange, size: 1,
    )


def shown(result: Result, pe: int) -> list[tuple[float, float, str, int | None]]:
    """What a PE does, by job."""
    return [segment[:4] for segment in result.timelines[pe]]


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
        (2, 10, IO, 0),  # from 5 on it is held: the slot is not empty
        (10, 20, BUSY, 1),
    ]


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
