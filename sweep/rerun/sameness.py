"""Whether two datasets are the same, bit for bit, and what differs if they are not."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from models.counting import counted
from sweep.store.state import DONE, EXCLUDED

OWN = ("seconds",)
"""Variables that differ between any two runs."""

JOINT = ("bias", "capacity", "capacity_se", "capacity_upper", "too_short")
"""Variables that depend on tasks of other points as well: not compared while the dataset is unfinished."""

OWN_ATTRIBUTES = (
    "command",
    "versions",
    "commit",
    "created",
    "config",
    "recipe",
    "sources",
    "families",
    "history",
    "source",
)
"""Attributes of a run; `sweep.rerun.versions` compares the code and versions in them."""


def lacking(old: xr.Dataset, new: xr.Dataset) -> int:
    """Return how many tasks that are done in the old dataset are not done in the new one."""
    if old["state"].shape != new["state"].shape:
        return int((new["state"].values != DONE).sum())
    return int(((old["state"].values == DONE) & (new["state"].values != DONE)).sum())


def unfinished(old: xr.Dataset) -> int:
    """Return how many tasks of a dataset were never finished."""
    return int((~np.isin(old["state"].values, (DONE, EXCLUDED))).sum())


def differences(old: xr.Dataset, new: xr.Dataset) -> Iterator[str]:
    """Yield the differences, one line for each variable or attribute.

    Where the old one was not finished, only its finished points are compared; where the two have different
    formats, the values of the variables that both have.
    """
    alike = old.attrs.get("schedsweep_format", 1) == new.attrs.get("schedsweep_format", 1)
    names = (
        old.variables.keys() | new.variables.keys() if alike else old.variables.keys() & new.variables.keys()
    )
    for name in sorted(map(str, names)):
        if name in OWN or (name in JOINT and unfinished(old)):
            continue
        if name not in new.variables or name not in old.variables:
            yield f"{name}: only in {'the file' if name in old.variables else 'the rerun'}"
            continue
        yield from _variable(name, old, new, alike)
    for key in sorted(old.attrs.keys() | new.attrs.keys()) if alike else ():
        if key not in OWN_ATTRIBUTES and _plain(old.attrs.get(key)) != _plain(new.attrs.get(key)):
            there, here = (_short(data.attrs.get(key)) for data in (old, new))
            yield f"attribute {key}: {there} in the file, {here} here"


def _variable(name: str, old: xr.Dataset, new: xr.Dataset, alike: bool) -> Iterator[str]:
    one, other = old.variables[name], new.variables[name]
    if not alike and one.dtype.kind == other.dtype.kind:
        other = other.astype(one.dtype)  # an integer may be stored in fewer bytes
    if one.dims != other.dims or one.shape != other.shape or one.dtype != other.dtype:
        yield f"{name}: {_form(one)} in the file, {_form(other)} here"
        return
    differ = _differ(one.values, other.values)
    if (known := _known(old, one.dims)) is not None:
        differ = differ & np.broadcast_to(known, differ.shape)
    if n := int(differ.sum()):
        most = _most(one.values[differ], other.values[differ])
        yield f"{name}: {counted(n, 'value', 'differs', of=differ.size)}{most}"
    if alike and {key: _plain(value) for key, value in one.attrs.items()} != {
        key: _plain(value) for key, value in other.attrs.items()
    }:
        yield f"{name}: its attributes differ (unit, name, or what its interval covers)"


def _known(old: xr.Dataset, dims: tuple[Any, ...]) -> np.ndarray | None:
    """Return where an unfinished dataset has what can be compared; None where all can be."""
    state = old["state"]
    if not unfinished(old) or not set(dims) & set(state.dims):
        return None
    finished = state.isin((DONE, EXCLUDED))
    if "replication" not in dims:
        finished = finished.all("replication")
    if not set(finished.dims) <= set(dims):
        return None
    shaped = finished.transpose(*(dim for dim in dims if dim in finished.dims)).values
    return shaped.reshape([old.sizes[dim] if dim in finished.dims else 1 for dim in dims])


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where two arrays of one kind differ; numbers are compared by their bits."""
    if one.dtype.kind in "OUS":
        return np.asarray(one != other)
    bits = np.dtype(f"u{one.dtype.itemsize}")
    left, right = (np.ascontiguousarray(array).reshape(array.shape) for array in (one, other))
    return np.asarray(left.view(bits) != right.view(bits))


def _most(one: np.ndarray, other: np.ndarray) -> str:
    """Return in words the largest relative difference of values."""
    if one.dtype.kind not in "fiu":
        return ""
    apart = np.abs(one.astype(float) - other.astype(float))
    scale = np.maximum(np.abs(one.astype(float)), np.abs(other.astype(float)))
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(scale == 0, 0.0, apart / scale)
    known = relative[~np.isnan(relative)]
    return f", by {known.max():.2g} of the value at most" if known.size else ", where one has none"


def _form(variable: xr.Variable) -> str:
    sizes = " × ".join(f"{dim} {size}" for dim, size in variable.sizes.items())
    return f"{variable.dtype} {sizes}".strip()


def _plain(value: Any) -> Any:
    """Return an attribute in comparable form: JSON is compared by content."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and np.isnan(value):
        return "nan"
    if isinstance(value, str) and value.startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
