"""Tables that compare: their texts are rows of ``tables.yaml`` in the package that shows them.

A row has a table's ``title``, its ``columns``, and its ``caption``: one text, or parts by name that are shown
where they apply.
"""

from collections.abc import Iterable, Mapping, Sequence

from analysis.figures.captions import ROOT
from analysis.paper import content
from analysis.report.table import Cell, Table

Row = Sequence[Cell | str | None]
"""Cells of a row; None where a column does not apply."""


def declared(
    package: str, name: str, rows: Iterable[Row], more: Iterable[str] = (), *,
    parts: Mapping[str, bool] | None = None, row: str = "", **values: object,
) -> Table:  # fmt: skip
    """Return a table with the texts of its row.

    Parameters
    ----------
    package : str
        Name of the package below ``analysis``.
    rows : iterable of Row
        A column that applies to none of them is omitted.
    more : iterable of str
        Headings that follow the declared ones, such as the policies of a study.
    parts : dict of str to bool, optional
        Part of the caption -> whether it applies.
    row : str, optional
        Name of the row; by default the table's name.
    **values
        Values for the placeholders in the texts.
    """
    texts, cells = content(ROOT / package / "tables.yaml")[row or name], [list(one) for one in rows]
    caption = texts["caption"]
    if not isinstance(caption, str):
        caption = " ".join(caption[part] for part, applies in (parts or {}).items() if applies)
    heads = [*(head.format_map(values) for head in texts["columns"]), *more]
    kept = [i for i in range(len(heads)) if not cells or any(line[i] is not None for line in cells)]
    made = [[cell if isinstance(cell := line[i], Cell) else Cell(cell or "") for i in kept] for line in cells]
    title, caption = (text.format_map(values) for text in (texts["title"], caption))
    return Table(name, title, caption, [heads[i] for i in kept], made)
