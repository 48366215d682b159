"""Files of sacct: every row counted, every field read, every fault named with its line."""

import bz2
import gzip
import importlib
import json
import lzma
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import composed, opened_on

from models.backfill import FAMILY
from models.jobs.selecting import Selection
from models.point import Point
from models.workloads import replayed, sacct
from models.workloads.sacct import SacctError, fields
from models.workloads.sacct.selecting import het_jobs

DAY = np.datetime64("2024-03-01T00:00:00")

JOB = {
    "JobID": "7", "User": "alice", "Account": "", "Partition": "batch", "State": "COMPLETED",
    "Submit": 0, "Eligible": 0,
    "Start": 60, "ElapsedRaw": 600, "TimelimitRaw": 20, "AllocCPUS": 4, "AllocNodes": 1, "ReqMem": "4000M",
    "QOS": "normal", "Reservation": "", "AllocTRES": "billing=4,cpu=4,mem=4000M,node=1",
    "Constraints": "",
}  # fmt: skip
HEADER = "|".join(JOB)
QUEUED = ("End", "ReqCPUS", "ReqNodes", "ReqTRES")
"""Columns by which cancelled jobs wait."""


def row(**values: Any) -> str:
    """Return one line; what is not named is a small job. Times are seconds of a day."""
    job = JOB | {"Eligible": values.get("Submit", 0)} | values
    times = {name: str(DAY + np.timedelta64(job[name])) for name in ("Submit", "Eligible", "Start")
             if isinstance(job[name], int)}  # fmt: skip
    return "|".join(str(value) for value in (job | times).values())


def lines(*rows: str) -> str:
    return "\n".join([HEADER, *rows]) + "\n"


NEVER = {"ElapsedRaw": 0, "AllocCPUS": 0}

# Jobs in all states.
MORNING = lines(
    row(JobID="100", Submit=100, Start=130, ElapsedRaw=3600, AllocCPUS=64, AllocNodes=2),
    row(JobID="100.batch", User="", Partition="", Submit=130, Start=130, TimelimitRaw="", ReqMem=""),
    row(JobID="100.extern", User="", Partition="", Submit=130, Start=130, TimelimitRaw="", ReqMem=""),
    row(JobID="100.0", User="", Partition="", Submit=131, Start=131, TimelimitRaw="", ReqMem=""),
    row(JobID="101", User="bob", State="CANCELLED by 1000", Submit=200, Start="None", **NEVER),
    row(JobID="102_1", User="bob", State="TIMEOUT", Submit=300, Start=400, ElapsedRaw=1230),
    row(JobID="102_2", User="bob", State="FAILED", Submit=300, Start=410, ElapsedRaw=0),
    row(JobID="102_[3-9%2]", User="bob", State="PENDING", Submit=300, Start="Unknown", **NEVER),
    row(JobID="103", User="carol", State="NODE_FAIL", Submit=350, Start=500, ElapsedRaw=50),
    row(JobID="103", User="carol", State="REQUEUED", Submit=551, Start=700, ElapsedRaw=80),
    row(JobID="103", User="carol", Submit=781, Start=800, ElapsedRaw=900),
    row(JobID="104+0", Partition="long", Submit=400, Start=420, TimelimitRaw="UNLIMITED"),
    row(JobID="104+1", Partition="long", Submit=400, Start=420, TimelimitRaw="Partition_Limit"),
    row(JobID="105", User="bob", Partition="long", State="RUNNING", Submit=500, Start=600, ElapsedRaw=99999),
    row(JobID="99", User="dave", State="PREEMPTED", Submit=50, Start=900, ElapsedRaw=300, AllocCPUS=256),
)  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sacct")


def read_text(folder: Path, text: str, name: str = "jobs.txt") -> sacct.Table:
    (folder / name).write_text(text)
    return sacct.read(folder / name)


def chosen(folder: Path, text: str, **rules: Any) -> tuple[Selection, sacct.Table]:
    table = read_text(folder, text)
    return sacct.select(table, **{"machine_size": 128} | rules), table


def workload(path: Path, **changes: Any) -> dict[str, Any]:
    return {"name": "sacct", "model": "sacct", "path": str(path)} | changes


def test_every_row_is_counted(folder: Path) -> None:
    selection, table = chosen(folder, MORNING)
    assert selection.dropped == {
        "as a step": 3,
        "that never started": 2,
        "still running": 1,
        "with runtime 0 (zero_runtime=drop)": 1,
        "larger than 128 processors (oversized=drop)": 1,
    }
    jobs = table.job[selection.rows].tolist()
    assert jobs == ["100", "102_1", "103", "104+0", "104+1", "103", "103"]
    assert selection.arrival.tolist() == [0, 200, 250, 300, 300, 451, 681]
    assert selection.runtime.tolist() == [3600, 1230, 50, 600, 600, 80, 900]
    assert selection.size.tolist() == [64, 4, 4, 4, 4, 4, 4]
    requested = table.requested[selection.rows]
    np.testing.assert_array_equal(requested, [1200, 1200, 1200, np.nan, np.nan, 1200, 1200])
    account, *notes, on_clocks = selection.describe()
    assert account.startswith("jobs.txt: 15 rows, 7 kept; dropped 3 as a step, 2 that never started, 1 still")
    counts = [note.removeprefix("jobs.txt: ").split(" ")[0] for note in notes]
    assert counts == ["3", "2", "2"]  # runs of requeued jobs, out of order, heterogeneous
    assert "2 components of heterogeneous jobs (28.6% of the jobs)" in notes[2]
    assert "TZ=UTC" in on_clocks
    opened = opened_on(workload(folder / "jobs.txt"), {"processors": 128})
    assert opened.jobs.user.tolist() == [1, 2, 3, 1, 1, 3, 3]
    assert opened.waited.tolist() == [30, 100, 150, 20, 20, 149, 19]
    clocks_back = [row(JobID="8", ElapsedRaw=-5), row(JobID="9", ElapsedRaw="INVALID")]
    dropped = chosen(folder, lines(row(), *clocks_back))[0].dropped
    assert dropped == {"with a negative runtime by the site's clock": 2}
    changed, _ = chosen(folder, MORNING, zero_runtime="second", oversized="cap")
    assert (changed.runtime.min(), changed.size.max()) == (1.0, 128)


def test_jobs_without_a_limit_get_the_longest_of_their_partition(folder: Path) -> None:
    none = "UNLIMITED", "Partition_Limit"
    limits = [("a", 10), ("a", 30), ("a", none[0]), ("b", 50), ("c", none[0]), ("a", none[1])]
    rows = [row(JobID=str(i), Partition=p, TimelimitRaw=limit) for i, (p, limit) in enumerate(limits)]
    rows[-1] = rows[-1].replace("|600|", "|2400|")  # longer than any limit of its partition
    (folder / "limits.txt").write_text(lines(*rows))
    given = workload(folder / "limits.txt")
    opened = opened_on(given | {"unlimited": "longest"}, {"processors": 128})
    assert opened.jobs.requested.tolist() == [600, 1800, 1800, 3000, 3000, 2400]
    (note,) = (note for note in opened.notes if "no time limit" in note)
    assert note.startswith("limits.txt: 3 of 6 jobs have no time limit: the longest of the part")
    kept = opened_on(given | {"unlimited": None}, {"processors": 128})
    assert np.isnan(kept.jobs.requested).sum() == 3
    assert not any("no time limit" in note for note in kept.notes)
    drawn = opened_on(composed("workload", "sacct", estimates="exact") | given, {"processors": 128})
    assert drawn.jobs.requested.tolist() == [600, 1800, 600, 3000, 600, 2400]


def test_what_shares_one_pool_is_noted(folder: Path) -> None:
    gpus = {"AllocTRES": "cpu=4,gres/gpu=2,gres/gpu:a100=2", "Partition": "gpu"}
    rows = [row(), row(JobID="8", **gpus), row(JobID="9", QOS="high", Reservation="course"), row(JobID="10")]
    (folder / "merged.txt").write_text(lines(*rows))
    given = workload(folder / "merged.txt")
    (note,) = (note for note in opened_on(given, {"processors": 8}).notes if "one pool" in note)
    assert note == (
        "merged.txt: one pool of processors for what its site may schedule separately: 2 partitions (25.0% "
        "of the jobs outside batch), 2 QOS (25.0% of the jobs outside normal), reservations (25.0% of the "
        "jobs), GPUs (25.0% of the jobs); workload.partition=batch keeps one of them, "
        "workload.partition=each simulates each separately, with as many processors as its jobs had at once"
    )
    assert sacct.partitions(given | {"partition": "each"}) == {"batch": ("batch", 12), "gpu": ("gpu", 4)}
    alone = opened_on(given | {"partition": "gpu"}, {"processors": 8})
    assert not any("one pool" in note for note in alone.notes)
    fewer = [text.rsplit("|", 4)[0] for text in lines(*rows).splitlines()]  # as a file without these fields
    (folder / "fewer.txt").write_text("\n".join(fewer) + "\n")
    (note,) = (
        note for note in opened_on(workload(folder / "fewer.txt"), {"processors": 8}).notes if "pool" in note
    )
    assert "separately: 2 partitions (25.0% of the jobs outside batch); workload.partition=batch" in note


def test_downtimes_are_noted(folder: Path) -> None:
    """Jobs 2 and 3 wait through 7,000 s in which none runs; before jobs 4 and 5 no job waits."""
    rows = [
        row(JobID="1", Submit=0, Start=0, ElapsedRaw=1000), row(JobID="2", Submit=500, Start=8000),
        row(JobID="3", Submit=900, Start=8100), row(JobID="4", Submit=40_000, Start=40_000),
        row(JobID="5", Submit=40_000, Eligible=80_000, Start=80_000),
    ]  # fmt: skip
    (folder / "down.txt").write_text(lines(*rows))
    given = workload(folder / "down.txt")
    for keys in ({}, {"user": "alice", "zero_runtime": "second"}):
        notes = opened_on(given | keys, {"processors": 8}).notes
        (note,) = (note for note in notes if "no job ran" in note)
        assert note.startswith(
            "down.txt: no job ran for an hour or more although some were waiting: 1 time, 2 h"
        )
        assert "at most 1.9 h" in note
        # Job 2 waited for 7,500 s and job 3 for 7,200, both through all 7,000.
        assert note.endswith("; 95.2% of all waiting in the log was in these times")
    kept = opened_on(given | {"downtime": "keep"}, {"processors": 8})
    assert kept.machine.down.tolist() == [[1000.0, 8000.0]]
    assert any("kept as reservations of the whole machine" in note for note in kept.notes)
    (folder / "up.txt").write_text(lines(*rows[2:]))
    notes = opened_on(workload(folder / "up.txt"), {"processors": 8}).notes
    assert not any("no job ran" in note for note in notes)


@pytest.mark.parametrize("policy", ["easy", "conservative", "slurm"])
def test_a_downtime_is_kept(folder: Path, policy: str) -> None:
    """Job 2 asks for 1,200 s, and the downtime begins 500 s after its submission; job 3 ends before that."""
    rows = [
        row(JobID="1", Submit=0, Start=0, TimelimitRaw=16, ElapsedRaw=1000),
        row(JobID="2", Submit=500, Start=8000), row(JobID="3", Submit=600, Start=8100, TimelimitRaw=5),
    ]  # fmt: skip
    (folder / "kept.txt").write_text(lines(*rows))
    given = composed("workload", "sacct", path=str(folder / "kept.txt"), downtime="keep")
    machine = composed("machine", "log", processors=64)
    family = importlib.import_module("models.slurm.model" if policy == "slurm" else "models.backfill.model")
    made = family.schedule(Point(composed("policy", policy), given, machine))
    np.testing.assert_allclose(made.start, [0, 8000, 600], atol=31)  # Slurm examines jobs every 30 s


def test_a_downtime_is_refused_where_none_can_be(folder: Path) -> None:
    test_a_downtime_is_kept(folder, "easy")
    given = composed("workload", "sacct", path=str(folder / "kept.txt"), downtime="keep")
    machine = composed("machine", "log", processors=64)
    with pytest.raises(ValueError, match=r"easy_immediate keeps no downtime .*add workload.downtime=null"):
        FAMILY.check(Point(composed("policy", "easy_immediate"), given, machine))
    with pytest.raises(ValueError, match=r"needs the log at its own load; add grid.load=.null."):
        FAMILY.check(Point(composed("policy", "easy"), given, machine, load=0.5))


def test_held_jobs_are_noted(folder: Path) -> None:
    rows = [
        row(JobID="1", Submit=0, Start=30), row(JobID="2", Submit=10, Eligible=3010, Start=4010),
        row(JobID="3", Submit=20, Eligible=70, Start=990), row(JobID="4", Submit=30, Eligible=900, Start=500),
    ]  # fmt: skip
    (folder / "held.txt").write_text(lines(*rows))
    given = workload(folder / "held.txt")
    (note,) = (note for note in opened_on(given, {"processors": 8}).notes if "eligible" in note)
    # Waits of 30, 4,000, 970 and 470 s, of which 3,000 and 470 s were before the jobs were eligible.
    assert note.startswith("held.txt: 2 jobs (50.0%) became eligible a minute or more after sub")
    assert "63.4% of all waiting" in note
    eligible = opened_on(given | {"arrival": "eligible"}, {"processors": 8}).notes
    assert not any("not eligible" in note for note in eligible)


@pytest.mark.parametrize(
    ("rules", "jobs"),
    [
        ({"partition": "long"}, ["104+0", "104+1"]),
        ({"user": ["bob", "carol"]}, ["102_1", "103", "103", "103"]),
        ({"start": "2024-03-01T00:05:00", "end": "2024-03-01T00:09:11"}, ["102_1", "103", "104+0", "104+1"]),
    ],
)
def test_filters(folder: Path, rules: dict[str, Any], jobs: list[str]) -> None:
    selection, table = chosen(folder, MORNING, **rules)
    assert selection.rows.size + sum(selection.dropped.values()) == 15
    assert table.job[selection.rows].tolist() == jobs


def test_jobs_may_arrive_when_they_are_eligible(folder: Path) -> None:
    text = lines(
        row(JobID="1", Submit=0, Eligible=5000, Start=5100),
        row(JobID="2", Submit=10, Eligible=10, Start=40),
        row(JobID="3", Submit=20, Eligible="Unknown", Start=60),
    )
    assert chosen(folder, text)[0].arrival.tolist() == [0, 10, 20]
    eligible, table = chosen(folder, text, arrival="eligible")
    assert table.job[eligible.rows].tolist() == ["2", "1"]
    assert eligible.arrival.tolist() == [0, 4990]
    assert eligible.dropped == {"that were never eligible": 1}
    without = "\n".join("|".join(one.split("|")[:6] + one.split("|")[7:]) for one in text.splitlines())
    with pytest.raises(SacctError, match=r"lacks field Eligible, which .* needs; make the file with: TZ=UTC"):
        chosen(folder, without + "\n", arrival="eligible")


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (fields.limit, "120", 7200.0),
        (fields.limit, "1-02:03:04", 93784.0),
        (fields.limit, "UNLIMITED", math.nan),
        (fields.limit, "4294967295", math.nan),
        (fields.seconds, "1-02:03:04", 93784.0),
        (fields.seconds, "10:09.123", 609.0),
        (fields.count, "1K", 1024),
        (fields.memory, "4000Mc", (4000 * 1024, "c")),
        (fields.memory, "16Gn", (16 * 2**20, "n")),
        (fields.memory, "0n", (0, "n")),
        (fields.memory, "?n", (0, "")),
        (fields.state, "OUT_OF_ME+", "OUT_OF_MEMORY"),
        (fields.state, "CANCELLED by 1000", "CANCELLED"),
        (fields.job, "123_[1-5,7,...", "123_[1-5,7,..."),
        (fields.devices, "cpu=4,gres/gpu=3,gres/gpu:a100=2,gres/nvme=1", {"gpu:a100": 2, "nvme": 1}),
        (fields.devices, "billing=4,gres/gpu=0,node=1", {}),
    ],
)
def test_forms_of_fields(parse: Any, text: str, value: Any) -> None:
    parsed = parse(text)
    assert parsed == value or (math.isnan(parsed) and math.isnan(value))


def test_devices_are_on_each_node(folder: Path) -> None:
    """sacct has the devices of the whole job, without types where it reports none."""
    text = lines(
        row(
            JobID="1",
            AllocNodes=2,
            AllocTRES="gres/gpu=4,gres/gpu:a100=4,license/solver=3",
            Constraints="fast&(a|b)",
        ),
        row(JobID="2", AllocTRES="cpu=4,gres/gpu=1"),
    )
    (folder / "devices.txt").write_text(text)
    opened = opened_on(workload(folder / "devices.txt"), {"processors": 8})
    request = opened.jobs.request
    assert request.gres["gpu:a100"].tolist() == [2, 0]
    assert request.devices("gpu").tolist() == [2, 1]
    assert request.licences["solver"].tolist() == [3, 0]
    assert request.constraint.tolist() == ["fast&(a|b)", ""]
    for given, found in (("solver:2,db@host", {"solver": 2, "db@host": 1}), ("a:1|b:1", {}), ("None", {})):
        assert fields.of_licences(given) == found


def test_forms_of_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = chosen(folder, MORNING)
    with monkeypatch.context() as patch:  # lines begin and end anywhere in a block
        patch.setattr("models.workloads.sacct.reading.READ_BYTES", 150)
        in_blocks = chosen(folder, MORNING)[0]
    with_bars = "\n".join(line + "|" for line in MORNING.splitlines()) + "\n"  # --parsable
    (folder / "packed").write_bytes(gzip.compress(MORNING.replace("\n", "\r\n").encode()))
    (folder / "bz2").write_bytes(bz2.compress(MORNING.encode()))
    (folder / "xz").write_bytes(lzma.compress(MORNING.encode()))
    zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    half = len(MORNING) // 2  # a file may have several frames
    (folder / "zst").write_bytes(
        b"".join(zstd.compress(text.encode()) for text in (MORNING[:half], MORNING[half:]))
    )
    columns = list(zip(*(line.split("|") for line in MORNING.splitlines()), strict=True))
    turned = "\n".join("|".join(texts) for texts in zip(*columns[::-1], strict=True)) + "\n"
    for other in (
        in_blocks,
        chosen(folder, with_bars)[0],
        chosen(folder, turned.replace("ElapsedRaw", "elapsedraw"))[0],
        *(
            sacct.select(sacct.read(folder / name), machine_size=128)
            for name in ("packed", "bz2", "xz", "zst")
        ),
    ):
        np.testing.assert_array_equal(other.arrival, plain.arrival)
        assert other.dropped == plain.dropped
    for package in ("compression", "backports"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=r"needs a package; add it: pip install backports\.zstd$"):
        sacct.read(folder / "zst")


def test_texts_of_users_may_break_rows(folder: Path) -> None:
    """SubmitLine may have line breaks and bars, as its only field of free text."""
    head = f"{HEADER.removesuffix('|Constraints')}|SubmitLine"
    whole, *others = (row(JobID=str(i), Submit=i, Start=60 + i).removesuffix("|") for i in range(4))
    broken = [
        f"{whole}|sbatch a",
        "b | c",
        "d",
        f"{others[0]}|sbatch x|y",
        f"{others[1]}|sbatch -n 2 --oversubscribe",
        f"{others[2]}|z",
    ]
    table = read_text(folder, "\n".join([head, *broken]) + "\n")
    assert table.job.tolist() == ["0", "1", "2", "3"]
    assert table.placed is not None
    assert table.placed[:, 3].tolist() == [0, 0, 1, 0], "which jobs ask to share CPUs"
    first = HEADER.replace("JobID|", "JobID|SubmitLine|")
    inside = [
        text.replace("|", "|sbatch a\n  b\nc|", 1) for text in (row(JobID="1"), row(JobID="2", Submit=9))
    ]
    selection, table = chosen(folder, "\n".join([first, *inside]) + "\n")
    assert (table.job.tolist(), table.line.tolist()) == (["1", "2"], [2, 5])
    assert any("2 rows were joined from lines" in note for note in selection.describe())
    cut = "\n".join([first, inside[0][:40], row(JobID="2").replace("|", "|x|", 1)]) + "\n"
    with pytest.raises(SacctError, match=r"line 2 has . fields, but the first line has 18 \(.*SubmitLine"):
        read_text(folder, cut)


@pytest.mark.parametrize(
    ("before", "after", "texts", "is_read"),
    [
        ("JobName|", "|Constraints", ("a|b|", "|c|d"), True),
        ("", "|SubmitLine|Constraints", ("", "|sbatch -s --wrap=a|b|"), True),
        ("", "|SubmitLine|Constraints", ("", "|sbatch -s -C c|d|c|d"), True),
        ("", "|Comment|SubmitLine", ("", "|a|b|sbatch -s x"), True),  # either way, -s is an option
        ("", "|SubmitLine|Constraints", ("", "|sbatch a|b|c|d"), False),
    ],
)
def test_bars_are_given_to_the_fields_that_may_have_them(
    folder: Path, before: str, after: str, texts: tuple[str, str], is_read: bool
) -> None:
    """What is read is the same whichever field has a bar, or the lines are named."""
    rows = [row(JobID=str(k), Submit=k).removesuffix("|") for k in range(3)]
    empty = "|" * before.count("|") + rows[0] + "|" * after.count("|")
    full = [f"{texts[0]}{one}{texts[1]}" for one in rows[1:]]
    head = f"{before}{HEADER.removesuffix('|Constraints')}{after}"
    text = "\n".join([head, empty, *full, ""])
    if not is_read:
        with pytest.raises(
            SacctError, match=r"line 3 has 20 fields.*--delimiter=\$'\\x1f'.* \(and 1 more like"
        ):
            read_text(folder, text)
        return
    table = read_text(folder, text)
    assert table.job.tolist() == ["0", "1", "2"]
    if table.constraint is not None:
        assert table.constraint.tolist() == ["", *2 * ["c|d" if texts[1].endswith("|c|d") else ""]]
    if "SubmitLine" in after:
        assert table.placed is not None
        assert table.placed[:, 3].tolist() == [0, 1, 1]


def test_a_bar_ends_each_row_but_not_the_first_line(folder: Path) -> None:
    """As ``sacct --noheader --parsable`` prints rows below names; with a blank line, and files joined."""
    first, *rows = MORNING.splitlines()
    barred = "\n".join([first, *(f"{each}|" for each in rows), "", ""])
    plain = read_text(folder, MORNING)
    for text in (barred, barred + barred):
        np.testing.assert_array_equal(read_text(folder, text).job, plain.job)


def test_times_with_their_difference_from_utc(folder: Path) -> None:
    zoned = re.sub(r"(T\d\d:\d\d:\d\d)", r"\1+0000", MORNING)
    east = re.sub(r"T(\d\d)(:\d\d:\d\d)", lambda at: f"T{int(at[1]) + 2:02}{at[2]}+02:00", MORNING)
    plain = read_text(folder, MORNING)
    for text in (zoned, east, MORNING.replace("T00:", " 00:").replace("T01:", " 01:")):
        np.testing.assert_array_equal(read_text(folder, text).submit, plain.submit)


def test_a_job_on_no_nodes_is_noted(folder: Path) -> None:
    selection, table = chosen(folder, lines(row(AllocNodes=0, ReqMem="4Gn"), row(JobID="8")))
    assert any("1 job has no nodes by AllocNodes: one node is taken" in note for note in selection.describe())
    assert table.memory[0] == 4 * 2**20


@pytest.mark.parametrize(
    ("line", "segment", "switches", "wait", "shares"),
    [
        ("sbatch -N 4 --switches=1@30 --segment 2 job.sh", 2, 1, 1800, 0),
        ("srun --switches 2@1-12 a.out", 0, 2, 129_600, 0),
        ("sbatch --switches=1@2:30", 0, 1, 150, 0),
        ("sbatch --segment=18 --wrap=x--switches=3", 18, 0, 2**31, 0),
        ("sbatch --switches=1@soon --spread-segments", 0, 1, 2**31, 0),
        # Options after the script are its own.
        ("sbatch job.sh --segment 4 --switches=2 --spread-segments", 0, 0, 2**31, 0),
        ("sbatch --parsable job.sh -s 5", 0, 0, 2**31, 0),
        ("sbatch -H job.sh -s", 0, 0, 2**31, 0),
        ("sbatch -vW --exclusive -I60 run.sh -s", 0, 0, 2**31, 0),
        ("sbatch --exclu --sw 2 -k -J -s --seg=4 run.sh -s", 4, 2, 2**31, 0),
        ("sbatch --reboot -- -s", 0, 0, 2**31, 0),
        ('sbatch --comment "a b" -s job.sh', 0, 0, 2**31, 1),
        ("sbatch --comment it's -HsN 4 job.sh", 0, 0, 2**31, 1),
        ("srun -W 5 --wait 5 --overs a.out", 0, 0, 2**31, 1),
        ("sbatch -N 1 : -N 2 -s job.sh", 0, 0, 2**31, 1),
    ],
)
def test_where_jobs_want_their_nodes_is_read_from_their_command_lines(
    folder: Path, line: str, segment: int, switches: int, wait: int, shares: int
) -> None:
    """As text and as JSON; --switches without a time waits for as long as the site allows."""
    text = "\n".join([f"{HEADER}|SubmitLine", f"{row(JobID='1')}|{line}", f"{row(JobID='2', Submit=9)}|"])
    selection, table = chosen(folder, text + "\n")
    assert table.placed is not None
    spreads = "--spread" in line.partition(".sh")[0]
    assert table.placed.tolist() == [[segment, switches, wait, shares, spreads], [0, 0, 2**31, 0, 0]]
    assert fields.placed(fields.options(line)) == tuple(table.placed[0])
    noted = [note for note in selection.describe() if "--spread-segments" in note]
    assert [note.endswith("(50.0% of the jobs)") for note in noted] == [True] * spreads
    request = sacct._requests(table, selection.rows, selection.size, selection.size)
    asked = (request.segment.tolist(), request.switches.tolist(), request.switch_wait.tolist())
    assert asked == ([segment, 0], [switches, 0], [wait, 2**31])


@pytest.mark.parametrize(
    ("rows", "jobs"),
    [
        ("a 12+0 0, a 12+1 0, b 12+0 0, b 12+1 0, b 12+2 1, a 13 0", [0, 0, 1, 1, 1, -1]),
        ("a 12+0 0, a 12+0 3600, a 12+1 3601", [0, 1, 1]),
        ("a 12+0 0, a 12+1 0, a 12+0 20, a 12+1 25", [0, 0, 1, 1]),  # requeued at once
        ("a 12+0 0, a 12+1 0, a 12+1 80000, a 12+0 80000, a 12+2 80000", [0, 0, 1, 1, 1]),  # a number reused
    ],
)
def test_components_of_a_heterogeneous_job_are_submitted_together(
    folder: Path, rows: str, jobs: list[int]
) -> None:
    given = [one.split() for one in rows.split(", ")]
    text = [f"{row(JobID=job, Submit=int(at), Start=int(at) + 60)}|{cluster}" for cluster, job, at in given]
    table = read_text(folder, "\n".join([f"{HEADER}|Cluster", *text]) + "\n")
    found = dict(zip(zip(table.cluster, table.job, table.submit, strict=True), het_jobs(table), strict=True))
    number: dict[int, int] = {}
    keys = [(cluster, job, DAY + np.timedelta64(int(at))) for cluster, job, at in given]
    assert [-1 if found[key] < 0 else number.setdefault(found[key], len(number)) for key in keys] == jobs


@pytest.mark.parametrize("separator", ["^", ",", ";", "\t", "%%", " | ", "\x1f"])
def test_any_separator(folder: Path, separator: str) -> None:
    text = MORNING.replace("billing=4,cpu=4,mem=4000M,node=1", "cpu=4")
    plain, _ = chosen(folder, text)
    other, _ = chosen(folder, text.replace("|", separator))
    assert other.dropped == plain.dropped
    np.testing.assert_array_equal(other.arrival, plain.arrival)


def test_comments_above_the_rows(folder: Path) -> None:
    plain, below = chosen(folder, MORNING)
    above, table = chosen(folder, f"# March of the cluster\n# Slurm 24.11.5, sacct -P\n{MORNING}")
    assert table.source == "Slurm's sacct, version 24.11.5"
    assert (table.line - below.line).tolist() == [2] * len(below.line), "the lines of the file"
    np.testing.assert_array_equal(above.arrival, plain.arrival)


def test_files_that_were_joined(folder: Path) -> None:
    """Their first lines recur, also with other fields; rows of both count once."""
    plain, _ = chosen(folder, MORNING)
    again, _ = chosen(folder, MORNING + MORNING)
    assert again.dropped == plain.dropped | {"that repeat an earlier row": 12, "as a step": 6}
    columns = list(zip(*(line.split("|") for line in MORNING.splitlines()), strict=True))
    turned = "\n".join("|".join(texts) for texts in zip(*columns[::-1], strict=True)) + "\n"
    both, _ = chosen(folder, MORNING + turned.replace("\n", "\n", 1))
    assert both.kept == 2 * plain.kept
    rows_with_bars = MORNING.replace("\n", "|\n").replace("|\n", "\n", 1)
    assert chosen(folder, rows_with_bars)[0].dropped == plain.dropped


def test_numbers_are_used_again(folder: Path) -> None:
    """Two years later, or for another user, a number is another job's; soon after its end a job was put
    back."""
    two_years = 730 * 86400
    text = lines(
        row(JobID="5", Submit=0, Start=10, State="NODE_FAIL"),
        row(JobID="5", Submit=611, Start=700),
        row(JobID="5", Submit=two_years, Start=two_years),
        row(JobID="5", User="bob", Submit=two_years + 601, Start=two_years + 700),
    )
    assert any(
        note.startswith("jobs.txt: 2 rows are runs of 1 re") for note in chosen(folder, text)[0].describe()
    )
    last, table = chosen(folder, text, requeued="last")
    assert table.line[last.rows].tolist() == [3, 4, 5]


def test_clusters_are_not_pooled(folder: Path) -> None:
    text = lines(*(row(JobID=str(i), Submit=i) for i in range(4))).replace("JobID|", "Cluster|JobID|")
    text = re.sub(r"^(\d)\|", lambda found: f"{'ab'[int(found[1]) % 2]}|{found[0]}", text, flags=re.MULTILINE)
    with pytest.raises(SacctError, match=r"jobs of 2 clusters \(a, b\).* add workload.cluster=a, or compare"):
        chosen(folder, text)
    selection, table = chosen(folder, text, cluster="b")
    assert table.job[selection.rows].tolist() == ["1", "3"]
    with pytest.raises(
        SacctError, match=r"lacks field Cluster, which workload\.cluster needs; make .*,Cluster$"
    ):
        chosen(folder, MORNING, cluster="a")


def test_a_job_that_changed_its_size_is_one(folder: Path) -> None:
    text = lines(
        row(JobID="1", State="RESIZING", Submit=0, Start=50, ElapsedRaw=100, AllocCPUS=8),
        row(JobID="1", State="RESIZING", Submit=150, Start=150, ElapsedRaw=30, AllocCPUS=4),
        row(JobID="1", Submit=180, Start=180, ElapsedRaw=20, AllocCPUS=2),
        row(JobID="2", Submit=10, Start=20),
    )
    selection, table = chosen(folder, text)
    assert (selection.runtime.tolist(), selection.size.tolist()) == ([150, 600], [8, 4])
    assert (table.start - table.submit)[selection.rows].astype(int).tolist() == [50, 10]
    assert selection.dropped == {"as a part of a job that changed its size": 2}


def test_the_size_of_the_machine_holds_for_nearly_all_the_time() -> None:
    """Jobs of 4 processors follow each other for 100,000 s, and overlap for a second now and then."""
    start = np.arange(0, 100_000, 1000)
    runtime, size = np.full(100, 1000), np.full(100, 4)
    runtime[::10] += 1
    assert replayed.most_at_once(start, runtime, size) == 8
    assert replayed.machine_size(start, runtime, size) == 4
    assert replayed.in_use(start, runtime, size).endswith("and up to 8 for 10 s in all")
    runtime[::10] += 20  # now 0.2 % of the time
    assert replayed.machine_size(start, runtime, size) == 8
    assert replayed.machine_size(start[:0], runtime[:0], size[:0]) == 0


SLURM_JSON = {
    "21.08": {
        "required": {"CPUs": 4, "memory": (1 << 63) + 1000},
        "state": {"current": "COMPLETED"},
        "limit": 20,
    },
    "23.02": {
        "required": {"CPUs": 4, "memory_per_cpu": {"set": True, "infinite": False, "number": 1000}},
        "state": {"current": "COMPLETED"},
        "limit": {"set": True, "infinite": False, "number": 20},
    },
    "25.05": {
        "required": {"CPUs": 4, "memory_per_node": {"set": True, "infinite": False, "number": 4000}},
        "state": {"current": ["COMPLETED"]},
        "limit": {"set": True, "infinite": False, "number": 20},
    },
}
"""Where versions of sacct --json differ: sizes are bare or wrapped, a state is a text or a list."""


@pytest.mark.parametrize("version", SLURM_JSON)
def test_json(folder: Path, version: str) -> None:
    at = int(DAY.astype(np.int64))
    form = SLURM_JSON[version]

    def job(**changes: Any) -> dict[str, Any]:
        made: dict[str, Any] = {
            "job_id": 1, "array": {"job_id": 0, "task_id": {"set": False, "infinite": False, "number": 0}},
            "het": {"job_id": 0, "job_offset": {"set": False, "number": 0}},
            "user": "alice", "partition": "batch", "qos": "normal",
            "association": {"account": "physics", "cluster": "c", "partition": "", "user": "alice"},
            "state": form["state"] | {"reason": "None"}, "allocation_nodes": 1, "required": form["required"],
            "time": {"submission": at, "eligible": at, "start": at + 60, "end": at + 660, "elapsed": 600,
                     "limit": form["limit"]},
            "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4},
                                   {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2},
                                   {"type": "node", "name": "", "id": 4, "count": 1}]},
            "steps": [],
        }  # fmt: skip
        return made | changes

    jobs = [
        job(),
        job(job_id=9, array={"job_id": 7, "task_id": {"set": True, "infinite": False, "number": 2}}),
        job(job_id=11, het={"job_id": 10, "job_offset": {"set": True, "infinite": False, "number": 1}}),
        job(job_id=12, state={"current": "PENDING"}, time=job()["time"] | {"start": 0, "elapsed": 0}),
    ]
    parts = dict(zip(("major", "minor"), version.split("."), strict=True)) | {"micro": "3"}
    meta = {"plugin": {"type": "x"}, "Slurm": {"version": parts, "release": f"{version}.3"}}
    text = json.dumps({"meta": meta, "jobs": jobs, "errors": []}, indent=1)
    selection, table = chosen(folder, text)
    assert table.job[selection.rows].tolist() == ["1", "7_2", "10+1"]
    assert table.source == f"Slurm's sacct --json, version {version}.3"
    assert selection.dropped == {"that never started": 1}
    assert table.requested[0] == 1200
    assert table.memory[0] == 4000 * 1024
    assert table.devices["gpu:a100"].tolist() == [2] * 4
    assert (table.start - table.submit)[0] == np.timedelta64(60, "s")
    assert table.account is not None
    assert table.account[0] == "physics"
    assert text.splitlines()[table.line[1] - 1].strip() == "{"
    with pytest.raises(SacctError, match=r"line \d+ is not a job as sacct --json .*the file is cut"):
        read_text(folder, text[: text.rindex("{")])


@pytest.mark.parametrize("indent", [None, 2])
def test_json_in_blocks_is_what_it_is_job_by_job(
    folder: Path, indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that begin and end anywhere in a block, with what msgspec does not take."""
    jobs = [
        {"account": f"a{k % 3}", "job_id": k, "user": f'"}},{{"account": {"é" * (k % 50)}',
         "state": {"current": ["COMPLETED"]}, "required": {"CPUs": 4}, "allocation_nodes": 1,
         "time": {"submission": 10**9 + k, "eligible": 10**9, "start": 10**9 + 60, "elapsed": 60, "limit": 9},
         "tres": {"allocated": [{"type": "cpu", "count": 4}] * (k % 3 + 1)}, "steps": [{"account": "x"}] * 3}
        for k in range(200)
    ]  # fmt: skip
    jobs[120]["efficiency"], jobs[61]["account"], jobs[62]["account"] = float("nan"), "latin", "latin1"
    meta = {"slurm": {"version": {"major": "25", "micro": "1", "minor": "11"}}}
    text = json.dumps({"jobs": jobs, "meta": meta}, indent=indent, ensure_ascii=False)
    content = text.encode().replace(b"latin", b"\xe9")
    (path := folder / "jobs.json").write_bytes(content)
    monkeypatch.setattr("models.workloads.sacct.reading.READ_BYTES", 4000)
    monkeypatch.setattr("models.jobs.swf.unpacking.MOST_BYTES", 4000)  # of a file that is read as a whole
    table = sacct.read(path)
    assert table.job.tolist() == [str(k) for k in range(200)]
    assert (table.submit.astype(int) - 10**9).tolist() == [*range(200)]
    assert table.user.tolist() == [job["user"] for job in jobs]
    assert table.account is not None
    assert (table.account == "a0").sum() == 67
    assert len(set(table.account)) == 5
    assert table.source.endswith("--json, version 25.11.1")
    begins = (
        [n for n, line in enumerate(text.splitlines(), start=1) if line == "    {"] if indent else [1] * 200
    )
    assert table.line.tolist() == begins
    path.write_bytes(content.replace(b'"submission": %d' % (10**9 + 150), b'"submission": {}'))
    with pytest.raises(SacctError, match=rf"line {begins[150]} is not a job as sacct --json prints it"):
        sacct.read(path)


PBS = [
    "03/01/2024 08:00:00;Q;1.head;queue=batch",
    "03/01/2024 08:10:00;S;1.head;user=alice queue=batch start=1709280600",
    "03/01/2024 08:10:00;E;1.head;user=alice group=g account=\"bio lab\" project=_pbs_project_default "
    "jobname=a "
    "queue=batch ctime=1709280000 qtime=1709280000 etime=1709280000 start=1709280600 exec_host=n1/0*8+n2/0*8 "
    "Resource_List.mem=32gb Resource_List.ncpus=16 Resource_List.nodect=2 Resource_List.walltime=120:00:00 "
    "session=7 end=1709284200 Exit_status=0 resources_used.walltime=01:00:00 run_count=1",
    "03/01/2024 09:00:00;R;2[3].head;user=bob queue=long ctime=1709280000 qtime=1709280000 etime=1709280000 "
    "start=1709280100 exec_host=n3/0-3 Resource_List.nodes=1:ppn=4 Resource_List.walltime=01:00:00 "
    "end=1709280400",
    "03/01/2024 10:00:00;E;2[3].head;user=bob queue=long ctime=1709280000 qtime=1709280000 etime=1709280000 "
    "start=1709281000 exec_host=n3/0-3 Resource_List.nodes=1:ppn=4 Resource_List.walltime=01:00:00 "
    "session=9 total_execution_slots=4 unique_node_count=1 end=1709282000 Exit_status=271",
    "03/01/2024 11:00:00;E;4.head;user=bob queue=long ctime=1709280000 qtime=1709280000 start=1709281000 "
    "exec_host=n1/0-7+n2/0-7 Resource_List.ncpus=1 Resource_List.nodes=2:ppn=8 Resource_List.nodect=2 "
    "Resource_List.walltime=01:00:00 end=1709282000 Exit_status=0",
]  # fmt: skip


def test_accounting_of_pbs(folder: Path) -> None:
    """Records of PBS Professional, then of Torque, of which the second run of a job waits from its first
    one's end."""
    selection, table = chosen(folder, "\n".join(PBS) + "\n")
    assert table.source == "PBS accounting"
    assert table.job.tolist() == ["1", "2_3", "2_3", "4"]
    assert (table.processors.tolist(), table.nodes.tolist()) == ([16, 4, 4, 16], [2, 1, 1, 2])
    assert table.requested.tolist() == [432_000, 3600, 3600, 3600]
    assert table.elapsed.tolist() == [3600, 300, 1000, 1000]
    assert table.memory.tolist() == [32 * 2**20, 0, 0, 0]
    assert (table.start - table.submit).astype(int).tolist() == [600, 100, 600, 1000]
    assert table.account is not None
    assert table.account.tolist() == ["bio lab", "", "", ""]
    assert any("2 rows are runs of 1 requeued job;" in note for note in selection.describe())
    with pytest.raises(SacctError, match=r"line 3 is not a record of a job that ended \(its 'start'\)"):
        read_text(folder, "\n".join(PBS).replace("start=", "began=") + "\n")


def lsf(job: int, index: int, hosts: list[str], limit: int, status: int = 64) -> str:
    fields = [
        '"JOB_FINISH"', '"10.1"', 1709284200, job, 500, 33554434, 16, 1709280000, 0, 0, 1709280600,
        '"alice"', '"batch"', '"span[ptile=8] rusage[mem=4]"', '""', '""', '"login"', '"/home ""x"" y"',
        *['""'] * 4, 0, len(hosts), *(f'"{host}"' for host in hosts), status, "60.0", '"a job"', '"run "',
        *["-1"] * 19, '"mail"', '"bio"', 0, 16, '"/bin/sh"', '""', index, 1000, 2000, *['""'] * 4, 0, '""',
        0, '""', 0, *['""'] * 4, 3600, *['""'] * 2, 0, '""', 0, *['""'] * 2, 1, '"key"', '"value"', 1,
        '"n1"', 5, 6, 7, 8, 0, limit, 0, '""',
    ]  # fmt: skip
    return " ".join(str(field) for field in fields)


def test_accounting_of_lsf(folder: Path) -> None:
    text = "\n".join(
        [lsf(1, 0, ["n1"] * 8 + ["n2"] * 8, 7200), lsf(2, 4, ["8*n1", "8*n2", "4*n3"], -1, status=32)]
    )
    _, table = chosen(folder, text + "\n")
    assert table.source == "LSF accounting"
    assert table.job.tolist() == ["1", "2_4"]
    assert (table.processors.tolist(), table.nodes.tolist()) == ([16, 20], [2, 3])
    np.testing.assert_array_equal(table.requested, [7200, np.nan])
    assert table.elapsed.tolist() == [3600, 3600]
    assert (table.user.tolist(), table.state.tolist()) == (["alice"] * 2, ["COMPLETED", "FAILED"])
    with pytest.raises(
        SacctError, match=r"line 2 is not a record JOB_FINISH of lsb.acct \(it is too short\)"
    ):
        read_text(folder, "\n".join([lsf(1, 0, ["n1"], 7200), '"JOB_FINISH" "10.1" 1709284200 1 500']) + "\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '{"nb_res": 4, "jobs": [], "profiles": {}}',
            "this is a workload of Batsim, which is not read; conv",
        ),
        (
            '{"1": {"assigned_network_address": []}}',
            "this is output of oarstat (OAR), which is not read; conv",
        ),
        (
            "JobID   User\n------- ----\n1  a\n",
            "sacct's fixed-width table, in which long values are cut; print",
        ),
        ("", "is empty; make the file with: TZ=UTC sacct -a -X -D -P"),
        (MORNING.partition("\n")[2], "does not begin with the names of fields; delete lines above them"),
        ('{"meta": {}, "jobs": []}', "its list of jobs is empty; print the jobs of all users and of"),
        (lines(row(State="FINISHED")), "has 'FINISHED' as State, not a state of Slurm such as COMPLETED"),
        (lines(row(AllocTRES="cpu:4")), "has 'cpu:4' as AllocTRES, not a list such as cpu=4,mem=16G"),
        (lines(row(Submit="1970-01-01T00:00:00")), "has '1970-01-01T00:00:00' as Submit, not a time; "),
        (lines(row(JobID="1.batch")), "no jobs at all (only 1 step)"),
        (
            lines(row()).replace("TimelimitRaw", "x"),
            "lacks field TimelimitRaw or Timelimit; make the file with",
        ),
        (lines(row(), row(User="a|b")), "line 3 has 18 fields, but the first line has 17 (is there"),
        (lines(row())[:-1], "line 2 lacks its newline and may be cut off (fetch the file again"),
        (lines(row(), row(JobID="x")), "line 3 has 'x' as JobID, not a job such as 123, 123_4 or 123+0"),
        (lines(row(Start="2024-13-01T00:00:00")), "line 2 has '2024-13-01T00:00:00' as Start, not a time"),
        (lines(row(ElapsedRaw="--5")), "line 2 has '--5' as ElapsedRaw, not seconds, or a duration"),
        (lines(row(ReqMem="4000Q")), "line 2 has '4000Q' as ReqMem, not memory such as 4000M, 16G, 4000Mc"),
        (lines(row(AllocCPUS="99999999P")), "line 2 has '99999999P' as AllocCPUS, not a whole number"),
        (lines(row(TimelimitRaw="9" * 400)), "as TimelimitRaw, not minutes, a duration"),
        (lines(row(ReqMem="99999999999P")), "as ReqMem, not memory that any job has"),
        (lines(row(Submit="x")).replace("x", "9999-01-01T00:00:00"), "as Submit, not a time"),
        (
            lines(row(Submit="x", Eligible=0, ReqMem="4Q"), row(User="a|b"), row(Submit="x", Eligible=1)),
            "jobs.txt: line 3 has 18 fields, but the first line has 17 (is there a | or a line break in a "
            "name or a text? print it again with sacct -P --delimiter=$'\\x1f', or leave out SubmitLine, "
            "JobName and Comment); line 2 has 'x' as Submit, not a time such as 2024-03-01T08:00:00 (is "
            "SLURM_TIME_FORMAT set?) (and 1 more like it); line 2 has "
            "'4Q' as ReqMem, not memory such as 4000M, 16G, 4000Mc or 16Gn; correct or delete these lines",
        ),
        (
            lines(*(row(JobID=str(k), Start="y") for k in range(1001))),
            "(and 999 or more like it); correct or",
        ),
        ("\0J\0o", "is not a readable text file; save it as UTF-8"),
    ],
)
def test_wrong_lines_are_named(folder: Path, text: str, words: str) -> None:
    with pytest.raises(SacctError, match=re.escape(words)) as caught:
        read_text(folder, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"partition": "gpu"}, "jobs.txt: no row has partition gpu; most frequent are batch"),
        ({"start": "yesterday"}, "start=yesterday: give a time such as 2024-03-01 or 2024-03-01T08:00:00"),
        ({"requeued": "first"}, "workload.requeued=first; allowed: runs, last"),
        ({"oversized": "error"}, "line 16 has a job of 256 processors, and the largest host has 128; add"),
    ],
)
def test_rules_that_cannot_be_met(folder: Path, rules: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        chosen(folder, MORNING, **rules)


def test_the_machine_is_not_in_the_file(folder: Path) -> None:
    read_text(folder, MORNING, "whole.txt")
    given_path = workload(folder / "whole.txt")
    # 256 processors for job 99, 64 for 100, 4 each for 102_1, both parts of 104, and the last run of 103.
    words = (
        r"whole.txt: Slurm's sacct does not report the size of the machine \(its jobs had 336 processors at"
    )
    with pytest.raises(ValueError, match=words):
        opened_on(given_path, {"processors": None})
    assert opened_on(given_path, {"processors": 500}).notes
    with pytest.raises(ValueError, match=r"machine\.processors=0; allowed"):
        opened_on(given_path, {"processors": 0})
