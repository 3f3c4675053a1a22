"""Which files a session changed, and what says so.

Best is what the harness wrote down itself: it keeps a copy of a file before it changes it, and
knows the path it resolved. Then the headers of a patch, then the path in a call's arguments. A
change that failed or was refused is none; one that is not said to be of a kind is an update.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import isabs, join, normpath
from typing import Any, Literal

import msgspec

from transcripts.facts.fact import Fact
from transcripts.model import Call, FileChange, Location, Message
from transcripts.stores.notes import ShellChange

Operation = Literal["add", "update", "delete", "move"]
Source = Literal["record", "patch", "arguments"]
_SOURCES: tuple[Source, ...] = ("record", "patch", "arguments")
_HEADER = re.compile(
    r"^\*\*\* (?:(?P<kind>Add|Update|Delete) File|Move to): (?P<path>.+?)[ \t\r]*$", re.MULTILINE
)
_KINDS: Mapping[str, Operation] = {"Add": "add", "Update": "update", "Delete": "delete"}
_PATH_KEYS = ("file_path", "filePath", "path", "notebook_path")


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file: what was done with it, what names it, and whether the kind of change is stated."""

    path: str
    operations: list[Operation]
    source: Source
    stated: bool = True


class _Change(msgspec.Struct, kw_only=True):
    operations: list[Operation]
    source: Source
    stated: bool
    evidence: list[str]


class ChangedFilesFold:
    """The files that one thread changed."""

    def __init__(self) -> None:
        self._changes: dict[str, _Change] = {}
        self._unexpanded = 0
        self._more = 0

    def take(self, message: Message) -> None:
        """Take in a message of the thread's own."""
        if not isinstance(message, FileChange) or message.status != "completed":
            return
        found = False
        for edit in message.changes:
            source = _source(message, edit.path)
            for path in (edit.path, edit.moved_to):
                if path:
                    found = True
                    self._add(path, edit.operation, source, True, message.id)
        if not found:
            for path, operation, source in _named(message):
                self._add(path, operation or "update", source, operation is not None, message.id)

    def by_shell(self, change: ShellChange) -> None:
        """Take in what the CLI found out that a command changed."""
        self._more += change.more
        for path, operation in change.files.items():
            stated = operation is not None
            self._add(path, operation or "update", "record", stated, change.message)

    def _add(
        self, path: str, operation: Operation, source: Source, stated: bool, message: str
    ) -> None:
        if "$" in path and not isabs(path):
            # Nobody knows what a shell would have made of it.
            self._unexpanded += 1
            return
        change = self._changes.setdefault(
            path, _Change(operations=[], source=source, stated=stated, evidence=[])
        )
        if operation not in change.operations:
            change.operations.append(operation)
        change.source = _SOURCES[min(map(_SOURCES.index, (change.source, source)))]
        change.stated = change.stated or stated
        change.evidence.append(message)

    def paths(self) -> set[str]:
        """Return the paths that messages name."""
        return set(self._changes)

    def fact(
        self, copied_aside: Mapping[str, Location], cwd: str | None, others: set[str]
    ) -> Fact[list[ChangedFile]]:
        """Return the files; a copy that was put aside for another thread is that one's."""
        changes = dict(self._changes)
        records: list[Location] = []
        for recorded, place in copied_aside.items():
            known = [path for path in changes if is_same(path, recorded, cwd)]
            if len(known) > 1 or (not known and any(is_same(p, recorded, cwd) for p in others)):
                continue
            records.append(place)
            if known:
                changes[known[0]].source = "record"
            else:
                path = recorded if isabs(recorded) or not cwd else normpath(join(cwd, recorded))
                changes[path] = _Change(
                    operations=["update"], source="record", stated=False, evidence=[]
                )
        value = [
            ChangedFile(path=path, operations=one.operations, source=one.source, stated=one.stated)
            for path, one in sorted(changes.items())
        ]
        evidence = (one for _, change in sorted(changes.items()) for one in change.evidence)
        left_out = (
            (self._unexpanded, "paths with a variable of a shell"),
            (self._more, "files that commands changed and the CLI only counted"),
        )
        said = [f"{count} {what}" for count, what in left_out if count]
        partial = f"left out: {', '.join(said)}" if said else None
        return Fact(
            value=value,
            evidence=tuple(dict.fromkeys(evidence)),
            records=tuple(records),
            partial=partial,
        )


def is_same(path: str, recorded: str, cwd: str | None) -> bool:
    """Whether a path is the one that was recorded, which may be relative to the directory."""
    if path == recorded:
        return True
    if isabs(recorded):
        return not isabs(path) and recorded.endswith(f"/{path}")
    if cwd and isabs(path):
        return normpath(path) == normpath(join(cwd, recorded))
    return path.endswith(f"/{recorded}")


def _source(message: Call, path: str) -> Source:
    """Return what names a path: the call as the model made it, or a record of what came of it."""
    if any(_ends_alike(path, name) for name, _, _ in _in_patch(message.arguments)):
        return "patch"
    given = message.arguments if isinstance(message.arguments, dict) else {}
    named = (given.get(key) for key in _PATH_KEYS)
    if any(isinstance(name, str) and _ends_alike(path, name) for name in named):
        return "arguments"
    return "record"


def _ends_alike(path: str, name: str) -> bool:
    return path == name or path.endswith("/" + name.removeprefix("./"))


def _named(message: Call) -> Iterator[tuple[str, Operation | None, Source]]:
    """Yield the files that a call names whose record holds no change."""
    found = False
    for path, operation, source in _in_patch(message.arguments):
        found = True
        yield path, operation, source
    given = message.arguments
    if not found and isinstance(given, dict):
        for key in _PATH_KEYS:
            path = given.get(key)
            if isinstance(path, str) and path:
                yield path, None, "arguments"
                return


def _in_patch(given: Any) -> Iterator[tuple[str, Operation, Source]]:
    """Yield the files in the headers of a patch, wherever in a call's arguments it stands."""
    texts = [given] if isinstance(given, str) else []
    if isinstance(given, dict):
        texts = [one for one in given.values() if isinstance(one, str)]
    for text in texts:
        if "*** " in text:
            for found in _HEADER.finditer(text):
                yield found["path"], _KINDS.get(found["kind"] or "", "move"), "patch"
