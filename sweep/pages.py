"""``schedsweep docs``: the pages of the documentation as text, also of an installed wheel."""

import sys
from collections.abc import Sequence
from pathlib import Path

from schedsweep.packages import ROOT
from sweep.errors import SweepError, unknown

USAGE = """\
usage: schedsweep docs [PAGE]

Prints a page of the documentation; without one, their list. docs/statistics.md is the page statistics."""


def pages() -> dict[str, Path]:
    """Return the pages by name."""
    for folder in (ROOT / "docs", ROOT / "sweep" / "docs"):
        if found := sorted(folder.glob("*.md")):
            return {page.stem: page for page in found}
    return {}


def main(arguments: Sequence[str]) -> int:
    """Print a page, or the list of them; return the exit status."""
    known = pages()
    if {"-h", "--help"} & {*arguments}:
        print(USAGE)
    elif not arguments:
        for name, page in known.items():
            title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            print(f"{name:<24}{title}")
    else:
        name = arguments[0].removeprefix("docs/").removesuffix(".md")
        if name not in known or len(arguments) > 1:
            print(f"error: {SweepError(unknown('page', ' '.join(arguments), known))}", file=sys.stderr)
            return 2
        print(known[name].read_text(encoding="utf-8"))
    return 0
