"""Testers of simulated short and long jobs, and of the birth-death chain beside them (section 5.4)."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from analysis.claims import Open, Part, Within
from analysis.claims.comparisons import AxisRange, ratio
from analysis.claims.tester import Tester
from analysis.claims.testers import listed
from analysis.mccann1994 import labels
from analysis.study.curve import EXCLUDED, Curve
from models.point import Batches, Parameters, Point
from sweep.policy_names import label

LOAD = 0.5
"""Of Figs. 5.8 to 5.11."""

AT_LOAD = AxisRange("load 0.5", LOAD, LOAD)

HOMOGENEOUS = {1.0: "short_time", 0.0: "long_time"}
"""Fractions of short jobs at which there is one class, and where the workload has its mean time alone."""

FOLD, EQUI = "fold_never", "equi_plus"


def _classes(
    test: Tester, metric: str, of: Any = (), over: Any = (), pairs: Sequence[str] = (),
    classes: Sequence[str] = (labels.EVERY_CLASS,), at: AxisRange | None = None, low: float = -np.inf,
    high: float = np.inf,
) -> list[Part]:  # fmt: skip
    """Compare policies by a metric of each of some classes of jobs, over the mixes."""
    both = combinations(pairs, 2) if pairs else product(listed(of), listed(over))
    parts = []
    for (a, b), job_class in product(both, classes):
        name, point = labels.of_class(metric, job_class)
        first, second = (test.curve(name, policy, labels.MIXES.name, load=LOAD, **point) for policy in (a, b))
        text = f"{label(a)} / {label(b)}, {job_class} jobs"
        parts.append(ratio(text, first, second, at or test.names["mixed"], low, high))
    return parts


def _over_all_jobs(test: Tester, of: str, over: list[str]) -> str:
    """Return how policies compare over all jobs, where that decides nothing."""
    parts = _classes(test, labels.RESPONSE, of, over, high=1.0)
    return f"Over all jobs: {'; '.join(part.describe(test.study.confidence) for part in parts)}."


def _limited(test: Tester, metric: str, policy: str, job_class: str, limit: float, overhead: str) -> Curve:
    name, at = labels.of_class(metric, job_class)
    point = at | {labels.LIMITS.name: limit} | ({labels.OVERHEAD: overhead} if overhead else {})
    return test.curve(name, policy, labels.LOADS.name, **point)


def _named(overhead: str) -> str:
    return f", O/Q = {100 * float(overhead):g} %" if overhead else ""


def _small_limits(
    test: Tester,
    metric: str,
    of: Any,
    job_class: str = labels.EVERY_CLASS,
    low: float = 0.0,
    high: float = np.inf,
) -> list[Part]:
    """Compare each small limit with the large one, at each overhead."""
    parts: list[Part] = []
    large = test.names["large_limit"]
    for policy, overhead in product(listed(of), test.study.values_of(labels.OVERHEAD) or [""]):
        at = partial(_limited, test, metric, policy, job_class, overhead=overhead)
        for limit in test.names["small_limits"]:
            name = f"{label(policy)}, {job_class} jobs, L = {limit:g} / L = {large:g}{_named(overhead)}"
            parts.append(ratio(name, at(limit=limit), at(limit=large), AT_LOAD, low, high))
    return parts


def _each_limit(test: Tester, metric: str, low: float, high: float, from_limit: float = 1) -> list[Part]:
    """Compare FOLD∞ with EQUI+ at each limit of the grid from one on, at each overhead."""
    parts: list[Part] = []
    texts = [
        text
        for text in test.study.values_of(labels.LIMITS.name)
        if text != "null" and float(text) >= from_limit
    ]
    for overhead, limit in product(test.study.values_of(labels.OVERHEAD) or [""], map(float, texts)):
        pair = [
            _limited(test, metric, policy, labels.EVERY_CLASS, limit, overhead) for policy in (FOLD, EQUI)
        ]
        name = f"{labels.NAMES[metric]}: {label(FOLD)} / {label(EQUI)}, L = {limit:g}{_named(overhead)}"
        if not any(curve.where(EXCLUDED).all() for curve in pair):
            parts.append(ratio(name, pair[0], pair[1], AT_LOAD, low, high))
    return parts or [Open(metric, "the grid has no limits")]


def _as_the_chain(test: Tester, of: list[str], margin: float) -> list[Part]:
    """Ask that simulations of equal jobs are close to the chain, at each load of the grid."""
    return [
        _against_chain(test, policy, fraction, float(load), margin)
        for policy in of
        if policy in test.study.policies
        for fraction in HOMOGENEOUS
        for load in test.study.loads
    ]


def _against_chain(test: Tester, policy: str, fraction: float, load: float, margin: float) -> Part:
    jobs = HOMOGENEOUS[fraction].removesuffix("_time")
    name = f"{label(policy)}, {jobs} jobs only, load {load:g}: simulation / chain"
    metric, at = labels.of_class(labels.RESPONSE, labels.EVERY_CLASS)
    curve = test.curve(metric, policy, labels.LOADS.name, **{labels.MIXES.name: fraction}, **at)
    _, reason = AxisRange(f"load {load:g}", load, load).choose([curve])
    if reason:
        return Open(name, reason)
    workload = test.study.parameters("workload")
    alone = float(workload[HOMOGENEOUS[fraction]])
    parameters, machine = test.study.parameters("policy", policy), test.study.parameters("machine")
    try:
        expected = chain_blow_up(parameters, workload, machine, load, alone)
    except ValueError as error:  # the model's one-line reason for refusing these parameters
        return Open(name, str(error))
    if np.isnan(expected):
        return Open(name, "the chain is unstable there")
    scaled = curve.changed(curve.values / (alone * expected))
    return Within(name, scaled.sample(scaled.place(load)).interval, 1 - margin, 1 + margin)


def chain_blow_up(
    policy: Parameters, workload: Parameters, machine: Parameters, load: float, isolated_time: float
) -> float:
    """Return the mean blow-up factor of equal jobs by the birth-death chain, exact; NaN if it is unstable.

    Parameters
    ----------
    policy, workload, machine : dict
        As a simulation got them.
    isolated_time : float, seconds
        Of the jobs, alone on the machine (E).
    """
    from models.partitioning.static import birth_death

    jobs = {**workload, "isolated_time": isolated_time, "jobs": 1}
    found = birth_death.simulate(Point(policy, jobs, machine, load, Batches(1, 0, (1,))))
    return float("nan") if found.overflowed else float(found.metrics["blow_up"][0])


TESTERS: Mapping[str, Any] = {
    "classes": _classes,
    "over_all_jobs": _over_all_jobs,
    "small_limits": _small_limits,
    "each_limit": _each_limit,
    "as_the_chain": _as_the_chain,
}
