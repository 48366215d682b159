"""Which reading of the paper an experiment took, in words, from the parameters that its dataset carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.study import Study

MEANINGS = {
    "alternation": {
        "shared": "a job counts every slot whose mapped jobs leave its PEs free, whoever else does; PEs that "
        "two jobs so fill at once count twice, so that utilization can exceed 1",
        "exclusive": "a PE of a slot serves one job",
        "none": "jobs run only in the slot to which they are mapped",
    },
    "unification": {
        "true": "slots whose PEs have become disjoint are united",
        "false": "slots are never united",
    },
    "precedence": {"arrival": "free PEs go to the earliest job first (only under exclusive)"},
    "repetition": {
        "feedback": "the next run of a job is submitted when the previous one ends",
        "sequence": "each run is one more arrival",
    },
    "rerun_runtime": {
        "same": "each run takes as long as the first",
        "redrawn": "each run's runtime is drawn anew",
    },
    "load_reference": {
        "expected": "the offered load is that of the model",
        "sequence": "the offered load is that of the very sequence of jobs",
    },
    "slot_choice": {
        "first": "of several slots with the controller's PEs free, the first",
        "fullest": "of several slots with the controller's PEs free, the fullest",
    },
    "controller_load": {
        "paths": "jobs of the controller, maximum below it, sum above it (Fig. 2)",
        "recursive": "the text to the letter, children's loads with their ancestors in them",
        "pes": "the PEs' own loads (the paper's “simplified scheme”)",
    },
}
"""Choice -> value -> what it means."""

CHOICES = {
    "policy": ("precedence", "slot_choice", "controller_load", "threshold"),
    "workload": (
        "model",
        "size_order",
        "emphasis",
        "short_mean",
        "long_mean",
        "long_probability_small",
        "long_probability_full",
        "run_length_order",
        "run_length_max",
        "repetition",
        "rerun_runtime",
        "load_reference",
    ),
    "machine": ("n_pes",),
}


def readings(study: Study) -> Sequence[tuple[str, str]]:
    """Return pairs of a choice that the paper leaves open and what this dataset took, with its meaning."""
    several = study.readings["A"].reading
    rows = [(axis, f"varied: {', '.join(study.values_of(axis))}") for axis in several]
    for axis, value in study.usual().items():
        if axis in several:
            continue
        others = [other for other in study.values_of(axis) if other != value]
        tail = f" (also in this dataset: {', '.join(others)})" if others else ""
        rows.append((axis, f"{_explained(axis, value)}{tail}"))
    for group, keys in CHOICES.items():
        files: Mapping[str, Mapping[str, Any]] = study.config.get(group, {})
        for key in keys:
            if key not in several:
                rows += _choice(group, key, files)
    return rows


def _choice(group: str, key: str, files: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return a row for a key, with the names of the files where these differ in it."""
    values: dict[str, list[str]] = {}
    for name, file in files.items():
        if key in file:
            values.setdefault(_explained(key, file[key]), []).append(name)
    if len(values) == 1:
        return [(f"{group}.{key}", next(iter(values)))]
    return [(f"{group}.{key}", f"{value} [{', '.join(names)}]") for value, names in values.items()]


def _explained(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{part.replace('_', ' ')} × {factor:g}" for part, factor in value.items())
    text = str(value).lower() if isinstance(value, bool) else str(value)
    meaning = MEANINGS.get(key, {}).get(text)
    return f"{text}: {meaning}" if meaning else text
