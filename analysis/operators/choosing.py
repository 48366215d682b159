"""The choice of a policy: the probability that each is best, and the sample that would show a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.operators import words
from analysis.operators.case import Case
from analysis.operators.evidence import Evidence
from analysis.operators.labels import SLOWDOWN, WAIT
from analysis.report.numbers import number
from analysis.report.table import Cell, Table
from sweep import statistics
from sweep.statistics.confidence import Floats
from sweep.statistics.settling import CHANCE

JUDGED = {WAIT: "mean wait", SLOWDOWN: "mean bounded slowdown"}
"""Measures by which a policy is chosen; less is better for both."""

OPEN = "no significant difference"
NAMED = 3
"""Policies that the terminal names."""

LEAST_NAMED = 0.01


def tables(case: Case) -> Iterator[Table]:
    """Yield the tables of a case with several policies."""
    evidence = Evidence.of(case)
    if not evidence.is_judged:
        return
    yield ranking(case, evidence)
    open_ones = settling(case, evidence)
    if open_ones.rows:
        yield open_ones


def probabilities(case: Case, metric: str) -> Floats:
    """Return for each of `Case.policies` the probability that its mean is the lowest."""
    values = np.array([case.values(metric, policy) for policy in case.policies])
    weights = [case.weights(metric, policy) for policy in case.policies]
    known = [np.ones_like(values[0]) if weight is None else weight for weight in weights]
    return statistics.probability_lowest(values, np.array(known))


def ranking(case: Case, evidence: Evidence) -> Table:
    """Return the policies in order of their probability of being best."""
    of_metric = {metric: probabilities(case, metric) for metric in JUDGED}
    means = {policy: case.mean(WAIT, policy).mean for policy in case.policies}
    shares = dict(zip(case.policies, of_metric[WAIT].tolist(), strict=True))
    rows = []
    for policy in sorted(case.policies, key=lambda one: (-shares[one], means[one])):
        place, row = case.policies.index(policy), [Cell(policy)]
        for metric in JUDGED:
            unit = case.units[metric]
            row.append(Cell(f"{number(case.mean(metric, policy).mean / unit.size)}{unit.name}"))
            row.append(Cell(percent(of_metric[metric][place])))
            row.append(Cell("" if policy == case.reference else _times_lower(case, metric, policy)))
        rows.append(row)
    how = "with replacement" if evidence.by_replications else "in blocks (block bootstrap)"
    titles = [
        title
        for name in JUDGED.values()
        for title in (name, "is the lowest", f"{evidence.values} lower than {case.reference}")
    ]
    return Table(
        "choice",
        "Which policy is best",
        "The probability that each policy's mean is the lowest. Sample: "
        f"{evidence.describe()} It is resampled {how}, in the same way for all policies, as they had the "
        "same jobs. The order is no finding: the tables below show which policies differ from "
        f"{case.reference}. A policy with a low probability may be close to the best.",
        ("policy", *titles),
        rows,
    )


def _times_lower(case: Case, metric: str, policy: str) -> str:
    """Return the number of batches, or replications, in which a policy's mean is below the reference's."""
    lower = _sample(case, metric, policy) - _sample(case, metric, case.reference)
    lower = lower[~np.isnan(lower)]
    return f"{int((lower < 0).sum())} of {lower.size}"


def _sample(case: Case, metric: str, policy: str) -> Floats:
    values, weight = case.values(metric, policy), case.weights(metric, policy)
    if not Evidence.of(case).by_replications:
        return values.ravel()
    found: Floats = np.nanmean(values if weight is None else statistics.weighed(values, weight), axis=1)
    return found


def settling(case: Case, evidence: Evidence) -> Table:
    """Return the sample that would show each difference that is not significant."""
    n = len(case.others)
    level = 1 - (1 - case.confidence) / n
    rows: list[Sequence[Cell]] = []
    for policy in case.others:
        found = {metric: case.difference(metric, policy, together=n) for metric in JUDGED}
        if all(one.verdict != OPEN for one in found.values()):
            continue
        row = [Cell(policy)]
        for metric, one in found.items():
            row.append(Cell(words.change(one, case.units[metric]), "open"))
            enough = evidence.enough(statistics.needed(one.interval, level))
            row.append(Cell(enough if one.verdict == OPEN else one.verdict))
        rows.append(row)
    more = "as many resamples" if evidence.by_replications else "a log of that length"
    columns = [title for name in JUDGED.values() for title in (name, "sample needed")]
    return Table(
        "settling",
        f"Sample needed to show a difference from {case.reference}",
        f"The comparisons with {case.reference} without a significant difference, and the sample needed in "
        "all. If the observed difference is the true one, and future jobs are like these, "
        f"{more} shows it with a probability of {100 * CHANCE:.0f} %. The true difference may be far from "
        "the observed one, within its interval, so these numbers are orders of magnitude.",
        ("policy", *columns),
        rows,
    )


def brief(case: Case) -> Iterator[str]:
    """Yield the lines for the terminal: the policies that are most probably best."""
    evidence = Evidence.of(case)
    if not evidence.is_judged or not case.others:
        return
    for metric, title in JUDGED.items():
        found = probabilities(case, metric)
        if np.isnan(found).any():
            continue
        first = [place for place in np.argsort(-found, kind="stable")[:NAMED] if found[place] >= LEAST_NAMED]
        named = ", ".join(f"{case.policies[place]} {percent(found[place])}" for place in first)
        yield f"lowest {title}, probably: {named}"


def percent(probability: float) -> str:
    """Return a probability in percent, never certain.

    Examples
    --------
    >>> percent(0.123), percent(0.0), percent(0.9999), percent(float("nan"))
    ('12 %', 'under 1 %', 'over 99 %', '–')
    """
    if math.isnan(probability):
        return "–"
    if probability < 0.01:
        return "under 1 %"
    return "over 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"
