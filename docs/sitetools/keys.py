"""The directive ``yaml-keys``: every key of YAML files with default, unit and source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitetools import comments
from sitetools.comments import File
from sweep.config.choices import description

ROOT = Path(__file__).parents[2]

FEW = 3
"""A file with so many keys at most is a row in the table of all such files."""

LONG = 200
"""Letters beyond which a value is cut off; the file has all of it."""

LITERAL = re.compile(r"`+([^`]+)`+")
"""What comments mark as code."""


class YamlKeys(SphinxDirective):
    """Describe every file in a folder; the base of others, ``_base.yaml``, is first."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a section for each file with several keys, and a table of the others."""
        place = ROOT / self.arguments[0]
        alone = place.is_file()
        found = [place] if alone else sorted(place.rglob("*.yaml"), key=lambda file: file.name)
        for file in found:
            self.env.note_dependency(str(file))
        self.env.note_dependency(str(Path(__file__)))
        files = [(comments.read(file), file) for file in found]
        made: list[nodes.Node] = []
        if alone:
            only = files[0][0]
            return [*_prose(only.head), *_table_of(only)]
        small = [(file, path) for file, path in files if not _is_large(file)]
        made += [self._section(file) for file, _ in files if file.name.startswith("_")]
        if small:
            rows = ((file.name, description(path), _sets(file)) for file, path in small)
            made.append(
                _table(("name", "what it is", "what it sets"), (_cells(row) for row in rows), (20, 50, 30))
            )
        made += [
            self._section(file) for file, _ in files if _is_large(file) and not file.name.startswith("_")
        ]
        return made

    def _section(self, file: File) -> nodes.section:
        """Return the head and the keys of a file."""
        title = file.name
        if file.name.startswith("_"):
            title = f"Keys of {file.name.strip('_').replace('_', ' ')}"
        made = nodes.section(names=[nodes.fully_normalize_name(title)])
        made += nodes.title(title, title)
        self.state.document.note_implicit_target(made, made)
        made += _prose(file.head)
        if file.bases:
            bases = nodes.paragraph("", "Builds on ")
            for number, base in enumerate(file.bases):
                bases += [nodes.Text(", " * bool(number)), nodes.literal(base, base)]
            made += bases
        if file.source:
            made += nodes.paragraph("", f"Source, where a key does not name another: {file.source}.")
        made += _table_of(file)
        return made


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("yaml-keys", YamlKeys)


def _is_large(file: File) -> bool:
    return file.name.startswith("_") or len(file.keys) > FEW


def _sets(file: File) -> str:
    return ", ".join(f"`{key.name}: {_short(key.value)}`" for key in file.keys)


def _short(value: str) -> str:
    return value if len(value) <= LONG else f"{value[:LONG].rpartition(' ')[0]} …"


def _table_of(file: File) -> list[nodes.Node]:
    """Return the keys of a file: a column that would be empty is left out."""
    columns = {
        "key": [f"`{key.name}`" for key in file.keys],
        "default": [f"`{_short(key.value)}`" if key.value else "" for key in file.keys],
        "unit": [key.unit for key in file.keys],
        "meaning": [key.meaning for key in file.keys],
        "source": [key.source for key in file.keys],
    }
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    if not kept:
        return []
    widths = {"key": 18, "default": 18, "unit": 8, "meaning": 40, "source": 16}
    rows = zip(*kept.values(), strict=True)
    return [_table(tuple(kept), (_cells(row) for row in rows), tuple(widths[name] for name in kept))]


def _cells(row: Sequence[str]) -> list[list[nodes.Node]]:
    """Return cells, the first of them code."""
    first = row[0].strip("`")
    return [[nodes.literal(first, first)], *(list(_inline(cell)) for cell in row[1:])]


def _inline(text: str) -> Iterator[nodes.Node]:
    """Yield text, and code where it is marked."""
    at = 0
    for found in LITERAL.finditer(text):
        yield nodes.Text(text[at : found.start()])
        yield nodes.literal(found[1], found[1])
        at = found.end()
    yield nodes.Text(text[at:])


def _prose(head: str) -> list[nodes.Node]:
    """Return a comment as paragraphs; indented lines are commands."""
    made: list[nodes.Node] = []
    for block in re.split(r"\n(?=  )|(?<=\n)(?=\S)(?<=  \n)", head):
        lines = block.split("\n")
        code = [line.strip() for line in lines if line.startswith("  ")]
        prose = " ".join(line for line in lines if not line.startswith("  ")).strip()
        if code:
            if made and isinstance(made[-1], nodes.literal_block):
                text = f"{made[-1].astext()}\n{code[0]}"
                made[-1] = nodes.literal_block(text, text, language="text")
            else:
                made.append(nodes.literal_block(code[0], code[0], language="text"))
        if prose:
            made.append(nodes.paragraph("", "", *_inline(prose)))
    return made


def _table(head: Sequence[str], rows: Iterable[list[list[nodes.Node]]], widths: Sequence[int]) -> nodes.Node:
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in widths]
    top = nodes.row()
    top += [nodes.entry("", nodes.paragraph("", name)) for name in head]
    body = nodes.tbody()
    for cells in rows:
        row = nodes.row()
        row += [nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells]
        body += row
    group += [nodes.thead("", top), body]
    table = nodes.table("", group, classes=["yaml-keys"])
    wrapped = nodes.container("", table, classes=["pst-scrollable-table-container"])
    return wrapped
