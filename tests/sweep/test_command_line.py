"""What a user types, and what is said about mistakes."""

import subprocess
import sys

import pytest

HEAVY = {"numba", "numpy", "xarray", "distributed", "dask", "matplotlib", "pandas", "hydra", "scipy"}


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from sweep.cli import main; status = main(['--help']);"
        f"print('imported', sorted({HEAVY} & set(sys.modules))); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported []"
    assert "usage: python -m sweep" in done.stdout


LIGHT = {"models", "sweep", "schedsweep", "numpy", "rich"}
"""Packages, besides the standard library's, that a plan may import."""

TO_COMPOSE = {"hydra", "omegaconf", "antlr4", "yaml", "attr", "packaging", "cython_runtime"}
"""What Hydra imports."""

TO_READ = {"netCDF4", "cftime", "certifi", "packaging", "cython_runtime"}
"""What a table of results needs besides: netCDF, which xarray would be several times as heavy as."""

WAITING = {"asyncio", "multiprocessing.forkserver"}
"""Of the standard library, what only workers need."""


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


def test_what_a_plan_and_a_study_that_is_done_import():
    """A clock would tell as much, but not on every machine; Hydra is waited for once a command."""
    study = ("+experiment=packing", "output=here", "grid.load=[0.5]", "batches=2", "batch_size=10")
    study = (
        *study,
        "replications=1",
        "grid.alternation=[exclusive]",
        "grid.unification=[true]",
        "exclude=[]",
    )
    assert imported(*study, "action=plan") <= LIGHT | TO_COMPOSE
    whole = imported(*study, "executor=serial")
    assert "xarray" in whole
    assert not whole & {"dask", "distributed"}, "xarray would load them to write a dataset without them"
    assert imported(*study, "executor=serial") <= LIGHT | TO_COMPOSE | TO_READ


def test_help_lists_what_the_config_folders_offer(sweep):
    answer = sweep("--help")
    assert answer.status == 0
    listed = [line.split(maxsplit=1) for line in answer.out.splitlines()]
    assert ["queue", "A queue with one server, at two loads."] in listed
    assert ["serial", "One process, this one: for debugging, and for profilers."] in listed


def test_version(sweep):
    assert sweep("--version").out.startswith("schedsweep ")


def test_no_experiment_lists_them(command):
    process = subprocess.run([sys.executable, "-m", "sweep"], capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr.startswith("error: no experiment named: add +experiment=NAME; there are:")
    assert process.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("batchs=3", "unknown key 'batchs': did you mean 'batches'? valid: action, "),
        ("+batchs=3", "did you mean 'batches'?"),
        ("precision.relativ=0.1", "did you mean 'relative'? valid: checkpoints, metric, relative"),
        ("batches=many", "batches=many: give 1 or more, or numbers by load"),
        ("batches={0.5:3}", "batches={0.5:3}: a number for each load from which it holds, the first from 0"),
        ("batches={0:3,many:4}", "a number for each load from which it holds"),
        ("warmup={0:1,0.5:-1}", "warmup={0:1,0.5:-1}: give 0 or more batches, or mser"),
        ("batches=0", "batches=0: give 1 or more"),
        ("batch_size=0", "batch_size=0: give 1 or more"),
        ("replications=-1", "replications=-1: give a whole number from 1 up"),
        ("seed=-1", "seed=-1: give a whole number from 0 up"),
        ("confidence=95", "give a level between 0 and 1"),
        ("warmup=-1", "warmup=-1: give 0 or more batches, or mser"),
        ("warmup=mser5", "is warmup=mser now"),
        ("precision.relative=0", "precision.relative=0: give a fraction, 0.05 for 5 %"),
        ("precision.relative=5", "precision.relative=5: give a fraction, 0.05 for 5 %"),
        (
            "grid.load=[0.5,50]",
            "grid.load has 50, which is 50 times the machine's capacity; loads are fractions: did you mean "
            "0.5?",
        ),
        ("precision.relative=5%", "error: precision.relative=5%: give a fraction, 0.05 for 5 %"),
        ("precision.checkpoints=[3]", "needs precision.relative"),
        (
            "precision.checkpoints=[few]",
            "error: precision.checkpoints=[few]: give ascending numbers of batches",
        ),
        ("precision=0.05", "error: precision=0.05: its keys are relative, metric and checkpoints"),
        ("replications=2.5", "error: replications=2.5: give a whole number from 1 up"),
        ("seed=abc", "error: seed=abc: give a whole number from 0 up"),
        ("seed=null", "error: seed=null: give a whole number from 0 up"),
        ("confidence=95%", "error: confidence=95%: give a level between 0 and 1"),
        ("fresh=maybe", "error: fresh=maybe: give true or false"),
        ("zip=[load]", "error: zip=[load]: give lists of axes that go together"),
        ("exclude=[3]", "error: exclude=[3]: give a list of what is left out"),
        ("policy=fake/qiuck", "unknown policy 'fake/qiuck': did you mean 'fake/quick'?"),
        ("policy=fake/_base", "unknown policy 'fake/_base'"),
        ("policy=[quick,fake/quick]", "grid.policy has quick twice"),
        ("measures.bond=60", "unknown key below measures 'bond': did you mean 'bound'? valid: bound, groups"),
        ("measures.bound=0", "measures.bound=0: give a positive number of seconds"),
        ("measures.groups=[size,sizes]", "unknown groups of jobs 'sizes': did you mean 'size'?"),
        ("action=rnu", "unknown action 'rnu': did you mean 'run'?"),
        ("name=a/b", "becomes a file name"),
        ("policy=qiuck", "unknown policy 'qiuck': did you mean 'quick'? valid: "),
        ("policy=_base", "unknown policy '_base'"),
        ("grid.machine=[two]", "unknown machine 'two'"),
        ("experiment=cue", "unknown experiment 'cue'"),
        ("executor=dusk", "unknown executor 'dusk': did you mean 'dask'?"),
        ("executor.worker=2", "unknown key of executor serial 'worker'"),
        ("policy.preemtion=none", "did you mean 'preemption'? valid: dies_at, dies_once, family,"),
        ("grid.speed=[1,2]", "declare a new one with +axes.speed=policy.KEY"),
        ("+grid.speed=[1,2]", "grid.speed: unknown axis 'speed'"),
        ("+axes.speed=machine.speed", "grid.speed is missing"),
        ("axes.speed=speed", "give GROUP.KEY with a group of policy, workload, machine"),
        ("axes.load=machine.speed", "axes.load: the name is taken"),
        ("grid.load=[0.5,0]", "grid.load has 0: a load is a positive fraction"),
        ("grid.load=[-1]", "grid.load has -1"),
        ("grid.load=[nan]", "grid.load has nan"),
        ("grid.load=[high]", "grid.load has high"),
        ("grid.load=[]", "grid.load=[]: an axis needs at least one value"),
        ("grid.policy=[]", "grid.policy names nothing"),
        ("grid.load=[0.5,0.50]", "grid.load has 0.5 twice"),
        ("grid.load=0.5,0.6", "write several values as a list, grid.load=[0.5,0.6]"),
        ("zip=[[load,machine]]", "zip: load 2, machine 1 values"),
        ("zip=[[load,speed]]", "unknown axis 'speed'"),
        ("exclude=[{loud: 1}]", "did you mean 'load'?"),
        ("exclude=[{policy: [quick, slow]}]", "leave no point"),
        ("workload=log", "workload log needs path: set workload.path=VALUE"),
        ("workload.path=a=b", "a value with special characters needs quotes of its own"),
        ("machine.speed=-1", "machine.speed=-1: give a positive speed"),
        ("policy.family=nowhere", "family=nowhere: No module named 'nowhere'"),
        ("policy.family=sweep", "the package has no FAMILY"),
        ("precision={relative: 0.1, metric: speed}", "precision.metric: unknown metric 'speed'"),
        ("output=${oc.env:NOT_SET}", "Environment variable 'NOT_SET' not found"),
        ("output=/dev/null/here", "Not a directory; give a folder that can be written"),
        ("--dry-run", "unknown option --dry-run: there are --config-dir"),
        ("--config-dir=nowhere", "--config-dir nowhere: no such folder"),
        ("~zip", "is not key=value"),
        ("hello", "'hello' is not key=value"),
        ("queue", "'queue' is not key=value: write +experiment=queue"),
        ("axes={pace: machine.speed}", "grid.pace is missing"),
        ("+axes={pace: machine.speed}", "grid.pace is missing"),
        ("grid={pace: [1, 2]}", "grid.pace: unknown axis 'pace'"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(sweep, tmp_path, override, says):
    answer = sweep(*([override] if isinstance(override, str) else override))
    assert answer.status == 2, answer
    assert says in answer.err
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_a_log_that_is_missing(sweep):
    answer = sweep("workload=log", "workload.path=no/such.swf")
    assert answer.status == 2
    assert "no/such.swf: No such file or directory" in answer.err


def test_a_log_that_is_missing_here_and_is_where_logs_are(sweep, tmp_path, monkeypatch):
    folder = tmp_path / "all my logs"
    folder.mkdir()
    (folder / "such.swf").write_text("")
    monkeypatch.setenv("TRACES", str(folder))
    answer = sweep("workload=log", "workload.path=such.swf")
    assert answer.status == 2
    assert f"the folder that TRACES names has one: workload.path={folder / 'such.swf'}" in answer.err
    assert "TRACES" not in sweep("workload=log", "workload.path=another.swf").err


def test_an_axis_that_is_declared_in_a_mapping(sweep):
    answer = sweep("axes={pace: machine.speed}", "grid.pace=[1,2]", "action=plan")
    assert answer.status == 0, answer
    assert "pace              2  1, 2" in answer.out


def test_mistakes_in_experiment_files(sweep, tmp_path):
    own = tmp_path / "own"
    (own / "experiment").mkdir(parents=True)
    experiment = own / "experiment" / "mine.yaml"
    for text, says in [
        ("# @package _global_\nname: mine\nbatchs: 3\n", "conf/experiment/mine.yaml: unknown key 'batchs'"),
        ("name: mine\n", "is its line '# @package _global_' missing?"),
        ("# @package _global_\nbatches: 3\n", "the experiment has no name"),
        ("# @package _global_\nname: mine\nbatches: [\n", "mine.yaml, line 4: expected the node content"),
    ]:
        experiment.write_text(text)
        answer = sweep(f"--config-dir={own}", "+experiment=mine")
        assert answer.status == 2
        assert says in answer.err
        assert answer.err.count("\n") == 1


def test_cancel_says_that_there_is_nothing(sweep):
    answer = sweep("action=cancel")
    assert answer.status == 0
    assert "nothing to cancel" in answer.out
