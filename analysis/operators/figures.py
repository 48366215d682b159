"""Pictures that compare policies on a log: their measures, differences from the reference, groups of jobs."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.figures.captions import captioned
from analysis.figures.policies import style_of
from analysis.operators import acceptance, panels
from analysis.operators.case import Case, cases
from analysis.operators.labels import MEASURES, SLOWDOWN, VERDICTS, WAIT
from analysis.operators.sample import Sample
from analysis.paper import Picture
from analysis.report.cells import TONES
from analysis.study import Study
from analysis.study.axes import FIFTH, GROUPINGS, RANKED, Group, Grouping
from models.counting import counted
from sweep.numbers import PURE, Unit, time_unit
from sweep.policy_names import label
from sweep.statistics import Comparison


def pictures(study: Study) -> Sequence[Picture]:
    """Return all pictures of a study; names include the reading and the load where there are several."""
    found: list[Picture] = []
    for case in cases(study):
        made = _pictures(case)
        found += (picture.marked(case.name, case.label) for picture in made) if case.name else made
    return found


def _pictures(case: Case) -> Iterator[Picture]:
    limits = acceptance.in_words(case)
    if acceptance.candidates(case):
        yield from captioned(
            "operators", case.study, {"trade-offs": _trade_offs}, subject=case, accepted=limits
        )
    drawn = {"against-reference": _against, "policies": _overview}
    yield from captioned("operators", case.study, drawn, subject=case)
    for grouping in (one for one in case.groupings if one in (*GROUPINGS, FIFTH)):
        of, more = grouping.dim.partition("_")[0], {"groups": grouping.title}
        for row, draw in (("wait-by", _by_group), ("difference-by", _differences)):
            one = {f"{row}-{of}": partial(draw, grouping=grouping)}
            yield from captioned("operators", case.study, one, row, case, **more)


def _overview(case: Case) -> Figure:
    reference = case.reference
    figure, places = panels.page(2, 3, len(case.policies))
    rows = np.arange(len(case.policies))[::-1]
    for axes, (metric, title) in zip(places, MEASURES.items(), strict=True):
        unit = case.units[metric]
        means = np.array([case.level(metric, policy).mean for policy in case.policies]) / unit.size
        colors = [style_of(policy).color for policy in case.policies]
        axes.barh(rows, means, 0.68, color=colors)
        panels.name_panel(axes, title, unit)
        was = case.recorded(metric).mean / unit.size
        shown = means if np.isnan(was) else np.append(means, was)
        axes.set_xlim(0, panels.axis_end(shown, np.zeros_like(shown)))
        if not np.isnan(was):
            panels.draw_record(axes, was)
        panels.mark_beyond(axes, rows, means, ["#222222"] * len(rows))
        panels.name_rows(axes, [label(policy) + " *" * (policy == reference) for policy in case.policies])
    if case.has_record:
        figure.legend(handles=[panels.record_handle()], loc="outside lower center")
    return figure


def _trade_offs(case: Case) -> Figure:
    """Draw the gain of each better policy beside its costs, one policy per row."""
    better, limits = acceptance.candidates(case), acceptance.accepted(case)
    shown = [*(one for one in better if not one.broken), *(one for one in better if one.broken)]
    figure, places = panels.page(1, 3, len(shown), panels.TRADED)
    rows = np.arange(len(shown))[::-1]
    found = [one.change for one in shown]
    panels.draw_differences(places[0], found, Unit(" %", case.mean(WAIT, case.reference).mean / 100))
    places[0].set_xlabel("mean wait: change (%)")
    bounds = np.full((len(shown), 2), np.nan)
    for place, one in enumerate(shown):
        paid = next(iter(one.paying.values()), None)
        if paid is not None and paid.reference > 0:
            bounds[place] = 1 + paid.low / paid.reference, 1 + paid.high / paid.reference
    costs = (
        (
            "longest_wait",
            "longest wait (ratio)",
            [one.longest_ratio for one in shown],
            np.full_like(bounds, np.nan),
        ),
        ("group_wait", "worst group (ratio)", [one.worst for one in shown], bounds),
    )
    for axes, (key, title, given, ends) in zip(places[1:], costs, strict=True):
        ratios, limit = np.array(given), limits[key] or np.inf
        finite = ratios[np.isfinite(ratios)]
        axes.set_xscale("log")
        for row, value, (low, high) in zip(rows, ratios, ends, strict=True):
            sign = VERDICTS["worse" if value > limit else "no difference shown"]
            bar = None if np.isnan(low) or low <= 0 else [[max(value - low, 0)], [max(high - value, 0)]]
            axes.errorbar(value, row, xerr=bar, color=sign.color, marker=sign.marker, lw=1.0)
        axes.axvline(1, color="#222222", lw=0.8)
        if np.isfinite(limit):
            axes.axvline(limit, **panels.RECORD)
        most = max(finite.max(initial=1), limit if np.isfinite(limit) else 1)
        axes.set_xlim(min(0.8, 0.9 * finite.min(initial=1)), 1.3 * most)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(style.THOUSANDS)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(title)
    panels.name_rows(places[0], [label(one.policy) + " ✗" * bool(one.broken) for one in shown])
    return figure


def _against(case: Case) -> Figure:
    """Draw the changes of the mean wait, the best at the top, and beside them how often it was lower."""
    others = sorted(_others(case), key=lambda policy: case.difference(WAIT, policy).mean)
    found = [case.difference(WAIT, policy) for policy in others]
    usual, unit = case.mean(WAIT, case.reference).mean, case.units[WAIT]
    if usual > 0:
        unit = Unit(" %", usual / 100)
    figure, (axes,) = panels.page(1, 1, len(others), panels.NARROW)
    panels.draw_differences(axes, found, unit)
    panels.name_rows(axes, list(map(label, others)))
    axes.set_xlabel(f"change against {case.against} ({unit.name.strip()})")
    if not case.is_one_batch:
        beside = axes.secondary_yaxis("right")
        counts = [f"{one.lower} of {one.lower + one.higher}" for one in found]
        beside.set_yticks(axes.get_yticks(), counts)
        beside.tick_params(length=0)
        beside.spines[:].set_visible(False)
        axes.set_title(
            f"{Sample.of(case).values} with a lower mean", loc="right", fontsize=8, fontweight="normal"
        )
    panels.put_headline(figure, "Mean wait", found)
    return figure


MOST_GROUPS, MOST_POLICIES, MOST_LINES = 10, 3, 5
"""Most users (or accounts, partitions), most policies beside the reference of a picture of them, and most
lines beside it."""


def _by_group(case: Case, grouping: Grouping) -> Figure:
    reference = case.reference
    # Users are points, side by side, which no line connects.
    n_groups, most = (MOST_GROUPS, MOST_POLICIES) if grouping in RANKED else (None, MOST_LINES)
    groups = _groups(case, grouping)[:n_groups]
    best = sorted(case.others, key=lambda policy: case.difference(WAIT, policy).mean)[:most]
    policies = [policy for policy in case.policies if policy in (reference, *best)]
    named = [case.label_of(group) for group in groups]
    figure, places = style.page(panels.WIDTH, 5.6, 2, 1, sharex=True)
    levels = [case.mean(WAIT, reference, group).mean for group in groups]
    units = {WAIT: time_unit(levels), SLOWDOWN: PURE}
    x = np.arange(len(groups))
    for axes, (metric, unit) in zip(places, units.items(), strict=True):
        shown = []
        for number, policy in enumerate(policies):
            mine = style_of(policy)
            means = np.array([case.mean(metric, policy, group).mean for group in groups]) / unit.size
            # Groups have an order, but users have none for a line to follow.
            side = (number - (len(policies) - 1) / 2) * (0.7 / len(policies) if grouping in RANKED else 0.02)
            dashes = "" if grouping in RANKED else mine.dashes
            axes.plot(x + side, means, color=mine.color, marker=mine.marker, linestyle=dashes, lw=1.0)
            shown.append(means)
        was = np.array([case.recorded(metric, group).mean for group in groups]) / unit.size
        if not np.isnan(was).all():
            line = "" if grouping in RANKED else panels.RECORD["linestyle"]
            axes.plot(x, was, **{**panels.RECORD, "linestyle": line}, marker="_", markersize=9)
            shown.append(was[~np.isnan(was)])
        panels.make_logarithmic(axes, np.concatenate(shown))
        axes.set_ylabel(f"{MEASURES[metric]}{f' ({unit.name.strip()})' if unit.name else ''}")
        axes.grid(axis="x", visible=False)
    jobs = [float(np.nansum(case.jobs(group))) for group in groups]
    texts = [f"{name}\n{counted(round(n), 'job')}" for name, n in zip(named, jobs, strict=True)]
    if grouping in RANKED:
        texts = [f"{name} ({counted(round(n), 'job')})" for name, n in zip(named, jobs, strict=True)]
    tilt: dict[str, Any] = {"rotation": 90} if grouping in RANKED else {}
    places[-1].set_xticks(x, texts, fontsize=7.5, **tilt)
    style.key_below(
        figure,
        [
            *(style_of(policy).legend_handle() for policy in policies),
            *([panels.record_handle()] * case.has_record),
        ],
        panels.legend_columns(list(map(label, policies))),
    )
    style.put_headline(figure, f"By {grouping.title}")
    return figure


def _differences(case: Case, grouping: Grouping) -> Figure:
    groups = _groups(case, grouping)
    every = {policy: case.differences(WAIT, policy, grouping) for policy in _others(case)}
    shows = {
        policy: {group for group, one in found.items() if one.verdict in (*TONES, "no interval")}
        for policy, found in every.items()
    }
    others = [policy for policy, found in shows.items() if found]
    others = sorted(others, key=lambda policy: case.difference(WAIT, policy).mean)[:MOST_POLICIES]
    shows = {policy: shows[policy] for policy in others}
    differing = [group for group in groups if any(group in found for found in shows.values())]
    if not differing:
        raise DrawingError(
            f"no group by {grouping.title} is shown to wait more or less than under {case.against}"
        )
    if grouping in RANKED:  # ranges have an order, in which none is missing
        groups = differing[:MOST_GROUPS]
    unit = time_unit(case.mean(WAIT, case.reference, group).mean for group in groups)
    n_columns = min(3, len(others))
    figure, places = panels.page(-(-len(others) // n_columns), n_columns, len(groups))
    shown: list[Comparison] = []
    for axes, policy in zip(places, others, strict=False):
        found = [every[policy][group] for group in groups]
        panels.draw_differences(axes, found, unit)
        panels.name_panel(axes, label(policy), unit)
        panels.name_rows(axes, [case.label_of(group) for group in groups])
        shown += found
    for axes in places[len(others) :]:
        axes.set_visible(False)
    panels.put_headline(figure, f"Change of the mean wait against {case.against}, by {grouping.title}", shown)
    return figure


def _others(case: Case) -> list[str]:
    """Return the policies to compare; raise an error if there are none."""
    reference = case.reference
    if not case.others:
        raise DrawingError(f"{reference} is the only policy: give several, grid.policy=[easy,conservative]")
    return case.others


def _groups(case: Case, grouping: Grouping) -> list[Group]:
    """Return the groups to draw; raise an error if there are none."""
    if groups := case.identified(grouping):
        return groups
    raise DrawingError(f"no {grouping.title} is identified for the jobs of {case.reference}")
