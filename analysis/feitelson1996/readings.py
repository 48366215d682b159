"""Which reading of the paper an experiment took, with the values of the grid that were not taken."""

from pathlib import Path

from analysis.report.choices import choices, explained, varied
from analysis.report.readings import Readings, Row
from analysis.study import Study

FILE = Readings(Path(__file__).parent)


def readings(study: Study) -> list[Row]:
    """Return pairs of a choice that the paper leaves open and what this dataset took, with its meaning."""
    rows = varied(study, FILE.meanings)
    several = dict(rows)
    for axis, value in study.usual().items():
        if axis in several:
            continue
        others = [other for other in study.values_of(axis) if other != value]
        tail = f" (also in this dataset: {', '.join(others)})" if others else ""
        rows.append((axis, f"{explained(axis, value, FILE.meanings)}{tail}"))
    return rows + choices(study, FILE.content["choices"], FILE.meanings)
