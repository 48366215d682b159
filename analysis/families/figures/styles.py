"""Styles of contestants: backfilling has cold colours, gang scheduling warm ones by level, partitions black.

Policies of different papers may share a style there, but not here. Dashes are an FCFS queue, or a speed-up
that is not linear; dots are switches with a cost.
"""

from dataclasses import replace
from functools import lru_cache

from analysis.families.contestants import Contestant, Field
from analysis.families.labels import BACKFILL_QUEUE, EQUI_PLUS, FOLD, LINEAR, SHARING, UNBOUNDED
from analysis.figures import policies, style
from analysis.figures.style import SchemeStyle

SCHEMES = {"first_fit": ("#cc6677", "o"), "best_fit": ("#aa4499", "s"), "migration": ("#7a1f00", "X")}
"""Packing schemes with any number of slots whose own colours are not warm."""

LEVELS = {"2": ("#e69f00", "v"), "3": ("#d55e00", "^"), "5": ("#cc79a7", "<")}
SPARE_LEVEL = ("#ddaa33", ">")
PARTITIONS = {EQUI_PLUS: ("#111111", "X"), FOLD: ("#777777", "*"), SHARING: ("#444444", "P")}


def style_of(field: Field, one: Contestant, cost: float = 0.0) -> SchemeStyle:
    """Return the style of a contestant of a study whose switches take some percent of a slice."""
    base = _styles(field).get(one) or _own_style(one)
    return replace(base, label=f"{one.label}, switches {cost:g} %", dashes=":") if cost else base


@lru_cache(maxsize=4)
def _styles(field: Field) -> dict[Contestant, SchemeStyle]:
    # The scheme that is drawn at all levels keeps their colours.
    ordered = sorted(field.all, key=lambda one: one.policy != field.scheme)
    return policies.apart({one: _own_style(one) for one in ordered})


def _own_style(one: Contestant) -> SchemeStyle:
    base = replace(policies.style_of(one.policy), label=one.label, dashes="-")
    if one.slices and one.level == UNBOUNDED:
        color, marker = SCHEMES.get(one.policy, (base.color, base.marker))
        base = replace(base, color=color, marker=marker)
    elif one.slices:
        color, marker = LEVELS.get(one.level, SPARE_LEVEL)
        base = replace(base, color=color, marker=marker)
        if one.queue != BACKFILL_QUEUE:
            base = replace(base, color=style.shade(color, 0.35), dashes="--")
    if one.reshapes:
        color, marker = PARTITIONS.get(one.policy, (base.color, base.marker))
        base = replace(base, color=color, marker=marker, dashes="-" if one.speedup == LINEAR else "--")
    return base
