"""``workload.partition=each``: an axis with a value for each partition of a log, and its processors."""

from collections.abc import Mapping
from dataclasses import replace

from models import workloads
from models.workloads.replayed import EACH, LEAST_SHARE, names_no_machine
from sweep.config.nested import get
from sweep.config.settings import Config, Settings
from sweep.errors import SweepError, one_line, unknown
from sweep.plan.variants import build

AXIS = "partition"


def expanded(config: Config) -> Config:
    """Return the config of a study, with the axis of partitions declared if requested.

    Raises
    ------
    SweepError
        If the machine is given, or the workload is not a single log: partitions belong to one log, which
        also gives their processors.
    """
    settings, files = config.settings, config.files["workload"]
    if EACH not in (get(one, AXIS) for one in (settings.workload, *files.values())):
        return config
    logs = build("workload", files, settings.workload, [], config.logs)
    if len(logs) > 1:
        raise SweepError(f"workload.partition=each takes one log; name one of {', '.join(files)}")
    machines = build("machine", config.files["machine"], settings.machine, [])
    own = [key for key in map(str, settings.axes.values()) if key.startswith("machine.")]
    sets = AXIS in settings.axes or f"workload.{AXIS}" in settings.axes.values() or own
    if sets or not all(names_no_machine(one.parameters) for one in machines):
        raise SweepError(
            "workload.partition=each gives each partition as many processors as its jobs had at once; leave "
            "out the machine and axes of it or of partitions, and set another number by "
            f"+values.{AXIS}.NAME=NUMBER"
        )
    try:
        found = workloads.partitions(logs[0].parameters)
    except ValueError as error:
        raise SweepError(one_line(error)) from None
    given = settings.values.get(AXIS, {})
    if not isinstance(given, Mapping):
        raise SweepError(f"values.{AXIS}={given}; allowed: the processors of partitions, {{NAME: NUMBER}}")
    for name in given:
        if name not in found:
            raise SweepError(unknown(f"partition in values.{AXIS}", str(name), found))
    values = {
        name: {"workload": {AXIS: value}, "machine": {"processors": given.get(name, most)}}
        for name, (value, most) in found.items()
    }
    axes = {**settings.axes, AXIS: "*"}
    return replace(config, settings=replace(settings, axes=axes, values={**settings.values, AXIS: values}))


def notes(asked: Config, settings: Settings) -> list[str]:
    """Return a note on the partitions that were added to the study, and on their processors."""
    if AXIS in asked.settings.axes or AXIS not in settings.axes:
        return []
    sizes = {name: keys["machine"]["processors"] for name, keys in settings.values[AXIS].items()}
    listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
    return [
        "each partition is simulated separately, with the most processors that its jobs had at once (a lower "
        f"bound of its size): {listed}; +values.{AXIS}.{next(iter(sizes))}=NUMBER sets another number; "
        f"partitions with less than {LEAST_SHARE:.0%} of the jobs are left out"
    ]
