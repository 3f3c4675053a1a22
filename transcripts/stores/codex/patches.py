"""The language of ``apply_patch``, and the unified diffs with which Codex records its effect.

A patch works on whole lines. Of a hunk only what changes is kept as ``before`` and ``after``:
the quoted context around it differs between the patch (what the model quoted) and the record
of its effect (three lines), and is no part of the edit. Where a hunk only inserts, its
context stays, as the place of the insertion.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from transcripts.model import FileEdit
from transcripts.stores.codex.foreign import mapping, text

BEGIN = "*** Begin Patch"
END = "*** End Patch"
_ADD = "*** Add File: "
_DELETE = "*** Delete File: "
_UPDATE = "*** Update File: "
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"

_HEREDOC = re.compile(
    r"apply_patch\s*<<\s*(?P<quote>['\"]?)(?P<mark>\w+)(?P=quote)\n(?P<patch>.*?)\n(?P=mark)\s*$",
    re.DOTALL,
)
_LEADING_CD = re.compile(r"^\s*cd\s+(?P<where>[^\s;&|]+)\s*&&")


@dataclass(slots=True)
class _Hunk:
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        mark, words = (line[0], line[1:]) if line else (" ", "")
        self.marks.append(mark)
        if mark != "+":
            self.before.append(words)
        if mark != "-":
            self.after.append(words)

    def fragments(self) -> tuple[str, str] | None:
        """Return the replaced and the new lines without their context; None if nothing changes."""
        if not {"+", "-"} & set(self.marks):
            return None
        head = next(i for i, mark in enumerate(self.marks) if mark != " ")
        tail = next(i for i, mark in enumerate(reversed(self.marks)) if mark != " ")
        before = self.before[head : len(self.before) - tail]
        after = self.after[head : len(self.after) - tail]
        if not before:
            before, after = self.before, self.after
        return "\n".join(before), "\n".join(after)


def patch_in_command(command: str) -> tuple[str, str | None] | None:
    """Return the patch that a shell command feeds to ``apply_patch``, and its ``cd``, or None.

    Codex intercepts such a command and never runs it.
    """
    found = _HEREDOC.search(command) if "apply_patch" in command else None
    if found is None:
        return None
    moved = _LEADING_CD.match(command)
    return found["patch"], moved["where"] if moved else None


def resolve(path: str, cwd: str | None) -> str:
    """Return a path made absolute by the working directory, where it is relative."""
    if cwd is None or path.startswith("/") or re.match(r"[A-Za-z]:[\\/]|\\\\", path):
        return path
    if "\\" in cwd and "/" not in cwd:
        return f"{cwd}\\{path}"
    return posixpath.normpath(posixpath.join(cwd, path))


# ------------------------------------------------------------------ reading


def parse(patch: str) -> list[FileEdit]:
    """Return the edits that a patch asks for, one for each hunk; none if it is no patch.

    Paths are as the patch has them.
    """
    lines = patch.strip("\n").split("\n")
    if not lines or lines[0].strip() != BEGIN:
        return []
    edits: list[FileEdit] = []
    at = 1
    while at < len(lines) and lines[at].strip() != END:
        line = lines[at]
        at += 1
        if line.startswith(_ADD):
            path, start = line.removeprefix(_ADD), at
            at = _past(lines, at)
            content = "".join(f"{one[1:]}\n" for one in lines[start:at] if one.startswith("+"))
            edits.append(_addition(path, content))
        elif line.startswith(_DELETE):
            edits.append(FileEdit(path=line.removeprefix(_DELETE), operation="delete"))
        elif line.startswith(_UPDATE):
            path, moved = line.removeprefix(_UPDATE), None
            if at < len(lines) and lines[at].startswith(_MOVE):
                moved = lines[at].removeprefix(_MOVE)
                at += 1
            start, at = at, _past(lines, at)
            edits += _updates(path, moved, _hunks(lines[start:at]))
    return edits


def recorded(changes: Any) -> list[FileEdit]:
    """Return the edits that a FileChange item or a patch event records, in their order."""
    edits: list[FileEdit] = []
    for path, change in mapping(changes).items():
        value = mapping(change)
        content = text(value.get("content"))
        match value.get("type"):
            case "add":
                edits.append(_addition(path, content))
            case "delete":
                edits.append(
                    FileEdit(
                        path=path, operation="delete", before=content, whole=content is not None
                    )
                )
            case "update":
                moved = text(value.get("move_path"))
                diff = text(value.get("unified_diff")) or ""
                edits += _updates(path, moved, _hunks(diff.removesuffix("\n").split("\n")))
            case _:
                edits.append(FileEdit(path=path, operation="update"))
    return edits


def merge(
    asked: Sequence[FileEdit], done: Sequence[FileEdit], cwd: str | None
) -> tuple[FileEdit, ...]:
    """Return what was asked for, by absolute paths and completed by what is recorded as done.

    The patch gives the order (the record of its effect has none) and the fragments as the
    model put them; the record gives what only it knows: where a relative path led, and the
    content of whole files, to the last line end.
    """
    left = list(done)
    merged: list[FileEdit] = []
    led: dict[str, FileEdit] = {}
    for edit in asked:
        effect = led.get(edit.path) or _effect(edit, left, cwd)
        if effect is None:
            moved = resolve(edit.moved_to, cwd) if edit.moved_to else None
            merged.append(at_path(edit, resolve(edit.path, cwd), moved))
            continue
        led[edit.path] = effect
        left = [one for one in left if one.path != effect.path]
        if edit.operation in ("add", "delete") and effect.operation == edit.operation:
            merged.append(effect)
        else:
            merged.append(at_path(edit, effect.path, effect.moved_to or edit.moved_to))
    return (*merged, *left)


def _effect(edit: FileEdit, done: Sequence[FileEdit], cwd: str | None) -> FileEdit | None:
    """Return the recorded effect on the file that a patch names, however it names it."""
    absolute = resolve(edit.path, cwd)
    for one in done:
        if one.path == absolute:
            return one
    ending = edit.path.removeprefix("./").replace("\\", "/")
    for one in done:
        if one.path.replace("\\", "/").endswith(f"/{ending}"):
            return one
    return None


def from_diff(diff: str) -> list[tuple[str, str]] | None:
    """Return the fragments of each hunk of a unified diff; None if the text is none."""
    lines = diff.removesuffix("\n").split("\n")
    if not any(line.startswith("@@") for line in lines):
        return None
    start = next(i for i, line in enumerate(lines) if line.startswith("@@"))
    if any(line and line[0] not in " +-@\\" for line in lines[start:]):
        return None
    found = [hunk.fragments() for hunk in _hunks(lines[start:])]
    return [one for one in found if one is not None] or None


def _past(lines: list[str], at: int) -> int:
    heads = (_ADD, _DELETE, _UPDATE, END)
    while at < len(lines) and not lines[at].startswith(heads):
        at += 1
    return at


def _addition(path: str, content: str | None) -> FileEdit:
    return FileEdit(path=path, operation="add", after=content, whole=content is not None)


def _hunks(lines: Iterable[str]) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    for line in lines:
        if line.startswith("@@"):
            hunks.append(_Hunk())
        elif line.startswith((_END_OF_FILE, "\\")) or (not line and not hunks):
            continue
        else:
            if not hunks:
                hunks.append(_Hunk())
            hunks[-1].add(line)
    return hunks


def _updates(path: str, moved: str | None, hunks: list[_Hunk]) -> list[FileEdit]:
    edit = FileEdit(path=path, operation="move" if moved else "update", moved_to=moved)
    found = [hunk.fragments() for hunk in hunks]
    edits = [replace_text(edit, one) for one in found if one is not None]
    return edits or [edit]


def at_path(edit: FileEdit, path: str, moved_to: str | None) -> FileEdit:
    """Return the same edit of another path."""
    return msgspec.structs.replace(edit, path=path, moved_to=moved_to)


def replace_text(edit: FileEdit, fragments: tuple[str, str]) -> FileEdit:
    """Return the edit with its replaced and its new text."""
    return msgspec.structs.replace(edit, before=fragments[0], after=fragments[1])


# ------------------------------------------------------------------ writing


def patch_of(edits: Sequence[FileEdit]) -> str | None:
    """Return the patch that makes exactly these edits, or None if no patch says the same."""
    sections: list[str] = []
    head: str | None = None
    for edit in edits:
        section = _section(edit)
        if section is None:
            return None
        if section[0] != head:
            sections.append(section[0])
        sections.append(section[1])
        head = section[0] if edit.operation in ("update", "move") else None
    return f"{BEGIN}\n{''.join(sections)}{END}" if sections else None


def changes_of(edits: Sequence[FileEdit]) -> dict[str, Any] | None:
    """Return the edits as a patch event records them, or None if it could not hold them all."""
    changes: dict[str, Any] = {}
    for edit in edits:
        match edit.operation:
            case "add":
                change: dict[str, Any] = {"type": "add", "content": edit.after}
            case "delete":
                change = {"type": "delete", "content": edit.before}
            case _:
                diff = "".join(_hunk(one, numbered=True) for one in _fragments(edit) or [])
                change = {"type": "update", "unified_diff": diff, "move_path": edit.moved_to}
        if change.get("content", "") is None:
            return None
        earlier = changes.get(edit.path)
        if earlier is None:
            changes[edit.path] = change
        elif earlier["type"] == change["type"] == "update":
            earlier["unified_diff"] += change["unified_diff"]
        else:
            return None
    return changes


def _section(edit: FileEdit) -> tuple[str, str] | None:
    names = (edit.path, edit.moved_to or "")
    if any("\n" in name or name != name.strip() for name in names):
        return None
    match edit.operation:
        case "add":
            if edit.after is None:
                return None
            body = "".join(f"+{line}\n" for line in _lines(edit.after)) if edit.after else ""
            return f"{_ADD}{edit.path}\n", body
        case "delete":
            return f"{_DELETE}{edit.path}\n", ""
        case "update" | "move":
            fragments = _fragments(edit)
            if fragments is None and edit.operation == "update":
                return None
            moved = f"{_MOVE}{edit.moved_to}\n" if edit.moved_to else ""
            body = "".join(_hunk(one, numbered=False) for one in fragments or [])
            return f"{_UPDATE}{edit.path}\n{moved}", body


def _fragments(edit: FileEdit) -> list[tuple[str, str]] | None:
    if edit.before is not None and edit.after is not None:
        return [(edit.before, edit.after)]
    return None if edit.diff is None else from_diff(edit.diff)


def _lines(words: str) -> list[str]:
    return words.removesuffix("\n").split("\n")


def _hunk(fragments: tuple[str, str], *, numbered: bool) -> str:
    old = _lines(fragments[0]) if fragments[0] else []
    new = _lines(fragments[1]) if fragments[1] else []
    head = f"@@ -1,{len(old)} +1,{len(new)} @@" if numbered else "@@"
    # An insertion quotes its place: lines on both sides are context, not replaced by themselves.
    same = _common(old, new)
    body = [f" {line}" for line in old[:same]]
    body += [f"-{line}" for line in old[same:]] + [f"+{line}" for line in new[same:]]
    return "\n".join([head, *body]) + "\n"


def _common(old: list[str], new: list[str]) -> int:
    return len(old) if len(new) > len(old) and new[: len(old)] == old else 0
