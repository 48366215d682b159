"""Kernels are compiled once, and kept for every copy of the project that has the same code."""

import json
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


LEAF = """
from numba import int64
from models.kernels.compiling import kernel
from models.{package} import {imported}

@kernel(int64(int64))
def run(x):
    return {expression}
"""
CALLEE = "FACTOR = {constant}\n" + LEAF.format(
    package="kernels", imported="types", expression="x + {added}"
).replace("@kernel(int64(int64))", "@part(int64(int64), inline=False)").replace(
    "import kernel", "import part"
)
CHOSEN = """
from numba import types
from models.kernels.compiling import by_type

@by_type
def chosen(x):
    return (lambda x: x + {chosen}) if isinstance(x, types.Integer) else None
"""


def test_a_changed_callee_constant_or_overload_in_another_file_never_gives_the_old_result(tmp_path):
    """A kernel is compiled again after a change that it can reach, and after no other."""
    package = copy_of_the_models(tmp_path) / "models" / "added"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "between.py").write_text(
        "from models.added import callee\nfrom models.added.chosen import (  # of a (group)\n    chosen,\n)\n"
    )
    expression = "between.callee.FACTOR * between.callee.run(x) + between.chosen(x)"
    (package / "caller.py").write_text(
        LEAF.format(package="added", imported="between", expression=expression)
    )
    (package / "apart.py").write_text(LEAF.format(package="kernels", imported="types", expression="x + 7"))
    seen = set()
    for added, constant, chosen in [(1, 2, 3), (4, 2, 3), (4, 5, 3), (4, 5, 6), (1, 2, 3)]:
        (package / "callee.py").write_text(CALLEE.format(added=added, constant=constant))
        (package / "chosen.py").write_text(CHOSEN.format(chosen=chosen))
        (package / "unrelated.py").write_text(f"CHANGED = {added, constant, chosen}\n")
        code = "from models.added import apart, caller; print(caller.run(10), apart.run(10))"
        printed = in_new_process(
            code, tmp_path / "cache", tmp_path, NUMBA_DEBUG_CACHE="1", PYTHONDONTWRITEBYTECODE="1"
        )
        assert printed.splitlines()[-1] == f"{constant * (10 + added) + 10 + chosen} 17"
        saved = {
            line.rsplit("/", 2)[1].split("-")[0] for line in printed.splitlines() if "data saved" in line
        }
        is_new = (added, constant, chosen) not in seen
        assert ("caller" in saved, "apart" in saved) == (is_new, not seen)
        seen.add((added, constant, chosen))


EDITS = """
import json
from pathlib import Path
from models.kernels import reach

files = sorted(reach.ROOT.rglob("*.py"))
modules = [
    ".".join(file.relative_to(reach.ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in files if "models.kernels.compiling" in file.read_text()
]

def digests():
    reach.digest.cache_clear()
    return {name: reach.digest(f"models.{name}") for name in modules}

found = [digests()]
assert reach.ROOT.is_relative_to(Path.cwd()), "a copy"
(reach.ROOT / "new.py").write_text("from models.backfill.event_loop import run_events\\n")
(reach.ROOT / "backfill" / "new.py").write_text("CONSTANT = 1\\n")
found.append(digests())
for changed in CHANGED:
    with (reach.ROOT / changed).open("a") as file:
        file.write("CHANGED = True\\n")
    found.append(digests())
print(json.dumps(found))
"""


def test_an_edit_in_a_family_concerns_its_own_kernels_and_a_new_file_none(tmp_path):
    edits = [
        ("backfill/event_loop.py", ["backfill.priority.reservations"], ["gang.engine", "slurm.kernel.loop"]),
        ("medium_term/engine.py", ["medium_term.engine"], ["gang.engine", "backfill.event_loop"]),
        ("packing/slots.py", ["gang.engine"], ["backfill.event_loop", "slurm.kernel.loop"]),
        ("kernels/types.py", ["backfill.event_loop", "gang.engine", "slurm.kernel.loop"], []),
    ]
    code = EDITS.replace("CHANGED:", f"{[changed for changed, _, _ in edits]}:")
    copy = copy_of_the_models(tmp_path)
    first, before, *found = json.loads(in_new_process(code, tmp_path / "cache", copy))
    assert len(first) > 50
    assert {"backfill.event_loop", "gang.engine", "workloads.redrawn"} <= first.keys()
    assert first == before, "a new file"
    for (changed, reaching, apart), after in zip(edits, found, strict=True):
        differ = {name for name in before if after[name] != before[name]}
        assert differ.issuperset(reaching), changed
        assert differ.isdisjoint(apart), changed
        before = after


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, mode):
    """Numba runs what it finds there, as the user."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(mode)
    code = "from models.kernels import cache; cache.install(); print(cache.in_use())"
    used = Path(in_new_process(code, tmp_path / "cache", TMPDIR=str(tmp_path)).strip())
    assert not used.is_relative_to(tmp_path / "cache")
    assert used.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("others", ["read", "write a file", "write a folder", "link"])
def test_kernels_of_a_shared_installation_are_taken_over_if_only_its_owner_can_write(tmp_path, once, others):
    compiled = "from models.workloads import redrawn; print(0 < redrawn.uniform(1, 2) < 1)"
    shared = shutil.copytree(
        once("kernels", lambda cache: in_new_process(compiled, cache)), tmp_path / "shared"
    )
    for place in (shared, *shared.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)
    if others == "link":
        (tmp_path / "real").mkdir()
        (shared := shared.rename(tmp_path / "real" / "kernels")).chmod(0o755)
        (inner,) = shared.iterdir()
        inner.chmod(0o755)
        (inner / "more").symlink_to(tmp_path)
    elif others != "read":
        place = next(
            path for path in sorted(shared.rglob("*")) if path.is_dir() == (others != "write a file")
        )
        place.chmod(place.stat().st_mode | 0o022)
    settings = {"NUMBA_DEBUG_CACHE": "1", "SCHEDSWEEP_SHARED_KERNELS": str(shared)}
    begun = "from models.kernels import cache; cache.install()"
    printed = in_new_process(compiled if others == "read" else begun, tmp_path / "cache", **settings)
    assert "data saved to" not in printed
    assert any((tmp_path / "cache").rglob("*.nbi")) == (others == "read")


def test_an_own_kernel_is_compiled_again_after_a_change_of_what_it_calls(tmp_path):
    """From a module of another folder of the search path, where numba itself does not look."""
    kernel = "from numba import int64\nfrom models.kernels.compiling import kernel\n"
    (tmp_path / "elsewhere").mkdir()
    helper, constants = (tmp_path / "elsewhere" / name for name in ("helper.py", "constants.py"))
    (tmp_path / "mine.py").write_text(
        f"{kernel}from constants import ADDED\n\n@kernel()\ndef run(x):\n    return grow(x) + ADDED\n"
        "from helper import grow\n"
    )
    for factor, added in ((2, 1), (3, 1), (3, 4)):
        helper.write_text(f"{kernel}\n@kernel(int64(int64))\ndef grow(x):\n    return {factor} * x\n")
        constants.write_text(f"ADDED = {added}\n")
        folders = os.pathsep.join(map(str, (tmp_path, tmp_path / "elsewhere")))
        # Python's own bytecode goes by size and second, which may be the same as before.
        search = {"PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
        printed = in_new_process("import mine; print(mine.run(5))", tmp_path / "cache", **search)
        assert printed == f"{5 * factor + added}\n"


@pytest.mark.exhaustive
def test_all_that_a_kernel_calls_and_the_types_it_takes_are_in_the_hash_of_its_place():
    """Imports are read from the source: what a registry, a closure or a type adds must be among them."""
    code = """
import importlib, pkgutil, sys
import models
from models.kernels import reach
modules = {one.name for one in pkgutil.walk_packages(models.__path__, "models.")} - {"models.__main__"}
for name in sorted(modules):
    importlib.import_module(name)
from numba.core.dispatcher import Dispatcher
from models.backfill.event_loop import _IMPLEMENTATIONS

def used_by(code):
    yield from code.co_names
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from used_by(constant)

def functions(value, seen):
    function = getattr(value, "py_func", value)
    if not hasattr(function, "__code__") or function in seen:
        return
    seen.add(function)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    for each in [function.__globals__.get(name) for name in used_by(function.__code__)] + cells:
        if isinstance(each, Dispatcher) or getattr(each, "__module__", "").startswith("models."):
            functions(each, seen)

def classes(type):
    if hasattr(type, "instance_class"):
        yield type.instance_class
    for inner in getattr(type, "types", ()):
        yield from classes(inner)

missing = set()
for module in modules:
    for value in vars(sys.modules[module]).values():
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module:
            found = set()
            functions(value, found)
            kinds = {kind for types in value.overloads for type in types for kind in classes(type)}
            runs_a_loop = "models.backfill.event_loop" in {each.__module__ for each in found}
            for (_, kind), function in _IMPLEMENTATIONS.items():
                if runs_a_loop and kind in kinds:
                    functions(function, found)
            names = {each.__module__ for each in (*found, *kinds)}
            missing |= {(module, name) for name in names if name not in reach.reached(module)}
            print("many" if len(found) > 20 else "few", end=" ")
print()
print(missing)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kernels, missing = done.stdout.splitlines()
    assert kernels.count("many") > 20
    assert missing == "set()"
