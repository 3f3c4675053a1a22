"""What must be known of a whole thread before its first message can be told."""

from __future__ import annotations

from collections.abc import Sequence

from transcripts.model import Content, Damage
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import mapping
from transcripts.stores.claude.reading.branches import Branches
from transcripts.stores.claude.reading.notifications import Notification, notification_in
from transcripts.stores.claude.reading.queue import undelivered
from transcripts.stores.claude.reading.results import Answered
from transcripts.stores.claude.reading.rows import SUMMARY, Row


class Lookahead:
    """The results, ends, token counts, summaries, branches and lost prompts of a thread.

    ``results`` and ``ends`` are by call id, ``spending`` (the row that has the counts) by response,
    ``summaries`` by the uuid of the boundary and of the summary's own row.
    """

    def __init__(self, rows: Sequence[Row], damage: list[Damage]) -> None:
        self.results: dict[str, Answered] = {}
        self.uses: set[str] = set()
        self.ends: dict[str, Notification] = {}
        self.spending: dict[str, Row] = {}
        self.summaries: dict[str, Content] = {}
        self.branches = Branches(rows)
        self.undelivered = undelivered(rows)
        self._damage = damage
        self._boundary: str | None = None
        for row in rows:
            match row.type:
                case "assistant":
                    self._take_answer(row)
                case "user":
                    self._take_prompt(row)
                case "attachment" if row.glance.notifies:
                    self._take_end(row)
                case "system" if row.is_boundary:
                    self._boundary = row.uuid
                case _:
                    pass

    def knows_calls_of(self, row: Row) -> bool:
        """Whether the calls that a row answers are there."""
        return self.uses.issuperset([call for _, call in row.glance.results])

    def _take_answer(self, row: Row) -> None:
        glance = row.glance
        if glance.uses:
            self.uses.update(glance.uses)
        if glance.spends:
            # The last record of a response has the final counts: earlier ones were written
            # while it still streamed.
            self.spending[row.response] = row

    def _take_prompt(self, row: Row) -> None:
        glance = row.glance
        if glance.notifies:
            self._take_end(row)
        for position, call in glance.results:
            if call not in self.results:
                self.results[call] = Answered(row, position)
                continue
            self._damage.append(
                Damage(
                    kind="duplicate_result",
                    source=row.path,
                    line=row.line,
                    offset=row.offset,
                    why=f"call {call} has a result already",
                )
            )
        if row.subtype == SUMMARY:
            self._take_summary(row)

    def _take_end(self, row: Row) -> None:
        ended = notification_in(row)
        if ended is not None:
            self.ends[ended[0]] = ended[1]

    def _take_summary(self, row: Row) -> None:
        content = parts(mapping(row.value.get("message")).get("content"))
        if self._boundary and self._boundary not in self.summaries and content:
            self.summaries[self._boundary] = content
            if row.uuid:
                self.summaries[row.uuid] = content
