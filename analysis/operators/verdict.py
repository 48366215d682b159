"""The verdict in sentences: a recommendation, the fidelity of the simulation, each policy's comparison."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from analysis.operators import acceptance, diagnosis, fidelity
from analysis.operators.case import Case, cases
from analysis.operators.fidelity import Fidelity
from analysis.operators.labels import REFUSED, WAIT
from analysis.operators.sample import Sample
from analysis.report import cells
from analysis.study import Study
from models.counting import counted
from sweep.numbers import number
from sweep.policy_names import label
from sweep.statistics import Comparison
from sweep.statistics.correlation import MIN_BATCHES

UNCHANGED, UNTRIED = "Nothing to change", "No policy is recommended"
"""Beginnings of a verdict without a policy: by the site's rule, and where the simulation is not trusted."""

MOST_LISTED = 3
"""Policies of the short list that the verdict names; the table has all."""

GROWTH = 3.0
"""Ratio of the mean waits of the last and the first quarter of a log whose queue only grows."""

RISING = 0.8
"""Rank correlation of the mean wait with time in such a log."""

BEGINNINGS = {
    "better": "Jobs wait less than under {reference} with",
    "mostly better": "In most {values} jobs wait less than under {reference}, by an uncertain amount, with",
    "worse": "Jobs wait longer than under {reference} with",
    "mostly worse": "In most {values} jobs wait longer than under {reference}, by an uncertain amount, with",
    "mixed": "The mean wait and most {values} differ from {reference} in opposite directions with",
    "no difference shown": "No difference from {reference} is shown for",
    "identical": "Identical to {reference}, job by job:",
    "no interval": "The mean wait changes against {reference} as follows, without intervals:",
}
"""Verdict -> the beginning of the sentence on its policies."""


def lead(study: Study) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the first paragraphs of the report: the fidelity of the simulation, and a recommendation."""
    shown = [case for case in cases(study) if case.policies]
    likeness = [_labelled(case, line) for case in shown if (line := fidelity.sentence(case))]
    found = [("Verdict", [_labelled(case, recommendation(case)) for case in shown])]
    return [(f"Does {shown[0].against} match this site?", likeness), *found] if likeness else found


def summary(study: Study) -> Sequence[str]:
    """Return the sentences on each policy, of each reading and load."""
    return [_labelled(case, line) for case in cases(study) if case.policies for line in _sentences(case)]


def _labelled(case: Case, line: str) -> str:
    return f"{case.label}: {line}" if case.label else line


def _sentences(case: Case) -> Iterator[str]:
    found = {policy: case.difference(WAIT, policy) for policy in case.others}
    if growing := [policy for policy in case.policies if grows(case, policy)]:
        yield (
            f"The queue only grows under {', '.join(map(label, growing))}: it has not drained when the log "
            "ends, so the mean wait depends on the length of the log, and a longer log has longer waits."
        )
    values = Sample.of(case).values
    for verdict, begin in BEGINNINGS.items():
        those = [policy for policy in case.others if found[policy].verdict == verdict]
        if those:
            named = ", ".join(f"{label(policy)}{_change(found[policy])}" for policy in those)
            yield f"{begin.format(reference=case.against, values=values)} {named}."
    if case.without_waits:
        yield (
            f"Waits under {', '.join(map(label, case.without_waits))} are unknown, because batches "
            "hold jobs in order of their ends; +experiment=replay measures them, with the log as one batch."
        )
    if case.missing:
        yield (
            "Without a result: "
            + ", ".join(f"{label(name)} ({why})" for name, why in case.missing.items())
            + "."
        )


def recommendation(case: Case) -> str:
    """Return the sentence that recommends a policy, or the reason why nothing can be recommended, and which
    jobs are not in its waits."""
    lost = {one: case.mean(REFUSED, one).mean for one in case.policies if REFUSED in case.study.data}
    named = ", ".join(f"{100 * share:.1f} % under {label(one)}" for one, share in lost.items() if share > 0)
    more = f"Some jobs never start, because of limits ({named}), and count in no wait." * bool(named)
    return f"{_recommended(case)} {more}".rstrip()


def _recommended(case: Case) -> str:
    found, nothing = (
        {policy: case.difference(WAIT, policy) for policy in case.others},
        "Nothing can be recommended",
    )
    if case.along:
        return " ".join(_effect(case, policy, one) for policy, one in found.items())
    if not found:
        unit, mean = case.units[WAIT], case.mean(WAIT, case.reference).mean
        return f"Under {case.against} jobs wait for {number(mean / unit.size)}{unit.name} on average."
    if case.is_one_batch:
        return f"{nothing}: all jobs are one batch, so no difference has an interval; add batch_size=week."
    if case.n_batches < MIN_BATCHES and not Sample.of(case).by_replications:
        batches = counted(case.n_batches, "batch")
        return f"{nothing}: the log has {batches}, and an interval needs at least {MIN_BATCHES}."
    likeness, least = Fidelity.of(case), acceptance.accepted(case)["least_gain"]
    if likeness is not None and likeness.was < least:
        hardly = _hardly(case, "the log records", likeness.was)
        return f"{UNCHANGED}: {hardly} {'' if likeness.matches else diagnosis.explained(case)}".rstrip()
    if not fidelity.predicts(case):
        return _diagnosis(case)
    if all(one.verdict in ("no interval", "identical") for one in found.values()):
        most, sample = max(one.lower + one.higher for one in found.values()), Sample.of(case)
        return (
            f"{UNCHANGED}: waits differ from {case.against}'s in at most {most} of {sample.size} "
            f"{sample.values}, because there is hardly ever a queue."
        )
    if (usual := case.mean(WAIT, case.reference).mean) < least:
        return f"{UNCHANGED}: {_hardly(case, f'{case.against} has', usual)}"
    better = acceptance.candidates(case)
    if not better:
        return f"{UNCHANGED}: {_why_nothing(case, found)}"
    listed = acceptance.short_list(better)
    refused = "; ".join(_refused(one) for one in better if one.broken)
    if not listed:
        return (
            f"{UNCHANGED}: every policy that is shown to be better breaks a limit of this site "
            f"({acceptance.in_words(case)}): {refused}."
        )
    shown = [one for one in listed if one.can_be_set][:MOST_LISTED]
    unset = [one for one in listed if not one.can_be_set]
    others = "; ".join(_offer(one, is_first=not shown and one is unset[0]) for one in unset)
    if shown:
        first = [
            f"Try {' or '.join(_offer(one, is_first=one is shown[0]) for one in shown)}.",
            *map(_concentrated, shown),
            _pilot(case, found[shown[0].policy], shown[0].policy),
        ]
    else:
        first = [
            f"{UNCHANGED}: no policy that Slurm or PBS can be set to is better within the site's limits."
        ]
    parts = [
        *first,
        f"Within the limits, but neither Slurm nor PBS can be set to it: {others}." if others else "",
        f"Not accepted ({acceptance.in_words(case)}): {refused}." if refused else "",
    ]
    return " ".join(filter(None, parts))


def _hardly(case: Case, who: str, wait: float) -> str:
    least = acceptance.least_gain(case)
    return (
        f"{who} a mean wait of {acceptance.duration(wait)}, less than the {least} that a change must save "
        "(accept.least_gain): there is hardly ever a queue."
    )


def _diagnosis(case: Case) -> str:
    """Return why nothing is recommended where simulated waits cannot be trusted, and what to do next."""
    why = fidelity.unchecked(case)
    if not why:
        found = f"{UNTRIED}: {case.against} does not match this site."
        return " ".join(filter(None, [found, diagnosis.explained(case), diagnosis.next_step(case)]))
    step = "use a log with start times, such as the site's accounting (docs/what_if.md)"
    if Sample.of(case).drawn or case.study.values_of("load")[case.place] != "null":
        step = "simulate the log itself, with workload.resample=null grid.load=[null]"
    usual = case.mean(WAIT, case.reference).mean
    if usual < acceptance.accepted(case)["least_gain"]:
        why += f" (in the simulation, jobs wait for only {acceptance.duration(usual)} on average)"
    return f"{UNTRIED}: {why}, so it is unknown whether {case.against} matches this site. Next step: {step}."


def _offer(one: acceptance.Candidate, *, is_first: bool) -> str:
    """Return a policy of the short list with its gain and its costs; the first one's gain in full."""
    costs = [f"longest wait × {number(one.longest_ratio)}"]
    if one.paying:
        group = next(iter(one.paying))
        costs.append(f"worst for {one.case.named(group)}, × {number(one.worst)}")
    else:
        costs.append("no group is shown to wait longer")
    gained = gain(one.case, one.change) if is_first else cells.relative(one.change, one.change.mean)
    return f"{label(one.policy)} ({gained}; {', '.join(costs)})"


def _refused(one: acceptance.Candidate) -> str:
    more = cells.relative(one.change, one.change.mean)
    return f"{label(one.policy)} ({more}), because {' and '.join(one.broken)}"


def _concentrated(one: acceptance.Candidate) -> str:
    """Return who has most of a gain, empty if it is spread."""
    if not one.concentration:
        return ""
    return f"Most of the gain of {label(one.policy)} comes from {' and from '.join(one.concentration)}."


def _pilot(case: Case, found: Comparison, policy: str) -> str:
    """Return how long a pilot would take, empty where no real machine can repeat the sample."""
    sample = Sample.of(case)
    if sample.by_replications or found.pilot == math.inf:
        return ""
    needed = sample.enough(found.pilot / sample.size)
    return (
        f"A pilot on the machine that alternates {label(policy)} with {case.against} would take {needed} to "
        f"show this gain, because {sample.values} differ."
    )


def _effect(case: Case, value: str, found: Comparison) -> str:
    """Return the effect of another value of an axis, and the jobs that it affects."""
    if found.verdict in ("no interval", "identical"):
        return f"{value}: {found.verdict}."
    most = []
    gaining = case.grouped(WAIT, value, cells.BETTER)
    for grouping in case.groupings:
        better = {group: one for group, one in gaining.items() if group.grouping is grouping}
        if better:
            group = min(better, key=lambda group: better[group].mean / better[group].reference)
            most.append(f"{case.named(group)} ({cells.relative(better[group], better[group].mean)})")
    parts = [
        f"{value}: {gain(case, found)}, {found.verdict}",
        f"largest gains for {', '.join(most)}" * bool(most),
    ]
    paying = [
        f"{case.named(group)} ({cells.relative(one, one.mean)})"
        for group, one in acceptance.Candidate(case, value).paying.items()
    ][: acceptance.NAMED]
    parts += [f"longer waits for {', '.join(paying)}"] if paying else []
    return "; ".join(filter(None, parts)) + "."


def gain(case: Case, found: Comparison) -> str:
    """Return a difference in words: in time only if waits predict, which waits of resampled logs do not."""
    drawn = Sample.of(case).drawn
    unit, reference = case.units[WAIT], found.reference
    text = f"mean wait {cells.relative(found, found.mean)} against {case.against}"
    if not drawn and not case.along and fidelity.predicts(case):
        levels = (f"{number(value / unit.size)}{unit.name}" for value in (reference + found.mean, reference))
        text = f"jobs wait {' instead of '.join(levels)} on average ({cells.relative(found, found.mean)}"
        return f"{text}, {case.study.level} interval {cells.bounds(found, unit)}), {in_values(case, found)}"
    return f"{text} ({case.study.level} interval {cells.bounds(found, unit)}), {in_values(case, found)}"


def in_values(case: Case, found: Comparison) -> str:
    """Return in how many weeks waits are shorter: ``with shorter waits in 19 of 22 weeks``."""
    total, values = Sample.of(case).size, Sample.of(case).values
    if found.lower + found.higher == total:
        return f"with shorter waits in {found.lower} of {total} {values}"
    return f"with shorter waits in {found.lower} and longer ones in {found.higher} of {total} {values}"


def grows(case: Case, policy: str) -> bool:
    """Whether waits rise through the whole log, as where a queue only grows."""
    weekly = case.values(WAIT, policy)
    weekly = weekly[:, ~np.isnan(weekly).any(axis=0)].mean(axis=0) if len(weekly) else weekly
    if weekly.size < MIN_BATCHES or not weekly.any():
        return False
    quarter = weekly.size // 4
    ranks = np.argsort(np.argsort(weekly))
    rising = np.corrcoef(ranks, np.arange(weekly.size))[0, 1] > RISING
    return bool(rising and weekly[-quarter:].mean() > GROWTH * weekly[:quarter].mean())


def _why_nothing(case: Case, found: Mapping[str, Comparison]) -> str:
    if all(one.verdict in cells.WORSE for one in found.values()):
        return f"keep {case.against}, because jobs wait longer under every other policy."
    nearest = min(found, key=lambda policy: found[policy].mean)
    one, sample = found[nearest], Sample.of(case)
    if not one.mean < 0:
        return f"no policy has a shorter mean wait than {case.against}."
    among = f", not significant for the best of {len(found)}" if one.verdict == "better" else ""
    needed = case.difference(WAIT, nearest, level=case.beside(WAIT).joint_level).needed
    return (
        f"no policy is shown to be better than {case.against}. The closest is {label(nearest)}: "
        f"{gain(case, one)}{among}. Sample needed to show this gain: {sample.enough(needed)}."
    )


def _change(found: Comparison) -> str:
    return f" ({cells.relative(found, found.mean)})" if found.reference > 0 and found.mean != 0 else ""
