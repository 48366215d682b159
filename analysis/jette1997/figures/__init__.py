"""Fig. 1, what the text says in numbers, the map of the trade-off, and the comparison with other families."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.compare import figures as of_any_study
from analysis.figures import verdict_map
from analysis.jette1997 import labels
from analysis.jette1997.claims import claims
from analysis.jette1997.figures import compare, lost, months, responsiveness, slowdowns, tradeoff
from analysis.paper import Picture
from analysis.report.table import Table
from analysis.study import Study

OVER_LOADS = ("slowdown", "utilization", "packing_loss", "switching_share", "limits_loss")
"""Metrics of the TC2000 and the Alpha cluster that are drawn."""


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures that a study's axes have; of many readings, the map of verdicts."""
    if len(study.readings) > 1:
        return list(verdict_map.pictures(_columns(study), claims, labels.KEY))
    return list(_of_one(study.readings["A"]))


def tables(study: Study) -> Sequence[Table]:
    """Return the map as a table of the report."""
    return tuple(verdict_map.tables(_columns(study), claims, labels.KEY))


def _columns(study: Study) -> dict[str, Study]:
    return {verdict_map.name_of(one): one for one in study.readings.values()}


def _of_one(study: Study) -> Iterator[Picture]:
    if {labels.TC2000, labels.ALPHA} & set(study.policies):
        yield from (picture for picture in of_any_study.pictures(study) if picture.name in OVER_LOADS)
    elif set(study.policies) - set(labels.SCHEDULERS):
        yield from compare.pictures(study)
    elif study.varies(labels.MULTIPLIER):
        yield from tradeoff.pictures(study)
    elif labels.CLASS_RUNTIME in study.data and labels.GANG in study.policies:
        if labels.long_one(study) in labels.workloads(study):
            yield from months.pictures(study)
        yield from responsiveness.pictures(study)
        yield from slowdowns.pictures(study)
        yield from lost.pictures(study)
