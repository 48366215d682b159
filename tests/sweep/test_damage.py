"""Files damaged on purpose: the same command mends them, and says so."""

import base64
import json
import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from study_commands import load, numbers, results

from analysis.errors import AnalysisError
from analysis.study import open_study
from sweep.store import shards
from sweep.store.reader import Reader
from sweep.store.shards import Finished

DATASET = Path("results/queue/queue.nc")


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def flip(path):
    data = bytearray(path.read_bytes())
    where = data.find(np.float64(load()["response"].values.ravel()[0]).tobytes())
    assert where > 0
    data[where + 3] ^= 4
    path.write_bytes(data)


def folder(path):
    path.unlink()
    path.mkdir()


def full_folder(path):
    folder(path)
    (path / "precious").write_text("kept")


@pytest.mark.parametrize("damage", [truncate, empty, flip, folder, full_folder])
@pytest.mark.parametrize("action", ["run", "gather"])
def test_a_damaged_dataset_is_made_anew_from_the_logs(sweep, damage, action):
    sweep("replications=1")
    whole = numbers()
    n = results()
    damage(DATASET)
    answer = sweep("replications=1", f"action={action}")
    assert answer.status == 0, answer.err
    assert "made anew from the logs" in answer.out
    assert results() == n, "nothing is simulated again"
    xr.testing.assert_identical(numbers(), whole)
    if damage is full_folder:
        assert "what was there is now results/queue/queue.nc-2" in answer.out
        assert Path("results/queue/queue.nc-2/precious").read_text() == "kept"
    assert "made anew" not in sweep("replications=1", f"action={action}").out


@pytest.mark.parametrize("damage", [truncate, empty, flip])
def test_whoever_reads_a_damaged_dataset_is_told_what_to_do(sweep, damage):
    sweep("replications=1")
    damage(DATASET)
    with pytest.raises(AnalysisError, match="type the command again that made it"):
        open_study(Path("results/queue"))


def test_a_changed_character_in_a_log_is_run_again_and_counted(sweep):
    sweep()
    whole = numbers()
    (log,) = Path("results/queue/shards").glob("*.jsonl")
    data = log.read_bytes()
    lines = data.splitlines(keepends=True)
    for number in (3, 11):
        where = lines[number].index(b'"values":"') + 20
        other = b"A" if lines[number][where : where + 1] != b"A" else b"B"
        lines[number] = lines[number][:where] + other + lines[number][where + 1 :]
    log.write_bytes(b"".join(lines))
    DATASET.unlink()
    answer = sweep()
    assert answer.status == 0
    assert "2 records in results/queue/shards are not what was written" in answer.out
    assert results() == 26
    xr.testing.assert_identical(numbers(), whole)
    assert "not what was written" not in sweep().out


def without_checksum(line):
    """Return a result as the first versions wrote it: a base64 for each metric, and no checksum."""
    data = json.loads(line)
    values, start = base64.b64decode(data.pop("values")), 0
    for name, n in data["metrics"].items():
        data["metrics"][name] = base64.b64encode(values[start : start + 8 * n]).decode()
        start += 8 * n
    del data["crc32"]
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def test_logs_without_checksums_are_read(sweep):
    sweep()
    whole = numbers()
    (log,) = Path("results/queue/shards").glob("*.jsonl")
    old = b"".join(map(without_checksum, log.read_bytes().splitlines()))
    assert b"crc32" not in old
    log.write_bytes(old)
    DATASET.unlink()
    answer = sweep()
    assert "everything is done: 24 of 24" in answer.out
    xr.testing.assert_identical(numbers(), whole)


OLD_DAMAGE = {
    "name of a metric": (b'"response"', b'"rasponse"'),
    "a name twice": (b'"response_by_class"', b'"response"'),
    "one metric more": (b'"metrics":{', b'"metrics":{"response_by_place":"",'),
    "half a number": (b'"response":"', b'"response":"AAAA'),
    "batches": (b'"batches":', b'"batches":1'),
    "seconds": (b'"seconds":', b'"seconds":1.e'),
    "word of the backlog": (b'"suspected":', b'"suspacted":'),
    "number of the backlog": (b'"length":', b'"length":.'),
}


def old_log():
    """Have the log of a study as the first versions wrote it; return it and its lines."""
    (log,) = Path("results/queue/shards").glob("*.jsonl")
    lines = list(map(without_checksum, log.read_bytes().splitlines()))
    log.write_bytes(b"".join(lines))
    return log, lines


@pytest.mark.parametrize("damage", OLD_DAMAGE)
def test_a_damaged_line_without_checksum_is_run_again_and_counted(sweep, damage):
    sweep()
    whole = numbers()
    log, lines = old_log()
    before, after = OLD_DAMAGE[damage]
    assert lines[5].count(before) == 1
    lines[5] = lines[5].replace(before, after)
    log.write_bytes(b"".join(lines))
    assert "23 of 24 tasks are in it" in sweep("action=gather").out
    assert (load()["state"] == 0).sum() == 1
    answer = sweep()
    assert answer.status == 0, answer.err
    assert "1 record in results/queue/shards is not what was written" in answer.out
    assert results() == 25
    xr.testing.assert_identical(numbers(), whole)
    assert "not what was written" not in sweep().out


def test_a_damaged_line_that_the_index_took_for_another_studys(sweep, expand):
    """The metrics of a task that is not in the plan are not known: the index has it as any other."""
    sweep()
    whole = numbers()
    log, lines = old_log()
    known = set(expand("executor=serial", "grid.load=[0.3]").ids)
    which = next(n for n, line in enumerate(lines) if json.loads(line)["id"] not in known)
    lines[which] = lines[which].replace(b'"response"', b'"rasponse"')
    log.write_bytes(b"".join(lines))
    assert sweep("grid.load=[0.3]", "replace=true").status == 0
    index = Path("results/queue/shards/index")
    later = index.stat().st_mtime + 60
    os.utime(index, (later, later))
    answer = sweep()
    assert "1 record in results/queue/shards is not what was written" in answer.out
    assert "the same command runs again what is missing" in answer.out
    assert sweep().status == 0
    assert results() == 25
    xr.testing.assert_identical(numbers(), whole)


RECORD = shards.encode(Finished("0" * 20, 1.5e-05, 300, None, 2, (("m", 3),), b"ABC" * 8))


@given(st.integers(0, len(RECORD) - 1), st.integers(0, 7))
@settings(max_examples=300)
def test_a_flipped_bit_never_gives_another_result(place, bit):
    line = bytearray(RECORD)
    line[place] ^= 1 << bit
    assert shards.decode(bytes(line)) is None
    assert shards.head(bytes(line)) is None


def test_lines_that_do_not_count_are_counted(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(RECORD[:80] + b"\n" + RECORD + b"garbage\n\n")
    reader = Reader(tmp_path)
    assert len(list(reader.heads())) == 1
    assert reader.damaged == ["0" * 20, None]
