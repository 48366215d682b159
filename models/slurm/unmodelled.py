"""Keys of slurm.conf that change schedules and are not modelled: which jobs of a log they may concern."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from models.slurm.asked import Asked
from models.slurm.configuration.values import MEMORY, memory

KEY = re.compile(r"(?:SchedulerParameters=)?(\w+)(?:=(\S+))? has no effect here(?:, for (.+))?")
IN_NAMES = {"bf_max_job_array_resv": re.compile(r"\d+_")}
"""Key -> which names of jobs it concerns."""


def _all(found: Asked, value: str) -> np.ndarray:
    return np.ones(len(found.jobs), bool)


def _gpus(found: Asked, value: str) -> np.ndarray:
    return found.request.devices("gpu") > 0


def _much_memory(found: Asked, value: str) -> np.ndarray:
    asked = found.request
    cpus = np.maximum(asked.tasks * asked.task_cpus / np.maximum(asked.nodes, 1), 1)
    return np.maximum(asked.cpu_memory, asked.node_memory / cpus) > (memory(value) or np.inf)


CONCERNED: dict[str, Callable[[Asked, str], np.ndarray]] = {
    **dict.fromkeys(("Prolog", "PrologSlurmctld", "Epilog", "EpilogSlurmctld", "PrEpPlugins"), _all),
    **dict.fromkeys(("JobSubmitPlugins", "PrioritySiteFactorPlugin"), _all),
    **dict.fromkeys(("DefCPUPerGPU", "DefMemPerGPU"), _gpus),
    "MaxMemPerCPU": _much_memory,
    "TopologyPlugin": lambda found, value: found.request.nodes > 1,
    "NodeFeaturesPlugins": lambda found, value: found.request.constraint != "",
    "pack_serial_at_end": lambda found, value: found.request.tasks * found.request.task_cpus == 1,
}
"""Key -> which jobs it concerns, where a log shows that; value is the key's."""


def with_share(note: str, found: Asked, ids: Sequence[str] | None = None) -> str:
    """Return a note of a configuration with the share of jobs that its key concerns, if it is known.

    Parameters
    ----------
    ids : sequence of str, optional
        The jobs' names in their log: tasks of arrays are ``123_4``.
    """
    if (key := KEY.match(note)) is None:
        return note
    name, value, owners = key.groups()
    if owners is not None:  # options of accounts, users and QOS
        columns = (found.request.account, found.request.qos, found.user)
        concerned = np.any([np.isin(one.astype(str), owners.split(", ")) for one in columns], axis=0)
    elif name in IN_NAMES and ids is not None:
        concerned = np.array([IN_NAMES[name].match(one) is not None for one in ids])
    elif name in CONCERNED and (name != "MaxMemPerCPU" or MEMORY.fullmatch(value or "")):
        concerned = CONCERNED[name](found, value or "")
    else:
        return note
    return f"{note} ({concerned.mean():.1%} of the jobs)"
