"""The keys of a study by name, for type checkers and for completion; conf/config.yaml explains them."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypedDict

from sweep.config.settings import Settings


class Keys(TypedDict, total=False):
    """The keys that `sweep.Study` takes in addition to its own arguments."""

    name: str
    grid: dict[str, Any]
    axes: dict[str, str]
    values: dict[str, Any]
    zip: list[list[str]]
    exclude: list[dict[str, Any]]
    policy: Any
    workload: Any
    machine: Any
    model: str
    command: list[str]
    arguments: dict[str, Any]
    metrics: dict[str, Any]
    seed_by: list[str]
    time_limit: float | None
    results: str | None
    replications: int | None
    batches: Any
    batch_size: Any
    warmup: Any
    budget: str | None
    seed: int | None
    capacity: int
    confidence: float
    precision: dict[str, Any]
    keep: str
    measures: dict[str, Any]
    accept: dict[str, Any]
    tune: dict[str, Any]
    search: dict[str, Any]
    output: str
    fresh: bool
    replace: bool
    slurm: str | None
    schedule: str | None


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function with these keys in place of ``**settings``."""
    found = inspect.signature(function)
    own = [one for one in found.parameters.values() if one.kind is not one.VAR_KEYWORD]
    keys = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for field in fields(Settings)
        if field.name not in ("action", "executor")
    ]
    return found.replace(parameters=[*own, *keys])
