"""Logs survive being cut off at any byte, and a full disk."""

import base64
import errno
import itertools
import json
import multiprocessing
import resource
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.saturation import PARTS, Backlog
from sweep.store import reader, shards
from sweep.store.backlogs import encoded
from sweep.store.reader import Place, Reader
from sweep.store.shards import Failed, Finished, Outline, Shard, merge

BACKLOG = encoded(Backlog(np.linspace(1.0, 2.0, PARTS), np.full(PARTS, 1e-3), suspected=True, length=4))
FINISHED = Finished("0" * 20, 1.5e-05, 300, BACKLOG, 2, (("m", 2), ("n", 4)), b"x" * 48)
FAILED = Failed("f" * 20, 0.0, [1, 2, 3], {"policy": "quick", "load": None}, 0, 'Trace "back"\n  é')


def earlier(record, checksum=True):
    """Write a result as earlier versions did: a base64 for each metric, and at first no checksum."""
    metrics, start = {}, 0
    for name, n in record.metrics:
        metrics[name] = base64.b64encode(record.values[start : start + 8 * n]).decode()
        start += 8 * n
    backlog = None if record.backlog is None else json.loads(record.backlog)
    data = {"id": record.id, "state": "done", "seconds": record.seconds, "jobs": record.jobs}
    data |= {"backlog": backlog, "batches": record.batches, "metrics": metrics}
    line = json.dumps(data, separators=(",", ":")).encode()
    if not checksum:
        return line + b"\n"
    return line[:-1] + f',"crc32":"{zlib.crc32(line[:-1]):08x}"}}\n'.encode()


@pytest.mark.parametrize("checksum", [True, False])
def test_a_log_of_an_earlier_version_is_read(tmp_path, checksum):
    line = earlier(FINISHED, checksum)
    other = replace(FINISHED, id="1" * 20, backlog=None)
    damaged = line[:200] + b"\0" + line[201:]
    (tmp_path / "a.jsonl").write_bytes(line + damaged + line[:-20] + b"\n" + earlier(other, checksum))
    reader = Reader(tmp_path)
    first, second = reader.records()
    assert reader.damaged == [FINISHED.id] * 2
    assert (first.metrics, first.values) == (FINISHED.metrics, FINISHED.values)
    assert (first.id, first.seconds, first.jobs, first.batches) == ("0" * 20, 1.5e-05, 300, 2)
    assert json.loads(first.backlog) == json.loads(BACKLOG)
    assert second.backlog is None


def test_what_no_checksum_protects_counts_if_it_can_be_read(tmp_path):
    """Who asks what is done gets the same answer as who asks for the results."""
    line = earlier(FINISHED, checksum=False)
    at = line.index(b'"m":"') + 8
    (tmp_path / "a.jsonl").write_bytes(line[:at] + b"!" + line[at + 1 :])
    reader = Reader(tmp_path)
    assert list(reader.heads()) == []
    assert reader.damaged == [FINISHED.id]
    assert list(Reader(tmp_path).records()) == []


def test_a_log_that_is_merged_while_it_is_read_is_read_where_it_is_then(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(shards.encode(FINISHED) + shards.encode(FAILED))

    class Merging(Reader):
        def at(self, places):
            if (tmp_path / "a.jsonl").exists():
                merge(tmp_path, [tmp_path / "a.jsonl"], "b.jsonl")
            return super().at(places)

    assert list(Merging(tmp_path).records()) == [FINISHED, FAILED]


def test_a_result_is_a_line_of_json():
    data = json.loads(shards.encode(FINISHED))
    assert data["state"] == "done"
    assert data["metrics"] == {"m": 2, "n": 4}
    assert base64.b64decode(data["values"]) == FINISHED.values
    assert data["backlog"]["suspected"] is True


@pytest.mark.parametrize("n_bytes", [1, 7, 100, 1 << 20])
def test_a_line_longer_than_what_is_read_at_a_time(tmp_path, monkeypatch, n_bytes):
    """Lines of all lengths around that of a block, between others."""
    monkeypatch.setattr(reader, "BLOCK_BYTES", n_bytes)
    lengths = [1, 300, 2, 5000, 10, 11, 12, 40]
    records = [
        replace(FINISHED, id=f"{n:020d}", metrics=(("m", length),), values=b"y" * (8 * length))
        for n, length in enumerate(lengths)
    ]
    (tmp_path / "a.jsonl").write_bytes(b"".join(map(shards.encode, records)) + b'{"id":')
    assert list(Reader(tmp_path).records()) == records


def test_a_record_comes_back_as_it_was():
    for record in (FINISHED, FAILED):
        line = shards.encode(record)
        assert shards.decode(line) == record
        assert shards.head(line) == (record.id, record is FAILED, record.seconds)
        assert line.startswith(b'{"id":"' + record.id.encode() + b'","state":"')


LINES = {
    "usual": shards.encode(FINISHED),
    "without backlog": shards.encode(replace(FINISHED, id="1" * 20, backlog=None, jobs=7)),
    "of other metrics": shards.encode(replace(FINISHED, metrics=(("n", 4), ("m", 2)))),
    "of other batches": shards.encode(replace(FINISHED, batches=1)),
    "of more values": shards.encode(replace(FINISHED, metrics=(("m", 2), ("n", 5)), values=b"z" * 56)),
    "of fewer values than it says": shards.encode(replace(FINISHED, values=b"z" * 40)),
    "failed": shards.encode(FAILED),
    "damaged": shards.encode(FINISHED)[:-40] + b"?" + shards.encode(FINISHED)[-39:],
    "earlier": earlier(FINISHED),
    "first": earlier(FINISHED, checksum=False),
    "empty": b"\n",
}


@given(st.lists(st.sampled_from(list(LINES)), max_size=12), st.integers(1, 2000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_outlines_are_the_records_line_by_line(tmp_path, monkeypatch, which, at_once):
    """Whatever comes before a line, and however much is read at a time."""
    monkeypatch.setattr(reader, "BLOCK_BYTES", at_once)
    lines = [LINES[name] for name in which]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    ends = list(itertools.accumulate(map(len, lines)))
    places = [Place("a.jsonl", end - len(line), len(line)) for end, line in zip(ends, lines, strict=True)]
    found = list(Reader(tmp_path).outlines(places))
    for each, record in zip(found, map(shards.decode, lines), strict=True):
        if isinstance(each, Outline):
            assert isinstance(record, Finished)
            values = base64.b64decode(each.values)
            same = (record.id, record.backlog, record.batches, record.metrics, record.values)
            assert (each.id, each.backlog, each.batches, each.metrics, values) == same
        else:
            assert each == record


def test_only_a_result_unlike_the_one_before_is_parsed():
    lines = [
        LINES[name] for name in ("usual", "without backlog", "usual", "of other metrics", "usual", "usual")
    ]
    outline = shards.Outliner()
    kinds = [type(outline(line, memoryview(line), 0, len(line))) for line in lines]
    assert kinds == [Finished, Outline, Outline, Finished, Finished, Outline]


@given(st.lists(st.sampled_from([FINISHED, FAILED]), max_size=4), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_log_cut_at_any_byte_keeps_its_whole_lines(tmp_path, records, data):
    whole = b"".join(shards.encode(record) for record in records)
    cut = data.draw(st.integers(0, len(whole)))
    (tmp_path / "cut.jsonl").write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    assert list(Reader(tmp_path).records()) == records[:kept]
    assert [head.id for head in Reader(tmp_path).heads()] == [record.id for record in records[:kept]]


@pytest.mark.parametrize(
    "damage", [b"\0" * 10, b"}", b'{"id":"', b'{"id":"' + b"0" * 20 + b'","state":"done"']
)
def test_a_damaged_line_is_no_record(tmp_path, damage):
    line = shards.encode(FINISHED)
    (tmp_path / "a.jsonl").write_bytes(line + damage + b"\n" + line[:30] + b"\0" + line[31:] + line)
    assert len(list(Reader(tmp_path).heads())) == 2
    assert list(Reader(tmp_path).records()) == [FINISHED, FINISHED]


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_torn_line_that_was_ended_later_is_no_result(data):
    whole = shards.encode(FINISHED)
    torn = whole[: data.draw(st.integers(0, len(whole) - 2))] + b"\n"
    assert shards.head(torn) is None
    assert shards.decode(torn) is None


def test_a_log_goes_on_after_a_torn_line(tmp_path):
    shard = Shard(tmp_path)
    shard.append([FINISHED])
    with shard.path.open("ab") as log:
        log.write(b'{"id":"00')
    shard.append([FAILED])
    assert list(Reader(tmp_path).records()) == [FINISHED, FAILED]


def test_a_reader_goes_on_where_it_was(tmp_path):
    line = shards.encode(FINISHED)
    log, reader = tmp_path / "a.jsonl", Reader(tmp_path)
    assert list(reader.records()) == []
    log.write_bytes(line + line[:10])
    assert list(reader.records()) == [FINISHED]
    log.write_bytes(line + line)
    (tmp_path / "b.jsonl").write_bytes(shards.encode(FAILED))
    assert list(reader.records()) == [FINISHED, FAILED]
    assert list(reader.records()) == []


def test_a_full_disk_leaves_whole_lines_only(tmp_path):
    shard = Shard(tmp_path)
    shard.append([FINISHED])
    size = shard.path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            shard.append([FINISHED, FAILED])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert shard.path.stat().st_size == size
    shard.append([FAILED])
    assert list(Reader(tmp_path).records()) == [FINISHED, FAILED]


@given(st.lists(st.floats(width=64), max_size=8))
def test_arrays_keep_their_bits(values):
    array = np.array(values, dtype="<f8")
    metrics = (("m", len(values)),)
    record = Finished("a" * 20, 1.0, 1, None, len(values), metrics, array.tobytes())
    back = shards.decode(shards.encode(record))
    assert back.metrics == metrics
    assert back.values == array.tobytes()


def append_many(folder, log, seed):
    """Append messages of different length to a log that others write too."""
    shard = Shard(folder, log)
    for number in range(100):
        n = seed * 37 + number
        shard.append([Finished(f"{seed:04d}{number:016d}", 1.0, 1, None, 1, (("m", n),), b"A" * (8 * n))])


def test_processes_that_share_a_log_take_turns(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(tmp_path, "shared", seed)) for seed in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)
    assert [path.name for path in tmp_path.iterdir()] == ["shared.jsonl"]
    found = [record.id for record in Reader(tmp_path).records()]
    assert sorted(found) == [f"{seed:04d}{number:016d}" for seed in range(4) for number in range(100)]


def test_without_locks_everybody_has_a_log_of_their_own(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(shards.fcntl, "flock", refuse)
    one, other = Shard(tmp_path, "shared"), Shard(tmp_path, "shared")
    one.append([FINISHED])
    other.append([FAILED])
    one.append([FINISHED])
    assert one.path != other.path
    assert len(list(Reader(tmp_path).records())) == 3


def test_a_reader_of_some_logs(tmp_path):
    Shard(tmp_path, "mine-1").append([FINISHED])
    Shard(tmp_path, "other").append([FAILED])
    assert list(Reader(tmp_path, "mine-*.jsonl").records()) == [FINISHED]


def test_logs_become_one_while_somebody_reads(tmp_path):
    """What a reader had not come to when its log was merged away is in the new log."""
    for name in "abc":
        Shard(tmp_path, name).append([replace(FINISHED, id=name * 20)])
    with (tmp_path / "c.jsonl").open("ab") as log:
        log.write(b'{"id":')
    reader = Reader(tmp_path)
    lines = reader.heads()
    seen = {next(lines).id}
    merge(tmp_path, [tmp_path / f"{name}.jsonl" for name in "abc"], "merged")
    seen |= {head.id for head in lines}
    assert seen == {name * 20 for name in "abc"}
    assert [path.name for path in tmp_path.iterdir()] == ["merged.jsonl"]
    assert [head.id[0] for head in Reader(tmp_path).heads()] == ["a", "b", "c"], "without the torn line"
    assert list(reader.heads()) == [], "nothing is new"
