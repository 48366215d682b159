"""The map of verdicts: claims in rows, a paper's open choices in columns; also as a table."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from analysis.claims import VERDICTS, Claim
from analysis.claims.counting import kind, verb
from analysis.figures import style
from analysis.figures.style import UNTESTED, VERDICT_COLORS, VERDICT_SIGNS
from analysis.paper import Picture
from analysis.report.table import Cell, Table
from analysis.study import Study

TONES = {
    "holds": "better",
    "direction holds": "open",
    "fails": "worse",
    "inconclusive": "open",
    UNTESTED: "open",
}
SUFFIXES = {"finding": "", "fact": " (fact)", "input": " (input)"}
"""Kind of claim -> suffix of its name."""

COLUMN, LETTER, ROW = 0.36, 0.24, 0.24
"""Width of a column, of one below a letter, and height of a row, inches."""

Verdicts = Mapping[str, Mapping[Any, str]]
"""Claim -> name of a column -> verdict."""

Claims = Callable[[Study], Sequence[Claim]]

CAPTION = (
    "Every claim (rows) under every assumption on the choices that the paper leaves open (columns). One "
    "assumption changes at a time; all others are as in the first column. A verdict is inconclusive if the "
    "intervals do not decide, and not tested if the points have not been run."
)


def name_of(one: Study) -> str:
    """Return a reading's name for headings: the value, if only one axis varies."""
    return next(iter(one.reading.values())) if len(one.reading) == 1 else one.label


def verdicts(columns: Mapping[Any, Study], claims: Claims, key: str) -> dict[str, dict[Any, str]]:
    """Return the verdict on every claim that some column has.

    Parameters
    ----------
    columns : dict of hashable to Study
        Name, or a set of names -> study under one reading.
    key : str
        Of the paper, the prefix of its claims' ids.
    """
    found: dict[str, dict[str, str]] = {}
    suffixes: dict[str, str] = {}  # what cannot be tested in one column may be a fact in another one
    for name, one in columns.items():
        for claim in claims(one):
            row = in_words(claim.id.removeprefix(f"{key}-"))
            suffixes[row] = suffixes.get(row) or SUFFIXES[kind(claim)]
            found.setdefault(row, {})[name] = claim.verdict if claim.is_tested else UNTESTED
    return {row + suffixes[row]: verdict_of for row, verdict_of in found.items()}


def in_words(name: str) -> str:
    """Return a claim's id without its paper as words, after the section.

    Examples
    --------
    >>> in_words("4.2-first-four-identical")
    '4.2: first four identical'
    """
    section, _, rest = name.partition("-")
    return f"{section}: {rest.replace('-', ' ')}" if rest else name


def pictures(columns: Mapping[str, Study], claims: Claims, key: str) -> list[Picture]:
    """Return the map of several columns, if any claim can be tested; arguments as in `verdicts`."""
    found = verdicts(columns, claims, key) if len(columns) > 1 else {}
    draws = partial(draw, found, list(columns))
    return [Picture("map", "Where each claim holds", CAPTION, draws)] if found else []


def tables(columns: Mapping[str, Study], claims: Claims, key: str) -> list[Table]:
    """Return the same as a table of the report."""
    found = verdicts(columns, claims, key) if len(columns) > 1 else {}
    return [table(found, list(columns))] if found else []


def draw(found: Verdicts, names: Sequence[str], key: Sequence[str] = ()) -> Figure:
    """Draw a sign for each verdict; `key` says what names that are letters stand for."""
    column_width = LETTER if key else COLUMN
    figure = Figure(
        figsize=(max(5.4, 2.6 + column_width * len(names)), ROW * len(found) + (1.0 if key else 2.0)),
        layout="constrained",
    )
    axes = figure.subplots()
    for row, verdict_of in enumerate(found.values()):
        for column, name in enumerate(names):
            if name not in verdict_of:
                continue
            verdict = verdict_of[name]
            color = VERDICT_COLORS[verdict]
            axes.plot(column, row, "s", ms=12, color=color, mec="none")
            axes.text(
                column, row, VERDICT_SIGNS[verdict], ha="center", va="center_baseline", fontsize=8,
                fontweight="bold", color=style.text_on(color),
            )  # fmt: skip
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_yticks(range(len(found)), list(found), fontsize=8)
    if key:
        axes.set_xticks(range(len(names)), names, fontsize=8)
    else:
        shown = [textwrap.fill(name, 24) for name in names]
        axes.set_xticks(
            range(len(names)), shown, fontsize=7.5, rotation=60, ha="left", rotation_mode="anchor"
        )
    axes.xaxis.tick_top()
    style.bare(axes)
    seen = {verdict for verdict_of in found.values() for verdict in verdict_of.values()}
    signs = ", ".join(f"{sign} {verdict}" for verdict, sign in VERDICT_SIGNS.items() if verdict in seen)
    width = int(13 * figure.get_figwidth())
    figure.supxlabel(
        "\n".join([signs, *textwrap.wrap("; ".join(key), width)]),
        fontsize=8,
        color="#444444",
        x=0.01,
        ha="left",
    )
    return figure


def table(found: Verdicts, names: Sequence[str]) -> Table:
    """Return the same as a table of the report, with the counts of each column."""
    rows = []
    for name, verdict_of in found.items():
        cells = [verdict_of.get(column) for column in names]
        rows.append([Cell(name), *(Cell(one, TONES[one]) if one else Cell("–") for one in cells)])
    counts, others = [], tuple(filter(None, SUFFIXES.values()))
    for column in names:
        there = [of.get(column) for row, of in found.items() if not row.endswith(others)]
        counts.append(Cell(" · ".join(str(there.count(verdict)) for verdict in TONES)))
    named = [*(verb(verdict, 2) for verdict in VERDICTS), "were not tested"]
    rows.append([Cell(f"findings that {', '.join(named)}"), *counts])
    return Table(
        "map",
        "Where each claim holds",
        "Every claim under every assumption on the choices that the paper leaves open. One assumption "
        "changes at a time; all others are as in the first column.",
        ("claim", *names),
        rows,
    )


def of_pairs(study: Study, axes: tuple[str, str], default: str, claims: Claims, key: str) -> Table:
    """Return which value of either axis gives each sentence, and which pairs give it where no value does."""
    columns = {
        frozenset(one.reading[axis] for axis in axes) - {default}: one for one in study.readings.values()
    }
    rows = []
    for sentence, verdict_of in verdicts(columns, claims, key).items():
        holds = [given for given in columns if verdict_of.get(given) == "holds"]
        least = [given for given in holds if not any(other < given for other in holds)]
        alone, both = (
            "; ".join(sorted(" with ".join(sorted(given)) for given in least if len(given) == n))
            for n in (1, 2)
        )
        verdict = verdict_of[frozenset()]
        rows.append([Cell(sentence), Cell(verdict, TONES[verdict]), Cell(alone or "–"), Cell(both or "–")])
    return Table(
        "pairs",
        "Which assumptions give each sentence",
        "Assumptions under which a sentence holds that does not hold by default, and pairs of them that give "
        "it where neither does alone.",
        ("claim", default, "one", "two"),
        rows,
    )
