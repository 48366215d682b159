"""``python -m models``: compile every family's kernels ahead of a study."""

import importlib
import sys
from pathlib import Path

from models.family import Family


def main() -> int:
    """Compile the kernels that are not compiled yet, one family after the other, each on all cores."""
    root = Path(__file__).parent
    for package in sorted(path.parent.name for path in root.glob("*/__init__.py")):
        family = getattr(importlib.import_module(f"models.{package}"), "FAMILY", None)
        if isinstance(family, Family):
            family.warm_up()
            print(f"compiled: {family.name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
