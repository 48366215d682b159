"""Kernels are compiled once, and kept for every copy of the project that has the same code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[2] / "models"


def in_new_process(code: str, cache: Path, folder: Path = MODELS.parent, **environment: str) -> str:
    """Run some Python in a folder, with a kernel cache of its own, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment, "SCHEDSWEEP_KERNELS": ""},
    )
    return done.stdout


def test_what_is_preloaded_is_never_compiled(tmp_path):
    code = "import sys; from models import gang; gang.FAMILY.preload(); print('numba' in sys.modules)"
    assert in_new_process(code, tmp_path) == "False\n"


def copy_of_the_models(place: Path) -> Path:
    shutil.copytree(MODELS, place / "models", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def test_a_second_copy_of_the_project_compiles_nothing(tmp_path):
    """As a fresh clone, or an installed wheel: numba itself would look for kernels by the path."""
    code = "from models.workloads import redrawn; print(redrawn.__file__, 0 < redrawn.uniform(1, 2) < 1)"
    printed = {}
    for name in ("first", "second"):
        copy = copy_of_the_models(tmp_path / name)
        printed[name] = in_new_process(code, tmp_path / "cache", copy, NUMBA_DEBUG_CACHE="1")
        assert f"{copy}/models/workloads/redrawn.py True" in printed[name]
    assert "data saved to" in printed["first"]
    assert "data loaded from" in printed["second"]
    assert "data saved to" not in printed["second"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kernel", "changed", "is_kept"),
    [
        ("models.workloads.redrawn", "kernels/ties.py", False),
        ("models.workloads.redrawn", "backfill/rules.py", True),
        ("models.medium_term.engine", "medium_term/__init__.py", False),
        ("models.medium_term.engine", "backfill/rules.py", True),
    ],
)
def test_a_copy_whose_code_differs_compiles_what_may_call_it(tmp_path, kernel, changed, is_kept):
    """Families share `kernels`, and none imports another: a change in a family compiles that family only."""
    in_new_process(f"import {kernel}", tmp_path / "cache", copy_of_the_models(tmp_path / "first"))
    other = copy_of_the_models(tmp_path / "second")
    with (other / "models" / changed).open("a") as callee:
        callee.write("# changed, in another file\n")
    printed = in_new_process(f"import {kernel}", tmp_path / "cache", other, NUMBA_DEBUG_CACHE="1")
    assert ("data saved to" in printed) is not is_kept
    assert ("data loaded from" in printed) is is_kept


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, mode):
    """Numba runs what it finds there, as the user."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(mode)
    code = "from models.kernels import cache; cache.install(); print(cache.in_use())"
    used = Path(in_new_process(code, tmp_path / "cache", TMPDIR=str(tmp_path)).strip())
    assert not used.is_relative_to(tmp_path / "cache")
    assert used.stat().st_mode & 0o077 == 0


def test_an_own_kernel_is_compiled_anew_after_a_change_of_what_it_calls(tmp_path):
    """From a module of another folder of the search path, where numba itself does not look."""
    kernel = "from numba import int64\nfrom models.kernels.compiling import kernel\n"
    (tmp_path / "elsewhere").mkdir()
    helper = tmp_path / "elsewhere" / "helper.py"
    (tmp_path / "mine.py").write_text(
        f"{kernel}from helper import grow\n\n@kernel(int64(int64))\ndef run(x):\n    return grow(x)\n"
    )
    for factor in (2, 3, 3):
        helper.write_text(f"{kernel}\n@kernel(int64(int64))\ndef grow(x):\n    return {factor} * x\n")
        folders = os.pathsep.join(map(str, (tmp_path, tmp_path / "elsewhere")))
        # Python's own bytecode goes by size and second, which may be those of the file before.
        search = {"PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
        printed = in_new_process("import mine; print(mine.run(5))", tmp_path / "cache", **search)
        assert printed == f"{5 * factor}\n"
