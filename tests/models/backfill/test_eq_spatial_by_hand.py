"""Spatial equipartitioning (Chiang and Vernon 2001, sections 2.5, 4.4), sentence by sentence, by hand."""

import re
from pathlib import Path
from typing import Any

import pytest
from eq_spatial_cases import make_jobs, make_machine, pieces_of, rules, run

BIG = 64 << 10
POLICIES = Path(__file__).parents[3] / "conf" / "policy" / "backfill"


def test_equal_jobs_share_a_host() -> None:
    assert run([(0, 100, 8, 0, 0)] * 4, [(8, BIG)]).end.tolist() == [400] * 4
    assert run([(0, 100, 8, 0, 0), (40, 100, 8, 0, 0)], [(8, BIG)]).end.tolist() == [160, 200]


def test_as_equally_as_allowed_by_the_requests() -> None:
    made = run([(0, 100, 1, 0, 0), (0, 100, 3, 0, 0), (0, 100, 9, 0, 0)], [(10, BIG)])
    assert [pieces_of(made, job)[0][2] for job in range(3)] == [1, 3, 6]


@pytest.mark.parametrize(("odd", "processors"), [("first", [3, 3, 2]), ("last", [2, 3, 3])])
def test_odd_processors(odd: str, processors: list[int]) -> None:
    made = run([(0, 100, 5, 0, 0)] * 3, [(8, BIG)], odd_processors=odd)
    assert [pieces_of(made, job)[0][2] for job in range(3)] == processors


def test_placement() -> None:
    """The fewest unallocated processors that are enough; else the largest ratio, 4/6 or 8/10; and memory."""
    hosts = [(4, BIG), (8, BIG)]
    assert run([(0, 9, 3, 0, 0), (0, 9, 3, 0, 0), (0, 9, 1, 0, 0)], hosts).host.tolist() == [0, 1, 0]
    assert run([(0, 9, 4, 0, 0), (0, 9, 8, 0, 0), (0, 9, 2, 0, 0)], hosts).host.tolist() == [0, 1, 1]
    assert run([(0, 9, 2, 0, 0), (0, 9, 3, 2048, 0)], [(4, 1024), (8, 2048)]).host.tolist() == [0, 1]


def test_within_the_interval_nothing_is_repartitioned() -> None:
    """At 10 the host is divided; the job of 20 finds none free, and at 310 it is divided again."""
    made = run([(0, 1000, 4, 0, 0), (10, 1000, 2, 0, 0), (20, 5, 2, 0, 0)], [(4, BIG)], min_interval=300)
    assert made.start.tolist() == [0, 10, 310]
    assert made.full_start.tolist() == [0, 10, 20]
    assert pieces_of(made, 2) == [(310, 320, 1)]
    # What it leaves is idle until 610.
    assert pieces_of(made, 1)[:2] == [(10, 310, 2), (310, 610, 1)]
    assert pieces_of(made, 1)[2][2] == 2


def test_who_has_run_for_long_gets_what_it_asks_for() -> None:
    """As long as the other one has a processor; from 150 on both have run for long."""
    made = run([(0, 1000, 4, 0, 0), (50, 1000, 4, 0, 0)], [(4, BIG)], long_after=100)
    assert pieces_of(made, 0)[:3] == [(0, 50, 4), (50, 100, 2), (100, 150, 3)]
    assert [processors for _, _, processors in pieces_of(made, 1)] == [2, 1, 2, 4]


# A fills the memory of the first host until 100, and B waits for it; it misses half of the processors.
# C joins B at 110, and D comes at 150. E has all memory of the second host, where D would find 2 for 5.
LATE = [
    (0, 100, 4, 4096, 4096), (0, 1000, 4, 1024, 0), (0, 200, 4, 2048, 2048),
    (110, 1000, 4, 1024, 0), (150, 1000, 1, 0, 0),
]  # fmt: skip
TWO = [(4, 4096), (2, 1024)]


def test_catching_up() -> None:
    """B missed 200 processor-seconds. Beside C it has 3 processors instead of 2, so that takes it 200 s."""
    made = run(LATE, TWO, quantum=None)
    assert pieces_of(made, 2) == [(100, 110, 4), (110, 310, 3), (310, 390, 2)]
    plain = run(LATE[:4], TWO, quantum=None, catch_up=False)
    assert pieces_of(plain, 2) == [(100, 110, 4), (110, 490, 2)]
    assert made.full_start.tolist() == [0, 0, 100, 110, 150]


def with_quantum(runtime: float, used: int, **keys: Any) -> tuple[list[tuple[float, float, int]], float]:
    """Return what a job runs that asks for more memory than is there before 1000 s or so."""
    made = run([(0, 1000, 4, 3072, 0), (10, runtime, 4, 2048, used)], [(4, 4096)], **keys)
    return pieces_of(made, 1), float(made.full_start[1])


def test_a_quantum_for_who_finds_no_memory() -> None:
    assert with_quantum(20, 512) == ([(10, 50, 2)], 50)
    assert with_quantum(30, 512) == ([(10, 70, 2)], 70)
    assert with_quantum(100, 512) == ([(10, 70, 2), (1030, 1130, 4)], 1030)
    assert with_quantum(100, 512, keep_quantum=True) == ([(10, 70, 2), (1030, 1100, 4)], 1030)
    whole = {"keep_quantum": True, "quantum_processors": "requested"}
    assert with_quantum(100, 512, **whole) == ([(10, 70, 3), (1045, 1100, 4)], 1045)
    assert with_quantum(20, 512, quantum=None) == ([(1000, 1020, 4)], 1000)
    assert with_quantum(20, 512, quantum_memory_gb=1.5) == ([(1000, 1020, 4)], 1000)


def test_who_gets_memory_first() -> None:
    rows = [(0, 100, 1, 3072, 0), (1, 50, 1, 4096, 4096), (2, 50, 1, 1024, 0)]
    assert run(rows, [(4, 4096)], quantum=None).start.tolist() == [0, 100, 2]
    assert run(rows, [(4, 4096)], quantum=None, waiting="fcfs").start.tolist() == [0, 100, 150]


def test_rules_of_ties() -> None:
    """At 10 one host becomes free and a job comes that both could take."""
    rows = [(0, 10, 4, 0, 0), (0, 20, 5, 0, 0), (10, 5, 1, 0, 0)]
    assert run(rows, [(4, BIG), (5, BIG)]).host.tolist() == [0, 1, 0]
    # Before that end both ratios are 4/5 and 5/6.
    assert run(rows, [(4, BIG), (5, BIG)], ties="event").host.tolist() == [0, 1, 1]


def test_memory_that_no_host_has() -> None:
    message = "1 of 2 jobs ask for more memory than any host has: job 2 for 4195328 KB, and the largest"
    with pytest.raises(ValueError, match=f"{message} host has 4194304; leave out such jobs"):
        rules().check(
            make_jobs([(0, 10, 1, 4096, 0), (0, 10, 1, 4097, 0)]), make_machine([(4, 4096), (8, 1024)])
        )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"min_interval": -1}, "policy.min_interval=-1; allowed: 0 or a positive number of seconds"),
        ({"quantum": "1m"}, "policy.quantum=1m; allowed: a positive number of seconds, or null"),
        ({"quantum_memory_gb": 0}, "policy.quantum_memory_gb=0; allowed: a positive number of GB"),
        ({"quantum_processors": 4}, "policy.quantum_processors=4; allowed: share, requested"),
    ],
)
def test_bad_keys(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        rules(**keys)
