"""What an array element does, in this process or one of its own, with Slurm's variables but without Slurm."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import studies
from studies import TASKS, configured, environment, expand, folder, numbers

from slurm import element, packing, record, submission
from sweep import run as running
from sweep.errors import SweepError
from sweep.store.manifest import claim


@pytest.fixture(autouse=True)
def _own_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # No Slurm answers here, wherever these tests run.
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")


@pytest.fixture
def submitted(tmp_path):
    """Write a submission of two elements, as if Slurm had taken it."""

    def submitted(*overrides, attempts=3):
        config = configured(*overrides)
        plan = expand(*overrides)
        results = folder(tmp_path / "results/queue")
        results.create()
        results.write_manifest(claim(results, plan))
        path = submission.claim(results)
        packed = packing.pack(np.arange(TASKS), np.ones(TASKS), 2)
        submission.write(path, config, packed)
        made = studies.submitted(
            path, arguments=list(overrides), output=str(results.path), digest=submission.digest(plan),
            n_elements=2, profile={"max_attempts": attempts, "time_s": None, "cpus_per_task": 1},
        )  # fmt: skip
        made.save()
        return made

    return submitted


def start(made, number):
    """Run an element in a process of its own, as Slurm would."""
    env = environment(Path.cwd(), SLURM_ARRAY_JOB_ID="5", SLURM_ARRAY_TASK_ID=str(number))
    command = [sys.executable, "-P", "-m", "slurm.element", str(made.path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def lines(made, number):
    return [json.loads(line) for line in record.file(made.path, number).read_text().splitlines()]


def same_as_serial(made, tmp_path, *overrides):
    """Gather, and compare bits with the same study run in one process."""
    from rich.console import Console

    plan = expand(*overrides)
    quiet = Console(quiet=True)
    assert running.gather(plan, folder(Path(made.output)), quiet, []) == 0
    assert running.run(expand(*overrides, "executor=serial"), folder(tmp_path / "serial"), quiet, []) == 0
    a, b = numbers(Path(made.output)), numbers(tmp_path / "serial")
    assert a.identical(b)


def test_two_elements_are_the_study(submitted, tmp_path):
    made = submitted()
    assert start(made, 0) == (0, "", "")
    assert start(made, 1) == (0, "", "")
    same_as_serial(made, tmp_path)
    assert len(list(Path(made.output).glob("shards/*.jsonl"))) == 2
    first, last = lines(made, 0)
    assert (first["job"], first["attempt"], last["why"]) == ("5_0", 1, "done")


@pytest.mark.exhaustive
def test_attempts_are_capped(submitted):
    """A task that kills its process would go round for ever with a scheduler that requeues."""
    made = submitted("policy.dies_at=0.6", attempts=2)
    statuses = [start(made, 0)[0] for _ in range(3)]
    assert statuses == [-signal.SIGKILL, -signal.SIGKILL, 1]
    assert [line.get("why") for line in lines(made, 0)] == [None, None, "attempts"]
    known = record.read(record.file(made.path, 0))
    assert (known.attempts, known.why, known.finished) == (2, "attempts", False)


def test_a_changed_study_is_refused(submitted):
    made = submitted()
    config = json.loads((made.path / "config.json").read_text())
    config["settings"]["seed"] = 2
    (made.path / "config.json").write_text(json.dumps(config))
    status, out, err = start(made, 0)
    assert (status, out) == (1, "")
    assert err.startswith("error: submission 001: models, or files that the config names, have changed since")
    assert err.count("\n") == 1
    assert lines(made, 0)[-1]["why"] == "error"
    with pytest.raises(SweepError, match="submit again"):
        element.expanded(made)
