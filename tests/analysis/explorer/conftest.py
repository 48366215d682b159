"""The study that is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored import LOADS, packing


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return its folder."""
    folder = tmp_path_factory.mktemp("explored") / "packing"
    packing(folder, LOADS).run(progress=False)
    return folder
