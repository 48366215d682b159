"""How policies are called in text: the same in figures, reports, the explorer and on the terminal."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def listed() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of ``policies.yaml``: policy -> its label, and how it looks."""
    import yaml  # type: ignore[import-untyped] # types only by another package

    text = Path(__file__).with_name("policies.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return found


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
    """Return a policy's name in text with the name that a user types beside it.

    Examples
    --------
    >>> named("first_fit"), named("gang/buddy"), named("mine")
    ('First fit (first_fit)', 'Buddy (gang/buddy)', 'mine')
    """
    text = label(policy)
    return text if policy in text else f"{text} ({policy})"
