"""A picture as it was drawn: its file, what it shows, or why it was skipped."""

import base64
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from analysis.paper import Picture


@dataclass(frozen=True)
class DrawnPicture:
    """A picture and its file, or the reason why it was skipped."""

    picture: Picture
    svg: Path | None
    skipped: str = ""
    shows: str = ""

    @property
    def alternative(self) -> str:
        """The alternative text for screen readers: title, axes, lines and caption."""
        return f"{self.picture.title}. {self.shows} {self.picture.caption}"

    @property
    def source(self) -> Markup:
        """The picture as a data URI, so that the report needs no other file.

        An image rather than inline SVG, so that element ids of different figures cannot clash.
        """
        if self.svg is None:
            return Markup()
        return Markup("data:image/svg+xml;base64," + base64.b64encode(self.svg.read_bytes()).decode("ascii"))
