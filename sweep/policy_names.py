"""Names of policies in text: the same in figures, reports, the explorer and on the terminal."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sweep.config import locate
from sweep.errors import SweepError


@cache
def listed() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of ``policies.yaml`` in all config folders: policy -> its label and its style."""
    import yaml  # type: ignore[import-untyped] # types only by another package

    found: dict[str, Mapping[str, Any]] = {}
    for file in (folder / "policies.yaml" for folder in locate.folders()):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            rows = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            if not isinstance(rows, dict) or not all(
                isinstance(row, dict) and isinstance(row.get("label"), str) for row in rows.values()
            ):
                raise SweepError(f"{file}: give each policy a label, for instance mine: {{label: Mine}}")
            found |= {name: row for name, row in rows.items() if name not in found}
    return found


@cache
def usual_reference() -> str | None:
    """Return the policy that others are compared with by default, marked ``reference`` in those rows."""
    return next((name for name, row in listed().items() if row.get("reference")), None)


def label(policy: str) -> str:
    """Return a policy's name in text; with the folder where one is given, as two policies may share a name.

    Examples
    --------
    >>> label("easy"), label("gang/buddy"), label("mine")
    ('EASY', 'Buddy (gang/buddy)', 'mine')
    """
    folder, _, name = policy.rpartition("/")
    if name not in listed():
        return policy
    found: str = listed()[name]["label"]
    return f"{found} ({policy})" if folder else found


def named(policy: str) -> str:
    """Return a policy's name in text, followed by the name that a user types.

    Examples
    --------
    >>> named("first_fit"), named("gang/buddy"), named("mine")
    ('First fit (first_fit)', 'Buddy (gang/buddy)', 'mine')
    """
    text = label(policy)
    return text if policy in text else f"{text} ({policy})"
