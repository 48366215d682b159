"""Jann's model: published check values, moments from quadrature, a plain twin of the merge, and bad logs."""

import heapq
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_cases import archive_log, composed, opened_on
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from scipy import stats

from models.jobs import swf
from models.jobs.machine import pool
from models.streams import stream
from models.workloads import jann1997
from models.workloads.jann1997.fitting import fit
from models.workloads.jann1997.hyper_erlang import HyperErlang, fitted
from models.workloads.jann1997.model import Model, of_table, table_of

ROOT = Path(__file__).parents[3]
KTH, NASA = "KTH-SP2-1996-2", "NASA-iPSC-1993-3"
LOG = ROOT / "tests" / "data" / "backfill" / "syn1k.swf.gz"

# KTH: least size, jobs, and of gaps and runtimes mean, coefficient of variation, rates and p.
CHECK_VALUES = """
1   9370  3069.5 3.013 1.00252e-3 4.66556e-5 .898610  10232.7 2.230 2.07306e-4 2.05318e-5 .876737
2   3824  7504.8 2.698 6.54992e-4 2.69579e-5 .831926   5897.2 3.165 5.38826e-4 2.23740e-5 .905662
3   4331  6632.5 2.748 4.01053e-4 2.41334e-5 .893715   4488.4 3.267 6.89167e-4 2.73480e-5 .913501
5   4561  6321.0 2.180 9.58245e-4 4.87329e-5 .729035  10039.7 2.081 2.49622e-4 2.64093e-5 .821803
9   3788  7618.9 2.089 1.09737e-3 4.50980e-5 .684533  12223.1 1.836 1.64055e-4 2.43218e-5 .825026
17  1453 19803.7 1.886 2.18424e-4 1.89688e-5 .683724  10059.2 2.282 2.84797e-4 2.34930e-5 .832339
33   839 35027.8 2.375 4.90679e-5 4.36124e-6 .929885   7030.0 2.646 4.14362e-4 2.55387e-5 .874353
65   323 85691.1 2.976 2.40014e-5 1.34988e-6 .937027   7451.2 1.164 1.84536e-4 8.12359e-5 .705092
"""


def of_log(name: str, **keys: Any) -> Model:
    return fit(composed("workload", "jann1997", fit=None, path=str(archive_log(name)), **keys))[0]


def written(path: Path, jobs: list[tuple[float, float, int]], processors: int = 16) -> Path:
    """Write a log of submissions, runtimes and sizes."""
    rows = [
        f"{n} {submit} 0 {runtime} {size} -1 -1 {size} -1 -1 1 -1 -1 -1 -1 -1 -1 -1"
        for n, (submit, runtime, size) in enumerate(jobs, start=1)
    ]
    path.write_text("\n".join([f"; MaxProcs: {processors}", *rows]) + "\n", encoding="utf-8")
    return path


def test_moments_are_those_of_two_gamma_distributions() -> None:
    found = HyperErlang(7, 0.3, 1.5, 4.0)
    first, second = (stats.gamma(found.order, scale=1 / rate) for rate in (found.rate_1, found.rate_2))
    for k in range(1, 5):
        assert found.moment(k) == pytest.approx(found.p * first.moment(k) + (1 - found.p) * second.moment(k))


def is_matched_by(order: int, m1: float, m2: float, m3: float) -> bool:
    """Return whether an order has these moments, as in textbooks: 1/rate are the roots of x^2 - s x + q."""
    n = float(order)
    a1, a2, a3 = m1 / n, m2 / (n * (n + 1)), m3 / (n * (n + 1) * (n + 2))
    v = a2 - a1**2
    if v <= 0:
        return False
    s, q = (a3 - a1 * a2) / v, (a1 * a3 - a2**2) / v
    if not (q > 0 and s > 0 and s**2 > 4 * q):
        return False
    x = np.roots([1, -s, q])
    rare = (a1 - x.min()) / (x.max() - x.min())
    return bool(rare > 1e-5)  # else its probability, kept as p = 1 - rare, has too few digits for 1e-10


@settings(max_examples=100)
@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=4, max_size=40), st.floats(1e-3, 1e3))
def test_three_moments_are_matched_by_the_smallest_order(values: list[float], unit: float) -> None:
    x = np.array(values) * unit
    assume(x.mean() > 0)
    m2, m3 = (float(np.mean((x / x.mean()) ** k)) for k in (2, 3))
    assume(min(m2, m3 / m2**2) > 1.001)
    found = fitted(x)
    for k in (1, 2, 3):
        assert found.moment(k) == pytest.approx(float(np.mean(x**k)), rel=1e-9)
    assert 0 <= found.p <= 1
    assert found.rate_1 >= found.rate_2 > 0
    moments = [float(np.mean((x / x.mean()) ** k)) for k in (1, 2, 3)]
    assert not any(is_matched_by(order, *moments) for order in range(1, found.order))


def test_the_check_values_of_kth() -> None:
    model = of_log(KTH)
    log = swf.read(archive_log(KTH))
    rows = [line.split() for line in CHECK_VALUES.strip().splitlines()]
    assert len(model.ranges) == len(rows)
    for jobs, row in zip(model.ranges, rows, strict=True):
        assert (jobs.least, int(jobs.weights.sum())) == (int(row[0]), int(row[1]))
        its = (log.sizes >= jobs.least) & (log.sizes <= jobs.most)
        values = (np.diff(log.columns["submit"][its]), log.columns["runtime"][its])
        for found, x, given_row in zip((jobs.gaps, jobs.runtimes), values, (row[2:7], row[7:]), strict=True):
            mean, variation, rate_1, rate_2, p = map(float, given_row)
            assert found.order == 1
            assert found.mean == pytest.approx(mean, abs=0.06)
            assert np.sqrt(found.moment(2) / found.mean**2 - 1) == pytest.approx(variation, abs=6e-4)
            assert (found.rate_1, found.rate_2) == pytest.approx((rate_1, rate_2), rel=1e-5)
            assert found.p == pytest.approx(p, abs=1e-6)
            for k in (1, 2, 3):
                assert found.moment(k) == pytest.approx(np.mean(x**k), rel=1e-9)


def test_a_table_is_read_back_as_it_was() -> None:
    model, _ = fit(composed("workload", "jann1997", path=str(LOG), few_jobs="merge"))
    table = OmegaConf.to_container(OmegaConf.create("\n".join(table_of(model))))
    back = of_table(table["fit"])
    assert (back.log, back.processors) == ("syn1k", model.processors)
    for jobs, again in zip(model.ranges, back.ranges, strict=True):
        assert (jobs.least, jobs.most) == (again.least, again.most)
        np.testing.assert_array_equal(jobs.sizes, again.sizes)
        np.testing.assert_array_equal(jobs.weights, again.weights)
        for one, other in ((jobs.gaps, again.gaps), (jobs.runtimes, again.runtimes)):
            assert one.order == other.order
            assert (one.p, one.rate_1, one.rate_2) == pytest.approx((other.p, other.rate_1, other.rate_2))


def rising(n: int, size: int) -> list[tuple[float, float, int]]:
    """Return jobs of one size whose gaps and runtimes differ."""
    rng = np.random.default_rng(size)
    submit = np.cumsum(rng.exponential(100, n))
    return [(round(at), round(run) + 1, size) for at, run in zip(submit, rng.exponential(50, n), strict=True)]


def test_too_few_jobs_are_named_with_their_range(tmp_path: Path) -> None:
    path = written(tmp_path / "few.swf", sorted([*rising(60, 1), *rising(40, 3), *rising(12, 6)]))
    with pytest.raises(ValueError, match=r"few\.swf: 12 jobs of size 5-8, and a fit of that range needs 30;"):
        fit(composed("workload", "jann1997", path=str(path)))
    model, notes = fit(composed("workload", "jann1997", path=str(path), few_jobs="merge"))
    assert [jobs.label for jobs in model.ranges] == ["1", "3-8"]
    assert notes[-1] == "few.swf: sizes 3-4 and 5-8 are one range, for too few jobs (few_jobs=merge)"
    assert model.ranges[1].sizes.tolist() == [3, 6]
    assert model.ranges[1].weights.tolist() == [40, 12]


@pytest.mark.parametrize("name", ["jann1997_kth", "jann1997_nasa"])
def test_ranges_are_streams_of_their_own_merged_by_submission(name: str) -> None:
    workload = composed("workload", name, estimates=None)
    model, _ = jann1997.model_of(workload, pool(of_table(workload["fit"]).processors))
    n = 4000
    jobs = jann1997.draw(model, 1.0, n, (7, 8))

    def one(k: int) -> Any:
        """Yield the submissions, runtimes and sizes of one range, job by job."""
        its = model.ranges[k]
        gaps, runs, sizes, gap_branch, run_branch = (
            stream((7, 8), f"{cause} {its.label}")
            for cause in ("arrivals", "runtimes", "sizes", "branches of arrivals", "branches of runtimes")
        )
        now = 0.0
        while True:
            rate = its.gaps.rate_1 if gap_branch.random() < its.gaps.p else its.gaps.rate_2
            now += gaps.standard_gamma(its.gaps.order) / rate
            rate = its.runtimes.rate_1 if run_branch.random() < its.runtimes.p else its.runtimes.rate_2
            run = runs.standard_gamma(its.runtimes.order) / rate
            size = its.sizes[
                np.searchsorted(np.cumsum(its.weights) / its.weights.sum(), sizes.random(), "right")
            ]
            yield now, run, size

    merged = heapq.merge(*(one(k) for k in range(len(model.ranges))))
    twin = [next(merged) for _ in range(n)]
    for values, column in zip(zip(*twin, strict=True), (jobs.submit, jobs.runtime, jobs.size), strict=True):
        np.testing.assert_allclose(column, np.array(values), rtol=1e-12)


@pytest.mark.parametrize("how", jann1997.MACHINE_SIZES)
@pytest.mark.parametrize("processors", [16, 128])
def test_sizes_on_other_machines(how: str, processors: int) -> None:
    workload = composed("workload", "jann1997_kth", machine_sizes=how, estimates=None)
    if how == "as_is" and processors < 100:
        with pytest.raises(ValueError, match=f"of up to 100 processors, the largest host has {processors};"):
            opened_on(workload, {"processors": processors})
        return
    found = opened_on(workload, {"processors": processors})
    jobs = found.first(20_000)
    own = opened_on(workload, {"processors": 100}).first(20_000)
    if how == "drop":
        ranges = "5 of 8" if processors == 16 else ""
        assert any(f"{ranges} ranges of sizes fit 16" in note for note in found.notes) == (processors == 16)
        np.testing.assert_array_equal(jobs.size[:5000], own.size[own.size <= processors][:5000])
        return
    expected = {
        "scaled": np.maximum(np.floor(own.size * (processors / 100) + 0.5), 1),
        "capped": np.minimum(own.size, processors),
        "as_is": own.size,
    }[how]
    np.testing.assert_array_equal(jobs.size, expected)
    np.testing.assert_array_equal(jobs.submit, own.submit)
