"""Logs survive being cut off at any byte, and a full disk; a damaged record never counts."""

import base64
import errno
import json
import multiprocessing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sweep.store import reader, records, shards
from sweep.store.records import Failed, Finished
from sweep.store.shards import Shard

FINISHED = Finished("0" * 20, 1.5e-05, 300, False, 2, (("m", 2), ("n", 4)), b"x" * 48)
FAILED = Failed("f" * 20, 0.0, [1, 2, 3], {"policy": "quick", "load": None}, 0, 'Trace "back"\n  é')
LINE = records.encode(FINISHED)


def read(folder, names="*.jsonl"):
    """Return all records of the logs in a folder."""
    found = reader.read([line for line, _ in reader.scan(folder, names)])
    return [record for record in found if record is not None]


def test_a_record_comes_back_as_it_was():
    for record in (FINISHED, FAILED):
        line = records.encode(record)
        assert records.decode(line) == record
        assert records.head(line) == (record.id, record is FAILED, record.seconds)
        assert line.startswith(b'{"id":"' + record.id.encode() + b'","state":"')
    data = json.loads(LINE)
    assert data["metrics"] == {"m": 2, "n": 4}
    assert base64.b64decode(data["values"]) == FINISHED.values


@given(st.integers(0, len(LINE) - 1), st.integers(0, 7))
@settings(max_examples=300)
def test_a_flipped_bit_never_gives_another_result(place, bit):
    line = bytearray(LINE)
    line[place] ^= 1 << bit
    assert records.decode(bytes(line)) is None
    assert records.head(bytes(line)) is None


@given(st.lists(st.sampled_from([FINISHED, FAILED]), max_size=4), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_log_cut_at_any_byte_keeps_its_whole_lines(tmp_path, written, data):
    whole = b"".join(records.encode(record) for record in written)
    cut = data.draw(st.integers(0, len(whole)))
    (tmp_path / "cut.jsonl").write_bytes(whole[:cut])
    assert read(tmp_path) == written[: whole[:cut].count(b"\n")]


def test_a_log_goes_on_after_a_torn_line(tmp_path):
    shard = Shard(tmp_path)
    shard.append([FINISHED])
    with shard.path.open("ab") as log:
        log.write(b'{"id":"00')
    shard.append([FAILED])
    assert read(tmp_path) == [FINISHED, FAILED]


def append_many(folder, log, seed):
    """Append messages of different length to a log that others write too."""
    shard = Shard(folder, log)
    for number in range(100):
        n = seed * 37 + number
        shard.append([Finished(f"{seed:04d}{number:016d}", 1.0, 1, None, 1, (("m", n),), b"A" * (8 * n))])


@pytest.mark.exhaustive
def test_processes_that_share_a_log_take_turns(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(tmp_path, "shared", seed)) for seed in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)
    assert [path.name for path in tmp_path.iterdir()] == ["shared.jsonl"]
    found = [record.id for record in read(tmp_path)]
    assert sorted(found) == [f"{seed:04d}{number:016d}" for seed in range(4) for number in range(100)]


def test_without_locks_every_process_has_a_log_of_its_own(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(shards.fcntl, "flock", refuse)
    one, other = Shard(tmp_path, "shared"), Shard(tmp_path, "shared")
    one.append([FINISHED])
    other.append([FAILED])
    one.append([FINISHED])
    assert one.path != other.path
    assert len(read(tmp_path)) == 3
