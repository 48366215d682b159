"""The map of where each claim holds: claims in rows, what the paper leaves open in columns."""

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


def pictures(study: Study) -> Iterator[Picture]:
    """Return the map, if the study has several readings and sentences to test."""
    return verdict_map.pictures(columns(study), claims, KEY)


def tables(study: Study) -> Iterator[Table]:
    """Return the same as a table of the report."""
    return verdict_map.tables(columns(study), claims, KEY)
