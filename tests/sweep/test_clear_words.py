"""Mistakes that once ended in a traceback, or in a hint that did not help: one clear line each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from study_commands import LIMIT_S, PYTHON_PATH

CONF = Path(__file__).parent / "conf"


@pytest.fixture
def own(tmp_path):
    """A config folder of one's own; return its folder for policies of the fake family."""
    folder = tmp_path / "own" / "policy" / "fake"
    folder.mkdir(parents=True)
    for name in ("experiment", "workload", "machine"):
        (tmp_path / "own" / name).symlink_to(CONF / name)
    for name in ("_base", "quick"):
        (folder / f"{name}.yaml").symlink_to(CONF / "policy" / "fake" / f"{name}.yaml")
    return folder


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"- a\n- b\n", "mine.yaml: is a list; a file of conf is YAML, lines of key: value"),
        (b"only words\n", "mine.yaml: is a single value; a file of conf is YAML"),
        (b"\x00\x01\xff\xfe", "mine.yaml: is no text; a file of conf is YAML"),
        ("Größe: 1".encode("latin-1"), "mine.yaml: is no text"),
        (b"defaults: [mine, _self_]\n", "mine.yaml: builds on itself, policy/fake/mine -> policy/fake/mine"),
        (b"defaults: [other, _self_]\n", "policy/fake/mine -> policy/fake/other -> policy/fake/mine"),
        (b"defaults: quick\n", "mine.yaml: defaults is no list"),
    ],
)
def test_policy_files_that_are_none(sweep, own, content, says):
    (own / "mine.yaml").write_bytes(content)
    (own / "other.yaml").write_text("defaults: [mine, _self_]\n")
    answer = sweep("policy=mine", f"--config-dir={own.parents[1]}")
    assert answer.status == 2
    assert says in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((f"output={'x' * 300}",), "File name too long; give a shorter one"),
        ((f"name={'x' * 300}",), "has 300 characters and becomes a file name: give 200 or less"),
        ((f"workload.path={'x' * 300}", "workload=log"), "File name too long"),
        ((f"schedule={'x' * 300}.swf",), "File name too long"),
        (("grid.load=[0.5",), "cannot read 'grid.load=[0.5': a ] is missing, [0.5]"),
        (("grid.load=0.5]",), "there is a ] too many"),
        (("exclude=[{load: [0.3}]",), "there is a } too many"),
        (
            ("exclude=[{policy: quik}]",),
            "exclude: unknown value of grid.policy 'quik': did you mean 'quick'?",
        ),
        (
            ("exclude=[{load: 0.5}]",),
            "exclude: unknown value of grid.load '0.5': did you mean '0.6'? valid: 0.3, 0.6",
        ),
        (("exclude=[{urgent: 1}]",), "exclude: unknown value of grid.urgent '1': valid: false, true"),
    ],
)
def test_mistakes_are_one_line(sweep, arguments, says):
    answer = sweep(*arguments)
    assert answer.status == 2, answer
    assert says in answer.err
    assert answer.err.count("\n") == 1
    assert not Path("results").exists()


def test_an_experiments_own_exclude_may_speak_of_a_larger_grid(expand):
    assert len(expand("grid.preemption=[resume]").points) == 8


def test_a_policy_of_another_family_is_told_where_it_belongs():
    from sweep.config import compose, locate
    from sweep.errors import SweepError
    from sweep.plan import plan

    loaded = compose.load(["+experiment=packing", "policy=easy"], locate.conf_folder())
    with pytest.raises(
        SweepError, match=r"policy easy of family models\.backfill has no key alternation, which"
    ):
        plan.expand(loaded)


def run(*arguments, module="sweep", shell=None, output=subprocess.PIPE, **environment):
    """Run a command as from a shell, in front of which something may stand."""
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


QUEUE = ("+experiment=queue", f"--config-dir={CONF}", "executor=serial", "replications=1", "policy=quick")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("module", "arguments"), [("sweep", QUEUE), ("sweep", ("--help",)), ("analysis", ("--help",))]
)
def test_a_full_standard_output_is_one_line_and_the_results_are_there(module, arguments):
    done = run(*arguments, module=module, shell='"$@" > /dev/full')
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: standard output: No space left on device"), done.stderr
    assert done.stderr.count(b"\n") == 1
    if arguments is QUEUE:
        assert Path("results/queue/queue.nc").is_file()


@pytest.fixture
def pipe():
    """Return the end that is written to of a pipe whose reader has left, as that of ``| true`` soon has."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("sweep", ("--help",)), ("analysis", ("--help",)), ("slurm", ("--help",)), ("sweep", QUEUE)],
)
def test_a_reader_that_has_left_ends_the_command_without_a_word(module, arguments, pipe):
    done = run(*arguments, module=module, shell='"$@"; echo $? >status', output=pipe)
    assert done.stderr == b""
    assert Path("status").read_text() == "141\n"


def test_what_was_run_until_the_reader_left_is_kept(pipe):
    run(*QUEUE, output=pipe)
    done = run(*QUEUE)
    assert done.returncode == 0, done
    assert Path("results/queue/queue.nc").is_file()


@pytest.mark.parametrize("module", ["sweep", "analysis", "slurm", "schedsweep"])
def test_a_working_folder_that_is_gone(module):
    Path("gone").mkdir()
    done = run("--help", module=module, shell='cd gone; rmdir ../gone; "$@"')
    assert done.returncode == 2, done
    assert done.stderr == b"error: the working folder is gone: cd to one that is there\n"


def test_a_terminal_of_ascii_and_without_columns():
    done = run(*QUEUE, PYTHONIOENCODING="ascii", COLUMNS="0")
    assert done.returncode == 0, done
    assert done.stderr == b""
    assert b"quick" in done.stdout
    assert b" ? " in done.stdout, "for the sign between mean and half-width"
    assert b"dataset: results/queue/queue.nc" in done.stdout


@pytest.mark.parametrize("name", ["nowhere.priority", "mine.absent"])
@pytest.mark.parametrize("key", ["priority", "discipline"])
def test_why_a_dotted_name_cannot_be_imported(name, key, tmp_path, monkeypatch):
    from models.backfill import policies
    from models.backfill.priority import order

    (tmp_path / "mine.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    why = r"cannot be imported \((No module named 'nowhere'|module 'mine' has no attribute 'absent')\)"
    make = {
        "priority": lambda: order.compiled(name),
        "discipline": lambda: policies.rules_of({"name": "p", "discipline": name}),
    }[key]
    with pytest.raises(ValueError, match=why):
        make()


def test_logs_of_the_other_format_are_told_apart(tmp_path):
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


def log_of(tmp_path, wait):
    """Write a log of 4 jobs of 10 processors, of which 3 run at once."""
    rows = [
        f"{n + 1} {n * 10} {wait if n else 0} {runtime} 10 -1 -1 10 100 -1 1 1 -1 -1 -1 -1 -1 -1"
        for n, runtime in enumerate([100, 90, 10, 10])
    ]
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 30\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(("processors", "told"), [(20, True), (30, False)])
def test_a_pool_smaller_than_what_the_log_shows_in_use(tmp_path, processors, told):
    from models import workloads
    from models.point import Point

    path = log_of(tmp_path, wait=5)
    workload = {"name": "swf", "model": "swf", "path": str(path)}
    notes, _ = workloads.check(Point({}, workload, {"name": "m", "processors": processors}))
    said = "log.swf: its jobs had 30 processors at once, as recorded, and the machine has 20: "
    assert any(note.startswith(said) for note in notes) is told


def test_a_pipe_or_a_device_is_no_log(tmp_path):
    from models.jobs import swf

    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="is a device or a pipe"):
            swf.read(path)


def test_a_drawing_takes_the_machine_in_the_words_of_its_hint():
    from analysis.drawings.composition import in_words_of_drawings

    text = "a.swf: add machine.processors=40 or grid.machine=[pe128]"
    assert in_words_of_drawings(text) == "a.swf: add machine=40 or machine=pe128"


def test_drawings_leave_the_working_folder_alone(monkeypatch):
    from analysis.command import main

    before = set(Path().iterdir())
    assert main(["draw", "equi", "processors=4x4", "jobs=3"]) == 0
    assert {path.name for path in set(Path().iterdir()) - before} == {"results"}
    assert {path.suffix for path in Path("results/drawings").iterdir()} == {".pdf", ".svg", ".png"}
