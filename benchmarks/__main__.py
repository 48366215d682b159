"""``python -m benchmarks [names] [--quick]``: run benchmarks and print tables."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from rich.console import Console

from benchmarks import record

BENCHMARKS = {
    "families": "benchmarks.families",
    "functions": "benchmarks.functions",
    "slurm": "benchmarks.slurm",
    "simpy": "benchmarks.against_simpy",
    "sweep": "benchmarks.whole_sweep",
    "scaling": "benchmarks.scaling",
    "coverage": "benchmarks.coverage",
}
"""Name -> module; the first line of its docstring is shown above its tables."""


def main(arguments: Sequence[str]) -> int:
    """Run the named benchmarks, or all, and return the exit status: 0, also where a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure speed and memory; see benchmarks/__init__.py."
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"which of {', '.join(BENCHMARKS)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and smaller runs: seconds, not minutes")
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    for name in chosen.names or BENCHMARKS:
        module = importlib.import_module(BENCHMARKS[name])
        console.rule(f"{name}: {(module.__doc__ or '').splitlines()[0]}", align="left")
        record.show(module.run(chosen.quick), console)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
