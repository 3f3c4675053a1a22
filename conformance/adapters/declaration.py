"""``adapter.toml``: how an adapter is started, what it is meant to do, and what it gets wrong.

Three meanings, kept apart: what it does not do *by design* (``offers``, ``cannot``, ``degrades``)
is not asked or not minded; what is *known* to fail are bugs, and must fail; what is *known_flaky*
may pass or fail, and counts as neither. ``docs/adapters.md`` shows one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from conformance.adapters.errors import AdapterError
from transcripts.losses import LossId

SUFFIX = ".toml"
MOST = 20
"""So many results one entry with wildcards may stand for, unless it says how many."""

_Shape = TypeVar("_Shape")
_SEE = "see docs/adapters.md for its shape"


class BadDeclaration(AdapterError):
    """An ``adapter.toml`` can't be used; the message names file, line, key and what to change."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One failure that is known: patterns of a check's id and of a subject's name, and why.

    ``says`` must stand in what the failure says. ``most`` is how many results it may stand for.
    """

    check: str
    case: str
    why: str
    says: str = ""
    most: int = MOST

    @property
    def name(self) -> str:
        """How results and messages name the entry."""
        return f"{self.check} of {self.case}"

    def matches(self, check: str, case: str) -> bool:
        """Whether a result is meant."""
        return fnmatchcase(check, self.check) and fnmatchcase(case, self.case)


class Cannot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that is not done by design, so that it is not asked: patterns, and why."""

    check: str = "*"
    case: str = "*"
    why: str

    @property
    def name(self) -> str:
        """How results and messages name the entry."""
        return f"{self.check} of {self.case}"

    def matches(self, check: str, case: str) -> bool:
        """Whether a check of a subject is meant."""
        return fnmatchcase(check, self.check) and fnmatchcase(case, self.case)


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an ``adapter.toml`` holds.

    ``adapter`` is a name such as ``exec:./mine``; a program runs in ``directory``, and a Python
    module is looked for there (relative to the file). ``offers`` are all that is offered, as
    reports name it (``claude.read``, ``claude.convert.codex``). ``degrades`` holds, by agent and
    then by kind (``Plan``) or made conversation (``Plan/checklist``), exactly what writing it
    loses. ``known`` and ``known_flaky`` are lists, or name the files that hold them.
    """

    format: Literal[1] = 1
    adapter: str
    directory: str = "."
    offers: tuple[str, ...]
    cannot: tuple[Cannot, ...] = ()
    degrades: Mapping[str, Mapping[str, tuple[LossId, ...]]] = {}
    known: str | tuple[Entry, ...] = ()
    known_flaky: str | tuple[Entry, ...] = ()

    def by_design(self, check: str, case: str) -> str | None:
        """Return why a check is not asked of a subject, or None if it is."""
        return next((one.why for one in self.cannot if one.matches(check, case)), None)

    def losses(self, agent: str, made: str) -> tuple[LossId, ...]:
        """Return what writing a made conversation (``Plan/checklist``) loses by design."""
        table = self.degrades.get(agent, {})
        return table.get(made, table.get(made.partition("/")[0], ()))


def is_declaration(name: str) -> bool:
    """Whether an adapter's name is the path of an ``adapter.toml``."""
    return name.endswith(SUFFIX)


def load(path: Path) -> Declaration:
    """Read a file; :class:`BadDeclaration` if it is not there, not of its shape, or says too much.

    >>> load(Path("adapter.toml")).offers
    """
    try:
        declared = decoded(path, Declaration)
    except ValueError as error:
        raise BadDeclaration(str(path), str(error), next_step=_SEE) from error
    form = declared.adapter.partition(":")[0]
    if is_declaration(declared.adapter) or form not in ("exec", "py", "entry"):
        raise BadDeclaration(
            str(path),
            f"adapter: {declared.adapter!r} is no adapter's name",
            next_step="name it entry:NAME, py:package.module:Store or exec:COMMAND",
        )
    if not (path.parent / declared.directory).is_dir():
        raise BadDeclaration(
            str(path),
            f"directory: there is no {declared.directory!r} beside the file",
            next_step="give a directory relative to the file",
        )
    for number, entry in enumerate(declared.cannot):
        if not entry.case.strip("*?") and not entry.check.strip("*?."):
            why, step = "stands for everything", "name the check or the case"
        elif not entry.why.strip():
            why, step = "gives no reason", "say in why what it is by design"
        else:
            continue
        raise BadDeclaration(str(path), f"cannot[{number}]: {entry.name} {why}", next_step=step)
    return declared


def decoded(path: Path, shape: type[_Shape]) -> _Shape:
    """Return what a TOML file holds; ValueError says what is wrong with it, by line and key."""
    try:
        text = path.read_text("utf-8")
        value: Any = tomllib.loads(text)
    except OSError as error:
        raise ValueError(f"{error.strerror}; check the path") from error
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise ValueError(f"{_place(text, str(error))}{error}") from error


def _place(text: str, said: str) -> str:
    """Return the line of what an error is about, as far as it can be told from its words."""
    pointer = re.search(r"at `\$\.([^`]+)`", said)
    key = pointer[1] if pointer else next(iter(re.findall(r"field `([^`]+)`", said)), "")
    name, index = re.match(r"([\w-]*)(?:\[(\d+)\])?", key).groups()  # pyright: ignore[reportOptionalMemberAccess]
    if not name:
        return ""
    heads = rf"^[ \t]*\[\[[ \t]*{name}[ \t]*\]\]" if index else rf"^[ \t]*\[*[ \t]*{name}\b"
    found = list(re.finditer(heads, text, re.MULTILINE)) or list(
        re.finditer(rf"^[ \t]*{name}\b", text, re.MULTILINE)
    )
    if not found:
        return ""
    place = found[min(int(index or 0), len(found) - 1)].start()
    return f"line {text.count(chr(10), 0, place) + 1}: "
