"""Which rows a later prompt took the place of.

Parallel results, hook progress and summaries make the links of a healthy session a tree, so a
row with two children is no sign of anything (anthropics/claude-code#35024, #88597). A rewind
is two *prompts* with one parent: the person went back and said something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from transcripts.stores.claude import wordings
from transcripts.stores.claude.rows import Row, blocks_of, mapping


def superseded(rows: Sequence[Row]) -> dict[int, int]:
    """Return the positions of rewound rows, each with the position of what replaced it."""
    replaced: dict[int, int] = {}
    siblings: dict[str | None, int] = {}
    roots_are_prompts = _roots_are_prompts(rows)
    for position, row in enumerate(rows):
        if row.type == "system" and row.value.get("subtype") == "compact_boundary":
            siblings.pop(None, None)
        if not is_prompt(row) or (row.parent is None and not roots_are_prompts):
            continue
        earlier = siblings.get(row.parent)
        siblings[row.parent] = position
        if earlier is not None:
            for old in _descendants(rows, earlier, position):
                replaced.setdefault(old, position)
    return replaced


def is_prompt(row: Row) -> bool:
    """Whether a row is something that a person said, as far as the row alone tells."""
    if row.type != "user" or not row.uuid:
        return False
    if row.value.get("isMeta") is True or row.value.get("isCompactSummary") is True:
        return False
    blocks = blocks_of(row)
    if not blocks or any(mapping(block).get("type") == "tool_result" for block in blocks):
        return False
    texts = [mapping(block).get("text") for block in blocks]
    return not all(
        isinstance(text, str) and wordings.typed(text).author == "harness" for text in texts
    )


def _roots_are_prompts(rows: Sequence[Row]) -> bool:
    """Whether rows without a parent are real beginnings, or just rows whose links are missing."""
    return all(
        is_prompt(row)
        for row in rows
        if row.parent is None and row.uuid and row.type in ("user", "assistant")
    )


def _descendants(rows: Sequence[Row], start: int, end: int) -> list[int]:
    family = {rows[start].uuid}
    found = [start]
    for position in range(start + 1, end):
        row = rows[position]
        if row.parent in family:
            found.append(position)
            if row.uuid:
                family.add(row.uuid)
    return found
