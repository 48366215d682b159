"""A release: built from a clean clone, installed elsewhere, and complete."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from sweep import cli

ROOT = Path(__file__).parent.parent


def run(*command: object, cwd: Path, status: int = 0, **environment: str) -> str:
    """Run a command in a folder, check its exit status, and return its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | environment
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_plan_in_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With results elsewhere: the checkout may hold a user's own."""
    monkeypatch.chdir(ROOT)
    study = ("+experiment=packing", "policy=buddy", "grid.load=[0.5]", f"output={tmp_path / 'results'}")
    assert cli.main([*study, "action=plan"]) == 0


@pytest.mark.exhaustive
def test_a_release_is_built_once_and_runs_in_an_empty_environment(tmp_path: Path) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout: a release is made from one")
    clone = tmp_path / "clone"
    run("git", "clone", "-q", ROOT, clone, cwd=tmp_path)
    name = {f"GIT_{role}_{key}": "a" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    release = ("make", "release", "READY=", f"PY={sys.executable}")
    (clone / "new.py").touch()
    assert "the tree has changes; commit them first" in run(*release, cwd=clone, status=2)
    (clone / "new.py").unlink()
    assert "these addresses are placeholders" in run(*release, cwd=clone, status=2)
    for file in ("pyproject.toml", "codemeta.json"):
        text = (clone / file).read_text(encoding="utf-8").replace("schedsweep.example", "scheduling.invalid")
        (clone / file).write_text(text, encoding="utf-8")
    run("git", "commit", "-q", "-a", "-m", "Set addresses", cwd=clone, **name)
    run(*release, cwd=clone, **name)
    version = tomllib.loads((clone / "pyproject.toml").read_text())["project"]["version"]
    assert run("git", "tag", cwd=clone).split() == [f"v{version}"]
    assert f"version {version} has a tag" in run(*release, cwd=clone, status=2)
    (wheel,), (sdist,) = (clone / "dist").glob("*.whl"), (clone / "dist").glob("*.tar.gz")
    assert sdist.stat().st_size > 0
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    packages = {name.partition("/")[0] for name in files}
    assert packages == {"models", "sweep", "analysis", "slurm", "schedsweep"}
    assert {f"{package}/py.typed" for package in packages} <= files
    pages = {f"sweep/docs/{path.name}" for path in (*(clone / "docs").glob("*.md"), clone / "README.md")}
    assert {name for name in files if name.startswith("sweep/docs/")} == pages
    confs = {f"sweep/conf/{path.relative_to(clone / 'conf')}" for path in (clone / "conf").rglob("*.yaml")}
    assert {name for name in files if name.startswith("sweep/conf/")} == confs

    env = tmp_path / "env"
    run(sys.executable, "-m", "venv", env, cwd=tmp_path)
    run(env / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    # Dependencies come from this environment, so that no network is needed; not its editable install.
    (site,) = env.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    place = tmp_path / "place"
    place.mkdir()
    assert "tasks" in run(env / "bin/schedsweep", "plan", "packing", cwd=place)
    assert not list(place.iterdir())
    assert "# Means, intervals" in run(env / "bin/schedsweep", "docs", "docs/statistics.md", cwd=place)
    assert run(env / "bin/python", "-m", "analysis", "--version", cwd=place) == f"schedsweep {version}\n"
    code = "import analysis, sweep; print(sweep.__file__, analysis.__file__)"
    found = run(env / "bin/python", "-c", code, cwd=place).split()
    assert all(Path(file).is_relative_to(site) for file in found)


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
    assert {re.split("[<>=]", each)[0].lower().replace(".", "-") for each in wanted} <= names
    assert not names & {"pytest", "sphinx", "panel", "mypy", "simpy"}
    assert len(part) < len(whole) / 2
