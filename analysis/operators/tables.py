"""Tables for operators: each policy by itself, against the reference, and by groups of jobs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.operators import fidelity, labels, verdict
from analysis.operators.case import Case, cases
from analysis.operators.fidelity import Fidelity
from analysis.operators.labels import AS_IT_WAS, LOSS, SLOWDOWN, WAIT, WAIT_MAX, WAIT_P95
from analysis.operators.sample import Sample
from analysis.report.table import Cell, Table, room
from analysis.study import Study
from analysis.study.axes import GROUPINGS, USER, Grouping
from sweep.numbers import Unit, number, time_unit
from sweep.policy_names import label, named
from sweep.statistics import Comparison
from sweep.statistics.comparison import POWER
from sweep.statistics.confidence import Interval

OTHERS = {
    WAIT_P95: "95th percentile of wait", SLOWDOWN: "mean bounded slowdown", LOSS: "loss of capacity",
}  # fmt: skip
"""Metrics that are compared beside the mean wait; less is better for all."""

ONE_BATCH = (
    "All jobs are one batch, so differences on this log have no intervals. Several batches have "
    "(batch_size=week batches=120)."
)


def tables(study: Study) -> Sequence[Table]:
    """Return all tables of a study; titles name the reading and the load where there are several."""
    found: list[Table] = []
    for case in cases(study):
        if case.policies:
            found += [_named(table, case) for table in _tables(case)]
    return found


def brief(study: Study) -> Sequence[str]:
    """Return the short table for the terminal."""
    lines: list[str] = []
    for case in cases(study):
        if not case.policies:
            continue
        lines += ["", *([f"{case.label}:"] if case.label else []), verdict.recommendation(case), ""]
        lines += _brief(case).as_lines(room())
        if not case.is_one_batch and case.others:
            lines.append(f"changes of the mean wait with {case.study.level} intervals, each by itself")
        if likeness := Fidelity.of(case):
            lines.append(likeness.sentence)
    return [*lines, ""] if lines else []


def _tables(case: Case) -> Iterator[Table]:
    if case.others:
        yield against(case)
        yield other_measures(case)
    if found := fidelity.table(case):
        yield found
    yield overview(case)
    if case.others:
        if not case.is_one_batch:
            yield winners(case)
        for grouping in GROUPINGS:
            if case.groups(grouping) and not (grouping is USER and case.groups(USER) == ["others"]):
                yield by_group(case, grouping)


def _named(table: Table, case: Case) -> Table:
    if not case.name:
        return table
    return replace(table, name=f"{table.name}-{case.name}", title=f"{table.title} ({case.label})")


def overview(case: Case) -> Table:
    """Return the measures of each policy."""
    rows = [
        [
            Cell(_policy(case, policy)),
            *(Cell(labels.level(one.mean, one.half_width, unit)) for one, unit in _levels(case, policy)),
        ]
        for policy in case.policies
    ]
    if case.has_record:
        rows.insert(0, [Cell(AS_IT_WAS), *(Cell(text) for text in _as_recorded(case))])
    rows += [[Cell(label(policy)), Cell(state), *([Cell("")] * 5)] for policy, state in case.missing.items()]
    columns = (
        "policy", "mean wait", "95th percentile", "longest wait", "mean bounded slowdown", "utilization",
        "loss of capacity",
    )  # fmt: skip
    several = (
        f"Sample: {Sample.of(case).describe()} Percentile, utilization and loss of capacity are means over "
        "batches. All policies had the same jobs: whether they differ is in the table against "
        f"{case.against}."
    )
    likeness = Fidelity.of(case)
    unlike = "" if likeness is None or likeness.matches else ": absolute waits do not predict"
    return Table(
        "overview",
        f"Measures of each policy{unlike}",
        (ONE_BATCH if case.is_one_batch else several)
        + " Loss of capacity: the share of processor time that is idle while a job waits."
        + (
            f" “{AS_IT_WAS[0].upper()}{AS_IT_WAS[1:]}”: the values that the log recorded for the same jobs; "
            "shares of processor time only if the machine may be that of the log." * case.has_record
        ),
        columns,
        rows,
    )


def _levels(case: Case, policy: str) -> list[tuple[Interval, Unit]]:
    """Return the measures of a policy, with intervals of replications only: weeks of one log are compared."""
    found = [(case.level(metric, policy), unit) for metric, unit in case.units.items()]
    if Sample.of(case).by_replications:
        return found
    return [(replace(level, half_width=math.nan), unit) for level, unit in found]


def _as_recorded(case: Case) -> list[str]:
    """Return the values that the log recorded, for the columns of the overview."""
    means = ((case.recorded(metric).mean, unit) for metric, unit in case.units.items())
    return ["–" if math.isnan(mean) else f"{number(mean / unit.size)}{unit.name}" for mean, unit in means]


def against(case: Case) -> Table:
    """Return the comparison of each policy with the reference, the shortest mean wait first."""
    sample, best = Sample.of(case), case.probabilities(WAIT)
    found = {policy: case.difference(WAIT, policy) for policy in case.others}
    rows = []
    for policy in sorted(found, key=lambda one: found[one].mean):
        one, unit = found[policy], case.units[WAIT]
        counted = "" if math.isnan(one.chance) else f"by chance: {labels.probability(one.chance)}"
        rows.append(
            [
                Cell(label(policy)),
                _judged(one, unit),
                Cell(f"{one.lower} of {one.lower + one.higher}", note=counted),
                Cell("–" if one.verdict == "no interval" else labels.probability(best[policy])),
                _longest(case, policy),
                Cell(sample.enough(one.needed) if one.verdict == "no difference shown" else ""),
            ]
        )
    columns = ["policy", "mean wait", f"{sample.values} with less", "lowest", "longest wait", "sample needed"]
    if not any(row[-1].text for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    several = (
        f"Each policy minus {case.against}, under the same jobs: {sample.describe()} Small print: the "
        f"{case.study.level} interval of that change alone. “Lowest”: the probability of the lowest mean "
        "wait of all."
    )
    verdicts = {one.verdict for one in found.values()}
    if verdicts & {"mostly better", "mostly worse"}:
        several += (
            f" “Mostly”: too many {sample.values} point the same way for chance, but the size is not shown."
        )
    if "no difference shown" in verdicts:
        several += (
            " “No difference shown” is not “equal”: the sample needed would show the change seen with a "
            f"probability of {100 * POWER:.0f} %."
        )
    return Table(
        "against",
        f"Against {case.against}",
        f"Each policy minus {case.against}. {ONE_BATCH}" if case.is_one_batch else several,
        columns,
        rows,
    )


def other_measures(case: Case) -> Table:
    """Return the comparison of each policy with the reference in other measures than the mean wait."""
    rows = [
        [
            Cell(label(policy)),
            *(_judged(case.difference(metric, policy), case.units[metric]) for metric in OTHERS),
        ]
        for policy in case.others
    ]
    return Table(
        "other-measures",
        f"Other measures against {case.against}",
        f"Each policy minus {case.against}, under the same jobs: less is better. Small print: the "
        f"{case.study.level} interval of that change alone." * (not case.is_one_batch),
        ("policy", *OTHERS.values()),
        rows,
    )


def _longest(case: Case, policy: str) -> Cell:
    """Return the longest wait of any job, coloured by that under the reference; it has no interval."""
    unit, levels = case.units[WAIT_MAX], [case.level(WAIT_MAX, one).mean for one in (policy, case.reference)]
    text = f"{number(levels[0] / unit.size)}{unit.name}"
    if not levels[1] > 0 or math.isnan(levels[0]):
        return Cell(text)
    ratio = levels[0] / levels[1]
    return Cell(text, "worse" if ratio > verdict.PRICE else "better" if ratio < 1 / verdict.PRICE else "")


def winners(case: Case) -> Table:
    """Return the groups of jobs that wait less, and more, than under the reference."""
    rows = [
        [Cell(label(policy)), *(Cell(_listed(case, policy, tone)) for tone in ("better", "worse"))]
        for policy in case.others
    ]
    return Table(
        "winners",
        f"Groups of jobs that wait less, and more, than under {case.against}",
        f"Groups that are shown to wait less, or more, each by its own {case.study.level} interval or by "
        "the number of weeks: one of twenty may be here by chance. Users are those with most work, by their "
        "name or "
        "number in the log.",
        ("policy", "less wait", "more wait"),
        rows,
    )


def _listed(case: Case, policy: str, tone: str) -> str:
    parts = []
    for grouping in GROUPINGS:
        found = case.differences(WAIT, policy, grouping)
        names = [
            case.label_of(grouping, group)
            for group, one in found.items()
            if labels.TONES.get(one.verdict) == tone
        ]
        if names:
            joined = ", ".join(name.removeprefix("user ") for name in names)
            parts.append(f"{grouping.title}: {joined}")
    return "; ".join(parts) or "no group is shown to"


def by_group(case: Case, grouping: Grouping) -> Table:
    """Return the differences in mean wait of every group."""
    groups = case.groups(grouping)
    found = {policy: case.differences(WAIT, policy, grouping) for policy in case.others}
    levels = {group: case.mean(WAIT, case.reference, grouping, group).mean for group in groups}
    unit = time_unit(levels.values())
    rows = []
    for group in groups:
        jobs = float(np.nansum(case.jobs(grouping, group)))
        row = [Cell(case.label_of(grouping, group)), Cell(f"{jobs:,.0f}")]
        if grouping is USER:
            row.append(Cell(f"{100 * case.share_of_work(group):.1f} %"))
        if case.has_record:
            row.append(Cell(labels.level(case.recorded(WAIT, grouping, group).mean, math.nan, unit)))
        row.append(Cell(f"{number(levels[group] / unit.size)}{unit.name}"))
        row += [labels.marked(found[policy][group], unit) for policy in case.others]
        rows.append(row)
    work = ("share of work",) if grouping is USER else ()
    caption = f"Mean wait under {case.against}, and its change under each other policy."
    if not case.is_one_batch:
        caption += (
            " ▼ less, ▲ more, by the interval; ▽ △ by the number of weeks; no mark: no difference is shown."
        )
    if case.has_record:
        caption += f" “{AS_IT_WAS[0].upper()}{AS_IT_WAS[1:]}”: the mean wait that the log recorded."
    if grouping is USER:
        caption += " Users in descending order of their work, by their name or number in the log."
    return Table(
        f"by-{grouping.dim.partition('_')[0]}",
        f"Mean wait by {grouping.title}",
        caption,
        (
            grouping.title,
            "jobs",
            *work,
            *([AS_IT_WAS] * case.has_record),
            *map(label, [case.reference, *case.others]),
        ),
        rows,
    )


def _brief(case: Case) -> Table:
    rows, sample = [], Sample.of(case)
    for policy in case.policies:
        row = [f"{number(one.mean / unit.size)}{unit.name}" for one, unit in _levels(case, policy)]
        compared = ["", ""]
        if policy != case.reference:
            found, unit = case.difference(WAIT, policy), case.units[WAIT]
            ends = labels.bounds(found, unit)
            compared = [labels.change(found, unit) if not ends else f"{_change(found, unit)} ({ends})", ""]
            if not case.is_one_batch:
                compared[0] += f", {found.verdict}"
                compared[1] = f"{found.lower} of {found.lower + found.higher}"
        rows.append([Cell(text) for text in (named(policy), *row, *compared)])
    if case.has_record:
        rows.insert(0, [Cell(text) for text in (AS_IT_WAS, *_as_recorded(case), "", "")])
    columns = ("policy", "mean wait", "95th pct", "longest", "slowdown", "utilization", "loss")
    return Table(
        "brief", "", "", (*columns, f"wait against {case.against}", f"less in {sample.values}"), rows
    )


def _policy(case: Case, policy: str) -> str:
    return label(policy) + " (reference)" * (policy == case.reference and bool(case.others))


def _change(found: Comparison, unit: Unit) -> str:
    return labels.relative(found, found.mean) if found.reference > 0 else labels.change(found, unit)


def _judged(found: Comparison, unit: Unit) -> Cell:
    note = ", ".join(filter(None, [labels.bounds(found, unit), found.verdict]))
    return Cell(labels.change(found, unit), labels.TONES.get(found.verdict, "open"), note)
