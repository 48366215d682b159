"""The command line: options, actions, and one line for every error."""

import errno
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import FrameType
from typing import NoReturn

from schedsweep.terminal import wrapped
from sweep import plugins
from sweep.config import locate
from sweep.errors import INTERRUPTED, RunError, SweepError, one_line, typable

RERUN = "rerun"
"""The first word of a command line that names a dataset in place of an experiment."""


def main(arguments: Sequence[str]) -> int:
    """Run the command of a command line and return the exit status; see `answer`.

    With ``executor=mpi`` this process is one of many: its rank is determined before any error is reported.
    """
    if "executor=mpi" not in arguments:
        return answer(arguments)
    from sweep.executors import ranks

    return ranks.main(partial(answer, arguments))


def answer(arguments: Sequence[str]) -> int:
    """Run the command of a command line and return the exit status: 0, 1 failed, 2 wrong, 130 interrupted."""
    try:
        overrides, user, wanted, watch = options(arguments)
        if wanted == "--help":
            from sweep import help as help_text

            is_rerun = overrides[:1] == [RERUN]
            print(wrapped(help_text.RERUN if is_rerun else help_text.text(locate.folders(user))))
        elif not wanted and not overrides:
            from sweep import help as help_text

            print(wrapped(help_text.experiments(locate.folders(user))))
            raise SweepError("no experiment named: add +experiment=NAME (see python -m sweep --help)")
        elif wanted == "--version":
            from sweep.store.provenance import package_version

            print(f"schedsweep {package_version('schedsweep')}")
        else:
            # A batch system ends a job with SIGTERM: stop as cleanly as after Ctrl-C.
            before = signal.signal(signal.SIGTERM, _interrupt)
            try:
                return _act(overrides, user, list(arguments), watch)
            except Exception as error:
                if _was_interrupted(error):
                    raise KeyboardInterrupt from None
                raise
            finally:
                signal.signal(signal.SIGTERM, before)
    except SweepError as error:
        whole = f"; the whole command: {_with(error.added, arguments)}" if error.added else ""
        print(f"error: {typable(str(error))}{whole}", file=sys.stderr)
        return error.status
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        print(f"error: {str(error.filename)[:60]}...: {error.strerror}; give a shorter one", file=sys.stderr)
        return SweepError.status
    except MemoryError as error:
        print(
            f"error: not enough memory ({one_line(error)}); finished tasks are kept: give fewer batches, "
            "replications or axis values",
            file=sys.stderr,
        )
        return RunError.status
    except KeyboardInterrupt:
        print("stopped; the same command continues from here", file=sys.stderr)
        return INTERRUPTED
    return 0


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether an error was caused by Ctrl-C: OmegaConf's clean-up fails after it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _with(added: Mapping[str, str], arguments: Sequence[str]) -> str:
    """Return the command with further settings, which replace those with the same keys."""
    keys = ("policy", "workload", "machine")
    replaced = {*added, *(key.removeprefix("grid.") for key in added if key.removeprefix("grid.") in keys)}
    kept = [one for one in arguments if one.lstrip("+").partition("=")[0] not in replaced]
    return shlex.join(["python", "-m", "sweep", *kept, *map("=".join, added.items())])


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    children = sys.modules.get("multiprocessing")
    if children is not None and children.parent_process() is not None:  # a process that a model has forked
        os._exit(128 + number)
    raise KeyboardInterrupt


def options(arguments: Sequence[str]) -> tuple[list[str], str | None, str, bool]:
    """Return overrides, the user's config folder, --help or --version if asked for, and whether to watch."""
    overrides, user, wanted, watch = [], None, "", False
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument in ("-h", "--help"):
            wanted = "--help"
        elif argument == "--version":
            wanted = wanted or "--version"
        elif argument == "--watch":
            watch = True
        elif name == "--config-dir":
            user = value if equals else next(rest, "")
        elif argument.startswith("-"):
            raise SweepError(
                f"unknown option {argument}: valid: --config-dir DIR, --watch, --version and --help"
            )
        else:
            overrides.append(argument)
    return overrides, user, wanted, watch


def _act(given: list[str], user: str | None, arguments: list[str], watch: bool) -> int:
    # Imported only now: `--help` needs none of it.
    from rich.console import Console

    from sweep import actions, pilot, tuning
    from sweep.config import compose, overrides
    from sweep.plan.expansion import expand
    from sweep.store.folder import Folder

    console = Console()
    if given[:1] == [RERUN]:
        from sweep.rerun import command

        return command.main(given[1:], locate.folders(user), arguments, watch)
    given = plugins.taken(given)
    folder, *others = locate.folders(user)
    loaded = compose.load(overrides.parsed(given), folder, others)
    results = Folder(locate.place(loaded.settings.output), loaded.settings.name)
    settled = tuning.settled(pilot.settled(loaded, results, console), results, console)
    if settled is None:
        return 0
    if settled.settings.output != loaded.settings.output:
        results = Folder(locate.place(settled.settings.output), settled.settings.name)
    loaded = settled
    return actions.act(expand(loaded), results, console, arguments, watch)
