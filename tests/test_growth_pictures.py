"""The model of many workers against closed forms, and pictures of what benchmarks keep."""

from __future__ import annotations

import json
import re
from dataclasses import astuple, replace
from itertools import product

import numpy as np
import pytest

from benchmarks import pictures, record
from benchmarks.fleet import COLUMNS, COSTS, Executor, Fitted, Study, fitted, row
from benchmarks.record import Findings, Table
from sweep.executors.bundles import MESSAGE_S
from sweep.store.collect import WRITE_SHARE

PLAIN = Executor(message_s=0.002, task_s=0.0, clock=0.0, worker_message_s=0.0, worker_task_s=0.0, start_s=1.5)
HANDING_OUT = 0.002 / (1 - WRITE_SHARE)
"""Seconds between two messages: the dataset has its share of the one process's time."""

REAL = Executor(0.003, 2e-5, 0.02, 0.004, 6e-5, first_s=0.1, worker_first_s=0.2, start_s=2.0)
CORES = 2


def studies(noise: float = 0.0, seed: int = 1) -> list[Study]:
    """Return studies as they were, did the model hold, up to an error of each time that is measured."""
    drawn = np.random.default_rng(seed)
    found = []
    for task_s, message_s, workers in product((0.001, 0.02), (0.02, 0.05, 0.2), (1, 2)):
        tasks = round(6 / task_s)
        plain = Study(workers, round(6 / message_s), tasks, 6.0, 0.0, 0.0, 0.0, REAL.start_s)
        wall = REAL.wall(plain, CORES)
        beside = REAL.worker_first_s * workers + REAL.worker_message_s * plain.messages
        times = {
            "wall": wall,
            "main": REAL.main(plain, wall),
            "workers_cpu": plain.work + beside + REAL.worker_task_s * tasks,
        }
        found.append(replace(plain, **{what: t * (1 + noise * drawn.normal()) for what, t in times.items()}))
    return found


def tables(of: dict[str, list[Study]]) -> list[Table]:
    """Return what the benchmark keeps of studies."""
    rows = {name: [[f"{i}", *row(study)] for i, study in enumerate(each)] for name, each in of.items()}
    return [Table(f"{name}: studies", ["study", *COLUMNS], each) for name, each in rows.items()]


def test_costs_are_found_again_in_what_they_make():
    """What goes by the clock, and what each message and each task costs, are told apart."""
    found = Fitted.of(studies())
    assert astuple(found.executor) == pytest.approx(astuple(REAL))
    assert found.errors(CORES) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert "POOR" not in found.verdict(CORES)


def test_intervals_hold_what_is_true():
    """Nearly all do, of studies with errors of 3 %, and a study not seen is told well."""
    held = []
    for seed in range(40):
        found = Fitted.of(studies(0.03, seed))
        for number in COSTS.values():
            value, half = found.interval(number)
            held.append(abs(value - number(REAL)) <= half)
        assert max(found.errors(CORES)) < 0.15
    assert np.mean(held) > 0.85


def test_a_poor_model_is_said_to_be_one():
    """One study that a machine's other users slowed down, or noise, shows in what others say of it."""
    slowed = studies()
    slowed[3] = replace(slowed[3], wall=1.5 * slowed[3].wall)
    assert "POOR: its time not within 15%" in Fitted.of(slowed).verdict(CORES)
    assert "POOR: its CPU time and time" in Fitted.of(studies(0.4)).verdict(CORES)


def test_a_study_is_as_long_as_what_is_scarce():
    """Its workers, the machine's cores, or the one process."""
    study = Study(2, 100, 1_000, 6.0, 0.0, 0.0, 0.0, 0.0)
    plain = replace(PLAIN, message_s=0.01)
    assert plain.wall(study, 64) == pytest.approx(3.0)
    assert plain.wall(study, 2) == pytest.approx((6.0 + 1.0) / 2)
    assert replace(plain, message_s=0.1, clock=0.5).wall(study, 64) == pytest.approx(10.0 / 0.5)


@pytest.mark.parametrize("workers", [1, 3, 10])
def test_few_workers_share_the_work(workers):
    """Each is handed a message, works it off, and is handed the next: nobody waits for the other."""
    rounds = 7
    took = PLAIN.makespan(1.0, rounds * workers, workers)
    assert took == pytest.approx(1.5 + rounds * (HANDING_OUT + 1.0) + (workers - 1) * HANDING_OUT)


def test_with_too_many_workers_the_one_process_decides():
    n, task_s = 5_000, MESSAGE_S
    assert PLAIN.busy(task_s, 10) == 10
    assert PLAIN.busy(task_s, 1_000) == pytest.approx(1 + MESSAGE_S / HANDING_OUT)
    took = PLAIN.makespan(task_s, n, 1_000)
    assert took == pytest.approx(1.5 + n * HANDING_OUT + task_s)
    assert PLAIN.makespan(task_s, n, 2_000) == took


def test_short_tasks_go_together():
    n = round(MESSAGE_S / 0.001)
    assert PLAIN.per_message(0.001, 4) == pytest.approx((n, HANDING_OUT, MESSAGE_S))
    each = replace(PLAIN, task_s=1e-5, clock=0.05, worker_message_s=0.01, worker_task_s=1e-4)
    _, taken, worked = each.per_message(0.001, 4)
    assert taken == pytest.approx((0.002 + n * 1e-5) / 0.9)
    assert worked == pytest.approx(MESSAGE_S + 0.01 + n * 1e-4)
    assert each.share(0.001) == pytest.approx(MESSAGE_S / worked)
    assert each.makespan(0.001, n, 4) == pytest.approx(1.5 + taken + worked)


def test_many_workers_have_longer_messages_under_mpi():
    mpi = replace(PLAIN, a_worker_s=0.001)
    assert mpi.per_message(0.001, 2)[0] == round(MESSAGE_S / 0.001)
    assert mpi.per_message(0.001, 2_000)[0] == 2_000


def test_the_page_is_made_of_what_is_kept(tmp_path, monkeypatch, capsys):
    grown = [
        Table(f"{x}: µs of CPU time for a job", [x, "10", "100", "exponent"], [["easy", 1.0, 10.0, 1.0]])
        for x in ("jobs", "jobs at once", "processors", "hosts", "tasks")
    ]
    counted = Table("Counted", ["kernel", "instructions"], [["easy", 1234.0]])
    found = {
        "scaling": Findings(grown),
        "messages": Findings(tables({"dask": studies(0.03), "mpi": studies(0.4)})),
        "counters": Findings([counted]),
    }
    record.write(found, quick=True, folder=tmp_path)
    (tmp_path / "performance.md").write_text((pictures.DOCS / pictures.PAGE).read_text(encoding="utf-8"))
    monkeypatch.setattr(pictures, "DOCS", tmp_path)
    newest = pictures.newest
    monkeypatch.setattr(pictures, "newest", lambda name: newest(name, tmp_path))
    assert pictures.main() == 0
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert "| jobs | easy | 1 µs at 10 | 10 µs at 100 | 1.00 |" in page
    assert "| easy | 1,234 |" in page
    model = fitted(kept_tables := pictures.newest("messages")["benchmarks"]["messages"]["tables"])
    assert len(kept_tables) == 2
    share = model["dask"].executor.share(0.02)
    assert re.search(rf"\| dask, 20 ms \| \d+ \(\d+ to \d+\) \| {share:.3f} \|", page)
    assert re.search(r"- dask: of studies .*%\.\n- mpi: of studies .*POOR", page)
    assert "<svg" in (tmp_path / "performance.svg").read_text(encoding="utf-8")
    again = page
    assert pictures.main() == 0
    assert (tmp_path / "performance.md").read_text(encoding="utf-8") == again


def test_whole_runs_count_before_quick_ones(tmp_path):
    for day, quick in ((1, False), (2, False), (3, True)):
        run = {"benchmarks": {"scaling": {}}, "quick": quick, "created": f"2026-01-0{day}"}
        (tmp_path / f"{day}.json").write_text(json.dumps(run))
    assert pictures.newest("scaling", tmp_path)["created"] == "2026-01-02"
    assert pictures.newest("memory", tmp_path) is None
