"""Axes and points: which combinations of axis values a study has."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from sweep.config import canonical
from sweep.config.nested import get, has
from sweep.config.settings import GROUPS, Settings, as_list, too_high
from sweep.errors import SweepError, unknown

ALWAYS = ("policy", "workload", "load", "machine")
"""Axes that every dataset has, in this order, even at length 1."""


MOST_CELLS = 20_000_000
"""Maximum of cells in a grid, including those left out by zip and exclude: a mask takes a byte for each."""


ANY_KEYS = "*"
"""Target of an axis whose values set keys of any groups: ``{policy: {slice: 40}, machine: {disks: 1}}``."""


class KeyTarget(NamedTuple):
    """The target of an axis: a key of a config group, or with `ANY_KEYS` any keys that its values name."""

    group: str
    key: str

    def sets(self, group: str) -> bool:
        """Whether the axis may set keys of a group."""
        return self.group in (group, ANY_KEYS)


@dataclass(frozen=True)
class KeyAxis:
    """A grid axis that sets a key of a group: its name, the key (dotted where nested) and its values.

    A value with keys of its own sets these and leaves others as the file has them. An empty key stands for
    the file itself. With `for_others`, no file here has the key, see `sweep.plan.narrowed`. `unused` are
    named values outside the grid.
    """

    name: str
    key: str
    values: Sequence[Any]
    for_others: bool = False
    unused: Sequence[Any] = ()


@dataclass(frozen=True)
class Grid:
    """Axes and points of a study, and the keys that the axes set.

    Parameters
    ----------
    axes : dict of str to tuple
        Every axis with its values, in the dataset's order.
    points : ndarray of int, shape (n_points,)
        See `points`.
    where : dict of str to ndarray of int
        Axis -> position of each point on it.
    sets : dict of str to list of KeyAxis
        Group -> the axes that set keys of it.
    """

    axes: dict[str, tuple[Any, ...]]
    points: np.ndarray
    where: dict[str, np.ndarray]
    sets: Mapping[str, Sequence[KeyAxis]]

    @classmethod
    def of(cls, settings: Settings, for_others: Collection[str] = ()) -> Self:
        """Return the grid of a study.

        Parameters
        ----------
        for_others : collection of str
            Axes of keys that no file here has.
        """
        declared = targets(settings)
        named = _names(settings, declared)
        axes = _axes(settings, declared, named)
        flat = points(axes, settings)
        sets: dict[str, list[KeyAxis]] = {group: [] for group in GROUPS}
        for axis, target in declared.items():
            for group in filter(target.sets, GROUPS):
                own = named.get(axis, {})
                if target.group == ANY_KEYS:
                    own = {name: keys.get(group, {}) for name, keys in own.items()}
                left = [value for name, value in own.items() if name not in axes[axis]]
                values = [own.get(value, value) if isinstance(value, str) else value for value in axes[axis]]
                one = KeyAxis(axis, target.key, tuple(values), axis in for_others, tuple(left))
                sets[group].append(one)
        return cls(axes, flat, where(axes, flat), sets)


def where(axes: Mapping[str, Sequence[Any]], points: np.ndarray) -> dict[str, np.ndarray]:
    """Return axis -> position of each point on it, shape (n_points,)."""
    return dict(zip(axes, np.unravel_index(points, [len(values) for values in axes.values()]), strict=True))


def targets(settings: Settings) -> dict[str, KeyTarget]:
    """Return axis -> the key it sets, for the axes that the study declares itself."""
    found = {}
    for axis, target in settings.axes.items():
        group, _, key = str(target).partition(".")
        if axis in ALWAYS or not axis.isidentifier() or axis in ("replication", "batch"):
            raise SweepError(f"axes.{axis}: the name is reserved, or not an identifier; choose another")
        if target != ANY_KEYS and (group not in GROUPS or not key):
            raise SweepError(
                f"axes.{axis}={target}: give GROUP.KEY with a group of {', '.join(GROUPS)}, or '*' where "
                f"values.{axis} names the keys"
            )
        found[axis] = KeyTarget(group, key)
        if target == ANY_KEYS:
            _check_keys(axis, settings.values.get(axis))
    return found


def _check_keys(axis: str, given: Any) -> None:
    """Raise `SweepError` where values do not name the group of their keys."""
    values = given.values() if isinstance(given, Mapping) else [given]
    for value in values:
        if not isinstance(value, Mapping) or not all(
            group in GROUPS and isinstance(keys, Mapping) for group, keys in value.items()
        ):
            raise SweepError(
                f"axes.{axis}='*' takes named values that have keys of {', '.join(GROUPS)}, for instance "
                f"values.{axis}={{default: {{}}, long slices: {{policy: {{slice: 40}}}}}}; given: {value}"
            )


def _axes(
    settings: Settings, declared: Mapping[str, KeyTarget], named: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[Any, ...]]:
    """Return every axis with its values, in the dataset's order.

    A key that is both set (``policy.alternation=none``) and the key of an axis pins the axis to that value.
    """
    values = {axis: as_list(value) for axis, value in settings.grid.items()}
    values.setdefault("load", [None])
    for axis, own in named.items():
        values.setdefault(axis, list(own))
        # A name of digits is typed as a number: grid.switch_cost=[0,1] means "0" and "1".
        values[axis] = [
            str(value) if value not in own and str(value) in own else value for value in values[axis]
        ]
        for value in values[axis]:
            if value not in own:
                raise SweepError(unknown(f"value of grid.{axis}", str(value), own))
    for axis, target in declared.items():
        if target.group == ANY_KEYS:
            continue
        given = getattr(settings, target.group)
        if has(given, target.key):  # a given null is a value
            values[axis] = [_name(get(given, target.key), named.get(axis, {}))]
    for axis in values:
        if axis not in ALWAYS and axis not in declared:
            hint = unknown("axis", axis, [*ALWAYS, *declared])
            raise SweepError(f"grid.{axis}: {hint}; declare a new one with +axes.{axis}=policy.KEY")
    ordered = {}
    for axis in [*ALWAYS, *declared]:
        if axis not in values:
            raise SweepError(f"grid.{axis} is missing: give its values, grid.{axis}=[...]")
        ordered[axis] = _checked(axis, values[axis], is_share=not settings.is_program)
    return ordered


def _names(settings: Settings, declared: Mapping[str, KeyTarget]) -> dict[str, dict[str, Any]]:
    """Return axis -> name -> value, for the axes whose values the study names."""
    found = {}
    for axis, given in settings.values.items():
        if axis not in declared:
            raise SweepError(
                f"values.{axis}: {unknown('axis', axis, declared)}; names are for the values of axes that "
                "the study declares, axes={AXIS: GROUP.KEY}"
            )
        if not isinstance(given, Mapping) or not given:
            raise SweepError(
                f"values.{axis}={given}: give names with their values, values.{axis}={{NAME: VALUE}}"
            )
        own = {str(name): value for name, value in given.items()}
        alike: dict[str, str] = {}
        for name, value in own.items():
            if (other := alike.setdefault(canonical.text(value), name)) != name:
                raise SweepError(
                    f"values.{axis}: {other} and {name} are the same value; give each value once"
                )
        found[axis] = own
    return found


def _name(value: Any, own: Mapping[str, Any]) -> Any:
    """Return the name of a value; an unnamed value is its own."""
    wanted = canonical.text(value)
    return next((name for name, one in own.items() if canonical.text(one) == wanted), value)


def _checked(axis: str, values: Sequence[Any], is_share: bool) -> tuple[Any, ...]:
    if not values:
        raise SweepError(f"grid.{axis}=[]: an axis needs at least one value, grid.{axis}=[VALUE,...]")
    if axis == "load":
        values = [_load(value, is_share) for value in values]
    seen = set()
    for value in values:
        if isinstance(value, dict | list):
            raise SweepError(
                f"grid.{axis}: {value} is a list or a mapping; an axis takes numbers, strings, true, false; "
                f"name other values by values.{axis}={{NAME: VALUE}}"
            )
        if isinstance(value, str) and not value.isprintable():
            raise SweepError(f"grid.{axis} has {value!r}: give a name of printable characters")
        if (key := canonical.key(value)) in seen:
            raise SweepError(f"grid.{axis} has {value} twice: give each value once")
        seen.add(key)
    return tuple(values)


def _load(value: Any, is_share: bool) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_share and is_number and math.isfinite(value):
        return float(value)
    if not is_number or not 0 < value < math.inf:
        raise SweepError(
            f"grid.load has {value!r}: a load is a positive fraction of capacity, or null for none"
        )
    if (why := too_high(value)) is not None:
        raise SweepError(f"grid.load has {str(value)[:20]}, which is {why}")
    return float(value)


def points(axes: Mapping[str, Sequence[Any]], settings: Settings) -> np.ndarray:
    """Return the points of a study.

    Parameters
    ----------
    settings : Settings
        Its ``zip`` and ``exclude``.

    Returns
    -------
    ndarray of int, shape (n_points,)
        Flat positions (C order) in an array with one dimension for each axis.
    """
    names = list(axes)
    shape = tuple(len(values) for values in axes.values())
    if (cells := math.prod(shape)) > MOST_CELLS:
        sizes = " x ".join(f"{name} {size:,}" for name, size in zip(names, shape, strict=True) if size > 1)
        raise SweepError(f"a grid of {cells:,} cells ({sizes}): at most {MOST_CELLS:,}; give fewer values")
    index = dict(zip(names, np.ogrid[tuple(slice(n) for n in shape)], strict=True))
    mask = np.ones(shape, dtype=bool)
    for tied in settings.zip:
        _known(tied, names, f"zip=[{tied}]")
        if len({len(axes[name]) for name in tied}) > 1:
            sizes = ", ".join(f"{name} {len(axes[name])}" for name in tied)
            raise SweepError(
                f"zip: {sizes} values; only axes of equal length can be tied; give each the same number of "
                "values, or set zip=[]"
            )
        for name in tied[1:]:
            mask &= index[tied[0]] == index[name]
    for entry in settings.exclude:
        _known(entry, names, f"exclude=[{entry}]")
        drop = np.ones((1,) * len(shape), dtype=bool)
        for name, unwanted in entry.items():
            keys = {canonical.key(value) for value in as_list(unwanted)}
            drop = drop & np.array([canonical.key(value) in keys for value in axes[name]])[index[name]]
        mask &= ~drop
    flat = np.flatnonzero(mask)
    if not len(flat):
        raise SweepError("zip and exclude leave no point of the grid: add axis values, or set exclude=[]")
    return flat


def _known(given: Sequence[str] | Mapping[str, Any], names: Sequence[str], where: str) -> None:
    if not given:
        raise SweepError(f"{where}: an empty entry; name at least one axis of {', '.join(names)}")
    for name in given:
        if name not in names:
            raise SweepError(f"{where}: {unknown('axis', name, names)}")
