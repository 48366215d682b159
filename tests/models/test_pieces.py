"""A schedule in more pieces than can be kept is refused in one line."""

import pytest
from family_cases import Case, refused


@pytest.mark.parametrize(
    ("package", "policy", "key"),
    [
        ("models.gang", "gang/buddy", "batch_size="),
        ("models.partitioning", "partitioning/fold_20", "rotation="),
    ],
)
def test_too_many_pieces(package: str, policy: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(package, policy, "lublin2003")
    point, _ = case.taken()
    n_pieces = len(case.family.schedule(point).runs.job)
    monkeypatch.setattr("models.jobs.schedule.MOST_PIECES", n_pieces // 2)
    with refused(f"more than {n_pieces // 2:,} pieces .*{key}"):
        case.family.schedule(point)
    case.family.simulate(point)  # measures need no pieces
