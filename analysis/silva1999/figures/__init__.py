"""The figures of the paper, figures of its further claims, and a map of the effect of its open choices."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.figures import verdict_map
from analysis.figures.captions import captioned
from analysis.figures.verdict_map import name_of
from analysis.paper import Picture, of_each_reading
from analysis.report.table import Table
from analysis.silva1999 import labels
from analysis.silva1999.claims import claims
from analysis.silva1999.figures import claimed, gains, horizons, pe_time
from analysis.study import Study
from sweep.policy_names import label


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures that a study's axes have; of many readings of one horizon, the map of verdicts."""
    if study.varies(labels.BESIDE):
        study = study.selected({labels.BESIDE: labels.DEFAULT}).under(study.axes)
    if len(study.readings) > 1 and not study.varies(labels.HORIZON):
        return [*verdict_map.pictures(columns(study), claims, labels.KEY), *gains.of_readings(study)]
    return [*of_each_reading(study, _of_one), *verdict_map.pictures(columns(study), claims, labels.KEY)]


def _of_one(study: Study) -> Iterator[Picture]:
    if study.values_of(labels.SCHEME):
        yield from captioned(labels.KEY, study, {"idling-ratio": claimed.draw_idling})
    elif study.varies(labels.PROCESSORS) and study.values_of(labels.CENTRAL_COST):
        yield from captioned(labels.KEY, study, claimed.OF_SCALE, policy=label(labels.PRIORITIES))
    elif labels.MIXED in labels.workloads(study):
        yield from captioned(labels.KEY, study, {"classes": claimed.draw_classes})
    else:
        if study.values_of(labels.HORIZON):
            yield from horizons.pictures(study)
        yield from gains.pictures(study)
        yield from pe_time.pictures(study)


def columns(study: Study) -> dict[str, Study]:
    """Return the readings by name, then other loads that only the first reading has: columns of the map."""
    found = {name_of(one): one for one in study.readings.values()}
    for load in study.values_of("load")[1:]:
        (one, *others) = study.selected({"load": load}).readings.values()
        if not others and len(found) > 1:
            found[f"load {load}"] = one
    return found


def tables(study: Study) -> Sequence[Table]:
    """Return the map as a table of the report; of pairs of assumptions, which give each sentence."""
    if study.varies(labels.BESIDE):
        axes = (labels.ASSUMPTION, labels.BESIDE)
        return [verdict_map.of_pairs(study, axes, labels.DEFAULT, claims, labels.KEY)]
    return verdict_map.tables(columns(study), claims, labels.KEY)
