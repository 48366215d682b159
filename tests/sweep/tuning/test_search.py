"""The best settings: found where they are known, none where all are equal, whatever stops a search."""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import queues

from analysis.errors import AnalysisError
from analysis.operators import acceptance
from analysis.operators.labels import WAIT
from analysis.registry import opened
from analysis.tuning.found import Found
from sweep import cli
from sweep.errors import SweepError
from sweep.executors import Assignment, dask, serial
from sweep.executors.work import work
from sweep.plan.task import Bundle
from sweep.tuning import proposing, search
from sweep.tuning.ranges import Range, applied, ranges

KEYS = "wait: [0.001,1000,log], expansion: null, processors: null, shortness: [0.001,1000,log]"
TUNE = (
    "+experiment=tune", "workload=swf", "workload.path=q.swf", "measures.groups=[]", "search.at_once=4",
    f"tune={{priority: null, reservations: null, weights: {{{KEYS}}}}}", "accept.longest_wait=null",
)  # fmt: skip


def tried(folder: str = "results/tune") -> list[dict[str, Any]]:
    """Return what was tried, without its times."""
    (record,) = Path(folder).glob("search/*/search.json")
    kept = json.loads(record.read_text(encoding="utf-8"))
    return [{key: value for key, value in one.items() if key != "seconds"} for one in kept]


def logged() -> int:
    """Return the bytes of all results."""
    return sum(path.stat().st_size for path in Path("results").rglob("shards/*.jsonl"))


def test_the_cmu_rule_is_found_and_confirmed(sweep) -> None:
    # The class with the shortest mean service first is best (Cox and Smith, 1961).
    queues.log(Path("q.swf"), 1)
    own = (*TUNE, "name=ours", "output=results/tune")  # the name of the user's own experiment
    planned = sweep(*own, "search.settings=12", "action=plan").out
    assert "tasks     5 (5 points x 1 replication)" in planned, "the settings of a round, and the site's"
    answer = sweep(*own, "search.settings=12")
    assert answer.status == 0, answer.err
    study, paper = opened(Path("results/tune"))
    found = Found(study)
    change = found.confirmed.difference(WAIT, found.finalists[0])
    gain = queues.waits(0.8, ordered=True) / queues.waits(0.8, ordered=False) - 1
    assert change.verdict == "better"
    assert change.low / change.reference < gain < change.high / change.reference
    without = {key: found.reduced.difference(WAIT, name).verdict for key, name in found.without.items()}
    assert without["weights.shortness"] == "worse"
    assert without["weights.wait"] in ("identical", "no difference shown")
    assert {one["stage"] for one in tried()} == {"screen", "full"}, "some are stopped early"
    described = study.facts["described"]["policy"]
    assert described[found.finalists[0]].startswith("weights.wait="), "with all digits, to type again"
    assert described[found.without["weights.wait"]] == f"{found.finalists[0]} with weights.wait as in easy"
    assert "12 settings were tried on the first 29 of 60 days" in "\n".join(paper.brief(study))
    assert {table.name for table in paper.tables(study)} >= {"keys", "search", "trade-offs", "settings"}
    for picture in paper.pictures(study, None):
        if picture.name.startswith("search"):
            picture.draw()
    (log,), (part,) = study.facts["logs"], found.held_back.facts["logs"]
    assert part["zero"] - log["zero"] == 30 * queues.DAY
    broken = study.data.assign_attrs(config=study.data.attrs["config"].replace('"stage":', '"stag":'))
    with pytest.raises(AnalysisError, match="the record of the search is damaged"):
        Found(replace(study, data=broken))
    # The same command is done; without the record the same rounds are proposed, and nothing is run again.
    before, size = tried(), logged()
    (record,) = Path("results/tune").glob("search/*/search.json")
    assert search._is_record(json.loads(record.read_text(encoding="utf-8")))
    assert not any(map(search._is_record, ([{"name": "trial_1"}], 7)))
    record.write_text("[", encoding="utf-8")
    assert sweep(*own, "search.settings=12").status == 0
    assert (tried(), logged()) == (before, size)
    other = sweep(*own, "search.settings=12", "tune.weights.wait=[1,2]")
    assert other.refused("results/tune has the results of another search"), other.err
    assert cli.main(["rerun", "results/tune", "executor=serial", "output=again"]) == 0  # bit for bit


class Later:
    """A batch system that has run its tasks when the command is typed again."""

    working = False

    def __init__(self, modules: Iterable[str] = ()) -> None:
        pass

    def submit(self, assignment: Assignment) -> Iterable[str]:
        tasks = tuple(assignment.plan.task(number) for number in assignment.left)
        work(Bundle(tasks, assignment.folder.shards))
        return ["submitted"]

    outlook = status = cancel = submit


@pytest.mark.exhaustive
def test_a_search_is_the_same_whatever_stops_it(sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    queues.log(Path("q.swf"), 2)
    command = (*TUNE, "search.settings=6")
    assert sweep(*command, "output=whole").status == 0
    calls, usual = [], search.run.run

    def stopping(*arguments: Any, **named: Any) -> int:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return usual(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(search.run, "run", stopping)
        assert sweep(*command, "output=stopped").status == 130
    assert "search: 4 settings tried" in sweep(*command, "output=stopped", "action=status").out
    with pytest.raises(AnalysisError, match="stopped has a search that has not ended"):
        opened(Path("stopped"))
    assert sweep(*command, "output=stopped").status == 0
    with monkeypatch.context() as patched:
        patched.setattr(serial, "Executor", Later)
        answers = [sweep(*command, "output=later") for _ in range(6)]
    assert "search: the same command continues when this round has ended" in answers[0].out
    assert "up to date" in answers[-1].out
    assert tried("stopped") == tried("later") == tried("whole")


@pytest.mark.exhaustive
def test_workers_find_the_same(sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    queues.log(Path("q.swf"), 2)
    starts, usual = [], dask.Executor.__enter__
    monkeypatch.setattr(dask.Executor, "__enter__", lambda self: starts.append(1) or usual(self))
    for executor in ("serial", "dask"):
        assert sweep(*TUNE, "search.settings=8", f"executor={executor}", f"output={executor}").status == 0
    assert tried("serial") == tried("dask")
    assert len(starts) == 2, "once for all studies of the search, once for the last one"


@pytest.mark.exhaustive
def test_nothing_is_found_where_all_orders_are_equal(sweep) -> None:
    recommended = 0
    for seed in range(100, 120):
        queues.log(Path("q.swf"), seed, informed=False)
        limits = ("accept.group_wait=null", "accept.least_gain=null", f"output=r/{seed}")
        assert sweep(*TUNE, *limits, "search.settings=8").status == 0
        found = Found(opened(Path(f"r/{seed}"))[0])
        recommended += bool(found.finalists and acceptance.candidates(found.confirmed))
    assert recommended <= 3  # of 20 at 5 %: more with a probability of 1.6 %


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("tune.family={of: [gang, slurm]}",), "tune.family: a search covers one family; omit it"),
        (("tune.wieghts=[1,2]",), "unknown key of tune 'wieghts'"),
        (("tune.weights=null",), "tune has no key: give the keys that a search may set"),
        (("tune.reservations={of: [1], range: [1, 4]}",), "tune.reservations has both range and of"),
        (("tune.weights.wait=[1,1e300]",), "outermost values of tune: policy.weights.wait=1e+300; allowed:"),
        (("workload.path=empty.swf",), "empty.swf: no jobs at all (only 1 comment line); give a log"),
        (("tune.reservations=[4,1]",), "tune.reservations=[4,1]: give LOW < HIGH"),
        (("tune.reservations=3",), "tune.reservations=3: give [LOW, HIGH], [LOW, HIGH, log]"),
        (("tune.weights.wait={of: [1], if: {order: 2}}",), "if names order, which tune does not have"),
        (
            (
                "tune.weights.wait={of: [1], if: {reservations: 2}}",
                "tune.reservations={of: [2], if: {weights.wait: 1}}",
            ),
            "tune.weights.wait: if names reservations, which itself waits for another key",
        ),
        (("policy.weights.wait=2",), "policy.weights.wait=2 and tune.weights.wait: omit one of them"),
        (("grid.policy=[easy,saf]",), "tune begins with one policy, and grid.policy has 2"),
        (("budget=null",), "tune needs an end: give budget=10min, or search.settings=100"),
        (("search.held_back=0.9",), "search.held_back=0.9: give the share"),
        (("workload.resample=weeks",), "tune searches on one log as recorded"),
    ],
)
def test_refusals(sweep, given: tuple[str, ...], line: str) -> None:
    queues.log(Path("q.swf"), 1, days=30)
    Path("empty.swf").write_text("; MaxProcs: 1\n", encoding="utf-8")
    assert sweep(*TUNE, *given, "action=plan").refused(line)


def test_optuna_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(SweepError, match=r"tune needs Optuna, .*: pip install 'optuna>=5'"):
        proposing.check()


def test_a_file_gets_the_values_of_a_search() -> None:
    file = {"lines": ["A=1"], "moved": {}, "bf_interval": None, "mode": "a"}
    tune = {
        "bf_interval": {"range": [10, 600, "log"], "if": {"mode": "b"}}, "mode": {"of": ["a", "b"]},
        "jobs": {"range": [1, 9], "line": "QosName=normal MaxJobsPU={}"}, "moved.batch.long": [-4, 4],
    }  # fmt: skip
    found = ranges(tune, file, {})
    assert found[1] == Range("bf_interval", 10, 600, log=True, conditions={"mode": "b"})
    values = {"mode": "b", "bf_interval": 30, "jobs": 5, "moved.batch.long": -2}
    assert applied(file, values, found) == {
        "lines": ["A=1", "QosName=normal MaxJobsPU=5"], "moved": {"batch": {"long": -2}}, "bf_interval": 30,
        "mode": "b",
    }  # fmt: skip
    assert file["lines"] == ["A=1"]
    drawn = proposing.proposed(found, [], 20, seed=1)
    assert all(("bf_interval" in one) == (one["mode"] == "b") for one in drawn)
    assert all(-4 <= one["moved.batch.long"] <= 4 and isinstance(one["jobs"], int) for one in drawn)
    assert drawn == proposing.proposed(found, [], 20, seed=1) != proposing.proposed(found, [], 20, seed=2)
    again = {"more": {"range": [1, 9], "line": "qosname=normal MaxSubmitJobsPU={}"}}
    with pytest.raises(
        SweepError, match=r"tune.jobs and tune.more both give the line qosname=normal, and the last"
    ):
        ranges(tune | again, file, {})
    few = ranges({"mode": {"of": ["a", "b"]}}, file, {})
    assert len(proposing.proposed(few, [], 20, seed=1)) == 2, "no setting is tried twice"
