"""Logs in the Standard Workload Format: reading, refusals with their line, selection, writing."""

import bz2
import gzip
import lzma
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import archive_log
from hypothesis import event, given, settings
from hypothesis import strategies as st

from models.jobs import swf
from models.jobs.swf import COLUMNS, DTYPES, SwfError

HEADER = b"; Version: 2.2\n; MaxProcs: 128\n;\n"  # rows start at line 4


def row(**values: float | str) -> bytes:
    """Return one line; what is not named is a small job, or unknown."""
    job: dict[str, float | str] = {"job": 1, "submit": 0, "runtime": 10, "processors": 4, "user": 1, **values}
    return b" ".join(str(job.get(name, -1)).encode() for name in COLUMNS)


def lines(*rows: bytes) -> bytes:
    return HEADER + b"".join(one + b"\n" for one in rows)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


def read_bytes(folder: Path, content: bytes, name: str = "log.swf") -> swf.Log:
    (folder / name).write_bytes(content)
    return swf.read(folder / name)


def refusal(folder: Path, content: bytes, name: str = "log.swf") -> str:
    with pytest.raises(SwfError) as caught:
        swf.select(read_bytes(folder, content, name), None)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_every_column_is_read_with_its_name_and_type(folder: Path) -> None:
    log = read_bytes(folder, HEADER + b"  1 2 3.5 4 5 6.25 7 8 9 10 11 12 13 14 15 16 17 18\r\n")
    assert list(log.columns) == list(COLUMNS)
    values = [log.columns[name][0] for name in COLUMNS]
    assert values == [1, 2, 3.5, 4, 5, 6.25, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]
    assert {name: values.dtype.type for name, values in log.columns.items()} == DTYPES
    assert log.line.tolist() == [4]


def test_header_keys_repeat_and_comments_continue(folder: Path) -> None:
    header = (
        b"; --- made by a script ---\n"
        b"; Note: group 1 is users\n"
        b";       personnel: group 2\n"
        b";\tsee: http://example.org\n"
        b"; Queue:  0  interactive \n; Queue: 1 batch\n"
        b"; Information: http://example.org\n; Empty:\n;\n"
        b"; Installation: Kungliga Tekniska h\xf6gskolan\n"  # latin-1
        b"; Acknowledge: J\xc3\xb8rgen\n"  # UTF-8
    )
    assert read_bytes(folder, header + row() + b"\n").header == {
        "": ["--- made by a script ---"],
        "Note": ["group 1 is users", "personnel: group 2", "see: http://example.org"],
        "Queue": ["0  interactive", "1 batch"],
        "Information": ["http://example.org"],
        "Empty": [""],
        "Installation": ["Kungliga Tekniska högskolan"],
        "Acknowledge": ["Jørgen"],
    }


def test_gzip_is_recognised_by_content_not_by_name(folder: Path) -> None:
    plain = lines(row(), row(job=2, submit=5))
    packed = {
        "one.swf": gzip.compress(plain),
        "two.swf": bz2.compress(plain),
        "three.swf": lzma.compress(plain),
        "padded.swf": gzip.compress(plain) + bytes(512),
        "plain.swf.gz": plain,
        "with a byte order mark.swf": b"\xef\xbb\xbf" + plain,
    }
    for name, content in packed.items():
        log = read_bytes(folder, content, name)
        assert log.columns["submit"].tolist() == [0, 5], name
        assert log.header == {"Version": ["2.2"], "MaxProcs": ["128"]}, name


def test_rows_out_of_order_are_sorted_stably(folder: Path) -> None:
    content = lines(*(row(job=k, submit=s) for k, s in enumerate([5, 3, 9, 3, 9])))
    log = read_bytes(folder, b"; MaxRecords: 7\n" + content)
    assert log.columns["job"].tolist() == [1, 3, 0, 2, 4]
    assert log.line.tolist() == [6, 8, 5, 7, 9]
    assert log.notes == (
        "it has 5 rows, but its header says 7: the end may be missing",
        "2 rows were out of submit order: sorted",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no jobs at all (empty)"),
        (gzip.compress(HEADER, mtime=0), "no jobs at all (only 3 comment lines)"),
        (lines(row(), row()[:-3]) + b"; the end\n", "line 5 has 17 columns, need 18"),
        (lines(row(), row()[:-3]), "cut off after line 4, line 5 has 17 of 18 columns; fetch"),
        (lines(row(), row(runtime="1O"), row()), "line 5 has '1O' as runtime, not a number"),
        (lines(row(), row(user=1.5), row()), "line 5 has 1.5 as user, not a whole number"),
        (lines(row(memory=0.5), row(user=10**20)), "line 5 has 1e+20 as user, not a number below"),
        (lines(row(), row(runtime=-0.5)), "line 5 has the negative runtime -0.5, only -1"),
        (b"PK\3\4" + lines(row()), "line 1 is not text"),
        (b"\x28\xb5\x2f\xfd" + lines(row()), "the zstandard data is cut off or damaged"),
        (
            b"# JobID SubmitTime\n" + row() + b"\n",
            "this is a log of another format, such as the Grid Workloads F",
        ),
        (b"\n<!DOCTYPE html>\n<p>Log in first.</p>\n", "is an HTML page, not a log; download the log that"),
        (gzip.compress(b"<HTML>\n", mtime=0), "is an HTML page, not a log; download the log that the page"),
        (b'{"jobs": []}', "this is JSON, such as Batsim's, which is not read; convert it"),
        (gzip.compress(b"\n" * 50_000_000, mtime=0), "unpacks to more than 16,777,216 bytes, from "),
        (gzip.compress(lines(row()), mtime=0)[:-9], "the gzip data is cut off or damaged (Comp"),
        (gzip.compress(lines(row()), mtime=0) + b"trailing rubbish", "the gzip data is cut off or damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_first_wrong_line_is_named(folder: Path, content: bytes, message: str) -> None:
    assert refusal(folder, content).startswith(f"log.swf: {message}")


def test_a_part_of_a_log_that_is_too_large_can_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.jobs.swf.unpacking.MOST_BYTES", 2000)
    message = refusal(folder, lines(*(row(job=k) for k in range(50))))
    assert message.startswith(f"{folder}/log.swf: has 2,")
    command = message.partition("such as: ")[2]
    subprocess.run(command, shell=True, check=True, cwd=folder)
    assert swf.read(folder / "part.swf").n_jobs == 7, "and three comments"


def test_bad_rows_are_left_out_up_to_a_share(folder: Path) -> None:
    rows = [row(job=i, submit=i) for i in range(198)]
    rows[50:50] = [row(runtime=-7), b"1 2 3"]
    log = read_bytes(folder, lines(*rows))
    assert log.faults == {54: "has the negative runtime -7, only -1 (unknown) is allowed",
                          55: "has 3 columns, need 18"}  # fmt: skip
    chosen = swf.select(log, None)
    assert chosen.dropped == {"that are not rows of the format (bad_rows)": 2}
    assert log.line[chosen.rows].tolist() == [*range(4, 54), *range(56, 204)]
    with pytest.raises(SwfError, match=r"line 54 has .*; 2 of 200 rows are wrong: .*workload.bad_rows=0.01"):
        swf.select(log, None, swf.Filters(bad_rows=0.0))


def test_further_columns_are_left_out(folder: Path) -> None:
    plain = read_bytes(folder, lines(row(), row(submit=5)))
    log = read_bytes(folder, lines(row() + b" nodes=1:ppn=4", row(submit=5) + b" x y"))
    for name in COLUMNS:
        np.testing.assert_array_equal(log.columns[name], plain.columns[name])
    assert log.notes == ("columns beyond the format's 18 are left out",)


WHOLE = lines(
    row(job=1, cpu_time=8.97),
    row(job=2, submit=60, runtime=120),
    row(job=3, submit=61, preceding_job=2, think_time=300),
    row(job=4, submit=1000),
)


@pytest.mark.parametrize("name", ["log.swf", "log.swf.gz"])
def test_written_columns_are_read_again(folder: Path, name: str) -> None:
    table = {"submit": np.array([0.0, 2.5, 1e12]), "user": np.array([3, -1, 2**53 - 1])}
    header = {"": ["no key"], "Note": ["one", "Key: two"]}
    swf.write(folder / name, table, header)
    assert (folder / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    log = swf.read(folder / name)
    expected = {column: np.full(3, -1) for column in COLUMNS} | {"job": np.arange(1, 4)} | table
    for column in COLUMNS:
        np.testing.assert_array_equal(log.columns[column], expected[column])
    assert log.header == header


def test_a_log_cut_at_any_byte_is_refused_or_a_prefix_of_whole_rows(folder: Path) -> None:
    ends = [match.end() for match in re.finditer(rb"\n", WHOLE)][HEADER.count(b"\n") :]
    # Without its line end, "300" of the third row could be the beginning of "3000".
    readable = {end: n for n, end in enumerate(ends, start=1)}
    readable |= {end - 1: n for n, end in enumerate(ends, start=1) if n != 3}
    whole = read_bytes(folder, WHOLE)
    for at in range(len(WHOLE) + 1):
        if at in readable:
            log = read_bytes(folder, WHOLE[:at])
            for name in COLUMNS:
                np.testing.assert_array_equal(log.columns[name], whole.columns[name][: readable[at]])
        else:
            message = refusal(folder, WHOLE[:at])
            if at <= len(HEADER):
                assert "no jobs at all" in message
            else:
                complete = WHOLE[:at].count(b"\n")
                assert f"cut off after line {complete}, line {complete + 1} has" in message


@pytest.mark.parametrize(
    ("columns", "header", "message"),
    [
        ({"nodes": [1]}, {}, "no columns nodes in the format; it has job, submit,"),
        ({"submit": [1, 2], "user": [1]}, {}, "got submit 2, user 1"),
        ({"runtime": [1, np.nan]}, {}, "row 2 cannot be written, it has nan as runtime"),
        ({"user": [1]}, {"two words": ["x"]}, "cannot write the header entry 'two words': 'x'"),
    ],
)
def test_columns_that_cannot_be_read_are_not_written(
    tmp_path: Path, columns: dict[str, Any], header: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(SwfError, match=re.escape(message)):
        swf.write(tmp_path / "log.swf", {name: np.array(values) for name, values in columns.items()}, header)
    assert not list(tmp_path.iterdir())


SMALL = {
    "submit": st.sampled_from([0, 10, 20, 30, 40, 40, -1]),
    "runtime": st.sampled_from([7, 8, 9, 0.5, 0, -1]),
    "processors": st.sampled_from([1, 4, 8, 9, 0, -1]),
    "requested_processors": st.sampled_from([-1, 2, 8]),
    "requested_time": st.sampled_from([-1, 60]),
    "status": st.integers(-1, 5),
    "user": st.integers(1, 3),
    "application": st.integers(-1, 2),
    "queue": st.integers(0, 2),
    "partition": st.integers(0, 2),
}
LOGS = st.lists(st.fixed_dictionaries(SMALL), min_size=3, max_size=30)
ONE_OR_MORE = st.integers(1, 2) | st.lists(st.sampled_from([1, 2, 1, 2, 0, 3]), min_size=1, max_size=3)
RULES = {
    "start": st.sampled_from([0, 10, 10.5, 20]),
    "end": st.sampled_from([20, 30, 30.5]),
    "partition": ONE_OR_MORE,
    "queue": ONE_OR_MORE,
    "user": ONE_OR_MORE,
    "exclude_user": ONE_OR_MORE,
    "exclude": st.fixed_dictionaries({"user": ONE_OR_MORE, "application": ONE_OR_MORE}),
    "partial": st.sampled_from(["drop", "keep"]),
    "failed": st.sampled_from(["keep", "drop"]),
    "zero_runtime": st.sampled_from(["drop", "second"]),
    "oversized": st.sampled_from(["drop", "cap", "error"]),
}


@st.composite
def few_rules(draw: st.DrawFn) -> dict[str, Any]:
    """Return up to four rules: with all of them at once hardly a job is ever left."""
    names = draw(st.lists(st.sampled_from(sorted(RULES)), unique=True, max_size=4))
    return {"machine_size": draw(st.sampled_from([8, 4, 16]))} | {name: draw(RULES[name]) for name in names}


def selected(log: swf.Log, machine_size: int = 128, **filters: Any) -> swf.Selection:
    return swf.select(log, machine_size, swf.Filters(**filters))


def several(value: int | list[int]) -> list[int]:
    return [value] if isinstance(value, int) else value


def slow_select(jobs: list[dict[str, Any]], rules: dict[str, Any]) -> tuple[list[Any], list[int]]:
    """Select one job after the other; return what is kept and the rows that each rule dropped, in order."""
    for column in ("partition", "queue", "user"):
        if not {*several(rules.get(column, []))} <= {job[column] for job in jobs}:
            raise ValueError
    if not {*several(rules.get("exclude_user", []))} <= {job["user"] for job in jobs}:
        raise ValueError
    pattern = rules.get("exclude", {})
    for column, values in pattern.items():
        if not {*several(values)} <= {job[column] for job in jobs}:
            raise ValueError
    first = min((job["submit"] for job in jobs if job["submit"] >= 0), default=0)
    kept: list[Any] = []
    rule_of: list[int] = []
    for job in sorted(jobs, key=lambda job: job["submit"]):
        at = job["submit"] - first
        size = job["processors"] if job["processors"] > 0 else max(job["requested_processors"], 0)
        too_large = size > rules["machine_size"]
        drops = [
            job["submit"] < 0,
            at < rules.get("start", 0),
            at >= rules.get("end", 100),
            *(
                column in rules and job[column] not in several(rules[column])
                for column in ("partition", "queue", "user")
            ),
            "exclude_user" in rules and job["user"] in several(rules["exclude_user"]),
            bool(pattern) and all(job[column] in several(values) for column, values in pattern.items()),
            rules.get("partial") != "keep" and job["status"] in (2, 3, 4),
            rules.get("failed") == "drop" and job["status"] in (0, 5),
            size == 0,
            job["runtime"] < 0,
            rules.get("zero_runtime") != "second" and job["runtime"] == 0,
            rules.get("oversized", "drop") == "drop" and too_large,
        ]
        if any(drops):
            rule_of.append(drops.index(True))
        elif too_large and rules["oversized"] == "error":
            raise ValueError
        else:
            runtime = job["runtime"] or 1.0
            row = (runtime, min(size, rules["machine_size"]), job["user"], job["application"])
            kept.append((at, *row, job["requested_time"]))
    if not kept:
        raise ValueError
    return [(job[0] - kept[0][0], *job[1:]) for job in kept], rule_of


@settings(max_examples=100)
@given(LOGS, few_rules())
def test_selection_equals_its_slow_twin(
    folder: Path, rows: list[dict[str, Any]], rules: dict[str, Any]
) -> None:
    log = read_bytes(folder, lines(*(row(**job) for job in rows)))
    try:
        kept, rule_of = slow_select(rows, rules)
    except ValueError:
        event("refused")
        with pytest.raises(ValueError, match=r"^log\.swf: "):
            selected(log, **rules)
        return
    selection = selected(log, **rules)
    of_log = [log.columns[name][selection.rows] for name in ("user", "application", "requested_time")]
    columns = (selection.arrival, selection.runtime, selection.size, *of_log)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == kept
    assert [n for _, n in sorted(Counter(rule_of).items())] == list(selection.dropped.values())
    assert selection.kept + sum(selection.dropped.values()) == log.n_jobs


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"user": 9}, "log.swf: no row has user 9; most frequent are 3 (2 rows), 1 (1 row)"),
        ({"exclude": [{"user": 3, "processors": 7}]}, "log.swf: no row has processors 7;"),
        ({"exclude": {"nodes": 7}}, "workload.exclude={'nodes': 7}; allowed: values of job, submit,"),
        ({"queue": 1}, "log.swf: no job has a known queue; leave out the filter workload.queue"),
        ({"user": "3"}, "workload.user='3'; allowed: one value of the log, or a list of them"),
        ({"oversized": "shrink"}, "workload.oversized=shrink; allowed: drop, cap, error"),
        ({"start": 10, "end": 10}, "start=10, end=10: give numbers with start < end"),
        ({"oversized": "error", "machine_size": 3}, "log.swf: line 5 has a job of 8 processors, and the"),
        ({"user": 1, "start": 5}, "log.swf: no job is left of 3 rows: dropped 1 before start=5, 2 of"),
    ],
)
def test_rules_that_cannot_be_met(folder: Path, rules: dict[str, Any], message: str) -> None:
    rows = (row(processors=2), row(user=3, processors=8, submit=10), row(user=3, processors=2, submit=10))
    log = read_bytes(folder, lines(*rows))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        selected(log, **rules)


ARCHIVE = {
    "NASA-iPSC-1993-3": (42_264, 128),
    "KTH-SP2-1996-2": (28_489, 100),
    "CEA-Curie-2011-2.1-cln": (312_826, 93_312),
}
"""Jobs and processors of logs, as the Parallel Workloads Archive has them."""


@pytest.mark.parametrize("name", ARCHIVE)
def test_logs_of_the_archive_have_its_jobs(name: str) -> None:
    log = swf.read(archive_log(name))
    assert (log.n_jobs, log.max_processors) == ARCHIVE[name]


def test_the_nasa_log_without_its_probe_is_the_cleaned_log() -> None:
    raw, clean = (swf.read(archive_log(f"NASA-iPSC-1993-3{suffix}")) for suffix in ("", ".1-cln"))
    probe = {"user": 3, "processors": 1, "application": 1}  # the filter that the cleaned log's header names
    selection = selected(raw, exclude=probe)
    expected = selected(clean)
    assert next(iter(selection.dropped.values())) == raw.n_jobs - clean.n_jobs == 24_025
    for name in ("arrival", "runtime", "size"):
        np.testing.assert_array_equal(getattr(selection, name), getattr(expected, name))
