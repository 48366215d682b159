"""Profiles: what is asked for at a site is data, and a mistake in it is one clear line."""

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from slurm import profile
from sweep.errors import SweepError

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a profile and return what names it."""

    def write(text: str) -> str:
        file = tmp_path / "mine.yaml"
        file.write_text(text)
        return str(file)

    return write


def test_what_a_file_leaves_out_is_as_in_default(write: Write) -> None:
    mine = profile.load(write("partition: compute\n"))
    assert mine == dataclasses.replace(profile.load("default"), name="mine", partition="compute")


def test_options_for_sbatch(write: Write) -> None:
    where = "partition: a,b\naccount: team\nqos: long\noptions: [--exclude=n1]\n"
    mine = profile.load(write(where + 'mem: 4G\ncpus_per_task: 8\ntime: "90"\n'))
    assert mine.where() == ["--partition=a,b", "--account=team", "--qos=long", "--exclude=n1"]
    assert mine.resources() == ["--nodes=1", "--ntasks=1", "--cpus-per-task=8", "--mem=4G", "--time=90"]
    assert mine.time_s == 90 * 60


def test_shell_variables_stay_the_shells(write: Write) -> None:
    lines = ["source ${HOME}/venv/bin/activate", 'export A="${B:-c}" D=$(hostname) E=${F%%.*}']
    text = "setup:\n" + "".join(f"  - {line}\n" for line in lines) + "python: ${CONDA_PREFIX}/bin/python\n"
    mine = profile.load(write(text))
    assert mine.setup == lines
    assert mine.python == "${CONDA_PREFIX}/bin/python"


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("apptainer exec 'my images/x.sif' python", ["apptainer", "exec", "my images/x.sif", "python"]),
        ("own env/python", ["own env/python"]),
        ("/opt/python; rm -r x", ["/opt/python;", "rm", "-r", "x"]),
        ("/opt/'python", ["/opt/'python"]),
    ],
)
def test_an_interpreter_may_be_several_words(python: str, words: list[str], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own env").mkdir()
    (tmp_path / "own env" / "python").touch()
    mine = profile.load("default", {"python": python})
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {mine.interpreter}"], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("partitoin: main\n", "unknown key 'partitoin': did you mean 'partition'? valid: account"),
        ("cpus_per_task: many\n", "could not be converted to Integer"),
        ("cpus_per_task: 0\n", "cpus_per_task: 0 is below 1; give 1 or more"),
        ("target_minutes: 0\n", "target_minutes must be above 0"),
        ("setup: module load gcc\n", "setup: Invalid value assigned"),
        ("time: 1:30:00\n", 'put it in quotes, "1:30:00"'),
        ('time: "soon"\n', "'soon' is not a duration: give one of MINUTES"),
        ('time: "20:00"\n', "do not fit in time=20:00; raise time, or lower the others"),
        ("- partition\n", "give one key: value per line"),
        ("partition: [a\n", "not valid YAML"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(write: Write, text: str, expected: str) -> None:
    with pytest.raises(SweepError) as error:
        profile.load(write(text))
    message = str(error.value)
    assert expected in message
    assert "mine.yaml" in message
    assert "\n" not in message
