"""Short and long jobs with unlimited memory: the simulation (section 5.4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from analysis.claims import Claim, Open, Part, Within
from analysis.claims.comparisons import AxisRange, ratio
from analysis.claims.tester import Tester
from analysis.figures.policies import label
from analysis.mccann1994.claims.margins import ABOUT_TEN, ACCURATE, ALL, MIXED, POOR, SIMILAR
from analysis.mccann1994.labels import (
    BLOW_UP_CV,
    EQUIPARTITION,
    EVERY_CLASS,
    LOADS,
    MIXES,
    ONE_AT_A_TIME,
    RESPONSE,
    of_class,
)
from analysis.study.curve import Curve
from models.point import Batches, Parameters, Point
from sweep import statistics
from sweep.statistics import Interval

FOLDS = ("fold_never", "fold_50", "fold_15j")
POLICIES = (*EQUIPARTITION, *FOLDS)
CLASSES = ("short", "long")
LOAD = 0.5
"""Of Figs. 5.8 and 5.9."""

HOMOGENEOUS = {1.0: "short_time", 0.0: "long_time"}
"""Fractions of short jobs at which there is one class, and where the workload has its mean time alone."""

FAIR = "5.4.1: “all our policies behave very similarly with respect to fairness”"


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on the simulation, and on the birth-death chain against it."""
    yield from _response_times(test)
    yield from _fairness(test)
    yield from _conclusions(test)
    yield from _chain(test)


def _curve(test: Tester, metric: str, policy: str, job_class: str) -> Curve:
    name, at = of_class(metric, job_class)
    return test.curve(name, policy, MIXES.name, load=LOAD, **at)


def _ratio(
    test: Tester, metric: str, a: str, b: str, job_class: str, points: AxisRange,
    low: float = -np.inf, high: float = np.inf,
) -> Part:  # fmt: skip
    pair = [_curve(test, metric, policy, job_class) for policy in (a, b)]
    return ratio(f"{label(a)} / {label(b)}, {job_class} jobs", pair[0], pair[1], points, low, high)


def _response_times(test: Tester) -> Iterator[Claim]:
    def faster(pairs: list[tuple[str, str]]) -> list[Part]:
        return [
            _ratio(test, RESPONSE, a, b, job_class, MIXED, high=1.0)
            for a, b in pairs
            for job_class in CLASSES
        ]

    yield test.claim(
        "5.4.1-folding-dominates",
        "5.4.1: “the Folding policies dominate the Equipartition ones”",
        "FOLD∞, FOLD 50 s and FOLD 15 s × J have shorter mean response times than EQUI and EQUI+, for short "
        "and for long jobs, over all mixes.",
        faster([(fold, equi) for fold in FOLDS for equi in EQUIPARTITION]),
    )
    yield test.claim(
        "5.4.1-best-of-each",
        "5.4.1: “the best Folding policy (FOLD∞) … the best Equipartition policy (EQUI+)”",
        "FOLD∞ has shorter mean response times than FOLD 50 s and FOLD 15 s × J, and EQUI+ than EQUI, for "
        "short and for long jobs, over all mixes.",
        faster([("fold_never", "fold_50"), ("fold_never", "fold_15j"), ("equi_plus", "equi")]),
        note="Over all jobs: "
        + "; ".join(_described(test, "fold_never", other) for other in FOLDS[1:])
        + ".",
    )
    low, high = ABOUT_TEN
    yield test.claim(
        "5.4.1-ten-percent",
        "5.4.1: “the best Folding policy (FOLD∞) yields response times about 10% smaller than the best "
        "Equipartition policy (EQUI+).”",
        f"The mean response time under FOLD∞ is {low:g} to {high:g} times that under EQUI+, for short and "
        "for long jobs, over all mixes.",
        [
            _ratio(test, RESPONSE, "fold_never", "equi_plus", job_class, MIXED, low, high)
            for job_class in CLASSES
        ],
    )
    yield test.claim(
        "5.4.1-interval-times-jobs",
        "5.4.1: “The performance of FOLD 15*J is comparable to FOLD 50 for this workload intensity.”",
        f"Mean response times of the two are within {SIMILAR:.0%} of each other, for short and for long "
        "jobs, over all mixes.",
        [
            _ratio(test, RESPONSE, "fold_15j", "fold_50", job_class, MIXED, 1 / (1 + SIMILAR), 1 + SIMILAR)
            for job_class in CLASSES
        ],
    )


def _described(test: Tester, a: str, b: str) -> str:
    """Say how two policies compare over all jobs, where that decides nothing."""
    return _ratio(test, RESPONSE, a, b, EVERY_CLASS, MIXED, high=1.0).describe(test.study.confidence)


def _fairness(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "5.4.1-equally-fair",
        FAIR,
        f"Coefficients of variation of the blow-up factor of each two policies are within {SIMILAR:.0%} of "
        "each other, over all mixes.",
        [
            _ratio(test, BLOW_UP_CV, a, b, EVERY_CLASS, MIXED, 1 / (1 + SIMILAR), 1 + SIMILAR)
            for a, b in combinations(POLICIES, 2)
        ],
    )
    yield test.claim(
        "5.4.1-fold-never-fair",
        "5.4.1: “even FOLD∞ performs about as well on this measure as could be hoped for any policy.”",
        "The coefficient of variation of the blow-up factor under FOLD∞ is at most "
        f"{SIMILAR:.0%} above that under processor sharing, over all mixes.",
        [_ratio(test, BLOW_UP_CV, "fold_never", "processor_sharing", EVERY_CLASS, MIXED, high=1 + SIMILAR)],
    )
    yield test.claim(
        "5.4.1-fcfs-poor",
        "5.4.1: “it is well known FCFS has poor behavior for heterogeneous workloads, while PS has very good "
        "behavior.”",
        f"The coefficient of variation under FCFS is more than {POOR} times that of each of our policies and "
        f"of processor sharing, and that under processor sharing is at most {SIMILAR:.0%} above that of each "
        "of our policies, over all mixes.",
        [
            *(
                _ratio(test, BLOW_UP_CV, ONE_AT_A_TIME, policy, EVERY_CLASS, MIXED, low=POOR)
                for policy in (*POLICIES, "processor_sharing")
            ),
            *(
                _ratio(test, BLOW_UP_CV, "processor_sharing", policy, EVERY_CLASS, MIXED, high=1 + SIMILAR)
                for policy in POLICIES
            ),
        ],
    )


def _conclusions(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "5.5-better-at-no-penalty",
        "5.5: “We found here that the Folding policy continued to afford better response time performance, "
        "at little or no penalty in fairness.”",
        "Over all jobs, FOLD∞ has a shorter mean response time than EQUI+, and a coefficient of variation "
        f"of the blow-up factor at most {SIMILAR:.0%} above, over all mixes.",
        [
            _ratio(test, RESPONSE, "fold_never", "equi_plus", EVERY_CLASS, ALL, high=1.0),
            _ratio(test, BLOW_UP_CV, "fold_never", "equi_plus", EVERY_CLASS, ALL, high=1 + SIMILAR),
        ],
    )


def _chain(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "5.3-chain-accurate",
        "5.3: “Comparisons of the results of the birth-death model to those of the detailed simulation show "
        "that the birth-death model is very accurate, despite the approximations it makes.”",
        "Where all jobs are of one class, the simulated mean response time over the time alone is within "
        f"{ACCURATE:.0%} of the chain's blow-up factor for the same jobs, at each load of this grid.",
        [
            _against_chain(test, policy, fraction, float(load))
            for policy in POLICIES
            if policy in test.study.policies
            for fraction in HOMOGENEOUS
            for load in test.study.loads
        ],
        note="The chain is solved for this workload's own spread of thread times; it ignores what "
        "reallocation costs at arrivals and departures, which the simulation charges.",
    )


def _against_chain(test: Tester, policy: str, fraction: float, load: float) -> Part:
    """Ask that the simulation of equal jobs is close to the chain."""
    jobs = HOMOGENEOUS[fraction].removesuffix("_time")
    name = f"{label(policy)}, {jobs} jobs only, load {load:g}: simulation / chain"
    metric, at = of_class(RESPONSE, EVERY_CLASS)
    curve = test.curve(metric, policy, LOADS.name, **{MIXES.name: fraction}, **at)
    _, reason = AxisRange(f"load {load:g}", load, load).choose([curve])
    if reason:
        return Open(name, reason)
    workload = test.study.parameters("workload")
    alone = float(workload[HOMOGENEOUS[fraction]])
    parameters, machine = test.study.parameters("policy", policy), test.study.parameters("machine")
    try:
        expected = chain_blow_up(parameters, workload, machine, load, alone)
    except ValueError as error:  # what the model says of parameters that it refuses, in one line
        return Open(name, str(error))
    if np.isnan(expected):
        return Open(name, "the chain is unstable there")
    scaled = replace(curve, values=curve.values / (alone * expected)).at(load)

    def measure(confidence: float) -> Interval:
        return statistics.interval(scaled, confidence)

    return Within(name, measure, 1 - ACCURATE, 1 + ACCURATE)


def chain_blow_up(
    policy: Parameters, workload: Parameters, machine: Parameters, load: float, isolated_time: float
) -> float:
    """Return the mean blow-up factor of equal jobs by the birth-death chain, exact; NaN if it is unstable.

    Parameters
    ----------
    policy, workload, machine : dict
        As a simulation got them.
    load : float
    isolated_time : float, seconds
        Of the jobs, alone on the machine (E).
    """
    from models.partitioning.static import birth_death

    jobs = {**workload, "isolated_time": isolated_time, "jobs": 1}
    found = birth_death.simulate(Point(policy, jobs, machine, load, Batches(1, 0, (1,))))
    saturated = found.backlog is not None and found.backlog.overflowed
    return float("nan") if saturated else float(found.metrics["blow_up"][0])
