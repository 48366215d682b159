"""How hard the jobs of a class are to bend towards its demands, one number for each thing that bends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Stiffness(NamedTuple):
    """Weights of the three tilts, relative to each other.

    Two demands leave one of three tilts free. As with springs, the bending is the one with the least
    runtime cosh(tilt of the runtime) + processors cosh(that of the processors) + memory cosh(that of the
    memory), where a demand's logarithm is taken to be the sum of the two tilts that make it.

    Parameters
    ----------
    runtime, processors, memory : float
    """

    runtime: float
    processors: float
    memory: float

    def imbalance(self, runtime: float, processors: float, memory: float) -> float:
        """Return what is 0 at that least, and positive where the processors are bent up too much.

        Of the three tilts. With a Lagrange multiplier for each demand: the runtime, which makes both, is bent
        with the force of the other two together.
        """
        forces = np.multiply(self, np.sinh([runtime, processors, memory]))
        return float(forces[1] + forces[2] - forces[0])
