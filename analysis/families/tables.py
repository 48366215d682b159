"""Tables across families: break-evens over load, cost of a switch and requests; levels; groups of jobs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from analysis.claims import shown
from analysis.families import break_even, labels
from analysis.families.break_even import Outcome
from analysis.families.contestants import Contestant, Field
from analysis.families.figures import inaccuracy, payers
from analysis.report.cells import by_kind
from analysis.report.declared import Row, declared
from analysis.report.table import Cell, Table
from analysis.study import Study
from analysis.study.axes import GROUPINGS
from analysis.study.curve import Sample
from sweep import statistics

Compared = Callable[..., Cell]
"""(metric, workload, *subject of a row) -> cell."""


def tables(study: Study) -> Sequence[Table]:
    """Return all tables, of the first reading."""
    field = Field(study.readings["A"])
    if not field.all:
        return ()
    gang = field.find(field.scheme)
    found = [_take_over(field)]
    if field.costly:
        found.append(_costs(field))
    if len(field.study.values_of(labels.REQUESTS)) > 1 and gang is not None:
        found.append(_requests(field, gang))
    if inaccuracy.pairs(field):
        found.append(_inaccuracy(field))
    if field.levels and gang is not None:
        found.append(_levels(field))
    found += [_payers(field)] if any(labels.SLOWDOWN + one.suffix in study.data for one in GROUPINGS) else []
    return found


def _columns(field: Field) -> dict[str, tuple[str, str]]:
    """Return the columns of every table but the last: title -> metric and workload."""
    return {
        f"{labels.workload(field.study, name)}, {title.removeprefix('mean ')}": (metric, name)
        for metric, title in labels.MEASURES.items()
        if metric in field.study.data
        for name in field.workloads
    }


def _table(field: Field, name: str, cell: Compared, rows: Iterable[tuple[str, *tuple[Any, ...]]]) -> Table:
    """Return a table with a column for each measure under each workload; rows are labels and what follows."""
    columns = _columns(field)
    cells: list[Row] = [
        [label, *(cell(*column, *about) for column in columns.values())] for label, *about in rows
    ]
    return _declared(field, name, cells, columns)


def _declared(field: Field, name: str, rows: Iterable[Row], more: Iterable[str] = ()) -> Table:
    reference, asked = field.reference.label, labels.asked(field.usual)
    return declared(labels.KEY, name, rows, more, reference=reference, asked=asked, level=field.study.level)


def against(field: Field, one: Contestant, metric: str, name: str, *, cost: str = labels.FREE) -> Outcome:
    """Return the comparison of a contestant with the reference over the load."""
    mine = field.curve(metric, one, name, cost=cost)
    return break_even.compare(mine, field.curve(metric, field.reference, name))


def _cell(outcome: Outcome, unit: str = "", digits: int = 2) -> Cell:
    states = set(outcome.states)
    tone = states.pop() if not outcome.crossings and len(states) == 1 else "open"
    return Cell(break_even.describe(outcome, unit, digits), tone)


def _take_over(field: Field) -> Table:
    def cell(metric: str, name: str, one: Contestant, cost: str) -> Cell:
        return _cell(against(field, one, metric, name, cost=cost))

    def label(one: Contestant, cost: str) -> str:
        return one.label + (f", switches {field.share(cost):g} %" if cost != labels.FREE else "")

    rows = [
        (label(one, cost), one, cost)
        for one in field.all
        if one != field.reference
        for cost in ((labels.FREE, field.costs[-1]) if one in field.costly else (labels.FREE,))
    ]
    return _table(field, "take-over", cell, rows)


def _costs(field: Field) -> Table:
    def cell(metric: str, name: str, one: Contestant, load: float) -> Cell:
        return _cell(field.outcome(labels.COST, metric, one, field.reference, name, load), " %", 1)

    rows = [
        (f"{one.label}{labels.at_load(load)}", one, load)
        for one in field.costly
        for load in map(float, field.study.loads)
    ]
    return _table(field, "break-even-cost", cell, rows)


def _requests(field: Field, gang: Contestant) -> Table:
    every = field.study.values_of(labels.REQUESTS)

    def cell(metric: str, name: str, *pair: tuple[Contestant, str | None]) -> Cell:
        curves = (field.curve(metric, one, name, requests=requests) for one, requests in pair)
        return _cell(break_even.compare(*curves))

    ordered = [*field.inaccuracies, *(one for one in every if one not in field.inaccuracies)]
    rows: list[tuple[str, *tuple[Any, ...]]] = [
        (f"{one.label}, {labels.asked(requests)}", (gang, None), (one, requests))
        for one in inaccuracy.users_of_requests(field)
        for requests in ordered
    ]
    for level in field.levels:
        bounded = field.find(field.scheme, level, labels.BACKFILL_QUEUE)
        if bounded is not None and {labels.REAL, labels.EXACT} <= set(every):
            pair = (bounded, labels.REAL), (bounded, labels.EXACT)
            rows.append((f"{bounded.label}: real minus exact", *pair))
    return _table(field, "requests", cell, rows)


def _inaccuracy(field: Field) -> Table:
    def compared(metric: str, name: str, one: Contestant, other: Contestant, load: float) -> Cell:
        cell = _cell(field.outcome(labels.REQUESTS, metric, one, other, name, load), digits=1)
        real = inaccuracy.with_users_requests(field, metric, one, other, name, load)
        return Cell(f"{cell.text}{f'; users: {real}' if real else ''}", cell.tone)

    rows = [
        (f"{one.label} against {other.label}{labels.at_load(load)}", one, other, load)
        for one, other in inaccuracy.pairs(field)
        for load in map(float, field.study.loads)
    ]
    return _table(field, "inaccuracy", compared, rows)


def share_of_gain(
    field: Field, one: Contestant, load: float, metric: str, name: str
) -> statistics.Interval | None:
    """Return the share of unbounded gang scheduling's gain on the reference that a level achieves.

    It is the ratio of two mean differences, paired by replications under the same jobs. None if one of the
    three has no mean, or if the gain of unbounded gang scheduling is not significant.
    """
    gang = field.find(field.scheme)
    if gang is None:
        return None
    found = field.beside(metric, (field.reference, one, gang), name, load)
    if any(sample.reason for sample in found.samples.values()) or not found.difference(gang).high < 0:
        return None
    reference, mine, free = (found.samples[each] for each in (field.reference, one, gang))
    gains = (Sample.computed(np.subtract, reference, other) for other in (mine, free))
    return next(gains).against(next(gains)).ratio(field.study.confidence)


def _levels(field: Field) -> Table:
    def share(metric: str, name: str, one: Contestant, load: float) -> Cell:
        found = share_of_gain(field, one, load, metric, name)
        return Cell("–" if found is None else f"{shown(found, 100)} %")

    rows = [
        (f"{one.label}{' + FCFS' if queue == labels.FCFS_QUEUE else ''}{labels.at_load(load)}", one, load)
        for level in field.levels
        for queue in (labels.FCFS_QUEUE, labels.BACKFILL_QUEUE)
        if (one := field.find(field.scheme, level, queue)) is not None
        for load in map(float, field.study.loads)
    ]
    return _table(field, "levels", share, rows)


def _payers(field: Field) -> Table:
    rows = []
    for name in field.workloads:
        load = payers.load_of(field, name)
        if load is None:
            continue
        for one in payers.contestants(field):
            label = f"{one.label}, {labels.workload(field.study, name)}{labels.at_load(load)}"
            rows.append([label, *_sides(field, one, name, load)])
    return _declared(field, "payers", rows)


def _sides(field: Field, one: Contestant, name: str, load: float) -> Iterator[str]:
    """Yield the groups, kind by kind, that gain under a contestant, and those that lose."""
    every = {}
    for grouping in (kind for kind in GROUPINGS if kind.of("").metric(labels.SLOWDOWN) in field.study.data):
        groups = payers.groups(field, grouping, name, load)
        level = 1 - (1 - field.study.confidence) / max(1, len(groups))
        for group in groups:
            found = field.beside(labels.SLOWDOWN, (one, field.reference), name, load, group=group)
            every[group] = found.ratio(one, level=level)
    lower = [group for group, found in every.items() if found.high < 1]
    higher = [group for group, found in every.items() if found.low > 1]
    for side in (lower, higher):
        yield by_kind(side, lambda group: group.value, "no significant group")


def summary(study: Study) -> Sequence[str]:
    """Return the findings in sentences, of the first reading."""
    field = Field(study.readings["A"])
    gang = field.find(field.scheme) if field.all else None
    if gang is None or gang == field.reference:
        return ()
    better = f"{gang.label} is better than {field.reference.label}"
    costs = {labels.FREE: "with free switches"}
    if gang in field.costly:
        costs[field.costs[-1]] = f"with switches of {field.share(field.costs[-1]):g} % of a slice"
    found = []
    for title, column in _columns(field).items():
        parts = (
            f"{words}, {break_even.describe(against(field, gang, *column, cost=cost))}"
            for cost, words in costs.items()
        )
        found.append(f"{title}, loads at which {better}: {'; '.join(parts)}.")
    if (gang, field.reference) in inaccuracy.pairs(field):
        for title, (metric, name) in _columns(field).items():
            parts = (
                labels.at_load(load).removeprefix(", ")
                + (", " if labels.at_load(load) else "")
                + break_even.describe(
                    field.outcome(labels.REQUESTS, metric, gang, field.reference, name, load), digits=1
                )
                for load in map(float, field.study.loads)
            )
            found.append(
                f"{title}, f (requests of up to 1 + f runtimes) at which {better}: {'; '.join(parts)}."
            )
    return found


def brief(study: Study) -> Sequence[str]:
    """Return the summary for the terminal."""
    found = summary(study)
    return ["", *found, ""] if found else []
