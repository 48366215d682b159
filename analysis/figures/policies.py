"""Names and styles of policies, the same in every figure of every paper and log."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import TypeVar

from analysis.figures.style import SchemeStyle, shade
from sweep.policy_names import label, listed

T = TypeVar("T")

KEYS = [key.name for key in fields(SchemeStyle)]

STYLES = {
    name: SchemeStyle(**{key: row[key] for key in KEYS if key in row})
    for name, row in listed().items()
    if "color" in row
}
"""Policy -> its style, in the order of legends."""

# For policies that are not listed; the name decides, so a policy has one style in every figure and run.
SPARE_COLORS = ("#332288", "#cc79a7", "#117733", "#aa4499", "#6699cc", "#661100", "#44aa99", "#ddaa33")
SPARE_MARKERS = ("P", "p", "h", "*", "8", "d", "H")


def style_of(policy: str) -> SchemeStyle:
    """Return the style of a policy, the same in every figure; one made from its name if it is not listed."""
    if (name := policy.rpartition("/")[2]) in STYLES:
        return replace(STYLES[name], label=label(policy))
    number = zlib.crc32(policy.encode())
    color, marker = SPARE_COLORS[number % len(SPARE_COLORS)], SPARE_MARKERS[number % len(SPARE_MARKERS)]
    return SchemeStyle(label(policy), color, marker, "-.")


def apart(styles: Mapping[T, SchemeStyle]) -> dict[T, SchemeStyle]:
    """Return styles that all differ: where two have one colour and one marker, the later one changes.

    If there are more than there are styles, some share one.
    """
    found: dict[T, SchemeStyle] = {}
    for name, one in styles.items():
        spare = iter([*zip(SPARE_COLORS, SPARE_MARKERS, strict=False), *product(SPARE_COLORS, SPARE_MARKERS)])
        while (one.color, one.marker) in {(other.color, other.marker) for other in found.values()}:
            color, marker = next(spare, ("", ""))
            if not color:
                break
            one = SchemeStyle(one.label, color, marker, one.dashes)
        found[name] = one
    return found


def shaded(policy: str, details: Sequence[str], lightest: float = 0.65) -> list[SchemeStyle]:
    """Return the styles of several lines of a policy, from light to dark.

    Parameters
    ----------
    details : sequence of str
        The part of each line's name after the policy's.
    lightest : float
        Share of white in the first colour, see `style.shade`.
    """
    one, last = style_of(policy), max(1, len(details) - 1)
    return [
        SchemeStyle(
            f"{one.label}, {detail}", shade(one.color, lightest * (1 - n / last)), one.marker, one.dashes
        )
        for n, detail in enumerate(details)
    ]
