"""``python -m analysis``: what a user types and gets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from fabricated import dataset, truth, write

from analysis.command import main
from analysis.registry import papers


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
            "id", "source", "statement", "verdict", "evidence", "reading", "error", "figures"
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


def test_the_table_of_verdicts_leads_with_failures_and_has_all_readings(analysed: Path) -> None:
    """One row a sentence, one column a reading, the default first; links to evidence and figures."""
    report = (analysed / "report.html").read_text()
    claims = json.loads((analysed / "claims.json").read_text())
    table = re.search(r'<table class="verdicts">.*?</table>', report, re.DOTALL)[0]
    assert re.findall("<th>(.*?)</th>", table) == ["Sentence", "A", "B", "Figures"]
    rows = re.findall("<tr id=.*?</tr>", table, re.DOTALL)
    verdicts = {(claim["id"], claim["reading"].split(",")[0]): claim["verdict"] for claim in claims}
    found = []
    for row in rows:
        name = re.search(r'href="#(feitelson1996-[^"]+)"', row)[1]
        badges = re.findall(r'class="badge (\w+)"', row)
        assert badges == [verdicts[name, f"alternation={value}"] for value in ("exclusive", "shared")]
        found.append(badges[0])
    assert len(found) == len(claims) / 2
    assert "fails" in found
    assert found == sorted(found, key=("fails", "inconclusive", "holds").index)
    assert 'href="#fig8"' in next(row for row in rows if "4.2-first-four-identical" in row)
    assert "A</td><td>alternation=exclusive (default): " in report
    # Where a reading differs, its own evidence is under that of the default.
    assert report.count("<details><summary>B, ") == sum(
        verdicts[name, "alternation=exclusive"] != verdicts[name, "alternation=shared"]
        for name in {name for name, _ in verdicts}
    )


def test_progress_and_summary(analysed: Path) -> None:
    lines = (analysed / "output.txt").read_text().splitlines()
    assert lines[0].startswith("packing: 15 done, 3 unfinished points")
    assert re.match(r"\[ 1/\d+\] fig3 +skipped: NASA-iPSC", lines[1])
    assert sum(line.startswith("[") for line in lines) == int(re.search(r"/(\d+)\]", lines[1])[1])
    assert lines[-5].startswith(f"figures  {analysed / 'figures'}")
    said = r"\d+: \d+ hold, \d+ fail, \d+ inconclusive"
    assert re.search(rf"claims.json  \({said}\) alternation=exclusive, unification=true$", lines[-4])
    assert re.fullmatch(rf" +alternation=shared, unification=true: {said}", lines[-3])
    assert lines[-2] == f"points   {analysed / 'points.csv'}"
    assert "report.html" in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere does not exist: run python -m sweep"),
        (["{}", "log=x"], "'log=x' is not understood; valid: logs=, output=, paper=, along=, reference="),
        (["{}", "paper=nobody1999"], "paper=nobody1999: no such paper; valid: "),
        (["{}", "logs=nowhere"], "logs=nowhere: no such folder"),
        (["{}", "figures=fig8,fig88"], "figures=fig88: no such figure; valid: "),
        (["draw", "fig99"], "draw fig99: no such drawing; valid: fig9, matrix"),
        (["draw", "matrix", "polcy=buddy"], "'polcy=buddy' is not understood"),
        (["draw", "matrix", "results=nowhere"], "nowhere does not exist"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = write(tmp_path, dataset(loads=(0.7,), schemes=("buddy",)))
    assert main([argument.format(results) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert message in captured.err


@pytest.mark.parametrize(
    ("families", "paper", "message"),
    [
        (
            {"models.gang": 2},
            "chiang2001",
            "reads results of models.backfill and models.o2k_workload, and these",
        ),
        ({"models.backfill": 3}, "feitelson1996", "give one of chiang2001, families, operators, compare"),
        (
            {"models.gang": 2},
            "operators",
            "paper=operators needs delay and loss_of_capacity, which these",
        ),
    ],
)
def test_a_paper_that_speaks_of_something_else_is_one_line(
    families: dict[str, int], paper: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = dataset(loads=(0.7, 0.9), schemes=("buddy", "best_fit")).assign_attrs(
        families=json.dumps(families)
    )
    results = write(tmp_path, data)
    assert main([str(results), f"paper={paper}"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (results / "report.html").exists()


def test_named_figures_are_drawn_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write(tmp_path, dataset(loads=(0.3, 0.7), schemes=("buddy", "best_fit")))
    before = {file.name for file in results.iterdir()}
    assert main([str(results), "figures=fig8,used-slots"]) == 0
    told = capsys.readouterr().out.splitlines()
    for name in ("fig8", "used-slots"):
        assert str((results / "figures" / f"{name}.png").absolute()) in told
    assert {file.stem for file in (results / "figures").iterdir()} == {"fig8", "used-slots"}
    assert {file.name for file in results.iterdir()} - before == {"figures"}


def test_an_output_that_is_a_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write(tmp_path, dataset(loads=(0.7,), schemes=("buddy",)))
    (tmp_path / "taken").write_text("")
    assert main([str(results), f"output={tmp_path / 'taken'}"]) == 2
    assert "give another folder" in capsys.readouterr().err


def test_help_and_drawings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "python -m analysis RESULTS" in capsys.readouterr().out
    assert main([]) == 2
    assert main(["draw"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for paper in papers().values() for name in paper.drawings)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from analysis.command import main; main(['--help']); "
        "print([m for m in ('numpy', 'xarray', 'matplotlib', 'numba', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
