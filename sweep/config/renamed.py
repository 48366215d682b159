"""Names that have changed: whoever still uses the old one is told the new one."""

from __future__ import annotations

KEYS = {
    "machine.n_pes": "machine.processors",
    "machine.rows": "machine.mesh=ROWSxCOLUMNS",
    "machine.columns": "machine.mesh=ROWSxCOLUMNS",
    "policy.bound": "measures.bound",
}
"""Keys below policy, workload and machine."""

FILES = {"policy/partitioning/fcfs": "policy/partitioning/one_at_a_time"}
"""Files of config groups."""


def key(old: str) -> str | None:
    """Return the line that names a key's new name, None for a key that never was one.

    Examples
    --------
    >>> key("machine.n_pes")
    'machine.n_pes is called machine.processors now'
    """
    return f"{old} is called {KEYS[old]} now" if old in KEYS else None


def file(group: str, old: str) -> str | None:
    """Return the line that names the new name of a group's file, None for one that never was there."""
    new = FILES.get(f"{group}/{old}")
    return None if new is None else f"{group} {old} is called {new.removeprefix(f'{group}/')} now"
