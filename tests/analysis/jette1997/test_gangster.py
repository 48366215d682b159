"""The gangster display: what Fig. 2 says, times, letters, a day in a terminal, one line for what is wrong."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fabricated_jette1997 import dataset
from matplotlib.patches import Rectangle
from rich.console import Console, Group
from rich.text import Text

from analysis.drawings import remaking
from analysis.errors import AnalysisError
from analysis.figures import style
from analysis.jette1997.gangster import remaking as runs
from analysis.jette1997.gangster import torus
from analysis.jette1997.gangster.display import Lettering, base, known, planes, screen, table
from analysis.jette1997.gangster.player import DAY, Player, play
from analysis.jette1997.gangster.remaking import WEEK, Remade, point_of, repeated
from analysis.jette1997.labels import AXES, FIFTEEN_MONTHS, GANG
from analysis.study import Study
from models.point import Point
from models.production_gang.t3d import moment as moments
from sweep.config.files import merged

CONF = Path(__file__).parents[3] / "conf"
HOUR = 3600.0
INTERACTIVE, DEBUG, PRODUCTION = 1, 2, 3


def moment(time: float = 1000.0, **changed: Any) -> Any:
    """Return a machine of 4 x 2 x 2 nodes with a job of each state, numbers 10 to 16."""
    owner = np.full((4, 2, 2), -1)
    owner[0:2, :, :] = 0  # job 10 runs on half of it
    owner[2, 0, 0] = 1  # job 11 awaits
    owner[3, :, 1] = 3  # job 13 is loaded
    leaving = np.full((4, 2, 2), -1)
    leaving[2, 0, 0] = 2  # job 12 is written to disk where job 11 will run
    found = SimpleNamespace(
        time=time, clock=DAY + 13 * HOUR + 25 * 60, sides=(4, 2, 2), owner=owner, leaving=leaving,
        job=np.arange(10, 17), state=np.array(list("RWoiONQ")), wire=np.array([0, 1, 2, 3, 0, -1, -1]),
        processors=np.array([16, 2, 2, 4, 64, 8, 4]),
        job_class=np.array([PRODUCTION, INTERACTIVE, PRODUCTION, DEBUG, PRODUCTION, PRODUCTION, PRODUCTION]),
        user=np.array([7, -1, 3, 4, 5, 6, 8]), ran=np.array([87763.0, 0.0, 60.0, 324.0, 5.0, 0.0, 0.0]),
    )  # fmt: skip
    return SimpleNamespace(**{**vars(found), **changed})


def remade(clock: float = 0.0, until: float = 2.5 * WEEK, origin: Any = None) -> Remade:
    jobs = SimpleNamespace(submit=np.array([100.0, 200.0]))
    made = SimpleNamespace(
        clock=clock, jobs=jobs, end=np.array([300.0, 3 * WEEK]), machine=SimpleNamespace(total=32),
        trace=SimpleNamespace(until=until, origin=origin),
    )  # fmt: skip
    return Remade(made, "llnl_gang, t3d, replication 0", SimpleNamespace())  # type: ignore[arg-type]


def test_the_nodes_are_planes_of_letters_with_a_period_for_an_unused_one() -> None:
    letters = {10: "a", 11: "b", 13: "d"}
    assert planes(moment(), letters) == [
        "a a", "a a", "b .", ". .",  # z = 0: rows are x, columns y
        "",
        "a a", "a a", ". .", "d d",
    ]  # fmt: skip
    assert planes(moment(), letters, 2) == ["a a   a a", "a a   a a", "b .   . .", ". .   d d"]


def test_a_row_is_that_of_the_figure() -> None:
    rows = table(moment(), dict(zip(range(10, 16), "abcdef", strict=True)))
    assert [row.class_name for row in rows] == ["Int", "Dbug", "Prod", "Prod", "Prod", "Prod"]
    lines = {row.letter: row.line.split() for row in rows}
    assert lines["a"] == ["Prod", "a", "-", "user7", "11", "16", "000", "0", "R", "1462:43"]
    assert lines["b"] == ["Int", "b", "-", "-", "12", "2", "200", "1", "W"]
    assert lines["d"] == ["Dbug", "d", "-", "user4", "14", "4", "301", "3", "i", "5:24"]


def test_a_partition_round_the_torus_begins_where_no_node_of_it_comes_before() -> None:
    owner = np.full((4, 2, 2), -1)
    owner[[3, 0], 0, 0] = 0
    assert base(moment(owner=owner), 0) == "300"
    whole = np.zeros((4, 2, 2), int)
    assert base(moment(owner=whole), 0) == "000"


def test_letters_stay_with_their_jobs_and_are_given_in_turn() -> None:
    letters = Lettering()
    assert letters.of([5, 9]) == {5: "a", 9: "b"}
    assert letters.of([9, 12]) == {9: "b", 12: "c"}  # a is free, but the next one is c
    assert letters.of([12, 9]) == {9: "b", 12: "c"}


@pytest.mark.parametrize("text", ["Tue", "Xyz 1:00", "Tue 24:00", "3 weeks"])
def test_what_is_no_time_is_said_in_one_line(text: str) -> None:
    with pytest.raises(AnalysisError, match=r"^--at .*Tue 13:25"):
        runs.parsed(text)


def test_a_time_of_the_week_is_in_the_last_week_of_what_is_measured_or_in_that_which_is_named() -> None:
    # Measured until the middle of the third week, Thursday noon.
    assert runs.time_of("Tue 13:25", "", remade()) == 2 * WEEK + 134_700
    assert runs.time_of("Fri 0:00", "", remade()) == WEEK + 4 * DAY
    assert runs.time_of("Fri 0:00", "1", remade()) == 4 * DAY
    assert runs.time_of("36h", "", remade()) == 36 * HOUR


def test_a_run_that_begins_within_a_week_knows_its_clock() -> None:
    """At time 0 it is Wednesday, 0:00: Friday of the first week is two days later."""
    made = remade(clock=2 * DAY)
    assert runs.time_of("Fri 0:00", "1", made) == 2 * DAY
    with pytest.raises(AnalysisError, match=r"Tue 13:25' of week 1 is outside .* from Wed 0:01 of week 1"):
        runs.time_of("Tue 13:25", "1", made)


def study(name: str = "llnl_t3d", **made: Any) -> Study:
    return Study(dataset(name, replications=5, **made), Path("results") / name, axes=AXES).under(AXES)


def test_a_run_is_that_of_the_gang_scheduler_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remaking, "point_of", lambda study, place, number: (place, number))
    place, number = point_of(study(), {"replication": "3"})
    assert place == {"policy": GANG, "workload": FIFTEEN_MONTHS, "load": "null", "machine": "t3d"}
    assert number == 3


@pytest.mark.parametrize(
    ("name", "settings", "line"),
    [
        ("llnl_compare", {"policy": "easy"}, "policy=easy does not run on nodes"),
        ("llnl_t3d", {"policy": "gang"}, "policy=gang: unknown value"),
        ("llnl_t3d", {"replication": "5"}, "replication=5: give a whole number from 0 to 4"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(name: str, settings: dict[str, str], line: str) -> None:
    with pytest.raises(AnalysisError, match=line):
        point_of(study(name), settings)


def player(**changed: Any) -> Player:
    changes = np.array([50.0, 100.0, 160.0, 5000.0])
    made = remade()
    return Player(
        made, **{"time": 100.0, "until": 100.0 + DAY, "speed": 600.0, "changes": changes, **changed}
    )


def test_keys_go_to_the_next_and_the_last_change_and_pause() -> None:
    one = player()
    one.press("n")
    assert (one.time, one.paused) == (160.0, True)
    one.press("n")
    one.press("n")  # there is none after it
    assert one.time == 5000.0
    one.press("b")
    one.press("b")
    assert one.time == 100.0
    one.press(" ")
    one.press("-")
    one.advance(2.0)
    assert (one.time, one.speed) == (700.0, 300.0)
    one.advance(1e6)
    assert (one.time, one.over) == (100.0 + DAY, True)


def test_keys_give_the_commands_of_operators_and_the_run_is_repeated(tmp_path: Path) -> None:
    """One of two jobs of 64 processors for 10 h is suspended and resumed, the other changes its class."""
    log = tmp_path / "two.swf"
    log.write_text("".join(f"{job} 0 -1 36000 64 -1 -1 64 36000{' -1' * 9}\n" for job in (1, 2)))
    files = {"policy": "production_gang/llnl_gang", "workload": "logs/swf", "machine": "t3d"}
    policy, workload, machine = (
        merged(group, name, [CONF]) | {"name": name} for group, name in files.items()
    )
    made = repeated(Point(policy, workload | {"path": str(log)}, machine, None, seed=(1, 2, 3)))
    one = Player.of(made, 1000.0, 600.0)

    def states() -> str:
        one.frame(40)
        return "".join(moments.at(one.made.run, one.time).state)

    assert states() == "RR"
    for keys, seconds, expected in (("sa", 0, "oR"), ("", 1000, "SR"), ("ra", 0, "iR"), ("cbb", 999, "RR")):
        for key in keys:
            one.press(key)
        one._to(one.time + seconds)
        assert states() == expected
    assert one.commands == ["1001s suspend 1", "2002s resume 1", "2003s class 2 benchmark"]
    for key in "k?sbkb":
        one.press(key)
    assert one.message == "kill 2: done after 0 s"
    assert states() == "R"
    assert one.resumed(one.commands) == [f"{int(one.until) + 1}s resume {job}" for job in (1, 2)]


def test_a_day_is_played_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Player, "frame", lambda self, height: Group(Text(f"frame {self.time:g}")))
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100, height=40)
    keys = iter("nnq")
    play(player(), console, lambda seconds: next(keys))
    assert [text for text in ("frame 100", "frame 160", "frame 5000") if text in shown.getvalue()] == [
        "frame 100", "frame 160", "frame 5000",
    ]  # fmt: skip


def test_the_picture_has_every_node_and_a_row_for_each_job() -> None:
    now = moment()
    letters = Lettering().of(known(now))
    with style.styled():
        figure = torus.picture(now, letters, screen(remade(), now, letters))
        figure.draw_without_rendering()
    first, second = figure.subfigs[0].axes
    nodes = [patch for patch in first.patches if isinstance(patch, Rectangle) and not patch.get_hatch()]
    assert len(nodes) == 8
    hatched = [patch for patch in first.patches if patch.get_hatch()]
    assert [(patch.get_x(), patch.get_y()) for patch in hatched] == [(2, 0)]
    assert sorted(text.get_text() for text in first.texts) == ["a", "a", "a", "a", "b"]
    assert sorted(text.get_text() for text in second.texts) == ["a", "a", "a", "a", "d", "d"]
