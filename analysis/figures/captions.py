"""Titles and captions of figures: rows of ``figures.yaml`` in the package of their paper.

A row has a figure's ``title`` and ``caption``, and ``with_claims`` where it is drawn beside the tests of the
sentences. Texts name ``{bars}``, the meaning of the study's error bars, ``{level}``, its confidence level,
and whatever a figure adds.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from analysis.figures.load_plot import bars
from analysis.paper import Picture, content
from analysis.study import Study

ROOT = Path(__file__).parents[1]


def captioned(
    paper: str, study: Study | None, drawn: Mapping[str, Callable[[Any], Figure]], row: str = "",
    subject: Any = None, **values: object,
) -> Iterator[Picture]:  # fmt: skip
    """Yield pictures with the texts of their rows.

    Parameters
    ----------
    paper : str
        Name of its package.
    study : Study, optional
        The study whose numbers they show.
    drawn : dict of str to callable
        Name of a figure -> function of the subject that draws it.
    row : str, optional
        Name of one row for all of them; by default each has its own.
    subject : optional
        The object that they show; by default the study.
    **values
        Values for the placeholders in the texts.
    """
    known = values if study is None else {"bars": bars(study), "level": study.level, **values}
    shown = study if subject is None else subject
    for name, draw in drawn.items():
        texts = content(ROOT / paper / "figures.yaml")[row or name]
        title, caption = (texts[part].format_map(known) for part in ("title", "caption"))
        yield Picture(name, title, caption, partial(draw, shown), texts.get("with_claims", False))
