"""Fig. 1, the text's numbers, the map of the trade-off, and the comparison with other families."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from analysis.compare import figures as of_any_study
from analysis.figures import verdict_map
from analysis.figures.captions import captioned
from analysis.jette1997 import labels
from analysis.jette1997.claims import claims
from analysis.jette1997.figures import groups, months, responsiveness, tradeoff
from analysis.paper import Picture
from analysis.report.table import Table
from analysis.study import Study

OVER_LOADS = ("slowdown", "utilization", "packing_loss", "switching_share", "limits_loss")
"""Metrics of the TC2000 and the Alpha cluster that are drawn."""


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures that a study's axes have; of many readings, the map of verdicts."""
    if len(study.readings) > 1:
        return verdict_map.pictures(_columns(study), claims, labels.KEY)
    return list(_of_one(study.readings["A"]))


def tables(study: Study) -> Sequence[Table]:
    """Return the map as a table of the report."""
    return verdict_map.tables(_columns(study), claims, labels.KEY)


def _columns(study: Study) -> dict[str, Study]:
    return {verdict_map.name_of(one): one for one in study.readings.values()}


def _of_one(study: Study) -> Iterator[Picture]:
    if {labels.TC2000, labels.ALPHA} & set(study.policies):
        of_one = labels.ALPHA in study.policies and "slowdown_by_size" in study.data
        if of_one:
            yield from captioned(labels.KEY, study, {"slowdown": groups.draw_of_one_processor})
        names = OVER_LOADS[of_one:]
        yield from (picture for picture in of_any_study.pictures(study) if picture.name in names)
        return
    drawn: dict[str, Callable[[Study], Figure]] = {}
    if set(study.policies) - set(labels.SCHEDULERS):
        drawn = {"compare": groups.draw_families}
    elif study.varies(labels.MULTIPLIER):
        drawn = {"tradeoff": tradeoff.draw_map, "tradeoff-curves": tradeoff.draw_curves}
    elif labels.CLASS_RUNTIME in study.data and labels.GANG in study.policies:
        if labels.long_one(study) in labels.workloads(study):
            drawn = {"fig1": months.draw_months, "weeks": months.draw_weeks, "week-by-week": months.scatter}
        drawn["responsiveness"] = responsiveness.draw
        drawn |= {f"by-{dim}": partial(groups.draw, dim=dim) for dim in (labels.HOUR, labels.LENGTH)}
        if groups.WAIT_BY_SIZE in study.data:
            drawn["by-size"] = groups.draw_sizes
        drawn["lost"] = responsiveness.draw_lost
    period = labels.workload_title(labels.reported(study))
    yield from captioned(labels.KEY, study, drawn, period=period)
