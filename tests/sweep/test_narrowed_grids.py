"""An experiment that promises any rigid workload takes each of them alone, and its gang scheduler alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import sweep


@pytest.mark.parametrize(("name", "policy"), [("llnl_tc2000", "tc2000_gang"), ("llnl_alpha", "alpha_gang")])
@pytest.mark.parametrize("workload", ["lublin2003", "feitelson1996_seconds", "jann1997_kth", "synthetic"])
def test_any_workload_alone(name: str, policy: str, workload: str, tmp_path: Path) -> None:
    grid = {"workload": [workload], "load": [0.5]}
    every = sweep.Study(name, grid=grid, output=tmp_path / "every", replications=1)
    one = sweep.Study(name, grid=grid | {"policy": [policy]}, output=tmp_path / "one", replications=1)
    assert 0 < one.tasks <= every.tasks
