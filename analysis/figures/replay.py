"""A figure is drawn once, for its pixels; what was drawn is written again in vector formats.

To draw means to update ticks, to measure texts and to transform points, which takes longer than to write the
lines that come of it, and does not depend on the format. So the renderer of the pixels keeps what it is
told, and a stand-in for the figure tells it to the renderers of the others, in their own units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox, Transform, TransformedPath

Step: TypeAlias = Callable[[RendererBase, "Replay"], None]
"""One thing that was drawn, for another renderer of the figure."""


class RecordingCanvas(FigureCanvasAgg):
    """The canvas of pixels, whose renderer keeps what it draws.

    Parameters
    ----------
    figure : matplotlib Figure
        At the resolution of its pixels, without a layout that is still to be made.
    """

    renderer: _Recorder

    def get_renderer(self) -> _Recorder:
        """Return the one renderer for layout and drawing, so that each text is measured once."""
        key = *self.get_width_height(physical=True), self.figure.dpi
        if self._lastKey != key:
            self.renderer = _Recorder(*key)
            self._lastKey = key
        return self.renderer

    def replay(self) -> Replay:
        """Return a stand-in for the figure, once that has been drawn."""
        return Replay(self.figure, self.renderer.steps)


class Replay(Figure):
    """A figure of what another one drew.

    Parameters
    ----------
    figure : matplotlib Figure
    steps : list of callable
    """

    def __init__(self, figure: Figure, steps: list[Step]) -> None:
        width, height = figure.get_size_inches()
        super().__init__(figsize=(width, height), dpi=figure.dpi)
        self.steps = steps
        self.pixels = float(figure.dpi)
        self.clips: dict[int, Any] = {}

    def draw(self, renderer: RendererBase) -> None:
        """Draw it all again."""
        self.clips.clear()
        for step in self.steps:
            step(renderer, self)

    @property
    def scale(self) -> float:
        """Units of the format in a pixel of the drawing."""
        return float(self.dpi) / self.pixels

    def height(self, up: float, renderer: RendererBase) -> float:
        """Return the height of a text from its pixels above the lower edge: some formats count from above."""
        scaled = up * self.scale
        return float(renderer.get_canvas_width_height()[1]) - scaled if renderer.flipy() else scaled

    def scaled(self, transform: np.ndarray) -> Affine2D:
        """Return a transformation into pixels as one into the format's units."""
        return Affine2D(transform * [[self.scale], [self.scale], [1.0]])

    def context(self, renderer: RendererBase, kept: _Context) -> GraphicsContextBase:
        """Return colours, lines and clipping for a renderer.

        What one object clipped is clipped by one object: renderers tell by it what changes.
        """
        gc = renderer.new_gc()
        gc.copy_properties(kept)
        if kept.rectangle is not None:
            rectangle, corners = kept.rectangle
            if id(rectangle) not in self.clips:
                self.clips[id(rectangle)] = Bbox(corners * self.scale)
            gc.set_clip_rectangle(self.clips[id(rectangle)])
        if kept.path is not None:
            clip, path, transform = kept.path
            if id(clip) not in self.clips:
                self.clips[id(clip)] = TransformedPath(path, self.scaled(transform))
            gc.set_clip_path(self.clips[id(clip)])
        return gc


class _Context(GraphicsContextBase):
    """What a graphics context was at a moment; clipping as it was in pixels then, with its objects."""

    def __init__(self, gc: GraphicsContextBase) -> None:
        self.copy_properties(gc)
        rectangle, (path, transform) = gc.get_clip_rectangle(), gc.get_clip_path()
        self.rectangle = None if rectangle is None else (rectangle, rectangle.get_points().copy())
        self.path = None
        if path is not None and transform is not None:
            self.path = gc._clippath, cast(Path, path), transform.get_matrix()  # type: ignore[attr-defined]
        self.set_clip_rectangle(None)
        self.set_clip_path(None)


class _Recorder(RendererAgg):
    """Draws pixels and keeps what it was told to draw."""

    def __init__(self, width: float, height: float, dpi: float) -> None:
        self.steps: list[Step] = []
        self.heights: dict[int, tuple[float, float, float]] = {}
        super().__init__(width, height, dpi)

    def clear(self) -> None:
        """Begin anew."""
        self.steps.clear()
        super().clear()

    def _update_methods(self) -> None:
        """Leave out that some methods are the compiled renderer's own: they would keep nothing."""

    def _get_font_height_metrics(
        self, prop: FontProperties
    ) -> tuple[float, float, float] | tuple[None, None, None]:
        """Return ascent, descent and gap between lines of a font, in pixels.

        Every text asks each time it is measured. A renderer without an answer of its own is spared the
        question, and the font is looked for among all fonts, and its tables are read, thousands of times.
        """
        # Font properties are equal if their hashes are, and can be changed by whoever has them.
        if (key := hash(prop)) not in self.heights:
            font = get_font(findfont(prop))
            table, head = font.get_sfnt_table("OS/2"), font.get_sfnt_table("head")
            if table is None or head is None:
                return None, None, None  # then matplotlib asks the font otherwise
            scale = prop.get_size_in_points() * self.dpi / 72 / head["unitsPerEm"]
            self.heights[key] = (
                table["sTypoAscender"] * scale,
                -table["sTypoDescender"] * scale,
                table["sTypoLineGap"] * scale,
            )
        return self.heights[key]

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Begin a group of elements, which SVG has."""
        self.steps.append(lambda renderer, _: renderer.open_group(s, gid))

    def close_group(self, s: str) -> None:
        """End a group of elements."""
        self.steps.append(lambda renderer, _: renderer.close_group(s))

    def draw_path(
        self,
        gc: GraphicsContextBase,
        path: Path,
        transform: Transform,
        rgbFace: Any = None,  # noqa: N803, matplotlib's name
    ) -> None:
        """Draw a path."""
        super().draw_path(gc, path, transform, rgbFace)
        kept, matrix = _Context(gc), transform.get_matrix()

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_path(context, path, to.scaled(matrix), rgbFace)
            context.restore()

        self.steps.append(step)

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,  # noqa: N803
    ) -> None:
        """Draw a marker at each point of a path."""
        self._renderer.draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
        kept, marker, places = _Context(gc), marker_trans.get_matrix(), trans.get_matrix()

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_markers(context, marker_path, to.scaled(marker), path, to.scaled(places), rgbFace)
            context.restore()

        self.steps.append(step)

    def draw_path_collection(
        self,
        gc: GraphicsContextBase,
        master_transform: Transform,
        paths: Any,
        all_transforms: Any,
        offsets: Any,
        offset_trans: Transform,
        *looks: Any,
        **further: Any,
    ) -> None:
        """Draw many paths at once."""
        self._renderer.draw_path_collection(
            gc, master_transform, paths, all_transforms, offsets, offset_trans, *looks, **further
        )
        kept, master, places = _Context(gc), master_transform.get_matrix(), offset_trans.get_matrix()

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_path_collection(
                context,
                to.scaled(master),
                paths,
                all_transforms,
                offsets,
                to.scaled(places),
                *looks,
                **further,
            )
            context.restore()

        self.steps.append(step)

    def draw_quad_mesh(
        self,
        gc: GraphicsContextBase,
        master_transform: Transform,
        mesh_width: int,
        mesh_height: int,
        coordinates: Any,
        offsets: Any,
        offset_trans: Transform,
        *looks: Any,
    ) -> None:
        """Draw a mesh of quadrilaterals."""
        self._renderer.draw_quad_mesh(
            gc, master_transform, mesh_width, mesh_height, coordinates, offsets, offset_trans, *looks
        )
        kept, master, places = _Context(gc), master_transform.get_matrix(), offset_trans.get_matrix()

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_quad_mesh(
                context, to.scaled(master), mesh_width, mesh_height, coordinates, offsets,
                to.scaled(places), *looks,
            )  # fmt: skip
            context.restore()

        self.steps.append(step)

    def draw_gouraud_triangles(
        self, gc: GraphicsContextBase, triangles_array: Any, colors_array: Any, transform: Transform
    ) -> None:
        """Draw shaded triangles."""
        self._renderer.draw_gouraud_triangles(gc, triangles_array, colors_array, transform)
        kept, matrix = _Context(gc), transform.get_matrix()

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_gouraud_triangles(context, triangles_array, colors_array, to.scaled(matrix))
            context.restore()

        self.steps.append(step)

    def draw_image(self, gc: GraphicsContextBase, x: float, y: float, im: Any, transform: Any = None) -> None:
        """Draw an image, one pixel of it on one of the drawing."""
        self._renderer.draw_image(gc, x, y, im)
        kept = _Context(gc)

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_image(context, x * to.scale, y * to.scale, im)
            context.restore()

        self.steps.append(step)

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        """Draw a line of text."""
        super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
        kept, up = _Context(gc), self.height - y

        def step(renderer: RendererBase, to: Replay) -> None:
            context = to.context(renderer, kept)
            renderer.draw_text(context, x * to.scale, to.height(up, renderer), s, prop, angle, ismath, mtext)
            context.restore()

        self.steps.append(step)
