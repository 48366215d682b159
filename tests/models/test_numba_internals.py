"""The names of numba that its manual does not promise: which of them the installed version lacks."""

import ast
import importlib
import re
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).parents[2]
FILE = ROOT / "models" / "kernels" / "internals.py"
IMPORTED = [
    (node.module, name.name)
    for node in ast.parse(FILE.read_text()).body
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("numba")
    for name in node.names
]
OPTIONS = ("UNCOUNTED", "NOT_FROM_PYTHON", "NOT_BY_POINTER")


@pytest.mark.parametrize(("module", "name"), IMPORTED)
def test_numba_has_what_is_imported(module, name):
    found = importlib.import_module(module)
    assert hasattr(found, name), f"numba {numba.__version__} has no {module}.{name}"


@pytest.mark.parametrize("name", OPTIONS)
def test_numba_knows_the_option(name):
    from models.kernels import internals

    for option, value in getattr(internals, name).items():
        try:
            numba.njit(numba.int64(numba.int64), **{option: value})(lambda x: x + 1)
        except KeyError as error:
            raise AssertionError(f"numba {numba.__version__} has no option {option} of njit") from error


def test_numba_asks_where_a_kernel_is_kept():
    from models.kernels import compiling, locating
    from models.kernels.internals import CacheImpl, UserProvidedCacheLocator

    classes = getattr(CacheImpl, "_locator_classes", ["CacheImpl._locator_classes is gone"])
    assert compiling.OPTIONS["cache"]  # numba asks from its import on
    assert classes[0] is locating.KernelLocator, classes
    for name in ("from_function", "get_suitable_cache_subpath", "get_source_stamp"):
        assert hasattr(UserProvidedCacheLocator, name), f"UserProvidedCacheLocator.{name} is gone"


def test_a_dispatcher_has_what_kernels_are_asked_for():
    @numba.njit(numba.int64(numba.int64))
    def plain(x):
        return x

    for name in ("py_func", "overloads", "nopython_signatures", "get_compile_result", "compile"):
        assert hasattr(plain, name), f"numba {numba.__version__}: a compiled function has no {name}"


def test_no_other_file_imports_from_the_inside_of_numba():
    files = [
        file for name in ("models", "sweep", "analysis", "slurm") for file in (ROOT / name).rglob("*.py")
    ]
    inside = [file for file in files if re.search(r"numba\.(core|_\w|np\b)", file.read_text())]
    assert inside == [FILE]


def test_no_version_above_the_one_tested_is_installed():
    (limit,) = re.findall(r'"numba>=[\d.]+,<(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    (tested,) = re.findall(r"^numba==(\d+)\.(\d+)", (ROOT / "requirements" / "locked.txt").read_text(), re.M)
    assert tuple(map(int, limit)) == (int(tested[0]), int(tested[1]) + 1)
