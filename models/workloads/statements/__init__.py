"""The program of the tasks of a rigid job, for policies that simulate tasks: ``workload.statements``.

A job of p processors and runtime t is p SPMD tasks, each with t seconds of local computation, in stretches
with a blocking statement after each (Silva and Scherson 1999, section 3.1). Time for input and output,
messages and barriers comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from models import checks, keys
from models.point import Parameters

BLOCKING = ("communication", "io", "synchronization")
"""Kinds of blocking statements, in the order of their numbers in the kernels and in a cycle."""

KINDS: Mapping[str, Mapping[str, int]] = {
    "computation": {"of": 1, "local": 1},
    "communication": {"of": 5, "local": 4, "communication": 1},
    "io": {"of": 11, "local": 10, "io": 1},
    "synchronization": {"of": 5, "local": 4, "synchronization": 1},
}
"""The four classes of section 3.1: the number of statements of a cycle, by kind."""

OTHER = len(KINDS)
"""Class of jobs whose program is none of these."""

PHASE_KEYS = ("share", "of", "local", *BLOCKING, "tasks")
WHOLE_PHASE = {"share": 1.0, **dict.fromkeys(BLOCKING, 0), "tasks": 1.0}


@dataclass(frozen=True)
class Phase:
    """A part of every task's program.

    `share` is a share of the runtime, and `tasks` the share of the job's tasks that take part; the others
    wait for its end. The numbers of statements are per cycle: `local` ones, and blocking ones by kind.
    """

    share: float
    local: int
    communication: int = 0
    io: int = 0
    synchronization: int = 0
    tasks: float = 1.0

    @property
    def steps(self) -> list[tuple[int, int]]:
        """Local statements and number of the blocking kind after them, for each blocking one of a cycle."""
        kinds = [number for number, kind in enumerate(BLOCKING) for _ in range(getattr(self, kind))]
        m = len(kinds)
        return [((s + 1) * self.local // m - s * self.local // m, kind) for s, kind in enumerate(kinds)]


@dataclass(frozen=True, kw_only=True)
class Statements:
    """``workload.statements``, checked; kernels take the choices as `keys.codes` numbers them."""

    BASE = "_rigid"

    programs: tuple[tuple[Phase, ...], ...]  # phases of each class of jobs
    shares: tuple[float, ...]  # of the jobs
    classes: tuple[int, ...]  # places in `KINDS`, or `OTHER`
    seconds: float = keys.number(checks.SECONDS, above=0)  # mean time of a local statement
    # Whether local statements and input and output take exponential times, or always the same.
    costs: str = keys.choice("exponential", "regular")
    # Whether the number of local statements before a blocking one is the given one, or geometric with that
    # mean: the same for all tasks of a job (random), or each task's own.
    spacing: str = keys.choice("regular", "random", "random_each")
    io_time: float = keys.seconds()
    message_bytes: float = keys.number("a number of bytes, 0 or more", least=0)
    barrier_latency: float = keys.seconds()  # from the arrival of the last task to the opening
    partners: str = keys.choice("ring", "neighbours", "random", "all_to_all")  # pattern of messages
    overhead: float = keys.seconds()  # computing of each send, receive and barrier, beyond the runtime
    alone: str = keys.choice("passes", "waits")  # whether a job's only task waits out a barrier's latency

    @classmethod
    def of(cls, workload: Parameters) -> Statements:
        """Return the statements of a workload; ``ValueError`` with one line for what is not allowed."""
        where = "workload.statements"
        known = ("kinds", "mix", *(one.name for one in fields(cls)[3:]))
        given = checks.mapping(workload.get("statements"), where, known)
        read = keys.read(cls, given, where)
        if given.get("mix") is not None:
            mix = checks.mapping(given["mix"], f"{where}.mix", KINDS)
            shares = {
                kind: checks.number(mix, f"{where}.mix", kind, "a share, above 0", above=0) for kind in mix
            }
            programs = tuple(_phases(kind, where) for kind in shares)
            total = sum(shares.values())
            return cls(
                programs=programs,
                shares=tuple(share / total for share in shares.values()),
                classes=tuple(map(list(KINDS).index, shares)),
                **read,
            )
        kinds: Any = given.get("kinds")
        named = isinstance(kinds, str) and kinds in KINDS
        of = list(KINDS).index(kinds) if named else OTHER
        return cls(programs=(_phases(kinds, f"{where}.kinds"),), shares=(1.0,), classes=(of,), **read)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Phases of all programs."""
        return tuple(phase for program in self.programs for phase in program)

    @property
    def is_stochastic(self) -> bool:
        """Whether anything is drawn."""
        drawn = self.costs == "exponential" or self.spacing != "regular" or self.partners == "random"
        return drawn and any(phase.steps for phase in self.phases)

    def __str__(self) -> str:
        parts = [
            f"{share:.0%} of the jobs {self._in_words(program)}" if share < 1 else self._in_words(program)
            for program, share in zip(self.programs, self.shares, strict=True)
        ]
        return (
            f"{'; '.join(parts)}; local statements of {self.seconds:g} s "
            f"({'exponential' if self.costs == 'exponential' else 'all alike'})"
        )

    @staticmethod
    def _in_words(phases: tuple[Phase, ...]) -> str:
        parts = []
        for phase in phases:
            blocking = [f"{getattr(phase, kind)} of {kind}" for kind in BLOCKING if getattr(phase, kind)]
            mix = (
                f"{', '.join(blocking)} to {phase.local} of local computation"
                if blocking
                else "computation only"
            )
            if phase.tasks < 1:
                mix += f" by {phase.tasks:.0%} of the tasks"
            parts.append(mix if len(phases) == 1 else f"{phase.share:.0%} of the time {mix}")
        return "; ".join(parts)


def _phases(given: Any, where: str) -> tuple[Phase, ...]:
    allowed = (
        f"{', '.join(KINDS)}, a mapping like {{of: 5, local: 4, communication: 1}}, or a list of such "
        "phases, each with its share of the runtime"
    )
    if isinstance(given, str):
        if given not in KINDS:
            checks.refuse(where, given, allowed)
        return (_phase(KINDS[given], where),)
    if isinstance(given, Mapping):
        return (_phase(given, where),)
    if not isinstance(given, Sequence) or not given:
        checks.refuse(where, given, allowed)
    phases = tuple(_phase(_named(each), f"{where}[{i}]") for i, each in enumerate(given))
    total = sum(phase.share for phase in phases)
    if abs(total - 1) > 1e-9:
        raise ValueError(f"{where}: the shares of the phases add up to {total:g}; they must add up to 1")
    return phases


def _named(given: Any) -> Any:
    """Return a phase with ``kinds: io`` written out."""
    if isinstance(given, Mapping) and isinstance(given.get("kinds"), str) and given["kinds"] in KINDS:
        rest = {key: value for key, value in given.items() if key != "kinds"}
        return {**KINDS[given["kinds"]], **rest}
    return given


def _phase(given: Any, where: str) -> Phase:
    given = {**WHOLE_PHASE, **checks.mapping(given, where, PHASE_KEYS)}
    share = checks.number(given, where, "share", "a share of the runtime, above 0 up to 1", above=0, most=1)
    tasks = checks.number(given, where, "tasks", "a share of the tasks, above 0 up to 1", above=0, most=1)
    counts = {
        kind: checks.whole(given, where, kind, "a whole number of statements", least=0) for kind in BLOCKING
    }
    local = checks.whole(given, where, "local", "a positive whole number of statements")
    total = checks.whole(given, where, "of", "a positive whole number of statements")
    n_blocking = sum(counts.values())
    if local + n_blocking != total:
        raise ValueError(
            f"{where}: of {total} statements {local} are local and {n_blocking} blocking, which makes "
            f"{local + n_blocking}; the numbers must add up"
        )
    if n_blocking > local:
        raise ValueError(
            f"{where}: {n_blocking} blocking statements to {local} local ones; there must be at least one "
            "local statement before each blocking one"
        )
    return Phase(float(share), local, **counts, tasks=float(tasks))
