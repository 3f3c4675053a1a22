"""The rows of one thread as messages, one by one, in file order and with their links.

Walking parents from the last row would lose all but one of several parallel results,
everything before a lost parent, and a reply whose sibling is a hook summary; the links are
used for what order cannot tell: rewinds, and what a compaction kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import force_setattr

from transcripts.model import AnyMessage, CompactBoundary, Superseded
from transcripts.stores.claude.reading.bookkeeping import QUIET
from transcripts.stores.claude.reading.context import Context, Session
from transcripts.stores.claude.reading.harness_rows import attachment_messages, boundary_message
from transcripts.stores.claude.reading.lookahead import Lookahead
from transcripts.stores.claude.reading.model_rows import model_messages, retried
from transcripts.stores.claude.reading.queue import place_of, retracted
from transcripts.stores.claude.reading.rows import RETRY, Row
from transcripts.stores.claude.reading.user_rows import user_messages


def read_thread(rows: Sequence[Row], session: Session, agent: str | None) -> Iterator[AnyMessage]:
    """Yield the messages of a thread, the main one (``agent`` is None) or a subagent's."""
    rows = _without_bookkeeping(rows, session)
    ahead = Lookahead(rows, session.damage)
    context = Context(session, ahead, agent)
    link = _Links(rows, ahead, session).link
    for position, row in enumerate(rows):
        for message in _messages(row, context):
            link(message, position)
            yield message


def _without_bookkeeping(rows: Sequence[Row], session: Session) -> list[Row]:
    """Return the rows that matter, the others counted: of a long session more than half."""
    kept: list[Row] = []
    counts: Counter[str] = Counter()
    for row in rows:
        kind = row.type
        if kind in QUIET and not (row.uuid or row.link):
            counts[kind] += 1
        else:
            kept.append(row)
    for kind, count in counts.items():
        session.unread[kind, True] += count
    return kept


def _messages(row: Row, context: Context) -> Iterable[AnyMessage]:
    match row.type:
        case "user":
            if not row.glance.only_answers or not context.ahead.knows_calls_of(row):
                return user_messages(row, context)
        case "assistant":
            return model_messages(row, context)
        case "attachment":
            return attachment_messages(row, context)
        case "system" if row.is_boundary:
            return [boundary_message(row, context)]
        case "system" if row.subtype == RETRY:
            return [retried(row, context)]
        case "queue-operation" if place_of(row) in context.ahead.undelivered:
            return [retracted(row, context.fields(row, row.entry, 0, "/content"))]
        case _:
            context.skip(row)
    return ()


class _Links:
    """Gives each message its predecessor, and the mark of what took its place."""

    def __init__(self, rows: Sequence[Row], ahead: Lookahead, session: Session) -> None:
        self._rows = rows
        self._branches = ahead.branches
        self._straight = ahead.branches.are_none
        self._session = session
        self._gone_back_to = ahead.branches.gone_back_to()
        self._kept_anywhere = ahead.branches.kept_anywhere()
        self._kept: list[tuple[int, str]] = []
        self._previous: str | None = None
        self._before: dict[int, str | None] = {}

    def link(self, message: AnyMessage, position: int) -> None:
        """Give a message its links; messages come in order.

        It was made a moment ago and nobody has it yet: it is not copied for two fields.
        """
        follows = self._previous
        self._previous = message.id
        if self._straight:
            force_setattr(message, "follows", follows)
            return
        if position in self._gone_back_to:
            self._before.setdefault(position, follows)
        replaced = self._branches.goes_on_from(position)
        if replaced is not None:
            follows = self._before.get(replaced, follows)
        force_setattr(message, "follows", follows)
        superseded = self._superseded(position)
        if superseded is not None:
            force_setattr(message, "superseded_by", superseded)
        if self._rows[position].uuid in self._kept_anywhere:
            self._kept.append((position, message.id))
        if isinstance(message, CompactBoundary):
            force_setattr(message, "preserved", self._preserved_at(position))

    def _superseded(self, position: int) -> Superseded | None:
        rewound = self._branches.rewound_by(position)
        if rewound is not None:
            return Superseded(id=self._session.id_of(self._rows[rewound]), why="rewind")
        compacted = self._branches.compacted_by(position)
        if compacted is not None:
            return Superseded(id=self._session.id_of(self._rows[compacted]), why="compaction")
        return None

    def _preserved_at(self, boundary: int) -> tuple[str, ...]:
        kept: list[str] = []
        for position, message_id in self._kept:
            gone = self._branches.compacted_by(position)
            if self._branches.rewound_by(position) is None and (gone is None or gone > boundary):
                kept.append(message_id)
        return tuple(kept)
