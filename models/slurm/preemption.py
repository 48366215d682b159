"""Which jobs may preempt which: partitions preempt lower tiers, QOS the QOS that they list (preempt.html).

A preempted job is requeued, which loses its work, or cancelled; with gang scheduling it is suspended.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import numpy as np

from models.arrays import Ints
from models.slurm.asked import Asked
from models.slurm.configuration import Configuration, ConfigurationError
from models.slurm.configuration.settings import Decide, Mode, Preempt
from models.slurm.kernel import tables

WITHOUT = (
    "policy.lines=['PreemptType=preempt/none','PreemptMode=OFF'] simulates the cluster without preemption"
)

MOST_LEVELS = 3000


def levels_of(configuration: Configuration) -> tuple[np.ndarray, Ints]:
    """Return partitions or QOS, whichever decide, and whether jobs of one preempt jobs of another.

    Returns
    -------
    levels : ndarray of `tables.LEVEL`
    preempts : ndarray of int, shape (n_levels ** 2,)

    Raises
    ------
    ConfigurationError
        For settings that are not modelled.
    """
    settings, where = configuration.settings, configuration.place("PreemptMode")
    shares = settings.linear or settings.gang
    mode = _mode(where, settings.preempt, shares)
    if settings.decides == Decide.NONE and mode == Mode.OFF:
        return np.zeros(0, tables.LEVEL), np.zeros(0, np.int64)
    if settings.decides == Decide.NONE or mode == Mode.OFF:
        kind = ("none", "partition_prio", "qos")[settings.decides]
        raise ConfigurationError(
            f"{where}: PreemptType={kind} with PreemptMode={settings.preempt.text}; {WITHOUT}"
        )
    if shares and (settings.by_qos or not settings.gang):
        raise ConfigurationError(
            f"{where}: preemption with {'GANG' if settings.gang else 'select/linear'} is modelled for "
            f"PreemptType=preempt/partition_prio with PreemptMode=SUSPEND,GANG; {WITHOUT}"
        )
    mode = mode if settings.requeues else Mode.CANCEL
    return _of_qos(configuration, mode) if settings.by_qos else _of_partitions(configuration, mode)


def rules_of_jobs(wanted: Asked, configuration: Configuration) -> dict[str, Ints]:
    """Return the level of each job's QOS, -1 for none and where partitions decide, and the seconds that it
    runs before it may be preempted (PreemptExemptTime)."""
    names = [name or "normal" for name in wanted.request.qos.tolist()]
    by_qos, common = configuration.settings.by_qos, configuration.settings.exempt
    number = {name: n for n, name in enumerate(configuration.qos if by_qos else ())}
    exempt = {name: common if one.exempt is None else one.exempt for name, one in configuration.qos.items()}
    return {
        "qos": np.array([number.get(name, tables.NONE) for name in names], np.int64),
        "exempt": np.array([exempt.get(name, common) for name in names], np.int64),
    }


def _mode(where: str, given: Preempt, shares: bool = False) -> Mode:
    modes = (Mode.SUSPEND, Mode.OFF) if shares else (Mode.REQUEUE, Mode.CANCEL, Mode.OFF)
    if given.mode is None or given.mode not in modes:
        beside = " with GANG or select/linear" * shares
        raise ConfigurationError(
            f"{where}: PreemptMode={given.text}{beside} is not modelled; allowed: "
            f"{', '.join(mode.name for mode in modes)}; {WITHOUT}"
        )
    return given.mode


def _of_partitions(configuration: Configuration, mode: Mode) -> tuple[np.ndarray, Ints]:
    partitions = configuration.partitions
    levels = np.zeros(len(partitions), tables.LEVEL)
    tier = levels["rank"] = np.array([one.tier for one in partitions])
    levels["grace"] = [one.grace for one in partitions]
    levels["mode"] = [
        _mode(f"{configuration.name}: partition {one.name}", one.preempt, configuration.settings.gang)
        if one.preempt
        else mode
        for one in partitions
    ]
    return levels, ((tier[:, None] > tier) & (levels["mode"] != Mode.OFF)).ravel().astype(np.int64)


def _of_qos(configuration: Configuration, mode: Mode) -> tuple[np.ndarray, Ints]:
    every = configuration.qos
    if len(every) > MOST_LEVELS:
        raise ConfigurationError(
            f"{configuration.name}: PreemptType=preempt/qos with more than {MOST_LEVELS:,} QOS; {WITHOUT}"
        )
    levels = np.zeros(len(every), tables.LEVEL)
    preempts = np.zeros((len(every), len(every)), np.int64)
    numbers = {name: number for number, name in enumerate(every)}
    for number, (name, one) in enumerate(every.items()):
        own = _mode(f"{configuration.name}: QOS {name}", one.preempt) if one.preempt else mode
        levels[number] = (min(one.priority, 0xFFFF), own or mode, one.grace)
        if missing := [each for each in one.preempts if each not in numbers]:
            raise ConfigurationError(
                f"{configuration.name}: QOS {name} preempts {missing[0]}, which is not a QOS; there are "
                f"{', '.join(numbers)}"
            )
        preempts[number, [numbers[each] for each in one.preempts]] = 1
    try:
        TopologicalSorter({name: one.preempts for name, one in every.items()}).prepare()
    except CycleError as error:
        name = min(error.args[1], key=list(every).index)
        raise ConfigurationError(f"{configuration.name}: QOS {name} lists itself in Preempt") from None
    return levels, preempts.ravel()
