"""The directives ``gallery``, the figures and drawings of a paper with their commands, and ``film``, the
Ousterhout matrix under three schemes, moment by moment, as one picture.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sitetools import figures
from sitetools.figures import Entry, Group

LOGGER = logging.getLogger(__name__)

PAGES = "gallery/"
"""Folder of the pages, one for each paper."""


class Gallery(SphinxDirective):
    """A section for each experiment of a paper, then one for its drawings."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        experiments, drawings = self.env.gallery_groups  # type: ignore[attr-defined]
        paper = figures.sections()[self.arguments[0]]
        made: list[nodes.Node] = [nodes.paragraph("", paper.citation)] if paper.citation else []
        shown: set[tuple[str, str]] = set()
        made += [
            self._experiment(experiments.get(name) or _unmade(name), shown) for name in paper.experiments
        ]
        if paper.drawings:
            part = self._section("Drawings")
            part += _grid(
                [self._figure(entry, group.commands) for name in paper.drawings
                 for group in [drawings.get(name) or _unmade(name, True)] for entry in group.entries]
            )  # fmt: skip
            made.append(part)
        return made

    def _experiment(self, group: Group, shown: set[tuple[str, str]]) -> nodes.section:
        """Return the figures of an experiment, but for those that another one of the paper has shown."""
        section = self._section(group.name)
        code = "\n".join(group.commands)
        section += nodes.literal_block(code, code, language="sh")
        if group.ran:
            section += nodes.paragraph(
                "",
                "",
                nodes.Text("These pictures are drawn from a short run: "),
                nodes.literal("", group.ran),
            )
        new = [entry for entry in group.entries if entry.image and (entry.name, entry.title) not in shown]
        again = [entry.title for entry in group.entries if (entry.name, entry.title) in shown]
        section += _grid([self._figure(entry) for entry in new])
        if again:
            section += nodes.paragraph("", f"It also draws, as above: {'; '.join(again)}.")
        for entry in group.entries:
            if entry.skipped and (entry.name, entry.title) not in shown:
                section += nodes.paragraph("", f"{entry.title}: not drawn here, {entry.skipped}.")
        shown.update((entry.name, entry.title) for entry in group.entries)
        return section

    def _figure(self, entry: Entry, commands: Sequence[str] = ()) -> nodes.Node:
        """Return a picture with its caption; a click opens it in full."""
        made = nodes.figure()
        if entry.image:
            place = (Path(self.env.config.gallery_folder) / entry.image).as_posix()
            made += nodes.image(uri=f"/{place}", alt=entry.title, width="100%")
        made += nodes.caption("", entry.title)
        legend = [nodes.paragraph("", entry.caption)]
        if entry.skipped:
            legend.append(nodes.paragraph("", f"Not drawn here: {entry.skipped}."))
        legend += [nodes.literal_block(command, command, language="sh") for command in commands]
        made += nodes.legend("", *legend)
        return made

    def _section(self, title: str) -> nodes.section:
        section = nodes.section(names=[nodes.fully_normalize_name(title)])
        section += nodes.title(title, title)
        self.state.document.note_implicit_target(section, section)
        return section


def setup(app: Sphinx) -> None:
    """Register the directives, and make the pictures before any page is read."""
    app.add_config_value("gallery_runs", True, "env", types=[bool])
    app.add_config_value("gallery_folder", "_build/gallery", "env", types=[str])
    app.add_directive("gallery", Gallery)
    app.add_directive("film", Film)
    app.connect("builder-inited", _make)
    app.connect("env-get-outdated", lambda app, env, *_: [f"{PAGES}{key}" for key in figures.sections()])
    app.connect("html-page-context", _lazy)


def _make(app: Sphinx) -> None:
    """Make the missing pictures, and report progress."""
    experiments: dict[str, Group] = {}
    drawings: dict[str, Group] = {}
    app.env.gallery_groups = (experiments, drawings)  # type: ignore[attr-defined]
    if app.builder.format != "html":
        return
    parts = figures.sections().values()
    names = [name for part in parts for name in part.experiments]
    drawn = [name for part in parts for name in part.drawings]
    total = len(names) + len(drawn)
    making = figures.making(Path(app.srcdir) / app.config.gallery_folder)
    if not app.config.gallery_runs:
        experiments |= {name: found for name in names if (found := figures.kept(making, name, False))}
        drawings |= {name: found for name in drawn if (found := figures.kept(making, name, True))}
        return
    for number, (group, now) in enumerate(figures.make(making, names, drawn), start=1):
        (drawings if "analysis draw" in group.commands[0] else experiments)[group.name] = group
        if now:
            LOGGER.info("gallery: %s, %.0f s (%d of %d)", group.name, group.seconds, number, total)
        if group.error:
            LOGGER.warning("gallery: %s: %s", group.name, group.error)


def _unmade(name: str, drawing: bool = False) -> Group:
    """Return the gallery's note on pictures that were not made."""
    entries = (Entry(name, name, ""),) if drawing else ()
    return Group(name, figures.commands_of(name, drawing), entries=entries)


def _grid(pictures: list[nodes.Node]) -> list[nodes.Node]:
    return [nodes.container("", *pictures, classes=["gallery"])] if pictures else []


def _lazy(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let a browser load the gallery's pictures as they come into view."""
    if pagename.startswith(PAGES) and "body" in context:
        context["body"] = context["body"].replace("<img ", '<img loading="lazy" ')


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
