"""Docstrings of attributes are prose, also where they have a colon."""

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Look at docstrings before napoleon does, whose priority is 500."""
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)


def _keep_colons(app: Sphinx, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    # Napoleon takes words before a colon in the first line for a type: an empty comment precedes them.
    if kind in ("attribute", "data", "property") and lines and ":" in lines[0]:
        lines[:0] = ["..", ""]
