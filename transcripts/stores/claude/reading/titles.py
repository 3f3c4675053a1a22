"""What a session is called: by the person, by the model, by a summary, by its first words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from transcripts.records import jsonlines
from transcripts.stores.claude.foreign import string
from transcripts.stores.claude.reading.rows import Row, row_of

_FIELDS = (
    ("custom-title", "customTitle"),
    ("ai-title", "aiTitle"),
    ("agent-name", "agentName"),
    ("summary", "summary"),
)
_NAMING = frozenset(kind for kind, _ in _FIELDS)
_LARGEST_SUMMARY_FILE = 64 << 10
_LONGEST = 200


def title_of(rows: Sequence[Row], beside: Mapping[str, str]) -> str | None:
    """Return the title that records give: the person's before the model's before a summary's.

    Within one kind the latest counts. ``beside`` are the summaries that lie in files of their
    own (:func:`summaries_beside`).
    """
    naming = [row for row in reversed(rows) if row.type in _NAMING]
    for kind, field in _FIELDS:
        for row in naming:
            title = string(row.value.get(field)) if row.type == kind else None
            if title and title.strip():
                return title
    if not beside:
        return None
    named = (beside.get(row.uuid or "") for row in reversed(rows))
    return next((title for title in named if title is not None), None)


def summaries_beside(folder: Path) -> dict[str, str]:
    """Return the summaries that 1.0 and 2.0 write into files of their own, by the row they name.

    Such a file is named like a session and holds nothing but summaries.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.jsonl")):
        try:
            if path.stat().st_size > _LARGEST_SUMMARY_FILE:
                continue
            with path.open("rb") as file:
                if not file.read(64).replace(b" ", b"").startswith(b'{"type":"summary"'):
                    continue
            rows = [row_of(record) for record in jsonlines.iterate(path, folder, [], recover=True)]
        except OSError:
            continue
        if all(row.type == "summary" for row in rows):
            for row in rows:
                leaf, summary = string(row.value.get("leafUuid")), string(row.value.get("summary"))
                if leaf and summary:
                    found[leaf] = summary
    return found


def first_line(texts: Iterable[str]) -> str | None:
    """Return the first line of the first text that says something, cut to a title's length."""
    for text in texts:
        if text.strip():
            return text.strip().split("\n", 1)[0][:_LONGEST]
    return None
