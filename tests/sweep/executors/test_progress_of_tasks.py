"""A long task shows how far it is, and the outlook extrapolates from that."""

from pathlib import Path

import numpy as np
import pytest

from models.kernels import progress
from sweep.config import compose, locate
from sweep.config.overrides import parsed
from sweep.executors import work
from sweep.executors.bundles import Bundles
from sweep.executors.outlook import Outlook, Pace
from sweep.plan.expansion import expand

LOG = Path(__file__).parents[2] / "data" / "backfill" / "syn1k.swf.gz"
KIND = np.dtype([("now", float), ("arrived", np.int64)])


def test_a_record_shows_its_share_until_the_simulation_is_over(tmp_path):
    file = tmp_path / "task"
    progress.expect(200)
    with progress.shown_in(file):
        earlier, record = progress.record(KIND), progress.record(KIND)
        record["arrived"] = 50
        assert progress.share_done(file) == 0.25
        assert earlier["arrived"] == 0, "a simulation before it keeps its scalars"
    assert not file.exists()
    assert progress.share_done(file) == 0
    with progress.shown_in(tmp_path / "no folder" / "task"):
        assert progress.record(KIND) == np.zeros(1, KIND)


@pytest.mark.parametrize(
    "given",
    [
        ["+experiment=what_if", "grid.policy=[easy,easy_sjbf,fcfs,conservative,easy_immediate]"],
        ["+experiment=slurm_what_if", "policy.lines=['NodeName=n[1-128]','PartitionName=p Nodes=ALL']"],
    ],
)
def test_every_policy_of_whole_logs_shows_its_progress(tmp_path, given):
    given = [*given, "workload=swf", f"workload.path={LOG}"]
    plan = expand(compose.load(parsed(given), locate.conf_folder()))
    for number in range(len(plan.ids)):
        with progress.shown_in(file := tmp_path / "task"):
            work.simulate(plan.task(number))
            assert progress.share_done(file) == 1, plan.task(number).point.policy["name"]


def test_the_outlook_extrapolates_a_task_that_shows_its_progress(expand, tmp_path, monkeypatch, costs):
    now = [100.0]
    monkeypatch.setattr("sweep.executors.bundles.time.monotonic", lambda: now[0])
    Path("log").write_text("x", encoding="utf-8")
    plan = expand("workload=log", "workload.path=log", "batch_size=null", "replications=1", "policy=quick")
    bundles = Bundles(plan, [0], costs, tmp_path, 0.05, running=tmp_path)
    task = next(bundles).tasks[0]
    now[0] += 30
    assert bundles.outlook(1).unknown == 1
    progress.expect(10)
    with progress.shown_in(tmp_path / task.id):
        progress.record(KIND)["arrived"] = 6
        outlook = bundles.outlook(1)
    assert (outlook.unknown, outlook.seconds) == (0, pytest.approx(20)), "six tenths took 30 s"


def test_the_last_long_task_has_the_time_that_it_shows(expand, tmp_path, monkeypatch, costs):
    """Two of three took a second each; for the third one's ten minutes no more work comes back."""
    now = [0.0]
    for module in ("bundles", "outlook"):
        monkeypatch.setattr(f"sweep.executors.{module}.time.monotonic", lambda: now[0])
    Path("log").write_text("x", encoding="utf-8")
    plan = expand("workload=log", "workload.path=log", "batch_size=null", "replications=1")
    bundles = Bundles(plan, [0, 1, 2], costs, tmp_path, 0.05, workers=lambda: 2, running=tmp_path)
    given = [next(bundles).tasks[0].id for _ in range(3)]
    now[0] += 1
    for one in given[:2]:
        bundles.learn(plan.ids.index(one), 1.0)
    progress.expect(1000)
    with progress.shown_in(tmp_path / given[2]):
        record = progress.record(KIND)
        for elapsed in (60, 300, 590):
            now[0] = elapsed
            record["arrived"] = elapsed * 1000 // 600
            assert bundles.outlook(2).seconds == pytest.approx(600 - elapsed, abs=1)
    assert bundles.last(600) == []
    assert bundles.last(500) == [plan.ids.index(given[2])]


@pytest.mark.parametrize(
    "share",
    [
        pytest.param(lambda t: t / 600, id="steady"),
        pytest.param(lambda t: (t / 600) ** 0.5, id="the cost of a job rises with the queue"),
        pytest.param(lambda t: 1 - (1 - t / 600) ** 0.5, id="the cost falls as the queue empties"),
        pytest.param(lambda t: min(t / 200, 0.5) + max(0, t - 100) / 1000, id="slower from 100 s on"),
    ],
)
def test_the_time_left_of_a_task_follows_its_pace(share):
    """From a third of its ten minutes on the range that is shown contains the time left."""
    pace, shown = Pace(), set()
    for elapsed in range(1, 600):
        ends = pace.rest(elapsed, share(elapsed))
        outlook = Outlook.of(ends, 0.0, ends, 1, 0, 0)
        shown.add(round(outlook.seconds))
        if 200 <= elapsed < 560:
            left = 600 - elapsed
            assert outlook.low - 2 <= left <= outlook.high + 2, elapsed
            assert outlook.high <= 4 * left
    assert len(shown) > 300, "it does not stand still"
