"""The input of the models at a point of a dataset, planned again from the dataset's recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.errors import AnalysisError
from analysis.study import Study
from analysis.study.study import text
from models.point import Point
from sweep import plugins
from sweep.errors import SweepError
from sweep.rerun import foreign, needs
from sweep.rerun.original import Original, understood
from sweep.store import recipe


def point_of(
    study: Study, place: Mapping[str, str], replication: int = 0, logs: Sequence[Path] = ()
) -> Point:
    """Return the input of the models at a point.

    Parameters
    ----------
    place : dict of str to str
        Axes of the grid and their values; by default the study's reading, and else the first of each axis.
    logs : sequence of Path
        Folders to search for log files; only the log of the point's workload is needed.

    Raises
    ------
    AnalysisError
        If the dataset holds no recipe, the grid no such point, or a log cannot be found.
    """
    path = study.folder / f"{study.name}.nc"
    try:
        with understood(path):
            original = Original(path, study.data, *recipe.read(study.data.attrs))
    except SweepError as error:
        raise AnalysisError(str(error)) from None
    config, files = original.config, original.config.files
    here = {str(axis): text(values.values.flat[0]) for axis, values in study.data.coords.items()} | dict(
        place
    )
    workloads = {
        name: {**file, "path": None} if "path" in file and name != here["workload"] else file
        for name, file in files["workload"].items()
    }
    packages = plugins.trusted()
    found, wrong = needs.logs(original, next(iter(logs), None), packages)
    try:
        with understood(path):
            config = replace(config, files={**files, "workload": workloads}, logs=found)
            expanded = foreign.planned(original, config, packages)
    except SweepError as error:
        raise AnalysisError(next(iter(wrong), str(error))) from None
    at = tuple(list(map(text, values)).index(here[axis]) for axis, values in expanded.axes.items())
    number = np.flatnonzero(expanded.points == np.ravel_multi_index(at, expanded.shape))
    if not number.size:
        raise AnalysisError(f"{path}: the grid has no such point because of its zip or exclude")
    point = expanded.task(int(number[0]) * expanded.replications + replication).point
    if wrong and point.workload.get("path") not in (None, *found.values()):
        raise AnalysisError(wrong[0])
    return point
