"""What the tests of a folder share comes from `study_commands`, which tests of other folders import too."""

import pytest

pytest.register_assert_rewrite("executor_contract")

from study_commands import (  # noqa: E402
    _own_place,
    command,
    expand,
    load,
    numbers,
    results,
    serial,
    sweep,
)

__all__ = ["_own_place", "command", "expand", "load", "numbers", "results", "serial", "sweep"]
