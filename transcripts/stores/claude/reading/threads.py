"""The rows of one thread as messages, one by one, in file order and with their links.

Walking parents from the last row would lose all but one of several parallel results,
everything before a lost parent, and a reply whose sibling is a hook summary; the links are
used for what order cannot tell: rewinds, and what a compaction kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    ahead = Lookahead(rows, session.damage)
    context = Context(session, ahead, agent)
    links = _Links(rows, ahead, session)
    for position, row in enumerate(rows):
        if row.type in QUIET:
            context.skip(row)
            continue
        for message in _messages(row, context):
            yield links.linked(message, position)


def _messages(row: Row, context: Context) -> Iterator[AnyMessage]:
    match row.type:
        case "user":
            if not row.glance.only_answers or not context.ahead.uses.issuperset(row.glance.calls):
                yield from user_messages(row, context)
        case "assistant":
            yield from model_messages(row, context)
        case "attachment":
            yield from attachment_messages(row, context)
        case "system" if row.is_boundary:
            yield boundary_message(row, context)
        case "system" if row.subtype == RETRY:
            yield retried(row, context)
        case "queue-operation" if place_of(row) in context.ahead.undelivered:
            yield retracted(row, context.fields(row, row.entry, 0, "/content"))
        case _:
            context.skip(row)


class _Links:
    """Gives each message its predecessor, and the mark of what took its place."""

    def __init__(self, rows: Sequence[Row], ahead: Lookahead, session: Session) -> None:
        self._rows = rows
        self._branches = ahead.branches
        self._session = session
        self._gone_back_to = ahead.branches.gone_back_to()
        self._kept_anywhere = ahead.branches.kept_anywhere()
        self._kept: list[tuple[int, str]] = []
        self._previous: str | None = None
        self._before: dict[int, str | None] = {}

    def linked(self, message: AnyMessage, position: int) -> AnyMessage:
        """Return the message with its links; messages come in order."""
        follows = self._previous
        if position in self._gone_back_to:
            self._before.setdefault(position, follows)
        replaced = self._branches.goes_on_from(position)
        if replaced is not None:
            follows = self._before.get(replaced, follows)
        self._previous = message.id
        # The message was made a moment ago and nobody has it yet: it is not copied for two fields.
        force_setattr(message, "follows", follows)
        superseded = self._superseded(position)
        if superseded is not None:
            force_setattr(message, "superseded_by", superseded)
        if self._rows[position].uuid in self._kept_anywhere:
            self._kept.append((position, message.id))
        if isinstance(message, CompactBoundary):
            force_setattr(message, "preserved", self._preserved_at(position))
        return message

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
