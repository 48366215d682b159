"""Whatever is given, the answer is a result or one line: files of every kind, and the public functions.

Few examples in the first tier, hundreds in the second.
"""

import copy
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml  # type: ignore[import-untyped] # types only by another package
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sweep as face
from sweep import cli
from sweep.config import choices, chosen, files, locate
from sweep.config.nested import leaves
from sweep.config.settings import Settings

CONF = locate.conf_folder()
EXAMPLES = [6, pytest.param(150, marks=pytest.mark.exhaustive)]
OWN = Path("own")

STUDY = ("+experiment=compare", "grid.policy=[fcfs]", "grid.workload=[lublin2003]", "grid.load=[0.5]")
GIVEN = {
    "policy": (*STUDY, "grid.policy=[own]"),
    "workload": (*STUDY, "grid.workload=[own]"),
    "machine": (*STUDY, "grid.machine=[own]"),
    "groups": (*STUDY, "measures.groups=[own]"),
    "executor": (*STUDY, "executor=own"),
    "experiment": ("+experiment=own",),
}
"""Kind of file -> a command that reads a user's file of that kind."""

CHOSEN = ("family", "model", "discipline", "system", "schedule", "name")
"""Keys that decide which others there are."""

ODD = st.one_of(
    st.sampled_from([None, True, -1, 0, 1, 7, 2.5, 1e300, float("inf"), float("nan"), 10**30]),
    st.sampled_from(
        ["", "x", "easy", "16x16", "a.b", "${x}", "${oc.env:NOT_THERE}", "x" * 300, "é\n", "???"]
    ),
    st.sampled_from([[], [1], ["a"], [[]], {}, {"a": 1}, {"name": "easy"}, [{"name": 3}], {1: {2: [3]}}]),
)
DEEP: list[Any] = []
DEEP.append(DEEP)
ARRAYS = st.sampled_from(
    [
        slice(1),
        pd.NA,
        pd.DataFrame({"a": [1]}),
        {(1, 2): 3},
        [[1], [1, 2]],
        DEEP,
        10**400,
        np.ones(9),
        np.zeros(9, int),
        np.array(["a"] * 9),
        np.ones((3, 3)),
        np.float64(0.5),
    ]
)

FILES = st.sampled_from([(group, name) for group in GIVEN for name in choices.names(group, [CONF])])


def answer(capsys: pytest.CaptureFixture[str], group: str, data: Any) -> tuple[int, str]:
    """Plan a study that reads a file with these data; return status and error, one line if there is one."""
    shutil.rmtree(OWN, ignore_errors=True)
    (OWN / group).mkdir(parents=True)
    head = "# @package _global_\n" if group == "experiment" else "# Own.\n"
    (OWN / group / "own.yaml").write_text(head + yaml.safe_dump(data, allow_unicode=True))
    capsys.readouterr()
    status = cli.main([*GIVEN[group], f"--config-dir={OWN}", "action=plan"])
    error = capsys.readouterr().err
    assert status in (0, 2)
    assert (error == "") == (status == 0), error
    if error:
        assert error.startswith("error: "), error
        assert error.count("\n") == 1, error
        assert len(error.partition(": ")[2].strip()) > 5, error
    return status, error


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
    """Run a test on this number of examples; none is made smaller, which takes minutes."""
    settings(max_examples=number, phases=(Phase.generate,))(given(**strategies)(test))()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("number", EXAMPLES)
def test_a_file_with_any_value_is_planned_or_refused(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    def check(named: tuple[str, str], value: Any, data: st.DataObject) -> None:
        group, name = named
        file = copy.deepcopy(files.merged(group, name, [CONF]))
        file[data.draw(st.sampled_from(sorted(file)))] = value
        answer(capsys, group, file)

    examples(number, check, named=FILES, value=ODD, data=st.data())


@pytest.mark.parametrize("group", ["policy", "workload"])
def test_an_unknown_interpolation_is_refused(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, error = answer(capsys, "experiment", {"name": "own", group: "${x}"})
    assert status == 2
    assert error.startswith(f"error: {group}: "), error


@pytest.mark.parametrize("number", EXAMPLES)
def test_a_misspelt_key_is_refused(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A letter less in any key at the top of a file."""

    def check(named: tuple[str, str], data: st.DataObject) -> None:
        group, name = named
        file = copy.deepcopy(files.merged(group, name, [CONF]))
        keys = [key for key in file if len(key) > 3 and key not in CHOSEN]
        if not keys or "schedule" in file:  # whose value may be a user's own code
            return
        key = data.draw(st.sampled_from(keys))
        file[key[:-1]] = file.pop(key)
        status, error = answer(capsys, group, file)
        assert status == 2
        assert key[:-1] in error

    examples(number, check, named=FILES, data=st.data())


@pytest.mark.parametrize("group", ["policy", "workload", "machine"])
def test_settings_as_numpy_has_them_are_what_they_are(group: str) -> None:
    """A number, a switch or a text of any file."""
    for name in choices.names(group, [CONF]):
        file = files.merged(group, name, [CONF])
        given = {key: value for key, value in leaves(file) if isinstance(value, bool | int | float | str)}
        given = {key: value for key, value in given.items() if "$" not in str(value)}
        scalars = {key: np.array(value)[()] for key, value in given.items()}
        try:
            plain = chosen.parameters(group, name, given, [CONF])
        except face.Error:  # lacks a path
            continue
        assert all(
            type(value) is type(plain_value)
            for (_, value), (_, plain_value) in zip(
                leaves(chosen.parameters(group, name, scalars, [CONF])), leaves(plain), strict=True
            )
        ), name


@pytest.mark.parametrize("number", EXAMPLES)
def test_any_argument_of_simulate(number: int) -> None:
    usual = {"policy": "fcfs", "workload": "lublin2003", "machine": 128, "load": 0.5, "jobs": 20}
    columns = {"submit": np.arange(9.0), "runtime": np.ones(9), "processors": np.ones(9, int)}
    names = [*usual, "seed", "replication", "config_dir"]

    def n_jobs(**arguments: Any) -> int:
        return face.simulate(**arguments).sizes["job"]

    def check(argument: str, column: str, value: Any) -> None:
        for changed in (
            {argument: value},
            {"workload": {**columns, column: value}},
            {"policy": {"name": "easy", column: value}},
        ):
            done(partial(n_jobs, **{**usual, **changed}))

    columns_and_keys = [*columns, "requested", "memory", "user", "priority", "weights", "ties", "x"]
    examples(
        number,
        check,
        argument=st.sampled_from(names),
        column=st.sampled_from(columns_and_keys),
        value=ODD | ARRAYS,
    )


@pytest.mark.parametrize("number", EXAMPLES)
def test_any_setting_of_a_study(number: int) -> None:
    names = [*Settings.__dataclass_fields__, "experiment", "load", "job_limit", "config_dir"]

    def check(changed: dict[str, Any]) -> None:
        arguments = {"experiment": "compare", "output": "results/one", **changed}
        done(lambda: face.Study(**arguments).points)

    settings_ = st.dictionaries(st.sampled_from(names), ODD | ARRAYS, min_size=1, max_size=2)
    examples(number, check, changed=settings_)
