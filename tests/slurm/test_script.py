"""Generated scripts against golden text, in a folder whose name has blanks, quotes and an umlaut."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from slurm import profile, script

GOLDEN = Path(__file__).parent / "golden"
ROOT = str(Path(script.__file__).resolve().parent.parent)
PLACE = Path('/home/ada/Bär\'s "runs"')
SUBMISSION = PLACE / "results/queue/slurm/007"


@pytest.fixture
def lab(monkeypatch):
    """Return an example of a site's profile, for a user with a search path of his own."""
    for name in ("NUMBA_CACHE_DIR", "SCHEDSWEEP_KERNELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", f"/opt/my models{os.pathsep}{ROOT}")
    return replace(profile.load("lab"), options=["--constraint=epyc&big", '--comment=a "b" c'])


@pytest.mark.parametrize("kind", ["array", "gathering"])
def test_golden(lab, kind):
    made = getattr(script, kind)(lab, "queue-0123abcd", SUBMISSION, PLACE)
    assert made.replace(ROOT, "/ROOT") == (GOLDEN / f"{kind}.sh").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["array", "gathering"])
def test_a_shell_reads_what_was_meant(lab, kind, tmp_path, monkeypatch):
    """Run the script with an interpreter that only shows where it is and what it was given."""
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    place = tmp_path / 'Bär\'s "runs" $HOME'
    place.mkdir()
    show = tmp_path / "show"
    show.write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$PYTHONPATH" "$OMP_NUM_THREADS" "$@"\n')
    show.chmod(0o755)
    plain = replace(lab, python=str(show), setup=[])
    (tmp_path / "made.sh").write_text(getattr(script, kind)(plain, "x", place / "s", place))
    done = subprocess.run(["bash", tmp_path / "made.sh"], capture_output=True, text=True, check=True)
    module = {"array": "slurm.element", "gathering": "slurm.gathering"}[kind]
    given = ["-P", "-m", module, str(place / "s")]
    assert done.stdout.splitlines() == [str(place), f"/opt/my models:{ROOT}", "1", *given]
    assert done.stderr == ""


def test_a_users_own_kernel_cache_is_kept(monkeypatch):
    """Where models are imported, their own folder is in it; a profile may name another place after that."""
    unset, own = "unset SCHEDSWEEP_KERNELS NUMBA_CACHE_DIR", "export NUMBA_CACHE_DIR=/scratch/ada"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/scratch/ada")
    monkeypatch.delenv("SCHEDSWEEP_KERNELS", raising=False)
    plain = profile.load("default", {"setup": ["export NUMBA_CACHE_DIR=/local"]})
    assert f"\n{unset}\n{own}\nexport NUMBA_CACHE_DIR=/local\n" in script.array(plain, "x", SUBMISSION, PLACE)
    for variable in ("NUMBA_CACHE_DIR", "SCHEDSWEEP_KERNELS"):
        monkeypatch.setenv(variable, "/scratch/ada/0123")
    assert script.kernel_cache() == [unset, own]
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/ada/.cache")
    for variable in ("NUMBA_CACHE_DIR", "SCHEDSWEEP_KERNELS"):
        monkeypatch.setenv(variable, "/home/ada/.cache/schedsweep/kernels/0123")
    assert script.kernel_cache() == [unset]
