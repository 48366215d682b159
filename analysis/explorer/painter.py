"""A process that draws, so that the page goes on answering while a simulation is made anew.

Simulations hold Python's lock from their beginning to their end: a thread would not do.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from analysis.errors import AnalysisError
from analysis.explorer.sights import Request, drawn


class SupersededError(Exception):
    """Something else is being drawn by now."""


class Painter:
    """Draws one picture at a time; a new request ends the one before it.

    The process is started by the first request, and kept: it has compiled functions and the latest schedule.
    """

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._here: Connection | None = None
        self._busy = False

    async def draw(self, request: Request) -> bytes:
        """Return a picture as PNG.

        Raises
        ------
        AnalysisError
            With one line, if it cannot be drawn.
        SupersededError
            If another request came before it was done.
        """
        if self._busy or self._process is None or not self._process.is_alive():
            self.close()
            self._start()
        here = self._here
        assert here is not None
        self._busy = True
        try:
            found = await asyncio.get_running_loop().run_in_executor(None, _asked, here, request)
        finally:
            if self._here is here:
                self._busy = False
        if self._here is not here:
            raise SupersededError
        if isinstance(found, bytes):
            return found
        raise AnalysisError(found)

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
        self._process, self._here, self._busy = None, None, False

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_work, args=(there,), daemon=True)
        self._process.start()
        there.close()


def _asked(here: Connection, request: Request) -> bytes | str:
    """Return what the other process answers: a picture, or what is wrong."""
    try:
        here.send(request)
        answer: bytes | str = here.recv()
    except (EOFError, OSError):
        return "the drawing was ended before it was done: ask for it again"
    return answer


def _work(there: Connection) -> None:
    """Draw what is asked for, until nobody asks any more."""
    while True:
        try:
            request = there.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: bytes | str = drawn(request)
        except AnalysisError as error:
            answer = str(error)
        except KeyboardInterrupt:
            return
        except Exception as error:  # whatever goes wrong, the page says so and goes on
            answer = f"it cannot be drawn ({type(error).__name__}: {error})".replace("\n", " ")
        there.send(answer)
