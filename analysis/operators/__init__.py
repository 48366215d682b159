"""What operators ask of a log: which policy to run, and which jobs and users gain or lose by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.operators import figures, summary, tables
from analysis.operators.labels import LOSS, WAIT
from analysis.paper import Paper, Picture
from analysis.study import Study
from sweep.config.settings import WEEK

GROUPS = ("workload", "machine", "policy")


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the pictures; no further logs are needed for them."""
    return figures.pictures(study)


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return what was simulated: the log, the machine, and the rules of each policy."""
    found = [
        (f"{group} {name}", _told(values))
        for group in GROUPS
        for name, values in study.config.get(group, {}).items()
    ]
    size, most = study.settings.get("batch_size"), study.settings.get("batches")
    told = f"{most} of equal numbers of jobs in order of submission"
    if size == WEEK:
        told = (
            "weeks of submission (days of a log under ten weeks), several together where there would be more "
            f"than {most}"
        )
    elif size is not None:
        told += f", or of {size:,} if the log is longer"
    return [*found, ("batches", told)]


def _told(values: Mapping[str, Any]) -> str:
    """Return the keys of a file that are set to something."""
    parts = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            value = ", ".join(f"{inner} {number}" for inner, number in value.items() if number)
        if value not in (None, "", [], {}) and key != "name":
            parts.append(
                f"{key.replace('_', ' ')}: {str(value).lower() if isinstance(value, bool) else value}"
            )
    return "; ".join(parts) or "nothing set: as the log says"


PAPER = Paper(
    key="operators",
    citation="",
    experiments=("what_if", "replay"),
    needs=(WAIT, LOSS),
    pictures=pictures,
    claims=lambda study: (),
    readings=readings,
    tables=tables.tables,
    brief=tables.brief,
    summary=summary.summary,
    own_intervals=True,
    options=("reference",),
)
