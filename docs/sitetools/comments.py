"""Keys of YAML files: values as they are written, and the comments beside and above them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Key:
    """A key of a YAML file.

    Parameters
    ----------
    name : str
        With those above it, dotted.
    value : str
        Default, as the file has it, in one line.
    comment : str
        Comment lines above and beside it.
    """

    name: str
    value: str
    comment: str

    @property
    def meaning(self) -> str:
        """The comment in one line."""
        return " ".join(self.comment.split())


@dataclass(frozen=True)
class File:
    """A YAML file.

    Parameters
    ----------
    name : str
    head : str
        The comment that it begins with.
    keys : tuple of Key
        In their order, without ``defaults``, see `bases`.
    bases : tuple of str
        Files that it builds on.
    """

    name: str
    head: str
    keys: tuple[Key, ...]
    bases: tuple[str, ...]


def read(file: Path) -> File:
    """Return the keys and comments of a YAML file."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    head_lines = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    head = "\n".join(
        line.removeprefix("#").removeprefix(" ") for line in head_lines if not line.startswith("# @")
    )
    root = yaml.compose(text)
    keys: list[Key] = []
    bases: tuple[str, ...] = ()
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "defaults":
                bases = tuple(_bases(yaml.safe_load(text)["defaults"]))
                continue
            keys += _keys(key, value, "", text, lines, len(head_lines))
    return File(file.stem, head, tuple(keys), bases)


def _bases(defaults: list[object]) -> Iterator[str]:
    for base in defaults:
        if isinstance(base, str) and base != "_self_":
            yield base.partition("@")[0].lstrip("/")


def _keys(
    key: yaml.Node, value: yaml.Node, prefix: str, text: str, lines: list[str], first: int
) -> Iterator[Key]:
    """Yield a key, or those below it if it has a block of them."""
    comment = "\n".join(filter(None, (_above(lines, key.start_mark.line, first), _beside(lines, key, value))))
    name = f"{prefix}{key.value}"
    if isinstance(value, yaml.MappingNode) and not value.flow_style and value.value:
        of_first = True
        for below, what in value.value:
            for found in _keys(below, what, f"{name}.", text, lines, first):
                # A comment on the block is shown with its first key.
                text_of = "\n".join(filter(None, (comment if of_first else "", found.comment)))
                yield Key(found.name, found.value, text_of)
                of_first = False
        return
    yield Key(name, _written(value, text), comment)


def _written(node: yaml.Node, text: str) -> str:
    """Return a value in one line and without comments, its parts as the file has them."""
    if isinstance(node, yaml.SequenceNode):
        return f"[{', '.join(_part(part, text) for part in node.value)}]"
    if isinstance(node, yaml.MappingNode):
        parts = (f"{_part(key, text)}: {_part(value, text)}" for key, value in node.value)
        return f"{{{', '.join(parts)}}}"
    return " ".join(text[node.start_mark.index : node.end_mark.index].split())


def _part(node: yaml.Node, text: str) -> str:
    """Return a value inside another: text with a comma, which a line of its own may have, needs quotes."""
    written = _written(node, text)
    bare = isinstance(node, yaml.ScalarNode) and node.style is None
    return f'"{written}"' if bare and set(written) & set(",[]{}") else written


def _above(lines: list[str], line: int, first: int) -> str:
    """Return the comment above a line, which is not the file's own."""
    found: list[str] = []
    while (line := line - 1) >= first and lines[line].lstrip().startswith("#"):
        found.append(lines[line].lstrip().removeprefix("#").strip())
    return " ".join(reversed(found))


def _beside(lines: list[str], key: yaml.Node, value: yaml.Node) -> str:
    """Return the comment behind a value, or behind a key that has more below."""
    block = not isinstance(value, yaml.ScalarNode) and not value.flow_style
    end = key.end_mark if block else value.end_mark
    rest = lines[end.line][end.column :] if end.line < len(lines) else ""
    _, sign, comment = rest.partition("#")
    return comment.strip() if sign else ""
