"""Values that a log recorded, from its dataset: the waits of its jobs.

The values are batches of the same jobs as in the metrics with the same names, by the same definitions; they
belong to the log's own load.
"""

import math
from collections.abc import Mapping

import numpy as np

from analysis.study.study import Study
from models.jobs.recorded import PREFIX
from sweep import statistics
from sweep.statistics.confidence import Floats, Interval

NOTHING = Interval(math.nan, math.nan, math.nan, 0, "batch means", True)


def values(study: Study, metric: str, at: Mapping[str, str] | None = None) -> Floats | None:
    """Return the batches of a metric as recorded, shape (1, n_batches); None if the log does not record it.

    Parameters
    ----------
    metric : str
        Of all jobs or of groups of them, e.g. ``wait_by_size``.
    at : mapping of str to str, optional
        Values on axes that the study still has, and the group.
    """
    found = study.data.get(f"{PREFIX}{metric}")
    if found is None:
        return None
    wanted = {axis: value for axis, value in (at or {}).items() if axis in found.dims}
    if any(value not in study.values_of(axis) for axis, value in wanted.items()):
        return None
    found = found.isel({axis: study.values_of(axis).index(value) for axis, value in wanted.items()})
    found = found.isel({axis: 0 for axis in found.dims if axis != "batch" and found.sizes[axis] == 1})
    if found.dims != ("batch",) or found.isnull().all():
        return None
    return found.values[np.newaxis].astype(np.float64)


def mean(study: Study, metric: str, at: Mapping[str, str] | None = None) -> Interval:
    """Return the mean of a metric as recorded, over jobs or over time as for a policy; NaN without one.

    For a maximum, the maximum over all batches, without an interval.
    """
    sample = values(study, metric, at)
    if sample is None:
        return NOTHING
    if "_max" in metric:
        return Interval(float(np.nanmax(sample)), math.nan, math.nan, 0, "batch means", True)
    weight = study.data[f"{PREFIX}{metric}"].attrs.get("weight", "")
    weights = values(study, weight.removeprefix(PREFIX), at) if weight else None
    return statistics.interval(sample, study.confidence, weight=weights)
