"""Limitations of the results in words: points without a mean, and points without an interval."""

import numpy as np

from analysis.errors import AnalysisError
from analysis.paper import Paper
from analysis.study import Study
from analysis.study.curve import DONE, FAILED, SATURATED, UNFINISHED
from models import dotted
from models.counting import counted
from models.point import Point
from sweep import plugins, statistics
from sweep.errors import SweepError
from sweep.plan import families
from sweep.policy_names import label


def warnings(study: Study, paper: Paper | None = None) -> list[str]:
    """Return the limitations of the results: points saturated, missing, failed, or without an interval."""
    has_claims = paper is None or bool(paper.citation)
    tally = study.tally()
    found = []
    if n := tally.get(SATURATED):
        found.append(
            f"{counted(n, 'point', 'is')} saturated: the offered load exceeds the capacity measured in "
            "overload runs, so there is no mean."
        )
    short = study.bias.values
    if (n := int(np.isfinite(short).sum())) and np.nanmin(short) <= -statistics.LEAST_BIAS:
        found.append(
            f"{counted(n, 'point', 'is')} too short: longer runs would have a higher mean, by at most "
            f"{100 * (-np.nanmin(short)):.0f} % (drawn hollow)."
        )
    if n := tally.get(UNFINISHED):
        found.append(
            f"{counted(n, 'point', 'is')} not finished: run the same sweep command again."
            + f" Claims that need {'it' if n == 1 else 'them'} are inconclusive." * has_claims
        )
    if n := tally.get(FAILED):
        found.append(
            f"{counted(n, 'point', 'has')} a failed replication: the sweep's log has the tracebacks."
        )
    if paper is None or not paper.own_intervals:
        for reading in study.readings.values():
            found += _withheld(reading)
    return found


NAMED = 3
"""Points without an interval that a warning names, and the policies that share it."""

AT_THE_LAST = "; at the last: "
"""Separator between the points without an interval and the advice."""


def _withheld(study: Study) -> list[str]:
    """Return the points where intervals of the headline metric are withheld, with advice."""
    metric = study.headline
    if metric is None:
        return []
    values = study.data[metric].transpose(..., "replication", "batch")
    sample, weights = values.values, study.weights(metric)
    if weights is not None:
        sample = statistics.weighed(sample, weights.transpose(*values.dims).values)
    values = values.copy(data=sample)
    half = values[..., 0, 0].copy(data=statistics.intervals(values.values, study.confidence).half_width)
    without = half.isnull() & (study.status == DONE) & values.notnull().any(("replication", "batch"))
    without &= ~study.exact
    size = study.settings.get("batch_size", 1)
    where = f" ({study.label})" if study.reading else ""
    alike: dict[tuple[str, str], list[str]] = {}
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
        last = values.isel(at[-1] | {"policy": number}).values
        interval = statistics.interval(last, study.confidence)
        replicable, cut = _replicable(study, policy), _is_cut(study, policy)
        advice = statistics.advice(
            interval, size, replications=statistics.with_data(last), replicable=replicable, one_batch=cut
        )
        more = "the last " if len(at) > NAMED else ""
        without_interval = f"no interval at {counted(len(at), 'point')}, {more}{named or 'all'}"
        alike.setdefault((without_interval, advice), []).append(policy)
    name = metric.replace("_", " ").capitalize()
    return [
        f"{name} of {_listed(policies)}{where}: {without_interval}{AT_THE_LAST}{advice}."
        for (without_interval, advice), policies in alike.items()
    ]


def brief(warning: str) -> str:
    """Return a warning without the advice that the list of all warnings has."""
    start, sign, _ = warning.partition(AT_THE_LAST)
    return f"{start}." if sign else start


def _listed(policies: list[str]) -> str:
    """Return a list of names; of many, the first few and the number of the others."""
    policies = list(map(label, policies))
    if len(policies) <= NAMED + 1:
        return ", ".join(policies)
    return f"{', '.join(policies[:NAMED])} and {len(policies) - NAMED} more"


def _is_cut(study: Study, policy: str) -> bool:
    """Whether a run ends at a horizon, and so is one batch."""
    try:
        return study.parameters("policy", policy).get("horizon") is not None
    except AnalysisError:  # another program's or an older dataset
        return False


def _replicable(study: Study, policy: str) -> bool:
    """Whether replications differ: more replications of a deterministic workload are refused."""
    try:
        parameters = study.parameters("policy", policy)
        with dotted.only(plugins.trusted()):  # the dataset may be a stranger's
            family = families.find(parameters["family"])
            return family.is_stochastic(
                Point(parameters, study.parameters("workload"), study.parameters("machine"))
            )
    except (AnalysisError, SweepError, KeyError, ValueError):  # another program's or an older dataset
        return True
