"""What slurm.conf sets for the whole cluster, in one record: a key is one line.

A line has the record's field, the key's name, its values with both bounds, and its default. A field that has
the name of one of the kernel's (`kernel.tables.SETTINGS`) is read by it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, NamedTuple, Self

from models.slurm.configuration import values
from models.slurm.configuration.errors import Faults
from models.slurm.configuration.keys import KNOWN, Line, key, switch, word, words_of
from models.slurm.configuration.values import Duration, Number, Plugin, Whole, has

VALIDATED = ("22.05.8",)
"""Versions of Slurm against which the model is validated: defaults below are those of the first one."""

YEAR_S, MONTH_S, WEEK_S = 365 * 86400, 30 * 86400, 7 * 86400
UNBOUNDED, MOST_JOBS, MOST_16_BITS = 2**40, 1_000_000, 65_533

EXPIRE_S, LEAST_EXPIRE_S = 120, 5
"""Seconds that a job's credential is valid (AuthInfo=cred_expire): a requeued job starts after that."""

Mode = IntEnum("Mode", ["OFF", "REQUEUE", "CANCEL", "SUSPEND"], start=0)
"""How jobs are preempted, with the numbers of `kernel.tables`."""

Decide = IntEnum("Decide", ["NONE", "PARTITIONS", "QOS"], start=0)
"""What decides which jobs preempt others."""


class Preempt(NamedTuple):
    """A PreemptMode: `mode` is None where it is not modelled; the text is for messages."""

    mode: Mode | None = Mode.OFF
    gang: bool = False
    text: str = "OFF"

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a PreemptMode."""
        words = text.upper().split(",")
        rest = ",".join(one for one in words if one != "GANG") or "OFF"
        return cls(Mode.__members__.get(rest), "GANG" in words, rest)


class Selection(NamedTuple):
    """SelectTypeParameters: whether memory is counted, and how CPUs are chosen."""

    memory: bool = False
    by_cpu: bool = False
    by_block: bool = False
    least_loaded: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse SelectTypeParameters."""
        words = values.upper(text)
        by_cpu = any(one.startswith("CR_CPU") for one in words)
        by_block = by_cpu or "CR_CORE_DEFAULT_DIST_BLOCK" in words
        return cls("MEMORY" in text.upper(), by_cpu, by_block, "CR_LLN" in text.upper())


def requeue_wait(text: str) -> int:
    """Return the seconds from the end of a requeued job until it may start again, of AuthInfo."""
    expires = values.options(text).get("cred_expire", "")
    seconds = int(expires) if values.NUMBER.fullmatch(expires) else 0
    return (seconds if LEAST_EXPIRE_S <= seconds <= MONTH_S else EXPIRE_S) + 1


PREEMPTS = Plugin("preempt", {"none": Decide.NONE, "partition_prio": Decide.PARTITIONS, "qos": Decide.QOS})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The typed settings of a slurm.conf; seconds, a limit of 0 is none unless it says otherwise."""

    backfill: bool = key("SchedulerType", Plugin("sched", {"backfill": True, "builtin": False}), True)
    linear: bool = key(
        "SelectType", Plugin("select", {"cons_tres": False, "cons_res": False, "linear": True}), False
    )
    selection: Selection = key("SelectTypeParameters", Selection.of, Selection())
    binds: bool = key("TaskPlugin", lambda text: values.plugin(text) != "none", False)
    epilog: bool = key("Epilog", lambda text: values.plugin(text) != "", False)
    kill_wait: int = key("KillWait", Whole(0, MOST_16_BITS), 30)
    message_timeout: int = key("MessageTimeout", Whole(0, MOST_16_BITS), 10)
    requeue_wait: int = key("AuthInfo", requeue_wait, EXPIRE_S + 1)
    requeues: bool = key("JobRequeue", lambda text: text != "0", True)

    decides: Decide = key("PreemptType", PREEMPTS, Decide.NONE)
    preempt: Preempt = key("PreemptMode", Preempt.of, Preempt())
    exempt: int = key("PreemptExemptTime", Duration(0), 0)
    time_slice: int = key("SchedulerTimeSlice", Whole(1, MOST_16_BITS), 30)  # Slurm documents 5 at least

    has_database: bool = key("AccountingStorageType", lambda text: values.plugin(text) == "slurmdbd", False)
    enforces: bool = key("AccountingStorageEnforce", has("limits", "safe", "all"), False)
    multifactor: bool = key("PriorityType", Plugin("priority", {"basic": False, "multifactor": True}), False)
    of_age: float = key("PriorityWeightAge", Number(), 0.0)
    of_fair_share: float = key("PriorityWeightFairshare", Number(), 0.0)
    of_size: float = key("PriorityWeightJobSize", Number(), 0.0)
    of_partition: float = key("PriorityWeightPartition", Number(), 0.0)
    of_qos: float = key("PriorityWeightQOS", Number(), 0.0)
    of_tres: Mapping[str, float] | None = key("PriorityWeightTRES", values.numbers, None)
    age_limit: int = key("PriorityMaxAge", Duration(0), WEEK_S)  # 0 is the default
    period: int = key("PriorityCalcPeriod", Duration(0), 300)  # 0 is the default
    half_life: int = key("PriorityDecayHalfLife", Duration(0), WEEK_S)  # 0 is no decay
    dampening: int = key("FairShareDampeningFactor", Whole(0, MOST_16_BITS), 1)
    favor_small: bool = key("PriorityFavorSmall", values.yes, False)
    flags: frozenset[str] = key("PriorityFlags", lambda text: frozenset(values.upper(text)), frozenset())

    bf_interval: int = word("bf_interval", 30, 10_800, lambda n: max(n, 1))
    bf_resolution: int = word("bf_resolution", 60, 3600, lambda n: max(n, 1))
    bf_window: int = word("bf_window", 1440, 43_200, lambda n: 60 * max(n, 1))  # minutes
    bf_max_job_test: int = word("bf_max_job_test", 500, MOST_JOBS, lambda n: n or UNBOUNDED)
    bf_max_job_user: int = word("bf_max_job_user", 0, MOST_JOBS)
    bf_max_job_part: int = word("bf_max_job_part", 0, MOST_JOBS)
    bf_max_job_start: int = word("bf_max_job_start", 0, 10_000)
    bf_min_age_reserve: int = word("bf_min_age_reserve", 0, MONTH_S)
    batch_sched_delay: int = word("batch_sched_delay", 3, MONTH_S)
    sched_interval: int = word("sched_interval", 60, MONTH_S)
    default_queue_depth: int = word("default_queue_depth", 100, MOST_JOBS)
    partition_job_depth: int = word("partition_job_depth", 0, MOST_JOBS)
    sched_max_job_start: int = word("sched_max_job_start", 0, MOST_JOBS)
    reorder_count: int = word("preempt_reorder_count", 1, 1000)
    defer: bool = switch("defer")
    limit_stop: bool = switch("assoc_limit_stop")
    busy_nodes: bool = switch("bf_busy_nodes")
    youngest_first: bool = switch("preempt_youngest_first")
    strict_order: bool = switch("preempt_strict_order")

    @property
    def gang(self) -> bool:
        """Whether jobs are gang scheduled."""
        return self.preempt.gang

    @property
    def in_rows(self) -> bool:
        """Whether jobs have rows of cores, see `models.slurm.kernel.rows`."""
        return self.gang and not self.linear

    @property
    def by_core(self) -> bool:
        """Whether jobs share a time slice where they share no core, else where a node has CPUs for both."""
        return self.in_rows and (self.binds or not self.selection.by_cpu)

    @property
    def preempts(self) -> bool:
        """Whether jobs preempt others."""
        return self.decides != Decide.NONE or self.preempt.mode != Mode.OFF

    @property
    def by_qos(self) -> bool:
        """Whether QOS decide which jobs preempt others."""
        return self.decides == Decide.QOS

    @property
    def suspends(self) -> bool:
        """Whether jobs that are preempted are suspended."""
        return self.preempts and self.gang

    # Without an accounting database (slurmdbd) priorities are not calculated again each period, and age and
    # fair-share have no weight either (seen on Slurm 22.05.8).
    @property
    def weight_age(self) -> float:
        """Weight of the time that a job waits."""
        return self.of_age * self.has_database

    @property
    def weight_fair(self) -> float:
        """Weight of the fair-share factor."""
        return self.of_fair_share * self.has_database

    @property
    def max_age(self) -> int:
        """Seconds of waiting from which on the factor of age is 1."""
        return self.age_limit or WEEK_S

    @property
    def calc_period(self) -> int:
        """Seconds between two calculations of priorities."""
        return self.period or 300

    @property
    def decay_per_s(self) -> float:
        """1 - 0.693 / half-life, as Slurm computes it; 1 is no decay."""
        return 1 - 0.693 / self.half_life if self.half_life > 0 else 1.0

    @property
    def damping(self) -> float:
        """FairShareDampeningFactor, at least 1."""
        return float(self.dampening) or 1.0

    @property
    def fair_tree(self) -> bool:
        """Whether fair-share factors are those of Fair Tree."""
        return "NO_FAIR_TREE" not in self.flags

    @property
    def used_at_end(self) -> bool:
        """See `kernel.tables.SETTINGS`."""
        return self.enforces


def parameters_of(line: Line, more: Mapping[str, int]) -> dict[str, str]:
    """Return the words of SchedulerParameters with further ones, and those of PreemptParameters after
    ``preempt_`` as before 24.05."""
    common = values.options(line.text("SchedulerParameters"))
    own = values.options(line.text("PreemptParameters"))
    given = {name: str(number) for name, number in more.items()}
    return common | given | {f"preempt_{name}": text for name, text in own.items()}


def settings_of(line: Line, more: Mapping[str, int]) -> tuple[Settings, list[str]]:
    """Return the settings of all keys that stand alone, and notes on words of SchedulerParameters."""
    declared, known = words_of(Settings), KNOWN["parameters"]
    parameters, notes, found = parameters_of(line, more), [], line.record(Settings)
    where = line.places.get("schedulerparameters", line.where)
    every = [*declared, *known["not_modelled"], *known["no_effect"].split()]
    for name in parameters:
        if name not in every:
            line.faults.unknown(where, f"SchedulerParameters has no {name}", name, every)
        elif name in known["not_modelled"]:
            what = known["not_modelled"][name]
            notes.append(f"SchedulerParameters={name} has no effect here: {what}")
    for one in fields(Settings):
        if (name := one.metadata.get("word", "")) in parameters:
            found[one.name], note = _of_word(one.metadata, parameters[name], where, line.faults)
            notes += note
    return Settings(**found), notes


def _of_word(declared: Mapping[str, Any], text: str, where: str, faults: Faults) -> tuple[Any, list[str]]:
    if "most" not in declared:
        return True, []
    name, default, most = declared["word"], declared["default"], declared["most"]
    if not values.NUMBER.fullmatch(text.removeprefix("-")):
        faults.add(f"{where}: {name}={text} of SchedulerParameters; allowed: a whole number")
    elif not 0 <= int(text) <= most:  # as Slurm does, though with a line in its log
        default_is = f"{name}={text} is outside of 0 to {most:,}: the default, {default}, is taken"
        return declared["to"](default), [f"SchedulerParameters: {default_is}"]
    else:
        return declared["to"](int(text)), []
    return declared["to"](default), []
