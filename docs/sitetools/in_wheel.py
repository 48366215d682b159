"""Put the pages of the documentation into the wheel, where ``schedsweep docs`` finds them."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Pages(BuildHookInterface):  # type: ignore[misc] # hatchling has no types
    """Adds ``docs/*.md`` and the README; an editable install reads them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files of a wheel."""
        if version == "editable":
            return
        pages = [*Path(self.root, "docs").glob("*.md"), Path(self.root, "README.md")]
        build_data["force_include"] |= {str(page): f"sweep/docs/{page.name}" for page in pages}
