"""The files that a shell command changed: from 2.1.269 on they are kept with its result."""

from __future__ import annotations

from typing import Any, Literal

from transcripts.stores.claude.foreign import integer, mapping, sequence, string
from transcripts.stores.notes import ShellChange


def changed_by_shell(message: str, diff: Any) -> list[ShellChange]:
    """Return what a result's ``bashEditDiff`` says, if it says anything.

    The files of which it holds the lines say whether they were created or deleted; others it only
    names, and some it only counts.
    """
    given = mapping(diff)
    files: dict[str, Literal["add", "update", "delete"] | None] = {}
    for one in map(mapping, sequence(given.get("files"))):
        path = string(one.get("filePath"))
        if path:
            added, deleted = one.get("created") is True, one.get("deleted") is True
            files[path] = "add" if added else "delete" if deleted else "update"
    for path in sequence(given.get("changedFiles")):
        if isinstance(path, str) and path:
            files.setdefault(path, None)
    more = integer(given.get("moreFiles")) or 0
    return [ShellChange(message=message, files=files, more=more)] if files or more else []
