"""Files of conf for drawings, which have no experiment to compose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from analysis.errors import AnalysisError
from sweep import compiling
from sweep.config import choices, locate
from sweep.errors import SweepError, one_line
from sweep.plan import families

if TYPE_CHECKING:
    from models.point import Point


def is_file(group: str, name: str, user: str = "") -> bool:
    """Whether conf, or a user's own, has a file of this full name."""
    return name in choices.names(group, locate.folders(user or None))


def given(settings: Mapping[str, str], group: str) -> dict[str, Any]:
    """Return the keys of a group's file that are set, ``machine.torus=3x5``, as YAML has their values.

    Raises
    ------
    AnalysisError
        If a value is not valid YAML.
    """
    import yaml  # type: ignore[import-untyped] # types only by another package

    found = {}
    for key, text in settings.items():
        if key.startswith(f"{group}."):
            try:
                found[key.removeprefix(f"{group}.")] = yaml.safe_load(text)
            except yaml.YAMLError:
                raise AnalysisError(f"{key}={text}: give a number, a word, or a list in brackets") from None
    return found


def checked(point: Point, short: Iterable[str] = ()) -> None:
    """Check a point with its family, and compile its kernels; `short` as in `in_words_of_drawings`.

    Raises
    ------
    AnalysisError
        With the family's reason for refusing a point, in the terms of a drawing.
    """
    try:
        families.find(str(point.policy["family"])).check(point)
    except ValueError as error:
        raise AnalysisError(in_words_of_drawings(one_line(error), short)) from None
    compiling.ready(point)


def in_words_of_drawings(text: str, short: Iterable[str] = ()) -> str:
    """Replace a sweep's keys in a message by the keys of a drawing, which has neither grid nor batches.

    Parameters
    ----------
    text : str
        A model's reason for refusing its input.
    short : iterable of str
        Keys that this drawing has without their group, ``workload.path``.
    """
    for pattern, replacement in (
        (r"grid\.(machine|policy|workload)=\[(\w+)\]", r"\1=\2"),
        (r"grid\.load=\[([\w.]+)\]", r"load=\1"),
        (r"(machine\.hosts=null )?machine\.processors=", "machine="),
        (r"(policy|workload) (\S+ needs (\S+)): give \{.*\}", r"\1 \2: add \1.\3=VALUE"),
        (r"smaller batch_size=…", "smaller jobs=…"),
        (r", or run it without a schedule", ""),
    ):
        text = re.sub(pattern, replacement, text)
    for key in short:
        text = text.replace(f"{key}=", f"{key.rpartition('.')[2]}=")
    return text


def parameters(
    group: str, name: str, changed: Mapping[str, Any] | None = None, user: str = ""
) -> dict[str, Any]:
    """Return a policy, workload or machine as a sweep receives it.

    Parameters
    ----------
    group : {"policy", "workload", "machine"}
    name : str
        Name of a file in that folder of conf, for a policy with or without its family's folder.
    changed : dict, optional
        Keys of the file and the values that they take instead.
    user : str
        A user's own conf folder, searched too.

    Raises
    ------
    AnalysisError
        If there is no such file or key.
    """
    from sweep.config import chosen  # what reads them takes long to load, and figures of a study read none

    try:
        return chosen.parameters(group, name, changed, locate.folders(user or None))
    except SweepError as error:
        raise AnalysisError(in_words_of_drawings(str(error))) from None
