"""D. G. Feitelson, "Packing schemes for gang scheduling", JSSPP 1996: its figures and its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.axes import Axes
from analysis.feitelson1996 import curves, fig9, logs, sensitivity, workload
from analysis.feitelson1996.claims import claims
from analysis.feitelson1996.drawings import DRAWINGS
from analysis.feitelson1996.readings import readings
from analysis.papers import Paper, Picture
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the paper's order, or a comparison of the readings if there are several."""
    if len(study.readings) > 1:
        return list(sensitivity.pictures(study))
    one = study.readings["A"]
    example = Picture(
        "fig9",
        "Fig. 9: Why load-based schemes fragment",
        "Jobs of sizes 5, 4, 6, 2, 3 arrive in this order on 8 PEs; then the one of size 4 ends. "
        "Produced by running the engine. Numbers are job sizes.",
        fig9.draw,
    )
    figures = [*logs.pictures(folder), *workload.pictures(one), *curves.pictures(one), example]
    return sorted(figures, key=_order)


def _order(picture: Picture) -> tuple[int, bool]:
    """Sort by the paper's figure numbers; what the paper has not comes last."""
    number = picture.name.removeprefix("fig").partition("-")[0]
    return (int(number) if number.isdigit() else 99, "-" in picture.name)


PAPER = Paper(
    key="feitelson1996",
    citation="D. G. Feitelson, “Packing schemes for gang scheduling”, in Job Scheduling Strategies for "
    "Parallel Processing, LNCS 1162, Springer, 1996, pp. 89–110",
    experiments=("packing", "packing_trace", "packing_readings"),
    pictures=pictures,
    claims=claims,
    readings=readings,
    axes=Axes(
        features={"alternation": "shared", "unification": "true"},
        split={"alternation": ("shared", "exclusive")},
    ),
    drawings=DRAWINGS,
)
