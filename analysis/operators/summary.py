"""Findings in sentences: the comparison of the policies, and of the reference with the recorded waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.operators import words
from analysis.operators.case import Case, cases
from analysis.operators.labels import AS_IT_WAS, WAIT
from analysis.operators.pairing import Difference
from analysis.report.numbers import Unit, number
from analysis.study import Study

ALIKE = 1.25
"""A simulated mean wait matches the recorded one if neither is more than this multiple of the other."""

BEGINNINGS = {
    "better": "Jobs wait less than under {reference} with",
    "worse": "Jobs wait more than under {reference} with",
    "no significant difference": "No significant difference from {reference} with",
    "identical": "Identical to {reference}, job by job:",
    "no interval": "Without intervals, the change of the mean wait against {reference}:",
}
"""Verdict -> the beginning of the sentence on its policies."""


def summary(study: Study) -> Sequence[str]:
    """Return the sentences, of each reading and load."""
    found: list[str] = []
    for case in cases(study):
        text = list(_sentences(case)) if case.policies else []
        found += [f"{case.label}: {line}" for line in text] if case.label else text
    return found


def _sentences(case: Case) -> Iterator[str]:
    unit = case.units[WAIT]
    level = case.mean(WAIT, case.reference).mean
    found = {policy: case.difference(WAIT, policy, together=len(case.others)) for policy in case.others}
    yield f"Under {case.reference} jobs wait for {_wait(level, unit)} on average{_shortest(found)}."
    if case.has_record:
        yield _likeness(case)
    for verdict, begin in BEGINNINGS.items():
        those = [policy for policy in case.others if found[policy].verdict == verdict]
        if those:
            named = ", ".join(f"{policy}{_change(found[policy])}" for policy in those)
            yield f"{begin.format(reference=case.reference)} {named}."
    if case.without_waits:
        yield (
            f"Waits under {', '.join(case.without_waits)} are unknown, as batches hold jobs in order of "
            "their ends; +experiment=replay measures them with one batch of the whole log."
        )
    if case.missing:
        yield "Without a result: " + ", ".join(f"{name} ({why})" for name, why in case.missing.items()) + "."


def _shortest(found: Mapping[str, Difference]) -> str:
    """Return the policy with the shortest waits, if any policy is significantly better."""
    if any(one.verdict == "no interval" for one in found.values()) or not found:
        return ""
    better = [policy for policy, one in found.items() if one.verdict == "better"]
    if not better:
        return "; no other policy has significantly shorter waits"
    best = min(better, key=lambda policy: found[policy].interval.mean)
    others = f" and shorter with {len(better) - 1} other{'s' * (len(better) > 2)}" if len(better) > 1 else ""
    return f", shortest with {best}{_change(found[best])}{others}"


def _likeness(case: Case) -> str:
    """Return whether the reference matches the recorded waits: if not, it does not stand for the site."""
    unit, reference = case.units[WAIT], case.reference
    was, level = case.recorded(WAIT).mean, case.mean(WAIT, reference).mean
    text = f"{AS_IT_WAS[0].upper()}{AS_IT_WAS[1:]}, the same jobs waited for {_wait(was, unit)}: "
    if max(was, level) <= ALIKE * min(was, level):
        return f"{text}{reference} matches this site."
    if not was > 0:
        return f"{text}the log has no queue, so {reference} does not match this site."
    ratio = level / was
    by = f"{number(ratio)} times as long" if ratio > 1 else f"{ratio:.0%} of that".replace("%", " %")
    return (
        f"{text}under {reference} the mean wait is {by}. So {reference} does not match this site, and a gain "
        "on it is no gain on today's scheduler. The machine may have had other processors, queue limits, "
        "reservations or downtime, which a log does not record."
    )


def _wait(seconds: float, unit: Unit) -> str:
    return f"{number(seconds / unit.size)}{unit.name}"


def _change(found: Difference) -> str:
    return f" ({words.relative(found)})" if found.reference > 0 and found.interval.mean != 0 else ""
