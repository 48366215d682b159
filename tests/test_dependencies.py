"""What the packages import is declared in pyproject.toml: at the core, or by the extra that needs it."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = ("models", "sweep", "analysis", "slurm", "schedsweep")

OF_EXTRAS = {
    "analysis/explorer": "explore", "sweep/executors": "mpi", "slurm/probe.py": "mpi",
    "sweep/tuning/proposing.py": "tune",
}  # fmt: skip
"""Where an import may be that only an extra declares -> the extra."""

HOSTS = {"sweep/progress.py": {"ipython"}}
"""Where a package is imported that is there if this process runs in it."""

LATER = {"compression"}
"""Modules of a later Python's standard library, imported where it has them."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}


def imported(file: Path) -> set[str]:
    """Return the top-level names of the modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).partition(".")[0])
    return found - sys.stdlib_module_names - LATER - set(PACKAGES)


def test_every_import_is_declared() -> None:
    distributions = packages_distributions()
    core = named(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    used: set[str] = set()
    undeclared: list[str] = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            place = file.relative_to(ROOT).as_posix()
            of_extras = [extras[extra] for at, extra in OF_EXTRAS.items() if place.startswith(at)]
            allowed = core.union(*map(named, of_extras), HOSTS.get(place, ()))
            for module in imported(file):
                of = {normal(name) for name in distributions.get(module, [module])}
                used |= of
                if not of & allowed:
                    undeclared.append(f"{place}: {module}")
    assert not undeclared
    by_name = {"netcdf4", "jinja2", "cryptography"}  # xarray, pandas and distributed import them
    assert core - used <= by_name, "declared, and imported by no package"
    assert named(extras["explore"]) <= used
