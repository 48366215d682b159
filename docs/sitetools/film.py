"""The directive ``film``: the Ousterhout matrix under three schemes, moment by moment, as one picture."""

import io
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SETTINGS = {"policy": "first_fit,buddy,migration", "load": "0.9", "machine": "32", "slots": "10"}
BEGIN, FRAMES = 300, 30
"""Time of the first frame; the others follow one time unit apart."""

SHOWN_MS = 400


class Film(SphinxDirective):
    """Draw the frames by the project's own ``draw`` while the site is built."""

    def run(self) -> list[nodes.Node]:
        """Return the picture and the command that draws a frame."""
        settings = " ".join(f"{key}={value}" for key, value in {**SETTINGS, "time": BEGIN}.items())
        command = f"python -m analysis draw matrix {settings}"
        code = nodes.literal_block(command, command, language="sh")
        if not self.env.config.gallery_runs:
            return [code]
        folder = Path(self.env.srcdir) / self.env.config.gallery_folder
        file = folder / "film.png"
        if not file.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            first, *others = map(_frame, range(BEGIN, BEGIN + FRAMES))
            first.save(file, save_all=True, append_images=others, duration=SHOWN_MS, loop=0)
        place = f"/{(Path(self.env.config.gallery_folder) / file.name).as_posix()}"
        words = f"{FRAMES} moments of the same jobs under first fit, buddy and migration, slots in rows"
        return [nodes.image(uri=place, alt=words, width="100%"), code]


def _frame(time: int) -> Image.Image:
    from analysis.figures import style
    from analysis.registry import drawings

    drawing = drawings()["matrix"]
    with style.styled():
        figure, shown = drawing.draw({**drawing.settings, **SETTINGS, "time": str(time)}), io.BytesIO()
        figure.savefig(shown, format="png", dpi=90)
    return Image.open(shown).convert("P", palette=Image.Palette.ADAPTIVE, colors=64)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("film", Film)
