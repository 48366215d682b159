"""The surroundings of a command: an output that fails or lacks characters, a working folder that was removed.

This module imports nothing that could be hidden, see `schedsweep.packages`.
"""

import os
import re
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TextIO

READER_LEFT = 128 + 13
"""Exit status of a command whose reader left: a shell's for one that SIGPIPE ended."""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


class Output:
    """Standard output that may fail: its text is then lost, and the command continues.

    Results are written to files, and hours of work must not end because the disk of a log is full. A reader
    that has left (``| head``) ends the command without a message, as it ends other commands.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Write until the output fails."""
        return self._try(lambda: self._stream.write(text), len(text))

    def flush(self) -> None:
        """Flush until the output fails."""
        self._try(self._stream.flush, None)

    def _try(self, act: Callable[[], Any], otherwise: Any) -> Any:
        if self.error is not None:
            return otherwise
        try:
            return act()
        except BrokenPipeError:
            self._discard()
            # Not an error of the command's files, which it would report and try to mend.
            raise SystemExit(READER_LEFT) from None
        except OSError as error:
            self.error = error
            self._discard()
            return otherwise

    def _discard(self) -> None:
        """Discard the buffer's content, which would fail again at the end."""
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guarded(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Call a command's ``main`` and return its exit status, or 1 if its standard output failed.

    An error that cannot be printed keeps its status. Whatever the user's umask is, no file of a command can
    be written by others than the user and the group.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and "executor=mpi" not in arguments:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(os.umask(0o022) | 0o002)
    try:
        os.getcwd()
    except OSError:
        print("error: the working folder does not exist any more: cd to one that does", file=sys.stderr)
        return 2
    if not os.environ.get("COLUMNS", "80").isdecimal() or os.environ.get("COLUMNS") == "0":
        del os.environ["COLUMNS"]  # no text fits into zero columns
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, ``>&-``
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # ± becomes ? where there is only ASCII
    sys.stderr = Output(sys.stderr)
    try:
        return _with_output(main, arguments)
    finally:
        sys.stderr = streams[1]


def _with_output(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    output = Output(sys.stdout)
    sys.stdout = output
    try:
        status = main(arguments)
        output.flush()
    except KeyboardInterrupt:  # while modules load; later a command handles it itself
        print("stopped", file=sys.stderr)
        return INTERRUPTED
    finally:
        sys.stdout = output._stream
    if output.error is not None:
        reason = output.error.strerror or output.error
        print(
            f"error: standard output: {reason}; what was printed is lost, all files are there",
            file=sys.stderr,
        )
        return status or 1
    return status


def wrapped(text: str, width: int = 79) -> str:
    """Return a text whose lines are broken at words, below where the line's last column begins.

    A command that is too long continues after a backslash.

    Examples
    --------
    >>> print(wrapped("  key=VALUE  what it is and does", 22))
      key=VALUE  what it
                 is and
                 does
    """
    lines: list[str] = []
    for line in _joined(text.split("\n")):
        is_command = line.startswith(COMMANDS)
        parts = textwrap.wrap(
            line, width - 2 * is_command, subsequent_indent=" " * (_below(line) + 4 * is_command),
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        lines += [*(f"{part} \\" for part in parts[:-1]), *parts[-1:]] if is_command else parts or [""]
    return "\n".join(lines)


def _joined(lines: Sequence[str]) -> list[str]:
    """Return lines of prose with those that continue them."""
    found: list[str] = []
    before = 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if before > PROSE and line.strip() and not line.startswith(COMMANDS) and indent == _below(found[-1]):
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
        before = len(line)
    return found


COMMANDS = ("  python ", "  schedsweep ")
"""How a line of help with a command begins."""

PROSE = 70
"""Letters from which on a line of help is continued by the next one that begins below its text."""


def _below(line: str) -> int:
    """Return where the text of a line begins: its last column, or its indent."""
    columns = [
        found.end() for found in re.finditer(r"(?:\S {2,}|^ *\w+=\S+ )(?=\S)", line) if found.end() < 40
    ]
    return columns[-1] if columns else len(line) - len(line.lstrip())
