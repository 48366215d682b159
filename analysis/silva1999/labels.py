"""Names: axes, schedulers, workloads and metrics as the dataset has them, and as figures call them."""

from analysis.study import Study
from analysis.study.axes import Axes

KEY = "silva1999"

HORIZON, MACHINE, WORKLOAD = "horizon", "machine", "workload"
PROCESSORS, CENTRAL_COST, SCHEME = "processors", "central_cost", "scheme"
PE_STATE, CLASS, ALPHA = "pe_state", "statement_class", "emphasis"
ASSUMPTION, BESIDE, DEFAULT = "assumption", "beside", "default"
"""Axes of the grids, dimensions of metrics, and the value of an assumption that changes nothing."""

SMALL, LARGE = "torus4x4", "torus4x8"
"""The paper's machines, of 16 and 32 PEs."""

IO, COMPUTATION, COMMUNICATION, SYNCHRONIZATION = (
    "io_intensive", "computation_intensive", "communication_intensive", "synchronization_intensive",
)  # fmt: skip
MIXED = "mixed_classes"
"""The workload with jobs of all four classes."""

WORKLOADS = {
    IO: "I/O intensive",
    COMPUTATION: "Computation intensive",
    COMMUNICATION: "Communication intensive",
    SYNCHRONIZATION: "Synchronization intensive",
}

AXES = Axes(
    features={
        WORKLOAD: IO,
        MACHINE: SMALL,
        HORIZON: "40000",
        PROCESSORS: "64",
        CENTRAL_COST: "0",
        SCHEME: "first_fit",
        ALPHA: "2",
    }
)

GANG, ROUND_ROBIN, PRIORITIES, UNCOORDINATED = (
    "gang", "concurrent_gang_rr", "concurrent_gang", "uncoordinated",
)  # fmt: skip
SIZES = ("torus", "mesh", "processors")
"""Keys of a machine that give its number of PEs."""

OF_THE_PAPER = (GANG, ROUND_ROBIN, PRIORITIES)
SCHEDULERS = (*OF_THE_PAPER, UNCOORDINATED)
"""The three in the paper's figures; the fourth is mentioned only in the text."""

JOBS, IDLE, IDLE_OF_TASKS = "jobs", "idle_time", "idle_time_of_tasks"
PE_TIME, TASK_WAIT, LOCAL_SHARE = "pe_time", "task_wait", "local_share"
UTILIZATION, IDLING_RATIO = "utilization", "idling_ratio"
BUSY_OF_CLASS, LOCAL_OF_CLASS, RESPONSE_OF_CLASS = "busy_of_class", "local_of_class", "response_of_class"

BUSY, SWITCHING, EMPTY = "busy", "switching", "empty"
STATES = (BUSY, SWITCHING, EMPTY, "communication", "io", "synchronization")
"""States of a PE; the last three are also causes for which tasks wait."""

MEASURES = {
    JOBS: "completed jobs",
    IDLE: "total idle time",
    IDLE_OF_TASKS: "idle time of tasks",
    "waiting": "waiting for each second of computation",
    "local": "share of computing outside its slots",
    "empty": "time of empty slots",
    "response": "mean response time",
}
"""Quantities that claims compare, see `claims.measured`."""

MORE_IS_BETTER = {JOBS, UTILIZATION, "local"}

YLABELS = {
    JOBS: ("Completed jobs", 1.0),
    IDLE: ("Total idle time (1,000 PE s)", 1e-3),
    IDLE_OF_TASKS: ("Empty slots and waiting\nof tasks (1,000 s)", 1e-3),
}
"""Metric -> label of its axis, and the factor that scales its values."""


def workloads(study: Study) -> list[str]:
    """Return the workloads of the grid, the paper's first and in its order."""
    return study.ordered(WORKLOAD, WORKLOADS)


def workload(name: str) -> str:
    """Return a workload's name in text."""
    return WORKLOADS.get(name, name.replace("_", " ").capitalize())


def machine(name: str) -> str:
    """Return a machine's name in text.

    Examples
    --------
    >>> machine("torus4x4"), machine("pe128")
    ('16 PEs', '128 PEs')
    """
    sides = name.removeprefix("torus").removeprefix("pe").split("x")
    if not all(side.isdecimal() for side in sides):
        return name.replace("_", " ")
    n = 1
    for side in sides:
        n *= int(side)
    return f"{n:,} PEs"


def size(study: Study, name: str) -> str:
    """Return a machine's name in text, from its number of processors whatever the name of its file.

    A key given on the command line (``machine.torus=8x8``) makes it larger or smaller than its name suggests.
    """
    files = study.config.get("machine", {})
    if any(str(key).startswith("machine.") for key in (study.settings.get("axes") or {}).values()):
        return machine(name)  # of several sizes
    sides = next((files[name][key] for key in SIZES if files.get(name, {}).get(key) is not None), None)
    return machine(name) if sides is None else machine(f"torus{sides}")


def times(study: Study) -> list[str]:
    """Return the horizons of the grid, ascending; one without a name where it is not an axis."""
    return sorted(study.values_of(HORIZON), key=float) or [""]


def last(study: Study) -> str:
    """Return the longest horizon."""
    return times(study)[-1]


def at_time(time: str) -> str:
    """Return a horizon for evidence.

    Examples
    --------
    >>> at_time("10000"), at_time("")
    (', 10,000 s', '')
    """
    return f", {float(time):,.0f} s" if time else ""
