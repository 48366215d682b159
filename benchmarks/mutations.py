"""``python -m benchmarks.mutations``: change a line, and see whether the tests notice it.

Each mutation replaces one operator, comparison or constant of a file in a copy of the checkout, and runs
the tests that belong to the file's folder until the first failure. Those that survive are listed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]

TESTS = {
    "models/gang": "tests/models/gang tests/models/test_families.py",
    "models/packing": "tests/models/gang tests/models/test_families.py",
    "models/concurrent_gang": "tests/models/concurrent_gang tests/models/test_families.py",
    "models/backfill": "tests/models/backfill tests/models/test_families.py",
    "models/production_gang": "tests/models/production_gang tests/models/test_families.py",
    "models/partitioning": "tests/models/partitioning tests/models/test_families.py",
    "models/jobs": "tests/models/jobs tests/models/test_families.py tests/sweep",
    "models/workloads": "tests/models/workloads tests/models/test_families.py",
    "sweep/statistics": "tests/sweep tests/analysis",
    "sweep/store": "tests/sweep",
    "analysis/claims": "tests/analysis",
}
"""Folder to be mutated, and the tests that should notice."""

SWAPPED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.And: "or", ast.Or: "and",
}  # fmt: skip
"""Operator, and the text that takes its place."""


@dataclass(frozen=True)
class Mutation:
    """A replacement of one piece of text in a line.

    Parameters
    ----------
    path : Path
        Relative to the checkout.
    line : int
        Counted from 1.
    begin, end : int
        Columns.
    new : str
    """

    path: Path
    line: int
    begin: int
    end: int
    new: str

    def apply(self, root: Path) -> str:
        """Change the file below `root`, and return the new line."""
        lines = (root / self.path).read_text(encoding="utf-8").splitlines(keepends=True)
        old = lines[self.line - 1]
        lines[self.line - 1] = old[: self.begin] + self.new + old[self.end :]
        (root / self.path).write_text("".join(lines), encoding="utf-8")
        return lines[self.line - 1].strip()


def mutations(path: Path) -> Iterator[Mutation]:
    """Yield every mutation of a file; only of statements that stand inside functions, and not of texts."""
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in (each for statement in function.body for each in ast.walk(statement)):
            if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                changed = repr(node.value + 1)
                yield Mutation(path, node.lineno, node.col_offset, node.end_col_offset or 0, changed)
            for operator, left, right in _operators(node):
                if left.end_lineno == right.lineno and type(operator) in SWAPPED:
                    begin, end = left.end_col_offset or 0, right.col_offset
                    between = lines[right.lineno - 1][begin:end]
                    if "(" not in between and ")" not in between and lines[right.lineno - 1].isascii():
                        new = f" {SWAPPED[type(operator)]} "
                        yield Mutation(path, right.lineno, begin, end, new)


def _operators(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """Yield a node's operators, each between two expressions."""
    if isinstance(node, ast.BinOp):
        yield node.op, node.left, node.right
    elif isinstance(node, ast.Compare):
        yield from zip(node.ops, [node.left, *node.comparators], node.comparators, strict=False)
    elif isinstance(node, ast.BoolOp):
        yield from ((node.op, left, right) for left, right in zip(node.values, node.values[1:], strict=False))


def choose(count: int, seed: int) -> list[tuple[Mutation, str]]:
    """Return mutations spread over the folders, each with the tests that should notice it."""
    rng = random.Random(seed)
    chosen = []
    for number, (folder, tests) in enumerate(TESTS.items()):
        share = count // len(TESTS) + (number < count % len(TESTS))
        files = sorted(path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.py"))
        found = [one for file in files for one in mutations(file)]
        chosen += [(one, tests) for one in rng.sample(found, share)]
    return chosen


def survives(mutation: Mutation, tests: str, tier: str, copy: Path) -> tuple[bool, str]:
    """Return whether all tests pass with a mutation, and the changed line."""
    original = (copy / mutation.path).read_bytes()
    try:
        line = mutation.apply(copy)
        marker = ["-m", "not exhaustive"] if tier == "first" else []
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        # A mutated model makes kernels of its own, which nothing needs afterwards.
        kernels = copy / (".mutated" if mutation.path.parts[0] == "models" else ".kernels")
        environment = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(kernels)}
        command = [*pytest, *marker, *tests.split()]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
        return done.returncode == 0, line
    finally:
        (copy / mutation.path).write_bytes(original)
        shutil.rmtree(copy / ".mutated", ignore_errors=True)


def main() -> int:
    """Run the mutations, print those that survive, and return 0 whatever was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tier", choices=("first", "all"), default="first", help="which tests are run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutations at a time")
    asked = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(asked.jobs):
            copy = Path(folder) / str(number)
            ignored = shutil.ignore_patterns(".*", "results", "__pycache__", "_build")
            shutil.copytree(ROOT, copy, ignore=ignored)
            copies.put(copy)

        def run(one: tuple[Mutation, str]) -> tuple[Mutation, bool, str]:
            copy = copies.get()
            try:
                return one[0], *survives(*one, asked.tier, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(asked.jobs) as pool:
            for mutation, survived, line in pool.map(run, choose(asked.count, asked.seed)):
                found += not survived
                verdict = "SURVIVED" if survived else "found"
                print(f"{verdict:<8} {mutation.path}:{mutation.line} {line}", flush=True)
    print(f"{found} of {asked.count} mutations found by the {asked.tier} tier")
    return 0


if __name__ == "__main__":
    sys.exit(main())
