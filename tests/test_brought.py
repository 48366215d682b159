"""All that a user brings lies outside the repository: family, workload, measure, experiment, figure, claim.

Once in a folder that ``modules=`` names, once as an installed plug-in.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import command
from schedsweep.packages import ROOT
from sweep import cli, plugins
from sweep.config import locate
from sweep.errors import SweepError
from sweep.plan import sources
from sweep.store.loading import loaded

FILES = {
    "mine/family/__init__.py": """
from models.family import Family, Metric
from models.jobs.measures import COMMON

FAMILY = Family(
    package=__name__,
    name="first come, first served",
    version=1,
    metrics=(Metric("starts", "1", "jobs that start"),),
    headline="wait",
    common=COMMON,
    schedules=True,
)
""",
    "mine/family/policies.py": """
from models import workloads


def check(point):
    return workloads.check(point)[0]


def is_stochastic(point):
    return workloads.is_stochastic(point.workload, reads_requests=False)
""",
    "mine/family/model.py": """
import heapq

import numpy as np

from mine.family import FAMILY
from models import workloads
from models.jobs import outcomes, schedule as schedules


def run(jobs, machine):
    start, running, now = np.zeros(len(jobs)), [], 0.0
    free = machine.total
    for job in range(len(jobs)):
        now = max(now, jobs.submit[job])
        while free < jobs.size[job]:
            ended, freed = heapq.heappop(running)
            now, free = max(now, ended), free + freed
        start[job] = now
        free -= jobs.size[job]
        heapq.heappush(running, (now + jobs.runtime[job], jobs.size[job]))
    return schedules.Schedule(jobs, machine, start, start + jobs.runtime, np.zeros(len(jobs), np.int64))


def starts(made, division, edges):
    return {"starts": np.bincount(division.batch, minlength=division.n_batches).astype(float)}


def simulate(point):
    return outcomes.simulate(FAMILY, point, workloads.open_workload(point), run, starts)


def schedule(point):
    return outcomes.schedule(point, workloads.open_workload(point), run)
""",
    "mine/conf/policy/own/by_hand.yaml": "# First come, first served, by hand.\nfamily: mine.family\n",
    "mine/conf/workload/steady.yaml": (
        "# Jobs of one size.\ndefaults: [_rigid, _self_]\nmodel: mine.steady\nsize: 4\nmean_runtime: 600\n"
    ),
    "mine/conf/experiment/mine.yaml": """# @package _global_
# Two ways to write FCFS.
name: mine
grid: {policy: [by_hand, backfill/fcfs], workload: [steady], load: [0.5, 0.7], machine: [pe128]}
workload: {estimates: exact}
batches: 6
batch_size: 100
replications: 5
measures: {of_jobs: [mine.metrics.wait_per_processor]}
""",
}


def of_guides() -> dict[str, str]:
    """Return the files that the guides show: below their names, or as the first block."""
    paper, metric, workload = (
        (ROOT / f"docs/adding_a_{page}.md").read_text() for page in ("paper", "metric", "workload")
    )
    named = re.findall(r"^ *`([^`\n]+)`\n\n *```\w+\n(.*?)^ *```$", paper + metric, re.DOTALL | re.MULTILINE)
    steady = re.search(r"^```python\n(.*?)^```$", workload, re.DOTALL | re.MULTILINE)
    return {"mine/steady.py": steady[1], **{place: textwrap.dedent(text) for place, text in named}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the user has."""
    top = tmp_path_factory.mktemp("brought")
    for place, text in {**FILES, **of_guides()}.items():
        (top / place).parent.mkdir(parents=True, exist_ok=True)
        (top / place).write_text(text)
    return top


def run(*words: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the project outside the repository."""
    path = os.pathsep.join(filter(None, (variables.pop("PYTHONPATH", ""), str(ROOT))))
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    command = [sys.executable, "-m", *map(str, words)]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


def status() -> str:
    """Return what git says of the repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    return subprocess.run(
        ["git", "-C", str(ROOT), "status", "--porcelain", "--ignored"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def results(folder: Path) -> Path:
    """The study, run by workers with modules of the folder; nothing is written into the repository."""
    before = status()
    conf, output = folder / "mine/conf", folder / "results"
    grid = ["sweep", "--config-dir", conf, "+experiment=mine", f"output={output}"]
    done = run(*grid, f"modules={folder}", "executor.workers=2", cwd=folder.parent)
    assert done.returncode == 0, done.stderr + done.stdout
    shown = run("analysis", output, f"modules={folder}", "paper=mine.paper", cwd=folder.parent)
    assert shown.returncode == 0, shown.stderr
    assert status() == before
    return output


def test_all_of_it_is_in_the_dataset_and_the_report(results: Path) -> None:
    with loaded(results / "mine.nc") as data:
        assert (data["state"] == 1).all()
        found, by_hand = data["wait_per_processor"], data.sel(policy="by_hand")
        assert found.attrs["units"] == "s"
        np.testing.assert_allclose(found, data["wait"] / 4)
        np.testing.assert_array_equal(by_hand["starts"], 100)
        np.testing.assert_allclose(by_hand["wait"], data["wait"].sel(policy="fcfs"))
        assert {"mine.family", "mine.steady", "mine.metrics"} <= set(json.loads(data.attrs["sources"]))
        assert re.search(r" modules=\./brought\d+ ", data.attrs["command"])
        carried = set(json.loads(data.attrs["recipe"])["modules"])
        assert {"mine/steady.py", "mine/metrics.py", "mine/family/model.py"} <= carried
        assert all(
            place.startswith("mine/") and place != "mine/paper.py" for place in carried
        )  # figures run no task
    assert (results / "figures/response_times.svg").is_file()
    claims = json.loads((results / "claims.json").read_text())
    assert "holds" in json.dumps(claims)
    assert "1-by-hand" in json.dumps(claims)


def test_a_rerun_names_the_code_that_it_needs_and_runs_what_the_file_carries(
    results: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    grid = ["--config-dir", f"{folder}/mine/conf", "+experiment=mine", f"output={tmp_path / 'lost'}"]
    again = ["rerun", f"{results}/mine.nc", "executor=serial", f"output={tmp_path / 'again'}"]
    assert cli.main(grid) == cli.main(again) == 2
    lost, refused = capsys.readouterr().err.splitlines()
    assert "No module named 'mine'; modules=FOLDER names the folder that holds it" in lost
    assert "modules=FOLDER writes it there" in refused
    monkeypatch.syspath_prepend(results.parent)
    sources.clear_caches()
    assert cli.main(again) == 2
    sources.clear_caches()
    names = ("mine.family", "mine.steady", "mine.metrics.wait_per_processor", "trust=true")
    stranger = capsys.readouterr().err
    assert all(name in stranger for name in names)
    done = run("sweep", *again, f"modules={tmp_path / 'code'}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "identical, bit for bit" in done.stdout


def test_a_workloads_source_is_a_part_of_a_tasks_identity(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results.parent / "mine", tmp_path / "mine")
    module = tmp_path / "mine/steady.py"
    grid = ["sweep", "+experiment=mine", f"output={results}", "action=status", f"modules={tmp_path}"]
    variables = {"SCHEDSWEEP_CONFIG_DIR": str(tmp_path / "mine/conf")}
    module.write_text(f"# a comment\n{module.read_text()}")
    assert " 0 left" in run(*grid, cwd=tmp_path, **variables).stdout
    module.write_text(
        module.read_text().replace(".exponential(mean, n_jobs)", ".exponential(mean + 1, n_jobs)")
    )
    assert " 0 done" in run(*grid, cwd=tmp_path, **variables).stdout


def test_a_dataset_imports_nothing_but_by_modules(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(results, tmp_path / "results")
    shutil.copytree(results.parent / "mine", tmp_path / "mine")
    (tmp_path / "mine/family/__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert command.main([str(tmp_path / "results"), f"output={tmp_path / 'drawn'}"]) == 0


@pytest.fixture
def installed(folder: Path, tmp_path: Path) -> Path:
    """A folder into which the same package is installed, with an entry point."""
    target = tmp_path / "target"
    shutil.copytree(folder / "mine", target / "mine")
    info = target / "mine_plugin-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine-plugin\nVersion: 1.2\n")
    points = tomllib.loads(of_guides()["pyproject.toml"])["project"]["entry-points"]
    lines = [f"[{group}]\n{name} = {value}\n" for group, of in points.items() for name, value in of.items()]
    (info / "entry_points.txt").write_text("".join(lines))
    return target


def test_an_installed_plug_in_offers_its_conf_and_its_papers(installed: Path, tmp_path: Path) -> None:
    small = ["replications=1", "batches=2", "executor=serial", "output=results"]
    done = run("sweep", "+experiment=mine", *small, cwd=tmp_path, PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    shown = run("analysis", "results", cwd=tmp_path, PYTHONPATH=str(installed))
    assert shown.returncode == 0, shown.stderr
    assert "(mine2026)" in shown.stdout
    assert (tmp_path / "results/figures/response_times.svg").is_file()


def test_a_plug_in_without_its_module_is_named(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(installed / "mine")
    helped = run("sweep", "--help", cwd=tmp_path, PYTHONPATH=str(installed))
    assert helped.returncode == 2
    assert "plug-in mine of mine-plugin 1.2: no module mine; install its package again" in helped.stderr


@pytest.mark.parametrize(
    ("given", "said"), [("nowhere", "no such folder"), ("", "(empty)"), ("~no-such-user/x", "no such folder")]
)
def test_a_folder_of_modules_has_to_be_there(
    given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SweepError, match=f"modules=.*{said}".replace("(", r"\(").replace(")", r"\)")):
        plugins.taken(["+experiment=mine", f"modules={given}"])


def test_a_folder_of_modules_hides_no_package_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    with pytest.raises(SweepError, match="models would hide this project's models; give it another name"):
        plugins.bring(tmp_path)


def test_the_config_folder_stands_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, named, typed = tmp_path / "schedsweep/conf", tmp_path / "named", tmp_path / "typed"
    for made in (own, named, typed):
        made.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert locate.folders() == [locate.conf_folder(), own]
    monkeypatch.setenv("SCHEDSWEEP_CONFIG_DIR", str(named))
    assert locate.folders() == [locate.conf_folder(), named, own]
    assert locate.folders(str(typed)) == [locate.conf_folder(), typed, own]
    monkeypatch.setenv("SCHEDSWEEP_CONFIG_DIR", str(tmp_path / "gone"))
    with pytest.raises(SweepError, match=r"SCHEDSWEEP_CONFIG_DIR .*gone: no such folder"):
        locate.folders()
