"""The analysis loads no library that it does not need, and whoever needs one has it all the same."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """\
import sys, warnings
warnings.simplefilter("error")
from analysis.loading import ABSENT, only_what_is_needed
with only_what_is_needed():
    import xarray, matplotlib.figure, matplotlib.backends.backend_pdf, scipy.special
assert not [name for name in sys.modules if name.startswith(ABSENT)], "left out"
# Modules of theirs are loaded only with them.
inside = ("numpy.f2py.crackfortran", "numpy.testing._private.utils", "fontTools.ttLib.tables.otTables")
assert not [name for name in inside if name in sys.modules], "later"
import numpy as np, numpy.f2py, fontTools.subset
np.testing.assert_allclose(1.0, 1.0)
assert callable(numpy.f2py.compile if hasattr(numpy.f2py, "compile") else numpy.f2py.run_main)
assert fontTools.subset.Options().glyph_names is False
from mpl_toolkits.mplot3d import Axes3D
assert Axes3D.name == "3d"
"""


def test_what_is_left_out_can_be_had_afterwards() -> None:
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_where_a_library_is_loaded_already_nothing_is_left_out() -> None:
    program = (
        "import sys, matplotlib\n"
        "from analysis.loading import only_what_is_needed\n"
        "with only_what_is_needed():\n"
        "    import mpl_toolkits.mplot3d\n"
        "assert 'dask' not in sys.modules and sys.modules['mpl_toolkits.mplot3d'] is not None\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_who_asks_for_a_table_of_properties_afterwards_has_it() -> None:
    program = (
        "from analysis.loading import only_what_is_needed\n"
        "with only_what_is_needed():\n"
        "    from matplotlib.lines import Line2D\n"
        "from matplotlib.artist import kwdoc\n"
        "assert 'markeredgewidth' in kwdoc(Line2D) and 'markeredgewidth' not in Line2D.set.__doc__\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
