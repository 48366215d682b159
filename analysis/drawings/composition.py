"""Files of conf for drawings, which have no experiment to compose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.errors import AnalysisError
from sweep.config import files, locate
from sweep.errors import SweepError


def parameters(
    group: str, name: str, changed: Mapping[str, Any] | None = None, user: str = ""
) -> dict[str, Any]:
    """Return a policy, workload or machine as a sweep would get it.

    Parameters
    ----------
    group : {"policy", "workload", "machine"}
    name : str
        Of a file in that folder of conf, for a policy with or without its family's folder.
    changed : dict, optional
        Keys of the file and the values that they take instead.
    user : str
        A user's own conf folder, searched too.

    Raises
    ------
    AnalysisError
        If there is no such file or key.
    """
    try:
        folders = [locate.conf_folder(), *([locate.user_folder(user)] if user else [])]
        return files.parameters(group, name, changed, folders)
    except SweepError as error:
        raise AnalysisError(str(error)) from None
