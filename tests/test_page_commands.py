"""Every command of README and of the pages runs as it stands, page by page from top to bottom.

In the first tier what a command would run is planned, shortened by settings that are added to it; in the
second it runs so, and is planned as it stands.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped] # types only by another package
from test_documentation import DOCS, PAGES, a_log, blocks, commands, run

from models.jobs import bundle
from sweep.config import choices, locate, overrides, schema
from sweep.config.nested import has
from sweep.config.settings import GROUPS, Settings, check_key
from sweep.notebook.study import _dotted

CONF = locate.conf_folder()
ALWAYS = ("load", "workload", "machine")
"""Axes that any study has."""

SHORT = yaml.safe_load((DOCS / "sitetools" / "short_runs.yaml").read_text().replace("LOG", "null"))
"""Experiment -> settings that make it short."""

FOLLOWED = ("adding_a_family", "adding_a_policy", "adding_a_workload", "any_function", "own_study")
"""Pages whose files and commands tests of their own follow, see `test_documentation` and `tests/models`."""

ELSEWHERE = {
    "-m analysis explore": "a server without end, tests/analysis/explorer",
    "--play": "a terminal, tests/analysis/jette1997",
    "-m slurm validate": "a real Slurm, tests/slurm",
    "-m slurm capture": "the same",
    "families_logs": "a log of the archive",
    "backtest=200": "logs of the archive; tests/slurm has another one",
    "from=40d": "a log of two months",
}
"""Commands that tests of their own run, or that need what a test has not."""

PLACEHOLDER = re.compile(r"[A-Z]{3}|\.\.\.")
"""In a command, a word for something of the reader's."""

JOB = "{n}|{user}|staff|normal|batch|COMPLETED|{at}|{at}|{at}|{seconds}|{minutes}|{cpus}|1|1000M||cpu={cpus}"
FIELDS = (
    "JobID|User|Account|QOS|Partition|State|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocNodes|"
    "ReqMem|Reservation|AllocTRES"
)
SLURM = """\
ClusterName=ours
SlurmctldHost=head
NodeName=n[001-128] CPUs=4 RealMemory=64000
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


WITH_COMMANDS = [page for page in PAGES if commands(page) and page.stem not in FOLLOWED]


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRACES", str(tmp_path))
    months = [f"2024-03-{day:02}T{hour:02}:00:00" for day in range(1, 25) for hour in range(0, 24, 2)]
    rows = [
        JOB.format(n=n, user=f"u{n % 5}", at=at, seconds=600 * (n % 9 + 1), minutes=120, cpus=n % 4 + 1)
        for n, at in enumerate(months)
    ]
    for name in ("march.txt", "FILE"):
        (tmp_path / name).write_text("\n".join([FIELDS, *rows]) + "\n")
    for name in ("march.swf", "LOG"):
        (tmp_path / name).write_text(a_log(seed=1))
    (tmp_path / "slurm.conf").write_text(SLURM)
    files = {bundle.CONFIGURATION: SLURM.encode(), bundle.LOG: (tmp_path / "march.txt").read_bytes()}
    (tmp_path / "march.tar.gz").write_bytes(bundle.packed(files, {}))
    for page, number, place in (
        ("what_if", 0, "machine/ours"),
        ("slurm_what_if", 1, "policy/slurm/every_minute"),
    ):
        file = tmp_path / "myconf" / f"{place}.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(blocks(DOCS / f"{page}.md", "yaml")[number])


def shortened(line: str) -> Iterator[str]:
    """Yield settings that shorten a study, those left out that the command has itself."""
    words = [word.lstrip("+").partition("=") for word in shlex.split(line)]
    typed = {key for key, _, _ in words} | {f"grid.{key}" for key, _, _ in words}
    name = next(value for key, _, value in words if key == "experiment")
    usual = {"capacity": 0, "executor": "serial", "replications": 1}
    of_a_log = name in ("what_if", "slurm_what_if", "replay", "tune", "slurm_tune")
    short = {} if of_a_log else SHORT.get(name.removesuffix("_full"), {})
    if name.endswith("tune"):
        usual |= {"search": {"settings": 2}}
    for setting in overrides.written(_dotted(short | usual)):
        key = setting.partition("=")[0]
        # An axis that is typed is refused where it sets nothing of the policies that the command names.
        of_others = key.startswith("grid.") and key[5:] not in ALWAYS and "grid.policy" in typed
        if key not in typed and key != "workload.path" and not of_others:
            yield setting


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
@pytest.mark.usefixtures("_files")
def test_every_study_of_a_page_is_planned(page: Path, whole: bool) -> None:
    """With all that a command types; in the first tier on a short grid where it types none."""
    for line in commands(page):
        if " -m sweep " in line and " rerun " not in line and "families_logs" not in line:
            run(line, *([] if whole else shortened(line)), *([] if "action=" in line else ["action=plan"]))


def _check_setting(setting: str) -> None:
    """Check that a setting's key, and the file that it may name, are there."""
    key, _, value = setting.lstrip("+").partition("=")
    group, _, below = key.removeprefix("grid.").partition(".")
    if group in schema.KINDS and below:
        assert any(has(file, below) for file in schema.files_of(group)), setting
    elif group in (*GROUPS, "experiment", "executor"):
        for name in value.strip("[]").split(","):
            choices.find(group, name, [CONF, *Path().glob("myconf")])
    elif key.partition(".")[0] in Settings.__dataclass_fields__ and not key.startswith("grid."):
        ((key, value),) = overrides.parsed([setting]).items()
        check_key(key, value, Settings.__dataclass_fields__)


OF_TODAY = [page for page in PAGES if page.stem not in (*FOLLOWED, "CHANGELOG")]


@pytest.mark.parametrize("page", OF_TODAY, ids=lambda page: page.stem)
@pytest.mark.usefixtures("_files")
def test_settings_and_commands_in_the_text_of_a_page_are_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for code in (" ".join(part.split()) for part in re.findall(r"`([^`]+)`", text)):
        if PLACEHOLDER.search(code) or " rerun " in code:
            continue
        if code.startswith("python -m sweep "):
            run(code, "action=plan")
        elif re.match(r"\+?[a-z]+(\.\w+)*=\S", code):
            for setting in code.partition(" --")[0].split(" "):
                _check_setting(setting)


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
@pytest.mark.usefixtures("_files")
def test_every_command_of_a_page_runs(page: Path) -> None:
    for line in commands(page):
        if any(part in line for part in ELSEWHERE):
            continue
        if " -m sweep " in line and " rerun " not in line:
            run(line, *shortened(line))
        else:
            run(line)
