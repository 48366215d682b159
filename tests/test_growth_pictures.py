"""The model of many workers against closed forms, and pictures of what benchmarks keep."""

from __future__ import annotations

import json

import pytest

from benchmarks import pictures, record
from benchmarks.fleet import Executor, fitted
from benchmarks.record import Findings, Table
from sweep.executors.bundles import MESSAGE_S

PLAIN = Executor(message_s=0.002, task_s=0.0, share=1.0, work_s=0.25, start_s=1.5)


def executors_tables(message_s: float, task_s: float, share: float) -> list[Table]:
    """Return what the benchmark would find, were the model right."""
    tables = []
    for length in (0.001, 0.02):
        one_process = message_s / MESSAGE_S + task_s / length  # for a second of simulations
        of_all = 1 / (1 / share + one_process)
        row = ["dask", 1000, share, of_all, 1.9, 1.5, 3.0]
        title = f"Tasks of {1e3 * length:.2g} ms, 2 workers"
        columns = ["executor", "tasks", "share of workers' CPU", "share of all CPU", "cores", "start", "CPU"]
        tables.append(Table(title, columns, [row]))
    return tables


def test_costs_are_found_again_in_what_they_make():
    tables = executors_tables(0.003, 2e-5, 0.96)
    plain = [{"title": table.title, "rows": table.rows} for table in tables]
    found = fitted(plain)["dask"]
    assert found.message_s == pytest.approx(0.003)
    assert found.task_s == pytest.approx(2e-5)
    assert (found.share, found.start_s) == (0.96, 1.5)


@pytest.mark.parametrize("workers", [1, 3, 10])
def test_few_workers_share_the_work(workers):
    """Each is handed a message, works it off, and is handed the next: nobody waits for the other."""
    rounds = 7
    took = PLAIN.makespan(1.0, rounds * workers, workers)
    assert took == pytest.approx(1.5 + rounds * (0.002 + 1.0) + (workers - 1) * 0.002)


def test_with_too_many_workers_the_one_process_decides():
    n = 5_000
    assert PLAIN.most_workers(0.25) == pytest.approx(126)
    took = PLAIN.makespan(0.25, n, 1_000)
    assert took == pytest.approx(1.5 + n * 0.002 + 0.25)
    assert PLAIN.makespan(0.25, n, 2_000) == took


def test_short_tasks_go_together():
    assert PLAIN.per_message(0.001) == (250, 0.002)
    each = Executor(0.002, 1e-5, 0.9, 0.25, 0.0)
    assert each.per_message(0.001)[1] == pytest.approx(0.0045)
    assert each.makespan(0.001, 250, 4) == pytest.approx(0.0045 + 0.25 / 0.9)


def test_the_page_is_made_of_what_is_kept(tmp_path, monkeypatch, capsys):
    grown = [
        Table(f"{x}: µs of CPU time for a job", [x, "10", "100", "exponent"], [["easy", 1.0, 10.0, 1.0]])
        for x in ("jobs", "jobs at once", "processors", "hosts", "tasks")
    ]
    counted = Table("Counted", ["kernel", "instructions"], [["easy", 1234.0]])
    found = {
        "scaling": Findings(grown),
        "executors": Findings(executors_tables(0.002, 1e-5, 0.95)),
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
    assert "| easy | 1,230 |" in page or "| easy | 1.23e+03 |" in page
    assert "| dask | 2 | 10 | 0.950 | 1.5 |" in page
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
