"""Fig. 1, what the text says in numbers, the map of the trade-off, and the comparison with other families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.figures import verdict_map
from analysis.jette1997.claims import claims
from analysis.jette1997.figures import compare, lost, months, responsiveness, slowdowns, tradeoff
from analysis.jette1997.labels import CLASS_RUNTIME, GANG, KEY, MULTIPLIER, SCHEDULERS, long_one, workloads
from analysis.paper import Picture
from analysis.report.table import Table
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures that a study's axes have; of many readings, the map of verdicts."""
    if len(study.readings) > 1:
        found, names = _verdicts(study), [verdict_map.name_of(one) for one in study.readings.values()]
        caption = verdict_map.CAPTION
        return [Picture("map", "Where each claim holds", caption, lambda: verdict_map.draw(found, names))]
    return list(_of_one(study.readings["A"]))


def tables(study: Study) -> Iterator[Table]:
    """Yield the map as a table of the report."""
    if len(study.readings) > 1:
        yield verdict_map.table(
            _verdicts(study), [verdict_map.name_of(one) for one in study.readings.values()]
        )


def _verdicts(study: Study) -> dict[str, dict[str, str]]:
    columns = {verdict_map.name_of(one): one for one in study.readings.values()}
    return verdict_map.verdicts(columns, claims, KEY)


def _of_one(study: Study) -> Iterator[Picture]:
    if set(study.policies) - set(SCHEDULERS):
        yield from compare.pictures(study)
    elif study.varies(MULTIPLIER):
        yield from tradeoff.pictures(study)
    elif CLASS_RUNTIME in study.data and GANG in study.policies:
        if long_one(study) in workloads(study):
            yield from months.pictures(study)
        yield from responsiveness.pictures(study)
        yield from slowdowns.pictures(study)
        yield from lost.pictures(study)
