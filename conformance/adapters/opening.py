"""An adapter by its name: ``entry:``, ``py:`` or ``exec:``.

- ``entry:claude``, ``entry:codex``, ``entry:copilot`` are the reference stores, ``entry:reference``
  all of them; any other is looked up among the installed packages' entry points (:data:`GROUP`).
- ``py:package.module:Name`` is a store's class, with the methods of
  :class:`transcripts.stores.base.Store` or any of them, several such classes in a tuple, or an
  :class:`Adapter`.
- ``exec:command`` is a program that speaks the wire (``docs/adapters.md``).
- ``path/to/adapter.toml`` is the adapter that the file names, with what it declares of it.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from conformance.adapters.adapter import Adapter
from conformance.adapters.declaration import is_declaration, load
from conformance.adapters.errors import UnknownAdapter
from conformance.adapters.stores import StoresAdapter, StoreType
from conformance.adapters.wire import DEADLINE, WireAdapter, command
from transcripts.stores.base import agents, store_class

GROUP = "transcript_conformance.adapters"
REFERENCE = "reference"

_OWN = "transcript-conformance"

_METHODS = ("read", "write", "list")
_FORMS = (
    "name it entry:NAME, py:package.module:Store or exec:COMMAND, or give the path of an "
    "adapter.toml"
)


@contextmanager
def open_adapter(name: str, *, deadline: float = DEADLINE) -> Generator[Adapter, None, None]:
    """Lend the adapter of that name; :class:`UnknownAdapter` if there is none.

    A program has ``deadline`` seconds for each answer; what runs in this process has no deadline.
    What was wrong while it was lent comes before what is wrong with how it ends.
    """
    adapter = _named(name, deadline)
    try:
        yield adapter
    except BaseException:
        with suppress(Exception):
            adapter.close()
        raise
    adapter.close()


def _named(name: str, deadline: float) -> Adapter:
    if not is_declaration(name):
        return _started(name, name, deadline, None)
    declared = load(Path(name))
    directory = (Path(name).parent / declared.directory).resolve()
    return _started(name, declared.adapter, deadline, directory)


def _started(name: str, start: str, deadline: float, directory: Path | None) -> Adapter:
    """Return the adapter that ``start`` is, which goes by its ``name``.

    A program runs in the directory, a module is looked for there first.
    """
    form, colon, rest = start.partition(":")
    if not colon or not rest.strip():
        raise UnknownAdapter(name or "''", "is no adapter's name", next_step=_FORMS)
    if form == "entry":
        return _entry(name, rest)
    if form == "py":
        if directory is not None and str(directory) not in sys.path:
            sys.path.insert(0, str(directory))
        return _adapter(name, _imported(name, rest))
    if form == "exec":
        return WireAdapter(name, command(name, rest), deadline, directory)
    raise UnknownAdapter(name, f"there is no form {form!r}", next_step=_FORMS)


def _entry(name: str, entry: str) -> Adapter:
    if entry == REFERENCE or entry in agents():
        chosen = agents() if entry == REFERENCE else (entry,)
        return StoresAdapter(name, {agent: store_class(agent) for agent in chosen}, _OWN)
    installed = entry_points(group=GROUP)
    if entry not in installed.names:
        there = ", ".join((*agents(), REFERENCE, *sorted(installed.names)))
        raise UnknownAdapter(
            name,
            "no installed package has an adapter of that name",
            next_step=f"use one of {there}, or install the package that declares it under {GROUP}",
        )
    try:
        found = installed[entry].load()
    except Exception as error:  # a foreign package's import may fail in any way
        raise UnknownAdapter(
            name,
            f"{installed[entry].value} can't be imported: {type(error).__name__}: {error}",
            next_step="see that the package works in this environment",
        ) from error
    return _adapter(name, found)


def _imported(name: str, path: str) -> Any:
    module, colon, attribute = path.partition(":")
    if not colon or not attribute or not module:
        raise UnknownAdapter(
            name, "names no class", next_step="write py:package.module:Store, with both colons"
        )
    try:
        found = import_module(module)
    except Exception as error:  # a foreign module's import may fail in any way
        raise UnknownAdapter(
            name,
            f"{module} can't be imported: {type(error).__name__}: {error}",
            next_step="install its package in this environment, or set PYTHONPATH",
        ) from error
    try:
        for part in attribute.split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise UnknownAdapter(
            name, str(error), next_step="name a class that the module has"
        ) from error
    return found


def _adapter(name: str, found: Any) -> Adapter:
    if isinstance(found, type) and issubclass(found, Adapter):
        adapter = found()
        adapter.name = name
        return adapter
    classes: Iterable[Any] = found if isinstance(found, tuple | list) else (found,)
    stores: dict[str, StoreType] = {}
    for one in classes:
        agent = getattr(one, "agent", None)
        if not isinstance(one, type) or not isinstance(agent, str):
            raise UnknownAdapter(
                name,
                f"{one!r} is no store's class: it has no agent",
                next_step='give a class with an agent ("claude", say) and any of '
                f"{', '.join(_METHODS)}, or a subclass of conformance.adapters.Adapter",
            )
        if not any(callable(getattr(one, method, None)) for method in _METHODS):
            raise UnknownAdapter(
                name,
                f"{one.__name__} has none of a store's methods",
                next_step=f"give it any of {', '.join(_METHODS)}, as transcripts.stores.base.Store "
                "has them",
            )
        if agent in stores:
            raise UnknownAdapter(
                name, f"has two stores for {agent}", next_step="give one class for each agent"
            )
        stores[agent] = one
    if not stores:
        raise UnknownAdapter(name, "names no store at all", next_step="give at least one class")
    return StoresAdapter(name, stores)
