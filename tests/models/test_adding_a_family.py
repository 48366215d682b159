"""The guides to a family and a workload: their code is written into a folder of its own, and runs."""

from __future__ import annotations

import atexit
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import family_cases
import numpy as np
import pytest
import xarray as xr
from family_cases import ROOT
from family_contract import Contract, every_case
from hypothesis import given, settings
from hypothesis import strategies as st

from models import workloads
from models.jobs.stream import Stream
from models.point import Batches, Point
from sweep.plan import families

FAMILY_GUIDE = ROOT / "docs" / "adding_a_family.md"
WORKLOAD_GUIDE = ROOT / "docs" / "adding_a_workload.md"


def built() -> Path:
    """Write every block of the guide below a file's name into that file."""
    folder = Path(tempfile.mkdtemp(prefix="schedsweep-guide-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = re.findall(
        r"^`([^`\n]+)`\n\n```\w+\n(.*?)^```$", FAMILY_GUIDE.read_text(), re.DOTALL | re.MULTILINE
    )
    for path, text in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


FOLDER = built()
sys.path.append(str(FOLDER))


class TestTheGuidesFamily(Contract):
    cases = every_case(FOLDER / "myconf")


def test_the_guides_command_runs(tmp_path: Path) -> None:
    command = re.search(r"^python -m sweep .*$", FAMILY_GUIDE.read_text(), re.MULTILINE)
    assert command is not None
    words = [
        sys.executable,
        *shlex.split(command[0])[1:],
        "executor=serial",
        f"output={tmp_path / 'results'}",
    ]
    small = ["batches=4", "batch_size=50", "replications=1"]
    run = subprocess.run(
        [*words, *small], cwd=FOLDER, capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stderr
    with xr.open_dataset(tmp_path / "results" / "preemption.nc") as dataset:
        assert (dataset["state"] == 1).all()
        # Of so few jobs some may wait to the end, under a policy that starves them: then there is no mean.
        starved = dataset["saturated"].astype(bool)
        assert (np.isfinite(dataset["slowdown_mean"]) | starved).sel(load=0.7).all()


PREEMPTIVE: dict[str, Any] = {"name": "p", "family": "preemptive"}


def twin(jobs: list[tuple[int, int, int]], processors: int, order: str, passing: bool) -> list[int]:
    """Return the ends of (submit, runtime, size), second by second."""
    left = [runtime for _, runtime, _ in jobs]
    ends: dict[int, int] = {}
    now = 0
    while len(ends) < len(jobs):
        there = [k for k, (submit, _, _) in enumerate(jobs) if submit <= now and k not in ends]
        ranks = {
            "first_come": lambda k: (jobs[k][0], k),
            "last_come": lambda k: (-jobs[k][0], k),
            "shortest_left": lambda k: (left[k], k),
        }
        free = processors
        for k in sorted(there, key=ranks[order]):
            if jobs[k][2] > free:
                free = free if passing else 0
                continue
            free -= jobs[k][2]
            left[k] -= 1
            if not left[k]:
                ends[k] = now + 1
        now += 1
    return [ends[k] for k in range(len(jobs))]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, 8)), min_size=1, max_size=12),
    st.sampled_from(["first_come", "last_come", "shortest_left"]),
    st.booleans(),
)
def test_the_guides_engine_is_a_twin(jobs: list[tuple[int, int, int]], order: str, passing: bool) -> None:
    jobs = sorted(jobs, key=lambda job: job[0])
    jobs = [(submit - jobs[0][0], runtime, size) for submit, runtime, size in jobs]
    columns = dict(zip(("submit", "runtime", "processors"), map(list, zip(*jobs, strict=True)), strict=True))
    point = Point(
        PREEMPTIVE | {"order": order, "passing": passing},
        {"name": "arrays", "model": "arrays", "jobs": columns},
        {"processors": 8},
        batches=Batches(None, 0, (1,)),
    )
    made = families.find("preemptive").schedule(point)
    assert made.end.tolist() == twin(jobs, 8, order, passing)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"order": "youngest"},
            r"policy\.order=youngest; allowed: first_come, last_come, shortest_left, or the",
        ),
        ({"passing": 1}, r"policy\.passing=1; allowed: true, false"),
    ],
)
def test_the_guides_checks(changes: dict[str, Any], words: str) -> None:
    policy = PREEMPTIVE | {"order": "last_come", "passing": True}
    workload = family_cases.workload_of("arrays")
    family = families.find("preemptive")
    assert family.check(Point(policy, workload, {"processors": 128}))
    own = policy | {"order": "preemptive.orders.first_come"}
    assert family.check(Point(own, workload, {"processors": 128}))
    with pytest.raises(ValueError, match=words):
        family.check(Point(policy | changes, workload, {"processors": 128}))


def test_the_guides_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = WORKLOAD_GUIDE.read_text()
    code, keys = (re.search(rf"^```{kind}\n(.*?)^```$", guide, re.S | re.M) for kind in ("python", "yaml"))
    assert code is not None
    assert keys is not None
    (tmp_path / "steady_of_the_guide.py").write_text(code[1])
    (tmp_path / "steady.yaml").write_text(keys[1])
    shutil.copy(ROOT / "conf" / "workload" / "_rigid.yaml", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(workloads.MODELS, "steady", "steady_of_the_guide")
    workload = family_cases.read(tmp_path / "steady.yaml")
    stream = workloads.open_workload(Point({}, workload | {"estimates": "exact"}, {"processors": 8}, 0.5))
    assert isinstance(stream, Stream)
    short, long = stream.first(500), stream.first(30_000)
    for name in ("submit", "runtime", "size", "requested"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[:500])
    assert long.size @ long.runtime / (8 * long.submit[-1]) == pytest.approx(0.5, rel=0.05)
    assert workloads.fills(workload | {"memory": 1}) == ("memory",)
    with pytest.raises(ValueError, match=r"workload\.size=9; allowed: 1 to the 8 processors"):
        workloads.open_workload(Point({}, workload | {"size": 9}, {"processors": 8}, 0.5))
