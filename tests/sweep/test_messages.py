"""One table of mistakes and the line that answers each: what was given, what is allowed, what would work."""

import io
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numba import njit
from rich.console import Console
from study_commands import CONF

import sweep as face
from sweep import cli
from sweep.plan import grid
from sweep.progress import Meter

LONG = "x" * 300

KEYS = [
    ("batchs=3", "unknown key 'batchs': did you mean 'batches'? valid: accept, action, "),
    ("+keep=[1]", "keep=[1]: give batches, replications or all"),
    ("precision.relativ=0.1", "did you mean 'relative'? valid: checkpoints, metric, relative"),
    ("executor.worker=2", "unknown key of executor serial 'worker'"),
    ("policy.preemtion=none", "did you mean 'preemption'? valid: dies_at, dies_once, family,"),
    ("--dry-run", "unknown option --dry-run: valid: --config-dir"),
    ("--config-dir=nowhere", "--config-dir nowhere: no such folder"),
    ("--config-dir=", "--config-dir (empty): no such folder"),
    ("~zip", "is not key=value"),
    ("queue", "'queue' is not key=value: write +experiment=queue"),
    ("workload.note=a=b", "a value with special characters needs quotes of its own"),
    ("grid.load=[0.5", "cannot read 'grid.load=[0.5': a ] is missing, [0.5]"),
]

HUGE = "1" + "0" * 400
"""No float can be it."""

VALUES = [
    ("workers=2", "a study has no key 'workers'; did you mean executor.workers=2?"),
    ("slot_choice=abc", "did you mean policy.slot_choice=abc (of policy concurrent_gang, buddy)?"),
    ("batches=null", "batches=null: give 1 to 10,000,000"),
    ("batches=many", "batches=many: give 1 to 10,000,000, or numbers by load"),
    ("batches={0.5:3}", "{0.5:3}: give a number for each load from which it applies, the first from 0"),
    ("batches=0", "batches=0: give 1 to 10,000,000"),
    ("warmup={0:1,0.5:-1}", "warmup={0:1,0.5:-1}: give 0 to 10,000,000 batches, mser or auto"),
    ("replications=2.5", "error: replications=2.5: give a whole number from 1 to 10,000,000"),
    *(
        (f"{key}={HUGE}", f"error: {key}=a whole number")
        for key in ("confidence", "measures.bound", "replications")
    ),
    (f"batches={HUGE}", "batches=a whole number of more than 30 digits: give 1 to 10,000,000"),
    (f"batches={{0:2,{HUGE}:3}}", "a number for each load from which it applies"),
    ("batches={0:2,nan:3}", "a number for each load from which it applies"),
    (f"grid.load=[{HUGE}]", "times the machine's capacity"),
    (f"workload.note={HUGE * 12}", "the number has too many digits; give a shorter one"),
    ("output=bad\udcff", "error: output='bad\\udcff': the name has to be UTF-8"),
    ("schedule=bad\udcff.csv", "error: schedule='bad\\udcff.csv': the name has to be UTF-8"),
    ("seed=-1", "seed=-1: give a whole number, 0 or more"),
    ("confidence=95%", "error: confidence=95%: give a level between 0 and 1"),
    ("precision.relative=5%", "error: precision.relative=5%: give a fraction, 0.05 for 5 %"),
    ("precision.checkpoints=[3]", "needs precision.relative"),
    ("precision=0.05", "error: precision=0.05: its keys are relative, metric and checkpoints"),
    ("precision={relative: 0.1, metric: speed}", "precision.metric: unknown metric 'speed'"),
    ("fresh=maybe", "error: fresh=maybe: give true or false"),
    ("accept.longest_wait=0.9", "accept.longest_wait=0.9: give a ratio of 1 or more, or null for no limit"),
    ("accept.group_wait=much", "accept.group_wait=much: give a ratio of 1 or more, or null for no limit"),
    ("accept.least_gain=soon", "accept.least_gain=soon: give a time, e.g. 10min, 90s or 2h, or null"),
    ("accept.gain=1h", "accept"),
    ("measures.bound=0", "measures.bound=0: give a positive number of seconds"),
    ("measures.groups=[size,sizes]", "unknown groups of jobs 'sizes': did you mean 'size'?"),
    ("action=rnu", "unknown action 'rnu': did you mean 'run'?"),
    ("fresh=true action=gather", "fresh=true goes with action=run"),
    ("--watch action=plan", "--watch goes with action=status, not with action=plan"),
    ("name=a/b", "becomes a file name"),
    (f"name={LONG}", "has 300 characters and becomes a file name: give 200 or less"),
    (f"output={LONG}", "File name too long; give a shorter one"),
    (f"schedule={LONG}.swf", "File name too long"),
    ("grid=${oc.env:PATH}", ": give values by axis, grid.AXIS=[VALUE,...]"),
    ("axes=${oc.env:PATH}", ": give the key that the axis sets, +axes.AXIS=policy.KEY"),
    ("values=${oc.env:PATH}", ": give named values of an axis"),
    ("exclude=[${oc.env:PATH}]", ": give a list of the points to leave out"),
    ("output=${oc.env:NOT_SET}", "Environment variable 'NOT_SET' not found"),
    ("output=/dev/null/here", "Not a directory; give a folder that can be written"),
    ("output=/dev/null/here action=plan", "Not a directory (/dev/null); give a folder that can be written"),
    ("schedule=true action=plan", "schedule=true names no file: give one, schedule=FILE.swf"),
    (
        "axes={speed: '*'} values={speed: {same: {}, other: {machine: {sped: 2}}}} grid.speed=[same]",
        "values.speed: unknown key of machine one 'sped': did you mean 'speed'?",
    ),
    ("executor=dusk", "unknown executor 'dusk': did you mean 'dask'?"),
    ("executor=dask executor.workers=100000", "workers=100000: each worker is a process, and this machine"),
    ("executor=serial slurm=default", "slurm=default goes with executor=slurm, not with executor=serial"),
    ("experiment=cue", "unknown experiment 'cue'"),
    ("machine.speed=-1", "machine.speed=-1: give a positive speed"),
    ("policy.family=nowhere", "family=nowhere: No module named 'nowhere'"),
    ("policy.family=sweep", "the package has no FAMILY"),
    ("workload=log", "workload log needs path: set workload.path=VALUE"),
    ("workload=log workload.path=no/such.swf", "no/such.swf: No such file or directory"),
    (f"workload=log workload.path={LONG}", "File name too long"),
    ("workload=log workload.path=/dev/zero", "is a device or a pipe; give the path of a file"),
]

GRIDS = [
    ("policy=qiuck", "unknown policy 'qiuck': did you mean 'quick'? valid: "),
    ("policy=backfill/buddy", "unknown policy 'backfill/buddy': did you mean 'gang/buddy'?"),
    ("policy=QUICK", "unknown policy 'QUICK': did you mean 'quick'?"),
    ("machine=64", "machine 64: no file has this name; did you mean machine.processors=64?"),
    ("grid.load=(0.5,0.6)", "several values are written grid.load=[A,B]"),
    ("grid.load=range(1,9)", "give one value, or where several are allowed grid.load=[A,B]"),
    ("action=plan,run", "'action=plan,run': give one value"),
    ("policy=_base", "unknown policy '_base'"),
    ("policy=[quick,fake/quick]", "grid.policy has quick twice"),
    ("policy=[quick,slow] policy.work=3", "policy.work=3 makes quick and slow the same, under two names"),
    ("grid.machine=[two]", "unknown machine 'two'"),
    ("grid.load=[]", "grid.load=[]: an axis needs at least one value"),
    ("grid.load=", "grid.load=[]: an axis needs at least one value, grid.load=[VALUE,...]"),
    ("grid.policy=", "grid.policy is empty: give one or more of "),
    ("machine=[null]", "grid.machine is empty: give one or more of "),
    ("grid.load=[0.5,50]", "grid.load has 50, which is 50 times the machine's capacity; loads are fractions"),
    ("grid.load=[0.5,0]", "grid.load has 0: a load is a positive fraction"),
    ("grid.load=[0.5,0.50]", "grid.load has 0.5 twice"),
    ("grid.load=0.5,0.6", "write several values as a list, 'grid.load=[0.5,0.6]'"),
    ("grid={pace: [1, 2]}", "grid.pace: unknown axis 'pace'"),
    ("+axes.speed=machine.speed", "grid.speed is missing"),
    ("axes.speed=speed", "give GROUP.KEY with a group of policy, workload, machine"),
    ("axes.load=machine.speed", "axes.load: the name is reserved"),
    ("zip=[load]", "error: zip=[load]: give lists of axes that vary together"),
    ("zip=[[load,machine]]", "zip: load 2, machine 1 values"),
    ("exclude=[3]", "error: exclude=[3]: give a list of the points to leave out"),
    ("exclude=[{loud: 1}]", "did you mean 'load'?"),
    ("exclude=[{policy: [quick, slow]}]", "leave no point"),
    ("exclude=[{load: 0.5}]", "exclude: unknown value of grid.load '0.5': did you mean '0.6'? valid: 0.3"),
    ("+axes.assumption='*'", "takes named values that have keys of policy, workload, machine"),
    ("+axes.assumption='*' values.assumption={a: {policy: {slize: 1}}}", "unknown key of policy"),
    ("values.nope={a: 1}", "values.nope: unknown axis 'nope'"),
    ("values.preemption={a: none, b: none}", "a and b are the same value"),
    ("values.preemption={never: none} grid.preemption=[nevr]", "unknown value of grid.preemption 'nevr'"),
    ("grid.preemption={never: none}", "name other values by values.preemption={NAME: VALUE}"),
    ("replications=1000000", "12,000,000 tasks (12 points x 1,000,000 replications): a study has at most"),
]


def words(line: str) -> list[str]:
    """Return the arguments of a line; a blank within braces belongs to one of them."""
    parts: list[str] = []
    for part in line.split(" "):
        if parts and parts[-1].count("{") > parts[-1].count("}"):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return parts


@pytest.mark.parametrize(("given", "says"), [*KEYS, *VALUES, *GRIDS])
def test_a_mistake_is_one_line_and_status_2(sweep, tmp_path, given, says):
    assert sweep(*words(given)).refused(says)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            "+experiment=families policy=slurm",
            "policy slurm has no key slice, and experiment families sets policy.slice=100.0 for its own",
        ),
        (
            "+experiment=packing policy=easy",
            "policy easy of family models.backfill has no key alternation, which",
        ),
        (
            "+experiment=compare policy=fcfs policy.reservations=2",
            "unknown key of policy fcfs of family models.backfill 'reservations'",
        ),
        (
            "+experiment=compare policy=easy +axes.kill=policy.kil grid.kill=[true]",
            "'kil': did you mean 'kill'?",
        ),
        ("+experiment=compare policy=easy machine.processors='64'", "machine.processors='64'; allowed"),
        ("+experiment=compare policy=easy machine.processors=1", "the largest host has 1; give machine."),
        ("+experiment=packing workload.size_order=abc", "allowed: a number"),
        (
            "+experiment=packing policy=buddy policy.scheme=os.system",
            "policy.scheme=os.system, which is not compiled; allowed",
        ),
        ("+experiment=packing batch_size=null", "and feitelson1996 has no end"),
        ("+experiment=partitioning batch_size=null", "jobs arrive without end; give a number of jobs"),
        ("+experiment=fairness replications=2", "copies of one run are not a sample; add replications=1"),
        ("", "no experiment named: add +experiment=NAME; valid: "),
        *(
            (
                f"+experiment=compare policy=easy {key}=abc",
                f"{key}: no policy of this study reads it (backfilling)",
            )
            for key in ("machine.bandwidth", "machine.places", "workload.speedup", "workload.downey.sigma")
        ),
        (
            "+experiment=compare policy=easy +axes.own=machine.disks grid.own=[1,2]",
            "machine.disks: no policy of this study reads it (backfilling), so it has no effect; leave",
        ),
        *(
            (
                f"+experiment=compare policy={policy} {key}=2",
                f"{key}: no policy of this study reads it (production gang",
            )
            for policy, key in (
                ("tc2000_gang", "machine.places"),
                ("[tc2000_gang,alpha_gang]", "machine.node_processors"),
                ("llnl_gang", "workload.phases.processors"),
            )
        ),
        ("+experiment=compare policy=fold policy.rotation=1e-9", "policy.rotation=1e-09; allowed: a time"),
        ("+experiment=compare policy=[easy,equi] machine.bandwidth=abc", "machine.bandwidth=abc; allowed: a"),
        (
            "+experiment=compare policy=[easy,equi] workload.downey.sigma=abc",
            "workload.downey.sigma=abc; all",
        ),
        ("+experiment=concurrent_gang policy=gang policy.slot_choice=abc", "policy.slot_choice=abc; allowed"),
        (
            "+experiment=efficiency_preservation machine.processors=64",
            "machine.processors=64 and machine.mesh=16x16: give one of them",
        ),
        (
            "+experiment=llnl_t3d policy=llnl_gang policy.channel=shared policy.swap_out=1e300",
            "policy.swap_out=1e+300; allowed: a number of seconds for each processor, 0 or more and up",
        ),
        ("+experiment=llnl_t3d policy=llnl_gang machine.node_processors=3", "add for instance machine.node_"),
    ],
)
def test_mistakes_in_studies_of_the_project(capsys, given, says):
    assert cli.main([*given.split(), "executor=serial", "action=plan"]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        (
            "batches=3",
            "batches=3: a rerun takes its settings from the file; unknown key of a rerun 'batches'",
        ),
        ("executor=serail", "unknown executor 'serail': did you mean 'serial'?"),
        ("executor.wrkers=3", "unknown key of executor dask 'wrkers': did you mean 'workers'?"),
        ("action=walk", "unknown action 'walk'"),
        ("output=results/queue", "holds the file that is to be rerun"),
    ],
)
def test_mistakes_in_a_rerun(sweep, capsys, argument, says):
    sweep("policy=quick", "grid.load=[0.3]", "replications=1")
    capsys.readouterr()
    assert cli.main(["rerun", "results/queue", argument]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


@pytest.fixture
def own(tmp_path):
    """A user's own config folder; return its folder for policies of the fake family."""
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
        (b"- a\n- b\n", "mine.yaml: holds a list; a file of conf is YAML, with lines of key: value"),
        (b"only words\n", "mine.yaml: holds a single value; a file of conf is YAML"),
        (b"mesh:\n", "mine.yaml: no value for mesh; a file of conf is YAML"),
        (b"\x00\x01\xff\xfe", "mine.yaml: not a text file in UTF-8; a file of conf is YAML"),
        (b"a: [\n", "mine.yaml, line 2: "),
        (b"defaults: [mine, _self_]\n", "mine.yaml: builds on itself, policy/fake/mine -> policy/fake/mine"),
        (b"defaults: [other, _self_]\n", "policy/fake/mine -> policy/fake/other -> policy/fake/mine"),
        (b"defaults: [{a: b}]\n", "mine.yaml: defaults has {'a': 'b'}; give names of files"),
        (b"defaults: [_gong, _self_]\n", "mine builds on policy/fake/_gong, which does not exist"),
    ],
)
def test_mistakes_in_a_policys_file(sweep, own, content, says):
    (own / "mine.yaml").write_bytes(content)
    (own / "other.yaml").write_text("defaults: [mine, _self_]\n")
    assert sweep("policy=mine", f"--config-dir={own.parents[1]}").refused(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# @package _global_\nname: mine\nbatchs: 3\n", "experiment/mine.yaml: unknown key 'batchs'"),
        ("# @package _global_\nbatches: 3\n", "the experiment has no name"),
        ("# @package _global_\nname: mine\nbatches: [\n", "mine.yaml, line 4: "),
    ],
)
def test_mistakes_in_an_experiments_file(sweep, tmp_path, text, says):
    (tmp_path / "own" / "experiment").mkdir(parents=True)
    (tmp_path / "own" / "experiment" / "mine.yaml").write_text(text)
    assert sweep(f"--config-dir={tmp_path / 'own'}", "+experiment=mine").refused(says)


def test_a_log_that_is_missing_here_and_is_where_logs_are(sweep, tmp_path, monkeypatch):
    folder = tmp_path / "all my logs"
    folder.mkdir()
    (folder / "such.swf").write_text("")
    monkeypatch.setenv("TRACES", str(folder))
    answer = sweep("workload=log", "workload.path=such.swf")
    assert f"the folder that TRACES names has it: workload.path={folder / 'such.swf'}" in answer.err
    assert "TRACES" not in sweep("workload=log", "workload.path=another.swf").err


def test_a_batch_with_more_jobs_than_a_log(sweep, tmp_path):
    rows = [f"{n} {60 * n} 0 50 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1" for n in range(1, 401)]
    (tmp_path / "log.swf").write_text("\n".join(["; MaxProcs: 64", *rows, ""]))
    study = ["+experiment=compare", "policy=easy", "workload=swf", f"workload.path={tmp_path / 'log.swf'}"]
    answer = sweep(*study, "machine=log", "batches=2", "batch_size=1000000", "action=plan")
    assert answer.refused("batch_size=1,000,000: workload swf has 400 jobs to measure, fewer than one batch")


DEEP: list[object] = []
DEEP.append(DEEP)

ARRAYS = {"submit": [0.0, 1.0], "runtime": [2.0, 2.0], "processors": [1, 1]}

NOTEBOOK = [
    ({"policy": "eazy"}, "unknown policy 'eazy': did you mean 'easy'?"),
    ({"policy": {"ties": "event"}}, "settings without a name; add 'name' to them"),
    ({"policy": 7}, "policy: int is not understood"),
    ({"policy": {"name": "easy", "ties": DEEP}}, "lists or mappings within each other, more than 20 deep"),
    ({"policy": {"name": "easy", (1, 2): 3}}, "policy: a key of type tuple; give names as strings"),
    ({"machine": {"processors": pd.NA}}, "machine.processors: NAType is not understood"),
    ({"machine": slice(1)}, "machine: slice is not understood"),
    ({"workload": ARRAYS | {"submit": [[1], [1, 2]]}}, "workload: submit cannot be read as a column: give"),
    ({"policy": lambda a, b: a}, "this function is not compiled; decorate it"),
    (
        {"policy": {"name": "easy", "ties": np.ones(2)}},
        "policy={'ties': [1.0, 1.0]}; allowed: instant, event",
    ),
    (
        {"machine": {"bandwidth": np.ones(2)}},
        "machine.bandwidth: no policy of this study reads it (backfilling)",
    ),
    ({"workload": Path(__file__).parent}, "is a folder; give the path of one log in the Standard Workload"),
    ({"workload": str(Path(__file__).parent)}, "is a folder; give the path of one log"),
    ({"policy": "characterization"}, "makes no schedule of jobs; run it as a study"),
    ({"workload": "no.swf"}, "workload=no.swf: no such file; give the path of one log"),
    ({"workload": {"submit": [1.0]}}, "jobs without runtime, processors; give arrays of submit"),
    ({"workload": ARRAYS | {"usr": [1, 1]}}, "unknown column of jobs 'usr': did you mean 'user'?"),
    ({"machine": {"processrs": 4}}, "did you mean 'processors'?"),
    ({"load": 50}, "load=50 is 50 times the machine's capacity"),
    ({"jobs": 0}, "jobs=0: give a whole number, 1 or more"),
    ({"policy": {"name": "easy", "tyes": 1}}, "unknown key of policy easy 'tyes': did you mean 'ties'"),
    (
        {"policy": njit(lambda a, b: a)},
        "may replace a policy as one of these: priority has 4, priority has 5, scheme has 7",
    ),
    ({"workload": __file__}, "the kind of this file is not known; give {'name': 'swf', 'path': "),
    ({"workload": ARRAYS | {"runtime": [1.0, -1.0]}}, "runtime"),
    ({"workload": ARRAYS | {"processors": [9, 9]}}, "9 processors"),
    ({"workload": "feitelson1996", "load": 0.5, "machine": 128}, "'repetition': 'sequence'}, policy={'name'"),
]


@pytest.mark.parametrize(("given", "says"), NOTEBOOK, ids=[says[:30] for _, says in NOTEBOOK])
def test_mistakes_in_a_notebook(given, says):
    with pytest.raises(face.Error) as error:
        face.simulate(**{"policy": "easy", "machine": 4, "jobs": 3} | given)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"experiment": "pakcing"}, "unknown experiment 'pakcing': did you mean 'packing'?"),
        ({"experiment": 3}, "experiment=3: give a name"),
        ({"batchs": 3}, "unknown key 'batchs'"),
        ({"grid": {"polisy": ["buddy"]}}, "unknown axis 'polisy'"),
        (
            {"experiment": "families", "grid": {"policy": ["easy"], "level": [None, 2]}},
            "no key slots_limit, which the axis level",
        ),
        ({"policy": {"scheme": len}}, "a function of this notebook is not known to other processes"),
        ({"grid": {"load": [object()]}}, "object is not understood; give numbers, strings and lists"),
        ({"grid": {"policy": [pd.DataFrame({"a": [1]})]}}, "policy: DataFrame is not understood; give"),
        (
            {"schedule": "x.xlsx"},
            "schedule=x.xlsx: a schedule cannot be written as .xlsx; end the name in .swf, .swf.gz",
        ),
        (
            {"reference": {}},
            "a study has no key 'reference'; did you mean python -m analysis RESULTS reference=",
        ),
        (
            {"reference": {"policy": "easy"}},
            "did you mean python -m analysis RESULTS reference=NAME, or report",
        ),
        ({"exclude": [DEEP]}, "lists or mappings within each other, more than 20 deep"),
    ],
)
def test_mistakes_in_a_study_of_a_notebook(settings, says):
    with pytest.raises(face.Error, match=says):
        face.Study(**{"experiment": "packing"} | settings)


def test_more_cells_than_can_be_held(sweep, monkeypatch):
    monkeypatch.setattr(grid, "MOST_CELLS", 10)
    answer = sweep("action=plan")
    assert "a grid of 16 cells (policy 2 x load 2 x preemption 2 x urgent 2): at most 10" in answer.err


def test_all_that_points_lack_is_in_one_message_with_the_command_that_runs(capsys):
    study = [
        "+experiment=compare",
        "grid.policy=[easy,buddy]",
        "grid.workload=[feitelson1996]",
        "action=plan",
    ]
    assert cli.main([*study, "output=a b"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "workload.repetition=sequence" in error
    assert "policy.unrequested=runtime" in error
    whole = shlex.split(error.partition("the whole command: ")[2])
    assert whole[:4] == ["python", "-m", "sweep", "+experiment=compare"]
    assert cli.main(whole[3:]) == 0
    assert "a b/compare.nc" in capsys.readouterr().out
    with pytest.raises(face.Error) as refused:
        face.simulate("easy", workload="feitelson1996", jobs=20)
    arguments = str(refused.value).partition("; all together: ")[2]
    assert face.simulate(**eval(f"dict({arguments})"), jobs=20).sizes["job"] >= 20


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_bar_remains_at_every_width_and_is_not_red(width: int) -> None:
    output = io.StringIO()
    console = Console(
        file=output, width=width, force_terminal=True, color_system="standard", legacy_windows=False
    )
    with Meter(console, 480, 120, lambda: "1 min 1 s to 1 min 45 s left") as meter:
        meter.add(120, 1000)
    last = [line for line in output.getvalue().splitlines() if "tasks" in line][-1]
    assert last.count("━") >= 4
    assert "\x1b[36m━" in last, "cyan"
    assert "240/480 tasks" in last
    assert len(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", last).rpartition("\r")[2].rstrip()) <= width
