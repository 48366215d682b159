"""The names of numba that its manual does not promise: which of them the installed version lacks."""

import ast
import importlib
import re
from pathlib import Path
from typing import Annotated, NamedTuple

import numba
import numpy as np
import pytest
from numba import int64, uint64

from models.arrays import Floats, Ints
from models.kernels import internals
from models.kernels.compiling import kernel, part
from models.kernels.tables import Tables, addresses, at_address

ROOT = Path(__file__).parents[2]
FILE = ROOT / "models" / "kernels" / "internals.py"
IMPORTED = [
    (node.module, name.name)
    for node in ast.parse(FILE.read_text()).body
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("numba")
    for name in node.names
]
OPTIONS = ("UNCOUNTED", "NOT_FROM_PYTHON", "NOT_BY_POINTER", "AS_KERNEL", "AS_PART")


@pytest.mark.parametrize(("module", "name"), IMPORTED)
def test_numba_has_what_is_imported(module, name):
    found = importlib.import_module(module)
    assert hasattr(found, name), f"numba {numba.__version__} has no {module}.{name}"


@pytest.mark.parametrize("name", OPTIONS)
def test_numba_knows_the_option(name):
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


@part(inline=False)
def inner(x):
    return x + 1


@part(inline=False)
def outer(x):
    return 2 * inner(x) + inner(10)


@pytest.mark.parametrize("options", [internals.AS_KERNEL, {}])
def test_parts_become_machine_code_within_what_calls_them_only(options):
    """A part that is reached in several ways, and with a literal argument, is compiled once."""
    assert numba.njit(**options)(lambda x: outer(x) * inner(x))(3) == (2 * 4 + 11) * 4
    for one in (inner, outer):
        assert list(one.overloads) == [(int64,)]
        library = one.overloads[(int64,)].library
        assert isinstance(library, internals.PartLibrary)
        assert len(list(library.get_defined_functions())) == 1


class Arrays(NamedTuple):
    values: Ints
    words: Annotated[np.ndarray, uint64[:, ::1]]
    last: Floats


ARRAYS = Tables(Arrays)
arrays_at = at_address(ARRAYS)


@part(inline=False)
def summed(arrays):
    return arrays.words[1, 2] + arrays.words.shape[1] + len(arrays.last) + arrays.values.sum()


@kernel(int64(uint64))
def changed(address):
    arrays = arrays_at(address)
    arrays.values[0] = 7
    return summed(arrays) + arrays.last[-1]


def test_a_kernel_reads_and_writes_arrays_at_an_address():
    arrays = Arrays(np.arange(3), np.arange(6, dtype=np.uint64).reshape(2, 3), np.ones(4))
    listed = addresses(arrays, ARRAYS)
    assert changed(listed.ctypes.data) == 5 + 3 + 4 + (7 + 1 + 2) + 1
    assert arrays.values.tolist() == [7, 1, 2]
    for wrong in (arrays.values.astype(np.int32), np.zeros(4, np.int64)[::2], arrays.words):
        with pytest.raises(TypeError, match=r"^values is array\(.*, and has to be array\(int64, 1d, C\)$"):
            addresses(arrays._replace(values=wrong), ARRAYS)


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
