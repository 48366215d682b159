"""Tables for operators: each policy by itself, against the reference, and by groups of jobs."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.operators import acceptance, deploying, fidelity, verdict
from analysis.operators.acceptance import Candidate
from analysis.operators.case import Case, cases
from analysis.operators.labels import AS_IT_WAS, LOSS, SLOWDOWN, WAIT, WAIT_MAX, WAIT_P95
from analysis.operators.sample import Sample
from analysis.report import cells
from analysis.report.declared import Row, declared
from analysis.report.table import Cell, Table, room
from analysis.study import Study
from analysis.study.axes import RANKED, USER, Grouping
from sweep.numbers import Unit, number, time_unit
from sweep.policy_names import label, named
from sweep.statistics.comparison import POWER
from sweep.statistics.confidence import Interval

OTHERS = (WAIT_P95, SLOWDOWN, LOSS)
"""Metrics that are compared beside the mean wait; less is better for all."""


def tables(study: Study) -> Sequence[Table]:
    """Return all tables of a study; titles name the reading and the load where there are several."""
    found: list[Table] = []
    for case in cases(study):
        if case.policies:
            found += [_named(table, case) for table in _tables(case)]
    if found and not any(table.is_first for table in found):
        found[0] = replace(found[0], is_first=True)
    return found


def brief(study: Study) -> Sequence[str]:
    """Return the short table for the terminal."""
    lines: list[str] = []
    for case in cases(study):
        if not case.policies:
            continue
        lines += ["", *([f"{case.label}:"] if case.label else [])]
        lines += [line for line in (fidelity.sentence(case),) if line]
        lines += [verdict.recommendation(case), ""]
        lines += _brief(case).as_lines(room())
        if not case.is_one_batch and case.others:
            lines.append(f"Changes of the mean wait have {case.study.level} intervals of single comparisons.")
    return [*lines, ""] if lines else []


def _tables(case: Case) -> Iterator[Table]:
    if better := acceptance.candidates(case):
        yield replace(trade_offs(case, better), is_first=True)
    for found in (fidelity.table(case), fidelity.by_batch(case)):
        if found is not None:
            yield replace(found, is_first=True)
    if case.others:
        yield replace(against(case), is_first=True)
        yield other_measures(case)
    yield overview(case)
    if case.others:
        if better:
            yield settings(case, better)
        if not case.is_one_batch:
            yield winners(case)
        for grouping in case.groupings:
            if case.identified(grouping):
                yield by_group(case, grouping)


def _named(table: Table, case: Case) -> Table:
    if not case.name:
        return table
    return replace(table, name=f"{table.name}-{case.name}", title=f"{table.title} ({case.label})")


def _declared(
    case: Case, name: str, rows: Iterable[Row], more: Iterable[str] = (),
    parts: Mapping[str, bool] | None = None, **values: str,
) -> Table:  # fmt: skip
    sample = Sample.of(case)
    return declared(
        "operators", name, rows, more, parts=parts, reference=case.against, level=case.study.level,
        sample=sample.describe(), values=sample.values, **values,
    )  # fmt: skip


def overview(case: Case) -> Table:
    """Return the measures of each policy."""
    rows: list[Row] = [
        [_policy(case, policy), *(cells.level(one.mean, one.half_width, unit) for one, unit in found)]
        for policy in case.policies
        if (found := _levels(case, policy))
    ]
    if case.has_record:
        rows.insert(0, [AS_IT_WAS, *_as_recorded(case)])
    rows += [[label(policy), state, *([""] * 5)] for policy, state in case.missing.items()]
    unlike = "" if fidelity.predicts(case) else ": absolute waits are not predictions"
    parts = {
        "one batch": case.is_one_batch, "several": not case.is_one_batch, "loss": True,
        "record": case.has_record,
    }  # fmt: skip
    return _declared(case, "overview", rows, parts=parts, unlike=unlike)


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
    rows: list[Row] = []
    for policy in sorted(found, key=lambda one: found[one].mean):
        one = found[policy]
        by_sign = one.verdict.startswith("mostly") or one.verdict == "mixed"
        counted = f"sign test: {cells.probability(one.chance)}" if by_sign else ""
        rows.append(
            [
                label(policy),
                cells.judged(one, case.units[WAIT]),
                Cell(f"{one.lower} of {one.lower + one.higher}", note=counted),
                "–" if one.verdict == "no interval" else cells.probability(best[policy]),
                _longest(case, policy),
                sample.enough(one.needed) if one.verdict == "no difference shown" else None,
            ]
        )
    verdicts = {one.verdict for one in found.values()}
    alone = case.is_one_batch
    parts = {
        "alone": alone, "one batch": alone, "several": not alone,
        "mostly": not alone and bool(verdicts & {"mostly better", "mostly worse"}),
        "not shown": not alone and "no difference shown" in verdicts,
    }  # fmt: skip
    return _declared(case, "against", rows, parts=parts, power=f"{100 * POWER:.0f} %")


def trade_offs(case: Case, better: Sequence[Candidate]) -> Table:
    """Return the policies that are shown to be better with what they cost: the accepted ones first."""
    listed = acceptance.short_list(better)
    rows: list[Row] = []
    for one in [*listed, *(one for one in better if one.broken)]:
        _, after = one.longest
        group, found = next(iter(one.paying.items()), (None, None))
        paying = Cell("none shown") if found is None or group is None else Cell(
            f"{case.named(group)} × {number(one.worst)}", "worse", cells.bounds(found, case.units[WAIT])
        )  # fmt: skip
        rows.append(
            [
                label(one.policy),
                cells.judged(one.change, case.units[WAIT]),
                Cell(f"{acceptance.duration(after)} (× {number(one.longest_ratio)})"),
                paying,
                ", ".join(one.concentration) or "spread",
                Cell(f"no: {'; '.join(one.broken)}", "worse") if one.broken else Cell("yes", "better"),
                deploying.where(case.study, one.policy),
            ]
        )
    behind = len([one for one in better if not one.broken]) - len(listed)
    parts = {"all": True, "behind": behind > 0, "unlike": not fidelity.predicts(case)}
    return _declared(
        case, "trade-offs", rows, parts=parts, accepted=acceptance.in_words(case), behind=str(behind)
    )


def settings(case: Case, better: Sequence[Candidate]) -> Table:
    """Return the lines that set each policy of the trade-offs."""
    rows: list[Row] = []
    for one in better:
        known = deploying.lines(case.study, one.policy)
        listed = ["; ".join(known[name]) if name in known else "cannot be set" for name in deploying.MANAGERS]
        rows.append([label(one.policy), *listed])
    return _declared(case, "settings", rows, deploying.MANAGERS.values())


def other_measures(case: Case) -> Table:
    """Return the comparison of each policy with the reference in other measures than the mean wait."""
    rows: list[Row] = [
        [
            label(policy),
            *(cells.judged(case.difference(metric, policy), case.units[metric]) for metric in OTHERS),
        ]
        for policy in case.others
    ]
    return _declared(case, "other-measures", rows, parts={"several": not case.is_one_batch})


def _longest(case: Case, policy: str) -> Cell:
    """Return the longest wait of any job, coloured by its ratio to the reference's; it has no interval."""
    unit, levels = case.units[WAIT_MAX], [case.level(WAIT_MAX, one).mean for one in (policy, case.reference)]
    text = f"{number(levels[0] / unit.size)}{unit.name}"
    if not levels[1] > 0 or math.isnan(levels[0]):
        return Cell(text)
    ratio = levels[0] / levels[1]
    most = acceptance.accepted(case)["longest_wait"] or math.inf
    return Cell(text, "worse" if ratio > most else "better" if ratio < 1 / most else "")


def winners(case: Case) -> Table:
    """Return the groups of jobs that wait less, and more, than under the reference."""

    def listed(policy: str, verdicts: Sequence[str]) -> str:
        groups = case.grouped(WAIT, policy, verdicts)
        return cells.by_kind(groups, lambda one: case.label_of(one).removeprefix("user "), "none shown")

    rows: list[Row] = [
        [label(policy), *(listed(policy, verdicts) for verdicts in (cells.BETTER, cells.WORSE))]
        for policy in case.others
    ]
    return _declared(case, "winners", rows)


def by_group(case: Case, grouping: Grouping) -> Table:
    """Return the differences in mean wait of every group."""
    groups = case.groups(grouping)
    levels = {group: case.mean(WAIT, case.reference, group).mean for group in groups}
    unit = time_unit(levels.values())
    rows: list[Row] = [
        [
            case.label_of(group),
            f"{float(np.nansum(case.jobs(group))):,.0f}",
            f"{100 * case.share_of_work(group):.1f} %" if grouping in RANKED else None,
            cells.level(case.recorded(WAIT, group).mean, math.nan, unit) if case.has_record else None,
            f"{number(levels[group] / unit.size)}{unit.name}",
            *(cells.marked(case.difference(WAIT, policy, group), unit) for policy in case.others),
        ]
        for group in groups
    ]
    policies = map(label, [case.reference, *case.others])
    parts = {
        "means": True, "marks": not case.is_one_batch, "record": case.has_record, "users": grouping is USER,
    }  # fmt: skip
    found = _declared(case, "by-group", rows, policies, parts, kind=grouping.title)
    return replace(found, name=f"by-{grouping.dim.partition('_')[0]}")


def _brief(case: Case) -> Table:
    rows: list[Row] = []
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
    return _declared(case, "brief", rows)


def _policy(case: Case, policy: str) -> str:
    return label(policy) + " (reference)" * (policy == case.reference and bool(case.others))
