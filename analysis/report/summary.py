"""The summary of a report in sentences: the runs, the findings, the limits.

The first sentence of each is at the top of a report, the others below them.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.claims import Claim
from analysis.claims.counting import beyond_chance, counted, of_kind
from analysis.paper import Paper
from analysis.report.facts import NO_WAITS, is_exact, notes, replications, sentence
from analysis.report.warnings import brief, warnings
from analysis.study import Study
from analysis.study.curve import DONE, EXCLUDED, SATURATED
from sweep.numbers import number, unit_of
from sweep.policy_names import label

Paragraph = tuple[str, Sequence[str]]
"""A heading and its sentences."""

NAMED = 3
"""Most failing sentences that the summary lists."""

WARNED = 2
"""Most warnings that the summary lists."""


def summary(
    study: Study, paper: Paper, claims: Sequence[Claim] = (), limits: Sequence[str] | None = None
) -> list[Paragraph]:
    """Return the paragraphs of the summary.

    Parameters
    ----------
    paper : Paper
        Its lead comes first, and its own sentences (`Paper.summary`) first in the findings.
    claims : sequence of Claim
        Tested under the first reading.
    limits : sequence of str, optional
        The result of `warnings`, if it is known.
    """
    limits = warnings(study, paper) if limits is None else limits
    own = paper.summary(study)
    best = [] if own else list(ranked(study))
    found = [*own, *(best[1:]), *_verdicts(study, claims)]
    paragraphs = [
        *paper.lead(study),
        ("Best and worst", best[:1]),
        ("What was found", found),
        ("What to be careful of", list(_careful(study, claims, limits)) or [_nothing(study)]),
        ("What was run", [_asked(study), *_shared(study)]),
    ]
    return [(title, sentences) for title, sentences in paragraphs if sentences]


def _nothing(study: Study) -> str:
    """Return the sentence for results without limitations."""
    if is_exact(study):
        return "All points were solved exactly, so no value is random."
    return "No limitation: every point is done, none is saturated, and every mean has an interval."


def _asked(study: Study) -> str:
    n = len(study.compared)
    if study.is_program:
        points, once = int((study.status != EXCLUDED).sum()), replications(study)
        name = study.settings["model"] or study.settings["command"][0]
        return f"{name} was run at {points} point{'s' * (points != 1)}, with {once[0].lower()}{once[1:]}."
    logs = study.facts.get("logs", [])
    names = list(study.config.get("workload", {}))
    on = (
        f"{len(names)} workloads"
        if len(names) > 1
        else f"the workload {names[0]}"
        if names
        else "one workload"
    )
    if len(logs) == 1:
        on = f"the {logs[0]['jobs']:,} jobs of {logs[0]['file']} on {logs[0]['processors']:,} processors"
    policies = f"{n} policies" if n > 1 else f"The policy {label(study.policies[0])}"
    same = ", all with the same jobs" if n > 1 else ""
    loads = study.values_of("load")
    at = f", at {len(loads)} loads from {loads[0]} to {loads[-1]}" if len(loads) > 1 else ""
    once = replications(study)
    return f"{policies} {'were' if n > 1 else 'was'} run on {on}{same}{at}, with {once[0].lower()}{once[1:]}."


def _shared(study: Study) -> Iterator[str]:
    """Yield the number of job sequences that all points share, if they are random."""
    n, runs = int((study.status != EXCLUDED).sum()), study.data.sizes.get("replication", 1)
    if n > 1 and runs > 1 and not study.facts.get("logs") and not study.settings.get("seed_by"):
        shared, of = f"{runs} sequences of jobs for each workload", "policies"
        if study.is_program:
            shared, of = f"the random numbers of {runs} replications", "points"
        yield (
            f"All {n} points share {shared}: their errors are correlated, so differences between {of} are "
            "more precise than means."
        )


def _verdicts(study: Study, claims: Sequence[Claim]) -> Iterator[str]:
    """Yield how many sentences of the paper have each verdict, and which fail."""
    if not claims:
        return
    under = f", under {study.readings['A'].title}" if len(study.readings) > 1 else ""
    yield f"Sentences of the paper that can be tested here: {counted(claims)}{under}."
    failing = [claim for claim in claims if claim.verdict == "fails" and not claim.calibrated]
    for claim in failing[:NAMED]:
        yield f"Fails: {sentence(claim.statement)} ({claim.source})"
    if len(failing) > NAMED:
        yield f"{len(failing) - NAMED} more fail; the table of claims lists them first."


def _careful(study: Study, claims: Sequence[Claim], limits: Sequence[str]) -> Iterator[str]:
    """Yield the limitations of the results, the worst first."""
    for line in limits[:WARNED]:
        # Sentence by sentence: only the first appears at the top.
        yield from re.findall(r".+?[.!?](?= [A-Z]|$)", sentence(brief(line)))
    if (more := len(limits) - WARNED) > 0:
        yield f"{more} more warning{'s are' if more > 1 else ' is'} below."
    logs = study.facts.get("logs", [])
    if logs:
        yield (
            "A log is one sample of its site, replayed without feedback: users submit the same jobs however "
            "long the queue is, and another month may differ."
        )
        if any(not log["waits"] for log in logs):
            yield sentence(NO_WAITS)
    if found := notes(study):
        yield f"The facts list {len(found)} note{'s' * (len(found) > 1)} on assumptions and the run."
    sizes = study.data.sizes
    if sizes.get("batch", 1) * sizes.get("replication", 1) == 1 and not is_exact(study):
        yield "With one batch of one replication there are no intervals, so differences cannot be judged."
    random = of_kind(claims, "finding")
    judged = [claim for claim in random if claim.error is not None]
    if judged and not is_exact(study):
        standing = len(beyond_chance(claims, study.confidence))
        yield (
            f"Each single verdict is wrong with a probability of at most {100 * (1 - study.confidence):.0f} "
            f"%, but the chance that any of {len(random)} is wrong is larger: {standing} of {len(judged)} "
            "still hold if that probability applies to all of them together."
        )


MORE_IS_BETTER = ("utilization", "throughput", "jobs", "efficiency_preservation")
"""Metrics of which more is better."""


def ranked(study: Study, metric: str | None = None) -> Iterator[str]:
    """Yield the best and the worst policy by a metric, at the highest load with enough means.

    Enough means at least two policies, and half the largest number at any load; every other policy is
    saturated there, or too short. Empty if the grid has another axis of numbers, because none of its values
    is a default.

    Parameters
    ----------
    metric : str, optional
        By default the headline metric of the dataset.
    """
    name = metric or study.headline
    if name is None or f"{name}_mean" not in study.data:
        return
    one = study.readings["A"]
    where_taken = {**one.reading, **one.usual()}
    if any(_is_number(value) for axis, value in where_taken.items() if study.varies(axis)):
        return
    usual = {axis: one.values_of(axis).index(value) for axis, value in one.usual().items()}
    arrays, every = [], one.data[f"{name}_mean"]
    # Means of runs that are too short are excluded, unless all runs are.
    long_enough = every.where(one.bias.isnull())
    short = long_enough.isnull().all()
    for found in (one.status, every if short else long_enough):
        there = found.isel({axis: place for axis, place in usual.items() if axis in found.dims})
        if set(there.dims) != {"policy", "load"}:
            return
        arrays.append(there.transpose("policy", "load").values)
    status, means = arrays
    known = (~np.isnan(means)).sum(axis=0)
    if known.max(initial=0) < 2:
        return
    loads = np.nan_to_num(one.data["load"].values.astype(float))
    complete = ((status == DONE) | (status == SATURATED)).all(axis=0)
    enough = np.flatnonzero(complete & (known >= max(2, known.max() // 2)))
    if not enough.size:
        return
    column = int(enough[np.argmax(loads[enough])])
    order = [row for row in np.argsort(means[:, column], kind="stable") if not np.isnan(means[row, column])]
    first, last = order[0], order[-1]
    load = one.values_of("load")[column]
    title = str(one.data[name].attrs.get("long_name", name))
    where = "" if load == "null" else f"at load {load} "
    usually = ", ".join(f"{axis} {value}" for axis, value in where_taken.items() if study.varies(axis))
    lost = [label(policy) for row, policy in enumerate(one.policies) if status[row, column] == SATURATED]
    ends = (means[first, column], means[last, column])
    unit = unit_of(str(one.data[name].attrs.get("units", "1")), ends)
    low, high = (f"{number(end / unit.size)}{unit.name}" for end in ends)
    most, least = ("highest", "lowest") if name in MORE_IS_BETTER else ("lowest", "highest")
    if most == "highest":
        first, last, low, high = last, first, high, low
    at = f"{where}({usually}) " if usually else where
    yield (
        f"{label(one.policies[first])} has the {most} {title} {at}with {low}, "
        f"{label(one.policies[last])} the {least} with {high}"
        + ", but all runs are too short" * bool(short)
        + (f"; saturated there: {', '.join(lost)}" if lost else "")
        + "."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
