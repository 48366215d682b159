"""A function or a command as the family of its study: a point in, measured batches out."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import dataclass, fields
from functools import cache, cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from models import dotted, streams
from models.counting import counted
from models.family import Family, Metric, Outcome
from models.point import Parameters, Point
from sweep.programs import types

GROUPS = ("policy", "workload", "machine")

SHOWN = 300
"""Characters of a program's own output in the record of a failure."""


@dataclass(frozen=True, eq=False)
class Program(Family):
    """The common base of functions and commands.

    Parameters
    ----------
    code : str
        Hash of its code, if this is not the source of modules.
    draws : bool
        Whether its runs differ by random numbers, so that replications are samples.
    """

    code: str = ""
    draws: bool = False

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._fields)

    @cached_property
    def _fields(self) -> bytes:
        return pickle.dumps({one.name: getattr(self, one.name) for one in fields(self)})

    @property
    def key(self) -> str:
        """The string by which a plan identifies it."""
        return self.package

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Its arguments by name, without the random numbers."""
        raise NotImplementedError

    def _policies(self) -> None:
        """Return nothing: a function has no policies."""

    def check(self, point: Point) -> Sequence[str]:
        """Accept any point: arguments are checked when the study is planned."""
        return ()

    def is_stochastic(self, point: Point) -> bool:
        """Return whether replications differ."""
        return self.draws

    def measured(self, measures: Parameters) -> tuple[Metric, ...]:
        """Return the declared metrics."""
        return self.metrics

    def coordinates(self, measures: Parameters) -> Mapping[str, Sequence[Any]]:
        """Return the coordinates of their dimensions."""
        return self.coords

    def simulate(self, point: Point) -> Outcome:
        """Run it, and take the requested number of batches."""
        batches, found = point.batches, list[dict[str, np.ndarray]]()
        arguments = {**point.policy["arguments"]}
        if "load" in point.policy["axes"]:
            arguments["load"] = point.load
        arguments |= {axis: getattr(point, axis)["value"] for axis in point.policy["axes"] if axis in GROUPS}

        def stacked() -> dict[str, np.ndarray]:
            rows = found[batches.warmup :]
            return {one.name: np.array([row[one.name] for row in rows]) for one in self.metrics}

        for row in self.rows(arguments, streams.stream(point.seed, "model"), point.policy):
            found.append(self._checked(row))
            n = len(found) - batches.warmup
            if n == batches.checkpoints[-1] or (n in batches.checkpoints and batches.is_enough(stacked())):
                return Outcome(stacked(), len(found))
        self._refuse(
            f"yielded {counted(len(found), 'batch')}, but warmup + batches are {batches.most}: yield more, "
            "or give less"
        )

    def rows(self, arguments: dict[str, Any], rng: np.random.Generator, policy: Parameters) -> Iterator[Any]:
        """Yield the metrics of each batch as the program returns them."""
        raise NotImplementedError

    def _refuse(self, line: str) -> NoReturn:
        raise ValueError(f"{self.name} {line}")

    def _checked(self, row: Any) -> dict[str, np.ndarray]:
        """Return the values of a batch as arrays; refuse what differs from the declaration."""
        names = [one.name for one in self.metrics]
        if len(names) == 1 and not isinstance(row, Mapping):
            row = {names[0]: row}
        if not isinstance(row, Mapping) or set(row) != set(names):
            given = ", ".join(map(str, row)) if isinstance(row, Mapping) else type(row).__name__
            self._refuse(f"returned {given or 'nothing'}; its metrics are {', '.join(names)}")
        found = {}
        for one in self.metrics:
            shape = tuple(len(self.coords[dim]) for dim in one.dims)
            try:
                values = np.asarray(row[one.name])
            except ValueError:  # rows of different lengths
                values = np.asarray(None)
            if values.dtype.kind not in "biuf":
                self._refuse(f"returned {row[one.name]!r:.60} for {one.name}, which is not a number")
            if values.shape != shape:
                self._refuse(f"returned shape {values.shape} for {one.name}; it is declared with {shape}")
            if not np.isfinite(values).all():
                self._refuse(f"returned {values!s:.60} for {one.name}; metrics are finite: raise an error")
            found[one.name] = values.astype(np.float64)
        return found


@cache
def _restored(kind: type[Program], given: bytes) -> Program:
    """Return the same object for the same program: a worker gets it with every message."""
    return kind(**pickle.loads(given))


@dataclass(frozen=True, eq=False)
class Function(Program):
    """A function of a module, or one that only this session has.

    Parameters
    ----------
    origin : str
        Dotted name.
    value : bytes
        The function itself, by cloudpickle, where other processes cannot import it.
    """

    origin: str = ""
    value: bytes = b""

    __hash__ = object.__hash__

    @property
    def key(self) -> str:
        """Its dotted name."""
        return self.origin

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, imported when it is first needed, so that an error becomes the record of a task."""
        found: Callable[..., Any] = pickle.loads(self.value) if self.value else dotted.imported(self.origin)
        return found

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Its arguments, with their annotations resolved, without ``rng``."""
        return {name: one for name, one in types.parameters(self.function).items() if name != types.RNG}

    def simulate(self, point: Point) -> Outcome:
        """Run it; with a time limit, in a process of its own."""
        # Other threads of this process write to the terminal only where it runs the study itself.
        is_worker = threading.current_thread() is not threading.main_thread()
        printed = StringIO()
        run = partial(super().simulate, point)
        with redirect_stdout(printed) if is_worker else nullcontext():
            try:
                limit = point.policy["time_limit"]
                return run() if limit is None else _limited(run, limit, self.name)
            except Exception as error:
                said = printed.getvalue().strip()[-SHOWN:]
                if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
                    raise MemoryError(
                        f"{error or 'no memory'}; fewer at a time: executor.workers=1"
                    ) from error
                if said:
                    error.add_note(f"It printed: {said}")
                raise

    def rows(self, arguments: dict[str, Any], rng: np.random.Generator, policy: Parameters) -> Iterator[Any]:
        """Yield what it yields, or what it returns."""
        process, folder = os.getpid(), os.getcwd()
        given = {
            name: types.fitted(value, self.parameters[name].annotation) for name, value in arguments.items()
        }
        try:
            returned = self.function(**given, **({types.RNG: rng} if self.draws else {}))
        except SystemExit as error:
            raise RuntimeError(
                f"{self.name} ended by sys.exit({error.code}); raise an error instead"
            ) from error
        finally:
            os.chdir(folder)  # the run's own files may have relative names
        if os.getpid() != process:
            print(f"{self.name}: a process that it forked returned; end it by os._exit(0)", file=sys.stderr)
            os._exit(1)
        yield from returned if inspect.isgenerator(returned) else (returned,)


def _limited(run: Callable[[], Outcome], limit: float, name: str) -> Outcome:
    """Return what a function returns, computed by a fork of this process that is killed at the limit."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks in processes with threads
        child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.setsid()
            try:
                answer: Any = run()
            except BaseException as error:
                answer = f"{type(error).__name__}: {error}"
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    ended = threading.Timer(limit, _kill, [child])
    ended.start()
    try:
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
    finally:
        late = not ended.is_alive()
        ended.cancel()
        _kill(child)
        os.waitpid(child, 0)
    answer = pickle.loads(data) if data else None
    if isinstance(answer, Outcome):
        return answer
    if late and answer is None:
        raise TimeoutError(f"{name} took longer than time_limit={limit:g} s")
    raise RuntimeError(answer or f"the process of {name} was killed (out of memory?)")


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@dataclass(frozen=True, eq=False)
class Command(Program):
    """A program that is started once for each task.

    Parameters
    ----------
    arguments : tuple of str
        The program and its arguments, ``{points}`` for a value.
    results : str
        The file that it writes, in its working folder; empty for the last line of its output.
    """

    arguments: tuple[str, ...] = ()
    results: str = ""

    __hash__ = object.__hash__

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The names in braces, without ``{seed}``."""
        names = dict.fromkeys(name for part in self.arguments for name in PLACE.findall(part))
        kind = inspect.Parameter.KEYWORD_ONLY
        return {name: inspect.Parameter(name, kind, annotation=Any) for name in names if name != SEED}

    def rows(self, arguments: dict[str, Any], rng: np.random.Generator, policy: Parameters) -> Iterator[Any]:
        """Start it, and yield the metrics that it writes as JSON; nothing goes through a shell."""
        given = {name: types.text(value) for name, value in arguments.items()}
        given[SEED] = str(int(rng.integers(2**31)))
        line = [_place(PLACE.sub(lambda found: given[found[1]], part)) for part in self.arguments]
        folder = tempfile.mkdtemp(prefix=f"{self.name}-")
        try:
            with subprocess.Popen(
                line, cwd=folder, text=True, errors="replace", start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            ) as process:  # fmt: skip
                try:
                    out, err = process.communicate(timeout=policy["time_limit"])
                except BaseException as error:
                    _kill(process.pid)
                    out, err = process.communicate()
                    if not isinstance(error, subprocess.TimeoutExpired):
                        raise
                    self._failed(f"took longer than time_limit={policy['time_limit']:g} s", err, folder)
            if process.returncode:
                status = process.returncode
                ended = f"exit status {status}" if status > 0 else signal.Signals(-status).name
                self._failed(f"ended with {ended}", err, folder)
            try:
                written = Path(folder, self.results)
                text = (
                    written.read_text(encoding="utf-8") if self.results else out.strip().rpartition("\n")[2]
                )
                found = json.loads(text)
                row = {one.name: found[one.name] for one in self.metrics}
            except (OSError, ValueError, KeyError, TypeError):
                where = f"file {self.results}" if self.results else "last line"
                names = ", ".join(one.name for one in self.metrics)
                self._failed(f"left no JSON object with {names} as its {where}", err or out, folder)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            self._refuse(f"cannot be started ({error.strerror}: {line[0]}); give a program that exists")
        shutil.rmtree(folder, ignore_errors=True)
        yield row

    def _failed(self, how: str, said: str, folder: str) -> NoReturn:
        end = said.strip()[-SHOWN:]
        *others, last = end.splitlines() or ["nothing"]
        error = ValueError(f"{self.name} {how}; it wrote: {last}")
        # The folder differs from task to task, and failures are grouped by the first line.
        error.add_note("\n".join([*others, f"Its files: {folder}"]))
        raise error


COMMAND = "command:"
"""Beginning of the name that stands for a command among the sources of a study."""

SEED = "seed"
PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")


def _place(part: str) -> str:
    """Return the absolute path of a file in the folder where the study was started, or the word itself."""
    with suppress(OSError, ValueError):
        if Path(part).is_file():
            return str(Path(part).absolute())
    return part
