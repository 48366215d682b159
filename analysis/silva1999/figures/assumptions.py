"""The map of where each claim holds: claims in rows, what the paper leaves open in columns."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.figures import verdict_map
from analysis.figures.verdict_map import name_of
from analysis.paper import Picture
from analysis.report.table import Table
from analysis.silva1999.claims import claims
from analysis.silva1999.labels import KEY
from analysis.study import Study


def columns(study: Study) -> dict[str, Study]:
    """Return what the columns are: the readings by name, then other loads that only the first reading has."""
    found = {name_of(one): one for one in study.readings.values()}
    for load in study.values_of("load")[1:]:
        (one, *others) = study.selected({"load": load}).readings.values()
        if not others and len(found) > 1:
            found[f"load {load}"] = one
    return found


def verdicts(study: Study) -> dict[str, dict[str, str]]:
    """Return claim -> name of a column -> verdict, for every claim that some column has."""
    return verdict_map.verdicts(columns(study), claims, KEY)


def pictures(study: Study) -> Iterator[Picture]:
    """Yield the map, if the study has several readings and sentences to test."""
    if len(study.readings) > 1 and (found := verdicts(study)):
        names = list(columns(study))
        yield Picture(
            "map",
            "Where each claim holds",
            verdict_map.CAPTION,
            lambda: verdict_map.draw(found, names),
        )


def tables(study: Study) -> Iterator[Table]:
    """Yield the same as a table of the report."""
    if len(study.readings) > 1 and (found := verdicts(study)):
        yield verdict_map.table(found, list(columns(study)))
