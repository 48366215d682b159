"""The input of the models at a point of a dataset, planned once more from the dataset's recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.errors import AnalysisError
from analysis.study import Study
from models.point import Point
from sweep.errors import SweepError
from sweep.rerun import foreign, needs
from sweep.rerun.original import Original, understood
from sweep.store import recipe


def point_of(study: Study, place: Mapping[str, str], replication: int, logs: Sequence[Path] = ()) -> Point:
    """Return the input of the models at a point.

    Parameters
    ----------
    place : dict of str to str
        Axes of the grid and their values.
    logs : sequence of Path
        Folders to look for log files in; only the log of the point's workload is needed.

    Raises
    ------
    AnalysisError
        If the dataset holds no recipe, or a log cannot be found.
    """
    path = study.folder / f"{study.name}.nc"
    try:
        with understood(path):
            original = Original(path, study.data, *recipe.read(study.data.attrs))
    except SweepError as error:
        raise AnalysisError(str(error)) from None
    config, files = original.config, original.config.files
    workloads = {
        name: {**file, "path": None} if "path" in file and name != place["workload"] else file
        for name, file in files["workload"].items()
    }
    found, wrong = needs.logs(original, next(iter(logs), None))
    at = tuple(study.values_of(axis).index(place[axis]) for axis in map(str, study.status.dims))
    try:
        with understood(path):
            config = replace(config, files={**files, "workload": workloads}, logs=found)
            expanded = foreign.planned(original, config)
    except SweepError as error:
        raise AnalysisError(next(iter(wrong), str(error))) from None
    position = np.ravel_multi_index(at, expanded.shape)
    number = int(np.flatnonzero(expanded.points == position)[0])
    point = expanded.task(number * expanded.replications + replication).point
    if wrong and point.workload.get("path") not in (None, *found.values()):
        raise AnalysisError(wrong[0])
    return point
