"""Commands, code and links of the documentation work; each page's in a folder of its own."""

import doctest
import hashlib
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.gang import FAMILY
from sweep.config import locate
from sweep.config.compose import load
from sweep.config.overrides import parsed
from sweep.plan.expansion import expand

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
EXPERIMENTS = ROOT / "conf" / "experiment"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
PACKAGES = ("models", "sweep", "analysis", "slurm")
MAINS = {"sweep": "sweep.cli", "analysis": "analysis.command", "slurm": "slurm.cli"}
MAKE_PACKING = "python -m sweep +experiment=packing\npython -m analysis results/packing"
SMALL = ("batches=5", "batch_size=50", "executor=serial", "replications=1")


UNREPORTED = {"families_full", "families_logs", "packing_trace"}
"""Studies of the papers of which no page has a number."""

NUMBERS = re.compile(r"^<!-- numbers of (\w+): (.+); settings (\w+) -->$", re.MULTILINE)
REPORTED = {
    study: (page.name, families, settings)
    for page in sorted(DOCS.glob("*.md"))
    for study, families, settings in NUMBERS.findall(page.read_text(encoding="utf-8"))
}
"""Study -> the page that has numbers of it, versions of its families, and a hash of its settings."""


def test_pictures_and_numbers_were_computed_by_the_present_versions_of_their_families() -> None:
    """Picture: ``python -m analysis results/packing figures=fig8``, and copy fig8.png to docs.

    Numbers: rerun the study, correct the page, then its line; the exhaustive test below prints the hash.
    """
    chunks = (DOCS / "fig8.png").read_bytes().split(b"tEXtSource\0")
    assert len(chunks) == 2, "the picture does not say by which code it was computed"
    found, _ = json.JSONDecoder().raw_decode(chunks[1].decode("latin-1"))
    assert found["families"] == {FAMILY.package: FAMILY.version}
    assert set(found["sources"]) == {FAMILY.package, "models.workloads.feitelson1996"}
    assert set(REPORTED) == {file.stem for file in EXPERIMENTS.glob("*/*.yaml")} - UNREPORTED
    for study, (page, families, _) in REPORTED.items():
        names = [one.split()[0] for one in families.split(", ")]
        now = ", ".join(f"{name} {importlib.import_module(name).FAMILY.version}" for name in names)
        assert families == now, f"{page} has numbers of {study} from another version"


@pytest.mark.exhaustive
@pytest.mark.parametrize("study", REPORTED)
def test_numbers_of_a_page_were_computed_with_the_present_settings(study: str) -> None:
    """Of all policies, workloads and machines of the study."""
    plan = expand(load(parsed([f"+experiment={study}"]), locate.conf_folder()))
    texts = sorted(one.text for variants in plan.variants.values() for one in variants)
    page, families, settings = REPORTED[study]
    assert {one.split()[0] for one in families.split(", ")} == {one.package for one in plan.families.values()}
    assert settings == hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8], f"{page}: rerun {study}"


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a language in a page."""
    fences = re.findall(
        r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return [code for name, code in fences if name == language]


def commands(page: Path) -> list[str]:
    """Return the commands of a page, a line each, without their comments."""
    text = "\n".join(blocks(page, "sh")).replace("\\\n", " ").replace("make packing", MAKE_PACKING)
    lines = (re.sub(" +", " ", line.partition(" #")[0]).strip() for line in text.splitlines())
    return [line for line in lines if line.startswith(tuple(f"python -m {module} " for module in MAINS))]


def run(command: str, *more: object) -> None:
    """Run a command ``python -m ...`` in this process."""
    _, _, module, *words = shlex.split(command)
    status = importlib.import_module(MAINS[module]).main([*words, *map(str, more)])
    assert status == 0, command


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, where Python finds modules, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


GUIDE = DOCS / "adding_a_policy.md"


@pytest.mark.parametrize(
    ("family", "name", "module", "number"),
    [
        ("gang", "worst_fit", "models.packing.schemes.worst_fit", 0),
        ("backfill", "earliest_end", "models.backfill.priority.earliest_end", 1),
    ],
)
def test_the_guide_to_a_policy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, family: str, name: str, module: str, number: int
) -> None:
    """Its function and YAML file in the user's folder keep the contract, and its command runs."""
    here = f"{name}_of_the_guide"
    code, line = blocks(GUIDE, "python")[2 * number : 2 * number + 2]
    (folder / f"{here}.py").write_text(code)
    policies = folder / "conf" / "policy" / family
    policies.mkdir(parents=True)
    (policies / f"{name}.yaml").write_text(blocks(GUIDE, "yaml")[number].replace(module, here))
    names: dict[str, list[str]] = {"SCHEMES": [], "ORDERS": []}
    exec(line.replace(module, here), names)
    for tests in (ROOT / "tests" / "models", ROOT / "tests" / "models" / family):
        monkeypatch.syspath_prepend(str(tests))
    contract = importlib.import_module("test_order_contract" if number else "test_placement_contract")
    for order in names["ORDERS"]:
        contract.check_values(order)
        contract.check_schedules(order, 10)
    for scheme in names["SCHEMES"]:
        contract.check_placements(scheme, contract.N_PES[0], seed=1)
        contract.check_work(scheme, "shared")
    assert names["ORDERS"] or names["SCHEMES"]
    more = ("replications=1", *SMALL[:3]) if family == "gang" else SMALL[:3]
    run(commands(GUIDE)[number], "--config-dir", folder / "conf", "output=results", *more)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_examples_are_as_wide_as_their_column() -> None:
    """Lines of one long word are exempt."""
    for page in PAGES:
        for language in ("sh", "python", "yaml", "text"):
            for line in "\n".join(blocks(page, language)).splitlines():
                assert len(line) <= 88 or max(map(len, line.split())) > 70, f"{page.name}: {line}"


def a_log(seed: int) -> str:
    """Return a log of 300 jobs and three users on 16 processors."""
    random = np.random.default_rng(seed)
    lines, at = ["; MaxProcs: 16"], 0
    for number in range(1, 301):
        at += int(random.exponential(900)) + 1
        runtime, size = int(random.exponential(1800)) + 1, int(random.integers(1, 9))
        asked = f"{size} {2 * runtime} -1 1 {number % 3 + 1} 1 -1 -1 -1 -1 -1"
        lines.append(f"{number} {at} 0 {runtime} {size} -1 -1 {asked}")
    return "\n".join(lines) + "\n"


FIRST_PAGES = [ROOT / "README.md", DOCS / "five_minutes.md"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", FIRST_PAGES, ids=lambda page: page.stem)
def test_the_cells_of_the_first_pages_run(folder: Path, page: Path) -> None:
    """In a folder of its own, cell after cell, after the study whose dataset it reads."""
    small = 'grid={"load": [0.5]}, batches=5, batch_size=100, replications=1, executor="serial"'
    cells = "\n".join(blocks(page, "python"))
    face = 'batches=5, batch_size=100, executor="serial", output="results/face")'
    quick = re.sub(r"batches=10\s*\)", face, cells)
    # A program of its own, as functions of a notebook are of no module that a worker could import.
    (folder / "notebook.py").write_text(f'import sweep\nsweep.Study("packing", {small}).run()\n{quick}')
    done = subprocess.run(
        [sys.executable, "notebook.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "results" / "face" / "packing.nc").is_file()


def documented_modules() -> list[str]:
    """Return the modules with examples in their docstrings."""
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    return [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in files
        if re.search(r"^ +>>> (?!.*\+SKIP)", file.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize("module", documented_modules())
def test_examples_in_docstrings(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0


OWN_STUDY = DOCS / "own_study.md"


@pytest.mark.exhaustive
def test_the_page_on_ones_own_study_works_from_top_to_bottom(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files in a separate folder, then every command and every cell, in their order."""
    experiments, logs = folder / "myconf" / "experiment", folder / "logs"
    for each in (experiments, logs):
        each.mkdir(parents=True)
    for seed, name in enumerate(("first", "second")):
        (logs / f"{name}.swf").write_text(a_log(seed))
    mine, weights, assumptions, several = blocks(OWN_STUDY, "yaml")
    # As it is printed, only shorter.
    (experiments / "mine.yaml").write_text(mine.replace("batch_size: 500", "batch_size: 40"))
    (experiments / "logs.yaml").write_text(several)
    for name, policy, part in (
        ("weights", "priority_backfill", weights),
        ("assumptions", "easy", assumptions),
    ):
        grid = f"grid: {{policy: [{policy}], workload: [lublin2003], load: [0.5], machine: [pe128]}}\n"
        (experiments / f"{name}.yaml").write_text(f"# @package _global_\nname: {name}\n{grid}{part}")
        run(f"python -m sweep +experiment={name} --config-dir myconf action=plan")
    assert "wait only, expansion only" in capsys.readouterr().out
    for line in commands(OWN_STUDY):
        more = []
        if "-m sweep" in line and "action=plan" not in line:
            more = ["executor=serial"]
        if "-m analysis" in line and not line.endswith("results/mine") and "metrics=" not in line:
            more = ["metrics=wait,wait_by_runtime"]  # one command draws all that there are
        run(line, *more)
    results = folder / "results"
    for place in ("mine", "mine/against_fcfs", "mine/exact", "mine/tails", "mine/at_half", "logs"):
        assert (results / place / "report.html").is_file(), place
    assert (results / "mine" / "tails" / "figures" / "wait_p95.png").is_file()
    assert "Mean wait against FCFS" in (results / "mine" / "against_fcfs" / "report.html").read_text()
    cells = "\n".join(blocks(OWN_STUDY, "python"))
    for given, short in (
        ('config_dir="myconf"', 'config_dir="myconf", executor="serial"'),
        ('="fcfs")', '="fcfs", metrics="wait")'),
        ('="exact")', '="exact", metrics="wait")'),
    ):
        cells = cells.replace(given, short)
    (folder / "own_cells.py").write_text(cells)
    assert len(importlib.import_module("own_cells").jobs.schedule.table()) == 2000


def test_the_page_on_ones_own_study_names_all_columns() -> None:
    """In the page, in the module's docstring and in the code."""
    from sweep import job_tables

    page = OWN_STUDY.read_text()
    table = page[page.index("| column | unit |") :].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines())))
    assert named == {"job", *job_tables.COLUMNS}
    assert all(f"``{column}``" in str(job_tables.__doc__) for column in named)


@pytest.mark.parametrize("shell", ["bash -O failglob", "zsh -f"])
def test_a_shell_leaves_the_words_of_every_command_alone(shell: str) -> None:
    """In zsh a word with brackets that matches no file is an error, and braces are expanded in any shell."""
    if shutil.which(shell.split()[0]) is None:
        pytest.skip(f"{shell.split()[0]} is not installed")
    listed = [line for page in PAGES for line in commands(page) if "<" not in line and "$" not in line]
    script = "\n".join(f"printf '%s\\0' {line}; echo" for line in listed)
    done = subprocess.run(
        [*shell.split(), "-c", script], capture_output=True, text=True, env=os.environ | {"HOME": "~"}
    )
    assert not done.stderr
    for line, words in zip(listed, done.stdout.splitlines(), strict=True):
        assert words.rstrip("\0").split("\0") == shlex.split(line)
