"""``python -m benchmarks.mutations``: change a line, and see whether the tests notice it.

Each mutation replaces one operator, comparison or constant of a file in a copy of the checkout, and runs
the tests that belong to the file's folder until the first failure. Those that survive are listed.
"""

import argparse
import ast
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]


def _laws(*folders: str, family: str = "") -> str:
    """Return the tests of a family's folders, and its own part of the laws of all families."""
    places = " ".join(f"tests/models/{folder}" for folder in folders)
    return f"{places} tests/models/test_families.py -k 'not TestFamilies or [{family or folders[0]}-'"


TESTS = {
    "models/gang": _laws("gang"),
    "models/packing": _laws("gang"),
    "models/concurrent_gang": _laws("concurrent_gang"),
    "models/backfill": _laws("backfill"),
    "models/production_gang": _laws("production_gang"),
    "models/partitioning": _laws("partitioning"),
    "models/jobs": _laws("jobs", family="backfill"),
    "models/workloads": _laws("workloads", family="backfill"),
    "models/slurm": _laws("slurm"),
    "sweep/statistics": "tests/sweep/statistics",
    "sweep/store": "tests/sweep/store",
    "analysis/claims": "tests/analysis/claims",
}
"""Folder to be mutated, and the tests that should notice."""

LIMIT = 900
"""Seconds after which tests that still run count as failed."""

MEMORY = 8 * 2**30
"""Bytes that a run of tests may take."""

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


def failing(tests: str, tier: str, copy: Path, compiled: Path | None = None) -> str:
    """Run tests until the first failure, and return that test, or nothing if all pass.

    Parameters
    ----------
    tests : str
        Arguments of pytest.
    tier : str
        "first" or "all".
    copy : Path
        The checkout in which they run.
    compiled : Path, optional
        Where kernels are kept instead of the user's cache.
    """
    marker = ["-m", "not exhaustive"] if tier == "first" else []
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    if compiled:
        environment["NUMBA_CACHE_DIR"] = str(compiled)
    with subprocess.Popen(
        [*pytest, *marker, *shlex.split(tests)],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
    ) as run:
        try:
            output, _ = run.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:  # e.g. a loop that no longer ends
            os.killpg(run.pid, signal.SIGKILL)
            return f"still running after {LIMIT} s"
    if run.returncode == 0:
        return ""
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed or [f"exit status {run.returncode}"])[0].partition(" - ")[0]


def try_out(mutation: Mutation, tests: str, tier: str, copy: Path) -> tuple[str, str]:
    """Return the test that notices a mutation, if any does, and the changed line."""
    original = (copy / mutation.path).read_bytes()
    # A mutated model makes kernels of its own, which nothing needs afterwards.
    compiled = copy / ".mutated" if mutation.path.parts[0] == "models" else None
    try:
        line = mutation.apply(copy)
        return failing(tests, tier, copy, compiled), line
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

        def run(one: tuple[Mutation, str]) -> tuple[Mutation, str, str]:
            copy = copies.get()
            try:
                return one[0], *try_out(*one, asked.tier, copy)
            finally:
                copies.put(copy)

        chosen = choose(asked.count, asked.seed)
        for tests in dict.fromkeys(tests for _, tests in chosen):
            if failed := failing(tests, asked.tier, Path(folder) / "0"):
                print(f"without any mutation, in a copy of the checkout: {failed}", file=sys.stderr)
                return 1
        with ThreadPoolExecutor(asked.jobs) as pool:
            for mutation, test, line in pool.map(run, chosen):
                found += bool(test)
                print(f"{mutation.path}:{mutation.line} {line}\n    {test or 'SURVIVED'}", flush=True)
    print(f"{found} of {asked.count} mutations found by the {asked.tier} tier")
    return 0


if __name__ == "__main__":
    sys.exit(main())
