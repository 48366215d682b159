"""The code of docs/adding_a_claim.md and docs/adding_a_figure.md runs as it stands there."""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from papers import KEYS, true

from analysis.figures import style

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> dict[str, str]:
    """Return the code of a page by language."""
    text = (DOCS / page).read_text()
    return dict(re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE))


@pytest.fixture
def guide(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Follow a page in a separate folder."""
    code = blocks(request.param)
    name = Path(request.param).stem
    (tmp_path / f"{name}.py").write_text(code["python"])
    (tmp_path / "claims.yaml").write_text(code.get("yaml", ""))
    monkeypatch.syspath_prepend(str(tmp_path))
    return import_module(name)


@pytest.mark.parametrize("guide", ["adding_a_claim.md"], indirect=True)
def test_the_claims_of_the_guide_are_judged(guide: ModuleType) -> None:
    found = {claim.id: claim for claim in guide.claims(true(KEYS[0], "packing").readings["A"])}
    verdicts = {name.removeprefix("my_paper-4.2-"): claim.verdict for name, claim in found.items()}
    assert verdicts == {"buddy-leads-medium": "holds", "simple-alike": "holds", "buddy-never-waits": "fails"}
    assert "within 10 % of each other" in found["my_paper-4.2-simple-alike"].statement


@pytest.mark.parametrize("guide", ["adding_a_figure.md"], indirect=True)
def test_the_figures_of_the_guide_are_drawn(guide: ModuleType, tmp_path: Path) -> None:
    with style.styled():
        for picture in guide.pictures(true(KEYS[0], "packing").readings["A"], None):
            files = style.save(picture.draw(), tmp_path, picture.name)
            assert all(file.stat().st_size > 1000 for file in files)
