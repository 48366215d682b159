"""The actions of a study by name (``action=...``), and those that run nothing: plan, status, cancel."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console

from models.counting import counted
from sweep import executors, run, schedules, summary
from sweep.errors import SweepError
from sweep.executors import Assignment, Detached
from sweep.executors.bundles import Bundles
from sweep.plan import checks
from sweep.plan.data import Plan
from sweep.progress import duration, say
from sweep.store import manifest, state
from sweep.store.folder import Folder

WATCH_EVERY_S, QUERY_EVERY_S = 2.0, 10.0
"""Seconds between two checks of a study: by its files, and by a batch system, whose controller serves many
users."""


def act(plan: Plan, folder: Folder, console: Console, arguments: Sequence[str], watch: bool) -> int:
    """Carry out the ``action`` of a study, and return the exit status.

    Parameters
    ----------
    watch : bool
        With ``action=status``: repeat until nothing is left.
    """
    action = plan.settings.action
    if watch and action != "status":
        raise SweepError(f"--watch goes with action=status, not with action={action}")
    acts: dict[str, Callable[[], int]] = {
        "run": lambda: run.run(plan, folder, console, arguments),
        "plan": lambda: show_plan(plan, folder, console),
        "status": lambda: show_status(plan, folder, console, watch),
        "gather": lambda: run.gather(plan, folder, console, arguments),
        "cancel": lambda: cancel(plan, folder, console),
    }
    return acts[action]()


def show_plan(plan: Plan, folder: Folder, console: Console) -> int:
    """Print the grid, the tasks, the time and the files of a run; run and write nothing."""
    folder.check()
    manifest.claim(folder, plan)
    files = schedules.planned(plan)
    found = run.read(plan, folder, console)
    for note in checks.notes(plan):
        say(console, note)
    left = found.left()
    executor = executors.create(plan.settings.executor, [])
    costs = found.measured()
    summary.show_grid(plan, console)
    more = "" if plan.overload is None else f", and {counted(len(plan.overload.ids), 'overload run')}"
    lines = [
        f"tasks     {found.total:,} ({counted(len(plan.points), 'point')} x "
        f"{counted(plan.replications, 'replication')}{more}), {len(found.done):,} done, {len(left):,} left"
    ]
    if isinstance(executor, Detached):
        lines += executor.outlook(Assignment(plan, folder, found, left, costs))
    else:
        outlook = Bundles(plan, left, costs, folder.shards, executor.message_s).outlook(executor.workers)
        expected = "no timing yet"
        if outlook.unknown < len(left) or not left:
            expected = f"{duration(outlook.work)} of CPU time, {duration(outlook.seconds)} on "
            expected += counted(executor.workers, "worker")
            if outlook.unknown:
                expected += f", and {counted(outlook.unknown, 'task')} with no timing yet"
        lines.append(f"expected  {expected}")
    lines.append(f"files     {folder.dataset}, {folder.manifest}, {folder.shards}/*.jsonl")
    if files is not None:
        lines.append(f"schedules {files}{f', {run.LATER}' if isinstance(executor, Detached) else ''}")
    for line in lines:
        say(console, line)
    return 0


def show_status(plan: Plan, folder: Folder, console: Console, watch: bool = False) -> int:
    """Print how many tasks of a study are done, by its files, and the tracebacks of failed tasks.

    Parameters
    ----------
    watch : bool
        Repeat until nothing is left, and print the lines that have changed.
    """
    executor = executors.create(plan.settings.executor, [])
    before: list[str] = []
    while True:
        found = state.read(plan, folder)
        if not before and not found.done:
            try:
                manifest.claim(folder, plan)
            except SweepError as error:  # the folder holds the results of another study
                say(console, str(error), "yellow")
        waiting = found.total - len(found.done) - len(found.failed)
        tally = f"{len(found.done):,} done, {len(found.failed):,} failed, {waiting:,} left"
        lines = [f"{folder.path}: {counted(found.total, 'task')}: {tally}"]
        if isinstance(executor, Detached):
            left, costs = found.left(), found.measured()
            lines += executor.status(Assignment(plan, folder, found, left, costs))
        if lines != before:
            for line in lines:
                say(console, line)
        before = lines
        if not (watch and waiting) or (isinstance(executor, Detached) and not executor.working):
            break
        if not isinstance(executor, Detached) and not folder.is_held():
            say(console, "no run is active here: the same command without action=status runs what is left")
            break
        time.sleep(QUERY_EVERY_S if isinstance(executor, Detached) else WATCH_EVERY_S)
    summary.show_failures(list(state.failures(found)), console)
    return 0


def cancel(plan: Plan, folder: Folder, console: Console) -> int:
    """Cancel the jobs of a batch system."""
    executor = executors.create(plan.settings.executor, [])
    lines = executor.cancel(folder) if isinstance(executor, Detached) else [executors.NOTHING_TO_CANCEL]
    for line in lines:
        say(console, line)
    return 0
