"""The index saves reading logs, and nothing depends on it: stale, damaged or gone, the logs are read."""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_commands import numbers, results

from sweep.store import dataset, index, reader, shards
from sweep.store.folder import Folder
from sweep.store.index import Held, Index, Stamp
from sweep.store.reader import Reader
from sweep.store.shards import Failed, Finished, Shard, merge

DATASET = Path("results/queue/queue.nc")
SHARDS = Path("results/queue/shards")

FINISHED = Finished("0" * 20, 1.5e-05, 300, None, 2, (("m", 2), ("n", 4)), b"x" * 48)
FAILED = Failed("f" * 20, 0.25, [1, 2, 3], {"policy": "quick"}, 0, "back")
RECORDS = [FINISHED, FAILED, replace(FINISHED, id="1" * 20, seconds=2.0)]


def read(folder, known=None):
    """Return all entries by log, and what is damaged; with no index nothing but the logs is looked at."""
    reader = Reader(folder, index=known)
    found = {
        log: [entry for some in added for entry in zip(*some, strict=True)] for log, added in reader.entries()
    }
    return found, reader.damaged


def keep(folder, later_s=60):
    """Read the logs and keep the index, as if they had not been changed for a while."""
    known = Index(folder)
    found = read(folder, known)
    known.save()
    if later_s:
        later = time.time() + later_s
        os.utime(folder / index.NAME, (later, later))
    return found


@pytest.fixture
def logs(tmp_path):
    """Two logs with an index that is trusted."""
    folder = tmp_path / "logs"
    folder.mkdir()
    Shard(folder, "a").append(RECORDS)
    Shard(folder, "b").append([replace(FINISHED, id="2" * 20)])
    keep(folder)
    return folder


@pytest.fixture
def logs_read(monkeypatch):
    """The names of logs that are read from here on."""
    names = []
    blocks = Reader._blocks
    monkeypatch.setattr(Reader, "_blocks", lambda self, name: names.append(name) or blocks(self, name))
    return names


def test_what_the_index_knows_is_not_read(logs, logs_read):
    plain = read(logs)
    assert logs_read == ["a.jsonl", "b.jsonl"]
    assert len(plain[0]["a.jsonl"]) == 3
    logs_read.clear()
    assert read(logs, Index(logs)) == plain
    assert logs_read == []
    assert list(Reader(logs, index=Index(logs)).records()) == list(Reader(logs).records())


def test_a_reader_goes_on_behind_what_the_index_has(logs, logs_read):
    with (logs / "b.jsonl").open("ab") as log:
        log.write(shards.encode(FAILED)[:40])
    keep(logs)
    logs_read.clear()
    reader = Reader(logs, index=Index(logs))
    assert len(list(reader.heads())) == 4
    with (logs / "b.jsonl").open("ab") as log:
        log.write(shards.encode(FAILED)[40:] + shards.encode(FINISHED))
    assert [head.id for head in reader.heads()] == [FAILED.id, FINISHED.id]
    assert [head.id for head in Reader(logs).heads()][3:] == ["2" * 20, FAILED.id, FINISHED.id]
    assert reader.damaged == []


def test_a_log_that_has_grown_is_read_and_the_other_is_not(logs, logs_read):
    Shard(logs, "b").append([FAILED])
    assert read(logs, Index(logs)) == read(logs)
    assert logs_read == ["b.jsonl", "a.jsonl", "b.jsonl"]
    logs_read.clear()
    keep(logs)
    read(logs, Index(logs))
    assert logs_read == ["b.jsonl"]


def other_bytes(log):
    """Put another result in the place of one, of the same length."""
    before, after = (shards.encode(replace(FINISHED, seconds=seconds)) for seconds in (1.5e-05, 1.6e-05))
    data = log.read_bytes()
    assert before in data
    log.write_bytes(data.replace(before, after))


def other_bytes_with_the_old_time(log):
    stat = log.stat()
    other_bytes(log)
    os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def shorter(log):
    log.write_bytes(log.read_bytes()[:-1])


def another_file(log):
    other = log.with_name("other")
    other.write_bytes(log.read_bytes()[::-1])
    other.replace(log)


def only_touched(log):
    time.sleep(0.02)  # longer than a tick of the clock of files
    log.touch()


@pytest.mark.parametrize(
    "change", [other_bytes, other_bytes_with_the_old_time, shorter, another_file, only_touched]
)
def test_a_log_that_is_another_than_when_it_was_looked_at_is_read(logs, logs_read, change):
    time.sleep(0.02)
    change(logs / "a.jsonl")
    known = read(logs, Index(logs))
    assert logs_read == ["a.jsonl"]
    assert known == read(logs)


def test_nothing_is_taken_from_an_index_as_old_as_the_last_change(logs, logs_read):
    """Within a tick of the file system's clock, a change leaves length and times as they were."""
    known = Index(logs)
    read(logs, known)
    held = known.held("a.jsonl")
    other_bytes(logs / "a.jsonl")
    # As if it had the times of before.
    known.note("a.jsonl", Held(Stamp.of(logs / "a.jsonl"), held.end, held.entries))
    known.save()
    assert read(logs, Index(logs)) == read(logs)
    assert logs_read[0] == "a.jsonl"
    keep(logs, later_s=0)
    logs_read.clear()
    read(logs, Index(logs))
    assert logs_read == ["a.jsonl", "b.jsonl"]
    # And as soon as enough time has gone by, it is written anew.
    keep(logs)
    logs_read.clear()
    read(logs, Index(logs))
    assert logs_read == []


def test_a_damaged_log_is_told_of_each_time(logs, logs_read):
    line = shards.encode(FINISHED)
    with (logs / "b.jsonl").open("ab") as log:
        log.write(line[:150] + b"?" + line[151:])
    for _ in range(2):
        logs_read.clear()
        assert keep(logs)[1] == [FINISHED.id]
        assert logs_read == ["b.jsonl"]


def test_a_log_that_is_written_while_it_is_read_is_not_in_the_index(logs, logs_read):
    known = Index(logs)
    Shard(logs, "a").append([FAILED])
    for log, added in Reader(logs, index=known).entries():
        n = len(next(added).ids)
        if log == "a.jsonl":
            assert n == 4
            Shard(logs, "a").append([FAILED])
        assert [len(some.ids) for some in added] == [1] * (log == "a.jsonl")
    assert known.held("a.jsonl") is None
    assert known.held("b.jsonl") is not None


def test_logs_that_are_gone_or_merged(logs, logs_read):
    Shard(logs, "c").append([FAILED])
    keep(logs)
    merge(logs, [logs / "a.jsonl", logs / "b.jsonl"], "merged")
    logs_read.clear()
    found, _ = read(logs, Index(logs))
    assert logs_read == ["merged.jsonl"]
    assert (found, []) == read(logs)
    keep(logs)
    assert Index(logs).held("a.jsonl") is None
    assert Index(logs).held("merged.jsonl") is not None


def test_logs_of_nothing(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "b.jsonl").write_bytes(b'{"id":')
    keep(tmp_path)
    assert Index(tmp_path).held("a.jsonl").end == 0
    assert read(tmp_path, Index(tmp_path)) == ({"a.jsonl": [], "b.jsonl": []}, [])


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_a_damaged_index_is_none(logs, data):
    """Flipped anywhere, cut off anywhere, or with something else in it."""
    whole = (logs / index.NAME).read_bytes()
    stat = (logs / index.NAME).stat()
    damaged = bytearray(whole)
    kind = data.draw(st.sampled_from(["flip", "cut", "add", "other"]))
    if kind == "flip":
        damaged[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del damaged[data.draw(st.integers(0, len(whole) - 1)) :]
    elif kind == "add":
        damaged += data.draw(st.binary(min_size=1, max_size=50))
    else:
        damaged = data.draw(st.binary(max_size=200))
    (logs / index.NAME).write_bytes(damaged)
    os.utime(logs / index.NAME, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    try:
        assert Index(logs).held("a.jsonl") is None
        assert Index(logs).held("b.jsonl") is None
        assert read(logs, Index(logs)) == read(logs)
    finally:
        (logs / index.NAME).write_bytes(whole)
        os.utime(logs / index.NAME, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert Index(logs).held("a.jsonl") is not None


def test_a_folder_in_the_place_of_the_index(logs, logs_read):
    (logs / index.NAME).unlink()
    (logs / index.NAME).mkdir()
    assert keep(logs, later_s=0) == read(logs)
    assert logs_read == ["a.jsonl", "b.jsonl"] * 2


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_process_that_dies_with_the_index_leaves_the_old_one(logs, logs_read, monkeypatch, moment):
    Shard(logs, "b").append([FAILED])
    before = (logs / index.NAME).read_bytes()
    if (child := os.fork()) == 0:
        known = Index(logs)
        read(logs, known)
        owner = os if moment == "fsync" else Path
        setattr(owner, moment, lambda *_: os._exit(7))
        known.save()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert (logs / index.NAME).read_bytes() == before
    assert read(logs, Index(logs)) == read(logs)
    assert logs_read[0] == "b.jsonl", "and the other log is still known"


def test_a_full_disk_is_no_reason_to_fail(logs, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    Shard(logs, "b").append([FAILED])
    monkeypatch.setattr(index, "replace", full)
    before = (logs / index.NAME).read_bytes()
    keep(logs, later_s=0)
    assert (logs / index.NAME).read_bytes() == before


def test_an_index_that_says_the_same_is_not_written_again(logs, monkeypatch):
    monkeypatch.setattr(index, "replace", None)
    keep(logs, later_s=0)


@given(st.lists(st.integers(0, 11), unique=True), st.integers(1, 2000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=80)
def test_lines_read_together_are_those_read_one_by_one(tmp_path, monkeypatch, which, at_once):
    monkeypatch.setattr(reader, "BLOCK_BYTES", at_once)
    records = [
        replace(FINISHED, id=f"{n:020d}", metrics=(("m", 3 * n),), values=b"y" * (24 * n)) for n in range(6)
    ]
    lines = [shards.encode(record) for record in records]
    places = []
    for log in ("a.jsonl", "b.jsonl"):
        (tmp_path / log).write_bytes(b"".join(lines))
        places += [reader.Place(log, sum(map(len, lines[:n])), len(line)) for n, line in enumerate(lines)]
    found = list(Reader(tmp_path).at(places[n] for n in which))
    assert found == [records[n % 6] for n in which]


def test_many_records_are_put_in_their_places_as_one_by_one(expand, tmp_path):
    """Also tasks tried several times, of several points, and of no point of the plan."""
    plan = expand("executor=serial", "replications=2")
    ids = [*dict.fromkeys(plan.ids), "e" * 20][-31:]
    plan.ids[1::5] = plan.ids[::5][: len(plan.ids[1::5])]  # points that mean the same simulation
    points = (plan.points[:, None] * plan.replications + np.arange(plan.replications)).ravel().tolist()
    rows = {id_: [row for row, known in zip(points, plan.ids, strict=True) if known == id_] for id_ in ids}
    assert {len(each) for each in rows.values()} >= {0, 1, 2}
    random = np.random.default_rng(1)
    for _ in range(60):
        collector = dataset.Collector(plan, tmp_path)
        columns = [getattr(collector, name) for name in ("_state", "_log", "_seconds", "_offset", "_length")]
        expected = [column.copy() for column in columns]
        state = expected[0]
        for _ in range(random.integers(1, 5)):
            n, log = random.integers(0, 20), int(random.integers(0, 3))
            some = index.Entries(
                random.choice(ids, n).tolist(), (random.random(n) < 0.5).tolist(), random.random(n).tolist(),
                random.integers(0, 1000, n).tolist(), random.integers(1, 1000, n).tolist(),
            )  # fmt: skip
            collector._note(log, some)
            for id_, failed, *where in zip(*some, strict=True):
                for row in rows[id_]:
                    if not failed:
                        for column, value in zip(expected, (dataset.DONE, log, *where), strict=True):
                            column[row] = value
                    elif state[row] != dataset.DONE:
                        state[row] = dataset.FAILED
        for found, plain in zip(columns, expected, strict=True):
            np.testing.assert_array_equal(found, plain)


def let_time_pass():
    """Have all logs of the study settled when its index was written."""
    later = time.time() + 60
    os.utime(SHARDS / index.NAME, (later, later))


def test_a_second_command_reads_no_log(sweep, logs_read):
    sweep()
    let_time_pass()
    logs_read.clear()
    for action in ("run", "gather", "plan", "status"):
        answer = sweep(f"action={action}")
        assert answer.status == 0
    assert logs_read == []
    DATASET.unlink()
    assert "everything is done: 24 of 24" in sweep().out
    assert logs_read == []
    assert results() == 24


def test_who_only_looks_writes_no_index(sweep):
    sweep()
    (SHARDS / index.NAME).unlink()
    sweep("action=plan")
    sweep("action=status")
    assert not (SHARDS / index.NAME).exists()
    sweep("action=gather")
    assert (SHARDS / index.NAME).exists()


def test_a_study_is_the_same_with_and_without_an_index(sweep):
    """Grown in between, and with a damaged record."""
    sweep("replications=1")
    let_time_pass()
    sweep()
    let_time_pass()
    logs = sorted(SHARDS.glob("*.jsonl"))
    data = bytearray(logs[0].read_bytes())
    data[300] ^= 1
    logs[0].write_bytes(data)
    shutil.copytree("results", "plain")
    (Path("plain/queue/shards") / index.NAME).unlink()
    for output in ("results/queue", "plain/queue"):
        answer = sweep(f"output={output}")
        assert "1 record" in answer.out
        assert "not what was written" in answer.out
    xr.testing.assert_identical(numbers(), numbers("plain/queue"))


def mislead():
    """Damage a record in such a way that its log looks as before: as a disk does that loses bits."""
    log = sorted(SHARDS.glob("*.jsonl"))[0]
    known = Index(SHARDS)
    read(SHARDS, known)
    held = known.held(log.name)
    data = bytearray(log.read_bytes())
    data[data.index(b'"values":"') + 20] ^= 1
    log.write_bytes(data)
    known.note(log.name, Held(Stamp.of(log), held.end, held.entries))
    known.save()
    let_time_pass()


@pytest.mark.parametrize("action", ["run", "gather"])
def test_damage_that_the_index_does_not_know_of_is_found_when_the_numbers_are_read(sweep, action):
    sweep()
    whole = numbers()
    mislead()
    assert "not what was written" not in sweep(f"action={action}").out, "nobody needs the numbers"
    DATASET.unlink()
    answer = sweep(f"action={action}")
    assert "1 record in results/queue/shards is not what was written" in answer.out
    assert "the same command runs again what is missing" in answer.out
    assert action == "run" or "23 of 24 tasks are in it" in answer.out
    assert int((numbers()["state"] == dataset.DONE).sum()) == 23
    answer = sweep()
    assert "1 record in results/queue/shards is not what was written" in answer.out
    assert results() == 25
    xr.testing.assert_identical(numbers(), whole)
    assert "not what was written" not in sweep().out


def test_the_index_is_no_log(tmp_path):
    folder = Folder(tmp_path, "study")
    folder.create()
    Index(folder.shards).save()
    assert not folder.holds_results()
