"""A dataset is made once more from itself alone, the same bit for bit, or what differs is said."""

import gzip
import json
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from study_commands import CONF, CONFIG_DIR, DEFAULTS, Answer

import sweep as face
from sweep import cli
from sweep.rerun import sameness
from sweep.store import probe
from sweep.store.loading import loaded

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
"""1,000 jobs on 128 processors."""

ONCE = ("replications=1", "executor=serial")

REAL = {
    "packing": (
        "+experiment=packing", "grid.policy=[buddy,migration]", "grid.load=[0.5,0.9]", "batches=3",
        "batch_size=100", "replications=2", "executor=serial",
    ),
    "backfilling": (
        "+experiment=replay", f"workload.path={LOG}", "grid.policy=[easy,lxf_backfill]",
        "grid.ties=[instant,event]", "executor=serial",
    ),
    "partitioning": (
        "+experiment=partitioning", "grid.policy=[equi,fold_50]", "grid.short_fraction=[0.5,0.9]",
        "batches=2", "batch_size=100", "precision.relative=null", "precision.checkpoints=null", *ONCE,
    ),
    "two families": (
        "+experiment=compare", "grid.policy=[easy,buddy]", "grid.workload=[lublin2003]", "grid.load=[0.7]",
        "batches={0:2,0.8:3}", "batch_size=100", "replications=2", "executor=serial",
    ),
}  # fmt: skip


@pytest.fixture
def rerun(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Rerun a dataset in this process, and return its status and output."""

    def rerun(file: Path | str, *arguments: str) -> Answer:
        capsys.readouterr()
        # The family of these tests is not this project's.
        trust = [] if any(argument.startswith("trust=") for argument in arguments) else ["trust=true"]
        status = cli.main(["rerun", str(file), *arguments, *trust, "executor=serial"])
        return Answer(status, *capsys.readouterr())

    return rerun


def made(*arguments: str) -> Path:
    """Run a study, take its dataset away from its folder, and return where it is now."""
    assert cli.main([*arguments, "output=first"]) == 0
    (file,) = Path("first").glob("*.nc")
    kept = Path("kept")
    kept.mkdir(exist_ok=True)
    shutil.copy(file, kept)
    shutil.rmtree("first")
    return kept / file.name


@pytest.fixture
def queue(once: Callable[..., Path]) -> Path:
    """Return the dataset of a study that is run once for all tests, in a copy of its results."""

    def run(folder: Path) -> None:
        with chdir(folder):
            assert cli.main([*DEFAULTS, CONFIG_DIR]) == 0

    shutil.copytree(once("queue", run) / "results", "results")
    return trusted(Path("results/queue/queue.nc"))


def trusted(file: Path) -> Path:
    """Return a dataset of these tests, whose size need not be measured by a process of its own."""
    probe.written(file)
    return file


def altered(file: Path, change: Callable[[xr.Dataset], None]) -> Path:
    """Write a dataset with a change into a new file."""
    with loaded(file) as opened:
        data = opened.load()
    change(data)
    data.to_netcdf(file.with_name(f"altered-{file.name}"))
    return trusted(file.with_name(f"altered-{file.name}"))


def with_recipe(file: Path, change: Callable[[dict], object]) -> Path:
    """Write a dataset with a change of its recipe into a new file."""

    def changed(data: xr.Dataset) -> None:
        recipe = json.loads(data.attrs["recipe"])
        change(recipe)
        data.attrs["recipe"] = json.dumps(recipe)

    return altered(file, changed)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.exhaustive] * (kind != "two families")) for kind in REAL]
)
def test_studies_of_all_kinds_are_the_same_bit_for_bit(rerun, kind: str, monkeypatch) -> None:
    monkeypatch.setenv("TRACES", str(LOG.parent))
    file = made(*REAL[kind])
    before = file.read_bytes()
    answer = rerun(file, "output=again")
    assert answer.status == 0, answer.out + answer.err
    assert "identical, bit for bit: all " in answer.out
    assert file.read_bytes() == before
    with loaded(file) as one, loaded(next(Path("again").glob("*.nc"))) as other:
        xr.testing.assert_identical(
            *(data.drop_vars("seconds").drop_attrs(deep=False) for data in (one, other))
        )


def test_a_log_is_found_by_its_content(rerun, tmp_path: Path) -> None:
    logs = tmp_path / "a"
    logs.mkdir()
    shutil.copy(LOG, logs / "mine.swf.gz")
    file = made(
        "+experiment=replay",
        f"workload.path={logs / 'mine.swf.gz'}",
        "grid.policy=[easy]",
        "executor=serial",
        "measures.groups=[]",
    )
    (logs / "mine.swf.gz").rename(tmp_path / "moved.gz")
    answer = rerun(file)
    assert answer.status == 2
    assert "log mine.swf.gz (SHA-256 " in answer.out
    assert "is not here" in answer.out
    assert "logs=FOLDER" in answer.out
    assert answer.err == "error: nothing was run: 1 of 1 log is not here with the content that was used\n"
    other = tmp_path / "b"
    other.mkdir()
    (other / "mine.swf.gz").write_bytes(gzip.compress(gzip.decompress(LOG.read_bytes())[:-20]))
    answer = rerun(file, f"logs={other}")
    assert answer.status == 2
    assert "b/mine.swf.gz has another content" in answer.out
    shutil.copy(LOG, other / "mine.swf.gz")
    answer = rerun(file, f"logs={other}")
    assert answer.status == 0
    assert (
        "modules=m: kept/replay.nc has no code of its own; omit modules="
        in rerun(file, f"logs={other}", "modules=m").err
    )
    assert "identical" in answer.out
    assert not Path("kept/shards").exists()


@pytest.mark.exhaustive
def test_grids_that_grew_and_replications_added_later(rerun, sweep) -> None:
    assert sweep("grid.load=[0.3]", "replications=1", "exclude=[]").status == 0
    assert sweep("replications=2", "exclude=[]").status == 0
    answer = rerun("results/queue")
    assert (answer.status, "identical" in answer.out) == (0, True), answer.out + answer.err
    assert sweep("policy=slow", "replications=1", "exclude=[]", "replace=true").status == 0
    answer = rerun("results/queue/queue.nc", "output=smaller")
    assert (answer.status, "identical" in answer.out) == (0, True), answer.out + answer.err
    with loaded(Path("smaller/queue.nc")) as data:
        assert data.policy.values.tolist() == ["slow"]
        assert data.sizes["replication"] == 1


def test_an_unfinished_dataset_is_finished_and_compared_where_it_was(rerun, queue, sweep) -> None:
    shards = Path("results/queue/shards")
    (log,) = shards.glob("*.jsonl")
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:5]))
    assert sweep("action=gather").status == 0
    answer = rerun("results/queue")
    assert answer.status == 0, answer.out
    assert "19 tasks of the file never finished" in answer.out
    assert "where it was finished" in answer.out


def test_a_second_rerun_says_what_is_there_and_fresh_runs_anew(rerun, queue) -> None:
    assert "earlier rerun" not in rerun("results/queue").out
    again = rerun("results/queue")
    assert "results/queue-rerun has 24 tasks of an earlier rerun; fresh=true repeats them" in again.out
    assert "identical" in again.out
    fresh = rerun("results/queue", "fresh=true")
    assert "identical" in fresh.out
    assert "24 results set aside" in fresh.out
    # A rerun can be rerun.
    assert rerun("results/queue-rerun", "output=third").status == 0


def test_what_differs_is_said(rerun, queue) -> None:
    def change(data: xr.Dataset) -> None:
        data["response"][{"policy": 0, "load": 1, "preemption": 1, "batch": 2}] *= 1 + 1e-15
        versions = json.loads(data.attrs["versions"]) | {"numpy": "1.0.0", "python": "3.2.1"}
        data.attrs["versions"] = json.dumps(versions)
        sources = json.loads(data.attrs["sources"])
        data.attrs["sources"] = json.dumps(dict.fromkeys(sources, "0" * 20))
        data.attrs["commit"] = "0123456789abcdef-dirty"
        config = json.loads(data.attrs["config"])
        config["settings"]["measures"]["bound"] = 60
        del config["settings"]["seed"]
        data.attrs["config"] = json.dumps(config)

    file = altered(queue, change)
    answer = rerun(file)
    assert answer.status == 1
    here = np.__version__
    assert (
        f"numpy: the file was made with 1.0.0, and {here} is installed here; to match it, pip install numpy=="
        in answer.out
    )
    assert "use Python 3.2.1" in answer.out
    assert (
        "code of fake_family: it differs from what the file was made with, though the version is the same, 1"
        in answer.out
    )
    assert "measures.bound: 60 -> 10.0, in the file and here: the two versions" in answer.out
    assert answer.out.count("read it differently") == 1
    assert "  response: 4 of 192 values differ, by " in answer.out
    assert answer.out.count("values differ") == 1


@pytest.mark.parametrize(
    ("module", "says"),
    [
        (
            "models.later",
            "module models.later is not in this version of the project: git checkout 0123456789ab",
        ),
        ("nobodys.orders", "module nobodys.orders is not installed, and the file does not carry it"),
    ],
)
def test_code_that_is_not_here_is_one_line(rerun, queue, module: str, says: str) -> None:
    def change(data: xr.Dataset) -> None:
        data.attrs["sources"] = json.dumps(json.loads(data.attrs["sources"]) | {module: "0" * 20})
        data.attrs["commit"] = "0123456789abcdef"

    assert rerun(altered(queue, change)).refused(says)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("gone.nc", "gone.nc does not exist: give the folder of a study's results, or its dataset"),
        ("altered-queue.nc", "has no recipe"),
    ],
)
def test_what_cannot_be_rerun_is_one_line(rerun, queue, file: str, says: str) -> None:
    """A file that is not a dataset of a sweep is refused as by an analysis, see ``tests/analysis/study``."""
    shutil.move(altered(queue, lambda data: data.attrs.pop("recipe")), ".")
    assert rerun(file).refused(says)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("name", "../precious", "becomes a file name"),
        ("name", "two\nlines", "becomes a file name"),
        ("name", "..", "becomes a file name"),
        ("seed", -1, "seed=-1"),
        ("confidence", 2, "confidence=2"),
        ("replications", "many", "settings do not describe a study"),
    ],
)
def test_a_strangers_recipe_is_checked_as_a_command_is(rerun, queue, key: str, value: Any, says: str) -> None:
    made = with_recipe(queue, lambda recipe: recipe["study"]["settings"].update({key: value}))
    assert rerun(made).refused(says)


def test_to_look_for_a_module_is_not_to_import_it(rerun, queue, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(Path.cwd()))
    Path("vile").mkdir()
    Path("vile/__init__.py").write_text("from pathlib import Path\nPath('ran').touch()\n", encoding="utf-8")

    def change(data: xr.Dataset) -> None:
        data.attrs["sources"] = json.dumps({"vile.orders": "0" * 20})

    answer = rerun(altered(queue, change))
    assert answer.status == 2
    assert "module vile.orders is not installed" in answer.err
    assert not Path("ran").exists()


def _policy(recipe: dict, **keys: object) -> None:
    for file in recipe["study"]["files"]["policy"].values():
        file.update(keys)


def _axis(recipe: dict, value: str, **values: str) -> None:
    settings = recipe["study"]["settings"]
    settings["axes"]["own"], settings["grid"]["own"] = "policy.family", [value]
    if values:
        settings["values"] = {"own": values}


HIDDEN = {
    "plain": lambda recipe: _policy(recipe, family="evil"),
    "an axis": lambda recipe: _axis(recipe, "evil"),
    "a value of an axis": lambda recipe: _axis(recipe, "it", it="evil"),
}
"""Ways of a recipe to name a module of the working folder."""


@pytest.mark.parametrize("way", HIDDEN)
def test_a_strangers_code_is_run_only_where_it_is_trusted(rerun, queue, monkeypatch, way: str) -> None:
    """To look at a study is to import its families."""
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.delitem(sys.modules, "evil", raising=False)
    Path("evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n", encoding="utf-8")
    file = with_recipe(queue, HIDDEN[way])
    for allowed in ((), ("modules=brought",)):  # the file brings no such code
        answer = rerun(file, "trust=false", *allowed)
        assert answer.status == 2
        assert re.search(r"outside this project \((evil|evil, fake_family)\)", answer.err)
        assert answer.err.count("\n") == 1
    assert not Path("ran").exists()
    rerun(file, "trust=true")
    assert Path("ran").exists()


COMPUTED = {
    "name": lambda recipe, text: recipe["study"]["settings"].update(name=text),
    "a setting of any type": lambda recipe, text: recipe["study"]["settings"].update(seed=text),
    "a nested setting": lambda recipe, text: recipe["study"]["settings"]["measures"].update(groups=[text]),
    "a value of an axis": lambda recipe, text: recipe["study"]["settings"]["grid"].update(load=[0.3, text]),
    "a policy": lambda recipe, text: _policy(recipe, preemption=text),
    "the name of a key": lambda recipe, text: _policy(recipe, **{text: 1}),
    "a named value": lambda recipe, text: _axis(recipe, "it", it=text),
}


TEXTS = ("${oc.env:SECRET}", "${oc.decode:${oc.env:SECRET}}", "${oc.create:1}", "x${name}", "${")


@pytest.mark.parametrize(
    ("where", "text"),
    [
        pytest.param(where, text, marks=[pytest.mark.exhaustive] * (where != "a policy" and text != TEXTS[0]))
        for where in COMPUTED
        for text in TEXTS
    ],
)
def test_nothing_of_a_strangers_recipe_is_interpolated(rerun, queue, monkeypatch, where: str, text: str):
    """Also where its code is trusted: variables and keys are not a file's to read."""
    monkeypatch.setenv("SECRET", "0.125")
    file = with_recipe(queue, lambda recipe: COMPUTED[where](recipe, text))
    for trust in ("trust=true", "trust=false"):
        assert rerun(file, trust).refused(f"would be computed as they are read ({text})")
    assert not Path("results/queue-rerun").exists()


@pytest.mark.parametrize(
    ("line", "axes", "is_kept"),
    [
        ("note: ${oc.env:NOTE}", (), True),
        ("note: seen ${.name_is} and ${name_is}", (), True),
        ("note: ${.name_is}", ("+axes.own=workload.note", "grid.own=[a,b]"), True),
        ("note: ${.name_is}", ("+axes.own=workload.name_is", "grid.own=[a,b]"), False),
    ],
)
def test_a_recipe_has_the_values_of_interpolations(
    rerun, sweep, monkeypatch, tmp_path, line: str, axes: tuple[str, ...], is_kept: bool
) -> None:
    monkeypatch.setenv("NOTE", "from the variable")
    shutil.copytree(CONF, tmp_path / "own")
    (tmp_path / "own" / "workload" / "mine.yaml").write_text(f"defaults: [poisson, _self_]\n{line}\n")
    study = ("policy=quick", "grid.load=[0.3]", "replications=1", "workload=mine", *axes)
    assert sweep(*study, f"--config-dir={tmp_path / 'own'}").status == 0
    monkeypatch.setenv("NOTE", "another value")
    answer = rerun("results/queue")
    if is_kept:
        assert (answer.status, "identical" in answer.out) == (0, True), answer.out + answer.err
    else:
        assert answer.refused("has no recipe from which it could be made again; run its command again")


ORDERS = """
from numba import njit
from {package}.weights import WEIGHT

@njit
def widest(submitted, requested, processors, memory):
    return WEIGHT * processors
"""


@pytest.mark.exhaustive
def test_code_of_ones_own_travels_with_the_dataset(rerun, tmp_path: Path, monkeypatch) -> None:
    package = f"orders_{abs(hash(tmp_path.name))}"
    (tmp_path / "own" / package).mkdir(parents=True)
    (tmp_path / "own" / package / "__init__.py").write_text("")
    (tmp_path / "own" / package / "weights.py").write_text("WEIGHT = 2.0\n")
    (tmp_path / "own" / package / "priority.py").write_text(ORDERS.format(package=package))
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    file = made(
        "+experiment=replay", f"workload.path={LOG}", "grid.policy=[easy]",
        f"policy.priority={package}.priority.widest", "executor=serial",
    )  # fmt: skip
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.rmtree(tmp_path / "own")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("TRACES", str(LOG.parent))
    answer = rerun(file)
    assert answer.status == 2
    assert (
        f"module {package}.priority is not installed, but the file carries it: modules=FOLDER" in answer.err
    )
    answer = rerun(file, "modules=brought")
    assert answer.status == 0, answer.out + answer.err
    assert "identical" in answer.out
    assert Path(f"brought/{package}/weights.py").read_text(encoding="utf-8") == "WEIGHT = 2.0\n"
    Path(f"brought/{package}/weights.py").write_text("WEIGHT = 3.0\n", encoding="utf-8")
    answer = rerun(file, "modules=brought")
    assert answer.status == 2
    assert "weights.py exists with another content; give a new folder" in answer.err


@pytest.mark.exhaustive
def test_a_study_of_a_notebook(rerun) -> None:
    mine = {
        "submit": np.arange(60.0) * 60,
        "runtime": np.full(60, 600.0),
        "processors": np.arange(60) % 8 + 1,
        "requested": np.full(60, 900.0),
    }
    once = {"replications": 1, "batches": 1, "batch_size": None, "warmup": 0}
    policies = ["easy", {"name": "easy", "reservations": 2}]
    grid = {"policy": policies, "workload": [mine], "machine": [16, 24], "load": [None]}
    face.Study("compare", grid=grid, output="results/own", executor="serial", **once).run(progress=False)
    answer = rerun("results/own", "output=again")
    assert (answer.status, "identical" in answer.out) == (0, True), answer.out + answer.err
    recipe = json.loads(loaded(Path("again/compare.nc"), decode_cf=False).attrs["recipe"])
    assert list(recipe["study"]["files"]["workload"].values()) == [None], "arrays are in the config already"


def test_one_bit_is_seen() -> None:
    state = ("x", np.array([1, 1], dtype=np.int8))
    one = xr.Dataset(
        {"a": ("x", [1.0, np.nan]), "n": ("x", ["p", "q"]), "state": state}, attrs={"title": "t"}
    )
    assert not list(sameness.differences(one, one.copy(deep=True)))
    for change, says in (
        (
            lambda d: d["a"].values.__setitem__(0, np.nextafter(1.0, 2.0)),
            "a: 1 of 2 values differs, by 2.2e-16",
        ),
        (lambda d: d["a"].values.__setitem__(0, np.nan), "a: 1 of 2 values differs, where one has none"),
        (lambda d: d["n"].values.__setitem__(1, "r"), "n: 1 of 2 values differs"),
        (lambda d: d["a"].attrs.update(units="s"), "a: its attributes differ"),
        (lambda d: d.attrs.update(title="u"), "attribute title: t in the file, u here"),
    ):
        other = one.copy(deep=True)
        change(other)
        (line,) = sameness.differences(one, other)
        assert line.startswith(says)
    (line,) = sameness.differences(one, one.assign(a=("y", [1.0])))
    assert line == "a: float64 x 2 in the file, float64 y 1 here"
