"""The directives ``gallery``, the figures and drawings of a paper with their commands, and ``film``, the
Ousterhout matrix under three schemes, moment by moment, as one picture.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sitetools import figures
from sitetools.figures import Group

LOGGER = logging.getLogger(__name__)

PAGES = "gallery/"
"""Folder of the pages, one for each paper."""


class Gallery(SphinxDirective):
    """A section for each experiment of a paper, then one for its drawings."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        from analysis.registry import papers

        paper = papers()[self.arguments[0]]
        made: list[nodes.Node] = [nodes.paragraph("", paper.citation)] if paper.citation else []
        shown: set[tuple[str, str]] = set()
        made += [self._experiment(self._group(name), shown) for name in figures.experiments(paper)]
        drawings = [self._group(name, is_drawing=True) for name in paper.drawings]
        if drawings:
            part = self._section("Drawings")
            part += _grid([
                self._figure(one, group.commands)
                for group in drawings
                for one in group.pictures or [_nothing(group.name)]
            ])  # fmt: skip
            made.append(part)
        return made

    def _group(self, name: str, is_drawing: bool = False) -> Group:
        """Return the pictures that were made, or their commands alone."""
        wanted = Group(name, is_drawing)
        return figures.kept(Path(self.env.srcdir) / self.env.config.gallery_folder, wanted) or wanted

    def _experiment(self, group: Group, shown: set[tuple[str, str]]) -> nodes.section:
        """Return the figures of an experiment, except those that another one of the paper has shown."""
        section = self._section(group.name)
        code = "\n".join(group.commands)
        section += nodes.literal_block(code, code, language="sh")
        if group.ran:
            words = nodes.Text("These pictures are drawn from a short run: ")
            section += nodes.paragraph("", "", words, nodes.literal("", group.ran))
        new = [one for one in group.pictures if (one["name"], one["title"]) not in shown]
        again = [one["title"] for one in group.pictures if one not in new]
        section += _grid([self._figure(one) for one in new if one["image"]])
        if again:
            section += nodes.paragraph("", f"It also draws, as above: {'; '.join(again)}.")
        for one in new:
            if one["skipped"]:
                section += nodes.paragraph("", f"{one['title']}: not drawn here, {one['skipped']}.")
        shown.update((one["name"], one["title"]) for one in new)
        return section

    def _figure(self, one: Mapping[str, str], commands: Sequence[str] = ()) -> nodes.Node:
        """Return a picture with its caption; a click opens it in full."""
        made = nodes.figure()
        if one["image"]:
            place = (Path(self.env.config.gallery_folder) / one["image"]).as_posix()
            made += nodes.image(uri=f"/{place}", alt=one["title"], width="100%")
        made += nodes.caption("", one["title"])
        legend = [nodes.paragraph("", one["caption"])]
        if one["skipped"]:
            legend.append(nodes.paragraph("", f"Not drawn here: {one['skipped']}."))
        legend += [nodes.literal_block(command, command, language="sh") for command in commands]
        made += nodes.legend("", *legend)
        return made

    def _section(self, title: str) -> nodes.section:
        section = nodes.section(names=[nodes.fully_normalize_name(title)])
        section += nodes.title(title, title)
        self.state.document.note_implicit_target(section, section)
        return section


def _grid(pictures: list[nodes.Node]) -> list[nodes.Node]:
    return [nodes.container("", *pictures, classes=["gallery"])] if pictures else []


def _nothing(name: str) -> dict[str, str]:
    """Return the place of a picture that was not made."""
    return {"name": name, "title": name, "caption": "", "image": "", "skipped": ""}


def setup(app: Sphinx) -> None:
    """Register the directives, and make the pictures before any page is read."""
    from analysis.registry import papers

    app.add_config_value("gallery_runs", True, "env", types=[bool])
    app.add_config_value("gallery_folder", "_build/gallery", "env", types=[str])
    app.add_directive("gallery", Gallery)
    app.add_directive("film", Film)
    app.connect("builder-inited", _make)
    app.connect("env-get-outdated", lambda app, env, *_: [f"{PAGES}{key}" for key in papers()])
    app.connect("html-page-context", _lazy)


def _make(app: Sphinx) -> None:
    """Make the missing pictures, and report progress."""
    if app.builder.format != "html" or not app.config.gallery_runs:
        return
    for group in figures.make(Path(app.srcdir) / app.config.gallery_folder, figures.every()):
        LOGGER.info("gallery: %s", group.name)
        if group.error:
            LOGGER.warning("gallery: %s: %s", group.name, group.error)


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
