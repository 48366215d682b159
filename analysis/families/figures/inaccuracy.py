"""Ratios of gang scheduling to policies that use requested times, over the inaccuracy of requests."""

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.families import break_even, labels
from analysis.families.contestants import Contestant, Field
from analysis.families.figures import payers
from analysis.figures import category_plot

WORDS = {"better": "better", "worse": "worse", "open": "no significant difference"}

Pair = tuple[Contestant, Contestant]


def users_of_requests(field: Field) -> list[Contestant]:
    """Return the contestants that use requests and run jobs to completion."""
    return [one for one in field.rigid if one.uses_requests and not one.slices]


def pairs(field: Field) -> list[Pair]:
    """Return pairs of a gang scheduler and a contestant to compare; none if f has a single value.

    Any number of slots, which uses no requests, is compared with all contestants that do; bounded levels with
    a backfilled queue are compared with the reference.
    """
    if len(field.inaccuracies) < 2:
        return []
    gang = field.find(field.scheme)
    found = [(gang, other) for other in users_of_requests(field)] if gang is not None else []
    levels = [field.find(field.scheme, level, labels.BACKFILL_QUEUE) for level in field.levels]
    if field.reference in users_of_requests(field):
        found += [(one, field.reference) for one in levels if one is not None]
    return found


def with_users_requests(
    field: Field, metric: str, one: Contestant, other: Contestant, name: str, load: float
) -> str:
    """Return the result with requests as users make them, as text; empty if the grid has none."""
    if labels.REAL not in field.study.values_of(labels.REQUESTS):
        return ""
    curves = (field.curve(metric, each, name, requests=labels.REAL).at(load) for each in (one, other))
    states = break_even.compare(*curves).states
    return WORDS[states[0]] if states else ""


def _load(field: Field, metric: str, name: str) -> float | None:
    """Return the highest load up to the usual one at which all are stable with all kinds of requests."""
    curves = [
        field.curve(metric, contestant, name, requests=requests)
        for pair in pairs(field)
        for contestant in pair
        for requests in _kinds(field)
    ]
    return payers.highest_common(curves)


def _kinds(field: Field) -> list[str]:
    return [
        *field.inaccuracies,
        *([labels.REAL] if labels.REAL in field.study.values_of(labels.REQUESTS) else []),
    ]


def _named(requests: str) -> str:
    if requests == labels.REAL:
        return "users'"
    return labels.EXACT if requests == labels.EXACT else f"f = {labels.overestimate(requests):g}"


def draw(field: Field) -> Figure:
    """Draw ratios to the reference over the inaccuracy of requests: measures in columns, workloads below."""
    mine = [one for one, other in pairs(field) if other == field.reference]
    plots = []
    for name in field.workloads:
        for metric in (metric for metric in labels.MEASURES if metric in field.study.data):
            load = _load(field, metric, name)
            if load is None:
                continue
            named = [_named(requests) for requests in _kinds(field)]
            each = [
                field.beside(metric, (*mine, field.reference), name, load, requests=requests)
                for requests in _kinds(field)
            ]
            ratios = {one: [beside.ratio(one) for beside in each] for one in mine}
            measure = labels.MEASURES[metric].capitalize()
            title = f"{labels.workload(field.study, name)}{labels.at_load(load)}"
            plots.append(payers.plot(field, named, ratios, measure, title))
    if not plots:
        raise DrawingError("at no load are all of them stable with all kinds of requests")
    return category_plot.panels(plots, "Gang scheduling and inaccurate requests", 2, height=2.6)
