"""A dataset that is made block by block is the one that is made at once, bit for bit."""

from __future__ import annotations

import math
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.store import dataset, shards
from sweep.store.blocks import blocks

WHOLE = Path("results/queue/queue.nc")
SHARDS = Path("results/queue/shards")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(1, 200))
@settings(max_examples=200)
def test_blocks_are_a_partition(shape, most):
    """Each point is in one block, at its place, and no block has more than it may."""
    grid = np.arange(math.prod(shape)).reshape(shape)
    seen = []
    for block in blocks(tuple(shape), most):
        there = grid[block.index]
        assert there.shape == block.shape
        assert there.size <= most
        np.testing.assert_array_equal(there.ravel(), np.arange(block.points.start, block.points.stop))
        seen += there.ravel().tolist()
    assert seen == list(range(grid.size))


def is_same(path: Path) -> None:
    """Compare a dataset with the one that was made at once, but for the moment and the command."""
    with xr.open_dataset(WHOLE) as whole, xr.open_dataset(path) as made:
        for each in (whole, made):
            each.load()
            del each.attrs["created"], each.attrs["command"]
        xr.testing.assert_identical(whole, made)
        assert list(whole.variables) == list(made.variables)
        for name in whole.variables:
            assert whole[name].dtype == made[name].dtype, name
            assert whole[name].encoding.get("fletcher32") == made[name].encoding.get("fletcher32"), name


@pytest.mark.parametrize("points", [1, 3, 7])
@pytest.mark.parametrize(
    "given",
    [
        (),
        ("warmup=mser", "batches=60", "grid.load=[0.6,0.9]", "replications=3"),
        # Saturated ones among them, and a single load.
        ("grid.load=[1.5]", "batches=60", "replications=3"),
    ],
    ids=["plain", "mser", "saturated"],
)
def test_blocks_give_what_one_gives(sweep, expand, monkeypatch, given, points):
    sweep(*given)
    plan = expand("executor=serial", *given)
    collector = dataset.Collector(plan, SHARDS)
    collector.update()
    n_values = sum(
        math.prod((plan.longest.checkpoints[-1], *(2 for _ in metric.dims)))
        for metric in plan.metrics.values()
    )
    monkeypatch.setattr(dataset, "BLOCK_BYTES", points * 8 * plan.replications * n_values)
    monkeypatch.setattr(dataset, "CHUNK", 16)
    assert len(list(blocks(plan.shape, points))) > 1
    told: list[int] = []
    collector.write(Path("blocks.nc"), tell=told.append)
    is_same(Path("blocks.nc"))
    assert len(told) == len(list(blocks(plan.shape, points)))
    assert told == sorted(told)
    assert told[-1] == len(plan.points) * plan.replications
    with netCDF4.Dataset("blocks.nc") as file:
        assert math.prod(file["response"].chunking()) <= 16


def test_logs_that_are_merged_before_they_are_read_again(sweep, expand):
    """Where a record was there is none, and all of them are looked for anew."""
    sweep()
    collector = dataset.Collector(expand("executor=serial"), SHARDS)
    collector.update()
    shards.merge(SHARDS, SHARDS.glob("*.jsonl"), "merged")
    collector.write(Path("merged.nc"))
    is_same(Path("merged.nc"))


def test_another_record_where_one_was(sweep, expand):
    """A log of the same name that has its lines in another order."""
    sweep()
    collector = dataset.Collector(expand("executor=serial"), SHARDS)
    collector.update()
    for log in SHARDS.glob("*.jsonl"):
        log.write_bytes(b"".join(reversed(log.read_bytes().splitlines(keepends=True))))
    collector.write(Path("turned.nc"))
    is_same(Path("turned.nc"))
