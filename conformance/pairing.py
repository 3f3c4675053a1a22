"""Which message is which: what was sent matched to what came back, by what messages are."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from conformance.essence import (
    Atom,
    essence,
    identity,
    mended,
    opaque,
    shown_text,
    tokens,
    unsaid,
    words,
)
from transcripts.model import (
    AnyMessage,
    Call,
    CompactBoundary,
    FileChange,
    Reasoning,
    UserMessage,
)

_EQUAL, _SAME, _TOKEN, _CALL, _PROSE, _TRACE = 1000, 900, 500, 300, 200, 50


def pair(there: Sequence[Atom], back: Sequence[Atom], last: Container[int] = ()) -> dict[int, int]:
    """Match atoms one to one, the likest first, equals in the order in which they stand.

    ``last`` are places of atoms that get what the others leave: they are said to stay behind,
    and what says the same as they did is some other message's.
    """
    marks = [(identity(atom), tokens(atom), tuple(essence(atom))) for atom in back]
    said = [mended(words(atom) or "") for atom in back]
    likely: list[tuple[bool, int, int, int]] = []
    for i, atom in enumerate(there):
        one = (identity(atom), tokens(atom), essence(atom))
        for j, other in enumerate(back):
            score = _likeness(atom, one, other, marks[j], said[j])
            if score:
                likely.append((i in last, -score, i, j))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, i, j in sorted(likely):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


def _likeness(
    one: Atom,
    mark: tuple[Any, frozenset[str], tuple[str, ...]],
    other: Atom,
    other_mark: tuple[Any, frozenset[str], tuple[str, ...]],
    other_words: str,
) -> int:
    shared = len(mark[1] & other_mark[1])
    alike = one.kind == other.kind
    if alike and mark[0] is not None and mark[0] == other_mark[0]:
        return _EQUAL + shared + (20 if _same_result(one, other) else 0)
    if alike and mark[2] and mark[2] == other_mark[2]:
        return _SAME + shared
    if alike and shared and not (words(one) and len(other_words) > 2 * len(words(one) or "")):
        return _TOKEN + shared
    if alike and _unmistakable(one, other):
        return _TOKEN
    if isinstance(one.message, Call) and isinstance(other.message, Call) and not one.prose:
        return _CALL + shared if shared else 0
    if other_words and mark[2] and not unsaid(mark[2], other_words):
        return _PROSE + shared
    return _TRACE + shared if shared and other_words else 0


def _same_result(one: Atom, other: Atom) -> bool:
    if isinstance(one.message, Call) and isinstance(other.message, Call):
        return shown_text(one.message.output) == shown_text(other.message.output)
    return True


def _unmistakable(one: Atom, other: Atom) -> bool:
    """Whether two messages without words of their own are the same by what they are."""
    mine, theirs = one.message, other.message
    if isinstance(mine, FileChange) and isinstance(theirs, FileChange):
        return bool(one.edit and other.edit and one.edit.path == other.edit.path)
    if isinstance(mine, Call) and isinstance(theirs, Call):
        return mine.external_id is not None and mine.external_id == theirs.external_id
    if isinstance(mine, Reasoning | UserMessage) and isinstance(theirs, Reasoning | UserMessage):
        # Codex seals what one of its agents writes to another.
        return bool(opaque(mine.content)) and opaque(mine.content) == opaque(theirs.content)
    return isinstance(mine, CompactBoundary) and isinstance(theirs, CompactBoundary)


def misplaced(there: Sequence[Atom], pairs: Mapping[int, int]) -> dict[str, str]:
    """Name the messages that stand in another order than they were sent in."""
    wrong: dict[str, str] = {}
    matched = sorted(pairs)
    highest_before: list[int] = []
    highest = -1
    for i in matched:
        highest_before.append(highest)
        highest = max(highest, pairs[i])
    lowest_after = len(pairs) + max(pairs.values(), default=0) + 1
    for position in range(len(matched) - 1, -1, -1):
        i = matched[position]
        if highest_before[position] > pairs[i] or lowest_after < pairs[i]:
            wrong[there[i].message.id] = "came back in another order"
        lowest_after = min(lowest_after, pairs[i])
    return wrong


def strays(
    there: Sequence[Atom], back: Sequence[Atom], pairs: Mapping[int, int]
) -> tuple[dict[str, list[str]], list[tuple[str | None, AnyMessage]]]:
    """Find what came back more than once, and what came back that nobody sent."""
    partner_of = {j: i for i, j in pairs.items()}
    sent = [(identity(atom), tokens(atom), atom) for atom in there]
    doubled: dict[str, list[str]] = {}
    unsent: list[tuple[str | None, AnyMessage]] = []
    after: str | None = None
    for j, atom in enumerate(back):
        if j in partner_of:
            after = there[partner_of[j]].message.id
            continue
        if atom.message.author not in ("human", "model"):
            continue
        mark, planted = identity(atom), tokens(atom)
        copied = next(
            (
                original.message.id
                for other, theirs, original in sent
                if (other is not None and other == mark and original.kind == atom.kind)
                or (planted and planted & theirs)
            ),
            None,
        )
        if copied is None:
            unsent.append((after, atom.message))
        else:
            doubled.setdefault(copied, []).append(f"came back twice (as {atom.kind} too)")
    return doubled, unsent
