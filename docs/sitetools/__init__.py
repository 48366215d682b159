"""What the site has beyond Sphinx: the reference of the YAML files, the gallery, and a film."""

from typing import Any

from sphinx.application import Sphinx

from sitetools import gallery, keys, pages


def setup(app: Sphinx) -> dict[str, Any]:
    """Register directives and events."""
    for part in (gallery, keys, pages):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
