"""The schedule of a gang scheduler: fluid pieces whose processors are the share of the time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gang_cases import EIGHT, POLICIES, WORKLOAD, Case, Observed, cases, schemes
from hypothesis import given, settings

from models.gang import FAMILY
from models.jobs import swf
from models.jobs.schedule import Schedule
from models.jobs.schedule_measures import time_averages
from models.point import Batches, Point

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
PE32 = {"name": "pe32", "processors": 32}
ROUNDING = 1e-9


@pytest.mark.parametrize("name", schemes("min_max_load"))
def test_pieces_are_those_of_the_twin(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=40)
    @given(cases(name))
    def agree(case: Case) -> None:
        kernel, twin = case.finished(recording=True), case.twin()
        twin.run()
        assert kernel.recorder is not None
        pieces = kernel.recorder.pieces(case.n_jobs)
        for number in range(case.n_jobs):
            mine = pieces.job == number
            recorded = np.array([pieces.begin[mine], pieces.end[mine], pieces.processors[mine]]).T
            expected = np.array([piece for piece in twin.pieces[number] if piece[1] - piece[0] > 1e-12])
            # An event that rounding puts a digit later in one of the two makes a piece of no length.
            recorded = recorded[recorded[:, 1] - recorded[:, 0] > 1e-12]
            np.testing.assert_allclose(merged(recorded), merged(expected), rtol=ROUNDING, atol=1e-12)

    agree()


def merged(pieces: np.ndarray) -> np.ndarray:
    """Join pieces of equal processors that follow each other, up to rounding."""
    kept: list[np.ndarray] = []
    for piece in pieces:
        if kept and np.isclose(kept[-1][2], piece[2], rtol=1e-12) and np.isclose(kept[-1][1], piece[0]):
            kept[-1][1] = piece[1]
        else:
            kept.append(piece.copy())
    return np.array(kept)


@pytest.mark.parametrize("name", schemes("buddy", among=["best_fit", "buddy", "migration"]))
def test_recording_changes_no_bit(name: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=25)
    @given(cases(name))
    def law(case: Case) -> None:
        plain, recorded = case.finished(), case.finished(recording=True)
        assert plain.responses.tobytes() == recorded.responses.tobytes()
        assert all(a.tobytes() == b.tobytes() for a, b in zip(plain.batches, recorded.batches, strict=True))
        assert ended_of(recorded, case.n_jobs) == pytest.approx(recorded.responses.tolist(), rel=0, abs=0)

    law()


def ended_of(kernel: Observed, n_jobs: int) -> list[float]:
    assert kernel.recorder is not None
    ended = kernel.recorder.ended(n_jobs)
    assert ended.number.tolist() == list(range(n_jobs))
    return [float(value) for value in ended.end - ended.submit]


def stream(scheme: str, alternation: str, load: float = 0.7) -> Point:
    policy = POLICIES[scheme] | {"alternation": alternation}
    return Point(policy, WORKLOAD, PE32, load, Batches(100, 1, (6,)), (1, 2))


def delivered(made: Schedule) -> np.ndarray:
    runs = made.runs
    return np.bincount(runs.job, runs.processors * (runs.end - runs.begin), len(made.jobs))


@pytest.mark.parametrize("alternation", ["none", "exclusive", "shared"])
@pytest.mark.parametrize("scheme", EIGHT)
def test_pieces_deliver_the_work_and_never_overlap(scheme: str, alternation: str) -> None:
    made = FAMILY.schedule(stream(scheme, alternation))
    np.testing.assert_allclose(delivered(made), made.jobs.size * made.jobs.runtime, rtol=1e-8)
    runs = made.runs
    assert (runs.end > runs.begin).all()
    assert (runs.processors <= made.jobs.size[runs.job] * (1 + 1e-15)).all()
    same = runs.job[1:] == runs.job[:-1]
    np.testing.assert_array_equal(runs.begin[1:][same], runs.end[:-1][same])
    assert (runs.processors[1:][same] != runs.processors[:-1][same]).all()
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    np.testing.assert_array_equal(runs.begin[first], made.start)
    np.testing.assert_array_equal(made.start, made.jobs.submit)
    np.testing.assert_array_equal(made.wait, 0)


@pytest.mark.parametrize("alternation", ["none", "exclusive", "shared"])
@pytest.mark.parametrize("scheme", ["first_fit", "buddy", "migration"])
def test_the_schedule_is_what_is_measured(scheme: str, alternation: str) -> None:
    """Utilization and jobs in the system read off the pieces are the engine's integrals; so are responses."""
    point = stream(scheme, alternation)
    metrics, made = FAMILY.simulate(point).metrics, FAMILY.schedule(point)
    order = np.argsort(made.end, kind="stable")
    edges = np.concatenate([[0.0], made.end[order][99:700:100]])
    averages = time_averages(made, edges)
    for name in ("utilization", "jobs_in_system"):
        np.testing.assert_allclose(averages[name][1:], metrics[name], rtol=1e-8)
    batches = made.response_time[order][100:700].reshape(6, 100)
    np.testing.assert_allclose(batches.mean(axis=1), metrics["response_time"], rtol=1e-12)
    np.testing.assert_allclose(batches.max(axis=1), metrics["response_time_max"], rtol=1e-12)


def log(**options: object) -> Point:
    workload = {"name": "log", "model": "swf", "path": str(LOG)}
    policy = POLICIES["best_fit"] | {"job_limit": 50}
    return Point(policy, workload, {"name": "log"}, None, Batches(None, 0, (1,)))


def test_a_logs_schedule_has_its_jobs_and_can_be_read_again(tmp_path: Path) -> None:
    point = log()
    made = FAMILY.schedule(point)
    assert len(made.jobs) == 1000
    assert made.trace is not None
    np.testing.assert_array_equal(made.jobs.submit, made.trace.jobs.submit)
    np.testing.assert_array_equal(made.jobs.runtime, made.trace.jobs.runtime)
    FAMILY.export(point, tmp_path / "gang.swf.gz")
    written, original = swf.read(tmp_path / "gang.swf.gz"), swf.read(LOG)
    for name in ("job", "submit", "runtime", "user"):
        np.testing.assert_array_equal(written.columns[name], original.columns[name])
    response = written.columns["wait"] + written.columns["runtime"]
    metrics = FAMILY.simulate(point).metrics
    # The file has centiseconds.
    assert response.mean() == pytest.approx(metrics["response_time"][0], abs=0.01)
    assert any("packing scheme best_fit" in line for line in written.header["Note"])


def test_a_schedule_of_a_full_system_is_refused_in_one_line() -> None:
    point = stream("first_fit", "none", load=3.0)
    with pytest.raises(
        ValueError, match=r"first_fit, feitelson1996, pe32, load 3: more than policy"
    ) as refused:
        FAMILY.schedule(Point(point.policy | {"job_limit": 20}, WORKLOAD, PE32, 3.0, point.batches, (1,)))
    assert "\n" not in str(refused.value)
