"""Settings that Optuna proposes, from those that were tried and what came of them.

Each round is a study of Optuna's in memory, which is given all that was tried, and draws numbers by the seed
and by how much that is: a search that was killed goes on as if it had not been, without a second store.
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
"""Proposals in a row that were tried before, after which there is nothing new."""


class Tried(NamedTuple):
    """Settings with their value, less is better, and by how much each constraint is broken, above 0."""

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
    """Return up to `n` new settings; fewer where hardly any are left.

    A tree-structured Parzen estimator of all keys together; keys that apply under a condition only are
    estimated from the settings in which they do.
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
        if not given.values.keys() <= known.keys():  # of another search
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
