"""Pages as GitHub shows them, and as the site does; docstrings of attributes as prose."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.autosummary.generate import find_autosummary_in_files

PLACE = "<!-- further pages -->"
"""Line of index.md where pages go that it does not name."""


def setup(app: Sphinx) -> None:
    """Let a page that was just added appear by itself, one whose object is gone disappear."""
    app.connect("source-read", _further_pages)
    app.connect("config-inited", _remove_stale)
    # Before napoleon looks at docstrings, whose priority is 500.
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)


def further(index: str, names: list[str]) -> list[str]:
    """Return the pages that an index does not name, sorted.

    Parameters
    ----------
    index : str
        Its text: a page is named by a line of a toctree.
    names : list of str
        Pages of its folder, without their endings.
    """
    lines = {line.strip() for line in index.splitlines()}
    return sorted(name for name in names if name != "index" and name not in lines)


def _further_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "index":
        names = [file.stem for file in Path(app.srcdir).glob("*.md")]
        source[0] = source[0].replace(PLACE, "\n".join(further(source[0], names)))


def _remove_stale(app: Sphinx, config: Config) -> None:
    """Remove pages of the reference that an earlier build made and that no list names now."""
    folder = Path(app.srcdir) / "reference"
    named = {entry.name for entry in find_autosummary_in_files([str(file) for file in folder.glob("*.md")])}
    for file in (folder / "generated").glob("*.rst"):
        if file.stem not in named:
            file.unlink()


def _keep_colons(app: Sphinx, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    # Napoleon takes words before a colon in the first line for a type: an empty comment precedes them.
    if kind in ("attribute", "data", "property") and lines and ":" in lines[0]:
        lines[:0] = ["..", ""]
