"""A process that draws pictures, so that the page stays responsive while a simulation is repeated.

Simulations hold Python's global lock from their beginning to their end: a thread would block the page.
"""

import asyncio
import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import pandas as pd

from analysis.errors import AnalysisError
from analysis.explorer.views import Request, drawn


class SupersededError(Exception):
    """Another picture has been requested since."""


class Painter:
    """Draws one picture at a time; a new request cancels the previous one.

    The first request starts the process, which is kept for its compiled functions and its latest schedule.
    """

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._is_busy = False

    async def draw(self, request: Request) -> bytes | pd.DataFrame:
        """Return a picture as PNG.

        Raises
        ------
        AnalysisError
            With one line, if it cannot be drawn.
        SupersededError
            If another request was made before the picture was finished.
        """
        if self._is_busy or self._process is None or not self._process.is_alive():
            self.close()
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            self._process = context.Process(target=_work, args=(other,), daemon=True)
            self._process.start()
            other.close()
        mine = self._connection
        assert mine is not None
        self._is_busy = True
        try:
            found = await asyncio.to_thread(_answer, mine, request)
        finally:
            if self._connection is mine:
                self._is_busy = False
        if self._connection is not mine:
            raise SupersededError
        if isinstance(found, str):
            raise AnalysisError(found)
        return found

    def close(self) -> None:
        """End the process, even while it draws."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
        self._process, self._connection, self._is_busy = None, None, False


def _answer(connection: Connection, request: Request) -> bytes | pd.DataFrame | str:
    """Return the answer of the other process: a picture, or an error in one line."""
    try:
        connection.send(request)
        answer: bytes | pd.DataFrame | str = connection.recv()
    except (EOFError, OSError):
        return "the drawing was cancelled: request it again"
    return answer


def _work(connection: Connection) -> None:
    """Draw each picture that is requested, until the page closes the connection."""
    while True:
        try:
            request = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: bytes | pd.DataFrame | str = drawn(request)
        except AnalysisError as error:
            answer = str(error)
        except KeyboardInterrupt:
            return
        except Exception as error:  # the page shows any error and stays open
            answer = f"the picture cannot be drawn ({type(error).__name__}: {error})".replace("\n", " ")
        connection.send(answer)
