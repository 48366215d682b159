"""Which jobs may preempt which: partitions those of a lower tier, QOS those that they list (preempt.html).

A preempted job is requeued, which loses what it has done, or cancelled; with gang scheduling it is suspended.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from models.arrays import Ints
from models.slurm.configuration import Configuration, ConfigurationError, values
from models.slurm.gang import is_gang
from models.slurm.kernel import tables

if TYPE_CHECKING:
    from models.slurm.build import Asked

MODES = {"REQUEUE": tables.REQUEUE, "CANCEL": tables.CANCEL, "OFF": tables.OFF}
GANG_MODES = {"SUSPEND": tables.SUSPEND, "OFF": tables.OFF}
"""Modes with gang scheduling."""

WITHOUT = "policy.lines=[PreemptType=preempt/none, PreemptMode=OFF] simulates the cluster without preemption"


@dataclass(frozen=True, eq=False)
class Preemption:
    """What the kernel reads: `levels` are partitions or QOS.

    Parameters
    ----------
    preempts : ndarray of int, shape (n_levels ** 2,)
        Whether jobs of a level preempt those of another one.
    settings : dict of str to int
        Fields of the kernel's settings.
    """

    levels: np.ndarray
    preempts: Ints
    settings: dict[str, int]

    @classmethod
    def of(cls, configuration: Configuration) -> Preemption:
        """Return the preemption of a configuration; `ConfigurationError` for what is not modelled."""
        kind = configuration.word("PreemptType", "preempt/none")
        words = configuration.settings.get("preemptmode", "").upper().split(",")
        text = ",".join(word for word in words if word != "GANG") or "OFF"
        where = configuration.where.get("preemptmode", configuration.name)
        linear, suspends = configuration.linear, is_gang(configuration)
        mode = _mode(where, text, linear or suspends)
        if kind == "none" and mode == tables.OFF:
            return cls(np.zeros(0, tables.LEVEL), np.zeros(0, np.int64), {})
        if kind not in ("partition_prio", "qos") or mode == tables.OFF:
            raise ConfigurationError(f"{where}: PreemptType={kind} with PreemptMode={text}; {WITHOUT}")
        if (linear or suspends) and (kind == "qos" or not suspends):
            raise ConfigurationError(
                f"{where}: preemption with {'GANG' if suspends else 'select/linear'} is modelled for "
                f"PreemptType=preempt/partition_prio with PreemptMode=SUSPEND,GANG; {WITHOUT}"
            )
        if configuration.settings.get("jobrequeue", "1") == "0":
            mode = mode and tables.CANCEL
        by_qos = kind == "qos"
        levels = _of_qos(configuration, mode) if by_qos else _of_partitions(configuration, mode, suspends)
        expires = configuration.value("AuthInfo", values.options, {}).get("cred_expire", "")
        expire = int(expires) if expires.isdecimal() and len(expires) < values.MOST_DIGITS else 0
        settings = {
            "preempts": 1,
            "by_qos": int(by_qos),
            "youngest_first": int("preempt_youngest_first" in configuration.parameters),
            "strict_order": int("preempt_strict_order" in configuration.parameters),
            "reorder_count": 0 if linear else configuration.whole("preempt_reorder_count", 1, MOST_ORDERS),
            "suspends": suspends,
            "requeue_wait": (expire if expire >= LEAST_EXPIRE_S else EXPIRE_S) + 1,
            "message_timeout": configuration.value("MessageTimeout", values.whole, 10),
        }
        return cls(*levels, settings)

    def qos_of(self, wanted: Asked, configuration: Configuration) -> Ints:
        """Return the level of each job's QOS; -1 for none, and where partitions decide."""
        number = {name: n for n, name in enumerate(configuration.qos)} if self.settings.get("by_qos") else {}
        names = wanted.request.qos.tolist()
        return np.array([number.get(name or "normal", tables.NONE) for name in names], np.int64)


MOST_ORDERS, MOST_LEVELS = 1000, 3000
EXPIRE_S, LEAST_EXPIRE_S = 120, 5
"""Seconds that a job's credential is valid (AuthInfo=cred_expire): a requeued job starts after that."""


def exempt_of(wanted: Asked, configuration: Configuration) -> Ints:
    """Return the seconds that each job runs before it may be preempted (PreemptExemptTime)."""
    common = configuration.value("PreemptExemptTime", values.minutes, 0) or 0
    of_qos = {name: common if one.exempt is None else one.exempt for name, one in configuration.qos.items()}
    return np.array([of_qos.get(name or "normal", common) for name in wanted.request.qos.tolist()], np.int64)


def _mode(where: str, text: str, suspends: bool = False) -> int:
    modes = GANG_MODES if suspends else MODES
    if text.upper() not in modes:
        beside = " with GANG or select/linear" * suspends
        raise ConfigurationError(
            f"{where}: PreemptMode={text}{beside} is not modelled; allowed: {', '.join(modes)}; {WITHOUT}"
        )
    return modes[text.upper()]


def _of_partitions(configuration: Configuration, mode: int, suspends: bool) -> tuple[np.ndarray, Ints]:
    partitions = configuration.partitions
    levels = np.zeros(len(partitions), tables.LEVEL)
    tier = levels["rank"] = np.array([one.tier for one in partitions])
    levels["grace"] = [one.grace for one in partitions]
    levels["mode"] = [
        _mode(f"{configuration.name}: partition {one.name}", one.preempt_mode, suspends)
        if one.preempt_mode
        else mode
        for one in partitions
    ]
    return levels, ((tier[:, None] > tier) & (levels["mode"] != tables.OFF)).ravel().astype(np.int64)


def _of_qos(configuration: Configuration, mode: int) -> tuple[np.ndarray, Ints]:
    every = configuration.qos
    if len(every) > MOST_LEVELS:
        raise ConfigurationError(
            f"{configuration.name}: PreemptType=preempt/qos with more than {MOST_LEVELS:,} QOS; {WITHOUT}"
        )
    levels = np.zeros(len(every), tables.LEVEL)
    preempts = np.zeros((len(every), len(every)), np.int64)
    numbers = {name: number for number, name in enumerate(every)}
    for number, (name, one) in enumerate(every.items()):
        own = _mode(f"{configuration.name}: QOS {name}", one.preempt_mode) if one.preempt_mode else mode
        levels[number] = (min(one.priority, 0xFFFF), own or mode, one.grace)
        if missing := [each for each in one.preempts if each not in numbers]:
            raise ConfigurationError(
                f"{configuration.name}: QOS {name} preempts {missing[0]}, which is no QOS; there are "
                f"{', '.join(numbers)}"
            )
        preempts[number, [numbers[each] for each in one.preempts]] = 1
    try:
        TopologicalSorter({name: one.preempts for name, one in every.items()}).prepare()
    except CycleError as error:
        name = min(error.args[1], key=list(every).index)
        raise ConfigurationError(
            f"{configuration.name}: QOS {name} preempts itself, by its list Preempt"
        ) from None
    return levels, preempts.ravel()
