"""What cannot be drawn is refused with one line, and status 2."""

from pathlib import Path

import pytest

from analysis.command import main

EASY = "policy=easy workload=synthetic load=0.9 jobs=150"
MATRIX = "policy=first_fit workload=feitelson1996 jobs=1000"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"gantt {EASY} policy=other", "unknown policy 'other': valid: "),
        (f"gantt {EASY} load=null", "has no load of its own"),
        (f"gantt {EASY} from=2d to=1d jobs=1000", "to=1d: the drawing begins at 48 hours"),
        (f"gantt {EASY} workload=swf", "workload swf needs path: add workload.path=VALUE"),
        (f"gantt {EASY} policy=gang/buddy machine=o2k", "add machine=960, or another machine"),
        (f"gantt {EASY} policy.tyes=event", "unknown key of policy easy 'tyes': did you mean 'ties'"),
        (f"gantt {EASY} policy.ties={{", "policy.ties={: give a number, a word, or a list"),
        (f"gantt {EASY} jobs=0", "jobs=0: give a positive whole number"),
        (f"gantt {EASY} conf=/nosuch", "/nosuch: no such folder; give one with experiment/, policy/"),
        (f"matrix {MATRIX} load=much", "load=much: give a positive number"),
        (f"matrix {MATRIX} time=-1", "time=-1: give a positive number"),
        (f"matrix {MATRIX} time=1e12", "time=1e+12: this run ends at "),
        (f"matrix {MATRIX} policy=bogus", "unknown policy 'bogus': valid: "),
        (f"matrix {MATRIX} policy=concurrent_gang/gang", "policy=concurrent_gang/gang has no Ousterhout "),
        (f"matrix {MATRIX} alternation=both", "alternation=both; allowed: exclusive, none, shared"),
        ("trace_diagram policy=uncoordinated", "an uncoordinated scheduler has no slots"),
        ("trace_diagram policy=backfill/easy", "has no tasks to draw"),
        ("trace_diagram slices=500", "give up to 60"),
        ("trace_diagram time=-1", "time=-1: give a positive number"),
        ("trace_diagram slice=0.0001", "policy.slice=0.0001; allowed: a positive number of seconds"),
        ("trace_diagram load=0.001 time=1", "no job is in the system"),
        ("trace_diagram workload=swf", "workload swf needs path: add workload.path=VALUE"),
        ("trace_diagram workload=feitelson1996", "add workload.repetition=sequence"),
        ("grades workload=io_intensive time=500", "no task reached a second phase"),
        ("grades policy=uncoordinated", "this scheduler has no grades of membership"),
        ("pe_time machine=o2k", "add machine=960, or another machine"),
        ("equi processors=16", "processors=16: give rows and columns, e.g. 16x32"),
        ("equi processors=16x17", "powers of two on both sides"),
        ("equi jobs=257", "257 jobs on 16 × 16 processors"),
        (
            "equi_plus_mapping partition=9x9",
            "partition=9x9: 13 jobs have no such partition; valid: 4x5, 16x1",
        ),
        ("kernel_mapping partition=abc", "partition=abc: give rows and columns, e.g. 16x32"),
        ("thread_order rows=3", "rows=3; allowed: 2 or more rows of processors that divide 16"),
        ("local_changes processors=4x4", "processors=4x4: give 32 or more"),
        ("schedule policy=buddy", "unknown policy 'medium_term/buddy': "),
        ("schedule requirements=2,x", "requirements=2,x: give positive whole numbers"),
        ("mesh_schedule processors=2x8 policy=equi_epoch requirements=17", "allowed: 1 to 16 processors"),
        ("gantt jobs=20 from=2h to=1h", "to=1h: the drawing begins at 2 hours"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    arguments: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", *arguments.split(), f"output={tmp_path}"]) == 2
    (line,) = (one for one in capsys.readouterr().err.splitlines() if not one.startswith("compiling"))
    assert message in line
