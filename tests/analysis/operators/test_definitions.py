"""Terminal, dataset and report say the same of one run, and it is what the jobs themselves say."""

import re

import numpy as np
import pytest

import sweep
from analysis.operators.case import cases
from analysis.operators.labels import SLOWDOWN, UTILIZATION, WAIT
from analysis.study import Study, open_study
from analysis.study.axes import RUNTIME, USER, Axes
from models.jobs.swf import write
from sweep import cli, numbers

PROCESSORS = 16
N_JOBS = 236


def log() -> dict[str, np.ndarray]:
    """Make 236 jobs, 20 in each of 11 batches and 16 in the last: the last jobs wait longest."""
    random = np.random.default_rng(11)
    runtime = random.exponential(3000.0, N_JOBS) + 1
    gaps = random.exponential(1500.0, N_JOBS)
    gaps[-40:] /= 3
    return {
        "submit": np.cumsum(gaps).round(),
        "runtime": runtime.round(),
        "processors": random.integers(1, 13, N_JOBS),
        "requested": 2 * runtime.round() + 60,
    }


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, str]:
    """The study of a log under EASY in 12 batches, and what the terminal said."""
    folder = tmp_path_factory.mktemp("replayed")
    path = folder / "small.swf"
    columns = {{"requested": "requested_time"}.get(name, name): values for name, values in log().items()}
    users = np.arange(1, N_JOBS + 1) % 3 + 1
    write(path, {**columns, "wait": np.zeros(N_JOBS), "user": users}, {"MaxProcs": [str(PROCESSORS)]})
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rich.console.Console.print", lambda self, *parts, **_: lines.append(self_text(parts)))
        status = cli.main(
            [
                "+experiment=what_if", "grid.policy=[easy,fcfs]", "workload=swf", f"workload.path={path}",
                "batches=12", "measures.groups=[runtime,user]", "executor=serial",
                f"output={folder / 'what_if'}",
            ]
        )  # fmt: skip
    assert status == 0
    return open_study(folder / "what_if", Axes()), "\n".join(lines)


def self_text(parts: tuple[object, ...]) -> str:
    """Return what would be printed; of a table its cells."""
    texts = []
    for part in parts:
        if hasattr(part, "columns"):
            cells = zip(*(list(column.cells) for column in part.columns), strict=True)
            texts += ["  ".join(map(str, row)) for row in cells]
        else:
            texts.append(str(part))
    return "\n".join(texts)


def test_a_log_has_one_mean_wait(replayed: tuple[Study, str]) -> None:
    study, said = replayed
    jobs = sweep.simulate("easy", workload=log(), machine=PROCESSORS)
    expected = float(jobs.wait.mean())
    of_batches = study.data["wait"].sel(policy="easy").squeeze()
    assert np.isfinite(of_batches).sum() == 12
    assert study.data["jobs"].sel(policy="easy").squeeze().values.tolist() == [20.0] * 11 + [16.0]
    assert abs(float(of_batches.mean()) - expected) > 1e-3 * expected, "batches do not count alike"
    stored = study.data["wait_mean"].sel(policy="easy").item()
    half_width = study.data["wait_ci"].sel(policy="easy").item()
    assert stored == pytest.approx(expected, rel=1e-9)
    means = study.data["wait_mean"].values.ravel().tolist()
    unit = numbers.time_unit(means)  # of the report
    assert f"mean wait ({unit.name.strip()}) over all jobs" in said
    assert re.search(rf"^EASY +{numbers.number(stored / unit.size)}$", said, re.MULTILINE)
    (case,) = cases(study)
    of_report = case.level(WAIT, "easy")
    assert (of_report.mean, of_report.half_width) == pytest.approx((stored, half_width))
    assert (of_report.n, case.n_batches) == (12, 12), "the interval belongs to the batches that are shown"
    of_curve = study.sample("wait", "easy").interval(study.confidence)
    assert (of_curve.mean, of_curve.half_width) == pytest.approx((stored, half_width))


def test_a_log_has_one_utilization(replayed: tuple[Study, str]) -> None:
    study, _ = replayed
    jobs = sweep.simulate("easy", workload=log(), machine=PROCESSORS)
    lasts = float(jobs.end.max() - jobs.submit.min())
    expected = float((jobs.processors * (jobs.end - jobs.start)).sum()) / (PROCESSORS * lasts)
    (case,) = cases(study)
    assert study.data["utilization_mean"].sel(policy="easy").item() == pytest.approx(expected, rel=1e-9)
    assert case.level(UTILIZATION, "easy").mean == pytest.approx(expected, rel=1e-9)


def test_a_difference_in_the_report_is_that_of_the_means(replayed: tuple[Study, str]) -> None:
    study, _ = replayed
    (case,) = cases(study)
    for metric in (WAIT, SLOWDOWN, UTILIZATION):
        easy, fcfs = (study.data[f"{metric}_mean"].sel(policy=policy).item() for policy in ("easy", "fcfs"))
        found = case.difference(metric, "fcfs")
        assert found.mean == pytest.approx(fcfs - easy)
        assert found.reference == pytest.approx(easy)


def test_groups_are_told_alike(replayed: tuple[Study, str]) -> None:
    study, _ = replayed
    (case,) = cases(study)
    for grouping in (RUNTIME, USER):
        name = WAIT + grouping.suffix
        for group in case.groups(grouping):
            stored = study.data[f"{name}_mean"].sel({"policy": "easy", **group.place}).item()
            assert case.mean(WAIT, "easy", group).mean == pytest.approx(stored)
