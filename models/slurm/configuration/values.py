"""Values of slurm.conf: numbers, durations, amounts of memory, generic resources, lists, words.

Each parser takes a text and raises ``ValueError`` with what is allowed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DURATION = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?")
MEMORY = re.compile(r"([0-9]{1,10})([KMGT]?)B?", re.IGNORECASE)
MOST_DIGITS = 12
NUMBER = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}")
MOST_DEVICES = 10**MOST_DIGITS
WITHOUT_LIMIT = ("INFINITE", "UNLIMITED", "-1", "NONE")
IN_MB = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "": 1}


@dataclass(frozen=True)
class Whole:
    """Whole numbers between two limits."""

    least: int
    most: int

    def __call__(self, text: str) -> int:
        """Return the number."""
        if not NUMBER.fullmatch(text) or not self.least <= int(text) <= self.most:
            raise ValueError(f"a whole number from {self.least:,} to {self.most:,}")
        return int(text)


@dataclass(frozen=True)
class Number:
    """Numbers between two limits."""

    least: float = 0.0
    most: float = 10.0**MOST_DIGITS

    def __call__(self, text: str) -> float:
        """Return the number."""
        try:
            found = float(text)
        except ValueError:
            found = -1.0
        if not self.least <= found <= self.most:
            raise ValueError(f"a number from {self.least:,g} to {self.most:,.0f}")
        return found


@dataclass(frozen=True)
class Duration:
    """Durations between two limits, in seconds; one without limit is `unlimited`."""

    unlimited: int | None = None
    least: int = 0
    most: int = 2**32 * 60

    def __call__(self, text: str) -> int | None:
        """Return the seconds."""
        found = minutes(text)
        if found is None:
            return self.unlimited
        if not self.least <= found <= self.most:
            raise ValueError(f"a duration from {self.least:,} to {self.most:,} s, or INFINITE")
        return found


@dataclass(frozen=True)
class Plugin:
    """Names of plugins and what each of them means here, with the kind that slurm.conf has before a bar."""

    kind: str
    meaning: dict[str, Any]

    def __call__(self, text: str) -> Any:
        """Return what a plugin means."""
        if plugin(text) not in self.meaning:
            names = [f"{self.kind}/{name}" for name in self.meaning]
            raise ValueError(
                f"{', '.join(names)}; add a line that wins over it, policy.lines=[...{names[0]}]"
            )
        return self.meaning[plugin(text)]


def plugin(text: str) -> str:
    """Return the name of a plugin without its kind: ``sched/backfill`` is ``backfill``."""
    return text.lower().rpartition("/")[2]


def has(*words: str) -> Callable[[str], bool]:
    """Return a parser of lists between commas: whether one of some words is there."""
    return lambda text: bool({word.upper() for word in words} & upper(text))


def upper(text: str) -> set[str]:
    """Return the words between commas, in capitals."""
    return {word.strip().upper() for word in text.split(",")}


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
        count = re.fullmatch(r"([0-9]{1,9})([KMG]?)", last)
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


def numbers(text: str) -> dict[str, float]:
    """Return ``cpu=2,gres/gpu=5`` as numbers by name."""
    return {name: Number()(number) for name, number in options(text).items()}
