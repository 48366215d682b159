"""The settings of slurm.conf for the whole cluster, in one record with one line for each key.

A line has the record's field, the key's name, its values with both bounds, and its default. A field that has
the name of one of the kernel's (`kernel.tables.SETTINGS`) is read by it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, NamedTuple, Self

import numpy as np

from models.arrays import Ints
from models.jobs.requests import licences as licences_of
from models.slurm.configuration import values, versions
from models.slurm.configuration.errors import Faults
from models.slurm.configuration.keys import KNOWN, Line, choice, key, switch, word
from models.slurm.configuration.values import Plugin, duration, has, number, whole
from models.slurm.configuration.versions import Version

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
    text: str = "OFF"

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a value of PreemptMode."""
        rest = ",".join(one for one in text.upper().split(",") if one != "GANG") or "OFF"
        return cls(Mode.__members__.get(rest), rest)


def topology(text: str) -> str:
    """Return the kind of a topology; without one it is flat, which had other names."""
    kind = values.plugin(text)
    return "flat" if kind in ("none", "default") else kind


def requeue_wait(text: str) -> int:
    """Return the seconds from the end of a requeued job until it may start again, from AuthInfo."""
    expires = values.options(text).get("cred_expire", "")
    seconds = int(expires) if values.NUMBER.fullmatch(expires) else 0
    return (seconds if LEAST_EXPIRE_S <= seconds <= MONTH_S else EXPIRE_S) + 1


def decay(text: str) -> float:
    """Return 1 - 0.693 / half-life, as Slurm computes it; 1 means that nothing decays."""
    half_life = duration(0)(text)
    return 1 - 0.693 / half_life if half_life else 1.0


RESETS = {
    "DAILY": ("D", 1, 0),
    "WEEKLY": ("D", 7, 3),
    "MONTHLY": ("M", 1, 0),
    "QUARTERLY": ("M", 3, 0),
    "YEARLY": ("M", 12, 0),
}
"""PriorityUsageResetPeriod -> unit, how many of them a period has, and when the first one of 1970 begins."""


def reset(text: str) -> str:
    """Return how often usage is set to zero; ``NOW``: only as the controller starts."""
    if (word := text.upper()) not in (*RESETS, "NONE", "NOW"):
        raise ValueError(f"NONE, NOW, {', '.join(RESETS)}")
    return word


def part_limits(text: str) -> str:
    """Return the partitions whose limits a job has to meet at its submission: ``NO``, ``ANY`` or ``ALL``."""
    if text.upper() not in (*values.YES, *values.NO, "ANY", "ALL"):
        raise ValueError("NO, ANY, ALL")
    return "NO" if text.upper() in values.NO else "ALL" if text.upper() == "ALL" else "ANY"


def lacks(word: str) -> Callable[[str], bool]:
    """Return a parser of comma-separated lists: whether a word is absent."""
    return lambda text: word not in values.upper(text)


RESOURCES = (
    "CR_CPU", "CR_CPU_MEMORY", "CR_CORE", "CR_CORE_MEMORY", "CR_SOCKET", "CR_SOCKET_MEMORY", "CR_MEMORY",
)  # fmt: skip
"""Words of SelectTypeParameters of which a file may have one."""

POSITIVE = "a duration of at least 1 s"

ENFORCED = ("associations", "limits", "safe", "qos", "wckeys", "nojobs", "nosteps", "all", "none", "1", "2")


def is_program(text: str) -> bool:
    """Return whether a program is named."""
    return text.lower() not in ("", "none", "(null)")


SELECT = {"cons_tres": False, "cons_res": False, "linear": True}
PREEMPT = {"none": Decide.NONE, "partition_prio": Decide.PARTITIONS, "qos": Decide.QOS}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The typed settings of a slurm.conf; defaults that differ between versions are in `versions`.

    Times are in seconds, and a limit of 0 stands for none.
    """

    version: Version | None = key("SLURM_VERSION", Version.of, None)  # scontrol shows it
    backfill: bool = key("SchedulerType", Plugin("sched", {"backfill": True, "builtin": False}), True)
    linear: bool = key("SelectType", Plugin("select", SELECT), False)
    track_memory: bool = key("SelectTypeParameters", lambda text: "MEMORY" in text.upper(), False)
    least_loaded: bool = key("SelectTypeParameters", lambda text: "CR_LLN" in text.upper(), False)
    by_cpu: bool = key("SelectTypeParameters", lambda text: ",CR_CPU" in f",{text}".upper(), False)
    in_blocks: bool = key("SelectTypeParameters", has("CR_CORE_DEFAULT_DIST_BLOCK"), False)
    binds: bool = key("TaskPlugin", lambda text: values.plugin(text) != "none", False)
    epilog: bool = key("Epilog", lambda text: values.plugin(text) != "", False)
    kill_wait: int = key("KillWait", whole(0, MOST_16_BITS), 30)
    message_timeout: int = key("MessageTimeout", whole(0, MOST_16_BITS), 10)
    requeue_wait: int = key("AuthInfo", requeue_wait, EXPIRE_S + 1)
    requeues: bool = key("JobRequeue", lambda text: text != "0", True)

    part_limits: str = key("EnforcePartLimits", part_limits, "NO")
    decides: Decide = key("PreemptType", Plugin("preempt", PREEMPT), Decide.NONE)
    preempt: Preempt = key("PreemptMode", Preempt.of, Preempt())
    gang: bool = key("PreemptMode", has("GANG"), False)
    exempt: int = key("PreemptExemptTime", duration(0), 0)
    time_slice: int = key("SchedulerTimeSlice", whole(1, MOST_16_BITS), 30)  # Slurm documents a minimum of 5

    suspend_time: int = key("SuspendTime", values.seconds, values.NEVER)
    suspend_timeout: int = key("SuspendTimeout", values.seconds, 30)
    resume_timeout: int = key("ResumeTimeout", values.seconds, 60)
    suspend_rate: int = key("SuspendRate", values.rate(MOST_16_BITS), 60)
    resume_rate: int = key("ResumeRate", values.rate(MOST_16_BITS), 300)
    suspends_nodes: bool = key("SuspendProgram", is_program, False)
    resumes_nodes: bool = key("ResumeProgram", is_program, False)
    kept_nodes: str = key("SuspendExcNodes", str, "")
    kept_partitions: str = key("SuspendExcParts", str, "")

    has_database: bool = key("AccountingStorageType", lambda text: values.plugin(text) == "slurmdbd", False)
    enforces: bool = key("AccountingStorageEnforce", has("limits", "safe", "all", "2", of=ENFORCED), False)
    safe: bool = key("AccountingStorageEnforce", has("safe", "all"), False)
    licences: Mapping[str, int] | None = key("Licenses", licences_of, None)
    topology: str = key("TopologyPlugin", topology, "flat")
    optional_switches: bool = key("TopologyParam", has("TopoOptional"), False)
    dragonfly: bool = key("TopologyParam", has("Dragonfly"), False)
    multifactor: bool = key("PriorityType", Plugin("priority", {"basic": False, "multifactor": True}), False)
    of_age: float = key("PriorityWeightAge", number(), 0.0)
    of_fair_share: float = key("PriorityWeightFairshare", number(), 0.0)
    of_size: float = key("PriorityWeightJobSize", number(), 0.0)
    of_partition: float = key("PriorityWeightPartition", number(), 0.0)
    of_qos: float = key("PriorityWeightQOS", number(), 0.0)
    of_tres: Mapping[str, float] | None = key("PriorityWeightTRES", values.weights, None)
    max_age: int = key("PriorityMaxAge", duration(WEEK_S, zero=WEEK_S), WEEK_S)
    usage_reset: str = key("PriorityUsageResetPeriod", reset, "NONE")
    calc_period: int = key("PriorityCalcPeriod", replace(duration(300), least=1, allowed=POSITIVE), 300)
    decay_per_s: float = key("PriorityDecayHalfLife", decay, 1 - 0.693 / WEEK_S)
    damping: int = key("FairShareDampeningFactor", whole(0, MOST_16_BITS, zero=1), 1)
    favor_small: bool = key("PriorityFavorSmall", values.yes, False)
    by_time: bool = key("PriorityFlags", has("SMALL_RELATIVE_TO_TIME"), False)
    fair_tree: bool = key("PriorityFlags", lacks("NO_FAIR_TREE"), True)
    bills_most: bool = key("PriorityFlags", has("MAX_TRES"), False)
    of_association: float = key("PriorityWeightAssoc", number(), 0.0)
    raw_associations: bool = key("PriorityFlags", has("NO_NORMAL_ASSOC", "NO_NORMAL_ALL"), False)
    raw_qos: bool = key("PriorityFlags", has("NO_NORMAL_QOS", "NO_NORMAL_ALL"), False)
    raw_tres: bool = key("PriorityFlags", has("NO_NORMAL_TRES", "NO_NORMAL_ALL"), False)
    raw_partitions: bool = key("PriorityFlags", has("NO_NORMAL_PART", "NO_NORMAL_ALL"), False)

    bf_interval: int = word("bf_interval", 30, 10_800, lambda n: max(n, 1))
    bf_resolution: int = word("bf_resolution", 60, 3600, lambda n: max(n, 1))
    bf_window: int = word("bf_window", 1440, 43_200, lambda n: 60 * max(n, 1))  # minutes
    bf_max_job_test: int = word("bf_max_job_test", 500, MOST_JOBS, lambda n: n or UNBOUNDED)
    bf_node_space_size: int = word("bf_node_space_size", 0, 2 * MOST_JOBS, lambda n: n if n > 1 else 0)
    bf_max_job_user: int = word("bf_max_job_user", 0, MOST_JOBS)
    bf_max_job_part: int = word("bf_max_job_part", 0, MOST_JOBS)
    bf_max_job_start: int = word("bf_max_job_start", 0, 10_000)
    bf_min_age_reserve: int = word("bf_min_age_reserve", 0, MONTH_S)
    bf_max_time: int = word("bf_max_time", 0, 3600)
    bf_min_prio_reserve: int = word("bf_min_prio_reserve", 0, 2**32 - 2)
    batch_sched_delay: int = word("batch_sched_delay", 3, MONTH_S)
    sched_interval: int = word("sched_interval", 60, MONTH_S)
    default_queue_depth: int = word("default_queue_depth", 100, MOST_JOBS)
    partition_job_depth: int = word("partition_job_depth", 0, MOST_JOBS)
    max_switch_wait: int = word("max_switch_wait", 300, MONTH_S)
    sched_max_job_start: int = word("sched_max_job_start", 0, MOST_JOBS)
    reorder_count: int = word("preempt_reorder_count", 1, 1000)
    defer: bool = switch("defer")
    limit_stop: bool = switch("assoc_limit_stop")
    busy_nodes: bool = switch("bf_busy_nodes")
    one_plan: bool = switch("bf_one_resv_per_job")
    plans_licences: bool = switch("bf_licenses")
    reserves_running: bool = switch("bf_running_job_reserve")
    hetjob_immediate: bool = switch("bf_hetjob_immediate")
    of_components: int = choice("bf_hetjob_prio", "min", "avg", "max")
    youngest_first: bool = switch("preempt_youngest_first")
    strict_order: bool = switch("preempt_strict_order")

    shares_cores: bool = False  # by the jobs of a run: whether some share cores at the same time

    @property
    def hetjob_prio(self) -> int:
        """Which priority of a heterogeneous job counts: 1 the least of its components, 2 their average, 3 the
        largest; 0 is their own."""
        return self.of_components or int(self.hetjob_immediate)

    @property
    def in_rows(self) -> bool:
        """Whether jobs have rows of cores, see `models.slurm.kernel.rows`."""
        return self.shares_cores or (self.gang and not self.linear)

    @property
    def counts_usage(self) -> bool:
        """Whether what jobs use is added up each period."""
        return self.multifactor and self.has_database

    @property
    def recalculates(self) -> bool:
        """Whether priorities are calculated again each period."""
        return self.multifactor and (self.has_database or versions.rules(self.version)["always_decays"])

    def resets(self, begin: float, end: float) -> Ints:
        """Return when usage is set to zero between two instants, seconds since the epoch (UTC)."""
        if self.usage_reset not in RESETS:
            return np.zeros(0, np.int64)
        unit, step, first = RESETS[self.usage_reset]
        days = np.array([begin, end]).astype("datetime64[s]").astype(f"datetime64[{unit}]").astype(np.int64)
        every = np.arange(days[0], days[1] + 1)
        every = every[(every - first) % step == 0].astype(f"datetime64[{unit}]")
        times = every.astype("datetime64[s]").astype(np.int64)
        return times[times > begin]

    @property
    def plans_running(self) -> bool:
        """Whether plans begin with running jobs, as they do if jobs have licences."""
        return self.reserves_running or self.plans_licences

    @property
    def preempts(self) -> bool:
        """Whether jobs preempt others."""
        return self.decides != Decide.NONE or self.preempt.mode != Mode.OFF

    @property
    def powers_nodes(self) -> bool:
        """Whether Slurm powers nodes down and up, which needs a program for each."""
        return self.suspends_nodes and self.resumes_nodes

    @property
    def saves_power(self) -> bool:
        """Whether powering nodes down and up is modelled."""
        return self.powers_nodes and not (self.linear or self.gang or self.preempts)

    @property
    def by_qos(self) -> bool:
        """Whether QOS decide which jobs preempt others."""
        return self.decides == Decide.QOS

    # Without an accounting database (slurmdbd) age and fair-share have no weight (seen on Slurm 22.05.8).
    @property
    def weight_age(self) -> float:
        """Weight of the time that a job waits."""
        return self.of_age * self.has_database

    @property
    def weight_fair(self) -> float:
        """Weight of the fair-share factor."""
        return self.of_fair_share * self.has_database


def settings_of(
    line: Line, more: Mapping[str, int], counts_memory: bool = False
) -> tuple[Settings, list[str]]:
    """Return the settings of all keys outside of lines of nodes and partitions, and notes on words of
    SchedulerParameters; `counts_memory` as `versions.defaults` has it."""
    declared = {one.metadata["word"]: one for one in fields(Settings) if "word" in one.metadata}
    known = KNOWN["parameters"]
    version = line.value("SLURM_VERSION", Version.of, None)
    line = replace(line, given={**line.given, **versions.defaults(version, line.given, counts_memory)})
    notes, found = [], line.record(Settings)
    given, own = (line.given.get(f"{of}parameters", "") for of in ("scheduler", "preempt"))
    parameters = values.options(given) | {name: str(number) for name, number in more.items()}
    parameters |= {f"preempt_{name}": text for name, text in values.options(own).items()}  # as before 24.05
    where = line.places.get("schedulerparameters", line.where)
    every = [*declared, *known["not_modelled"], *known["no_effect"].split()]
    if "max_job_bf" in parameters:  # the name before 20.11
        parameters.setdefault("bf_max_job_test", parameters.pop("max_job_bf"))
    for name in parameters:
        if name not in every:
            line.faults.unknown(where, "a word of SchedulerParameters", name, every)
        elif name in known["not_modelled"]:
            what = known["not_modelled"][name]
            notes.append(f"SchedulerParameters={name} has no effect here; not simulated: {what}")
    for name, one in declared.items():
        if name in parameters:
            found[one.name], note = _of_word(one.metadata, parameters[name], where, line.faults)
            notes += note
    made = Settings(**found)
    _refuse(line, made)
    return made, notes


def _refuse(line: Line, made: Settings) -> None:
    """Add a fault for each value with which Slurm does not start, by itself or beside another one."""
    select, version = line.text("SelectType"), made.version
    words = [one for one in line.text("SelectTypeParameters").upper().split(",") if one]
    counted, further = [one for one in words if one in RESOURCES], KNOWN["words"]["SelectTypeParameters"]
    names = {one.upper() for one in (*RESOURCES, *further["no_effect"].split(), *further["not_modelled"])}
    kept = "".join(f",{one}" for one in words if one in names.difference(RESOURCES))
    both = counted[:1] in (["CR_CPU"], ["CR_CPU_MEMORY"]) and "CR_ONE_TASK_PER_CORE" in words
    is_named = words and ("selecttype" in line.places or version is not None)
    no_reset = not line.text("PriorityUsageResetPeriod") and line.text("PriorityDecayHalfLife") == "0"
    wrong = {
        "SelectType": values.plugin(select) == "cons_res" and version is not None and version.has("23.11")
        and (f" since 23.11, and {version.text} is its version", "select/cons_tres"),
        "SelectTypeParameters": ((len(counted) > 1 or both or not names.issuperset(words))
        and (f"; allowed: one of {', '.join(RESOURCES)}, and words such as CR_LLN", f"CR_Core_Memory{kept}"))
        or (made.linear and counted not in ([], ["CR_MEMORY"]) and (f" and {select}", f"CR_Memory{kept}"))
        or (is_named and not made.linear and counted in ([], ["CR_MEMORY"])
        and (f" and {select}", f"CR_Core_Memory{kept}")),
        "PriorityDecayHalfLife": no_reset and (" without PriorityUsageResetPeriod", "7-0"),
    }  # fmt: skip
    for name, found in wrong.items():
        if found:
            where = line.places.get(name.lower(), line.where)
            line.faults.add(
                f"{where}: Slurm does not start with {name}={line.text(name)}{found[0]}; add "
                f"policy.lines=['{name}={found[1]}'], which wins over it"
            )


def _of_word(declared: Mapping[str, Any], text: str, where: str, faults: Faults) -> tuple[Any, list[str]]:
    if allowed := declared.get("values"):
        number = [*allowed, text.lower()].index(text.lower()) + 1
        known, name = number <= len(allowed), declared["word"]
        note = f"SchedulerParameters: {name}={text} has no effect; allowed: {', '.join(allowed)}"
        return number * known, [] if known else [note]
    if "most" not in declared:
        return True, []
    name, default, most = declared["word"], declared["default"], declared["most"]
    read = re.match(r"-?[0-9]{1,12}(?![0-9])", text)  # Slurm reads it by atoi, up to the first non-digit
    text = read[0] if read else text
    if not read:
        faults.add(f"{where}: {name}={text} of SchedulerParameters; allowed: a whole number")
    elif not 0 <= int(text) <= most:  # as Slurm does, though with a line in its log
        default_is = f"{name}={text} is outside 0 to {most:,}: the default, {default}, is used"
        return declared["to"](default), [f"SchedulerParameters: {default_is}"]
    else:
        return declared["to"](int(text)), []
    return declared["to"](default), []
