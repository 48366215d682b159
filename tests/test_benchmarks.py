"""Benchmarks measure what they claim to measure. No test here depends on a clock."""

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import coverage, record


def test_coverage_is_counted_against_the_mean_that_is_known():
    values = np.random.default_rng(1).normal(3, 1, (2000, 5, 2))
    share, (low, high), width = coverage.covered(values, 3.0)
    assert low < 0.95 < high
    assert low < share < high
    assert width == pytest.approx(2.776 * 0.94 / 1.96, rel=0.05), "t over normal, and the median of s"
    assert coverage.covered(values, 9.0)[0] == 0
    independent = np.random.default_rng(2).normal(size=(4000, 1, 30))
    shown = ~np.isnan(coverage.plain(independent))
    assert shown.mean() == pytest.approx(0.99, abs=0.005)
    assert np.isnan(coverage.plain(np.arange(60.0).reshape(2, 1, 30))).all()


def test_an_unknown_name_gets_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["pakcing"])
    assert ended.value.code == 2
    assert "no benchmark 'pakcing'; there are families, functions, slurm, simpy" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in command.BENCHMARKS if name not in ("coverage", "sweep")])
def test_quick_benchmarks_run(name, monkeypatch):
    shown = []
    monkeypatch.setattr(record, "show", lambda findings, console: shown.append(findings))
    assert command.main([name, "--quick"]) == 0
    (findings,) = shown
    assert findings.tables
    assert all(table.rows for table in findings.tables)
