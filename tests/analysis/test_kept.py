"""What the engine answered is kept as long as nothing changes that it depends on."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from analysis.drawings.kept import kept
from analysis.feitelson1996.drawings import engine, fig9

CODE = """\
import numpy as np

ASKED = []


def tables(scheme, sizes):
    ASKED.append((scheme, sizes))
    return [np.arange(sizes[0] * sizes[1]).reshape(sizes), np.zeros((0, 3), np.int64)]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for answers."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(kernels))
    return kernels


def asker(file: Path, code: str = CODE) -> tuple[Callable[..., Sequence[np.ndarray]], list[object]]:
    """Return a function of a module of one's own, and the list of what it was asked."""
    file.write_text(code)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tables, module.ASKED


def same(found: Sequence[np.ndarray]) -> bool:
    return found[0].tolist() == [[0, 1, 2], [3, 4, 5]] and found[1].shape == (0, 3)


def test_the_same_is_asked_once(tmp_path: Path, folder: Path) -> None:
    tables, asked = asker(tmp_path / "asking.py")
    assert all(same(kept(tables, "buddy", (2, 3))) for _ in range(3))
    assert asked == [("buddy", (2, 3))]
    kept(tables, "migration", (2, 3))
    kept(tables, "buddy", (1, 3))
    assert len(asked) == 3


def test_changed_code_is_asked_again(tmp_path: Path, folder: Path) -> None:
    tables, _ = asker(tmp_path / "asking.py")
    kept(tables, "buddy", (2, 3))
    other, asked = asker(tmp_path / "asking.py", CODE.replace("np.arange(", "1 + np.arange("))
    assert kept(other, "buddy", (2, 3))[0].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert len(asked) == 1


@pytest.mark.parametrize("damage", ["", "[[[2", json.dumps([[[2, 2], [[1, 2]]]]), "[1]", "null", '{"a": 1}'])
def test_a_damaged_answer_is_asked_for_again(damage: str, tmp_path: Path, folder: Path) -> None:
    tables, asked = asker(tmp_path / "asking.py")
    kept(tables, "buddy", (2, 3))
    (file,) = folder.glob("*.json")
    file.write_text(damage)
    assert same(kept(tables, "buddy", (2, 3)))
    assert same(kept(tables, "buddy", (2, 3)))
    assert len(asked) == 2
    assert [one.name for one in folder.iterdir()] == [file.name]


def test_what_is_kept_of_fig9_is_what_the_engine_answers() -> None:
    runtimes = tuple(4.0 if job == fig9.ENDS_FIRST else 1e6 for job in range(len(fig9.SIZES)))
    for scheme in fig9.SCHEMES:
        question = (scheme, fig9.N_PES, fig9.SIZES, runtimes, (3.5, 5.5, 100.0), "exclusive")
        plain = engine.occupancies(*question)
        for found in (kept(engine.occupancies, *question), kept(engine.occupancies, *question)):
            assert [table.tolist() for table in found] == [table.tolist() for table in plain]
            assert all(table.dtype == np.int64 for table in found)
