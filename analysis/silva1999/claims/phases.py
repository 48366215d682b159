"""Changes of phase, which grades of membership have to follow (section 2.1), from a run of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from analysis.claims import Claim, Fact, Open, Part
from analysis.silva1999.claims.margins import MEASURES_OF_A_GRADE
from analysis.silva1999.claims.tester import Tester
from analysis.silva1999.engine import scene, watching
from analysis.silva1999.labels import PRIORITIES

UNTIL = 5000.0
"""Seconds that are simulated; some hundred tasks change from I/O to computation in them."""

WORKLOAD = "changing_phases"


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentence on changes of phase."""
    yield test.claim(
        "2.1-phase-change-detected",
        "2.1: “If a task changes from an I/O intensive phase to a computation intensive phase, this "
        "change should be detected by the Concurrent Gang scheduler.”",
        f"Jobs that change from I/O to computation half-way: {MEASURES_OF_A_GRADE} measures after its "
        "change, each task's grade of computation is 1 and that of I/O 0 (workload changing_phases, run "
        "as the report is made).",
        facts(),
    )


@cache
def facts(until: float = UNTIL) -> tuple[Part, ...]:
    """Return what is so of every task that changed and was measured often enough afterwards."""
    settings = {**scene.SOURCE, "policy": PRIORITIES, "workload": WORKLOAD}
    found = watching.gradings(scene.point(settings), until)
    often = [one for one in found if len(one.after) >= MEASURES_OF_A_GRADE and len(one.before)]
    if not often:
        return (Open("changes of phase", f"no task was measured often enough in {until:g} s"),)
    last = [one.after[MEASURES_OF_A_GRADE - 1] for one in often]
    io = np.array([one.io[place] for one, place in zip(often, last, strict=True)])
    computation = np.array([one.computation[place] for one, place in zip(often, last, strict=True)])
    followed = int(((io == 0) & (computation == 1)).sum())
    had = int(sum(one.io[one.before[-1]] > 0 for one in often))
    return (
        Fact(f"tasks that were graded as doing I/O before: {had} of {len(often)}", had > len(often) / 2),
        Fact(
            f"tasks that are graded as computing only afterwards: {followed} of {len(often)}",
            followed == len(often),
        ),
    )
