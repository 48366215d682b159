"""What the engine answered, kept beside its compiled kernels.

To load the kernels takes a hundred times as long as to run them for a few jobs. Their folder is named by a
hash of all of `models`; an answer in it by the question and the code that asked it. So none outlives the code
that gave it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from models import kernel_cache


def kept(ask: Callable[..., Sequence[np.ndarray]], *question: object) -> list[np.ndarray]:
    """Return what a function answers, from its file if it has answered the same before.

    Parameters
    ----------
    ask : callable
        A function of a module, which depends on nothing but its arguments, that module and `models`.
    *question : plain data
        Its arguments: text, numbers and tuples of them.

    Returns
    -------
    list of ndarray of int, each of two dimensions
    """
    code = ask.__code__
    digest = hashlib.sha256(Path(code.co_filename).read_bytes())
    digest.update(repr((code.co_name, question)).encode())
    file = kernel_cache.in_use() / f"{code.co_name}-{digest.hexdigest()[:24]}.json"
    with suppress(OSError, ValueError, TypeError):  # none yet, or damaged
        return [np.array(rows, np.int64).reshape(shape) for shape, rows in json.loads(file.read_text())]
    answer = list(ask(*question))
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    with suppress(OSError):  # of a cache that cannot be written to: it is asked again next time
        part.write_text(json.dumps([(table.shape, table.tolist()) for table in answer]))
        os.replace(part, file)
    return answer
