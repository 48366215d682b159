"""Comparison of policies on an operator's log: the best policy, and the jobs and users that gain or lose."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.operators import figures, tables, verdict
from analysis.operators.labels import LOSS, WAIT
from analysis.paper import Paper
from analysis.study import Study
from sweep.config.settings import WEEK

GROUPS = ("workload", "machine", "policy")


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return the log, the machine and the parameters of each policy."""
    found = [
        (f"{group} {name}", _parameters(values))
        for group in GROUPS
        for name, values in study.config.get(group, {}).items()
    ]
    size, most = study.settings.get("batch_size"), study.settings.get("batches")
    text = f"{most} of equal numbers of jobs in order of submission"
    if size == WEEK:
        text = (
            "weeks of submission (days of a log under ten weeks), several together where there would be more "
            f"than {most}"
        )
    elif size is not None:
        text += f", or of {size:,} if the log is longer"
    return [*found, ("batches", text)]


def _parameters(values: Mapping[str, Any]) -> str:
    """Return the keys of a file that have a value."""
    parts = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            value = ", ".join(f"{inner} {number}" for inner, number in value.items() if number)
        if value not in (None, "", [], {}) and key != "name":
            parts.append(
                f"{key.replace('_', ' ')}: {str(value).lower() if isinstance(value, bool) else value}"
            )
    return "; ".join(parts) or "all from the log"


PAPER = Paper(
    key="operators",
    citation="",
    experiments=("what_if", "slurm_what_if", "replay"),
    needs=(WAIT, LOSS),
    pictures=lambda study, folder: figures.pictures(study),
    claims=lambda study: (),
    readings=readings,
    tables=tables.tables,
    brief=tables.brief,
    lead=verdict.lead,
    summary=verdict.summary,
    own_intervals=True,
    options=("reference",),
)
