"""The documentation site builds without a warning, needs no network, and is complete."""

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

import sweep
from sweep.store.loading import loaded

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))
YAML = sorted([*(ROOT / "conf").rglob("*.yaml"), *(ROOT / "slurm" / "profiles").glob("*.yaml")])


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that imports the site's own modules."""
    monkeypatch.syspath_prepend(str(DOCS))
    return lambda name: importlib.import_module(f"sitetools.{name}")


class Resources(HTMLParser):
    """What a browser loads for a page, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if tag == "link" and "preconnect" not in of.get("rel", "") and of.get("rel") not in ("next", "prev"):
            self.loaded.append(of.get("href", ""))
        elif tag in ("script", "img", "iframe", "source", "video", "object"):
            self.loaded.append(of.get("src") or of.get("data") or "")
        elif tag == "a":
            self.links.append(of.get("href", ""))


def build(folder: Path) -> None:
    """Build the site with warnings as errors; notebooks and short runs have tests of their own."""
    words = ["-q", "-W", "--keep-going", "-D", "gallery_runs=0", "-D", "gallery_folder=_build/none"]
    words += ["-D", "nb_execution_mode=off"]
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, "-d", folder / "doctrees", DOCS, folder / "html"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.exhaustive
def test_the_site_is_complete_and_loads_nothing_from_a_network(tmp_path: Path) -> None:
    build(tmp_path)
    built = tmp_path / "html"
    pages = list(built.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        found = Resources()
        found.feed(page.read_text())
        assert not [one for one in found.loaded if "//" in one.partition("?")[0]], page
    for style in built.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", style.read_text()), style

    found = Resources()
    found.feed((built / "index.html").read_text())
    for page in [*DOCS.glob("*.md"), *NOTEBOOKS, *(DOCS / "reference").glob("*.md")]:
        if page.stem != "index":
            name = page.relative_to(DOCS).with_suffix(".html").as_posix()
            assert name in found.links
    navigation = (built / "statistics.html").read_text()
    parts = re.findall(r'class="caption-text">([^<]+)<', navigation)
    assert list(dict.fromkeys(parts)) == ["Tutorials", "How-to guides", "Reference", "Explanation"]

    from sweep.config.choices import names, short

    searched = (built / "searchindex.js").read_text().partition('"indexentries":')[2]
    for group, page in (
        ("policy", "policies"),
        ("workload", "workloads"),
        ("machine", "machines"),
        ("experiment", "experiments"),
        ("executor", "settings"),
    ):
        text = (built / "reference" / f"{page}.html").read_text()
        for name in names(group, [ROOT / "conf"]):
            assert f">{short(name)}<" in text, (page, name)
            assert f'"{short(name)}":[[' in searched, "a search finds it by its name first"
    text = re.sub(r"<[^>]+>", "", (built / "reference" / "settings.html").read_text())
    for key in yaml.safe_load((ROOT / "conf" / "config.yaml").read_text()):
        assert key == "defaults" or re.search(rf"\b{key}\b", text), key

    from analysis.registry import drawings, papers

    gallery = [re.sub(r"<[^>]+>", "", page.read_text()) for page in (built / "gallery").glob("*.html")]
    for name in drawings():
        assert any(f"python -m analysis draw {name}\n" in text for text in gallery), name
    for key, paper in papers().items():
        text = re.sub(r"<[^>]+>", "", (built / "gallery" / f"{key}.html").read_text())
        for name in paper.experiments:
            assert f"python -m sweep +experiment={name}" in text


def test_a_page_just_added_appears_by_itself(site: Any) -> None:
    further = site("pages").further
    index = (DOCS / "index.md").read_text()
    names = [page.stem for page in DOCS.glob("*.md")]
    assert set(further(index, [*names, "quite_new"])) - set(further(index, names)) == {"quite_new"}


def leaves(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return dotted keys with their values, by the file as a YAML library reads it."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        found[f"{prefix}{key}"] = value
        if isinstance(value, dict):
            found |= leaves(value, f"{prefix}{key}.")
    return found


def test_keys_are_read_from_yaml_as_they_are(site: Any) -> None:
    for file in YAML:
        described = site("comments").read(file)
        data = yaml.safe_load(file.read_text()) or {}
        data.pop("defaults", None)
        expected = leaves(data)
        found = {key.name: yaml.safe_load(key.value) for key in described.keys}
        assert len(found) == len(described.keys), file
        assert all(value == expected[name] for name, value in found.items()), file
        # Each key is described, or lies above or below one that is.
        for name in expected:
            related = (
                name == one or name.startswith(f"{one}.") or one.startswith(f"{name}.") for one in found
            )
            assert any(related), (file, name)


@pytest.mark.exhaustive
def test_pictures_are_made_from_short_runs_and_kept(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = site("figures")
    chain, rotation = figures.Group("birth_death", False), figures.Group("folding_rotation", True)
    groups = {group.name: group for group in figures.make(tmp_path, [chain, rotation])}
    assert not any(group.error for group in groups.values())
    titles = " ".join(one["title"] for one in groups["birth_death"].pictures)
    assert "5.6" in titles and "5.7" in titles  # noqa: PT018
    for group in groups.values():
        for one in group.pictures:
            assert (tmp_path / one["image"]).read_text().rstrip().endswith("</svg>")
    assert figures.kept(tmp_path, chain, is_current=True) == groups["birth_death"]
    # Without one of its pictures, or with other settings, a group is made again.
    (tmp_path / groups["folding_rotation"].pictures[0]["image"]).unlink()
    assert [group.name for group in figures.make(tmp_path, [chain, rotation])] == ["folding_rotation"]
    monkeypatch.setitem(figures.SETTINGS, "birth_death", {"batch": 3})
    assert figures.kept(tmp_path, chain, is_current=True) is None
    assert "batch" in figures.make_one(tmp_path, chain).error


@pytest.mark.exhaustive
def test_each_experiment_has_a_short_run_for_the_gallery(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = site("figures")
    monkeypatch.chdir(ROOT)
    for name in [group.name for group in figures.every() if not group.is_drawing]:
        chosen = figures.short(tmp_path, name)
        assert sweep.Study(name, output=str(tmp_path / name), executor="serial", **chosen).points, name


def test_notebooks_are_stored_without_output() -> None:
    for file in NOTEBOOKS:
        book = nbformat.read(file, 4)
        nbformat.validate(book)
        cells = [cell for cell in book.cells if cell.cell_type == "code"]
        assert cells
        assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def executed(file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a notebook in an empty folder, as the site does; return what it printed and showed as text."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = nbformat.read(file, 4)
    NotebookClient(
        book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2
    assert not any(
        "<Figure" in output.get("data", {}).get("text/plain", "")
        for output in outputs
        if "image/png" not in output.get("data", {})
    )
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


@pytest.mark.exhaustive
def test_the_notebook_from_nothing_to_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    from sweep.statistics import paired_difference

    printed = executed(DOCS / "tutorials" / "first_study.ipynb", tmp_path, monkeypatch)
    with loaded(tmp_path / "results" / "first" / "compare.nc") as data:
        assert data.sizes["replication"] == 8  # with the replications of its second run
        assert int((data.state == 1).sum()) == data.state.size
        waits = data.wait.sel(workload="lublin2003", machine="pe128", load=0.5) / 60
        found = paired_difference(waits.sel(policy="easy"), waits.sel(policy="fcfs"))
    differences = re.findall(r"easy - fcfs: (\S+) ± (\S+) min", printed)
    assert len(differences) == 2
    assert differences[1] == (f"{found.mean:.0f}", f"{found.half_width:.0f}")


@pytest.mark.exhaustive
def test_the_notebook_from_a_log_to_a_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = executed(DOCS / "tutorials" / "own_log.ipynb", tmp_path, monkeypatch)
    # A log made under fcfs, put through fcfs again, waits as it was recorded.
    recorded, simulated = (
        float(re.search(rf"{words}: (?:mean wait )?(\S+) min", printed)[1])  # type: ignore[index]
        for words in ("recorded", "simulated under fcfs")
    )
    assert recorded == pytest.approx(simulated, rel=0.02)
    verdicts = re.findall(r"^(\w+) +[-+][\d.]+ +\[\S+, \S+\] min +\D+, \d+ weeks less$", printed, re.M)
    assert verdicts == ["fcfs", "conservative", "sjf_backfill", "lxf_w_backfill"]
