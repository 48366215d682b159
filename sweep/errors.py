"""Errors that a user can correct: one clear line and an exit status, never a traceback."""

import difflib
import re
from collections.abc import Iterable, Mapping

INTERRUPTED = 130
"""Exit status after Ctrl-C or SIGTERM, as shells have it for the former."""

ALIKE = 0.8
"""Similarity from which a key is a misspelling of another one, see `difflib`."""


class SweepError(Exception):
    """The request is wrong, and nothing has been run (exit status 2).

    The message is one line: what was given, what is allowed, what to do next.

    Parameters
    ----------
    added : dict of str to str, optional
        Key -> value, as on a command line: settings with which the same command would run.
    """

    status = 2

    def __init__(self, message: object = "", added: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.added = dict(added or {})

    def __str__(self) -> str:
        return printable(super().__str__()).replace("\n", "\\n")


class RunError(SweepError):
    """Something failed while running; what was finished is kept (exit status 1)."""

    status = 1


def printable(text: str) -> str:
    r"""Return text with control characters and characters that cannot be displayed written as escapes.

    Names may come from a stranger's file. Line ends are kept, for tracebacks.

    Examples
    --------
    >>> printable("easy"), printable("\x1b[2Jeasy")
    ('easy', '\\x1b[2Jeasy')
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in "\n\t\u00a0\u202f" else one.encode("unicode_escape").decode()
        for one in text
    )


SETTING = re.compile(r"(?<![\w'\"=`.+])(\+?[a-z_][\w.]*=(?:\[[^][A-Z']*\]|\{[^{}A-Z']*\}))(?![:\w'])")
"""A setting in advice that a shell would split; a setting that was given is followed by a colon."""

TEXTS = re.compile(r"""(?<![\w'"=`.+])\+?[a-z_][\w.]*=\['[^'"$`\\!]*'(?:,'[^'"$`\\!]*')*\](?![:\w'"])""")
"""A list of texts in advice, whose quotes a shell would remove."""


def typable(text: str) -> str:
    """Return a message in which such settings are quoted, so that they can be copied to any shell.

    Examples
    --------
    >>> typable("grid.load=[1,a]: 'a' is not a number; give numbers, grid.load=[0.5,0.9], or grid.load=[A,B]")
    "grid.load=[1,a]: 'a' is not a number; give numbers, 'grid.load=[0.5,0.9]', or grid.load=[A,B]"
    >>> print(typable("add policy.lines=['Licenses=a:2','Nodes=n[1-2]'], or leave them out"))
    add "policy.lines=['Licenses=a:2','Nodes=n[1-2]']", or leave them out
    """
    text = TEXTS.sub(r'"\g<0>"', text)
    return SETTING.sub(lambda found: found[0] if "..." in found[0] else f"'{found[0]}'", text)


def unknown(kind: str, given: object, valid: Iterable[str]) -> str:
    """Return the line that refuses an unknown name, with the closest valid one and all valid ones.

    Examples
    --------
    >>> unknown("key", "batchs", ["batches", "seed"])
    "unknown key 'batchs': did you mean 'batches'? valid: batches, seed"
    """
    names = sorted(map(str, valid))  # keys of YAML may be numbers
    meant = closest(given, names)
    hint = f" did you mean {meant!r}?" if meant else ""
    return f"unknown {kind} {str(given)!r}:{hint} valid: {', '.join(names) or 'none'}"


def closest(given: object, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, or None if no name is close."""
    by_letters = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(given).lower(), by_letters, n=1)
    return by_letters[close[0]] if close else None


def one_line(error: BaseException) -> str:
    """Return the first non-empty line of an exception's message, or its type if it has none."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)
