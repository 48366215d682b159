"""The report: one HTML file with every figure, every claim and all that a reader must know to trust them."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis import style
from analysis.claims import VERDICTS, Claim, count
from analysis.curve import DONE, FAILED, SATURATED, UNFINISHED
from analysis.errors import AnalysisError, DrawingError
from analysis.papers import Paper, Picture
from analysis.study import Study
from models.point import Point
from sweep import statistics
from sweep.errors import SweepError
from sweep.plan import families


@dataclass(frozen=True)
class DrawnPicture:
    """A picture and its file, or why there is none."""

    picture: Picture
    svg: Path | None
    skipped: str = ""

    @property
    def source(self) -> Markup:
        """The picture as a data URI, so that the report needs no other file.

        As an image and not as inline SVG: element ids of different figures cannot clash.
        """
        if self.svg is None:
            return Markup()
        return Markup("data:image/svg+xml;base64," + base64.b64encode(self.svg.read_bytes()).decode("ascii"))


def draw_picture(picture: Picture, folder: Path) -> DrawnPicture:
    """Draw a picture and save it in all formats."""
    with style.styled():
        try:
            figure = picture.draw()
        except DrawingError as reason:
            return DrawnPicture(picture, None, str(reason))
        files = style.save(figure, folder, picture.name)
    return DrawnPicture(picture, next(file for file in files if file.suffix == ".svg"))


def draw_pictures(pictures: Sequence[Picture], folder: Path) -> Iterator[DrawnPicture]:
    """Draw pictures side by side, one process a core, and yield them in their order.

    A forked process has the study at hand already; where processes cannot be forked safely, one draws all.
    """
    workers = min(len(os.sched_getaffinity(0)), len(pictures)) if sys.platform == "linux" else 1
    if workers < 2:
        yield from (draw_picture(picture, folder) for picture in pictures)
        return
    _AT_HAND[:] = pictures
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        files = pool.map(_draw_at_hand, range(len(pictures)), [folder] * len(pictures))
        for picture, (svg, skipped) in zip(pictures, files, strict=True):
            yield DrawnPicture(picture, svg, skipped)


_AT_HAND: list[Picture] = []
"""What a forked process is to draw, by number: pictures hold functions, which cannot be sent."""


def _draw_at_hand(number: int, folder: Path) -> tuple[Path | None, str]:
    done = draw_picture(_AT_HAND[number], folder)
    return done.svg, done.skipped


def render(
    study: Study, paper: Paper, drawn: Sequence[DrawnPicture], tested: Mapping[str, Sequence[Claim]]
) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    study : Study
    paper : Paper
    drawn : sequence of DrawnPicture
    tested : dict of str to sequence of Claim
        The claims under each reading by its letter, in the same order for all; none where there is no paper.
    """
    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        study=study,
        paper=paper,
        drawn=drawn,
        tested=tested,
        claims=next(iter(tested.values())),
        verdicts=count([claim for claims in tested.values() for claim in claims]),
        verdict_names=VERDICTS,
        colors=style.VERDICT_COLORS,
        readings=paper.readings(study),
        tables=paper.tables(study),
        labels={letter: one.label for letter, one in study.readings.items()},
        warnings=warnings(study, paper),
        attributes=attributes(study),
    )


def attributes(study: Study) -> list[tuple[str, str]]:
    """Return what the dataset says of its own making, without the long config."""
    kept = [(key.replace("_", " "), str(value)) for key, value in study.data.attrs.items() if key != "config"]
    asked = ("replications", "batches", "batch_size", "warmup", "seed", "confidence")
    kept += [(key.replace("_", " "), str(study.settings[key])) for key in asked if key in study.settings]
    return kept


def warnings(study: Study, paper: Paper | None = None) -> list[str]:
    """Return what limits the results: points that are saturated, missing, failed, or without an interval."""
    has_claims = paper is None or bool(paper.citation)
    tally = study.tally()
    found = []
    if n := tally.get(SATURATED):
        found.append(
            f"{n} point(s) are saturated: their queue grew through the measured batches. They are in no mean."
        )
    if n := tally.get(UNFINISHED):
        found.append(
            f"{n} point(s) are not finished: run the same sweep command again."
            + " Claims that need them are open." * has_claims
        )
    if n := tally.get(FAILED):
        found.append(f"{n} point(s) have a failed replication: the sweep's log holds the tracebacks.")
    if paper is None or not paper.own_intervals:
        for reading in study.readings.values():
            found += _withheld(reading)
    return found


NAMED = 3
"""Points without an interval that a warning names."""


def _withheld(study: Study) -> list[str]:
    """Tell where intervals of the headline metric are withheld, and what the statistics advise."""
    metric = study.headline
    if metric is None:
        return []
    values = study.data[metric].transpose(..., "replication", "batch")
    half = values[..., 0, 0].copy(data=statistics.intervals(values.values, study.confidence).half_width)
    without = half.isnull() & (study.status == DONE) & values.notnull().any(("replication", "batch"))
    size = int(study.settings.get("batch_size", 1))
    where = f" ({study.label})" if study.reading else ""
    lines = []
    for number, policy in enumerate(study.policies):
        points = np.argwhere(without.isel(policy=number).values)
        if not len(points):
            continue
        axes = [str(dim) for dim in without.dims if dim != "policy"]
        at = [dict(zip(axes, point, strict=True)) for point in points.tolist()]
        named = "; ".join(
            " ".join(f"{axis}={study.values_of(axis)[i]}" for axis, i in point.items() if study.varies(axis))
            for point in at[-NAMED:]
        )
        interval = statistics.interval(values.isel(at[-1] | {"policy": number}).values, study.confidence)
        advice = statistics.advice(interval, size, replicable=_replicable(study, policy))
        name = metric.replace("_", " ").capitalize()
        more = "the last " if len(at) > NAMED else ""
        lines.append(
            f"{name} of {policy}{where}: no interval at {len(at)} point(s), {more}{named or 'all'}; at the "
            f"last: {advice}."
        )
    return lines


def _replicable(study: Study, policy: str) -> bool:
    """Tell whether replications differ: advice to run more of a log would only be refused."""
    try:
        parameters = study.parameters("policy", policy)
        family = families.find(parameters["family"])
        return family.has_chance(Point(parameters, study.parameters("workload"), study.parameters("machine")))
    except (AnalysisError, SweepError, KeyError, ValueError):  # a dataset of other software, or of older
        return True
