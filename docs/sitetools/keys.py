"""The directive ``yaml-keys``: every key of YAML files with its default and its comment."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitetools import comments
from sitetools.comments import File
from sweep.config.choices import description

ROOT = Path(__file__).parents[2]

FEW = 3
"""A file with at most this many keys is an entry in the list of all such files."""

LONG = 200
"""Letters beyond which a value is cut off; the file has all of it."""

LITERAL = re.compile(r"`+([^`]+)`+")
"""What comments mark as code."""


class YamlKeys(SphinxDirective):
    """Describe every file in a folder; the base of others, ``_base.yaml``, is first."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a section for each file with several keys, and a list of the others."""
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
            return [*_prose(only.head), _keys(only)]
        small = [(file, path) for file, path in files if not _is_large(file)]
        made += [self._section(file) for file, _ in files if file.name.startswith("_")]
        if small:
            listed = _list((file.name, "", [description(path), _sets(file)]) for file, path in small)
            for (file, _), item in zip(small, listed.children, strict=True):
                term = item.children[0]
                term["ids"].append(f"{place.name}-{nodes.make_id(file.name)}")
                term.insert(0, _indexed(file.name, term["ids"][0]))
            made.append(listed)
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
        made += _indexed(file.name, made["ids"][0])
        made += _prose(file.head)
        if file.bases:
            bases = nodes.paragraph("", "Builds on ")
            for number, base in enumerate(file.bases):
                bases += [nodes.Text(", " * bool(number)), nodes.literal(base, base)]
            made += bases
        made += _keys(file)
        return made


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("yaml-keys", YamlKeys)


def _indexed(name: str, target: str) -> nodes.Node:
    """Return an entry of the index: a search for the name of a file finds this place first."""
    return addnodes.index(entries=[("single", name, target, "main", None)])


def _is_large(file: File) -> bool:
    return file.name.startswith("_") or len(file.keys) > FEW


def _sets(file: File) -> str:
    return ", ".join(f"`{key.name}: {_short(key.value)}`" for key in file.keys)


def _short(value: str) -> str:
    return value if len(value) <= LONG else f"{value[:LONG].rpartition(' ')[0]} …"


def _keys(file: File) -> nodes.Node:
    """Return the keys of a file, each with its default and its comment, which has the unit and the source."""
    return _list((key.name, _short(key.value), [key.meaning]) for key in file.keys)


def _list(entries: Iterable[tuple[str, str, Sequence[str]]]) -> nodes.definition_list:
    """Return a definition list of names, their values and texts, as narrow as any window."""
    made = nodes.definition_list(classes=["yaml-keys"])
    for name, value, texts in entries:
        term = nodes.term("", "", nodes.literal(name, name))
        if value:
            term += [nodes.Text(": "), nodes.literal(value, value)]
        paragraphs = [nodes.paragraph("", "", *_inline(text)) for text in texts if text.strip()]
        made += nodes.definition_list_item("", term, nodes.definition("", *paragraphs))
    return made


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
