"""What every scheduling family has to keep, with each of its policies, on every workload that it takes.

A class of tests inherits from `Contract` and says which cases there are: `every_case` lists the YAML files of
a folder like ``conf``. A family refuses what it cannot simulate with one line that says what to do, and keeps
all the rest: the same bits for the same point, the metrics that it declares, the looks that it is given, and
a schedule that a machine can have had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from omegaconf import OmegaConf

from models import workloads
from models.family import Family, Outcome
from models.jobs import swf
from models.jobs.schedule import Schedule
from models.point import Batches, Point
from sweep.plan import families

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
LOG = ROOT / "tests" / "data" / "backfill" / "syn1k.swf.gz"
SACCT = """JobID|User|Partition|State|Submit|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem
{}"""

MACHINES: dict[str, dict[str, Any]] = {"pe128": {}, "mesh16x16": {}, "o2k": {}, "processors16": {}}
"""The first that a policy takes with a workload is the fitting one."""

WORKLOADS: dict[str, dict[str, Any]] = {
    "feitelson1996": {},
    "feitelson1996_arrivals": {"estimates": "exact", "memory": 4},
    "lublin2003": {"largest_job": 64},
    "synthetic": {"memory_mb": 20, "largest_job": 64},
    "swf": {"path": str(LOG), "memory": 8, "end": 40_000},
    "sacct": {"estimates": "tsafrir2005"},
    "o2k_2000_01": {"warmup_days": 0},
    "arrays": {},
    "short_long": {},
    "spmd": {"jobs": 5},
    "speedup_curve": {"jobs": 5},
    "minimum_uniform": {"jobs": 4},
    "mccann1994_fig6_4": {},
}
"""Files of ``conf/workload``, and what is set in them."""

OF_JOBS = ("wait", "response_time", "slowdown", "bounded_slowdown")
BOUND_S = 10.0
TOLERANCE = 1e-6
SEED, OTHER_SEED = (1, 2, 0), (1, 2, 1)
LOOKS = Batches(size=20, warmup=1, looks=(2, 4, 6))
WHOLE = Batches(size=None, warmup=0, looks=(1,))

WHAT_TO_DO = re.compile(
    r"\b(policy|workload|machine|grid|measures)\.\w+"  # a key
    r"|\b(batch_size|load)=|\b(use|take) .*\b(policy|workload)\b"
)


@dataclass(frozen=True)
class Case:
    """A policy on a workload.

    Parameters
    ----------
    package : str
        Dotted name of the family.
    policy, workload : str
        Their files' names, for people.
    folder : Path
        Like ``conf``; where the policy's file is.
    """

    package: str
    policy: str
    workload: str
    folder: Path = CONF

    def __str__(self) -> str:
        return f"{self.package.removeprefix('models.')}-{self.policy}-{self.workload}"

    @property
    def family(self) -> Family:
        return families.find(self.package)


def read(path: Path) -> dict[str, Any]:
    """Return a YAML file with those that it is based on, as the sweep gives it to a model."""
    file = OmegaConf.load(path)
    assert OmegaConf.is_dict(file)
    layers = [
        file if base == "_self_" else OmegaConf.create(read(path.parent / f"{base}.yaml"))
        for base in file.pop("defaults", ["_self_"])
    ]
    plain = OmegaConf.to_container(OmegaConf.merge(*layers), resolve=False)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()} | {"name": path.stem}


def every_case(folder: Path = CONF) -> list[Case]:
    """Return all policies of a folder with all workloads; experiments may run them by other families."""
    found = {
        (str(read(path)["family"]), str(path.relative_to(folder / "policy").with_suffix("")))
        for path in (folder / "policy").rglob("*.yaml")
        if not path.name.startswith("_")
    }
    by_name = {Path(policy).name: policy for _, policy in found}
    for path in (folder / "experiment").glob("*.yaml"):
        experiment = OmegaConf.load(path)
        assert OmegaConf.is_dict(experiment)
        other = OmegaConf.select(experiment, "policy.family")
        named = OmegaConf.select(experiment, "grid.policy") or []
        found |= {(other, by_name[Path(policy).name]) for policy in named if other is not None}
    return [Case(*policy, workload, folder) for policy in sorted(found) for workload in WORKLOADS]


@cache
def policy_of(case: Case) -> dict[str, Any]:
    """Return the policy's YAML file; PEs of a gang schedule serve one job at a time."""
    policy = read(case.folder / "policy" / f"{case.policy}.yaml") | {"family": case.package}
    return policy | ({"alternation": "exclusive"} if "alternation" in policy else {})


@cache
def workload_of(name: str) -> dict[str, Any]:
    """Return a workload's YAML file, with small jobs."""
    if name == "arrays":
        return read(CONF / "workload" / "_rigid.yaml") | {"name": name, "model": name, "jobs": _arrays()}
    workload = read(CONF / "workload" / f"{name}.yaml") | WORKLOADS[name]
    return workload | ({"path": _sacct()} if name == "sacct" else {})


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    submit = np.floor(np.cumsum(rng.exponential(300, 150)))
    runtime = np.ceil(rng.lognormal(6, 1.5, 150))
    return {
        "submit": submit,
        "runtime": runtime,
        "processors": 2 ** rng.integers(0, 7, 150),
        "requested": np.ceil(runtime * rng.uniform(1, 4, 150)),
        "memory": rng.integers(1, 20, 150),
        "user": rng.integers(1, 9, 150),
    }


_sacct_file = ""


def _sacct() -> str:
    return _sacct_file


@pytest.fixture(scope="session", autouse=True)
def _a_file_of_sacct(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Write what sacct prints of some jobs, once for all tests."""
    global _sacct_file
    jobs = _arrays()
    day = np.datetime64("2024-03-01T00:00:00")
    rows = []
    for i in range(len(jobs["submit"])):
        submit = day + np.timedelta64(int(jobs["submit"][i]))
        limit = "UNLIMITED" if i % 9 == 0 else int(jobs["requested"][i] // 60 + 1)
        rows.append(
            f"{i}|u{jobs['user'][i]}|batch|COMPLETED|{submit}|{submit + 60}|{jobs['runtime'][i]:.0f}|{limit}|"
            f"{jobs['processors'][i]}|1|{jobs['processors'][i] * jobs['memory'][i]}M\n"
        )
    path = tmp_path_factory.mktemp("sacct") / "sacct.txt"
    path.write_text(SACCT.format("".join(rows)))
    _sacct_file = str(path)


@cache
def groups() -> dict[str, Any]:
    """Return the groupings of ``conf/groups``."""
    plain = {
        path.stem: OmegaConf.to_container(OmegaConf.load(path)) for path in (CONF / "groups").glob("*.yaml")
    }
    return {"bound": BOUND_S, "groups": plain}


def points(case: Case, batches: Batches, seed: tuple[int, ...] = SEED) -> Iterator[Point]:
    """Yield the case on every machine, and under a load or none."""
    for name in MACHINES:
        machine = read(CONF / "machine" / f"{name}.yaml") | MACHINES[name]
        for load in (0.7, None):
            yield Point(policy_of(case), workload_of(case.workload), machine, load, batches, seed, groups())


@dataclass(frozen=True)
class Taken:
    """A point that the family takes, or what it says of all that it refuses."""

    point: Point | None
    refusals: tuple[str, ...]


@cache
def taken(case: Case, batches: Batches = LOOKS) -> Taken:
    """Look for a machine and a load on which the case can be simulated."""
    refusals = []
    for point in points(case, batches):
        try:
            case.family.check(point)
        except ValueError as refused:
            refusals.append(str(refused))
        else:
            return Taken(point, tuple(refusals))
    return Taken(None, tuple(refusals))


@cache
def simulated(case: Case, batches: Batches = LOOKS, seed: tuple[int, ...] = SEED) -> Outcome:
    """Return the outcome of a case that is taken."""
    point = taken(case, batches).point
    assert point is not None
    return case.family.simulate(replace(point, seed=seed))


@cache
def scheduled(case: Case) -> Schedule:
    """Return the schedule of a case that is taken."""
    return case.family.schedule(point_of_schedule(case))


def point_of_schedule(case: Case) -> Point:
    """Return a whole trace where the workload ends."""
    point = taken(case).point
    assert point is not None
    return replace(point, batches=WHOLE) if ends(case) else point


def ends(case: Case) -> bool:
    """Tell whether the workload is a trace."""
    model = workload_of(case.workload).get("model")
    return model in workloads.MODELS and hasattr(workloads.module_of({"model": model}), "open_trace")


class Contract:
    """Tests that every family passes."""

    cases: ClassVar[Sequence[Case]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "case" in metafunc.fixturenames:
            metafunc.parametrize("case", self.cases, ids=str)
        if "policy" in metafunc.fixturenames:
            metafunc.parametrize("policy", sorted({case.policy for case in self.cases}))

    @pytest.fixture
    def point(self, case: Case) -> Point:
        """Return the case's point; one that is refused has been judged by `test_a_refusal...`."""
        found = taken(case).point
        if found is None:
            pytest.skip("refused")
        return found

    def test_a_refusal_is_one_line_that_says_what_to_do(self, case: Case) -> None:
        for refusal in taken(case).refusals:
            assert "\n" not in refusal
            assert WHAT_TO_DO.search(refusal), refusal

    def test_each_policy_takes_some_workload(self, policy: str) -> None:
        assert any(taken(case).point for case in self.cases if case.policy == policy)

    def test_notes_are_lines(self, case: Case, point: Point) -> None:
        for note in case.family.check(point):
            assert note
            assert "\n" not in note

    def test_metrics_are_those_that_are_declared(self, case: Case, point: Point) -> None:
        outcome = simulated(case)
        declared = {metric.name: metric for metric in case.family.measured(point.measures)}
        coords = case.family.coordinates(point.measures)
        assert set(outcome.metrics) == set(declared)
        lengths = set()
        for name, values in outcome.metrics.items():
            assert values.dtype == np.float64, name
            assert values.shape[1:] == tuple(len(coords[dim]) for dim in declared[name].dims), name
            lengths.add(len(values))
        assert len(lengths) == 1
        assert lengths <= {*LOOKS.looks} or (ends(case) and max(lengths) < LOOKS.looks[-1])
        assert outcome.jobs > 0
        assert case.family.headline in declared

    def test_what_is_measured_is_finite(self, case: Case) -> None:
        if taken(case).point is None:
            pytest.skip("refused")
        metrics = simulated(case).metrics
        for name, values in metrics.items():
            of, _, group = name.rpartition("_by_")
            number = metrics.get(f"jobs_by_{group}" if of else "jobs")
            if of in ("number", "work") or (number is None and values.ndim > 1):
                continue  # users that there are not, and classes of whose jobs nobody tells the number
            there = np.ones(values.shape, bool) if number is None else number > 0
            assert np.isfinite(values[there]).all(), name

    def test_the_same_point_gives_the_same_bits(self, case: Case, point: Point) -> None:
        same(case.family.simulate(point), simulated(case))

    def test_replications_differ_where_there_is_chance(self, case: Case, point: Point) -> None:
        other = simulated(case, seed=OTHER_SEED)
        if case.family.has_chance(point):
            with pytest.raises(AssertionError):
                same(other, simulated(case))
        else:  # but for groups by requested times, which may be drawn where no policy looks at them
            same(_of_everybody(other), _of_everybody(simulated(case)))

    def test_a_run_ends_at_the_look_that_is_enough(self, case: Case, point: Point) -> None:
        if ends(case):
            pytest.skip("a trace ends by itself")
        seen: list[int] = []

        def enough(metrics: Mapping[str, np.ndarray]) -> bool:
            seen.append(len(metrics[case.family.headline]))
            return len(seen) == 2

        outcome = case.family.simulate(replace(point, batches=replace(LOOKS, enough=enough)))
        n_batches = len(outcome.metrics[case.family.headline])
        assert seen == list(LOOKS.looks[: len(seen)])
        assert n_batches == (seen[-1] if len(seen) == 2 else n_batches)

    @pytest.fixture
    def made(self, case: Case) -> Schedule:
        """Return the schedule, where the family has any."""
        if taken(case).point is None or not case.family.schedules:
            pytest.skip("refused" if case.family.schedules else "no schedules")
        return scheduled(case)

    def test_a_schedule_is_possible(self, made: Schedule) -> None:
        """No host has more at work than processors, and jobs run from their submission to their end."""
        jobs, runs, machine = made.jobs, made.runs, made.machine
        assert len(jobs) == len(made.start) == len(made.end) == len(made.host) > 0
        assert (made.start >= jobs.submit).all()
        assert (runs.end >= runs.begin).all()
        assert (runs.begin >= made.start[runs.job] - TOLERANCE).all()
        assert (runs.end <= made.end[runs.job] + TOLERANCE).all()
        for host, processors in enumerate(machine.processors.tolist()):
            here = runs.host == host
            instant = np.concatenate([runs.end[here], runs.begin[here]])
            change = np.concatenate([-runs.processors[here], runs.processors[here]]).astype(float)
            order = np.argsort(instant, kind="stable")  # of one instant, ends come first
            assert np.cumsum(change[order]).max(initial=0.0) <= processors * (1 + TOLERANCE)

    def test_every_job_gets_its_work_done(self, made: Schedule) -> None:
        jobs, runs = made.jobs, made.runs
        got = np.bincount(runs.job, (runs.end - runs.begin) * runs.processors, len(jobs))
        needed = jobs.runtime * jobs.size
        assert (got >= needed * (1 - 1e-9) - TOLERANCE).all()
        if made.pieces is None:
            np.testing.assert_allclose(got, needed, rtol=1e-9, atol=TOLERANCE)

    def test_a_schedule_is_what_is_measured(self, case: Case, made: Schedule) -> None:
        """Recounted from the schedule of a whole trace, of which all jobs are one batch."""
        if not ends(case):
            pytest.skip("which jobs of a stream are in a batch is the family's affair")
        metrics = case.family.simulate(point_of_schedule(case)).metrics
        trace = made.trace
        measured = slice(None) if trace is None else trace.measured
        jobs, wait = made.jobs.part(measured), (made.start - made.jobs.submit)[measured]
        response = (made.end - made.jobs.submit)[measured]
        values = {
            "wait": wait,
            "response_time": response,
            "slowdown": response / jobs.runtime,
            "bounded_slowdown": np.maximum(response / np.maximum(jobs.runtime, BOUND_S), 1),
        }
        for name in set(OF_JOBS) & set(case.family.common):
            expected = values[name]
            assert metrics[name] == pytest.approx([expected.mean()], abs=1e-6)
            assert metrics[f"{name}_p95"] == pytest.approx([np.percentile(expected, 95)], abs=1e-6)
            assert metrics[f"{name}_max"] == pytest.approx([expected.max()], abs=1e-6)
        first = float(jobs.submit[0])
        last = made.end[measured].max() if trace is None or trace.until is None else trace.until
        runs = made.runs
        during = np.clip(runs.end, first, last) - np.clip(runs.begin, first, last)
        in_system = np.clip(made.end, first, last) - np.clip(made.jobs.submit, first, last)
        of_machine = {
            "utilization": during @ runs.processors / (made.machine.total * (last - first)),
            "jobs_in_system": in_system.sum() / (last - first),
        }
        for name in set(of_machine) & set(case.family.common):
            assert metrics[name] == pytest.approx([of_machine[name]])

    def test_a_schedule_is_written_as_a_log(self, case: Case, made: Schedule, tmp_path: Path) -> None:
        case.family.export(point_of_schedule(case), tmp_path / "schedule.swf")
        columns = swf.read(tmp_path / "schedule.swf").columns
        assert len(columns["job"]) == len(made.jobs)
        np.testing.assert_array_equal(columns["processors"], made.jobs.size)
        np.testing.assert_allclose(columns["runtime"], made.jobs.runtime)
        np.testing.assert_allclose(columns["wait"], made.delay, atol=1e-6)


def _of_everybody(outcome: Outcome) -> Outcome:
    return replace(outcome, metrics={n: v for n, v in outcome.metrics.items() if v.ndim == 1})


def same(outcome: Outcome, other: Outcome) -> None:
    """Compare bits, NaN included."""
    assert outcome.saturated == other.saturated
    assert outcome.jobs == other.jobs
    assert set(outcome.metrics) == set(other.metrics)
    for name, values in outcome.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name], err_msg=name, strict=True)
