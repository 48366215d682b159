"""Values of slurm.conf: numbers, durations, amounts of memory, generic resources, lists, words.

Each parser takes a text and raises ``ValueError`` with what is allowed.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

DURATION = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?")
MEMORY = re.compile(r"([0-9]{1,10})([KMGT]?)B?", re.IGNORECASE)
WEIGHT = re.compile(r"([+-]?[0-9]{0,12}\.?[0-9]{1,12})([KMGTP]?)B?", re.IGNORECASE)
PREFIXES = ["", "K", "M", "G", "T", "P"]
MOST_DIGITS = 12
NUMBER = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}")
MOST = 10**MOST_DIGITS - 1
WITHOUT_LIMIT = ("INFINITE", "UNLIMITED", "-1", "NONE")
YES, NO = ("YES", "UP", "TRUE", "1"), ("NO", "DOWN", "FALSE", "0")
IN_MB = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "": 1}


@dataclass(frozen=True)
class Between:
    """Numbers between two limits; 0 and an unlimited one may stand for another number."""

    parse: Callable[[str], Any]
    least: float
    most: float
    allowed: str
    zero: Any = 0
    unlimited: Any = None

    def __call__(self, text: str) -> Any:
        """Return the number."""
        found = self.parse(text)
        if found is not None and not self.least <= found <= self.most:
            raise ValueError(self.allowed)
        return self.unlimited if found is None else found or self.zero


def whole(least: int, most: int, zero: int = 0) -> Between:
    """Return a parser of whole numbers."""
    allowed = f"a whole number from {least:,} to {most:,}"

    def parse(text: str) -> int:
        digits = text.rstrip("kK")  # as in `s_p_handle_uint32`
        factor = 1024 if len(text) == len(digits) + 1 else 1
        return int(digits) * factor if NUMBER.fullmatch(digits) and len(text) <= len(digits) + 1 else -1

    return Between(parse, least, most, allowed, zero)


def number() -> Between:
    """Return a parser of numbers, 0 or more."""

    def parse(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return -1.0

    return Between(parse, 0, MOST, f"a number from 0 to {MOST:,}")


def duration(unlimited: int | None = None, zero: int = 0) -> Between:
    """Return a parser of durations in seconds."""
    return Between(minutes, 0, 60 * 2**32, "a duration of at most 4,294,967,296 minutes", zero, unlimited)


@dataclass(frozen=True)
class Plugin:
    """Names of plugins and their meanings here, with the kind that precedes a slash in slurm.conf."""

    kind: str
    meaning: dict[str, Any]

    def __call__(self, text: str) -> Any:
        """Return what a plugin means, whose name Slurm takes as it is written."""
        if text not in [f"{self.kind}/{name}" for name in self.meaning]:
            raise ValueError(", ".join(f"{self.kind}/{name}" for name in self.meaning))
        return self.meaning[plugin(text)]


def plugin(text: str) -> str:
    """Return the name of a plugin without its kind: ``sched/backfill`` is ``backfill``."""
    return text.lower().rpartition("/")[2]


def has(*words: str, of: Sequence[str] = ()) -> Callable[[str], bool]:
    """Return a parser of comma-separated lists: whether one of some words is present; `of` are all allowed
    ones, if only those are."""

    def parse(text: str) -> bool:
        if of and not upper(text) <= upper(",".join(of)):
            raise ValueError(", ".join(of))
        return bool(upper(",".join(words)) & upper(text))

    return parse


def upper(text: str) -> set[str]:
    """Return the words of a comma-separated list, in capitals; a comma too many is none, as in Slurm."""
    return {word.strip().upper() for word in text.split(",")} - {""}


def rate(most: int) -> Between:
    """Return a parser of numbers of nodes per minute, also in the form that scontrol shows."""
    of_number = whole(0, most)
    return replace(of_number, parse=lambda text: of_number.parse(text.removesuffix(" nodes/min")))


NEVER = 2**60
"""Seconds of a time without end, where 0 is a time."""


def seconds(text: str) -> int:
    """Return a number of seconds, `NEVER` if it is unlimited."""
    return NEVER if text.upper() in WITHOUT_LIMIT else whole(0, 2**32 - 1)(text)


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
    """Return an amount of memory in MB."""
    if not (found := MEMORY.fullmatch(text)):
        raise ValueError("megabytes, or an amount such as 256G")
    return int(int(found[1]) * IN_MB[found[2].upper()])


def count(text: str) -> int:
    """Return a number, which sacctmgr may print as ``2K``."""
    parts = re.fullmatch(rf"({NUMBER.pattern})([KMGT]?)", text, re.IGNORECASE)
    found = int(parts[1]) * 1024 ** PREFIXES.index(parts[2].upper()) if parts else MOST + 1
    if found > MOST:
        raise ValueError(f"a whole number from 0 to {MOST:,}")
    return found


def yes(text: str) -> bool:
    """Return whether a switch is on."""
    if text.upper() not in (*YES, *NO):
        raise ValueError("YES or NO")
    return text.upper() in YES


def gres(text: str) -> dict[str, int]:
    """Return generic resources by name: ``gpu:a100:4(S:0-1),nvme:1`` is {"gpu:a100": 4, "nvme": 1}.

    The names are in lower case, since names of TRES are compared so (`assoc_mgr_find_tres_rec`).
    """
    found: dict[str, int] = {}
    for part in re.sub(r"\([^)]*\)", "", text.lower()).split(","):
        if not part or part in ("none", "no"):
            continue
        *name, last = part.removeprefix("gres/").replace("=", ":").split(":")
        words = [word for word in name if word != "no_consume"]
        amount = re.fullmatch(r"([0-9]{1,9})([kmg]?)", last)
        key = ":".join(words) if amount else ":".join([*words, last])
        each = int(amount[1]) * 1024 ** PREFIXES.index(amount[2].upper()) if amount else 1
        found[key] = found.get(key, 0) + each
        if found[key] > MOST:
            raise ValueError(f"at most {MOST:,} of a generic resource")
    return found


def options(text: str) -> dict[str, str]:
    """Return ``a,b=1`` as {"a": "", "b": "1"}, as SchedulerParameters and PriorityWeightTRES are written.

    If a word is given twice, Slurm finds the first one.
    """
    pairs = (part.lstrip("=").partition("=") for part in re.split(r"[,;\s]+", text) if part.strip("="))
    found: dict[str, str] = {}
    for key, _, value in pairs:
        found.setdefault(key.lower(), value)
    return found


def weights(text: str) -> dict[str, float]:
    """Return ``cpu=2,mem=-1.5G,gres/gpu=5`` as weights by name; memory's is per MB."""
    found = {}
    for name, weight in options(text).items():
        if not (parts := WEIGHT.fullmatch(weight)) or abs(float(parts[1])) > MOST:
            raise ValueError("weights such as cpu=1000,mem=-0.5G,gres/gpu=2000")
        base = PREFIXES.index("M") if name.partition("/")[0] in ("mem", "bb") else 0
        steps = PREFIXES.index(parts[2].upper()) - base
        found[name] = float(parts[1]) / 1024 ** max(steps, 0)
    return found
