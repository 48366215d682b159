"""A config as JSON and back: a batch job, or a rerun of a dataset, makes the same plan from it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sweep.config.settings import Accept, Config, Measures, Precision, Search, Settings


def as_json(config: Config) -> Any:
    """Return a config in types that JSON has."""
    data = asdict(replace(config, narrowing=None))
    del data["narrowing"]
    return _pairs(data)


def from_json(kept: Any) -> Config:
    """Return the config from which `as_json` made these data."""
    data = _mappings(kept)
    settings = Settings(**data.pop("settings"))
    kinds = {"precision": Precision, "measures": Measures, "accept": Accept, "search": Search}
    for key, kind in kinds.items():
        if isinstance(given := getattr(settings, key), Mapping):  # as JSON has it
            setattr(settings, key, kind(**given))
    return Config(settings, **data)


def _pairs(data: Any) -> Any:
    """Write mappings with keys that are not strings as lists of pairs: JSON would make the keys strings."""
    if isinstance(data, Mapping):
        if all(isinstance(key, str) for key in data) and "" not in data:
            return {key: _pairs(value) for key, value in data.items()}
        return {"": [[key, _pairs(value)] for key, value in data.items()]}
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [_pairs(value) for value in data]
    return data


def _mappings(data: Any) -> Any:
    if isinstance(data, dict):
        if data.keys() == {""}:
            return {key: _mappings(value) for key, value in data[""]}
        return {key: _mappings(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_mappings(value) for value in data]
    return data
