"""``schedsweep COMMAND``: all commands of the project under one name, which no folder can hide."""

import signal
import sys

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until modules are loaded

import difflib
from collections.abc import Sequence

from schedsweep import packages
from schedsweep.terminal import guarded, wrapped

SWEEP = {
    "run": "run what is left of an experiment and write its dataset",
    "plan": "show the grid, the number of tasks, the expected time and the files; run nothing",
    "status": "show what is done, and the tracebacks of what failed (--watch: until nothing is left)",
    "gather": "write the dataset from what is there",
    "cancel": "cancel what a batch system was given",
}
"""Commands that take an experiment, and what they do."""

OTHERS = {
    "rerun": ("sweep.cli", "make a dataset once more from itself alone, and compare the two"),
    "analysis": ("analysis.command", "figures, claims and a report of results, or one drawing"),
    "docs": ("sweep.pages", "the pages of the documentation as text"),
    "completion": ("sweep.completion", "the script with which bash, zsh or fish completes commands"),
    "slurm": ("slurm.cli", "check a cluster before a sweep is submitted to it"),
}
"""Commands with arguments of their own: where they are, and what they do."""

USAGE = """\
usage: schedsweep run|plan|status|gather|cancel EXPERIMENT [key=value ...] [--config-dir DIR]
       schedsweep rerun DATASET.nc [key=value ...]
       schedsweep analysis RESULTS [key=value ...]
       schedsweep slurm doctor [key=value ...]
       schedsweep docs [PAGE]
       schedsweep completion bash|zsh|fish
"""

EXAMPLES = """\
examples
  schedsweep plan packing
  schedsweep run packing 'grid.load=[0.5,0.9]' 'grid.policy=[buddy,migration]' batches=10
  schedsweep analysis results/packing

schedsweep COMMAND --help has more; schedsweep run --help lists the experiments and executors."""


def help_text() -> str:
    """Return what ``--help`` shows."""
    texts = SWEEP | {name: text for name, (_, text) in OTHERS.items()}
    commands = "\n".join(f"  {name:<12}{text}" for name, text in texts.items())
    return f"{USAGE}\ncommands\n{commands}\n\n{EXAMPLES}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status, the same as of ``python -m`` with the package."""
    packages.search_working_folder_last()
    return guarded(_answer, sys.argv[1:] if arguments is None else arguments)


def _answer(arguments: Sequence[str]) -> int:
    command, *rest = arguments or ["--help"]
    if command in ("-h", "--help", "help"):
        print(wrapped(help_text()))
        return 0
    if command in OTHERS:
        return packages.call(OTHERS[command][0], ["rerun", *rest] if command == "rerun" else rest)
    if command not in (*SWEEP, "--version"):
        close = difflib.get_close_matches(command, [*SWEEP, *OTHERS], n=1)
        hint = f" did you mean {close[0]!r}?" if close else ""
        return _wrong(f"unknown command {command!r}:{hint} valid: {', '.join([*SWEEP, *OTHERS])}")
    if command in SWEEP:
        if any(argument.lstrip("+").startswith("action=") for argument in rest):
            return _wrong(f"schedsweep {command} already sets the action: leave action= out")
        if rest and "=" not in rest[0] and not rest[0].startswith("-"):
            rest[0] = f"+experiment={rest[0]}"
        rest.append(f"action={command}")
    return packages.call("sweep.cli", rest or [command])


def _wrong(line: str) -> int:
    print(f"error: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
