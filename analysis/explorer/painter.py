"""A process that draws pictures, so that the page stays responsive while a simulation is repeated.

Simulations hold Python's global lock from their beginning to their end: a thread would block the page.
"""

import asyncio
import multiprocessing
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pandas as pd

from analysis.errors import AnalysisError
from analysis.explorer.views import Request, drawn


class SupersededError(Exception):
    """Another picture has been requested since."""


class Painter:
    """Draws one picture at a time; a new request ends the one before it.

    The process is started by the first request, and kept: it has compiled functions and the latest schedule.
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._last: Future[bytes | pd.DataFrame] | None = None

    async def draw(self, request: Request) -> bytes | pd.DataFrame:
        """Return a picture as PNG.

        Raises
        ------
        AnalysisError
            With one line, if it cannot be drawn.
        SupersededError
            If another request was made before it was done.
        """
        if self._last is not None and not self._last.done():
            self.close()
        if self._pool is None:
            quietly = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, context, initializer=quietly)
        mine = self._pool
        self._last = mine.submit(drawn, request)
        try:
            return await asyncio.wrap_future(self._last)
        except BrokenProcessPool:
            if self._pool is not mine:
                raise SupersededError from None
            self.close()
            raise AnalysisError("the drawing was ended before it was done: request it again") from None
        except AnalysisError:
            raise
        except Exception as error:  # whatever is wrong, the page shows it and stays open
            reason = f"it cannot be drawn ({type(error).__name__}: {error})".replace("\n", " ")
            raise AnalysisError(reason) from None

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool is not None:
            for process in list(self._pool._processes.values()):  # a pool itself waits for what they do
                process.terminate()
            self._pool.shutdown(wait=False)
        self._pool = self._last = None
