"""The science: workloads and scheduling families as pure functions of plain data.

Imports nothing but numpy, scipy and numba, so that a model runs in any process, under any executor, and can
be read without knowing how it is run.
"""

from models.kernels import cache as kernel_cache

kernel_cache.install()
