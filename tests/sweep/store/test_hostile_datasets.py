"""Datasets of strangers that would take all memory, end the process or show other files: refused in one line.

``tests/data/hostile`` holds files that the netCDF library reads but cannot write: arrays in other files,
groups in a circle, texts of a fixed length.
"""

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from netCDF4 import Dataset

from analysis.errors import AnalysisError
from analysis.explorer.source import Source
from analysis.study import open_study
from sweep.errors import SweepError
from sweep.notebook import study as notebook
from sweep.rerun import original
from sweep.store import loading, probe
from sweep.store.probe import MOST_TEXTS, measured

ROOT = Path(__file__).resolve().parents[3]
STORED = ROOT / "tests" / "data" / "hostile"


def texts(*values: str, times: int = 1) -> Callable[[Dataset], None]:
    """Return what adds a variable with some texts."""

    def add(file: Dataset) -> None:
        file.createDimension("many", times * len(values))
        made = file.createVariable("texts", str, ("many",))
        made[:] = np.array(values * times, object)

    return add


def variable(kind: str, shape: tuple[int, ...], **options: object) -> Callable[[Dataset], None]:
    """Return what adds a variable without values."""

    def add(file: Dataset) -> None:
        for number, length in enumerate(shape):
            file.createDimension(f"d{number}", length)
        file.createVariable("values", kind, [f"d{number}" for number in range(len(shape))], **options)

    return add


def vlen(file: Dataset) -> None:
    """Add numbers of any length."""
    file.createDimension("d", 3)
    file.createVariable("values", file.createVLType(np.float64, "numbers"), ("d",))


def compound(file: Dataset) -> None:
    """Add records."""
    file.createDimension("d", 3)
    kind = file.createCompoundType(np.dtype([("a", "f8"), ("b", "i4")]), "record")
    file.createVariable("values", kind, ("d",))


def enumeration(file: Dataset) -> None:
    """Add a type with names of numbers."""
    file.createEnumType(np.uint8, "colours", {"red": 1})


def groups(n: int, *, nested: bool) -> Callable[[Dataset], None]:
    """Return what adds groups beside or in each other."""

    def add(file: Dataset) -> None:
        here = file
        for number in range(n):
            made = here.createGroup(f"g{number}")
            here = made if nested else here

    return add


def dimensions(file: Dataset) -> None:
    """Add more than a study has."""
    for number in range(10_001):
        file.createDimension(f"d{number}", 1)


def attributes(file: Dataset) -> None:
    """Add more than a study has."""
    file.setncatts({f"a{number}": number for number in range(1_001)})


MADE: dict[str, tuple[Callable[[Dataset], None], str]] = {
    "many texts": (texts("x", times=MOST_TEXTS + 1), "it has 100,001 texts, of at most 100,000"),
    "a long name": (texts("easy", "x" * 5_000_000), "texts has texts of 5,000,000 characters"),
    "long names": (texts("x" * 60_000, times=600), "or too many of them"),
    "texts without data": (variable("S1", (2**40,), zlib=True, chunksizes=[2**20]), "values is neither"),
    "names without data": (variable(str, (2**28,), chunksizes=[2**20]), "it has 268,435,456 texts"),
    "numbers without data": (variable("i1", (2**31,), zlib=True, chunksizes=[2**20]), "unpacks to"),
    "axes without data": (variable("f8", (2**30, 2**30), zlib=True, chunksizes=[1, 1]), "unpacks to"),
    "a large chunk": (variable("f8", (2**27,), zlib=True, chunksizes=[2**27]), "values has chunks of"),
    "numbers of any length": (vlen, "it has user-defined types"),
    "records": (compound, "it has user-defined types"),
    "names of numbers": (enumeration, "it has user-defined types"),
    "deep groups": (groups(200, nested=True), "it has more than"),
    "many dimensions": (dimensions, "it has more than 10,000"),
    "many attributes": (attributes, "has 1,001 attributes"),
    "a long attribute": (lambda file: file.setncattr("facts", "x" * (2**26 + 1)), "the attribute facts"),
    "an array of texts as attribute": (
        lambda file: file.setncattr_string("facts", ["x" * 2**20] * 65), "the attribute facts",
    ),
}  # fmt: skip


def refused(path: Path, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a dataset is refused before anything in it is decoded."""
    for module, name in ((xr, "open_dataset"), (loading, "Dataset")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("it was decoded"))
    with pytest.raises(SweepError, match=f"cannot be read as a dataset.*{re.escape(reason)}") as error:
        loading.loaded(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", MADE)
def test_a_dataset_that_would_grow_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the file itself, by the process that measures it; in a group, the same fault is found."""
    change, reason = MADE[name]
    for group in ("", "batches"):
        with Dataset(tmp_path / f"made{group}.nc", "w") as file:
            change(file.createGroup(group) if group else file)
    monkeypatch.setattr(probe, "_other_files", lambda _: iter(()))  # it would let this process open none
    assert reason in next(probe.faults(str(tmp_path / "madebatches.nc")), "")
    refused(tmp_path / "made.nc", reason, monkeypatch)


def test_texts_that_share_their_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 references to one text of 4 MB are 12 GB in memory, in a file of 4 MB."""
    path, n, size = tmp_path / "shared.nc", 3_000, 4_000_000
    with Dataset(path, "w") as file:
        file.createDimension("many", n)
        made = file.createVariable("texts", str, ("many",), contiguous=True)
        made[:] = np.array(["x" * size, *(f"q{number:04d}" for number in range(1, n))], object)
    raw = bytearray(path.read_bytes())
    one, five = struct.pack("<I", size), struct.pack("<I", 5)  # its length, and the next one's
    (at,) = (
        found.start() for found in re.finditer(re.escape(one), raw)
        if raw[found.start() + 16 : found.start() + 20] == five
    )  # fmt: skip
    raw[at : at + 16 * n] = raw[at : at + 16] * n
    path.write_bytes(raw)
    refused(path, "texts has texts of 4,000,000 characters", monkeypatch)


@pytest.mark.parametrize("path", sorted(STORED.glob("[!s]*.nc")), ids=lambda path: path.stem)
def test_a_dataset_in_other_files_or_circles_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(path, "", monkeypatch)


def test_a_classic_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Dataset(tmp_path / "classic.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("d", 2)
    refused(tmp_path / "classic.nc", "another format than netCDF-4", monkeypatch)


def test_a_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.nc")
    refused(tmp_path / "pipe.nc", "it is not a regular file", monkeypatch)


def test_what_a_study_may_have_is_read(tmp_path: Path) -> None:
    data = xr.Dataset(
        {"m": (("policy", "load"), np.arange(6.0).reshape(3, 2)), "flag": ("load", [True, False])},
        {"policy": ["easy", "é" * 200, ""], "load": [0.5, 0.9]}, {"recipe": "x" * 2**22, "n": [1, 2]},
    )  # fmt: skip
    data.to_netcdf(tmp_path / "good.nc")
    xr.testing.assert_identical(loading.loaded(tmp_path / "good.nc"), data)


def test_every_reader_measures_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {"policy": ["buddy"], "load": [0.5], "alternation": ["none"], "unification": [True]}
    study = notebook.Study(
        "packing", grid=grid, output=str(tmp_path / "packing"), executor="serial", replications=2, batches=3,
        batch_size=50, warmup=0,
    )  # fmt: skip
    study.run(progress=False)
    path = tmp_path / "packing" / "packing.nc"
    with monkeypatch.context() as patched:
        patched.setattr(probe, "_measure", lambda *_: pytest.fail("this process has just written it"))
        measured(path)
    os.utime(path)  # another version
    measured(path)

    def marked(path: Path) -> None:
        raise ValueError("measured and refused")

    monkeypatch.setattr(loading, "measured", marked)
    readers: list[Callable[[], object]] = [
        lambda: open_study(path),
        lambda: Source(path),
        lambda: original.opened(str(path)),
        lambda: study.data,
    ]
    for read in readers:
        with pytest.raises((SweepError, AnalysisError), match="measured and refused"):
            read()


OPENING = re.compile(r"\b(?:open_dataset|open_datatree|load_dataset|open_mfdataset|Dataset)\(")
OPENERS = {
    "sweep/store/loading.py": "after it was measured",
    "sweep/store/probe.py": "in a process of its own, to measure it",
    "sweep/store/manifest.py": "after it was measured",
    "sweep/store/dataset.py": "it writes one",
    "sweep/summary.py": "of the run that has just written it",
}


def test_no_other_module_opens_datasets() -> None:
    found = {
        str(path.relative_to(ROOT))
        for folder in ("models", "sweep", "analysis", "slurm", "schedsweep")
        for path in (ROOT / folder).rglob("*.py")
        if OPENING.search(path.read_text(encoding="utf-8").replace("xr.Dataset(", ""))
    }
    assert found == {*OPENERS}
