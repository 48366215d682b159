"""Pictures on request."""

from analysis.feitelson1996.drawings import fig9, matrix
from analysis.paper import Drawing

DRAWINGS = {
    "fig9": Drawing(
        fig9.draw, {}, "Fig. 9: sizes 5, 4, 6, 2, 3 on 8 PEs under best fit and minimal maximum load"
    ),
    "matrix": Drawing(
        matrix.matrix,
        matrix.MATRIX,
        "the Ousterhout matrix at a moment of a simulation; policy=buddy,migration draws two side by side",
    ),
}
