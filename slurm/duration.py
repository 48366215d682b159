"""Durations as Slurm writes and reads them."""

import re

FORMS = "MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS, DAYS-HOURS:MINUTES[:SECONDS]"

_CLOCK = re.compile(r"(?:(\d+):)?(?:(\d+):)?(\d+)")
_DAYS = re.compile(r"(\d+)-(\d+)(?::(\d+))?(?::(\d+))?")


def seconds(text: str) -> float | None:
    """Return a duration in seconds, None where it has no end (``UNLIMITED``, ``infinite``) or is not known.

    Raises
    ------
    ValueError
        If the text is none of Slurm's forms.

    Examples
    --------
    >>> seconds("90"), seconds("1:30"), seconds("1-12"), seconds("UNLIMITED")
    (5400, 90, 129600, None)
    """
    if text.lower() in ("unlimited", "infinite", "n/a", "invalid", "not_set"):
        return None
    if days := _DAYS.fullmatch(text):
        d, h, m, s = (int(part or 0) for part in days.groups())
        return ((d * 24 + h) * 60 + m) * 60 + s
    if clock := _CLOCK.fullmatch(text):
        parts = [int(part) for part in clock.groups() if part is not None]
        if len(parts) == 1:
            return parts[0] * 60
        h, m, s = [0, *parts][-3:]
        return (h * 60 + m) * 60 + s
    raise ValueError(f"{text!r} is no duration: give one of {FORMS}")
