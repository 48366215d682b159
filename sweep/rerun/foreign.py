"""Limits on a recipe, which may be a stranger's: it must not run other code, or read other files."""

from collections.abc import Collection
from pathlib import Path

from models import dotted
from sweep.config.settings import GROUPS, Config, shown
from sweep.errors import SweepError
from sweep.plan import checks, sources
from sweep.plan.data import Plan
from sweep.plan.expansion import expand
from sweep.rerun.original import Original


def allowed(original: Original, trust: bool = False, brings_code: bool = False) -> Collection[str] | None:
    """Return the packages whose code may be imported, None for any.

    Parameters
    ----------
    trust : bool
        Whether any code that the file names may run.
    brings_code : bool
        Whether the code that the file carries may run (``modules=FOLDER``).
    """
    carried = {Path(place).parts[0].removesuffix(".py") for place in original.modules}
    return None if trust else {*dotted.OURS, *(carried if brings_code else ())}


def planned(original: Original, config: Config, packages: Collection[str] | None = dotted.OURS) -> Plan:
    """Return the plan of a recipe, importing only code of some packages; None allows any.

    Raises
    ------
    SweepError
        With one line that names the code or the files, and the ways to allow them.
    """
    if packages is None:
        return expand(config)
    with dotted.only(packages) as refused:
        try:
            if config.settings.command is not None:
                refused.append(f"command {shown(config.settings.command)}")
                raise SweepError
            expanded = expand(config)
            given = [one.parameters for group in GROUPS for one in expanded.variants[group]]
            given.append(dict(expanded.measures))
            refused += sources.foreign(given, packages)
            if not refused:
                checks.notes(expanded)  # the models check it here, where nothing else can be imported
        finally:
            if refused:
                more = [config.files, config.settings.measures.of_jobs]
                listed = ", ".join(dict.fromkeys([*refused, *sources.foreign(more, packages)]))
                carried = ", or modules=FOLDER to run only the code that the file carries"
                raise SweepError(
                    f"{original.path} runs code from outside this project ({listed}): read that code, "
                    f"then add trust=true{carried if config.settings.command is None else ''}"
                ) from None
    for group in GROUPS:
        for variant in expanded.variants[group]:
            path = variant.parameters.get("path")
            if path is not None and path not in config.logs.values():
                raise SweepError(f"the recipe names {path}, which is not one of its logs: it is not rerun")
    return expanded
