"""Shared layers name no family, no paper and no policy: these declare what is special to them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from analysis.registry import ANY, PACKAGES
from schedsweep.packages import ROOT
from sweep.config import choices, locate
from sweep.plan import families

FAMILIES = tuple(family.package for family in families.ours())
PAPERS = tuple(package for package in PACKAGES if not package.endswith(f".{ANY}"))
POLICIES = {choices.short(name) for name in choices.names("policy", [locate.conf_folder()])}

WORDS = {"slurm", "fold"}
"""Policies whose names are also the names of other things: an executor, an option of rich."""

REGISTRY = ROOT / "analysis/registry.py"


def shared() -> Iterator[Path]:
    """Yield the modules of `sweep`, of the analysis outside papers, and of the models outside families."""
    special = {ROOT / name.replace(".", "/") for name in (*FAMILIES, *PACKAGES)}
    for layer in ("sweep", "analysis", "models"):
        for file in (ROOT / layer).rglob("*.py"):
            if not special & set(file.parents):
                yield file


def names_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name wherever code (no docstring) names a family, a paper or a policy."""
    tree = ast.parse(text)
    special = re.compile(rf"\b({'|'.join(map(re.escape, (*FAMILIES, *PAPERS)))})\b")
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found = [each.name for each in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found = [f"{module}.{each.name}" for each in names]
            case ast.Constant(value=str(found_text)) if id(node) not in documentation:
                is_policy = choices.short(found_text) in POLICIES - WORDS
                found = [found_text]
                if is_policy:
                    yield node.lineno, found_text
            case _:
                continue
        yield from ((node.lineno, one) for one in found if special.search(one))


def test_shared_layers_name_no_family_no_paper_and_no_policy() -> None:
    # The registry of packing schemes belongs to its package: a scheme has the name of its policy.
    allowed = {REGISTRY, ROOT / "models/packing/scheme.py"}
    found = [
        f"{file.relative_to(ROOT)}, line {line}: {name}"
        for file in shared()
        if file not in allowed
        for line, name in names_in(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_the_search_finds_such_names() -> None:
    text = """'''models.gang in a docstring is for readers.'''
from models.slurm import configuration
import analysis.silva1999.engine
first, second, third = "easy", "gang/buddy", "family models.gang"
harmless = "models.gangway", "an easy way"
"""
    assert sorted(line for line, _ in names_in(text)) == [2, 3, 4, 4, 4]
    assert len(FAMILIES) >= 8
    assert REGISTRY.is_file()
