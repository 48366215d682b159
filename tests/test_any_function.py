"""Functions and commands as models: the page about them runs, and what is wrong is one line or a record."""

import enum
import functools
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numba
import numpy as np
import pandas as pd
import pytest
from netCDF4 import Dataset
from rich.console import Console

import sweep
from analysis.explorer.choice import Choice, references
from analysis.registry import opened
from sweep.config import compose, kept, locate
from sweep.executors import work
from sweep.plan import programs, session
from sweep.plan.expansion import expand
from sweep.rerun import command as rerun
from sweep.store import loading
from sweep.store.records import Failed, Finished
from sweep.summary import show_causes

PAGE = Path(__file__).parent.parent / "docs" / "any_function.md"
TEXT = PAGE.read_text(encoding="utf-8")
V = {"v": "1"}
factor: Any = 1.0


def written(folder: Path) -> None:
    for path, text in re.findall(r"^`([^`\n]+)`\n\n```\w+\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.exhaustive
def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    written(tmp_path)
    bare = re.findall(r"(?<!`\n\n)^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    script = tmp_path / "notebook.py"
    script.write_text("\n".join(bare) + "\nassert walks.profile_mean.sizes == {'memory': 3, 'rank': 4}\n")
    run(tmp_path, "notebook.py")
    for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            words = shlex.split(line)
            if words[0] == "cc":
                subprocess.run(words, cwd=tmp_path, check=True)
            else:
                said = run(tmp_path, *words[1:])
                assert "rerun" not in words or "identical, bit for bit" in said
    data, c = (loading.loaded(tmp_path / f"results/{name}/{name}.nc") for name in ("pi", "in_c"))
    assert data.error.dims == ("points", "method", "replication", "batch")
    assert not {"policy", "load", "saturated", "capacity"} & set(data.variables)
    assert abs(float(c.pi_mean[-1]) - np.pi) < 0.1
    assert {"error.png", "error-against-reference.png"} <= {*os.listdir(tmp_path / "results/pi/figures")}
    assert (tmp_path / "results/pi/points.csv").read_text().startswith("points,method,status,error_mean")
    assert not list(tmp_path.glob("simulate-*"))


def plain(n: int, kind: Literal["a", "b"] = "a", share: float = 0.5, *, rng: np.random.Generator) -> float:
    return factor * n + rng.random()


def star(*n: int) -> float:
    return 0.0


def mutable(n: list[int] = [1]) -> float:  # noqa: B006
    return 0.0


def fixed(n: int) -> float:
    return float(n)


def locked(n: int, lock: Any = threading.Lock()) -> float:  # noqa: B008
    return float(n)


def forever(n: int, *, rng: Any) -> Any:
    while True:
        yield {"v": n + rng.normal()}


PLANNED = [
    (plain, {"grid": {"m": [1]}}, "grid: unknown argument of plain 'm'"),
    (plain, {}, "plain needs n: give grid.n="),
    (plain, {"grid": {"n": ["x"]}}, "n=x: plain takes int there"),
    (plain, {"grid": {"n": [True]}}, "n=true: plain takes int"),
    (plain, {"grid": {"n": [1], "kind": ["c"]}}, "kind=c: plain takes Literal"),
    (plain, {"grid": {"n": [1]}, "arguments": {"share": "x"}}, "share=x: plain takes float"),
    (plain, {"grid": {"n": [1]}, "arguments": {"n": 2}}, "n is both in grid and in arguments"),
    (plain, {"grid": {"n": [1]}, "seed_by": ["kind"]}, "seed_by: unknown axis 'kind'"),
    (plain, {"grid": {"n": [1]}, "metrics": {}}, "declares no metrics"),
    (plain, {"grid": {"n": [1]}, "metrics": {"seconds": "s"}}, "metrics.seconds: give a free name"),
    (plain, {"grid": {"n": [1]}, "metrics": {"n": "s"}}, "n is a variable of the dataset"),
    (plain, {"grid": {"n": [1]}, "time_limit": 0}, "time_limit=0: give"),
    (plain, {"grid": {"n": [1]}, "policy": {"x": 1}}, "policy is for policies"),
    (plain, {"grid": {"n": [1]}, "precision": {"relative": 0.1}}, "returns once"),
    (plain, {"grid": {"n": [1]}, "batches": "auto"}, "this program returns once"),
    (plain, {"grid": {"n": [1]}, "executor": "mpi"}, "cannot import it: put it into a module"),
    (star, {"grid": {"n": [1]}}, "star: *n: int has no name"),
    (mutable, {"grid": {"n": [1]}}, "the default n=[1] can change"),
    (fixed, {"grid": {"n": [1]}, "replications": 5}, "replications would be copies"),
    (locked, {"grid": {"n": [1]}}, "locked: it uses a value that cannot be sent to other processes"),
]


@pytest.mark.parametrize(("function", "settings", "line"), PLANNED)
def test_what_is_wrong_is_one_line_before_anything_runs(
    function: Callable[..., Any], settings: dict[str, Any], line: str, tmp_path: Path
) -> None:
    function.__module__ = "__main__"
    with pytest.raises(sweep.Error, match=re.escape(line)) as raised:
        sweep.Study(function, **{"metrics": V, "output": str(tmp_path), "executor": "serial"} | settings)
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


def raising(n: int) -> float:
    raise RuntimeError("CUDA out of memory")


def late(n: int) -> float:
    while True:
        pass


TASKS = [
    (lambda n: {"w": 1}, {}, "returned w; its metrics are v"),
    (lambda n: None, {}, "returned None for v, which is not a number"),
    (lambda n: float("nan"), {}, "metrics are finite"),
    (lambda n: [1.0, 2.0], {}, r"returned shape \(2,\) for v; it is declared with \(\)"),
    (lambda n: "x", {}, "which is not a number"),
    (raising, {}, "fewer at a time: executor.workers=1"),
    (late, {"time_limit": 0.3}, "took longer than time_limit=0.3 s"),
    (lambda n: os._exit(3), {"time_limit": 9}, "was killed"),
    (lambda n: sys.exit(3), {}, r"ended by sys.exit\(3\)"),
    (lambda n: os.chdir("/") or float("inf"), {}, "returned inf for v"),
    ("exit 3", {}, "ended with exit status 3; it wrote: noise 1\nIts files: "),
    ("kill -9 $$", {}, "ended with SIGKILL"),
    ("echo hi", {}, "left no JSON object with v as its last line"),
    ("sleep 9 & wait", {"time_limit": 0.3}, "took longer than time_limit=0.3 s"),
    ("echo '{\"v\": 1}'", {"results": "v.json"}, "as its file v.json"),
    (None, {}, "cannot be started .No such file or directory"),
]


@pytest.mark.parametrize(("model", "settings", "line"), TASKS)
def test_what_fails_is_the_record_of_its_task(
    model: Any, settings: dict[str, Any], line: str, tmp_path: Path
) -> None:
    asked = {"metrics.v": "1", "grid.n": [1], "output": str(tmp_path), "executor": "serial", **settings}
    if callable(model):
        model.__module__ = "__main__"
        asked["model"] = programs.given(model)
    else:
        script = f"echo noise {{n}} >&2; {model}"
        asked["command"] = ["bash", "-c", script] if model else ["./not-there", "{n}"]
    before = Path.cwd()
    record = work.simulate(expand(compose.load(asked, locate.conf_folder())).task(0))
    assert Path.cwd() == before
    assert isinstance(record, Failed)
    assert re.search(line, record.traceback)
    said = Console(file=io.StringIO(), width=400)
    show_causes([record], said)
    assert "family.py" not in said.file.getvalue()
    assert "Its files" not in said.file.getvalue()


@pytest.mark.parametrize("executor", ["serial", {"name": "dask", "workers": 2}])
def test_functions_of_a_session_have_the_same_bits_and_an_identity(executor: Any, tmp_path: Path) -> None:
    global factor
    plain.__module__ = "__main__"
    asked = {"grid": {"n": [1, 2]}, "metrics": V, "replications": 5, "output": str(tmp_path / "r")}
    study = sweep.Study(plain, executor=executor, **asked)
    data = study.run(progress=False)
    paired = data.v[1] - data.v[0]
    np.testing.assert_allclose(paired, 1.0)  # the same random numbers at both points
    assert [work.simulate(study.plan.task(t)).values for t in range(10)] == [
        v.tobytes() for v in data.v.values.reshape(10, 1)
    ]
    alone = asked | {"grid": {}, "arguments": {"n": 1}, "output": str(tmp_path / "alone")}
    for _ in range(2):  # without an axis, and again from what is stored
        found = sweep.Study(plain, executor=executor, **alone).run(progress=False)
        assert found.v.dims == ("replication", "batch")
    own = sweep.Study(plain, executor=executor, seed_by=["n"], **asked | {"output": str(tmp_path / "own")})
    assert np.unique(own.run(progress=False).v.values % 1).size == 10
    try:
        factor = 2.0
        assert not set(study.plan.ids) & set(sweep.Study(plain, executor=executor, **asked).plan.ids)
    finally:
        factor = 1.0
    assert study.plan.ids == sweep.Study(plain, executor=executor, **asked).plan.ids


class Part:
    __slots__ = ("k",)

    def __init__(self, k: int) -> None:
        self.k = k


class Sized(list[int]):
    k = 0


def sized(k: int) -> Sized:
    made = Sized([1])
    made.k = k
    return made


def circular(k: int) -> list[Any]:
    made: list[Any] = [k]
    made.append(made)
    return made


Mode = enum.Enum("Mode", "FAST SLOW")
VALUES: dict[str, Callable[[int], Any]] = {
    "array in a mapping": lambda k: {"a": np.r_[np.zeros(3000), k, np.zeros(3000)]},
    "table": lambda k: pd.DataFrame({"a": range(3000)}).replace(1500, k),
    "instance": Part,
    "subclass of list": sized,
    "default mapping": lambda k: defaultdict(list, {"a": [k]}),
    "class": lambda k: type("Q", (), {"k": k}),
    "static method": lambda k: type("Q", (), {"f": staticmethod((min, max)[k - 1])}),
    "property": lambda k: type("Q", (), {"f": property(eval(f"lambda self: {k}"))}),
    "closure": lambda k: lambda: k,
    "partial": lambda k: functools.partial(eval(f"lambda: {k}")),
    "compiled": lambda k: numba.njit(eval(f"lambda: {k}")),
    "named function": lambda k: (np.sin, np.cos)[k - 1],
    "method": lambda k: Part(k).__init__,
    "enumeration": lambda k: Mode(k),
    "set": lambda k: {"a", "b", str(k)},
    "generator": lambda k: np.random.default_rng(k),
    "circular": circular,
}


def test_a_changed_value_of_a_session_is_no_finished_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its identity differs with any value that the function uses, whatever kind, and is stable otherwise."""
    stale, unstable = [], []
    for name, make in VALUES.items():
        digests = []
        for k in (1, 1, 2):
            monkeypatch.setitem(globals(), "factor", make(k))
            digests.append(session.pickled(plain, "plain")[1])
        unstable += [name] * (digests[0] != digests[1])
        stale += [name] * (digests[0] == digests[2])
    assert (stale, unstable) == ([], [])


def test_the_identity_of_a_value_is_the_same_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import dataclasses, pandas\nfrom sweep.plan import session\n"
        "@dataclasses.dataclass\nclass Site:\n    sizes: set\n    jobs: pandas.DataFrame\n"
        "site = Site({'a', 'b', 'c', 'd'}, pandas.DataFrame({'wait': [1.5, 2]}))\n"
        "def mean(n): return site.jobs.wait.mean()\nprint(session.pickled(mean, 'mean')[1])\n"
    )
    assert run(tmp_path, "script.py") == run(tmp_path, "script.py")


def test_arguments_are_data_even_where_they_look_like_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "easy.py").write_text("print('{\"v\": 1}')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    asked = {"command": ["python", "easy.py", "{n}"], "metrics.v": 1, "grid.n": ["easy.py", "os.path"]}
    plan = expand(compose.load(asked, locate.conf_folder()))
    assert [*plan.sources] == ["command:python"]
    before = plan.ids
    (tmp_path / "easy.py").write_text("print('{\"v\": 2}')")
    assert not set(before) & set(expand(compose.load(asked, locate.conf_folder())).ids)
    assert isinstance(work.simulate(plan.task(0)), Finished)


def test_batches_stop_when_they_are_precise_and_a_pilot_finds_their_number(tmp_path: Path) -> None:
    forever.__module__ = "__main__"
    given = {"grid": {"n": [100]}, "metrics": V, "replications": 2, "executor": "serial", "warmup": 3}
    stopped = sweep.Study(
        forever, batches=10, precision={"relative": 0.5}, output=str(tmp_path / "a"), **given
    )
    assert np.isfinite(stopped.run(progress=False).v).sum() == 20  # at the first checkpoint
    given["replications"] = 5
    found = sweep.Study(forever, batches="auto", output=str(tmp_path / "b"), **given).run(progress=False)
    assert found.sizes["batch"] >= 30


SOURCE = """
from sweep import metric, model
@model(v=metric("s"))
def scaled(load: float, policy: str, machine: int, *, rng):
    return {"v": load * machine + len(policy) + rng.random()}
"""


def test_axes_of_every_study_may_be_arguments_and_plans_are_remade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scaledmodel.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    asked = {
        "model": "scaledmodel.scaled", "grid.load": [50, 200], "grid.policy": ["x", "easy"],
        "grid.machine": [1, 2, 4], "replications": 5, "executor": "serial", "output": "r",
    }  # fmt: skip
    config = compose.load(asked, locate.conf_folder())
    plan = expand(config)
    assert (
        expand(kept.from_json(json.loads(json.dumps(kept.as_json(plan.asked))))).ids == plan.ids
    )  # a batch job
    assert isinstance(work.simulate(plan.task(0)), Finished)
    words = [f"{key}={str(value).replace(' ', '')}" for key, value in asked.items()]
    run(tmp_path, "-m", "sweep", *words)
    data = loading.loaded(tmp_path / "r/scaled.nc")
    assert data.v.dims == ("policy", "load", "machine", "replication", "batch")
    assert float(data.v_mean.sel(policy="x", load=200.0, machine=4)) == pytest.approx(801.5, abs=0.5)
    study, _ = opened(tmp_path / "r", chosen={"reference": "easy"})
    assert study.axes_shown == ["policy", "load", "machine"]
    assert references(study, Choice.first(study)) == ["x", "easy"]


FORGED = [
    ({}, "runs code from outside this project (scaledmodel"),
    (
        {"model": None, "command": ["touch", "{n}"], "grid": {"n": [1]}, "metrics": V},
        "command [touch,{n}]): read that code",
    ),
    ({"model": "sweep.store.writing.replace"}, "cannot be a model"),
    ({"model": "os.system"}, "runs code from outside this project (os)"),
]


def test_a_strangers_dataset_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scaledmodel.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run(
        tmp_path, "-m", "sweep", "model=scaledmodel.scaled", "grid.load=[1]", "grid.policy=[x]",
        "grid.machine=[1]", "replications=1", "executor=serial", "output=r",
    )  # fmt: skip
    for changed, line in FORGED:
        shutil.copy("r/scaled.nc", "forged.nc")
        with Dataset("forged.nc", "a") as file:
            recipe = json.loads(file.recipe)
            recipe["study"]["settings"] |= changed
            file.recipe = json.dumps(recipe)
        before = {*os.listdir(tmp_path)}
        with pytest.raises(sweep.Error, match=re.escape(line)):
            rerun.main(["forged.nc", "executor=serial"], [locate.conf_folder()], [])
        assert {*os.listdir(tmp_path)} == before
