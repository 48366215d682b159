"""Compiled functions named without loading them: a plan is made and checked before any kernel is loaded."""

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reference:
    """A function of a module that is imported when it is needed."""

    module: str
    name: str

    def load(self) -> Any:
        """Import the module, which compiles its kernels the first time, and return the function."""
        return getattr(importlib.import_module(self.module), self.name)


class LazyModule:
    """A module whose attributes are references, for ``if TYPE_CHECKING: from … import … else: …``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Reference:
        return Reference(self._name, function)
