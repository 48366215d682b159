"""More replications decide what fewer left open; they turn no verdict round."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.notebook import claims_of
from sweep import cli

WORSE = {("holds", "fails"), ("holds", "inconclusive")}


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_no_verdict_of_the_packing_study_gets_worse(tmp_path: Path) -> None:
    """All eight schemes under the default reading, in runs a fifth as long as the study's."""
    found = []
    for replications in (5, 20):
        arguments = [
            "+experiment=packing", "grid.load=[0.5,0.6,0.7,0.8,0.9,0.95,0.99]",
            "grid.alternation=[exclusive]", "grid.unification=[true]", "exclude=[]",
            "batch_size=200", f"replications={replications}",
            f"output={tmp_path / 'packing'}",
        ]  # fmt: skip
        assert cli.main(arguments) == 0
        found.append({claim.id: claim.verdict for claim in claims_of(tmp_path / "packing")})
    few, many = found
    decided = {name for name, verdict in many.items() if verdict != "inconclusive"}
    assert len(decided) > 10
    turned = {name: (few[name], many[name]) for name in many if (few[name], many[name]) in WORSE}
    assert not turned
