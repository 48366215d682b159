"""S.-H. Chiang, M. K. Vernon, "Production job scheduling for parallel shared memory systems", IPDPS 2001."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.axes import Axes
from analysis.chiang2001 import (
    backfill_figures,
    equipartition_figures,
    immediate_figures,
    workload_figures,
    workload_table,
)
from analysis.chiang2001.claims import claims, workload
from analysis.chiang2001.readings import readings
from analysis.papers import Paper, Picture
from analysis.schedule_drawings import DRAWINGS
from analysis.study import Study

FIGURES: dict[str, Callable[[Study], Iterator[Picture]]] = {
    "ncsa_lsf": backfill_figures.pictures,
    "lxf_w_soon": immediate_figures.pictures,
    "eq_spatial_5m": equipartition_figures.pictures,
}
"""The figures of a grid by a policy that they cannot do without."""


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the paper's order; of each reading, if there are several."""
    if len(study.readings) == 1:
        return _of_one(study.readings["A"])
    return [
        _of_reading(picture, letter, one.label)
        for letter, one in study.readings.items()
        for picture in _of_one(one)
    ]


def _of_one(study: Study) -> list[Picture]:
    if workload.METRIC in study.data:
        return list(workload_figures.pictures(study))
    return [
        picture
        for policy, figures in FIGURES.items()
        if policy in study.policies
        for picture in figures(study)
    ]


def _of_reading(picture: Picture, letter: str, label: str) -> Picture:
    return replace(
        picture,
        name=f"{picture.name}-{letter}",
        title=f"{picture.title} ({letter})",
        caption=f"Reading {letter}: {label}. {picture.caption}",
    )


def brief(study: Study) -> Sequence[str]:
    """Return Table 4 beside the generated demands, where the experiment is on the workload."""
    return workload_table.lines(study.readings["A"]) if workload.METRIC in study.data else ()


PAPER = Paper(
    key="chiang2001",
    citation="S.-H. Chiang and M. K. Vernon, “Production job scheduling for parallel shared memory systems”, "
    "in Proc. 15th International Parallel and Distributed Processing Symposium (IPDPS), 2001",
    experiments=("o2k_backfill", "o2k_immediate", "o2k_equipartition", "o2k_workload"),
    pictures=pictures,
    claims=claims,
    readings=readings,
    axes=Axes(
        features={
            "workload": "o2k_1999_10",
            "runtime_range": "all",
            "job_class": "all",
            "size_range": "all",
            "user_rank": "all",
        }
    ),
    drawings=DRAWINGS,
    brief=brief,
)
