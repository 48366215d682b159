"""Datasets as a sweep writes them, fabricated from an experiment's declaration: the truth is known."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

LEFT, DONE, FAILED, EXCLUDED = range(4)
Point = Mapping[str, Any]
"""Values on all axes of the grid, ``batch``, and the metric's own dimensions."""

Truth = Callable[[str, Point], float]
"""(metric, point) -> true mean."""

Change = Callable[[str, Point, float], float]
"""(metric, point, true mean) -> mean that makes a sentence false."""


def _never(at: Point) -> bool:
    return False


@dataclass(frozen=True)
class Experiment:
    """What a fabricated dataset is made from.

    Parameters
    ----------
    grid : dict of str to sequence
    metrics : dict of str to tuple of str
        Metric -> dimensions of its own.
    truth : callable
    groups : dict of str to sequence
        Values of these dimensions.
    exclude, saturated : callable
        Point -> whether the grid leaves it out; whether it is saturated.
    noise, own : float
        Relative spread of what all policies share (common random numbers), and of each point's own, as a part
        of it.
    luck : tuple of str
        Axes along which the shared spread differs.
    spread : dict of str to float
        Metric -> factor on the noise; 0 for exact ones.
    replications : int
    batches : int or dict of str to int
        Of each workload.
    exact : bool
        Whether the dataset says that its numbers are.
    files : dict of str to callable
        Group of files -> (name) -> its parameters.
    settings, attrs : dict
    weights, names, units : dict of str to str
        Metric -> its weight, its long name, its unit.
    """

    grid: Mapping[str, Sequence[Any]]
    metrics: Mapping[str, tuple[str, ...]]
    truth: Truth
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    exclude: Callable[[Point], bool] = _never
    saturated: Callable[[Point], bool] = _never
    noise: float = 0.01
    own: float = 0.1
    luck: tuple[str, ...] = ("workload",)
    spread: Mapping[str, float] = field(default_factory=dict)
    replications: int = 10
    batches: int | Mapping[str, int] = 1
    exact: bool = False
    files: Mapping[str, Callable[[str], Mapping[str, Any]]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def points(self) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
        """Yield the places and the values of the points that the grid has."""
        for place in np.ndindex(*map(len, self.grid.values())):
            at = {axis: values[i] for (axis, values), i in zip(self.grid.items(), place, strict=True)}
            if not self.exclude(at):
                yield place, at

    def batches_of(self, workload: str) -> int:
        """Return how many batches a workload has."""
        return self.batches if isinstance(self.batches, int) else self.batches.get(workload, 1)

    def each(self, metric: str) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield the places of a metric's values in an array without replications, and the points there."""
        own = self.metrics[metric]
        for place, at in self.points():
            for group in np.ndindex(*(len(self.groups[dim]) for dim in own)):
                where = {dim: self.groups[dim][i] for dim, i in zip(own, group, strict=True)}
                # Where a number is given, all batches have one mean.
                for batch in range(1 if isinstance(self.batches, int) else self.batches_of(at["workload"])):
                    yield (*place, batch, *group), {**at, **where, "batch": batch}


def means(made: Experiment) -> dict[str, np.ndarray]:
    """Return the true means, shape (grid..., batches or 1, dimensions of the metric); NaN for none."""
    n_batches = 1 if isinstance(made.batches, int) else max(map(made.batches_of, made.grid["workload"]))
    shape = (*map(len, made.grid.values()), n_batches)
    found = {}
    for metric, own in made.metrics.items():
        found[metric] = np.full((*shape, *(len(made.groups[dim]) for dim in own)), np.nan)
        for place, at in made.each(metric):
            found[metric][place] = made.truth(metric, at)
    return found


def fabricate(
    name: str,
    made: Experiment,
    *,
    true: Mapping[str, np.ndarray] | None = None,
    unfinished: Callable[[Point], bool] = _never,
    seed: int = 1,
) -> xr.Dataset:
    """Return the dataset of an experiment; `true` are its means, where they have been computed."""
    true = means(made) if true is None else true
    random = np.random.default_rng(seed)
    shape, n = tuple(map(len, made.grid.values())), made.replications
    n_batches = max(map(made.batches_of, made.grid["workload"]))
    state, full = np.full((*shape, n), EXCLUDED, np.int8), np.zeros(shape, bool)
    for place, at in made.points():
        state[place] = LEFT if unfinished(at) else DONE
        full[place] = not unfinished(at) and made.saturated(at)
    run = (state == DONE)[..., None]
    shared = tuple(len(values) if axis in made.luck else 1 for axis, values in made.grid.items())
    luck = random.standard_normal((*shared, n, n_batches))
    dims, data = (*made.grid, "replication", "batch"), {}
    for metric, values in true.items():
        own = made.own * random.standard_normal((*shape, n, n_batches))
        spread = made.noise * made.spread.get(metric, 1.0)
        chance = np.where(run, 1 + spread * (luck + own), np.nan)
        wide = chance.reshape(*chance.shape, *(1,) * (values.ndim - len(shape) - 1))
        known = {"weight": made.weights, "long_name": made.names, "units": made.units}
        kept = {key: of[metric] for key, of in known.items() if metric in of}
        data[metric] = ((*dims, *made.metrics[metric]), np.expand_dims(values, len(shape)) * wide, kept)
    settings = {"name": name, "confidence": 0.95, "replications": n, "batches": n_batches, "seed": 1}
    settings |= {"batch_size": None, "warmup": 0, "axes": {}, **made.settings}
    groups = ("policy", "workload", "machine")
    config = {group: {one: dict(made.files.get(group, dict)(one)) for one in made.grid[group]}
              for group in groups} if made.files else {}  # fmt: skip
    flags = {"flag_values": np.arange(4, dtype=np.int8), "flag_meanings": "left done failed excluded"}
    used = {dim for own in made.metrics.values() for dim in own}
    return xr.Dataset(
        {**data, "state": (dims[:-1], state, flags), "saturated": (tuple(made.grid), full)}
        | capacities(made, true, full, (state == DONE).any(axis=-1))
        | ({"exact": (tuple(made.grid), np.ones(shape, bool))} if made.exact else {}),
        coords={a: [np.nan if one is None else one for one in values] for a, values in made.grid.items()}
        | {dim: list(made.groups[dim]) for dim in used},
        attrs={"title": name, "config": json.dumps({"settings": settings, **config}),
               "headline": next(iter(made.metrics)), **made.attrs},
    )  # fmt: skip


def capacities(
    made: Experiment, true: Mapping[str, np.ndarray], full: np.ndarray, run: np.ndarray
) -> dict[str, Any]:
    """Return the capacity of each curve: the least that is delivered where it is saturated, else all."""
    if "utilization" not in true or "load" not in made.grid:
        return {}
    axis = list(made.grid).index("load")
    delivered = np.where(full, true["utilization"][..., 0], 1.0).min(axis=axis)
    delivered = np.where(run.any(axis=axis), delivered, np.nan)
    error = np.full(delivered.shape, 1e-4)
    dims = [dim for dim in made.grid if dim != "load"]
    found = {"capacity": delivered, "capacity_se": error, "capacity_upper": delivered + 2 * error}
    return {name: (dims, values) for name, values in found.items()}


Places = Mapping[str, Sequence[tuple[tuple[Any, ...], Point]]]


def altered(
    data: xr.Dataset, made: Experiment, true: Mapping[str, np.ndarray], places: Places, change: Change
) -> xr.Dataset:
    """Return a dataset of an experiment with other means where a change has them."""
    found = data.copy()
    for metric, values in true.items():
        where = places[metric]
        before = values[tuple(np.array([place for place, _ in where]).T)]
        after = np.array(
            [change(metric, at, value) for (_, at), value in zip(where, before.tolist(), strict=True)]
        )
        hit = np.flatnonzero((after != before) & ~(np.isnan(after) & np.isnan(before)))
        if hit.size:
            array = data[metric].values.copy()
            for i in hit:
                place, n_axes = where[i][0], len(made.grid)
                batch = slice(None) if isinstance(made.batches, int) else place[n_axes]
                key = (*place[:n_axes], slice(None), batch, *place[n_axes + 1 :])
                array[key] = array[key] * (after[i] / before[i]) if before[i] else array[key] + after[i]
            found[metric] = data[metric].copy(data=array)
    return found


class Fabricated:
    """The experiments of a paper; the true means of each are computed once."""

    def __init__(self, experiments: Mapping[str, Experiment]) -> None:
        self.experiments = experiments
        self.means = cache(lambda name: means(experiments[name]))
        self.places = cache(lambda name: {m: list(experiments[name].each(m)) for m in self.means(name)})

    def dataset(
        self, name: str, *, truth: Truth | None = None, unfinished: Callable[[Point], bool] = _never,
        seed: int = 1, **changed: Any,
    ) -> xr.Dataset:  # fmt: skip
        """Fabricate an experiment with another truth, other fields, or other values on its axes."""
        made, fields = self.experiments[name], set(Experiment.__dataclass_fields__)
        axes = {key: value for key, value in changed.items() if key not in fields}
        rest = {key: value for key, value in changed.items() if key in fields}
        one = replace(made, grid={**made.grid, **axes}, truth=truth or made.truth, **rest)
        known = self.means(name) if not (truth or axes or set(rest) & {"exclude", "batches"}) else None
        return fabricate(name, one, true=known, unfinished=unfinished, seed=seed)

    def false(self, name: str, change: Change) -> xr.Dataset:
        """Fabricate an experiment in which a sentence is false."""
        return altered(self.true(name), self.experiments[name], self.means(name), self.places(name), change)

    @cache  # noqa: B019, one for each paper and session
    def true(self, name: str) -> xr.Dataset:
        """Fabricate an experiment in which every sentence is true."""
        return self.dataset(name)


def change(metric: Any = (), times: float = 1.0, plus: float = 0.0, **where: Any) -> Change:
    """Return what multiplies metrics (all by default) and adds to them, at points with some values on axes.

    Parameters
    ----------
    metric : str or list of str
        Also stands for the same metric of groups of jobs.
    **where : value, list of values, or dict ``{range: [begin, end, step]}``
        Axis -> its values, whole numbers of a range.
    """
    metrics, known = set(_listed(metric)), {axis: set(_listed(values)) for axis, values in where.items()}

    def changed(m: str, at: Point, value: float) -> float:
        here = not metrics or bool({m, m.partition("_by_")[0]} & metrics)
        here = here and all(at.get(axis) in values for axis, values in known.items())
        return times * value + plus if here else value

    return changed


def _listed(given: Any) -> Sequence[Any]:
    if isinstance(given, dict):
        return range(*given["range"])
    return given if isinstance(given, list | tuple) else [given]


def write(folder: Path, data: xr.Dataset) -> Path:
    """Write a dataset where the sweep would, and return its folder."""
    results = folder / json.loads(data.attrs["config"])["settings"]["name"]
    results.mkdir(parents=True)
    data.to_netcdf(results / f"{results.name}.nc")
    return results


SCHEMES = (
    "first_fit", "best_fit", "left_right_size", "left_right_slots", "min_max_load", "min_avg_load",
    "buddy", "migration",
)  # fmt: skip
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97)
METRICS = {
    "slowdown": "slowdown (response time / runtime)",
    "unifications": "fraction of terminations that lead to a slot unification",
    "slots_per_job": "slots in which a job runs",
    "utilization": "delivered PE time / capacity",
    "used_slots": "used slots",
}
WORKLOAD = {
    "model": "feitelson1996", "size_order": 1.0,
    "emphasis": {"powers_of_two": 100.0, "squares": 10.0, "multiples_of_ten": 10.0, "full_machine": 100.0,
                 "one_more": 3.0},
    "long_probability_small": 0.05, "long_probability_full": 0.25, "short_mean": 1.0, "long_mean": 7.0,
    "run_length_order": 2.5, "run_length_max": 1000, "repetition": "feedback", "rerun_runtime": "same",
    "load_reference": "sequence",
}  # fmt: skip
POLICY = {
    "family": "models.gang", "alternation": "exclusive", "precedence": "arrival", "unification": True,
    "remapping": False, "job_limit": 1000,
}  # fmt: skip
SATURATION = {"min_max_load": 0.9, "min_avg_load": 0.9}
"""Lowest saturated loads where the paper is right."""

COST = {"min_max_load": 1.7, "min_avg_load": 1.8, "buddy": 0.75, "migration": 0.78}
WITHOUT_ALTERNATION = {"buddy": 5.0, "migration": 1.05}
UNIFICATIONS = {"buddy": 0.008, "migration": 0.05, "min_max_load": 0.001, "min_avg_load": 0.0008}
SLOTS = {"buddy": 2.1, "migration": 1.2, "min_max_load": 1.4, "min_avg_load": 1.35}
USED = {"migration": 0.8, "buddy": 1.1}


def truth(
    metric: str, scheme: str, load: float, alternation: str = "exclusive", unification: bool = True
) -> float:
    """Return the mean that makes every sentence of Feitelson (1996) true."""
    if metric == "utilization":
        return load
    if metric == "unifications":
        return UNIFICATIONS.get(scheme, 0.002) * (0.85 + 0.1 * load) * unification
    if metric == "slots_per_job":
        return 1 + (SLOTS.get(scheme, 1.7) - 1) * load**4 * (alternation != "none")
    queueing = 0.5 * load**2 / (1.06 - load)
    if metric == "used_slots":
        return 1 + 2 * queueing * USED.get(scheme, 1.0)
    cost = 0.72 if scheme == "migration" and load > 0.8 else COST.get(scheme, 1.0)
    if alternation == "none":
        cost *= WITHOUT_ALTERNATION.get(scheme, 1.3)
    elif alternation == "shared":
        cost *= WITHOUT_ALTERNATION.get(scheme, 1.1) ** -0.5
    return 1 + queueing * cost


def packing(
    *,
    schemes: Sequence[str] = SCHEMES,
    loads: Sequence[float] = LOADS,
    alternations: Sequence[str] = ("none", "shared", "exclusive"),
    replications: int = 1,
    batches: int = 30,
    noise: float = 0.01,
    saturation: Mapping[str, float] | None = None,
    mean: Callable[..., float] = truth,
    workload: str = "feitelson1996",
    features: bool = True,
    readings: Mapping[str, Sequence[Any]] | None = None,
    exclude: Callable[[Point], bool] = _never,
) -> Experiment:
    """Declare a study of packing schemes.

    Parameters
    ----------
    saturation : dict of str to float
        Scheme -> lowest saturated load; utilization stays below that load from there on.
    features : bool
        Without, the dataset has no axes for them, as a study of a log.
    readings : dict of str to sequence
        Further axes; they change nothing but the luck.
    exclude : callable
        Point -> whether the grid leaves it out, beside what the packing experiment excludes.
    """
    limits = SATURATION if saturation is None else saturation

    def is_full(at: Point) -> bool:
        return bool(at["load"] >= limits.get(at["policy"], np.inf))

    def true(metric: str, at: Point) -> float:
        scheme, load = at["policy"], at["load"]
        found = mean(metric, scheme, load, at.get("alternation", "exclusive"), at.get("unification", True))
        if not is_full(at):
            return found
        return min(found, limits[scheme] - 0.03) if metric == "utilization" else 3 * found

    def left_out(at: Point) -> bool:
        no_unification = not at.get("unification", True)
        special = at.get("alternation", "exclusive") != "exclusive" or at["policy"] == "migration"
        return (no_unification and special) or exclude(at)

    axes = {"alternation": alternations, "unification": (True, False)} if features else {}
    grid = {
        "policy": schemes,
        "workload": [workload],
        "load": loads,
        "machine": ["pe128"],
        **axes,
        **(readings or {}),
    }
    return Experiment(
        grid, dict.fromkeys(METRICS, ()), true, exclude=left_out, saturated=is_full, noise=noise, own=0.5,
        luck=("load",), spread={"utilization": 0.1}, replications=replications, batches=batches,
        names=METRICS,
        files={
            "policy": lambda one: {**POLICY, "name": one, "scheme": one},
            "workload": lambda one: {**WORKLOAD, "name": one},
            "machine": lambda one: {"name": one, "processors": 128},
        },
        settings={"batch_size": 1000, "warmup": 1, "grid": {axis: list(v) for axis, v in grid.items()}},
    )  # fmt: skip


def dataset(
    *, name: str = "packing", seed: int = 1,
    unfinished: Callable[[str, float], bool] = lambda scheme, load: False, **declared: Any,
) -> xr.Dataset:  # fmt: skip
    """Fabricate a study of packing schemes, see `packing`."""
    made = packing(**declared)
    data = fabricate(name, made, unfinished=lambda at: unfinished(at["policy"], at["load"]), seed=seed)
    data.attrs |= {"command": f"python -m sweep +experiment={name}", "commit": "0" * 40}
    return data.assign(seconds=data["state"] * 0 + 0.1)
