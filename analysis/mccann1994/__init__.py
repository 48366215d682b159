"""C. M. McCann, "Processor allocation policies for message-passing parallel computers", PhD thesis, 1994."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.axes import Axes
from analysis.mccann1994 import (
    birth_death_figures,
    drawings,
    efficiency_figures,
    fairness_figures,
    schedule_figures,
    simulation_figures,
)
from analysis.mccann1994.claims import claims
from analysis.mccann1994.drawings import DRAWINGS
from analysis.mccann1994.readings import readings
from analysis.papers import Paper, Picture
from analysis.study import Study

FIGURES: dict[str, Callable[[Study], Iterator[Picture]]] = {
    "efficiency_preservation": efficiency_figures.pictures,
    "most_loaded_ratio": fairness_figures.pictures,
    "response_time": simulation_figures.pictures,
    "blow_up": birth_death_figures.pictures,
    "reallocations": schedule_figures.pictures,
}
"""The figures of an experiment, by the first of these metrics that it has."""


def pictures(study: Study, folder: Path | None) -> Sequence[Picture]:
    """Return the figures in the dissertation's order; of each reading, if there are several."""
    metric = next((name for name in FIGURES if name in study.data), None)
    if metric is None:
        return []
    found = []
    for letter, one in study.readings.items():
        mine = list(FIGURES[metric](one))
        if len(study.readings) > 1:
            mine = [_of_reading(picture, letter, one.label) for picture in mine]
        found += mine
    if metric == "efficiency_preservation":
        found[2:2] = drawings.pictures()
    return found


def _of_reading(picture: Picture, letter: str, label: str) -> Picture:
    return replace(
        picture,
        name=f"{picture.name}-{letter}",
        title=f"{picture.title} ({letter})",
        caption=f"Reading {letter}: {label}. {picture.caption}",
    )


PAPER = Paper(
    key="mccann1994",
    citation="C. M. McCann, “Processor allocation policies for message-passing parallel computers”, "
    "PhD thesis, University of Washington, Technical Report 95-07-03, 1994",
    experiments=(
        "efficiency_preservation",
        "fairness",
        "birth_death",
        "partitioning",
        "partitioning_memory",
        "memory_schedules",
        "memory_examples",
    ),
    pictures=pictures,
    claims=claims,
    readings=readings,
    axes=Axes(
        features={
            "workload": "spmd",
            "jobs": "1",
            "delta": "0",
            "q": "null",
            "memory_limit": "null",
            "short_fraction": "0.5",
            "admission_overhead": "0.01",
            "job_class": "all",
            "processors": "16",
        }
    ),
    drawings=DRAWINGS,
)
