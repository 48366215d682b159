"""Typed tuples: numba takes two for one that have the same name and fields of the same types."""

import importlib
import pkgutil

from numba.core.types import NamedTuple, NamedUniTuple

import models


def test_no_two_tuples_are_taken_for_one() -> None:
    found: dict[str, tuple[type, str]] = {}
    for module in pkgutil.walk_packages(models.__path__, "models."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, NamedTuple | NamedUniTuple):
                made, where = found.setdefault(value.name, (value.instance_class, f"{module.name}.{name}"))
                assert made is value.instance_class, f"rename one: {where} and {module.name}.{name}"
    assert len(found) > 20
