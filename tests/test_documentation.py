"""What the documentation says works: its example policy, its commands, its links."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "adding_a_policy.md"
PACKAGES = ("models", "sweep", "analysis", "slurm")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a language in a page."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [code for name, code in fences if name == language]


def guide_commands() -> list[str]:
    """Return the sweep commands of the guide."""
    lines = [line for block in blocks(GUIDE, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("python -m sweep")]


@pytest.fixture
def worst_fit(tmp_path: Path) -> Path:
    """Follow the guide in a folder of one's own, as its last paragraph says."""
    code = blocks(GUIDE, "python")[0]
    (tmp_path / "worst_fit_of_the_guide.py").write_text(code)
    yaml = blocks(GUIDE, "yaml")[0].replace("models.packing.schemes.worst_fit", "worst_fit_of_the_guide")
    policies = tmp_path / "conf" / "policy" / "gang"
    policies.mkdir(parents=True)
    (policies / "worst_fit.yaml").write_text(yaml)
    return tmp_path


def test_the_guides_policy_keeps_the_contract(worst_fit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(worst_fit))
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "models" / "gang"))
    import test_placement_contract as contract

    line = blocks(GUIDE, "python")[1].replace("models.packing.schemes.worst_fit", "worst_fit_of_the_guide")
    names: dict[str, list[str]] = {"SCHEMES": []}
    exec(line, names)
    for name in names["SCHEMES"]:
        for n_pes in contract.N_PES:
            contract.check_placements(name, n_pes, seed=1)
        contract.check_work(name, "shared")


def test_the_guides_command_runs(worst_fit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(worst_fit))
    words = [sys.executable, *shlex.split(guide_commands()[0])[1:], "--config-dir", str(worst_fit / "conf")]
    small = [f"output={worst_fit}/results", "batches=5", "batch_size=50", "executor=serial", "replications=1"]
    run = subprocess.run([*words, *small], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr
    assert "worst_fit" in run.stdout


ORDER, ORDER_HERE = "models.backfill.priority.orders.earliest_end", "earliest_end_of_the_guide"


@pytest.fixture
def earliest_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Follow the guide's second part in a folder of one's own."""
    (tmp_path / f"{ORDER_HERE}.py").write_text(blocks(GUIDE, "python")[2])
    policies = tmp_path / "conf" / "policy" / "backfill"
    policies.mkdir(parents=True)
    (policies / "earliest_end.yaml").write_text(blocks(GUIDE, "yaml")[1].replace(ORDER, ORDER_HERE))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_guides_order_keeps_the_contract(earliest_end: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "models" / "backfill"))
    import test_order_contract as contract

    names: dict[str, list[str]] = {"ORDERS": []}
    exec(blocks(GUIDE, "python")[3].replace(ORDER, ORDER_HERE), names)
    assert names["ORDERS"]
    for name in names["ORDERS"]:
        contract.check_values(name)
        for seed in range(3):
            contract.check_schedules(name, seed)


def test_the_guides_order_is_run_beside_others(earliest_end: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(earliest_end))
    words = [
        sys.executable,
        *shlex.split(guide_commands()[1])[1:],
        "--config-dir",
        str(earliest_end / "conf"),
    ]
    small = [f"output={earliest_end}/results", "batches=2", "batch_size=50", "executor=serial"]
    run = subprocess.run([*words, *small], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr
    assert "earliest_end" in run.stdout


def test_the_guides_cell_runs() -> None:
    cell: dict[str, Any] = {}
    exec(blocks(GUIDE, "python")[4], cell)
    assert cell["one"].start.values.tolist() != cell["two"].start.values.tolist()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def commands() -> list[str]:
    """Return the sweep and analysis commands of the README."""
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    return [line.split(" #")[0].strip() for line in lines if line.startswith("python -m sweep")]


SACCT = """\
JobID|User|Partition|State|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|ReqMem
7|alice|batch|COMPLETED|2024-03-01T00:00:00|2024-03-01T00:00:00|2024-03-01T00:01:00|600|20|4|1|4000M
8|bob|batch|TIMEOUT|2024-03-01T01:00:00|2024-03-01T01:00:00|2024-03-01T01:00:00|1200|20|64|2|4000M
"""


@pytest.mark.parametrize("command", commands())
def test_commands_of_the_readme_are_understood(command: str, tmp_path: Path) -> None:
    words = [sys.executable, *shlex.split(command)[1:]]
    log = tmp_path / "log.swf"
    log.write_text(a_log(seed=1))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if not any(word.startswith(("action=", "--")) for word in words):
        words += ["action=plan"]
    if words[3:4] == ["rerun"]:
        small = ["+experiment=packing", "policy=buddy", "grid.load=[0.5]", "batches=3", "batch_size=50"]
        small += ["replications=1", "executor=serial", f"output={tmp_path}"]
        subprocess.run(
            [*words[:3], *small], cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=600
        )
        words[4] = str(tmp_path / Path(words[4]).name)
    words = [word.replace("LOG", str(log)) if "path=" in word else word for word in words]
    sacct = tmp_path / "sacct.txt"
    sacct.write_text(SACCT)
    words = [word.replace("=FILE", f"={sacct}") if "path=" in word else word for word in words]
    run = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stderr


def documented_modules() -> list[str]:
    """Return the modules with examples in their docstrings."""
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    return [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in files
        if re.search(r"^ +>>> (?!.*\+SKIP)", file.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize("module", documented_modules())
def test_examples_in_docstrings_give_what_they_say(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_readmes_notebook_runs(tmp_path: Path) -> None:
    """In a folder of its own, cell after cell; first of all what the dataset comes from."""
    small = 'grid={"load": [0.5]}, batches=5, batch_size=100, replications=1, executor="serial"'
    first = f'import sweep\nsweep.Study("packing", {small}).run()\n'
    cells = "\n".join(blocks(ROOT / "README.md", "python"))
    quick = cells.replace(
        "batches=10)", 'batches=5, batch_size=100, executor="serial", output="results/face")'
    )
    (tmp_path / "notebook.py").write_text(first + quick)
    run = subprocess.run(
        [sys.executable, "notebook.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "easy.swf").is_file()


OWN_STUDY = ROOT / "docs" / "own_study.md"


def a_log(seed: int) -> str:
    """Make a log of 300 jobs and three users on 16 processors."""
    random = np.random.default_rng(seed)
    lines, at = ["; MaxProcs: 16"], 0
    for number in range(1, 301):
        at += int(random.exponential(900)) + 1
        runtime, size = int(random.exponential(1800)) + 1, int(random.integers(1, 9))
        asked = f"{size} {2 * runtime} -1 1 {number % 3 + 1} 1 -1 -1 -1 -1 -1"
        lines.append(f"{number} {at} 0 {runtime} {size} -1 -1 {asked}")
    return "\n".join(lines) + "\n"


def test_the_page_on_ones_own_study_works_from_top_to_bottom(tmp_path: Path) -> None:
    """Its files in a folder of one's own, then every command and every cell, in their order."""
    experiments, logs = tmp_path / "myconf" / "experiment", tmp_path / "logs"
    for folder in (experiments, logs):
        folder.mkdir(parents=True)
    for seed, name in enumerate(("first", "second")):
        (logs / f"{name}.swf").write_text(a_log(seed))
    mine, weights, assumptions, several = blocks(OWN_STUDY, "yaml")
    # As it is printed, only shorter.
    (experiments / "mine.yaml").write_text(mine.replace("batch_size: 500", "batch_size: 40"))
    (experiments / "logs.yaml").write_text(several)
    grid = "grid: {policy: [priority_backfill], workload: [lublin2003], load: [0.5], machine: [pe128]}\n"
    (experiments / "weights.yaml").write_text(f"# @package _global_\nname: weights\n{grid}{weights}")
    grid = grid.replace("priority_backfill", "easy")
    (experiments / "assumptions.yaml").write_text(
        f"# @package _global_\nname: assumptions\n{grid}{assumptions}"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    lines = [line for block in blocks(OWN_STUDY, "sh") for line in block.splitlines()]
    lines += [
        f"python -m sweep +experiment={name} --config-dir myconf action=plan"
        for name in ("weights", "assumptions")
    ]
    for line in lines:
        words = [sys.executable, *shlex.split(line)[1:]]
        if words[2] == "sweep" and "action=plan" not in words:
            words.append("executor=serial")
        if words[2] == "analysis" and words[3:] != ["results/mine"] and "metrics=" not in line:
            words.append("metrics=wait,wait_by_runtime")  # one command draws all that there is
        run = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        assert run.returncode == 0, (line, run.stderr)
        if "weights" in line:
            assert "wait only, expansion only" in run.stdout
    results = tmp_path / "results"
    for folder in ("mine", "mine/against_fcfs", "mine/exact", "mine/tails", "mine/at_half", "logs"):
        assert (results / folder / "report.html").is_file(), folder
    assert (results / "mine" / "tails" / "figures" / "wait_p95.png").is_file()
    assert "Mean wait against fcfs" in (results / "mine" / "against_fcfs" / "report.html").read_text()
    cells = "\n".join(blocks(OWN_STUDY, "python")).replace(
        'config_dir="myconf"', 'config_dir="myconf", executor="serial"'
    )
    cells = cells.replace('="fcfs")', '="fcfs", metrics="wait")').replace(
        '="exact")', '="exact", metrics="wait")'
    )
    (tmp_path / "notebook.py").write_text(f"{cells}\nprint(len(jobs.schedule.table()))\n")
    run = subprocess.run(
        [sys.executable, "notebook.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "2000"


def test_the_page_on_ones_own_study_names_the_columns_that_there_are() -> None:
    """In the page, in the module's docstring and in the code."""
    from sweep import job_tables

    page = OWN_STUDY.read_text()
    table = page[page.index("| column | unit |") :].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines())))
    assert named == {"job", *job_tables.COLUMNS}
    assert all(f"``{column}``" in str(job_tables.__doc__) for column in named)
