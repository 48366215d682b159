"""Arguments ``key=value`` of the analysis' commands, and the folder of job logs that they may name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from sweep import logs


def parsed(
    arguments: Sequence[str],
    valid: Iterable[str],
    allowed: Callable[[str], bool] = lambda key: False,
    more: str = "",
    command: str = "",
) -> dict[str, str]:
    """Return ``key=value`` arguments as a dictionary.

    Parameters
    ----------
    valid : iterable of str
        Keys that the command has.
    allowed : callable, optional
        Whether a further key may be given.
    more : str
        Further keys in words, for the message.
    command : str
        Its name with a colon, for the message.

    Raises
    ------
    AnalysisError
        With one line for the first argument that is no such pair.
    """
    keys, found = list(valid), {}
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if not sign or not (key in keys or allowed(key)):
            known = ", ".join(f"{one}=" for one in keys)
            raise AnalysisError(f"{command}{argument!r} is not understood; valid: {known}{more}")
        if not value.strip(" ,[]"):
            raise AnalysisError(f"{command}{argument!r} names nothing; give a value, or leave {key}= out")
        found[key] = value
    return found


def log_folder(settings: Mapping[str, str]) -> Path | None:
    """Return the folder of job logs that is named, else the usual one (`sweep.logs`).

    Raises
    ------
    AnalysisError
        If the folder that is named does not exist.
    """
    if "logs" not in settings:
        return logs.folder()
    folder = Path(settings["logs"])
    if not folder.is_dir():
        raise AnalysisError(f"logs={folder}: no such folder; it holds SWF logs, e.g. NASA-iPSC-1993-3.swf.gz")
    return folder
