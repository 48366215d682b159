"""Tables and sentences on a search: the verdict, the keys that matter, what was tried."""

import math
from collections.abc import Sequence
from dataclasses import replace

from analysis.operators import tables as operators
from analysis.operators import verdict
from analysis.operators.labels import WAIT
from analysis.operators.sample import Sample
from analysis.report import cells
from analysis.report.declared import Row, declared
from analysis.report.table import Cell, Table
from analysis.study import Study
from analysis.tuning.found import FULL, Found, Trial
from analysis.tuning.found import brief as typed
from models.counting import counted
from sweep.numbers import number
from sweep.policy_names import label

MOST = 20
"""Settings of a table."""


def tables(study: Study) -> Sequence[Table]:
    """Return the tables of the weeks held back, the keys, and what was tried."""
    found = Found(study)
    if not found.searched:
        return operators.tables(study)
    first, *others = operators.tables(found.held_back)
    return [first, *filter(None, [_keys(found)]), *others, _search(found)]


def lead(study: Study) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the first paragraphs of the report: the verdict, how it was found, and the fidelity."""
    found = Found(study)
    if not found.searched:
        return verdict.lead(study)
    return [*verdict.lead(found.held_back), ("The search", sentences(found))]


def summary(study: Study) -> Sequence[str]:
    """Return the sentences on each of the best settings."""
    found = Found(study)
    return verdict.summary(found.held_back if found.searched else study)


def brief(study: Study) -> Sequence[str]:
    """Return the lines for the terminal."""
    found = Found(study)
    if not found.searched:
        return operators.brief(study)
    return [*operators.brief(found.held_back), *sentences(found), ""]


def sentences(found: Found) -> list[str]:
    """Return what was searched, the best settings, and the keys that do not matter."""
    searched, of = found.searched, found.trials
    full, held = searched["stages"][FULL], searched["weeks"] - searched["held_from"]
    stopped, values = sum(not one.is_full for one in of), Sample.of(found.confirmed).values
    lines = [
        f"{counted(len(of), 'setting', 'was')} tried on the first {full} of {searched['weeks']} {values}, "
        f"{stopped or 'none'} of them stopped early; the verdict is based on the last {held}, which the "
        "search had not seen."
    ]
    if not found.finalists:
        return [*lines, "None of them had a shorter mean wait within the limits, so none was compared there."]
    given = {one.name: one.values for one in of}
    lines += [f"{label(name)}: {found.words(given[name])}." for name in found.finalists]
    if (case := found.reduced) is not None:
        idle = [
            key
            for key, name in found.without.items()
            if name in case.others
            and case.difference(WAIT, name).verdict in ("no difference shown", "identical")
        ]
        if idle:
            as_is = f"{label(found.finalists[0])} shows no difference without {' or without '.join(idle)}"
            lines.append(f"{as_is}; leave {'any one of them' if len(idle) > 1 else 'it'} unchanged.")
    return lines


def _keys(found: Found) -> Table | None:
    """Return what the best settings lose without each of their keys."""
    case = found.reduced
    if case is None:
        return None
    best = found.finalists[0]
    values = next(one.values for one in found.trials if one.name == best)
    rows: list[Row] = [
        [
            key,
            typed(values[key]),
            found.usual(key),
            cells.judged(case.difference(WAIT, name), case.units[WAIT]),
        ]
        for key, name in found.without.items()
        if name in case.others
    ]
    made = declared(
        "tuning", "keys", rows, best=label(best), reference=label(found.reference), level=found.study.level
    )
    return replace(made, is_first=True)


def _search(found: Found) -> Table:
    of = sorted(found.trials, key=lambda one: one.change)
    screen = found.searched["stages"].get("screen", 0)
    rows = [_row(found, one) for one in of[:MOST]]
    return declared(
        "tuning", "search", rows, n=str(min(MOST, len(of))), total=str(len(of)),
        reference=label(found.reference), level=found.study.level, screen=f"{screen} of these weeks",
    )  # fmt: skip


def _row(found: Found, one: Trial) -> Row:
    ends = "" if math.isnan(one.low) else f"{100 * one.low:+.0f} to {100 * one.high:+.0f} %".replace("-", "−")
    return [
        label(one.name),
        found.words(one.values),
        Cell(f"{100 * one.change:+.1f} %".replace("-", "−"), note=ends),
        f"× {number(one.longest_wait)}",
        f"× {number(one.group_wait)}",
        ", ".join(one.broken).replace("_", " "),
        "the end" if one.is_full else "stopped early",
    ]
