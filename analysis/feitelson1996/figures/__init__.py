"""The figures of the paper, and what its readings change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.feitelson1996.drawings import fig9
from analysis.feitelson1996.figures import curves, logs, sensitivity, workload
from analysis.paper import Picture
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
