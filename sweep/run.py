"""One run of a study: what is left is given to an executor, and what comes back is shown and collected."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from rich.console import Console

from sweep import compiling, executors, schedules, summary
from sweep.config.settings import Config
from sweep.errors import INTERRUPTED, RunError, SweepError
from sweep.executors import Assignment, Attached, Detached, handed_over
from sweep.executors.bundles import Bundles
from sweep.plan.plan import Plan
from sweep.progress import Meter, duration, say, telling
from sweep.store import manifest, shards, state
from sweep.store.collect import Collection
from sweep.store.costs import Costs
from sweep.store.folder import Folder
from sweep.store.state import State


def run(config: Config, plan: Plan, folder: Folder, console: Console, arguments: Sequence[str]) -> int:
    """Run what is left of a plan, write the dataset, and say what to do next.

    With a detached executor, only hand over what is left.

    Parameters
    ----------
    config : Config
        What the plan was expanded from.
    plan : Plan
    folder : Folder
    console : Console
    arguments : sequence of str
        Command line, for the dataset's attributes.

    Returns
    -------
    int
        Exit status: 0, or 1 if tasks failed, or 130 after Ctrl-C.
    """
    described = manifest.claim(folder, plan)
    files = schedules.planned(plan)
    found = _read(plan, folder, console)
    left = found.left()
    if left:
        for note in plan.notes:
            say(console, note)
        preloads = [family.preload_module for family in plan.families.values() if family.preload_module]
        executor = executors.create(plan.settings.executor, [*plan.families, *preloads])
    folder.create()
    with folder.lock():
        if plan.settings.fresh:
            _set_aside(plan, folder, console)
        folder.claim(described)
        collection = Collection(plan, folder, arguments)
        if not left:
            say(console, f"everything is done: {found.total} of {found.total} tasks")
            _gather(collection, console, found.total, lambda: found)
            summary.show(folder.dataset, console, plan)
            if files is not None:
                files.write(found.done, console)
            return 0
        if isinstance(executor, Detached):
            costs = measured(found)
            for line in executor.submit(Assignment(config, plan, folder, found, left, costs, arguments)):
                say(console, line)
            if files is not None:
                say(console, f"schedules: {files}, {LATER}")
            return 0
        for note in handed_over.notes(folder.path):
            say(console, note)
        costs = measured(found)
        attached = executor
        bundles = Bundles(
            plan, left, costs, folder.shards, executor.message_s, workers=lambda: attached.workers
        )
        try:
            execute(plan, console, found, bundles, executor, costs, collection)
        except KeyboardInterrupt:
            after = _gather(collection, console, found.total, lambda: state.read(plan, folder))
            done = f"{len(after.done)} of {after.total} tasks are done"
            say(console, f"stopped: {done}; the same command goes on from here")
            return INTERRUPTED
        after = _gather(collection, console, found.total, lambda: state.read(plan, folder))
    summary.show(folder.dataset, console, plan)
    if files is not None:
        files.write(after.done, console)
    if after.failed:
        say(
            console,
            f"{len(after.failed)} of {after.total} tasks failed; their tracebacks: add action=status; the "
            "same command tries them again",
            "red",
        )
    lost = after.total - len(after.done) - len(after.failed)
    if lost:
        say(console, f"{lost} of {after.total} tasks left no result; the same command runs them again", "red")
    return RunError.status if after.failed or lost else 0


def _read(plan: Plan, folder: Folder, console: Console) -> State:
    """Find out what is done, and say what is in the logs and does not count."""
    if plan.settings.fresh:
        return State(plan)
    found = state.read(plan, folder)
    if found.stale:
        say(
            console,
            f"{_results(found.stale)} of an earlier version of {manifest.changed(folder, plan)} "
            f"{'is' if found.stale == 1 else 'are'} kept in the logs but not used: run anew",
        )
    if found.damaged:
        say(console, f"{found.damage(folder)}: not used, and run again", "yellow")
    return found


def _results(number: int) -> str:
    return f"{number:,} result{'s' * (number > 1)}"


def _set_aside(plan: Plan, folder: Folder, console: Console) -> None:
    """Have no task of a plan done (``fresh=true``)."""
    done = len(state.read(plan, folder).done)
    if (file := shards.set_aside(folder.shards, set(plan.ids))) is not None:
        say(
            console,
            f"fresh=true: {_results(done)} set aside in {file}; leave fresh=true out to go on after an "
            "interruption",
        )


def _gather(collection: Collection, console: Console, total: int, read: Callable[[], State]) -> State:
    """Read what is done of so many tasks and write the dataset; tell how far it is, and what was wrong."""
    with telling(console, "gathering", total, "task") as tell:
        found = read()
        wrong = collection.write(found, tell)
    if wrong is not None:
        say(console, wrong, "yellow")
    return found


def measured(found: State) -> Costs:
    """Return what simulations are known to take, by the tasks that are done and by earlier studies."""
    costs = Costs()
    found.measure(costs)
    return costs


def execute(
    plan: Plan,
    console: Console,
    found: State,
    bundles: Bundles,
    executor: Attached,
    costs: Costs,
    collection: Collection | None = None,
) -> None:
    """Have an executor run bundles, and show how far it has got.

    Parameters
    ----------
    plan : Plan
    console : Console
    found : State
        What was done before.
    bundles : Bundles
    executor : Attached
    costs : Costs
        Those of `bundles`, kept for later runs.
    collection : Collection, optional
        The dataset, for a process that holds the folder's lock.
    """
    with executor:
        warm_up(plan, console)
        if collection is not None:
            with interrupts_held():
                collection.prepare()

        def left() -> str:
            return str(bundles.outlook(executor.workers))

        with Meter(console, found.total, len(found.done), left) as meter:
            for results in executor.run(bundles):
                for result in results:
                    if result.failed:
                        bundles.ended(found.numbers[result.id])
                    else:
                        bundles.learn(found.numbers[result.id], result.seconds)
                meter.add(len(results), sum(result.jobs for result in results))
                if collection is not None:
                    collection.write_if_due()
    costs.save()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Put off Ctrl-C for the moment that the main thread imports while another one does, starting workers.

    An interruption there can leave a lock of Python's import system held for ever, for which the command
    would then wait instead of ending.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came and callable(before):
        before(came[0], None)


def warm_up(plan: Plan, console: Console) -> None:
    """Compile the kernels that a plan needs once, before all workers would do so at the same time."""
    needed = ((family, plan.needing(package)) for package, family in plan.families.items())
    compiling.warm_up(needed, partial(say, console))


def gather(plan: Plan, folder: Folder, console: Console, arguments: Sequence[str]) -> int:
    """Write the dataset from what is in the logs now; run nothing."""
    described = manifest.claim(folder, plan)
    files = schedules.planned(plan)
    if not folder.holds_results():
        raise RunError(f"{folder.path} holds no results yet: run it first (action=run)")
    with folder.lock():
        folder.claim(described)
        collection = Collection(plan, folder, arguments)
        found = _gather(collection, console, len(plan.ids), lambda: state.read(plan, folder))
    summary.show(folder.dataset, console, plan)
    say(console, f"{len(found.done)} of {found.total} tasks are in it")
    if files is not None:
        files.write(found.done, console)
    return 0


def show_plan(config: Config, plan: Plan, folder: Folder, console: Console) -> int:
    """Say what a run would do: the grid, the tasks, the time, the files. Runs and writes nothing."""
    manifest.claim(folder, plan)
    files = schedules.planned(plan)
    found = _read(plan, folder, console)
    for note in plan.notes:
        say(console, note)
    left = found.left()
    executor = executors.create(plan.settings.executor, [])
    costs = measured(found)
    summary.show_grid(plan, console)
    say(
        console,
        f"tasks     {found.total} ({len(plan.points)} points x {plan.replications} replications), "
        f"{len(found.done)} done, {len(left)} left",
    )
    if isinstance(executor, Detached):
        lines = list(executor.outlook(Assignment(config, plan, folder, found, left, costs)))
    else:
        bundles = Bundles(plan, left, costs, folder.shards, executor.message_s)
        outlook = bundles.outlook(executor.workers)
        workers = f"{executor.workers} worker{'s' if executor.workers > 1 else ''}"
        expected = "not measured yet"
        if outlook.unknown < len(left) or not left:
            expected = f"{duration(outlook.work)} of CPU time, {duration(outlook.seconds)} on {workers}"
            if outlook.unknown:
                expected += f", and {outlook.unknown:,} tasks like which none was measured yet"
        lines = [f"expected  {expected}"]
    lines.append(f"files     {folder.dataset}, {folder.manifest}, {folder.shards}/*.jsonl")
    if files is not None:
        lines.append(f"schedules {files}{f', {LATER}' if isinstance(executor, Detached) else ''}")
    for line in lines:
        say(console, line)
    return 0


LATER = "when the results are gathered, or by this command once everything is done"
"""When schedules are written of a study that is handed over."""

WATCH_EVERY_S = 2.0


def show_status(config: Config, plan: Plan, folder: Folder, console: Console, watch: bool = False) -> int:
    """Say how far a study has got, as its files tell, and show the tracebacks of failed tasks.

    Parameters
    ----------
    config : Config
    plan : Plan
    folder : Folder
    console : Console
    watch : bool
        Look again until nothing is left, and print what has changed.
    """
    executor = executors.create(plan.settings.executor, [])
    before: list[str] = []
    while True:
        found = state.read(plan, folder)
        left = found.left()
        if not before and not found.done:
            _tell_of_others(plan, folder, console)
        failed = len(found.failed)
        waiting = found.total - len(found.done) - failed
        tally = f"{len(found.done)} done, {failed} failed, {waiting} left"
        lines = [f"{folder.path}: {found.total} tasks: {tally}"]
        if isinstance(executor, Detached):
            lines.extend(executor.status(Assignment(config, plan, folder, found, left, measured(found))))
        if lines != before:
            for line in lines:
                say(console, line)
        before = lines
        if not (watch and waiting):
            break
        if isinstance(executor, Detached) and not executor.working:
            break
        time.sleep(WATCH_EVERY_S)
    summary.show_failures(list(state.failures(found)), console)
    return 0


def _tell_of_others(plan: Plan, folder: Folder, console: Console) -> None:
    """Say, as a run would, that a folder in which nothing of this plan is done has results of another one."""
    try:
        manifest.claim(folder, plan)
    except SweepError as error:
        say(console, str(error), "yellow")


def cancel(plan: Plan, folder: Folder, console: Console) -> int:
    """Cancel what a batch system was given."""
    executor = executors.create(plan.settings.executor, [])
    lines = executor.cancel(folder) if isinstance(executor, Detached) else [executors.NOTHING_TO_CANCEL]
    for line in lines:
        say(console, line)
    return 0
