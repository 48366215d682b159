"""The command ``schedsweep``, and folders whose own packages are called like the project's."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

from schedsweep import packages
from schedsweep.__main__ import main
from sweep.store.loading import loaded

ROOT = Path(__file__).parent.parent
QUEUE = ROOT / "tests" / "sweep"
STUDY = (f"--config-dir={QUEUE / 'conf'}", "policy=quick", "grid.load=[0.3]")

SCRIPT = """\
#!{python}
import sys
from schedsweep.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""
"""What pip makes of an entry in ``project.scripts``."""

NAMES = ("models", "sweep", "analysis", "slurm", "conf")


@pytest.fixture
def schedsweep(tmp_path: Path) -> Path:
    """Return the command, in a folder of its own as in an environment."""
    script = tmp_path / "bin" / "schedsweep"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(python=sys.executable))
    script.chmod(0o755)
    return script


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a working folder whose packages and conf are not the project's, and a family of its own."""
    place = tmp_path / "a user's work"
    for name in NAMES:
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").write_text("raise RuntimeError('not this one')\n")
    (place / "conf" / "config.yaml").write_text("nonsense: [")
    (place / "my_queue.py").write_text("from fake_family import FAMILY\n")
    return place


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user of an installed project would."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "PYTHONSAFE"))}
    path = os.pathsep.join((str(ROOT), str(QUEUE)))  # where site-packages would be: after the working folder
    env |= {"PYTHONPATH": path, "XDG_CACHE_HOME": str(cwd / "cache"), **environment}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.exhaustive
def test_all_actions_and_the_same_dataset(schedsweep, tmp_path):
    plan = run(schedsweep, "plan", "queue", *STUDY, cwd=tmp_path)
    assert (plan.returncode, plan.stderr) == (0, "")
    assert "tasks     6 (3 points x 2 replications)" in plan.stdout
    assert not (tmp_path / "results").exists()
    assert run(schedsweep, "run", "queue", *STUDY, "executor=serial", cwd=tmp_path).returncode == 0
    assert "6 done" in run(schedsweep, "status", "+experiment=queue", *STUDY, cwd=tmp_path).stdout
    assert run(schedsweep, "gather", "queue", *STUDY, cwd=tmp_path).returncode == 0
    assert "nothing to cancel" in run(schedsweep, "cancel", "queue", *STUDY, cwd=tmp_path).stdout
    by_module = (sys.executable, "-m", "sweep", "+experiment=queue", *STUDY)
    other = run(*by_module, "executor=serial", "output=other", cwd=tmp_path)
    assert other.returncode == 0, other.stderr
    found, expected = (
        loaded(tmp_path / place / "queue.nc").drop_vars("seconds").drop_attrs(deep=False)
        for place in ("results/queue", "other")
    )
    xr.testing.assert_identical(found, expected)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["rnu", "queue"], 2, "unknown command 'rnu': did you mean 'run'? valid: run, plan, status, gather,"),
        (["run"], 2, "no experiment named"),
        (["run", "cue"], 2, "unknown experiment 'cue'"),
        (["run", "queue", "more"], 2, "'more' is not key=value"),
        (["plan", "queue", "action=run"], 2, "leave action= out"),
        (["run", "queue", "policy.raises_at=0.3", "executor=serial", "policy.family=fake_family"], 1, ""),
        (["analysis", "nowhere"], 2, "nowhere does not exist"),
        (["slurm", "docter"], 2, "unknown command 'docter': did you mean 'doctor'?"),
    ],
)
def test_exit_statuses(tmp_path, monkeypatch, capfd, arguments, status, message):
    """In this process; what follows starts processes of its own."""
    from schedsweep.__main__ import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(QUEUE))
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    study = STUDY if arguments[0] in ("rnu", "run", "plan") else ()
    assert main([*arguments, *study]) == status
    errors = capfd.readouterr().err
    assert message in errors
    assert errors.count("\n") == (status == 2)


def test_help_and_version_at_once(schedsweep, tmp_path):
    assert run(schedsweep, "--version", cwd=tmp_path).stdout.startswith("schedsweep ")
    for arguments in (["--help"], []):
        assert "schedsweep analysis RESULTS" in run(schedsweep, *arguments, cwd=tmp_path).stdout
    assert "experiments (+experiment=...)" in run(schedsweep, "run", "--help", cwd=tmp_path).stdout
    heavy = {"numpy", "hydra", "numba", "xarray", "omegaconf", "rich"}
    code = (
        "import sys; from schedsweep.__main__ import main; main(['--help']); main(['run', '--help']);"
        f"print('imported', sorted({heavy} & set(sys.modules)))"
    )
    done = run(sys.executable, "-c", code, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "imported []"


@pytest.mark.exhaustive
@pytest.mark.parametrize("executor", [("executor=serial",), ("executor=dask", "executor.workers=2")])
def test_no_folder_hides_the_command(schedsweep, folder, executor):
    own = "policy.family=my_queue"  # found in the working folder all the same, also by workers
    done = run(schedsweep, "run", "queue", *STUDY, *executor, own, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "6/6 tasks" in done.stdout
    report = run(schedsweep, "analysis", "results/queue", cwd=folder)
    assert (report.returncode, report.stderr) == (0, "")
    assert (folder / "results" / "queue" / "report.html").is_file()
    assert run(schedsweep, "slurm", "--help", cwd=folder).returncode == 0


@pytest.mark.skipif(shutil.which("mpiexec", path=Path(sys.executable).parent) is None, reason="no mpiexec")
@pytest.mark.exhaustive
def test_no_folder_hides_it_from_mpi_ranks(schedsweep, folder):
    mpiexec = Path(sys.executable).parent / "mpiexec"
    own = ("executor=mpi", "policy.family=my_queue")
    done = run(mpiexec, "-n", "3", schedsweep, "run", "queue", *STUDY, *own, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "6/6 tasks" in done.stdout


@pytest.mark.parametrize(
    ("hidden", "module"),
    [
        *(("models", "sweep"), ("sweep", "analysis"), ("analysis", "slurm"), ("slurm", "sweep")),
        *(("sweep", "models"), ("models", "sweep --help")),
    ],
)
def test_a_package_that_hides_one_is_an_error(tmp_path, hidden, module):
    (tmp_path / hidden).mkdir()
    (tmp_path / hidden / "__init__.py").touch()
    arguments = {"sweep": ["+experiment=queue", *STUDY], "analysis": ["results"], "slurm": ["doctor"]}
    done = run(sys.executable, "-m", *module.split(), *arguments.get(module, []), cwd=tmp_path)
    assert done.returncode == 2, done
    assert done.stderr == (
        f"error: {tmp_path / hidden} hides this project's {hidden} ({ROOT / hidden}): start schedsweep in "
        "place of python -m, or start it in another folder\n"
    )


@pytest.mark.parametrize("hidden", ["numpy", "random"])
def test_a_module_that_hides_a_package_is_an_error(tmp_path, hidden):
    (tmp_path / f"{hidden}.py").touch()
    done = run(sys.executable, "-m", "sweep", "+experiment=queue", *STUDY, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        f"error: {tmp_path / hidden}.py hides a module that is needed, {hidden}: rename it, or start "
        "schedsweep in place of python -m, or start it in another folder\n",
    )


@pytest.mark.parametrize("hidden", ["models/__init__.py", "analysis.py"])
def test_a_module_that_hides_one_is_an_error_in_python_too(tmp_path, hidden):
    (tmp_path / hidden).parent.mkdir(exist_ok=True)
    (tmp_path / hidden).touch()
    code = "import sweep\ntry: sweep.simulate('easy')\nexcept sweep.Error as error: print(error)"
    done = run(sys.executable, "-c", code, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert f"hides this project's {hidden.partition('/')[0].removesuffix('.py')}" in done.stdout


IN_PYTHON = """\
import sweep
try: sweep.simulate("easy", workload="lublin2003", load=0.5, jobs=3)
except sweep.Error as error: raise SystemExit(f"error: {error}")
"""


@pytest.mark.parametrize(("command", "status"), [(("-c", IN_PYTHON), 1), (("-m", "models"), 2)])
def test_kernels_that_may_not_be_compiled_are_one_line(tmp_path, command, status):
    done = run(sys.executable, *command, cwd=tmp_path, NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stderr) == (
        status, "error: NUMBA_DISABLE_JIT=1: kernels run compiled only; unset NUMBA_DISABLE_JIT\n",
    )  # fmt: skip


def test_files_are_read_as_utf8_in_any_locale(schedsweep, tmp_path):
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [schedsweep, "plan", "compare", "grid.policy=[easy]", "grid.load=[0.5]", "batches=2"]
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done


@pytest.mark.parametrize(
    "words",
    [
        ("-m", "sweep", "+experiment=packing", "action=plan"),
        (
            "-c",
            "import sweep\ntry:\n    sweep.simulate\nexcept sweep.Error as e:\n"
            "    raise SystemExit(f'error: {e}')",
        ),
    ],
)
def test_too_little_address_space_is_one_line(tmp_path, words):
    """As under ``ulimit -v 300000``, where libraries fail with tracebacks or wait for ever."""
    limited = f"ulimit -v 300000; exec {shlex.join([sys.executable, *words])}"
    answer = run("sh", "-c", limited, cwd=tmp_path)
    assert answer.returncode in (1, 2)
    assert answer.stderr == (
        "error: this process may have 292 MB of address space, and needs 1000 MB; raise the limit: "
        "ulimit -v unlimited\n"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_words(shell: str, tmp_path: Path) -> None:
    """By the script that is printed for it: the last word of a command becomes one that exists."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run(
        [sys.executable, "-m", "schedsweep", "completion", shell], capture_output=True, text=True, check=True
    ).stdout
    assert "schedsweep completion --words" in script
    if shell != "bash":
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
        return
    own = tmp_path / "schedsweep"
    own.write_text(SCRIPT.format(python=sys.executable), encoding="utf-8")
    own.chmod(0o755)
    wanted = {"run packing_r": "packing_readings", "run packing batch_": "batch_size=", "comp": "completion"}
    for line, word in wanted.items():
        place = f"COMP_LINE='schedsweep {line}' COMP_POINT={len(line) + 11}"
        done = subprocess.run(
            ["bash", "-c", f"{script}\n{place}\n_schedsweep 2>/dev/null; echo $COMPREPLY"],
            capture_output=True, text=True, check=True,
            env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.stdout.strip() == word


def test_pages_and_shells_that_there_are_none_of_have_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["docs", "statistic"], ["completion", "tcsh"]):
        assert main(command) == 2
    pages, shells = capsys.readouterr().err.splitlines()
    assert "unknown page 'statistic': did you mean 'statistics'?" in pages
    assert shells.endswith("valid: bash, fish, zsh")
    assert main(["docs", "docs/statistics.md"]) == 0
    assert capsys.readouterr().out.startswith("# Means, intervals and capacity")


def test_windows_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert "Linux and macOS" in str(packages.obstacle())
