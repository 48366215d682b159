"""Whatever is given, the answer is a result or one line: files of every kind, and the public functions.

Few examples in the first tier, hundreds in the second.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import sweep as face
from sweep import cli
from sweep.config import choices, files, locate
from sweep.config.settings import Settings

CONF = locate.conf_folder()
EXAMPLES = [4, pytest.param(60, marks=pytest.mark.exhaustive)]
OWN = Path("own")

STUDY = ("+experiment=compare", "grid.policy=[fcfs]", "grid.workload=[lublin2003]", "grid.load=[0.5]")
GIVEN = {
    "policy": (*STUDY, "grid.policy=[own]"),
    "workload": (*STUDY, "grid.workload=[own]"),
    "machine": (*STUDY, "grid.machine=[own]"),
    "groups": (*STUDY, "measures.groups=[own]"),
    "executor": (*STUDY, "executor=own"),
    "experiment": ("+experiment=own",),
}  # fmt: skip
"""Kind of file -> a command that reads a user's file of that kind."""

ODD = st.one_of(
    st.sampled_from([None, True, -1, 0, 1, 7, 2.5, 1e300, float("inf"), float("nan"), 10**30]),
    st.sampled_from(
        ["", "x", "easy", "16x16", "a.b", "${x}", "${oc.env:NOT_THERE}", "x" * 300, "é\n", "???"]
    ),
    st.sampled_from([[], [1], ["a"], [[]], {}, {"a": 1}, {"name": "easy"}, [{"name": 3}], {1: {2: [3]}}]),
)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Plan a study, and return status and error, which is one line where there is one."""
    capsys.readouterr()
    status = cli.main([*arguments, f"--config-dir={OWN}", "action=plan"])
    error = capsys.readouterr().err
    assert status in (0, 2)
    assert (error == "") == (status == 0), error
    if error:
        assert error.startswith("error: "), error
        assert error.count("\n") == 1, error
        assert len(error.partition(": ")[2].strip()) > 5, error
    return status, error


def write(group: str, data: Any) -> None:
    shutil.rmtree(OWN, ignore_errors=True)
    (OWN / group).mkdir(parents=True)
    head = "# @package _global_\n" if group == "experiment" else "# Own.\n"
    (OWN / group / "own.yaml").write_text(head + yaml.safe_dump(data, allow_unicode=True))


def done(call: Callable[[], int]) -> None:
    """Check that a call returns a number above 0, or is refused with one line."""
    try:
        assert call() > 0
    except face.Error as refused:
        line = str(refused)
    else:
        return
    assert line.strip()
    assert "\n" not in line


def examples(number: int, test: Callable[..., None], **strategies: Any) -> None:
    settings(max_examples=number)(given(**strategies)(test))()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("number", EXAMPLES)
@pytest.mark.parametrize("group", GIVEN)
def test_a_file_with_any_value_is_planned_or_refused(
    group: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    names = choices.names(group, [CONF])

    def check(name: str, value: Any, data: st.DataObject) -> None:
        file = copy.deepcopy(files.merged(group, name, [CONF]))
        file[data.draw(st.sampled_from(sorted(file)))] = value
        write(group, file)
        answer(capsys, *GIVEN[group])

    examples(number, check, name=st.sampled_from(names), value=ODD, data=st.data())


@pytest.mark.parametrize("number", EXAMPLES)
@pytest.mark.parametrize("group", [group for group in GIVEN if group != "machine"])
def test_a_misspelt_key_is_refused(group: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A letter less in any key, at any depth of a file whose keys are not names."""
    names = choices.names(group, [CONF])

    def check(name: str, data: st.DataObject) -> None:
        file = copy.deepcopy(files.merged(group, name, [CONF]))
        kept = [
            key for key in file if len(key) > 3 and key not in ("family", "model", "discipline", "system")
        ]
        if not kept or "schedule" in file:
            return
        key = data.draw(st.sampled_from(kept))
        file[key[:-1]] = file.pop(key)
        write(group, file)
        status, error = answer(capsys, *GIVEN[group])
        assert status == 2
        assert f"{key[:-1]}" in error

    examples(number, check, name=st.sampled_from(names), data=st.data())


@pytest.mark.parametrize("number", EXAMPLES)
def test_any_argument_of_simulate(number: int) -> None:
    usual = {"policy": "fcfs", "workload": "lublin2003", "machine": 128, "load": 0.5, "jobs": 20}
    columns = {"submit": np.arange(9.0), "runtime": np.ones(9), "processors": np.ones(9, int)}
    names = [*usual, "seed", "replication", "config_dir"]

    def check(changed: dict[str, Any], column: str, value: Any) -> None:
        for arguments in (
            {**usual, **changed},
            {**usual, "workload": {**columns, column: value}},
            {**usual, "policy": {"name": "easy", column: value}},
        ):
            done(lambda arguments=arguments: face.simulate(**arguments).sizes["job"])

    examples(
        number,
        check,
        changed=st.dictionaries(st.sampled_from(names), ODD, min_size=1, max_size=2),
        column=st.sampled_from([*columns, "requested", "memory", "user", "priority", "weights", "ties", "x"]),
        value=st.one_of(ODD, st.sampled_from([np.ones(9), np.zeros(9, int), np.array(["a"] * 9)])),
    )


@pytest.mark.parametrize("number", EXAMPLES)
def test_any_setting_of_a_study(number: int) -> None:
    names = [*Settings.__dataclass_fields__, "experiment", "load", "job_limit"]

    def check(changed: dict[str, Any]) -> None:
        arguments = {"experiment": "compare", "output": "results/one", **changed}
        done(lambda: face.Study(**arguments).points)

    examples(number, check, changed=st.dictionaries(st.sampled_from(names), ODD, min_size=1, max_size=2))
