"""Short and long jobs where memory holds a limited number of them: the simulation (section 5.4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import AxisRange, ratio
from analysis.claims.tester import Tester
from analysis.figures.policies import label
from analysis.mccann1994.claims.margins import ACCURATE, LARGE_LIMIT, LARGER, SIMILAR, SMALL_LIMITS
from analysis.mccann1994.labels import (
    BLOW_UP_CV,
    EVERY_CLASS,
    LIMITS,
    LOADS,
    NAMES,
    OVERHEAD,
    RESPONSE,
    of_class,
)
from analysis.study.curve import EXCLUDED, Curve

FOLD, EQUI = "fold_never", "equi_plus"
LOAD = AxisRange("load 0.5", 0.5, 0.5)
"""Of Figs. 5.10 and 5.11."""

STATED = f"limits of {', '.join(f'{limit:g}' for limit in SMALL_LIMITS[:-1])} and {SMALL_LIMITS[-1]:g}"


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 5.4.2."""
    overheads = test.study.values_of(OVERHEAD) or [""]
    yield test.claim(
        "5.4.2-small-limits-hurt-folding",
        "5.4.2: “in terms of overall mean response time, small memory limitations are detrimental to "
        "Folding”",
        f"Under FOLD∞, {STATED} give a longer mean response time of all jobs than a limit of "
        f"{LARGE_LIMIT:g}, at each overhead.",
        _small_over_large(test, RESPONSE, FOLD, EVERY_CLASS, overheads, low=1.0),
    )
    yield test.claim(
        "5.4.2-small-limits-may-help-equi",
        "5.4.2: “but may be beneficial to Equipartition. … The fact that the average response time grows "
        "with increasing L indicates that the penalty can outweigh the benefit.”",
        f"Under EQUI+, one of the {STATED} gives a shorter mean response time of all jobs than a limit of "
        f"{LARGE_LIMIT:g}, at some overhead.",
        _small_over_large(test, RESPONSE, EQUI, EVERY_CLASS, overheads, high=1.0),
        needed=1,
    )
    yield test.claim(
        "5.4.2-small-limits-delay-short-jobs",
        "5.4.2: “The drawback of small multiprogramming limits under both policies is the reduced "
        "opportunity to put an arriving short job into service quickly.”",
        f"Short jobs have a longer mean response time with {STATED} than with a limit of {LARGE_LIMIT:g}, "
        "under FOLD∞ and EQUI+, at each overhead.",
        [
            part
            for policy in (FOLD, EQUI)
            for part in _small_over_large(test, RESPONSE, policy, "short", overheads, low=1.0)
        ],
    )
    yield test.claim(
        "5.4.2-same-variation",
        "5.4.2: “We see that both Folding and Equipartition behave about the same”",
        "Coefficients of variation of the blow-up factor under FOLD∞ and EQUI+ are within "
        f"{SIMILAR:.0%} of each other, at each limit and overhead.",
        _fold_over_equi(test, BLOW_UP_CV, overheads, 1 / (1 + SIMILAR), 1 + SIMILAR),
    )
    yield test.claim(
        "5.4.2-variation-falls-with-limit",
        "5.4.2: “and that the blow-up factor is significantly larger for small values of L than for large "
        "ones.”",
        f"With {STATED} the coefficient of variation is more than {LARGER} times that with a limit of "
        f"{LARGE_LIMIT:g}, under FOLD∞ and EQUI+, at each overhead.",
        [
            part
            for policy in (FOLD, EQUI)
            for part in _small_over_large(test, BLOW_UP_CV, policy, EVERY_CLASS, overheads, low=LARGER)
        ],
    )
    yield test.claim(
        "5.4.2-fold-never-dominates",
        "5.4.2: “there is little or no penalty to the factor of two difference in resource allocation "
        "possible under FOLD∞, and so this policy appears to dominate the others.”",
        f"At each limit and overhead FOLD∞'s mean response time of all jobs is at most {ACCURATE:.0%} (the "
        f"simulation's precision) and its coefficient of variation at most {SIMILAR:.0%} above that of "
        f"EQUI+; with a limit of {LARGE_LIMIT:g} its mean response time is shorter.",
        [
            *_fold_over_equi(test, RESPONSE, overheads, 0.0, 1 + ACCURATE),
            *_fold_over_equi(test, BLOW_UP_CV, overheads, 0.0, 1 + SIMILAR),
            *_fold_over_equi(test, RESPONSE, overheads, 0.0, 1.0, from_limit=LARGE_LIMIT),
        ],
    )


def _at(test: Tester, metric: str, policy: str, job_class: str, limit: float, overhead: str) -> Curve:
    name, at = of_class(metric, job_class)
    point = at | {LIMITS.name: limit} | ({OVERHEAD: overhead} if overhead else {})
    return test.curve(name, policy, LOADS.name, **point)


def _named(overhead: str) -> str:
    return f", O/Q = {100 * float(overhead):g} %" if overhead else ""


def _small_over_large(
    test: Tester, metric: str, policy: str, job_class: str, overheads: list[str],
    low: float = 0.0, high: float = float("inf"),
) -> list[Part]:  # fmt: skip
    """Compare each small limit with the large one."""
    parts: list[Part] = []
    for overhead in overheads:
        at = partial(_at, test, metric, policy, job_class, overhead=overhead)
        large = at(limit=LARGE_LIMIT)
        for limit in SMALL_LIMITS:
            name = f"{label(policy)}, {job_class} jobs, L = {limit:g} / L = {LARGE_LIMIT:g}{_named(overhead)}"
            parts.append(ratio(name, at(limit=limit), large, LOAD, low, high))
    return parts


def _fold_over_equi(
    test: Tester, metric: str, overheads: list[str], low: float, high: float, from_limit: float = 1
) -> list[Part]:
    """Compare the two policies at each limit of the grid from one on."""
    parts: list[Part] = []
    texts = [
        text for text in test.study.values_of(LIMITS.name) if text != "null" and float(text) >= from_limit
    ]
    for overhead in overheads:
        for limit in map(float, texts):
            pair = [_at(test, metric, policy, EVERY_CLASS, limit, overhead) for policy in (FOLD, EQUI)]
            name = f"{NAMES[metric]}: {label(FOLD)} / {label(EQUI)}, L = {limit:g}{_named(overhead)}"
            if not any(curve.where(EXCLUDED).all() for curve in pair):
                parts.append(ratio(name, pair[0], pair[1], LOAD, low, high))
    return parts or [Open(metric, "the grid has no limits")]
