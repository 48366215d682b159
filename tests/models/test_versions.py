"""A family's version is raised when its code changes: `versions.txt` has the hash of each version's code.

The hash of the code is what makes old results stale, whatever the version; the version is what people read in
a dataset, and what they compare. Run this file to write the text anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from models.family import Family
from sweep.plan import families, sources

CONF = Path(__file__).parents[2] / "conf"
RECORD = Path(__file__).with_name("versions.txt")


def built_in() -> list[str]:
    """Return the packages of all families that conf names."""
    found = set()
    for file in [*CONF.glob("policy/*/*.yaml"), *CONF.glob("experiment/*.yaml")]:
        data = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        found |= {data.get("family"), (data.get("policy") or {}).get("family")}
    return sorted(found - {None})


def line(family: Family) -> str:
    return f"{family.package} {family.version} {sources.of_family(family)[:20]}"


@pytest.mark.parametrize("package", built_in())
def test_a_version_is_raised_with_its_code(package):
    family = families.find(package)
    recorded = {text.split()[0]: text for text in RECORD.read_text(encoding="utf-8").splitlines()}
    assert recorded.get(package) == line(family), (
        f"the code of {package} is not what tests/models/versions.txt has for version {family.version}: "
        "raise `version` where FAMILY is declared if results can differ, then run "
        "`PYTHONPATH=. python tests/models/test_versions.py`"
    )


def test_every_family_is_recorded():
    assert [text.split()[0] for text in RECORD.read_text(encoding="utf-8").splitlines()] == built_in()


def test_an_edited_kernel_is_noticed(monkeypatch):
    import models.packing.schemes.buddy as buddy

    read = Path.read_bytes
    edited = Path(buddy.__file__)
    before = line(families.find("models.gang"))
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self) + b"X = 1\n" * (self == edited))
    monkeypatch.setattr(sources, "_seen", {})
    sources.look_again()
    assert line(families.find("models.gang")) != before
    sources.look_again()


if __name__ == "__main__":
    RECORD.write_text("".join(f"{line(families.find(p))}\n" for p in built_in()), encoding="utf-8")
