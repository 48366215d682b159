"""Tables: where each takes over, which cost and requests turn it round, what few slots give, who pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.claims import shown
from analysis.families import break_even
from analysis.families.break_even import Outcome
from analysis.families.contestants import Contestant, Field
from analysis.families.figures import inaccuracy, payers
from analysis.families.figures.break_evens import outcomes
from analysis.families.labels import (
    BACKFILL_QUEUE,
    EXACT,
    FCFS_QUEUE,
    FREE,
    GROUPINGS,
    MEASURES,
    REAL,
    REQUESTS,
    SLOWDOWN,
    asked,
    workload,
)
from analysis.report.table import Cell, Table
from analysis.study import Study
from sweep import statistics

TONES = {"better": "better", "worse": "worse"}


def tables(study: Study) -> Sequence[Table]:
    """Return all tables, of the first reading."""
    field = Field(study.readings["A"])
    if not field.all:
        return ()
    found = [_take_over(field)]
    if field.costly:
        found.append(_costs(field))
    if len(field.study.values_of(REQUESTS)) > 1 and field.find(field.scheme):
        found.append(_requests(field))
    if inaccuracy.pairs(field):
        found.append(_inaccuracy(field))
    if field.levels and field.find(field.scheme):
        found.append(_levels(field))
    found += [_payers(field)] if any(SLOWDOWN + one.suffix in study.data for one in GROUPINGS) else []
    return found


def _measures(field: Field) -> Iterator[tuple[str, str, str]]:
    """Yield metric, workload, and what a column of both is called."""
    for metric, title in MEASURES.items():
        if metric in field.study.data:
            for name in field.workloads:
                yield metric, name, f"{workload(name)}, {title.removeprefix('mean ')}"


def against(field: Field, metric: str, one: Contestant, name: str, cost: str = FREE) -> Outcome:
    """Return how a contestant compares with the reference over the load."""
    return break_even.compare(
        field.curve(metric, one, name, cost=cost), field.curve(metric, field.reference, name)
    )


def _cell(outcome: Outcome, unit: str = "", digits: int = 2) -> Cell:
    tone = "open"
    if not outcome.crossings and outcome.x.size and len(set(outcome.states)) == 1:
        tone = TONES.get(outcome.states[0], "open")
    return Cell(break_even.told(outcome, unit, digits), tone)


def _take_over(field: Field) -> Table:
    rows = []
    for one in field.all:
        if one == field.reference:
            continue
        costs = [FREE, field.costs[-1]] if one in field.costly else [FREE]
        for cost in costs:
            label = one.label + (f", switches {field.share(cost):g} %" if cost != FREE else "")
            rows.append(
                [Cell(label)]
                + [_cell(against(field, metric, one, name, cost)) for metric, name, _ in _measures(field)]
            )
    return Table(
        "take-over",
        f"At which load each takes over from {field.reference.label}",
        f"At which offered loads a contestant is better than {field.reference.label}, with "
        f"{asked(field.usual)}, by paired differences: a load from which, or up to which, it is better, with "
        f"its interval ({field.study.confidence:.0%}); alone where the other one is saturated, and it is "
        "not. Differences are taken to be linear between loads of the grid.",
        ("contestant", *(title for *_, title in _measures(field))),
        rows,
    )


def _costs(field: Field) -> Table:
    rows = []
    for one in field.costly:
        for place, load in enumerate(field.study.loads):
            at = "" if np.isnan(load) else f", load {load:g}"
            row = [Cell(f"{one.label}{at}")]
            for metric, name, _ in _measures(field):
                row.append(_cell(outcomes(field, metric, one, name)[place][1], " %", 1))
            rows.append(row)
    return Table(
        "break-even-cost",
        "Which cost of a switch eats the advantage of gang scheduling",
        "Up to which cost of a switch, in percent of a slice, gang scheduling is better than "
        f"{field.reference.label} at a load, with its interval. “Everywhere” is at every cost of the grid.",
        ("contestant", *(title for *_, title in _measures(field))),
        rows,
    )


def _requests(field: Field) -> Table:
    """Return what requests do to the comparison with gang scheduling, over the load."""
    every = field.study.values_of(REQUESTS)
    ordered = [*field.inaccuracies, *(one for one in every if one not in field.inaccuracies)]
    gang = field.find(field.scheme)
    rows = []
    for one in inaccuracy.askers(field):
        for requests in ordered:
            row = [Cell(f"{one.label}, {asked(requests)}")]
            for metric, name, _ in _measures(field):
                pair = (
                    []
                    if gang is None
                    else [field.curve(metric, gang, name), field.curve(metric, one, name, requests=requests)]
                )
                row.append(_cell(break_even.compare(*pair)) if pair else Cell("–"))
            rows.append(row)
    for level in field.levels:
        found = field.find(field.scheme, level, BACKFILL_QUEUE)
        if found is None or not {REAL, EXACT} <= set(every):
            continue
        row = [Cell(f"{found.label}: real minus exact")]
        for metric, name, _ in _measures(field):
            pair = [field.curve(metric, found, name, requests=requests) for requests in (REAL, EXACT)]
            row.append(_cell(break_even.compare(*pair)))
        rows.append(row)
    return Table(
        "requests",
        "Whether gang scheduling wins, by what others know of runtimes",
        "At which loads gang scheduling in any number of slots, which asks for no requests, is better "
        "than policies that do. In the last rows: at which loads gang scheduling with a backfilled queue is "
        "better with requests as users make them than with exact ones.",
        ("against", *(title for *_, title in _measures(field))),
        rows,
    )


def _inaccuracy(field: Field) -> Table:
    """Return from which factor of overestimates on gang scheduling wins."""
    rows = []
    for one, other in inaccuracy.pairs(field):
        for load in map(float, field.study.loads):
            at = "" if np.isnan(load) else f", load {load:g}"
            row = [Cell(f"{one.label} against {other.label}{at}")]
            for metric, name, _ in _measures(field):
                cell = _cell(inaccuracy.outcome(field, metric, one, other, name, load), digits=1)
                real = inaccuracy.told_of_users(field, metric, one, other, name, load)
                row.append(Cell(f"{cell.text}{f'; users: {real}' if real else ''}", cell.tone))
            rows.append(row)
    return Table(
        "inaccuracy",
        "How inaccurate requests must be for gang scheduling to win",
        "With requests that are evenly spread from the runtime to 1 + f times as much, for which f gang "
        "scheduling is better than a policy that is told them, by paired differences, with its interval "
        f"({field.study.confidence:.0%}); 0 is exact. Differences are linear between values of f; "
        "who has a queue that is backfilled is told the same requests. Users: what it is with requests as "
        "users make them.",
        ("contestants", *(title for *_, title in _measures(field))),
        rows,
    )


def share_of_gain(
    field: Field, metric: str, one: Contestant, name: str, load: float
) -> statistics.Interval | None:
    """Return which share of the gain of unbounded gang scheduling on the reference a level already gives.

    It is the ratio of two mean differences, replication by replication under the same jobs. None where one of
    the three has no mean, or unbounded gang scheduling gains nothing for sure: of nothing there is no share.
    """
    gang = field.find(field.scheme)
    if gang is None:
        return None
    curves = [field.curve(metric, who, name) for who in (field.reference, one, gang)]
    place = [np.flatnonzero(np.isclose(curve.x, load, equal_nan=True)) for curve in curves]
    if any(not at.size or not curve.stable[at[0]] for at, curve in zip(place, curves, strict=True)):
        return None
    reference, mine, free = (
        payers.over_batches(curve.values[at[0]]) for at, curve in zip(place, curves, strict=True)
    )
    gain = statistics.paired_difference(reference, free, field.study.confidence)
    if not gain.mean > gain.half_width:
        return None
    return statistics.paired_ratio(reference - mine, reference - free, field.study.confidence)


def _levels(field: Field) -> Table:
    rows = []
    for level in field.levels:
        for queue in (FCFS_QUEUE, BACKFILL_QUEUE):
            one = field.find(field.scheme, level, queue)
            if one is None:
                continue
            for load in field.study.loads:
                at = "" if np.isnan(load) else f", load {load:g}"
                row = [Cell(f"{one.label}{' + FCFS' if queue == FCFS_QUEUE else ''}{at}")]
                for metric, name, _ in _measures(field):
                    found = share_of_gain(field, metric, one, name, float(load))
                    row.append(Cell("–" if found is None else f"{shown(found, 100)} %"))
                rows.append(row)
    return Table(
        "levels",
        "What a few slots give already",
        f"Of what gang scheduling in any number of slots gains on {field.reference.label}, the share that "
        "a level gains, with free switches. More than 100 %: better than any number of slots; below 0: "
        f"worse than {field.reference.label}. –: one of them is saturated, or any number of slots gains "
        "nothing.",
        ("level", *(title for *_, title in _measures(field))),
        rows,
    )


def _payers(field: Field) -> Table:
    rows = []
    for name in field.workloads:
        load = payers.load_of(field, name)
        if load is None:
            continue
        for one in payers.contestants(field):
            told: dict[str, list[str]] = {"wins": [], "loses": []}
            for grouping in GROUPINGS:
                if SLOWDOWN + grouping.suffix not in field.study.data:
                    continue
                groups = payers.groups(field, grouping, name, load)
                level = 1 - (1 - field.study.confidence) / max(1, len(groups))
                sides: dict[str, list[str]] = {"wins": [], "loses": []}
                for group in groups:
                    found = payers.relative(field, grouping, one, name, load, group, level)
                    if found.mean + found.half_width < 1:
                        sides["wins"].append(group)
                    elif found.mean - found.half_width > 1:
                        sides["loses"].append(group)
                for side, those in sides.items():
                    if those:
                        told[side].append(f"{grouping.title}: {', '.join(those)}")
            at = "" if np.isnan(load) else f", load {load:g}"
            rows.append(
                [Cell(f"{one.label}, {workload(name)}{at}")]
                + [Cell("; ".join(told[side]) or "nobody that could be told") for side in ("wins", "loses")]
            )
    return Table(
        "payers",
        f"Who wins and who loses against {field.reference.label}",
        f"Groups whose mean bounded slowdown is lower, and higher, than under {field.reference.label}: the "
        "interval of the paired ratio lies on one side of 1; the intervals of all groups of a kind hold "
        f"together at {field.study.confidence:.0%}. Of groups that are not named no difference is shown.",
        ("contestant", "wins", "loses"),
        rows,
    )


def summary(study: Study) -> Sequence[str]:
    """Return the answers in sentences, of the first reading."""
    field = Field(study.readings["A"])
    gang = field.find(field.scheme) if field.all else None
    if gang is None or gang == field.reference:
        return ()
    found = []
    for metric, name, title in _measures(field):
        asked = [(gang, FREE)] + ([(gang, field.costs[-1])] if gang in field.costly else [])
        told = [
            f"with {'free' if cost == FREE else f'{field.share(cost):g} %'} switches "
            + break_even.told(against(field, metric, one, name, cost))
            for one, cost in asked
        ]
        found.append(
            f"{title}: {gang.label} is better than {field.reference.label} at loads {'; '.join(told)}."
        )
    return [*found, *_sentences(field, gang)]


def _sentences(field: Field, gang: Contestant) -> Iterator[str]:
    """Yield how inaccurate requests must be for gang scheduling to win, where the grid asks that."""
    if (gang, field.reference) not in inaccuracy.pairs(field):
        return
    for metric, name, title in _measures(field):
        told = []
        for load in map(float, field.study.loads):
            found = inaccuracy.outcome(field, metric, gang, field.reference, name, load)
            at = "" if np.isnan(load) else f"at load {load:g} "
            told.append(f"{at}{break_even.told(found, digits=1)}")
        yield (
            f"{title}, requests of up to 1 + f times the runtime: {gang.label} is better than "
            f"{field.reference.label}, by f, {'; '.join(told)}."
        )


def brief(study: Study) -> Sequence[str]:
    """Return the same for the terminal."""
    return ["", *summary(study), ""] if summary(study) else []
