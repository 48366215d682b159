"""The figures across families."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from analysis.families.contestants import Field
from analysis.families.figures import costs, curves, inaccuracy, payers
from analysis.families.labels import KEY, MEASURES, SLOWDOWN
from analysis.figures.captions import captioned
from analysis.paper import Picture, of_each_reading
from analysis.study import Study
from analysis.study.axes import GROUPINGS

SHORT = {SLOWDOWN: "slowdown"}


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures; no further logs are needed for them."""
    return of_each_reading(study, _of_one)


def _of_one(study: Study) -> Iterator[Picture]:
    field = Field(study)
    if not field.all:
        return
    for metric, title in MEASURES.items():
        if metric not in study.data:
            continue
        named, name = f"{title[0].upper()}{title[1:]}", SHORT.get(metric, "response")
        each = {name: ("curves", curves.of_each_family(field), f"{named} over the load")}
        if field.levels:
            levels = f"{named} by multiprogramming level"
            each[f"levels-{name}"] = ("levels", curves.of_levels(field), levels)
        for one, (row, shown, text) in each.items():
            drawn = {one: partial(curves.draw, metric=metric, shown=shown, title=text)}
            yield from captioned(KEY, study, drawn, row, field, named=named)
        if field.costly:
            drawn = {f"best-{name}": partial(costs.draw_map, metric=metric)}
            yield from captioned(KEY, study, drawn, "best", field, title=title)
    known: dict[str, Any] = {"reference": field.reference.label, "usual": payers.USUAL}
    if field.costly:
        yield from captioned(KEY, study, {"break-even-cost": costs.draw_break_evens}, subject=field, **known)
    if any(other == field.reference for _, other in inaccuracy.pairs(field)):
        yield from captioned(KEY, study, {"inaccuracy": inaccuracy.draw}, subject=field, **known)
    for grouping in GROUPINGS:
        if SLOWDOWN + grouping.suffix in study.data:
            drawn = {f"who-pays-{grouping.dim.partition('_')[0]}": partial(payers.draw, grouping=grouping)}
            yield from captioned(KEY, study, drawn, "who-pays", field, groups=grouping.title, **known)
