"""How the sentences of chapters 3 to 6 are tested (``claims.yaml``).

Numbers without chance in them are facts (`exact`, `schedules`); simulated ones are compared by
paired intervals (`simulation`). What policies do on a mesh or a list of jobs depends on no dataset
(`partitions`, `lemmas`, the examples of `schedules`).
"""

from functools import cache
from pathlib import Path

from analysis.claims import Claim, Fact
from analysis.claims.comparisons import AxisRange
from analysis.claims.rows import Rows
from analysis.claims.tester import Tester
from analysis.claims.testers import CURVES
from analysis.mccann1994 import labels
from analysis.mccann1994.claims import exact, lemmas, partitions, schedules, simulation
from analysis.study import Study

ROWS = Rows(Path(__file__).parents[1])
FACTS = {**partitions.FACTS, **lemmas.FACTS, **schedules.FACTS}


def _model(test: Tester, of: str) -> list[Fact]:
    """Return facts about what a policy does, which depend on no dataset."""
    return [Fact(text, so) for text, so in FACTS[of]()]


TESTERS = {**CURVES, **exact.TESTERS, **simulation.TESTERS, **schedules.TESTERS, "model": _model}

SECTIONS = {
    labels.EFFICIENCY: ("speedup", "partitions", "efficiency"),
    labels.MOST_LOADED: ("fairness",),
    labels.RESPONSE: ("simulation",),
    labels.BLOW_UP: ("birth_death",),
    labels.REALLOCATIONS: ("schedules",),
}
"""Sections of the rows by the first of these metrics that the experiment has."""

MOST_JOBS = 256
"""Jobs on the machine of section 5.1; grids end before."""

UNEVEN = tuple(float(jobs) for jobs in range(3, MOST_JOBS) if jobs & (jobs - 1))
"""Numbers of jobs that are not powers of two: at powers of two all partitions are equal."""

ODD, EVEN = (tuple(jobs for jobs in UNEVEN if jobs % 2 == part) for part in (1, 0))
ODD_JOBS, EVEN_JOBS = AxisRange("odd J", only=ODD), AxisRange("even J that are not powers of two", only=EVEN)

# Between one power of two and the next, equipartition goes through all kinds of remainders once.
OCTAVES = [AxisRange(f"J from {low + 1} to {2 * low - 1}", low + 1, 2 * low - 1) for low in (4, 8, 16, 32)]

RANGES = {
    "no_power": AxisRange("all J that are not powers of two", only=UNEVEN),
    # Section 4.4.5 calls up to 16 "a moderate number of partitions", and Fig. 4.2 ends there.
    "moderate": AxisRange("J up to 16 that are not powers of two", 3, 16, only=UNEVEN),
    "many": AxisRange("J from 17 on that are not powers of two", 17, only=UNEVEN),
    "octaves": OCTAVES,
    "first_octave": OCTAVES[0],
    "powers": [AxisRange(f"J = {j}", j, j) for j in (2, 4, 8, 16, 32)],
    "odd": ODD_JOBS,
    "even": EVEN_JOBS,
    "odd_and_even": [ODD_JOBS, EVEN_JOBS],
}
"""Ranges of the number of jobs that are computed."""


@cache
def claims(study: Study) -> tuple[Claim, ...]:
    """Return every claim that the study's metrics can decide, tested under one reading."""
    metric = next((name for name in SECTIONS if name in study.data), None)
    if metric is None:
        return ()
    test = Tester(study, labels.KEY)
    test.names = {**ROWS.names, **RANGES}
    sections = SECTIONS[metric]
    if metric == labels.RESPONSE and study.varies(labels.LIMITS.name):
        sections = ("memory",)
    elif metric == labels.REALLOCATIONS and not labels.on_random_lists(study):
        sections = ("lemmas", "examples")
    return ROWS.claims(test, TESTERS, *sections)
