"""The figures across families."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from analysis.families.contestants import Field
from analysis.families.figures import best_map, break_evens, curves, inaccuracy, payers
from analysis.families.labels import MEASURES, SLOWDOWN
from analysis.figures.load_plot import bars
from analysis.paper import Picture, of_each_reading
from analysis.study import Study
from analysis.study.groups import GROUPINGS

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
        yield Picture(
            name,
            f"{named} over the load",
            "One policy of each family, on the same jobs. The number after a gang scheduler is its "
            "multiprogramming level, ∞ any number of slots; its switches are free unless its name has "
            "their share of a slice. Lines end where a policy is saturated, as the strip shows. "
            f"{bars(study)}",
            partial(curves.draw, field, metric, curves.of_each_family(field), f"{named} over the load"),
        )
        if field.levels:
            yield Picture(
                f"levels-{name}",
                f"{named} by multiprogramming level",
                "Gang scheduling in so many slots at most, with jobs beyond them in a queue that is "
                "backfilled, or FCFS (dashed), between EASY, which has one slot, and any number of slots "
                f"(∞). {bars(study)}",
                partial(
                    curves.draw, field, metric, curves.of_levels(field), f"{named} by multiprogramming level"
                ),
            )
        if field.costly:
            yield Picture(
                f"best-{name}",
                f"Which policy has the lowest {title}",
                "At each load and each cost of a switch the policy whose mean is lowest, with the "
                "probability in percent that it is the lowest, from replications drawn with replacement. "
                "Hatched: the paired difference to the best of the other family is not significant; "
                f"dotted: only that within its own family is not ({study.level} each). "
                "Policies that leave jobs rigid.",
                partial(best_map.draw, field, metric),
            )
    if field.costly:
        yield Picture(
            "break-even-cost",
            "Break-even cost of a switch",
            f"Below its line a gang scheduler beats {field.reference.label}. Bars: {study.level} "
            "intervals: all costs without a significant paired difference. Hollow markers in the "
            "upper grey strip: better at every cost of the grid; in the lower: not even when switches are "
            "free. A thick bar: better until it saturates, somewhere in the bar.",
            partial(break_evens.draw, field),
        )
    if any(other == field.reference for _, other in inaccuracy.pairs(field)):
        yield Picture(
            "inaccuracy",
            "Inaccuracy of requests from which gang scheduling is better",
            f"Means over those under {field.reference.label} with exact requests, with requests uniformly "
            "distributed between the runtime and 1 + f times the runtime, or with users' requests; paired. "
            "Below 1 gang scheduling is better. With any number of slots (∞) it uses no requests; with a "
            f"backfilled queue it has the same ones. At the highest load up to {payers.USUAL:g} at which all "
            f"of these keep up. {bars(study)}",
            partial(inaccuracy.draw, field),
        )
    for grouping in GROUPINGS:
        if SLOWDOWN + grouping.suffix in study.data:
            yield Picture(
                f"who-pays-{grouping.dim.partition('_')[0]}",
                f"Groups of jobs that gain and lose, by {grouping.title}",
                f"Mean bounded slowdown of a group over that under {field.reference.label}, paired by the "
                "same jobs, with free switches; above 1 it loses. At the highest load up to "
                f"{payers.USUAL:g} at which all of these keep up. {bars(study)}",
                partial(payers.draw, field, grouping),
            )
