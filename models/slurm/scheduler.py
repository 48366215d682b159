"""How the scheduler works, as slurm.conf sets it, and the phases of its timers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from models import checks
from models.slurm.configuration import Configuration, ConfigurationError, values

UNBOUNDED = 2**40

MONTH_S, MOST_JOBS = 30 * 86400, 1_000_000
WORDS = {
    "bf_interval": (30, 10_800),
    "bf_resolution": (60, 3600),
    "bf_window": (1440, 43_200),
    "bf_max_job_test": (500, MOST_JOBS),
    "bf_max_job_user": (0, MOST_JOBS),
    "bf_max_job_part": (0, MOST_JOBS),
    "bf_max_job_start": (0, 10_000),
    "bf_min_age_reserve": (0, MONTH_S),
    "batch_sched_delay": (3, MONTH_S),
    "sched_interval": (60, MONTH_S),
    "default_queue_depth": (100, MOST_JOBS),
    "partition_job_depth": (0, MOST_JOBS),
    "sched_max_job_start": (0, MOST_JOBS),
}
"""Numbers of SchedulerParameters with Slurm's defaults and its largest values, else ours; bf_window is in
minutes, a limit of 0 is none."""


@dataclass(frozen=True)
class Phases:
    """When Slurm's timers run, seconds from the beginning of the log.

    Two runs of one workload on one machine differ by them, by up to half a minute in single starts.

    Parameters
    ----------
    clock : float
        What the controller's clock shows at the beginning, seconds after midnight (UTC): plans begin at
        multiples of bf_resolution of it, and Slurm compares its whole seconds.
    tick, backfill, calculation, slice : float
        First look of the background thread, of the backfill thread, first calculation of priorities, first
        time slice of gang scheduling.
    full, passed, limits : float
        Last full pass, last pass at a look, and last test of time limits, before the beginning.
    period : float
        Seconds between two looks of the background thread: ten sleeps of 0.1 s, and its work.
    completing : float
        Seconds from the end of a job until its nodes are free and a pass may be called.
    killing : float
        The same from a kill on; the message of the epilog then calls a pass at once.
    cycle_time : float
        Seconds that a backfill cycle takes: the next one comes bf_interval after its end.
    looks : tuple of float
        The first looks of the background thread, where they are known; later ones follow a period apart.
    cycles : tuple of float
        Instants at which the backfill thread is known to have looked; a look that is due within `NEAR_S`
        of one is then.
    slices : tuple of float
        Begins of the first time slices of gang scheduling, where they are known.
    """

    clock: float = 0.0
    tick: float = 0.0
    backfill: float = 0.0
    calculation: float = 0.0
    slice: float = 0.0
    full: float = 0.0
    passed: float = 0.0
    limits: float = 0.0
    period: float = 1.0017
    completing: float = 0.02
    killing: float = 0.1
    cycle_time: float = 0.003
    looks: tuple[float, ...] = ()
    cycles: tuple[float, ...] = ()
    slices: tuple[float, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the checked values of ``policy.phases``."""
        known = [each.name for each in fields(cls) if each.name not in ("looks", "cycles", "slices")]
        mapping = checks.mapping(given, "policy.phases", known)
        found: dict[str, Any] = {}
        for key in mapping:
            least, most = LIMITS.get(key, (-86_400, 86_400))
            allowed = f"seconds from {least:,} to {most:,}"
            found[key] = checks.number(mapping, "policy.phases", key, allowed, least=least, most=most)
        return cls(**found)


LIMITS = {
    "clock": (0, 1e10),
    "period": (0.01, 60),
    "completing": (0, 86_400),
    "killing": (0, 86_400),
    "cycle_time": (0, 3600),
}
"""Those of phases with others than a day before and after the beginning."""


def settings(configuration: Configuration) -> dict[str, float]:
    """Return fields of the kernel's settings; `ConfigurationError` for what is not modelled."""
    kind = _one_of(configuration, "SchedulerType", "sched/backfill", ("backfill", "builtin"))
    select = _one_of(configuration, "SelectType", "select/cons_tres", ("cons_tres", "cons_res", "linear"))
    priority = _one_of(configuration, "PriorityType", "priority/basic", ("basic", "multifactor"))
    of_select = configuration.settings.get("selecttypeparameters", "").upper()
    found = {word: configuration.whole(word, *limits) for word, limits in WORDS.items()}
    for word in ("bf_interval", "bf_resolution", "bf_window"):
        found[word] = max(found[word], 1)
    return {
        **found,
        "bf_window": found["bf_window"] * 60,
        "bf_max_job_test": found["bf_max_job_test"] or UNBOUNDED,
        "backfill": kind == "backfill",
        "linear": select == "linear",
        "multifactor": priority == "multifactor",
        "track_memory": "MEMORY" in of_select,
        "least_loaded": "CR_LLN" in of_select or any(one.least_loaded for one in configuration.partitions),
        "defer": "defer" in configuration.parameters,
        "limit_stop": "assoc_limit_stop" in configuration.parameters,
        "busy_nodes": "bf_busy_nodes" in configuration.parameters,
        "kill_wait": configuration.value("KillWait", values.whole, 30),
    }


def _one_of(configuration: Configuration, key: str, default: str, known: tuple[str, ...]) -> str:
    found = configuration.word(key, default)
    if found not in known:
        kind = default.partition("/")[0]
        allowed = ", ".join(f"{kind}/{name}" for name in known)
        raise ConfigurationError(
            f"{configuration.where.get(key.lower(), configuration.name)}: {key}="
            f"{configuration.settings[key.lower()]} is not modelled; allowed: {allowed}, for instance "
            f"policy.lines=[{key}={kind}/{known[0]}]"
        )
    return found
