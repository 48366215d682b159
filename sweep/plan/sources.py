"""Hashes the code that can change a task's result, for the task's identity.

A task runs its policy's family, its workload's model, and functions with a dotted name (a user's packing
scheme, an order of priority, a speed-up). The hash covers the source of those modules and of everything that
they import from ``models`` and from files of the user's own, wherever in the file the import is. Comments,
docstrings and layout do not count, so editing them makes no result stale. Nothing is imported or run for
this: see `sweep.plan.finding`.

Data files and other packages (numpy) are left out; the dataset records the versions of the latter.
"""

import ast
import hashlib
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from models.dotted import OURS
from models.family import Family
from models.workloads import MODELS, module_name
from schedsweep import packages
from sweep.config import canonical
from sweep.config.nested import texts
from sweep.errors import SweepError
from sweep.plan import finding

FORM = "3"
"""Version of the normal form; a new version makes all results stale."""

CALLERS = frozenset({"models.dotted", "models.kernels.cache"})
"""Modules that only find and call others: their edits would make all results stale for no reason."""

REGISTRIES = frozenset({"models.workloads"})
"""Modules of which only the imports count: a name that is added to a registry changes no result."""

PROJECT = frozenset({*packages.NAMES, "schedsweep"})
"""All packages of this project."""

OWN_KEYS = ("name", "path", "family")
"""Keys of policies, workloads and machines that never name a function."""

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\.?")


class Source(NamedTuple):
    """The content of one file.

    Parameters
    ----------
    digest : str
        Hash of its normal form.
    imports : list of (level, module, names)
        Every ``import`` in it except for type checkers; level counts the dots of a relative import.
    strings : list of str
        Strings that may be dotted names of modules.
    words : list of str
        All words in its strings and imports, among them the names of modules that are found by name.
    """

    digest: str
    imports: list[tuple[int, str, list[str]]]
    strings: list[str]
    words: list[str]


def hashed(version: int, parts: Mapping[str, str], length: int) -> str:
    """Return the hash of a family's version and of the code that tasks run."""
    return hashlib.sha256(canonical.text([version, parts]).encode()).hexdigest()[:length]


def clear_caches() -> None:
    """Clear the caches: in a session, files come, go and change."""
    finding.clear_caches()
    _closure.cache_clear()


def of_family(family: Family) -> str:
    """Return the hash of a family's own modules and of all code that they use, without workloads.

    A module of the package that no other module names does not count: a policy's YAML file may name it, and
    then it counts for that policy alone. So adding a policy makes no other policy's results stale.
    """
    if code := getattr(family, "code", ""):  # a program without a module
        return str(code)
    below = set(finding.below(family.package))
    defaults = {f"{family.package}.{name}" for name in ("policies", "model")} & below
    named = {family.policies, family.model, *family.kernels, *defaults} - {""}
    sources = {name: _read(name, file) for name in below if (file := finding.file_of(name)) is not None}
    mentions = Counter(word for source in sources.values() for word in source.words)
    for name, source in sources.items():
        # Only other modules count: a module may mention its own name.
        last = name.rpartition(".")[2]
        if finding.is_package(name) or mentions[last] > (last in source.words):
            named.add(name)
    return _joined({module for name in named for module in finding.with_parents(name)})


def of_workload(model: object) -> dict[str, str]:
    """Return module -> hash of a workload's model; empty for the family's own model, or a missing one."""
    module = module_name(str(model))
    return {} if module is None or finding.find(module) is None else {module: _joined(finding.below(module))}


def of_plan(
    families: Mapping[str, Family],
    policies: Sequence[Mapping[str, Any]],
    workloads: Sequence[Mapping[str, Any]],
    measures: Mapping[str, Any],
    length: int,
    *,
    is_program: bool,
    stops: bool,
) -> tuple[Callable[[int, int], str], dict[str, str]]:
    """Return the hash of the code of a policy's and a workload's tasks, by their numbers, and all its parts.

    Parameters
    ----------
    families : mapping of str to Family
        Of the policies, by package.
    length : int
        Digits of a hash.
    is_program : bool
        Values are arguments of a program, whatever they look like.
    stops : bool
        Runs end when they are precise enough.
    """
    clear_caches()  # a notebook plans again after its user's modules were edited
    by_family = {key: {one.package: of_family(one)} for key, one in families.items()}
    by_model = {model: of_workload(model) for model in {str(one.get("model")) for one in workloads}}
    shared = of_named(measures) | ({"sweep.statistics": of_statistics()} if stops else {})
    versions = [families[policy["family"]].version for policy in policies]
    of_policies, of_workloads = (
        [found | of_named({} if is_program else one) for one, found in each]
        for each in (
            [(policy, by_family[policy["family"]]) for policy in policies],
            [(workload, by_model[str(workload.get("model"))]) for workload in workloads],
        )
    )

    @cache
    def code(policy: int, workload: int) -> str:
        return hashed(versions[policy], of_policies[policy] | of_workloads[workload] | shared, length)

    return code, {name: part for each in (*of_policies, *of_workloads, shared) for name, part in each.items()}


def of_statistics() -> str:
    """Return the hash of the code that decides when a run is precise enough."""
    return _joined(finding.below("sweep.statistics"))


def of_named(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return dotted name of a module -> hash, for the user's code that a policy or workload names.

    Raises
    ------
    SweepError
        For a function outside any module: workers could not import it.
    """
    found = {}
    # The model of a workload is a module, see `of_workload`; all else are functions and objects of modules.
    for text in dotted_names({key: value for key, value in parameters.items() if key != "model"}):
        if text.startswith("__main__."):
            raise SweepError(
                f"{text}: a function of this notebook or script is not known to other processes; put it into "
                "a module and give its dotted name, or use sweep.simulate"
            )
        if (module := finding.module_of(text)) is not None:
            found[module] = _joined(finding.with_parents(module))
    return found


def dotted_names(value: Any) -> list[str]:
    """Return all strings in parameters that have the form of a dotted name, except under `OWN_KEYS`."""
    return [text for key, text in texts(value) if key not in OWN_KEYS and _DOTTED.fullmatch(text)]


def foreign(given: Any, packages: Collection[str] = OURS) -> list[str]:
    """Return the families and dotted names in parameters that lead to code outside some packages.

    Every string with a dot counts as a name, because it might be imported.
    """
    named = {
        text
        for key, text in texts(given)
        if key == "family" or (key not in OWN_KEYS and "." in text.strip("."))
    }
    return [
        name
        for name in sorted(named)
        if (package := name.partition(".")[0]) not in packages
        and (package in sys.stdlib_module_names or finding.find(package) is not None)
    ]


def _joined(modules: Iterable[str]) -> str:
    """Return one hash of modules and of everything that they import, directly or not."""
    return _closure(frozenset(modules))


def own_files(modules: Iterable[str]) -> dict[str, str]:
    """Return the text of the user's code that a study runs, so that a dataset can carry it.

    Parameters
    ----------
    modules : iterable of str
        Keys of `Plan.sources`; this project's modules and installed packages are left out.

    Returns
    -------
    dict of str to str
        File, relative to a folder of the search path -> its text.
    """
    own = [name for name in modules if name.partition(".")[0] not in OURS]
    below = {
        module
        for name in own
        for module in (finding.below(name) if finding.is_package(name) else finding.with_parents(name))
    }
    found = {}
    for name in sorted(_reached(frozenset(below))) if below else ():
        file = finding.file_of(name)
        if file is not None and name.partition(".")[0] not in PROJECT and not finding.is_installed(file):
            place = name.replace(".", "/") + ("/__init__.py" if finding.is_package(name) else ".py")
            found[place] = file.read_text(encoding="utf-8")
    return found


@cache
def _closure(modules: frozenset[str]) -> str:
    found = _reached(modules)
    text = canonical.text([FORM, sorted((name, digest) for name, digest in found.items() if digest)])
    return hashlib.sha256(text.encode()).hexdigest()


def _reached(modules: frozenset[str]) -> dict[str, str]:
    """Return modules and everything that they import, directly or not, with their hashes, if any."""
    # Imports are followed into the packages of the given modules, and into the user's own files.
    tops = {"models", *(name.partition(".")[0] for name in modules)}
    waiting, found = sorted(modules), dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name in found or name in CALLERS:
            continue
        file = finding.file_of(name)
        if file is None:  # a folder without __init__, or nothing to read
            found[name] = ""
            continue
        source = _read(name, file)
        found[name] = "" if name in REGISTRIES else source.digest
        if not finding.is_installed(file) or name.startswith("models."):
            used = [*_used(name, source)]
            waiting.extend(other for other in used if other.partition(".")[0] in tops or _is_own(name, other))
    return found


def _is_own(name: str, other: str) -> bool:
    """Return whether a user's module imports another module of the user, of any package."""
    if name.partition(".")[0] in PROJECT or other.partition(".")[0] in PROJECT:
        return False
    file = finding.file_of(other)
    return file is not None and not finding.is_installed(file)


def _used(name: str, source: Source) -> Iterator[str]:
    """Yield the modules that a module imports or names."""
    package = name if finding.is_package(name) else name.rpartition(".")[0]
    for level, module, names in source.imports:
        base = module
        if level:
            above = package.split(".")[: len(package.split(".")) - level + 1]
            base = ".".join([*above, *([module] if module else [])])
        if base:
            yield from finding.with_parents(base)
        for each in names if finding.is_package(base) else ():
            if finding.find(f"{base}.{each}") is not None:
                yield f"{base}.{each}"
    registered = set(MODELS.values())
    for text in source.strings:
        bare = text.rstrip(".")
        if bare in registered or bare.partition(".")[0] != name.partition(".")[0]:
            continue
        if (found := finding.module_of(f"{bare}.it")) is not None and not _draws(found):
            yield from finding.with_parents(found)
            if found == bare and finding.is_package(found):
                # The prefix of names that are joined at run time: it may refer to any module of the package
                # whose last name occurs as a word in the source.
                yield from (
                    f"{found}.{word}" for word in source.words if finding.find(f"{found}.{word}") is not None
                )


def _draws(name: str) -> bool:
    """Return whether a module belongs to a paper or draws datasets: no task runs it."""
    file = finding.file_of(name)
    imports = [] if file is None else _read(name, file).imports
    return any(module.partition(".")[0] == "analysis" for _, module, _ in imports)


_seen: dict[Path, str] = {}
"""Files that this process has read; a module that it has imported since must not have changed."""


def _read(name: str, file: Path) -> Source:
    data = file.read_bytes()
    _remove_stale_bytecode(file, name.partition(".")[0] not in OURS)
    source = _parse(data)
    before = _seen.setdefault(file, source.digest)
    if before != source.digest:
        if name in sys.modules:
            raise SweepError(
                f"{file} has changed since this session read it, and the session may still run the earlier "
                "version; restart Python (the notebook's kernel)"
            )
        _seen[file] = source.digest
    return source


def _remove_stale_bytecode(file: Path, is_own: bool) -> None:
    """Remove bytecode that may belong to another source, so that the hashed code is the code that runs.

    Python compares only the size of the source and the second of its last change. After two edits within one
    second that keep the size, or where times are set (``cp -p``), it would run the first edit's bytecode.
    The bytecode of the user's own files is always removed: an import makes it again in milliseconds.
    """
    with suppress(OSError, NotImplementedError):  # no bytecode, no permission, or a Python without bytecode
        bytecode = Path(importlib.util.cache_from_source(file))
        if is_own or bytecode.stat().st_mtime_ns < file.stat().st_mtime_ns:
            bytecode.unlink()


@cache
def _parse(data: bytes) -> Source:
    """Return the content of a file; takes some milliseconds, once for each content."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):  # importing it will raise the error; until then any change counts
        return Source(hashlib.sha256(data).hexdigest(), [], [], [])
    imports: list[tuple[int, str, list[str]]] = []
    texts: set[str] = set()
    # A growing list, because `ast.walk` is slow. Parts for readers only are removed before the walk reaches
    # them: a string in a docstring names no module, and imports for type checkers never run.
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        for field in node._fields:
            value = getattr(node, field)
            if isinstance(value, list):
                value[:] = [
                    item for item in value if not isinstance(item, ast.Expr | ast.If) or not _is_comment(item)
                ]
                nodes += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Import):
            imports.extend((0, each.name, []) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", [each.name for each in node.names]))
    # Unparsed, so that layout and comments are gone; quotes and parentheses are the same for all writers.
    digest = hashlib.sha256(ast.unparse(tree).encode()).hexdigest()
    strings = sorted(text for text in texts if _DOTTED.fullmatch(text))
    texts.update(text for _, module, names in imports for text in (module, *names))
    return Source(digest, imports, strings, sorted(set(re.findall(r"\w+", " ".join(texts)))))


def _is_comment(node: object) -> bool:
    """Whether a statement is for readers or type checkers only."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"), orelse=[]):
            return True
    return False
