"""Small files of the user's cache folder: what takes time to find out, and can be lost without harm."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from sweep.store.folder import replace


def file(name: str) -> Path:
    """Return where a file of the cache is."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "schedsweep" / name


def read(path: Path) -> dict[str, Any]:
    """Return what `write` kept, empty where it is missing or damaged, or others could have written it."""
    with suppress(OSError, ValueError):
        if _is_own(path.parent) and path.is_file():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return stored if isinstance(stored, dict) else {}
    return {}


def write(path: Path, data: dict[str, Any]) -> None:
    """Keep data for later processes, if the folder is this user's and can be written."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_own(path.parent):
            replace(path, json.dumps(data, indent=0, sort_keys=True).encode())


def _is_own(folder: Path) -> bool:
    """Whether a folder is this user's, and nobody else may write to it."""
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o022
