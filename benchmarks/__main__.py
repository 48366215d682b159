"""``python -m benchmarks [names] [--quick]``: run benchmarks, print tables, keep the numbers as JSON."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from rich.console import Console

from benchmarks import record

# Name -> module with a function `run(quick)` that returns `record.Findings`; the first line of its docstring
# is what --help says.
BENCHMARKS = {
    "packing": "benchmarks.packing",
    "bounded_gang": "benchmarks.bounded_gang",
    "growth": "benchmarks.growth",
    "simpy": "benchmarks.against_simpy",
    "sweep": "benchmarks.whole_sweep",
    "executors": "benchmarks.executors",
    "messages": "benchmarks.messages",
    "memory": "benchmarks.memory",
    "startup": "benchmarks.startup",
    "analysis": "benchmarks.analysis",
    "makespan": "benchmarks.makespan",
    "scaling": "benchmarks.scaling",
    "counters": "benchmarks.counters",
    "partitioning": "benchmarks.partitioning",
    "backfill": "benchmarks.backfill",
    "conservative": "benchmarks.conservative",
    "cluster": "benchmarks.cluster",
    "coverage": "benchmarks.coverage",
    "saturation": "benchmarks.saturation",
    "concurrent_gang": "benchmarks.concurrent_gang",
    "production_gang": "benchmarks.production_gang",
    "slices": "benchmarks.slices",
}


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks that are named, or all, and return the exit status (0, whatever the clocks say)."""
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
    found = {}
    for name in chosen.names or BENCHMARKS:
        module = importlib.import_module(BENCHMARKS[name])
        console.rule(f"{name}: {(module.__doc__ or '').splitlines()[0]}", align="left")
        found[name] = module.run(chosen.quick)
        record.show(found[name], console)
    console.print(f"numbers: {record.write(found, chosen.quick)}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
