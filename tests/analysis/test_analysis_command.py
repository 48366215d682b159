"""``python -m analysis``: its files, its output, its messages."""

import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from fabricated import dataset, truth, write

from analysis.command import main


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder, mid-run, after the analysis."""
    data = dataset(
        loads=(0.3, 0.7, 0.9),
        schemes=("best_fit", "buddy"),
        alternations=("exclusive", "shared"),
        unfinished=lambda scheme, load: (scheme, load) == ("buddy", 0.3),
        mean=lambda metric, scheme, *point: (
            truth(metric, scheme, *point) * (2 if (metric, scheme) == ("slowdown", "buddy") else 1)
        ),
    )
    results = write(tmp_path_factory.mktemp("results"), data)
    with (results / "output.txt").open("w") as output, redirect_stdout(output):
        assert main([str(results), f"logs={results}"]) == 0
    return results


def test_writes_figures_claims_and_report(analysed: Path) -> None:
    figures = {file.name for file in (analysed / "figures").iterdir()}
    assert {f"fig8.{ending}" for ending in ("pdf", "svg", "png")} <= figures
    claims = json.loads((analysed / "claims.json").read_text())
    assert len(claims) >= 28
    for claim in claims:
        assert claim.keys() == {
            "id", "source", "statement", "verdict", "evidence", "reading", "error", "figures", "is_fact",
            "calibrated",
        }  # fmt: skip
        assert claim["verdict"] in ("holds", "fails", "inconclusive")
        assert (claim["error"] is None) == (claim["verdict"] == "inconclusive")
    assert len({(claim["id"], claim["reading"]) for claim in claims}) == len(claims)
    assert {claim["reading"] for claim in claims} == {
        f"alternation={value}, unification=true" for value in ("exclusive", "shared")
    }
    assert not list(analysed.glob(".*"))


def test_the_report_needs_no_other_file(analysed: Path) -> None:
    report = (analysed / "report.html").read_text()
    sources = re.findall(r'(?:src|href)="([^"]{1,90})', report)
    assert sources
    assert all(source.startswith(("data:image/svg+xml;base64,", "#")) for source in sources)
    assert "http" not in re.sub(r'src="data:[^"]*"', "", report)
    assert "url(" not in report
    targets = set(re.findall(r'id="([^"]+)"', report))
    assert {source[1:] for source in sources if source.startswith("#")} <= targets


GANG, SPACE = {"models.gang": 2}, {"models.backfill": 3}


@pytest.mark.parametrize(
    ("families", "arguments", "message"),
    [
        (None, ["nowhere"], "nowhere does not exist: give the folder of a study's results"),
        (
            None,
            ["{}", "log=x"],
            "unknown argument 'log=x'; did you mean logs=x? valid: logs=, output=, paper=",
        ),
        (None, ["{}", "load=0.4"], "load=0.4: unknown value '0.4'"),
        (None, ["{}", "along=load"], "does not support along=; add paper=compare"),
        (None, ["{}", "paper=compare", "reference=budy"], "unknown name 'budy': did you mean 'buddy'"),
        (
            None,
            ["{}", "paper=compare", "along=policy"],
            "along=policy: not an axis with several numeric values",
        ),
        (None, ["{}", "paper=compare", "metrics=waits"], "metrics=waits: unknown metric 'waits'"),
        (None, ["{}", "paper=unknown1999"], "paper=unknown1999: no such paper; valid: "),
        (None, ["{}", "logs=nowhere"], "logs=nowhere: no such folder"),
        (None, ["{}", "figures=fig8,fig88"], "figures=fig88: no such figure; valid: "),
        (None, ["{}", "output={}/packing.nc"], "give another folder"),
        (None, ["draw", "fig99"], "draw fig99: no such drawing; valid: fig9, matrix"),
        (None, ["draw", "matrix", "polcy=buddy"], "unknown argument 'polcy=buddy'"),
        (None, ["draw", "matrix", "results=nowhere"], "unknown argument 'results=nowhere'"),
        (GANG, ["{}", "paper=chiang2001"], "reads results of models.backfill and models.o2k_workload"),
        (SPACE, ["{}", "paper=feitelson1996"], "give one of chiang2001, families, operators, tuning"),
        (GANG, ["{}", "paper=operators"], "paper=operators needs delay and loss_of_capacity, which these"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    families: dict[str, int] | None, arguments: list[str], message: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    attributes = {"families": json.dumps(families)} if families else {}
    data = dataset(loads=(0.7, 0.9), schemes=("buddy", "best_fit")).assign_attrs(attributes)
    results = write(tmp_path, data)
    assert main([argument.format(results) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert not (results / "report.html").exists()


def test_named_figures_are_drawn_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write(tmp_path, dataset(loads=(0.3, 0.7), schemes=("buddy", "best_fit")))
    before = {file.name for file in results.iterdir()}
    assert main([str(results), "figures=fig8,used-slots"]) == 0
    shown = capsys.readouterr().out.splitlines()
    for name in ("fig8", "used-slots"):
        assert str((results / "figures" / f"{name}.png").absolute()) in shown
    assert {file.stem for file in (results / "figures").iterdir()} == {"fig8", "used-slots"}
    assert {file.name for file in results.iterdir()} - before == {"figures"}


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from analysis.command import main; main(['--help']); "
        "print([m for m in ('numpy', 'xarray', 'matplotlib', 'numba', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
