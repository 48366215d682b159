"""Storms are in the second tier; they use the quick study of ``tests/sweep``."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
for folder in ("sweep", "sweep/store", "analysis/explorer"):
    if str(TESTS / folder) not in sys.path:
        sys.path.append(str(TESTS / folder))

from study_commands import Answer, _own_place, command, sweep  # noqa: E402

from analysis.command import main as analyse  # noqa: E402
from sweep import cli  # noqa: E402


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run ``python -m sweep ...`` in this process, as it is typed, or ``analysis``, ``...``."""

    def ask(*arguments: str) -> Answer:
        capsys.readouterr()
        command, *more = arguments
        status = analyse(more) if command == "analysis" else cli.main(arguments)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return ask


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker("exhaustive")


__all__ = ["_own_place", "command", "sweep"]
