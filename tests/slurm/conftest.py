"""A real Slurm for the tests of the second tier that need one."""

from collections.abc import Iterator

import pytest

from slurm.testcluster import TestCluster, missing


@pytest.fixture(scope="session")
def cluster() -> Iterator[TestCluster]:
    """Return a cluster that all tests share: each test cancels its jobs (`TestCluster.clear`)."""
    if text := missing():
        pytest.skip(f"tests with a real Slurm: {text}")
    with TestCluster() as cluster:
        yield cluster
