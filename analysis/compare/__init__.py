"""Policies of any families on the same jobs: what they have in common, over the load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.compare import figures
from analysis.paper import Paper, Picture
from analysis.study import Study


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the pictures; no logs are needed for them."""
    return list(figures.pictures(study))


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return the family of each policy, and the jobs and the machine that all of them have."""
    config = study.config
    found = [
        (f"policy {name}", f"family {values.get('family', '')}")
        for name, values in config.get("policy", {}).items()
    ]
    for group in ("workload", "machine"):
        found += [(group, name) for name in config.get(group, {})]
    return found


PAPER = Paper(
    key="compare",
    citation="",
    experiments=("compare",),
    pictures=pictures,
    claims=lambda study: (),
    readings=readings,
)
