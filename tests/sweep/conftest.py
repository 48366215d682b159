"""What the tests of a folder share comes from `study_commands`, which tests of other folders import too."""

import pytest

pytest.register_assert_rewrite("executor_contract")

from study_commands import (  # noqa: E402
    _own_place,
    command,
    costs,
    expand,
    load,
    numbers,
    results,
    serial,
    sweep,
)

FIRST = "test_the_same_bits_and_nothing_twice"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of executors that start workers, one test of the contract is in the first tier."""
    for item in items:
        if getattr(getattr(item, "cls", None), "starts_workers", False) and item.originalname != FIRST:
            item.add_marker("exhaustive")


__all__ = ["_own_place", "command", "costs", "expand", "load", "numbers", "results", "serial", "sweep"]
