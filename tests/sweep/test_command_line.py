"""The command in a process of its own: its imports, its output, and what surrounds it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from study_commands import CONF, LIMIT_S, PYTHON_PATH

from sweep import cli
from sweep.config import compose
from sweep.errors import SweepError

HEAVY = {"numba", "numpy", "xarray", "distributed", "dask", "matplotlib", "pandas", "hydra", "scipy"}

WAITING = {"asyncio", "multiprocessing.forkserver"}
"""Modules of the standard library that only workers need."""

QUEUE = ("+experiment=queue", f"--config-dir={CONF}", "executor=serial", "replications=1", "policy=quick")


def run(*arguments, module="sweep", shell=None, output=subprocess.PIPE, **environment):
    """Run a command as from a shell, perhaps within a line of the shell."""
    command = [sys.executable, "-m", module, *arguments]
    if shell is not None:
        command = ["sh", "-c", shell, "sh", *command]
    return subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, **environment},
        stdout=output,
        stderr=subprocess.PIPE,
        timeout=LIMIT_S,
        check=False,
    )


def imported(*arguments):
    """Run a command in a process of its own; return the packages that it has imported."""
    code = (
        "import sys; from sweep.cli import main; status = main(sys.argv[1:]);"
        "own = {name.partition('.')[0] for name in sys.modules};"
        "own = {name for name in own - sys.stdlib_module_names if not name.startswith('_')};"
        f"print(*sorted(own | {WAITING} & set(sys.modules))); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_commands_import_no_more_than_they_need():
    """A clock would show as much, but not on every machine."""
    assert not imported("--help") & HEAVY
    study = (
        "+experiment=packing", "output=here", "grid.load=[0.5]", "batches=2", "batch_size=10",
        "replications=1", "grid.alternation=[exclusive]", "grid.unification=[true]", "exclude=[]",
        "executor=serial",
    )  # fmt: skip
    heavy = HEAVY - {"numpy", "hydra"}
    assert not imported(*study, "action=plan") & heavy
    assert not imported(*study) & {"dask", "distributed", "xarray", "pandas", *WAITING}


def test_help_lists_the_files_of_the_config_folders(sweep):
    answer = sweep("--help")
    assert answer.status == 0
    listed = [line.split(maxsplit=1) for line in answer.out.splitlines()]
    assert ["queue", "A queue with one server, at two loads."] in listed
    assert ["serial", "This process alone: for debugging and profiling."] in listed
    assert sweep("--version").out.startswith("schedsweep ")
    assert "nothing to cancel" in sweep("action=cancel").out


SLOW = pytest.mark.exhaustive


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("sweep", QUEUE),
        pytest.param("sweep", ("--help",), marks=SLOW),
        pytest.param("analysis", ("--help",), marks=SLOW),
    ],
)
def test_a_full_standard_output_is_one_line_and_the_results_are_there(module, arguments):
    done = run(*arguments, module=module, shell='"$@" > /dev/full')
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: standard output: No space left on device"), done.stderr
    assert done.stderr.count(b"\n") == 1
    if arguments is QUEUE:
        assert Path("results/queue/queue.nc").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("module", ["sweep", "analysis"])
def test_an_error_that_cannot_be_printed_keeps_its_status(module):
    assert run("+nothing", module=module, shell='"$@" 2> /dev/full').returncode == 2


@pytest.fixture
def pipe():
    """Return the write end of a pipe whose reader has left, like the pipe to ``| true`` soon."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("sweep", QUEUE),
        pytest.param("analysis", ("--help",), marks=SLOW),
        pytest.param("slurm", ("--help",), marks=SLOW),
    ],
)
def test_a_reader_that_has_left_ends_the_command_without_a_word(module, arguments, pipe):
    done = run(*arguments, module=module, shell='"$@"; echo $? >status', output=pipe)
    assert done.stderr == b""
    assert Path("status").read_text(encoding="utf-8") == "141\n"
    if arguments is QUEUE:
        assert run(*QUEUE).returncode == 0
        assert Path("results/queue/queue.nc").is_file()


@pytest.mark.parametrize("module", ["schedsweep", pytest.param("analysis", marks=SLOW)])
def test_a_working_folder_that_is_gone(module):
    Path("gone").mkdir()
    done = run("--help", module=module, shell='cd gone; rmdir ../gone; "$@"')
    assert done.returncode == 2, done
    assert done.stderr == b"error: the working folder does not exist any more: cd to one that does\n"


def test_a_log_in_the_other_format_is_recognised(tmp_path):
    from models.jobs import swf
    from models.workloads import sacct

    row = " ".join(["1"] * 18)
    for text in (f"; Version: 2.2\n{row}\n", f"{row}\n"):
        (tmp_path / "log").write_text(text)
        with pytest.raises(ValueError, match=r"log: this is a log in the Standard .* add workload=swf"):
            sacct.read(tmp_path / "log")
    (tmp_path / "table").write_text("JobID|User|State\n1|a|COMPLETED\n")
    with pytest.raises(ValueError, match=r"table: this is what sacct prints.* add workload=sacct"):
        swf.read(tmp_path / "table")


def test_an_error_that_comes_of_an_interrupt_is_one(monkeypatch, capsys):
    """As of OmegaConf, whose own clean-up fails after Ctrl-C."""

    def load(*_):
        try:
            raise KeyboardInterrupt
        finally:
            raise SweepError("its clean-up fails")

    monkeypatch.setattr(compose, "load", load)
    assert cli.main(["+experiment=packing"]) == 130
    assert capsys.readouterr().err == "stopped; the same command continues from here\n"
