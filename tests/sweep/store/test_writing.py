"""Files of results: written by one module, into no link, and into the folder that the run began with."""

import ast
import os
import re
import shutil
from pathlib import Path

import pytest

import sweep
from analysis.command import main as analysis
from sweep.errors import RunError, SweepError
from sweep.store import collect, shards, writing
from sweep.store.folder import Folder
from sweep.store.state import read

ROOT = Path(__file__).resolve().parents[3]

CALLS = {
    "write_text", "write_bytes", "savefig", "to_netcdf", "to_csv", "to_parquet", "savez", "copyfile",
    "copytree", "symlink_to", "hardlink_to", "mkstemp", "NamedTemporaryFile", "touch", "memmap",
    "tofile",
}  # fmt: skip
"""Names of calls that write, whatever they are of; `open`, `replace` and `Dataset` by their arguments."""

MAY_WRITE = re.compile(rf"\b(?:{'|'.join(sorted(CALLS))}|open|Dataset|(?:os|shutil)\.\w+)\(")

ELSEWHERE = {
    "analysis/explorer/page.py": "CSV in memory",
    "analysis/explorer/views.py": "a picture in memory",
    "analysis/figures/style.py": "figures, into private files",
    "analysis/report/writing.py": "calls style.save; CSV in memory",
    "models/jobs/swf/writing.py": "SWF, beside a private file; the science imports nothing of the store",
    "models/slurm/bundled.py": "a temporary folder of its own",
    "models/kernels/cache.py": "the cache, a folder of mode 0700",
    "models/kernels/progress.py": "a file of the run's own temporary folder",
    "sweep/job_tables.py": "tables, into private files",
    "sweep/rerun/needs.py": "code of a recipe, into a folder that the user names",
    "sweep/store/dataset.py": "the dataset, into a private file",
    "sweep/store/folder.py": "moves a folder away that is in the place of the dataset; the lock, O_NOFOLLOW",
    "sweep/store/writing.py": "the one module",
    "slurm/doctor.py": "a temporary folder of its own",
    "slurm/forecasting/reporting.py": "the picture and the numbers that its user names",
    "slurm/probe.py": "the doctor's folder",
    "slurm/submission.py": "an archive in memory",
    "slurm/testcluster.py": "a cluster of its own, in a temporary folder",
    "slurm/validation/command.py": "a folder that the user names, beside a cluster of its own",
    "slurm/validation/comparing.py": "the same",
    "schedsweep/terminal.py": "/dev/null",
    "sweep/executors/ranks.py": "/dev/null",
}
"""Modules that write by themselves, and what or where."""


def writes(call: ast.Call) -> bool:
    """Whether a call may write a file."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    given = [*call.args, *(key.value for key in call.keywords)]
    texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if name == "open":
        modes = [one for one in texts if {*one} <= {*"rwaxbt+"}]
        is_low = any(flag in ast.dump(call) for flag in ("O_CREAT", "O_WRONLY", "O_RDWR"))
        return is_low or any({*"wax+"} & {*mode} for mode in modes)
    if name == "Dataset":
        return bool({"w", "a", "r+", "x"} & {*texts})
    if name in ("replace", "rename", "copy", "move"):
        return getattr(getattr(call.func, "value", None), "id", "") in ("os", "shutil")
    return name in CALLS


def test_files_are_written_in_one_module() -> None:
    found = set()
    for folder in ("models", "sweep", "analysis", "slurm", "schedsweep"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if not MAY_WRITE.search(text):  # to parse every file takes seconds
                continue
            if any(isinstance(node, ast.Call) and writes(node) for node in ast.walk(ast.parse(text))):
                found.add(str(path.relative_to(ROOT)))
    assert found == {*ELSEWHERE}


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "own.txt").write_text("my own")
    results = tmp_path / "results"
    results.mkdir()
    (results / "figures").symlink_to(mine)
    (results / "table.csv").symlink_to(mine / "own.txt")
    with pytest.raises(SweepError, match="figures is a link: remove it"):
        writing.inner(results / "figures")
    writing.replace(results / "table.csv", b"new")  # the link itself is replaced
    assert (results / "table.csv").read_bytes() == b"new"
    assert not (results / "table.csv").is_symlink()
    (results / "log.jsonl").symlink_to(mine / "own.txt")
    with pytest.raises(OSError, match="symbolic links"):
        writing.open_log(results / "log.jsonl")
    with pytest.raises(FileExistsError):
        writing.write_new(results / "log.jsonl", b"")
    assert (mine / "own.txt").read_text() == "my own"
    assert os.listdir(mine) == ["own.txt"]


def test_a_lock_with_a_second_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("my own")
    (tmp_path / "packing").mkdir()
    (tmp_path / "packing" / ".lock").hardlink_to(tmp_path / "mine")
    with pytest.raises(SweepError, match="not a regular file with one name: remove it"):
        study(tmp_path / "packing").run(progress=False)
    assert (tmp_path / "mine").read_text() == "my own"


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "fig8.png").mkdir()
    with pytest.raises(IsADirectoryError) as error:
        writing.replace(tmp_path / "fig8.png", b"")
    assert error.value.filename == str(tmp_path / "fig8.png")
    assert os.listdir(tmp_path) == ["fig8.png"]


def study(folder: Path, seed: int = 1) -> sweep.Study:
    """Return a small study."""
    grid = {"policy": ["buddy"], "load": [0.5], "alternation": ["none"], "unification": [True]}
    return sweep.Study(
        "packing", grid=grid, output=str(folder), executor="serial", replications=2, batches=3,
        batch_size=50, warmup=0, seed=seed,
    )  # fmt: skip


LINKS = (["figures"], ["figures/fig8.png", "report.html", "points.csv", "claims.json"])


@pytest.mark.parametrize("names", LINKS, ids=["a folder", "files"])
def test_analysis_overwrites_nothing_behind_a_link(
    names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, mine = tmp_path / "packing", tmp_path / "mine"
    study(results).run(progress=False)
    mine.mkdir()
    for name in names:
        (mine / Path(name).name).write_text("my thesis")
        (results / name).parent.mkdir(exist_ok=True)
        (results / name).symlink_to(mine if name == "figures" else mine / Path(name).name)
    status = analysis([str(results), *(["figures=fig8"] if names == ["figures"] else [])])
    assert {path.name: path.read_text() for path in mine.iterdir()} == {
        Path(name).name: "my thesis" for name in names
    }
    if names == ["figures"]:
        assert status == 2
        assert capsys.readouterr().err.endswith(
            "is a link: remove it, or give another folder, output=FOLDER\n"
        )
    else:
        assert status == 0
        assert not any((results / name).is_symlink() for name in names)


@pytest.mark.parametrize("name", [".lock", "shards", "shards/aside", "pilot", "slurm", "dask_slurm"])
def test_a_run_writes_into_no_linked_folder(name: str, tmp_path: Path) -> None:
    """In a folder of another user's a link may lead to the files of the user who runs a study there."""
    (tmp_path / "mine").mkdir()
    place = tmp_path / "packing" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "mine")
    with pytest.raises(SweepError, match=f"{name} is a link.*: remove it"):
        study(tmp_path / "packing").run(progress=False)
    assert os.listdir(tmp_path / "mine") == []


def test_a_folder_that_was_exchanged_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run began in a folder that was moved away, and another study's has its name now."""
    results, other = tmp_path / "packing", tmp_path / "other"
    study(other, seed=2).run(progress=False)
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    exchanged = []

    def exchange(collection: collect.Collection, came: bool = True) -> None:
        if not exchanged:
            results.rename(tmp_path / "moved")
            exchanged.append(other.rename(results))
            collection.write(read(collection._plan, collection._folder))

    monkeypatch.setattr(collect.Collection, "write_if_due", exchange)
    with pytest.raises(RunError, match="was moved away or replaced while the run wrote to it"):
        study(results).run(progress=False)
    assert {path.relative_to(results) for path in results.rglob("*") if path.is_file()} == {
        path.relative_to(other) for path in before
    }
    assert all((results / path.relative_to(other)).read_bytes() == data for path, data in before.items())
    shutil.move(results, other)
    shutil.move(tmp_path / "moved", results)
    monkeypatch.undo()
    study(results).run(progress=False)  # nothing was lost
    assert Folder(results, "packing").dataset.is_file()


def test_a_log_is_written_through_no_link_that_came_later(tmp_path: Path) -> None:
    place, mine = tmp_path / "shards", tmp_path / "mine"
    place.mkdir()
    mine.mkdir()
    log = shards.Shard(place)
    place.rename(tmp_path / "moved")
    place.symlink_to(mine)
    with pytest.raises(SweepError, match="shards is a link: remove it"):
        log._open()
    assert os.listdir(mine) == []


def test_a_log_is_written_to_no_other_folder(tmp_path: Path) -> None:
    place = tmp_path / "packing" / "shards"
    place.mkdir(parents=True)
    with writing.holding(place.parent):
        place.parent.rename(tmp_path / "moved")
        place.mkdir(parents=True)
        with pytest.raises(RunError, match="moved away"):
            shards.Shard(place)._open()
    assert os.listdir(place) == []
