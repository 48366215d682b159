"""The figures of the paper, and the effect of its readings."""

from collections.abc import Sequence
from pathlib import Path

from analysis.feitelson1996 import drawings, logs
from analysis.feitelson1996.figures import curves, workload
from analysis.feitelson1996.labels import AXES, KEY
from analysis.figures.captions import captioned
from analysis.paper import Picture
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the paper's order under the default reading, and a comparison of the readings.

    A grid that varies more than the alternation serves only the comparison.
    """
    one = study.readings["A"]
    several = list(curves.of_readings(study))
    if not set(one.reading) <= set(AXES.split):
        return several
    example = captioned(KEY, None, {"fig9": drawings.draw_fig9})
    figures = [*logs.pictures(folder), *workload.pictures(one), *curves.pictures(one), *example]
    return sorted(figures, key=_order) + several


def _order(picture: Picture) -> tuple[int, bool]:
    """Sort by the paper's figure numbers; figures that the paper lacks come last."""
    number = picture.name.removeprefix("fig").partition("-")[0]
    return (int(number) if number.isdigit() else 99, "-" in picture.name)
