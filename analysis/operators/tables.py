"""Tables for operators: each policy by itself, against the reference, and by groups of jobs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.operators import choosing, words
from analysis.operators.case import Case, cases
from analysis.operators.evidence import Evidence
from analysis.operators.labels import AS_IT_WAS, LOSS, SLOWDOWN, WAIT, WAIT_P95
from analysis.operators.pairing import Difference
from analysis.report.numbers import Unit, number, time_unit
from analysis.report.table import Cell, Table, room
from analysis.study import Study
from analysis.study.groups import GROUPINGS, USER, Grouping
from sweep.statistics.confidence import Interval

COMPARED = (
    (WAIT, "mean wait"),
    (WAIT_P95, "95th percentile of wait"),
    (SLOWDOWN, "mean bounded slowdown"),
    (LOSS, "loss of capacity"),
)
"""Metrics that are compared; less is better for all."""

TONES = {"better": "better", "worse": "worse"}
MARKS = {"better": "▼ ", "worse": "▲ "}

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
        lines += ["", *([f"{case.label}:"] if case.label else []), *_brief(case).as_lines(room())]
        if not case.is_one_batch and case.others:
            lines.append(f"± {case.confidence:.0%} intervals of paired differences, all policies at once")
        lines += choosing.brief(case)
    return [*lines, ""] if lines else []


def _tables(case: Case) -> Iterator[Table]:
    yield overview(case)
    if case.others:
        yield from choosing.tables(case)
        yield against(case)
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
        [Cell(_policy(case, policy)), *(Cell(words.level(*one)) for one in _levels(case, policy))]
        for policy in case.policies
    ]
    if case.has_record:
        rows.insert(0, [Cell(AS_IT_WAS), *(Cell(text) for text in _as_recorded(case))])
    rows += [[Cell(policy), Cell(state), *([Cell("")] * 5)] for policy, state in case.missing.items()]
    columns = (
        "policy", "mean wait", "95th percentile", "longest wait", "mean bounded slowdown", "utilization",
        "loss of capacity",
    )  # fmt: skip
    several = (
        f"Sample: {Evidence.of(case).describe()} ± are {case.confidence:.0%} intervals, if the sample is "
        "large enough. Percentile, utilization and loss of capacity are means over batches. All policies had "
        "the same jobs: the next tables show whether they differ, not the overlap of these intervals."
    )
    return Table(
        "overview",
        "Measures of each policy",
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
    return [(case.level(metric, policy), unit) for metric, unit in case.units.items()]


def _as_recorded(case: Case) -> list[str]:
    """Return the values that the log recorded, for the columns of the overview."""
    return [words.level(case.recorded(metric), unit) for metric, unit in case.units.items()]


def against(case: Case) -> Table:
    """Return the paired differences to the reference with verdicts."""
    n = len(case.others)
    rows = []
    for policy in case.others:
        row = [Cell(policy)]
        for metric, _ in COMPARED:
            unit = case.units[WAIT if metric == WAIT_P95 else metric]
            row.append(_judged(case.difference(metric, policy, together=n), unit))
        rows.append(row)
    caption = (
        f"Each policy minus {case.reference}, batch by batch under the same jobs; less is better in every "
        f"column. The intervals of a column hold together at {case.confidence:.0%}. “No significant "
        "difference” does not mean that they are equal; “no interval” means that the batches are too "
        "correlated, or too few."
    )
    return Table(
        "against",
        f"Against {case.reference}",
        f"Each policy minus {case.reference}. {ONE_BATCH}" if case.is_one_batch else caption,
        ("policy", *(title for _, title in COMPARED)),
        rows,
    )


def winners(case: Case) -> Table:
    """Return the groups of jobs that wait less, and more, than under the reference."""
    rows = [
        [Cell(policy), *(Cell(_listed(case, policy, verdict)) for verdict in ("better", "worse"))]
        for policy in case.others
    ]
    return Table(
        "winners",
        f"Groups of jobs that wait less, and more, than under {case.reference}",
        "Groups whose difference has an interval on one side of 0; the intervals of all groups of one kind "
        f"hold together at {case.confidence:.0%}. Users are those with most work, by their name or number in "
        "the log. Other groups show no significant difference, or have too few jobs.",
        ("policy", "less wait", "more wait"),
        rows,
    )


def _listed(case: Case, policy: str, verdict: str) -> str:
    parts = []
    for grouping in GROUPINGS:
        found = case.differences(WAIT, policy, grouping)
        names = [case.label_of(grouping, group) for group, one in found.items() if one.verdict == verdict]
        if names:
            joined = ", ".join(name.removeprefix("user ") for name in names)
            parts.append(f"{grouping.title}: {joined}")
    return "; ".join(parts) or "no significant group"


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
            row.append(
                Cell(words.level(replace(case.recorded(WAIT, grouping, group), half_width=math.nan), unit))
            )
        row.append(Cell(f"{number(levels[group] / unit.size)}{unit.name}"))
        row += [_marked(found[policy][group], unit) for policy in case.others]
        rows.append(row)
    work = ("share of work",) if grouping is USER else ()
    caption = f"Mean wait under {case.reference}, and its change under each other policy."
    if not case.is_one_batch:
        caption += (
            " ▼ less, ▲ more, no mark: no significant difference; the intervals of a column hold "
            f"together at {case.confidence:.0%}."
        )
    if case.has_record:
        caption += f" “{AS_IT_WAS[0].upper()}{AS_IT_WAS[1:]}”: the mean wait that the log recorded."
    if grouping is USER:
        caption += " Users in descending order of their work, by their name or number in the log."
    return Table(
        f"by-{grouping.dim.partition('_')[0]}",
        f"Mean wait by {grouping.title}",
        caption,
        (grouping.title, "jobs", *work, *([AS_IT_WAS] * case.has_record), case.reference, *case.others),
        rows,
    )


def _brief(case: Case) -> Table:
    n = len(case.others)
    rows = []
    for policy in case.policies:
        row = [f"{number(one.mean / unit.size)}{unit.name}" for one, unit in _levels(case, policy)]
        compared = ""
        if policy != case.reference:
            found = case.difference(WAIT, policy, together=n)
            compared = words.change(found, case.units[WAIT]) + (
                f", {found.verdict}" if not case.is_one_batch else ""
            )
        rows.append([Cell(text) for text in (policy, *row, compared)])
    if case.has_record:
        known = (
            f"{number(case.recorded(metric).mean / unit.size)}{unit.name}"
            for metric, unit in case.units.items()
        )
        rows.insert(
            0, [Cell(AS_IT_WAS), *(Cell("–" if text.startswith("–") else text) for text in known), Cell("")]
        )
    columns = ("policy", "mean wait", "95th pct", "longest", "slowdown", "utilization", "loss")
    return Table("brief", "", "", (*columns, f"wait against {case.reference}"), rows)


def _policy(case: Case, policy: str) -> str:
    return f"{policy} (reference)" if policy == case.reference and case.others else policy


def _judged(found: Difference, unit: Unit) -> Cell:
    return Cell(words.change(found, unit), TONES.get(found.verdict, "open"), found.verdict)


def _marked(found: Difference, unit: Unit) -> Cell:
    text = f"{MARKS.get(found.verdict, '')}{words.change(found, unit)}"
    return Cell(text, TONES.get(found.verdict, "open"))
