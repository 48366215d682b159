"""The study that is looked at."""

from collections.abc import Callable
from pathlib import Path

import pytest
from explored import LOADS, packing


@pytest.fixture(scope="session")
def results(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Return its folder."""
    return once("explored", lambda folder: packing(folder / "packing", LOADS).run(progress=False)) / "packing"
