"""The guides to a family and a workload: their code is written into a folder of its own, and runs."""

import atexit
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import family_cases
import numpy as np
import pytest
from family_cases import ROOT
from family_contract import Contract, every_case

from models import workloads
from models.point import Point
from sweep.store.loading import loaded

FAMILY_GUIDE = ROOT / "docs" / "adding_a_family.md"
WORKLOAD_GUIDE = ROOT / "docs" / "adding_a_workload.md"


def built() -> Path:
    """Write every block of the guide below a file's name into that file."""
    folder = Path(tempfile.mkdtemp(prefix="schedsweep-guide-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = re.findall(
        r"^`([^`\n]+)`\n\n```\w+\n(.*?)^```$", FAMILY_GUIDE.read_text(), re.DOTALL | re.MULTILINE
    )
    for path, text in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


FOLDER = built()
sys.path.append(str(FOLDER))


class TestTheGuidesFamily(Contract):
    cases = every_case(FOLDER / "myconf")


def test_the_guides_command_runs(tmp_path: Path) -> None:
    text = FAMILY_GUIDE.read_text().replace("\\\n", " ")
    command = re.search(r"^python -m sweep .*$", text, re.MULTILINE)
    words = [
        sys.executable,
        *shlex.split(command[0])[1:],
        "executor=serial",
        f"output={tmp_path / 'results'}",
    ]
    small = ["batches=4", "batch_size=50", "replications=1"]
    run = subprocess.run(
        [*words, *small], cwd=FOLDER, capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stderr
    with loaded(tmp_path / "results" / "preemption.nc") as dataset:
        assert (dataset["state"] == 1).all()
        # With few jobs, some may wait to the end under a policy that starves them: then there is no mean.
        starved = dataset["saturated"].astype(bool)
        assert (np.isfinite(dataset["slowdown_mean"]) | starved).sel(load=0.7).all()


def test_the_guides_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = WORKLOAD_GUIDE.read_text()
    code, keys = (re.search(rf"^```{kind}\n(.*?)^```$", guide, re.S | re.M) for kind in ("python", "yaml"))
    (tmp_path / "of_the_guide").mkdir()
    (tmp_path / "of_the_guide/steady.py").write_text(code[1])
    (tmp_path / "steady.yaml").write_text(keys[1])
    shutil.copy(ROOT / "conf" / "workload" / "_rigid.yaml", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    workload = family_cases.read(tmp_path / "steady.yaml") | {"model": "of_the_guide.steady"}
    stream = workloads.open_workload(Point({}, workload | {"estimates": "exact"}, {"processors": 8}, 0.5))
    short, long = stream.first(500), stream.first(30_000)
    for name in ("submit", "runtime", "size", "requested"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[:500])
    assert long.size @ long.runtime / (8 * long.submit[-1]) == pytest.approx(0.5, rel=0.05)
    assert workloads.fills(workload | {"memory": 1}) == ("memory",)
    with pytest.raises(ValueError, match=r"workload\.size=9; allowed: 1 to the 8 processors"):
        workloads.open_workload(Point({}, workload | {"size": 9}, {"processors": 8}, 0.5))
