"""A real Slurm for the tests that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from slurm.daemons import missing
from slurm.testcluster import TestCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[TestCluster]:
    """Return a cluster that all tests share: each leaves it as empty as it was (`TestCluster.clear`)."""
    if text := missing():
        pytest.skip(f"tests with a real Slurm: {text}")
    with TestCluster() as cluster:
        yield cluster
