"""Arguments ``key=value`` of the analysis' commands, and the folder of job logs that they may name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from sweep import logs
from sweep.errors import closest


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
        Keys of the command.
    allowed : callable, optional
        Whether a further key may be given.
    more : str
        Further keys in words, for the message.
    command : str
        Its name with a colon, for the message.

    Raises
    ------
    AnalysisError
        With one line for the first argument that is not a valid pair.
    """
    keys, found = list(valid), {}
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if not sign or not (key in keys or allowed(key)):
            known = ", ".join(f"{one}=" for one in keys)
            meant = closest(key, keys) if sign else None
            hint = f" did you mean {meant}={value}?" if meant else ""
            raise AnalysisError(f"{command}unknown argument {argument!r};{hint} valid: {known}{more}")
        if not value.strip(" ,[]"):
            raise AnalysisError(f"{command}{argument!r} has no value; give one, or omit {key}=")
        found[key] = value
    return found


def log_folder(settings: Mapping[str, str]) -> Path | None:
    """Return the folder of job logs that the settings name, else the default (`sweep.logs`).

    Raises
    ------
    AnalysisError
        If the named folder does not exist.
    """
    if "logs" not in settings:
        return logs.folder()
    folder = Path(settings["logs"])
    if not folder.is_dir():
        raise AnalysisError(
            f"logs={folder}: no such folder; give the folder of SWF logs such as KTH-SP2-1996-2.swf.gz"
        )
    return folder
