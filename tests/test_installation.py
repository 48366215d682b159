"""The program finds its configs wherever it was installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def build_wheel(folder: Path) -> None:
    """Build the wheel, and unpack it: what lands in site-packages."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr
    (archive,) = folder.glob("*.whl")
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder / "site")


@pytest.fixture(scope="module")
def wheel(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """Return the unpacked wheel."""
    return once("wheel", build_wheel) / "site"


def sweep(*arguments: str, cwd: Path, python_path: str = "") -> subprocess.CompletedProcess[str]:
    """Run ``python -m sweep`` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "sweep", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


PLAN = ("+experiment=packing", "policy=buddy", "grid.load=[0.5]", "action=plan")


@pytest.mark.parametrize("arguments", [("--help",), PLAN], ids=["help", "plan"])
def test_from_a_wheel_in_another_folder(wheel: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run = sweep(*arguments, cwd=tmp_path, python_path=str(wheel))
    assert run.returncode == 0, run.stderr
    assert "packing" in run.stdout
    assert not list(tmp_path.iterdir())


def test_the_wheel_has_all_packages_and_nothing_else(wheel: Path) -> None:
    folders = {path.name for path in wheel.iterdir() if not path.name.endswith(".dist-info")}
    assert folders == {"models", "sweep", "analysis", "slurm", "schedsweep"}
    here = {path.relative_to(ROOT / "conf") for path in (ROOT / "conf").rglob("*.yaml")}
    assert {path.relative_to(wheel / "sweep/conf") for path in (wheel / "sweep/conf").rglob("*.yaml")} == here
    assert (wheel / "analysis/templates").is_dir()


def test_from_a_checkout(tmp_path: Path) -> None:
    """In the checkout's own folder, with results elsewhere: those of a user in it are none of a test's."""
    run = sweep(*PLAN, f"output={tmp_path / 'results'}", cwd=ROOT)
    assert run.returncode == 0, run.stderr


def test_from_an_editable_install_in_another_folder(tmp_path: Path) -> None:
    installed = subprocess.run(
        [sys.executable, "-c", "import sweep"], cwd=tmp_path, capture_output=True, check=False
    )
    if installed.returncode:
        pytest.skip("not installed here: `make setup` installs it")
    run = sweep(*PLAN, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def locked(name: str) -> dict[str, set[str]]:
    """Return a requirements file: package, version and marker, and its hashes."""
    found: dict[str, set[str]] = {}
    package = ""
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("    --hash="):
            found[package].add(line.strip(" \\"))
        elif not line.strip().startswith("#"):
            package = line.strip(" \\")
            found[package] = set()
    return found


def test_a_run_installs_a_part_of_what_is_locked() -> None:
    """The same versions with the same hashes, all that the project depends on, and none of the extras."""
    whole, part = locked("locked.txt"), locked("run.txt")
    versions = {line.partition(" ;")[0]: hashes for line, hashes in whole.items()}
    for line, hashes in part.items():
        assert versions[line.partition(" ;")[0]] == hashes, line
    names = {line.partition("==")[0] for line in part}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["build"]]
    assert {re.split("[<>=]", each)[0].lower() for each in wanted} <= names
    assert not names & {"pytest", "sphinx", "panel", "mypy", "simpy"}
    assert len(part) < len(whole) / 2
