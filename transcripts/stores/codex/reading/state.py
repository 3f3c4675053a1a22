"""What holds at one point of a rollout, and what has been gathered up to it."""

from __future__ import annotations

from collections import Counter, OrderedDict
from datetime import datetime
from typing import Any

from transcripts.model import Damage, Location, Usage
from transcripts.records import Record
from transcripts.stores.codex.dialects.shapes import AnswerCounted
from transcripts.stores.codex.foreign import integer, mapping
from transcripts.stores.codex.reading.attic import Attic
from transcripts.stores.codex.reading.counted import Counted
from transcripts.stores.codex.reading.drafts import (
    Called,
    Draft,
    Origin,
    Response,
    Spoken,
    Standing,
    id_by_place,
)
from transcripts.stores.codex.reading.inheriting import First, ordinal_of
from transcripts.stores.codex.reading.packing import Bundle

_AT_HAND = 64


class State:
    """The place in the file, the session's state there, and the drafts made so far."""

    def __init__(self, source: str, attic: Attic | None = None) -> None:
        self.source = source
        self._attic = attic
        self._put_away = 0
        self.meta: dict[str, Any] = {}
        self.title: str | None = None
        self.drafts: list[Draft] = []
        self.unread: Counter[str] = Counter()
        self.damage: list[Damage] = []
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None
        self.at: datetime | None = None
        self.turn: str | None = None
        self.model: str | None = None
        self.cwd: str | None = None
        self.last_of_response: OrderedDict[str, Spoken] = OrderedDict()
        self.first: First | None = None
        self._record: Record | None = None
        self._previous_at: datetime | None = None
        self._ordinal: int | None = None
        self._ordinals = _Ordinals()
        self._responses = 0
        self._response: Response | None = None
        self._last_response: Response | None = None
        self._counts_by_record = False
        self._last_total: Any = None
        self.counted = Counted()

    def arrive(
        self, record: Record, at: datetime | None, ordinal: int | None, first: First | None
    ) -> None:
        """Go on to a record, noting what is odd about its place.

        ``first`` is where it was written first, None for one that is this session's own.
        """
        self._record = record
        self.first = first
        self.at = at
        if at is not None and first is None:
            if self.last_at is None or at < self.last_at:
                self._note_time(at)
            else:
                self.last_at = at
            self._previous_at = at
        self._ordinal = ordinal
        if ordinal is None or not self._ordinals.go_on_with(ordinal):
            self._note_ordinal(ordinal)

    def count(self, name: str) -> None:
        """Count a record that becomes no message."""
        self.unread[name] += 1

    def here(self) -> Location:
        """Return the place of the record."""
        assert self._record is not None
        return self._record.location

    def standing(self, own_id: str | None = None) -> Standing:
        """Return where a draft stands that is made of the record."""
        record = self._record
        assert record is not None
        return (
            _key(self._ordinal, record, own_id),
            None if self.first is None else self._origin(own_id),
            [record.location],
            self.at,
            self._ordinal,
            self.turn,
            self.model,
            self.cwd,
        )

    def _origin(self, own_id: str | None = None) -> Origin | None:
        if self.first is None:
            return None
        record = self.first.record
        if record is None:
            return Origin(session=self.first.session, key=(own_id,) if own_id else None)
        key = _key(ordinal_of(record), record, own_id)
        return Origin(session=self.first.session, key=key)

    def _note_time(self, at: datetime) -> None:
        previous = self._previous_at
        if self.first_at is None or previous is None:
            self.first_at = self.last_at = at
        elif at < previous:
            self.first_at = min(self.first_at, at)
            self._note("time_reversal", f"{at:%H:%M:%S.%f} comes after {previous:%H:%M:%S.%f}")

    def _note_ordinal(self, ordinal: int | None) -> None:
        if ordinal is None:
            if self._ordinals:
                self._note("missing_ordinal", "written by a release that numbers no records")
            return
        if ordinal in self._ordinals:
            self._note("duplicate_ordinal", f"ordinal {ordinal} was used before")
        self._ordinals.add(ordinal)

    def _note(self, kind: str, why: str) -> None:
        assert self._record is not None
        self.damage.append(
            Damage(
                kind=kind,
                source=self._record.path,
                line=self._record.line,
                offset=self._record.offset,
                why=why,
            )
        )

    def by_model(self, draft: Draft) -> None:
        """Count a draft to the answer that the model is giving."""
        if self._response is None:
            line = self._record.line if self._record else 0
            self._responses += 1
            own_id = id_by_place(line, self._origin())
            self._response = Response(number=self._responses, id=own_id)
        draft.response = self._response

    def go_on(self, draft: Draft) -> None:
        """Go on with the answer that a draft was part of.

        0.45 tells words as they arrive, then counts the tokens, then records the answer.
        """
        self._response = draft.response or self._response

    def end_response(self) -> None:
        """End the answer that the model was giving."""
        if self._response is not None:
            self._last_response, self._response = self._response, None

    def usage_record(self, counted: AnswerCounted) -> None:
        """Take in the provider's count of one answer, and its id."""
        self.count("token_usage_record")
        self._counts_by_record = True
        if self.first is None:
            self.counted.answer(counted.usage, counted.response_id)
        response = self._response
        self.end_response()
        if response is None:
            return
        response.id = counted.response_id or response.id
        response.usage = _usage(counted.usage)
        last = self._last_of(response)
        if isinstance(last, Spoken):
            self.last_of_response[response.id] = last
            if len(self.last_of_response) > _AT_HAND:
                self.last_of_response.popitem(last=False)

    def _last_of(self, response: Response) -> Draft | None:
        for draft in reversed(self.drafts):
            if draft.bundle is not None:
                break
            if draft.response is response:
                return draft
        return None

    def token_count(self, info: Any) -> None:
        """Take in a count of tokens, which is repeated where nothing was added."""
        total = mapping(info).get("total_token_usage")
        response = self._response or self._last_response
        self.end_response()
        if total is None or total == self._last_total:
            return
        self._last_total = total
        tokens = integer(mapping(total).get("total_tokens"))
        if self.first is not None:
            self.counted.inherited = tokens or 0
        else:
            self.counted.total = None if tokens is None else (tokens, self.here())
            if not self._counts_by_record:
                self.counted.answer(mapping(info).get("last_token_usage"), None)
        if response is not None and response.usage is None and not self._counts_by_record:
            response.usage = _usage(mapping(info).get("last_token_usage"))

    def tidy(self) -> None:
        """Put away the drafts that lie behind: most are not changed again."""
        assert self._attic is not None
        if len(self.drafts) - self._put_away < 2 * _AT_HAND:
            return
        some = self.drafts[self._put_away : -_AT_HAND]
        # What belongs to an answer that may go on is still told apart by that answer itself.
        responses = [draft.response for draft in some]
        for unfinished in (self._response, self._last_response):
            if unfinished is not None and unfinished in responses:
                del some[responses.index(unfinished) :]
        if some:
            Bundle(some, self._attic)
        self._put_away += len(some)

    def go_back(self, ordinal: int) -> None:
        """Let the records be numbered from an ordinal on again."""
        self._ordinals.forget_from(ordinal)

    def place(self, draft: Draft, caller: Draft | None) -> None:
        """Put a draft behind all others; or, where its caller's turn is long over (a command that
        ran on), behind what else the caller did."""
        last = self.drafts[-1] if self.drafts else None
        place = len(self.drafts)
        if caller is not None and last is not None and last.turn != caller.turn:
            place = next(at for at in reversed(range(place)) if _is_of(self.drafts[at], caller))
            place += 1
        self.drafts.insert(place, draft)
        if place < self._put_away:
            self._put_away += 1

    def drop(self, draft: Draft) -> None:
        """Take a draft back."""
        # From the end: what is taken back was mostly told a moment ago.
        place = next(at for at in reversed(range(len(self.drafts))) if self.drafts[at] is draft)
        del self.drafts[place]
        if place < self._put_away:
            self._put_away -= 1


class _Ordinals:
    """The numbers that records had: mostly each is one more than the last, so few are held."""

    def __init__(self) -> None:
        self._start = self._stop = 0
        self._others: set[int] = set()

    def __bool__(self) -> bool:
        return self._start < self._stop or bool(self._others)

    def __contains__(self, ordinal: int) -> bool:
        return self._start <= ordinal < self._stop or ordinal in self._others

    def go_on_with(self, ordinal: int) -> bool:
        """Take in a number if it is the next one, and was not used before."""
        if ordinal != self._stop or self._start >= ordinal or self._others:
            return False
        self._stop = ordinal + 1
        return True

    def add(self, ordinal: int) -> None:
        """Take in a number."""
        if self._start >= self._stop:
            self._start, self._stop = ordinal, ordinal + 1
        elif ordinal == self._stop:
            self._stop = ordinal + 1
        elif not self._start <= ordinal < self._stop:
            self._others.add(ordinal)

    def forget_from(self, ordinal: int) -> None:
        """Let numbers be used again, from one on."""
        self._stop = min(self._stop, ordinal)
        self._others = {one for one in self._others if one < ordinal}


def _is_of(draft: Draft, caller: Draft) -> bool:
    return draft is caller or (isinstance(draft, Called) and draft.caller is caller)


def _key(ordinal: int | None, record: Record, own_id: str | None) -> tuple[str | int, ...]:
    """Return what the id of a message is derived from that a record begins."""
    if own_id:
        return (own_id,)
    return ("line", record.line) if ordinal is None else ("ordinal", ordinal)


def _usage(value: Any) -> Usage | None:
    counts = mapping(value)
    if not counts:
        return None
    return Usage(
        scope="response",
        accounting="delta",
        input=integer(counts.get("input_tokens")),
        output=integer(counts.get("output_tokens")),
        cache_read=integer(counts.get("cached_input_tokens")),
        cache_write=integer(counts.get("cache_write_input_tokens")),
        reasoning=integer(counts.get("reasoning_output_tokens")),
        total=integer(counts.get("total_tokens")),
    )
