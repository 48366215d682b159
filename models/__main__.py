"""``python -m models``: compile every family's kernels ahead of a study."""

import importlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from schedsweep import packages
from schedsweep.terminal import guarded


def main(arguments: Sequence[str]) -> int:
    """Compile the kernels that are not compiled yet, one family after the other, each on all cores."""
    from models.family import Family

    if arguments:
        print(f"error: python -m models takes no arguments: {' '.join(arguments)}", file=sys.stderr)
        return 2
    root = Path(__file__).parent
    for package in sorted(path.parent.name for path in root.glob("*/__init__.py")):
        family = getattr(importlib.import_module(f"models.{package}"), "FAMILY", None)
        if isinstance(family, Family):
            try:
                family.warm_up()
            except ValueError as error:
                print(f"error: {error}", file=sys.stderr)
                return 2
            print(f"compiled: {family.name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(guarded(partial(packages.call, "models.__main__"), sys.argv[1:]))
