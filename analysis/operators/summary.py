"""What was found, in sentences: how the policies compare, and whether the reference looks like this site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.operators import words
from analysis.operators.case import Case, cases
from analysis.operators.labels import AS_IT_WAS, WAIT
from analysis.operators.pairing import Difference
from analysis.study import Study

ALIKE = 1.25
"""A simulated mean wait looks like the recorded one if neither is more than so many times the other."""

SAID = {
    "better": "Jobs wait shorter than under {reference} with",
    "worse": "Jobs wait longer than under {reference} with",
    "no difference shown": "No difference from {reference} is shown for",
    "the same": "The same as {reference}, job by job:",
    "not judged": "Without an interval, the mean wait against {reference}:",
}
"""Verdict -> how the policies that have it are told."""


def summary(study: Study) -> Sequence[str]:
    """Return the sentences, of each reading and load."""
    found: list[str] = []
    for case in cases(study):
        told = list(_sentences(case)) if case.policies else []
        found += [f"{case.label}: {line}" for line in told] if case.label else told
    return found


def _sentences(case: Case) -> Iterator[str]:
    unit = case.units[WAIT]
    level = case.mean(WAIT, case.reference).mean
    found = {policy: case.difference(WAIT, policy, together=len(case.others)) for policy in case.others}
    yield f"Under {case.reference} jobs wait for {_told(level, unit)} on average{_shortest(found)}."
    if case.has_record:
        yield _likeness(case)
    for verdict, begin in SAID.items():
        those = [policy for policy in case.others if found[policy].verdict == verdict]
        if those:
            named = ", ".join(f"{policy}{_change(found[policy])}" for policy in those)
            yield f"{begin.format(reference=case.reference)} {named}."
    if case.untold:
        yield (
            f"How long jobs wait under {', '.join(case.untold)} is not told: batches hold their jobs in the "
            "order of their ends. One batch of the whole log tells it, +experiment=replay."
        )
    if case.missing:
        yield "Without a result: " + ", ".join(f"{name} ({why})" for name, why in case.missing.items()) + "."


def _shortest(found: Mapping[str, Difference]) -> str:
    """Return what a hurried reader wants to know next: where they wait shortest, if that is shown of any."""
    if any(one.verdict == "not judged" for one in found.values()) or not found:
        return ""
    better = [policy for policy, one in found.items() if one.verdict == "better"]
    if not better:
        return ", and with no other policy is it shown to be shorter"
    best = min(better, key=lambda policy: found[policy].interval.mean)
    others = f" and shorter with {len(better) - 1} other{'s' * (len(better) > 2)}" if len(better) > 1 else ""
    return f", shortest with {best}{_change(found[best])}{others}"


def _likeness(case: Case) -> str:
    """Say whether the reference looks like this site: if not, differences to it are not those to today."""
    unit, reference = case.units[WAIT], case.reference
    was, level = case.recorded(WAIT).mean, case.mean(WAIT, reference).mean
    told = f"{AS_IT_WAS[0].upper()}{AS_IT_WAS[1:]}, the same jobs waited for {_told(was, unit)}: "
    if max(was, level) <= ALIKE * min(was, level):
        return f"{told}{reference} looks like this site."
    if not was > 0:
        return f"{told}the log has no queue, and {reference} does not look like this site."
    ratio = level / was
    by = f"{words.number(ratio)} times as long" if ratio > 1 else f"{ratio:.0%} of that".replace("%", " %")
    return (
        f"{told}under {reference} it is {by}, so that {reference} does not look like this site, and what "
        "others gain against it is not what they would gain against today. Perhaps the machine had other "
        "processors, queues with limits, reservations or downtime, which a log does not say."
    )


def _told(seconds: float, unit: words.Unit) -> str:
    return f"{words.number(seconds / unit.size)}{unit.name}"


def _change(found: Difference) -> str:
    return f" ({words.relative(found)})" if found.reference > 0 and found.interval.mean != 0 else ""
