"""The figures of a paper that a study has, drawn: for the tests of figures."""

from matplotlib.figure import Figure

from analysis.errors import DrawingError
from analysis.figures import style
from analysis.paper import Paper
from analysis.study import Study


def drawn(
    paper: Paper, found: Study, *names: str, render: bool = False, layout: bool = False
) -> dict[str, Figure]:
    """Return the figures that can be drawn, those of these names if there are any, by name.

    With `render` they are drawn to the end, without the layout that takes most of the time, or with it.
    """
    figures = {}
    with style.styled():
        for picture in paper.pictures(found, None):
            if names and picture.name not in names:
                continue
            try:
                figures[picture.name] = picture.draw()
            except DrawingError:
                continue
            if render:
                if not layout:
                    figures[picture.name].set_layout_engine(None)
                figures[picture.name].draw_without_rendering()
    return figures
