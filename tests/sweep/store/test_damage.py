"""Files damaged on purpose: the same command mends them, and reports it."""

import math
import os
from pathlib import Path

import netCDF4
import pytest
import xarray as xr
from study_commands import numbers, results

from analysis.errors import AnalysisError
from analysis.study import open_study
from sweep.store import dataset, state
from sweep.store.dataset import blocks
from sweep.store.folder import Folder
from sweep.store.loading import loaded

DATASET = Path("results/queue/queue.nc")
FOLDER = Folder(Path("results/queue"), "queue")


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def flip(path):
    data = bytearray(path.read_bytes())
    where = data.find(b"\x78\x01")  # compressed values begin here
    assert where > 0
    data[where + 20] ^= 4
    path.write_bytes(data)


def folder(path):
    path.unlink()
    path.mkdir()
    (path / "precious").write_text("kept")


@pytest.mark.parametrize(
    ("damage", "action"), [(truncate, "run"), (empty, "gather"), (flip, "run"), (folder, "gather")]
)
def test_a_damaged_dataset_is_made_anew_from_the_logs(sweep, damage, action):
    sweep("replications=1", "batches=60")  # values that are compressed have checksums
    whole = numbers()
    n = results()
    damage(DATASET)
    if damage is not folder:
        with pytest.raises(AnalysisError, match="run its command again"):
            open_study(Path("results/queue"))
    answer = sweep("replications=1", "batches=60", f"action={action}")
    assert answer.status == 0, answer.err
    assert "rebuilt from the logs" in answer.out
    assert results() == n, "nothing is simulated again"
    xr.testing.assert_identical(numbers(), whole)
    if damage is folder:
        assert "the old file is now results/queue/queue.nc-2" in answer.out
        assert Path("results/queue/queue.nc-2/precious").read_text(encoding="utf-8") == "kept"
    assert "rebuilt" not in sweep("replications=1", "batches=60", f"action={action}").out


def test_a_changed_character_in_a_log_is_run_again_and_counted(sweep):
    sweep()
    whole = numbers()
    (log,) = Path("results/queue/shards").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    for number in (3, 11):
        where = lines[number].index(b'"values":"') + 20
        other = b"A" if lines[number][where : where + 1] != b"A" else b"B"
        lines[number] = lines[number][:where] + other + lines[number][where + 1 :]
    log.write_bytes(b"".join(lines))
    assert "22 of 24 tasks are in the dataset" in sweep("action=gather").out
    answer = sweep()
    assert answer.status == 0
    assert "results/queue/shards: 2 damaged or incomplete records are not used" in answer.out
    assert results() == 26
    xr.testing.assert_identical(numbers(), whole)
    assert "damaged or incomplete" not in sweep().out


@pytest.mark.parametrize(
    ("given", "points"),
    [
        ((), 1),
        (("warmup=mser", "batches=60", "grid.load=[0.6,0.9]", "replications=3"), 3),
        (("grid.load=[1.5]", "batches=60", "replications=3"), 7),
    ],
    ids=["plain", "mser", "saturated"],
)
def test_a_dataset_made_block_by_block_is_the_one_made_at_once(sweep, expand, monkeypatch, given, points):
    monkeypatch.setattr(dataset, "SMALL", 1)
    sweep(*given)
    plan = expand("executor=serial", *given)
    n_values = sum(
        math.prod((plan.longest.checkpoints[-1], *(2 for _ in metric.dims)))
        for metric in plan.metrics.values()
    )
    monkeypatch.setattr(dataset, "BLOCK_BYTES", points * 8 * plan.replications * n_values)
    monkeypatch.setattr(dataset, "CHUNK", 16)
    n_blocks = len(list(blocks(plan.shape, points)))
    assert n_blocks > 1
    reported: list[int] = []
    dataset.write(state.read(plan, FOLDER), Path("blocks.nc"), report=reported.append)
    assert len(reported) == n_blocks
    assert reported == sorted(reported)
    assert reported[-1] == len(plan.points) * plan.replications
    with loaded(DATASET) as whole, loaded(Path("blocks.nc")) as made:
        for each in (whole, made):
            each.load()
            del each.attrs["created"], each.attrs["command"], each.attrs["history"]
        xr.testing.assert_identical(whole, made)
        for name in whole.variables:
            assert whole[name].dtype == made[name].dtype, name
            assert whole[name].encoding.get("fletcher32") == made[name].encoding.get("fletcher32"), name
    with netCDF4.Dataset("blocks.nc") as file:
        assert math.prod(file["batches/response"].chunking()) <= 16


@pytest.mark.parametrize(
    "content",
    [
        None, b"{", b'{"settings": 3}',
        *(pytest.param(one, marks=pytest.mark.exhaustive) for one in (b"", b"[1]", b'{"name": "queue"}')),
    ],
)  # fmt: skip
def test_a_manifest_is_remade(sweep, content):
    """From the dataset, or without one by the identities in the logs; another study is still refused."""
    sweep("replications=1")
    whole, n = numbers(), results()
    if content is None:
        FOLDER.manifest.unlink()
        DATASET.unlink()
    else:
        FOLDER.manifest.write_bytes(content)
    answer = sweep("replications=1", "batches=7")
    assert answer.status == 2
    assert ("batches: 6 -> 7" in answer.err) or (content is None and "is missing or damaged" in answer.err)
    assert sweep("replications=1").status == 0
    assert results() == n, "nothing is simulated again"
    xr.testing.assert_identical(numbers(), whole)
    assert FOLDER.read_manifest()["settings"]["batches"] == 6


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_log_is_named(sweep, kind):
    sweep("replications=1")
    log = FOLDER.shards / "strange.jsonl"
    make = {"folder": log.mkdir, "link": lambda: log.symlink_to("nowhere"), "pipe": lambda: os.mkfifo(log)}
    make[kind]()
    for action in ("run", "plan", "status", "gather"):
        assert sweep("replications=1", f"action={action}").refused(str(log), status=1)


def test_what_a_killed_run_has_left_is_removed(sweep):
    sweep("replications=1")
    left = [FOLDER.path / ".123.queue.nc", FOLDER.path / ".4.config.json", FOLDER.shards / ".ranks-0a"]
    for file in left:
        file.write_bytes(b"half")
    (FOLDER.path / "slurm/001/elements").mkdir(parents=True)
    (FOLDER.path / "dask_slurm/sweep-workers-0").mkdir(parents=True)
    own = [FOLDER.path / name for name in (".123", "slurm/2024_jobs/x", "dask_slurm/mine/x")]
    own += [FOLDER.shards / ".x/y", FOLDER.shards / ".bashrc"]
    for place in own:
        place.mkdir(parents=True)
    assert sweep("replications=1").status == 0
    assert all(place.is_dir() for place in own)
    assert sorted(path.name for path in FOLDER.path.iterdir()) == [
        ".123", ".lock", "config.json", "dask_slurm", "queue.nc", "shards", "slurm",
    ]  # fmt: skip
    assert len(list(FOLDER.shards.iterdir())) == 3
    assert [path.name for path in (FOLDER.path / "slurm").iterdir()] == ["2024_jobs"]
