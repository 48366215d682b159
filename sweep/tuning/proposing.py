"""Settings that Optuna proposes, given the settings tried so far and their results.

Each round is an Optuna study in memory, which receives all settings tried so far and seeds its random numbers
by the study's seed and their number: a search that was killed continues as if it had not been, without a
second store.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sweep.errors import SweepError
from sweep.tuning.ranges import Range

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.distributions import BaseDistribution

REPEATED = 50
"""Consecutive proposals that were already tried after which the search space counts as exhausted."""


class Tried(NamedTuple):
    """Settings with their value (less is better), and the violation of each constraint (above 0)."""

    values: Mapping[str, Any]
    value: float
    constraints: Mapping[str, float]


def check() -> None:
    """Raise `SweepError` with one line where Optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise SweepError(
            "tune needs Optuna, which is not installed: pip install 'optuna>=5' (or schedsweep[tune])"
        ) from None


def proposed(ranges: Sequence[Range], tried: Sequence[Tried], n: int, seed: int) -> list[dict[str, Any]]:
    """Return up to `n` new settings; fewer if hardly any are left.

    The method is a tree-structured Parzen estimator of all keys together; conditional keys are estimated from
    the settings in which they apply.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    number = int(np.random.SeedSequence([seed, len(tried)]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=number, multivariate=True, group=True)
    study = optuna.create_study(sampler=sampler)
    known = {one.key: one for one in ranges}
    for given in tried:
        if not given.values.keys() <= known.keys():  # from another search
            continue
        study.add_trial(
            optuna.create_trial(
                params=dict(given.values),
                distributions={key: _distribution(known[key]) for key in given.values},
                value=given.value,
                constraints=dict(given.constraints),
            )
        )
    found: list[dict[str, Any]] = []
    seen = [dict(one.values) for one in tried]
    repeated = 0
    while len(found) < n and repeated < REPEATED:
        trial = study.ask()
        values: dict[str, Any] = {}
        for one in ranges:
            if one.applies(values):
                values[one.key] = _suggested(trial, one)
        repeated = repeated + 1 if values in seen else 0
        if not repeated:
            found.append(values)
            seen.append(values)
    return found


def _suggested(trial: Trial, one: Range) -> Any:
    if one.choices:
        return trial.suggest_categorical(one.key, one.choices)
    if one.is_whole:
        return trial.suggest_int(one.key, int(one.low), int(one.high), log=one.log)
    return trial.suggest_float(one.key, one.low, one.high, log=one.log)


def _distribution(one: Range) -> BaseDistribution:
    from optuna import distributions

    if one.choices:
        return distributions.CategoricalDistribution(one.choices)
    if one.is_whole:
        return distributions.IntDistribution(int(one.low), int(one.high), log=one.log)
    return distributions.FloatDistribution(one.low, one.high, log=one.log)
