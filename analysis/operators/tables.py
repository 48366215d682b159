"""Tables for operators: each policy by itself, against the reference, and by groups of jobs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.operators import fidelity, verdict
from analysis.operators.case import Case, cases
from analysis.operators.fidelity import Fidelity
from analysis.operators.labels import AS_IT_WAS, LOSS, SLOWDOWN, WAIT, WAIT_MAX, WAIT_P95
from analysis.operators.sample import Sample
from analysis.report import cells
from analysis.report.table import Cell, Table, room
from analysis.study import Study
from analysis.study.axes import GROUPINGS, USER, Grouping
from sweep.numbers import Unit, number, time_unit
from sweep.policy_names import label, named
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
            if case.identified(grouping):
                yield by_group(case, grouping)


def _named(table: Table, case: Case) -> Table:
    if not case.name:
        return table
    return replace(table, name=f"{table.name}-{case.name}", title=f"{table.title} ({case.label})")


def overview(case: Case) -> Table:
    """Return the measures of each policy."""
    rows = [
        [_policy(case, policy), *(cells.level(one.mean, one.half_width, unit) for one, unit in found)]
        for policy in case.policies
        if (found := _levels(case, policy))
    ]
    if case.has_record:
        rows.insert(0, [AS_IT_WAS, *_as_recorded(case)])
    rows += [[label(policy), state, *([""] * 5)] for policy, state in case.missing.items()]
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
    return Table.of(
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
    sample, best = Sample.of(case), case.beside(WAIT).probabilities
    found = {policy: case.difference(WAIT, policy) for policy in case.others}
    rows: list[list[Cell | str]] = []
    for policy in sorted(found, key=lambda one: found[one].mean):
        one = found[policy]
        counted = "" if math.isnan(one.chance) else f"by chance: {cells.probability(one.chance)}"
        rows.append(
            [
                label(policy),
                cells.judged(one, case.units[WAIT]),
                Cell(f"{one.lower} of {one.lower + one.higher}", note=counted),
                "–" if one.verdict == "no interval" else cells.probability(best[policy]),
                _longest(case, policy),
                sample.enough(one.needed) if one.verdict == "no difference shown" else "",
            ]
        )
    columns = ["policy", "mean wait", f"{sample.values} with less", "lowest", "longest wait", "sample needed"]
    if not any(row[-1] for row in rows):
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
    return Table.of(
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
            label(policy),
            *(cells.judged(case.difference(metric, policy), case.units[metric]) for metric in OTHERS),
        ]
        for policy in case.others
    ]
    return Table.of(
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

    def listed(policy: str, verdicts: Sequence[str]) -> str:
        groups = case.grouped(WAIT, policy, verdicts)
        return cells.by_kind(
            groups, lambda one: case.label_of(one).removeprefix("user "), "no group is shown to"
        )

    rows = [
        [label(policy), *(listed(policy, verdicts) for verdicts in (cells.BETTER, cells.WORSE))]
        for policy in case.others
    ]
    return Table.of(
        "winners",
        f"Groups of jobs that wait less, and more, than under {case.against}",
        f"Groups that are shown to wait less, or more, each by its own {case.study.level} interval or by "
        "the number of weeks: one of twenty may be here by chance. Users are those with most work, by their "
        "name or "
        "number in the log.",
        ("policy", "less wait", "more wait"),
        rows,
    )


def by_group(case: Case, grouping: Grouping) -> Table:
    """Return the differences in mean wait of every group."""
    groups = case.groups(grouping)
    levels = {group: case.mean(WAIT, case.reference, group).mean for group in groups}
    unit = time_unit(levels.values())
    rows: list[list[Cell | str]] = []
    for group in groups:
        row: list[Cell | str] = [case.label_of(group), f"{float(np.nansum(case.jobs(group))):,.0f}"]
        if grouping is USER:
            row.append(f"{100 * case.share_of_work(group):.1f} %")
        if case.has_record:
            row.append(cells.level(case.recorded(WAIT, group).mean, math.nan, unit))
        row.append(f"{number(levels[group] / unit.size)}{unit.name}")
        row += [cells.marked(case.difference(WAIT, policy, group), unit) for policy in case.others]
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
    return Table.of(
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
        row = [
            named(policy),
            *(f"{number(one.mean / unit.size)}{unit.name}" for one, unit in _levels(case, policy)),
        ]
        compared = ["", ""]
        if policy != case.reference:
            found, unit = case.difference(WAIT, policy), case.units[WAIT]
            ends = cells.bounds(found, unit)
            change = (
                cells.relative(found, found.mean)
                if ends and found.reference > 0
                else cells.change(found, unit)
            )
            compared[0] = change + (f" ({ends})" if ends else "")
            if not case.is_one_batch:
                compared[0] += f", {found.verdict}"
                compared[1] = f"{found.lower} of {found.lower + found.higher}"
        rows.append([*row, *compared])
    if case.has_record:
        rows.insert(0, [AS_IT_WAS, *_as_recorded(case), "", ""])
    columns = ("policy", "mean wait", "95th pct", "longest", "slowdown", "utilization", "loss")
    return Table.of(
        "brief", "", "", (*columns, f"wait against {case.against}", f"less in {sample.values}"), rows
    )


def _policy(case: Case, policy: str) -> str:
    return label(policy) + " (reference)" * (policy == case.reference and bool(case.others))
