"""One run of a study: an executor runs the tasks that are left, and the results are collected."""

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from models.counting import counted
from sweep import compiling, executors, schedules, summary
from sweep.errors import INTERRUPTED, RunError
from sweep.executors import Assignment, Attached, Detached
from sweep.executors.bundles import Bundles
from sweep.plan import checks
from sweep.plan.data import Plan
from sweep.progress import Meter, reporting, say
from sweep.store import manifest, shards, state
from sweep.store.collect import Collection
from sweep.store.costs import Costs
from sweep.store.folder import Folder
from sweep.store.state import State

LONG_S = 60.0
"""Seconds from which the last tasks of a study count as long: all others can be analysed before them."""

NAMED = 3
"""Running tasks that a line names."""

LATER = "when the results are gathered, or by this command once all tasks are done"
"""When the schedules of a study are written that a detached executor runs."""


def run(
    plan: Plan,
    folder: Folder,
    console: Console,
    arguments: Sequence[str],
    summarise: bool = True,
    executor: Attached | Detached | None = None,
) -> int:
    """Run the remaining tasks of a plan and write the dataset; a detached executor only submits them.

    Parameters
    ----------
    executor : Attached or Detached, optional
        In place of the one that the plan's settings name.

    Returns
    -------
    int
        Exit status: 0, or 1 if tasks failed, or 130 after Ctrl-C.
    """
    described = manifest.claim(folder, plan)
    files = schedules.planned(plan)
    found = read(plan, folder, console)
    left = found.left()
    if left:
        for note in checks.notes(plan):
            say(console, note)
        executor = executor or executors.create(plan.settings.executor, [*plan.families])
    kept = executors.places(plan.settings.executor)
    folder.create(name for one in kept for name in one.FOLDERS)
    with folder.lock():
        for one in kept:
            one.remove_leftovers(folder.path)
        if plan.settings.fresh:
            _set_aside(plan, folder, console)
        folder.claim(described)
        collection = Collection(plan, folder, arguments)
        if not left:
            say(console, f"up to date: {counted(found.total, 'task', 'is', of=found.total)} done")
            _gather(collection, console, found.total, lambda: found)
            if summarise:
                summary.show(folder.dataset, console, plan)
            if files is not None:
                files.write(found.done, console)
            return 0
        costs = found.measured()
        if isinstance(executor, Detached):
            for line in executor.submit(Assignment(plan, folder, found, left, costs, arguments)):
                say(console, line)
            if files is not None:
                say(console, f"schedules: {files}, {LATER}")
            return 0
        assert executor is not None  # something is left
        attached = executor
        try:
            with TemporaryDirectory(prefix="schedsweep-") as running:
                bundles = Bundles(
                    plan, left, costs, folder.shards, attached.message_s, workers=lambda: attached.workers,
                    running=Path(running),
                )  # fmt: skip
                execute(plan, console, found, bundles, attached, costs, collection)
        except KeyboardInterrupt:
            after = _gather(collection, console, found.total, lambda: state.read(plan, folder))
            done = counted(len(after.done), "task", "is", of=after.total)
            say(console, f"stopped: {done} done; the same command continues from here")
            return INTERRUPTED
        after = _gather(collection, console, found.total, lambda: state.read(plan, folder))
    if summarise:
        summary.show(folder.dataset, console, plan)
    if files is not None:
        files.write(after.done, console)
    if after.failed:
        summary.show_causes(list(state.failures(after)), console)
        say(
            console,
            f"{counted(len(after.failed), 'task', of=after.total)} failed; action=status shows the "
            "tracebacks, and the same command tries again",
            "red",
        )
    lost = after.total - len(after.done) - len(after.failed)
    if lost:
        say(
            console,
            f"{counted(lost, 'task', of=after.total)} left no result; the same command tries again",
            "red",
        )
    return RunError.status if after.failed or lost else 0


def read(plan: Plan, folder: Folder, console: Console) -> State:
    """Return the state of a plan's tasks; report records in the logs that do not count."""
    if plan.settings.fresh:
        return State(plan)
    found = state.read(plan, folder)
    if found.stale:
        say(
            console,
            f"{counted(found.stale, 'result')} of an earlier version of {manifest.changed(folder, plan)} "
            f"{'is' if found.stale == 1 else 'are'} kept in the logs but not used: their tasks run again",
        )
    if found.damaged:
        records = counted(found.damaged, "damaged or incomplete record", "is")
        say(console, f"{folder.shards}: {records} not used: their tasks run again", "yellow")
    return found


def _set_aside(plan: Plan, folder: Folder, console: Console) -> None:
    """Set the results of a plan aside (``fresh=true``)."""
    done = len(state.read(plan, folder).done)
    if (file := shards.set_aside(folder.shards, set(plan.ids))) is not None:
        say(
            console,
            f"fresh=true: {counted(done, 'result')} set aside in {file}; omit fresh=true to continue "
            "after an interruption",
        )


def _gather(collection: Collection, console: Console, total: int, read: Callable[[], State]) -> State:
    """Read the state of `total` tasks and write the dataset; report the progress, and any damage."""
    with reporting(console, "gathering", total, "task") as report:
        found = read()
        wrong = collection.write(found, report)
    if wrong is not None:
        say(console, wrong, "yellow")
    for fault in collection.faults:
        say(console, f"{fault}; the dataset has no recorded waits of this log", "red")
    return found


def execute(
    plan: Plan,
    console: Console,
    found: State,
    bundles: Bundles,
    executor: Attached,
    costs: Costs,
    collection: Collection | None = None,
) -> None:
    """Let an executor run bundles, and show the progress.

    Parameters
    ----------
    found : State
        State of the tasks before this run.
    collection : Collection, optional
        The dataset, for a process that holds the folder's lock.
    """
    with executor:
        warm_up(plan, console)
        with Meter(
            console,
            found.total,
            len(found.done),
            lambda: str(bundles.outlook(executor.workers)),
            counted="batches" if plan.settings.is_program else "jobs",
        ) as meter:
            reported = False
            for results in executor.run(bundles):
                for result in results:
                    if result.failed:
                        bundles.ended(found.numbers[result.id])
                    else:
                        bundles.learn(found.numbers[result.id], result.seconds)
                if results:
                    meter.add(len(results), sum(result.jobs for result in results))
                if collection is None:
                    continue
                collection.write_if_due(bool(results))
                if not reported and (last := bundles.last(LONG_S)) and len(last) < found.total:
                    reported = True
                    say(console, _last(plan, last, collection.path))
    costs.save()


def _last(plan: Plan, numbers: Sequence[int], folder: Path) -> str:
    """Return the line on tasks that still run long after all others are done and in the dataset."""
    axes = [axis for axis, values in plan.axes.items() if len(values) > 1] or ["policy"]
    named = [", ".join(f"{axis} {plan.task(n).at[axis]}" for axis in axes) for n in numbers[:NAMED]]
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    command = f"python -m analysis {shlex.quote(str(folder))}"
    running = f"still running: {'; '.join(named)}{more}"
    return f"all tasks but {len(numbers)} are done and can be analysed: {command}; {running}"


def warm_up(plan: Plan, console: Console) -> None:
    """Compile the kernels that a plan needs once, before all workers do so at the same time."""
    needed = ((family, plan.needing(package)) for package, family in plan.families.items())
    compiling.warm_up(needed, partial(say, console))


def gather(plan: Plan, folder: Folder, console: Console, arguments: Sequence[str]) -> int:
    """Write the dataset from the results in the logs; run nothing."""
    described = manifest.claim(folder, plan)
    files = schedules.planned(plan)
    if not folder.holds_results():
        raise RunError(f"{folder.path} holds no results yet: run the study first (action=run)")
    with folder.lock():
        folder.claim(described)
        collection = Collection(plan, folder, arguments)
        found = _gather(collection, console, len(plan.ids), lambda: state.read(plan, folder))
    summary.show(folder.dataset, console, plan)
    say(console, f"{counted(len(found.done), 'task', 'is', of=found.total)} in the dataset")
    if files is not None:
        files.write(found.done, console)
    return 0
