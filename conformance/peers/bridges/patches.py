"""The patch language of the ``apply_patch`` tool, read into file edits: one for each hunk.

Of a hunk only what changes is kept, with its context where it only inserts.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

Json = dict[str, Any]

_HEAD = re.compile(r"\*\*\* (Add|Delete|Update) File: (.*)")
_MOVE = "*** Move to: "
_HEREDOC = re.compile(r"apply_patch\s*<<\s*(['\"]?)(\w+)\1\n(.*?)\n\2\s*$", re.DOTALL)


def edits(patch: str, cwd: str | None) -> list[Json]:
    """Return the edits of a patch, by absolute paths where the directory is known."""
    sections: list[tuple[str, str, list[str]]] = []
    for line in patch.strip("\n").split("\n"):
        head = _HEAD.fullmatch(line)
        if head:
            sections.append((head[1], absolute(head[2], cwd), []))
        elif sections and not line.startswith(("*** End Patch", "*** End of File")):
            sections[-1][2].append(line)
    return [edit for verb, path, lines in sections for edit in _section(verb, path, lines, cwd)]


def in_command(command: str) -> str | None:
    """Return the patch that a shell command hands to ``apply_patch``; None if it does not."""
    found = _HEREDOC.search(command)
    return found[3] if found else None


def absolute(path: str, cwd: str | None) -> str:
    """Return a path joined to the directory that it is relative to, if both are known."""
    return path if cwd is None else posixpath.normpath(posixpath.join(cwd, path))


def _section(verb: str, path: str, lines: list[str], cwd: str | None) -> list[Json]:
    if verb == "Delete":
        return [{"path": path, "operation": "delete"}]
    if verb == "Add":
        after = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        return [{"path": path, "operation": "add", "after": after, "whole": True}]
    edit: Json = {"path": path, "operation": "update"}
    if lines and lines[0].startswith(_MOVE):
        target = absolute(lines.pop(0).removeprefix(_MOVE), cwd)
        edit |= {"operation": "move", "moved_to": target}
    changed = [one for hunk in _hunks(lines) if (one := _fragments(hunk)) is not None]
    return [{**edit, "before": before, "after": after} for before, after in changed] or [edit]


def _hunks(lines: list[str]) -> list[list[str]]:
    hunks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("@@"):
            hunks.append([])
        else:
            hunks[-1].append(line or " ")
    return hunks


def _fragments(hunk: list[str]) -> tuple[str, str] | None:
    changing = [number for number, line in enumerate(hunk) if line[0] in "+-"]
    if not changing:
        return None
    core = hunk[changing[0] : changing[-1] + 1]
    if not any(line[0] != "+" for line in core):
        core = hunk
    before = "\n".join(line[1:] for line in core if line[0] != "+")
    after = "\n".join(line[1:] for line in core if line[0] != "-")
    return before, after
