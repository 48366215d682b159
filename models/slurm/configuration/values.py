"""Values of slurm.conf: durations, amounts of memory, generic resources, lists. Each raises
``ValueError``."""

import re
from collections.abc import Callable

DURATION = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?")
MEMORY = re.compile(r"(\d{1,10})([KMGT]?)B?", re.IGNORECASE)
MOST_DIGITS = 12
NUMBER = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}")
MOST_DEVICES = 10**MOST_DIGITS
WITHOUT_LIMIT = ("INFINITE", "UNLIMITED", "-1", "NONE")
IN_MB = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "": 1}


def minutes(text: str) -> int | None:
    """Return seconds of ``minutes``, ``minutes:seconds``, ``hours:minutes:seconds`` or with days; None: no
    limit.

    Examples
    --------
    >>> minutes("1-00:00:00"), minutes("90"), minutes("0:30")
    (86400, 5400, 30)
    """
    if text.upper() in WITHOUT_LIMIT:
        return None
    if not (found := DURATION.fullmatch(text)):
        raise ValueError("minutes, hours:minutes:seconds, days-hours, or INFINITE")
    days, *rest = found.groups()
    parts = [int(part) for part in rest if part is not None]
    if days is not None:  # days-hours, days-hours:minutes, days-hours:minutes:seconds
        hours, minute, second = [*parts, 0, 0][:3]
        return int(days) * 86400 + hours * 3600 + minute * 60 + second
    if len(parts) == 1:
        return parts[0] * 60
    hours, minute, second = ([0] * (3 - len(parts))) + parts
    return hours * 3600 + minute * 60 + second


def memory(text: str) -> int:
    """Return MB."""
    if not (found := MEMORY.fullmatch(text)):
        raise ValueError("megabytes, or an amount such as 256G")
    return int(int(found[1]) * IN_MB[found[2].upper()])


def whole(text: str) -> int:
    """Return a whole number, 0 or more."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f"a whole number of at most {MOST_DIGITS} digits")
    return int(text)


def between(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers between two limits."""

    def parse(text: str) -> int:
        if not NUMBER.fullmatch(text) or not least <= int(text) <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return int(text)

    return parse


def number(text: str) -> float:
    """Return a number, 0 or more."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 10**MOST_DIGITS:
        raise ValueError(f"a number, 0 or more, of at most {MOST_DIGITS} digits")
    return found


def yes(text: str) -> bool:
    """Return a switch."""
    if text.upper() not in ("YES", "NO", "TRUE", "FALSE", "1", "0"):
        raise ValueError("YES or NO")
    return text.upper() in ("YES", "TRUE", "1")


def gres(text: str) -> dict[str, int]:
    """Return generic resources by name: ``gpu:a100:4(S:0-1),nvme:1`` is {"gpu:a100": 4, "nvme": 1}."""
    found: dict[str, int] = {}
    for part in re.sub(r"\([^)]*\)", "", text).split(","):
        if not part or part in ("none", "NO"):
            continue
        *name, last = part.removeprefix("gres/").replace("=", ":").split(":")
        words = [word for word in name if word != "no_consume"]
        count = re.fullmatch(r"(\d{1,9})([KMG]?)", last)
        key = ":".join(words) if count else ":".join([*words, last])
        factor = {"K": 1024, "M": 1024**2, "G": 1024**3, "": 1}[count[2]] if count else 1
        found[key] = found.get(key, 0) + (int(count[1]) * factor if count else 1)
        if found[key] > MOST_DEVICES:
            raise ValueError(f"at most {MOST_DEVICES:,} of a generic resource")
    return found


def options(text: str) -> dict[str, str]:
    """Return ``a,b=1`` as {"a": "", "b": "1"}, as SchedulerParameters and PriorityWeightTRES are written."""
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}
