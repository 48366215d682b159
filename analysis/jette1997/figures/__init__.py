"""Fig. 1, what the text says in numbers, the map of the trade-off, and the comparison with other families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.jette1997.figures import compare, lost, months, responsiveness, slowdowns, tradeoff
from analysis.jette1997.labels import CLASS_RUNTIME, GANG, MULTIPLIER, SCHEDULERS
from analysis.paper import Picture, of_each_reading
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures that a study's axes have."""
    return of_each_reading(study, _of_one)


def _of_one(study: Study) -> Iterator[Picture]:
    if set(study.policies) - set(SCHEDULERS):
        yield from compare.pictures(study)
    elif study.varies(MULTIPLIER):
        yield from tradeoff.pictures(study)
    elif CLASS_RUNTIME in study.data and GANG in study.policies:
        yield from months.pictures(study)
        yield from responsiveness.pictures(study)
        yield from slowdowns.pictures(study)
        yield from lost.pictures(study)
