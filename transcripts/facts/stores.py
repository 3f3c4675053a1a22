"""All sessions of the stores together, each thing counted once however often it was copied.

A fork begins with what its parent said, and older releases copy a session into a new file when it
is resumed. Where a copy says so it is left out if the original is there; where it doesn't, it has
the original's own id and words, and the first of the two is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from transcripts.errors import TranscriptError
from transcripts.facts.fact import Fact
from transcripts.facts.sheet import SCHEMA_VERSION, Facts, ThreadFold
from transcripts.facts.tokens import TokenSum, add, token_sum
from transcripts.facts.words import words_of
from transcripts.model import AgentMessage, AnyMessage, Call, Reasoning, SessionInfo, UserMessage
from transcripts.stores.base import Store, Unlisted, agents, open_store
from transcripts.stores.notes import LinkedPullRequest, Notes, Spent

_ARGUMENTS = 400
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class StoreTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What ``transcripts facts --store --format json`` prints.

    What subagents did is counted with the rest. ``failed`` sessions can't be read whole.
    """

    schema_version: int
    sessions: int
    facts: Facts
    failed: tuple[Unlisted, ...]


def facts_of_stores(
    agent: str | None = None, home: Path | None = None, *, recover: bool = False
) -> StoreTotals:
    """Return the facts of all sessions of one store, or of all stores."""
    fold = _StoresFold()
    for name in [agent] if agent else agents():
        fold.add(open_store(name, home), recover=recover)
    return fold.totals()


class _StoresFold:
    """What all sessions so far come to: one thread, as it were."""

    def __init__(self) -> None:
        self._thread = ThreadFold(Notes())
        self._spent: dict[bool, Spent] = {}
        self._links: list[LinkedPullRequest] = []
        self._failed: list[Unlisted] = []
        self._sessions = 0
        self._seen: set[int] = set()

    def add(self, store: Store, *, recover: bool) -> None:
        """Count the sessions of a store, the oldest first: it is the original of its copies."""
        listing = store.list()
        self._failed += listing.failed
        listed = {session.session_id for session in listing}
        for session in sorted(listing, key=lambda one: one.updated_at or _LONG_AGO):
            try:
                self._session(store, session, listed, recover=recover)
            except TranscriptError as error:
                self._failed.append(Unlisted(path=session.path, why=str(error)))
            else:
                self._sessions += 1

    def _session(
        self, store: Store, session: SessionInfo, listed: set[str], *, recover: bool
    ) -> None:
        notes, thread = Notes(), self._thread
        thread.human_turns.unstamped = notes.unstamped
        thread.human_turns.previous = None
        thread.tokens.spent, thread.tokens.unended = Spent(), notes.unended
        messages = store.iter_noting(store.root / session.path, notes, recover=recover)
        seen: set[int] = set()
        for message in self._once(store, messages, listed, seen):
            if isinstance(message, UserMessage):
                thread.human_turns.take(message)
            else:
                thread.human_turns.previous = None
            counted_apart = notes.spent is not None and message.agent is None
            thread.take(_without_usage(message) if counted_apart else message)
        self._seen |= seen
        if notes.spent is not None:
            add(thread.tokens.spent, notes.spent)
        add(self._spent.setdefault(store.cache_is_input, Spent()), thread.tokens.spent)
        self._links += notes.pull_requests
        thread.window.moment(notes.first_at)
        thread.window.moment(notes.last_at)
        for change in notes.shell_changes:
            thread.changed_files.by_shell(change)

    def _once(
        self,
        store: Store,
        messages: Iterable[AnyMessage],
        listed: set[str],
        seen: set[int],
    ) -> Iterator[AnyMessage]:
        """Yield the messages that no other session has told."""
        for message in messages:
            origin = message.inherited_from
            if message.agent in listed or (origin is not None and origin.session in listed):
                continue
            key = _key(message, named=not store.copies_unnamed)
            if key is not None:
                if key in self._seen:
                    continue
                seen.add(key)
            yield message if origin is None else _as_own(message)

    def totals(self) -> StoreTotals:
        """Return what it all comes to."""
        thread = self._thread
        return StoreTotals(
            schema_version=SCHEMA_VERSION,
            sessions=self._sessions,
            facts=Facts(
                tool_calls=thread.calls.count(),
                tool_calls_by_name=thread.calls.by_name(),
                failed_calls=thread.calls.failed(),
                unresolved_calls=thread.calls.unresolved(),
                subagents=thread.subagents.fact(),
                pull_requests=thread.pull_requests.fact(self._links),
                changed_files=thread.changed_files.fact({}, None, set()),
                human_turns=thread.human_turns.turns(_by_record),
                excluded_turns=thread.human_turns.excluded(_by_record),
                final_message=Fact(unavailable="each session has its own"),
                window=thread.window.fact(),
                token_total=Fact(unavailable="a CLI records a total of a session, never of all"),
                token_sum=self._summed(),
            ),
            failed=tuple(self._failed),
        )

    def _summed(self) -> Fact[TokenSum]:
        tokens = self._thread.tokens
        sums = [token_sum(spent, cache_in_input=flag) for flag, spent in self._spent.items()]
        if not any(one.total for one in sums):
            return Fact(unavailable="no answer's record says what it took")
        both = Spent()
        for one in sums:
            add(both, one)
            if len(sums) > 1 and one.cache_in_input:
                both.input = (both.input or 0) - (one.cache_read or 0)
        flag = len(sums) == 1 and sums[0].cache_in_input
        value = msgspec.structs.replace(
            token_sum(both, cache_in_input=flag), total=sum(one.total for one in sums)
        )
        return Fact(
            value=value,
            evidence=tuple(tokens.evidence),
            accounting="derived",
            partial=tokens.partial,
        )


def _as_own(message: AnyMessage) -> AnyMessage:
    """Return a copied message as if it were no copy: its original is nowhere."""
    return msgspec.structs.replace(message, inherited_from=None)


def _without_usage(message: AnyMessage) -> AnyMessage:
    return message if message.usage is None else msgspec.structs.replace(message, usage=None)


def _by_record(_: str | None) -> bool:
    return False


def _key(message: AnyMessage, *, named: bool) -> int | None:
    """Return what a copy of a message has in common with it; None where nothing tells copies.

    ``named``: a copy names its original. Else it has the id that the record has, and its words.
    """
    origin = message.inherited_from
    if origin is not None and origin.id is not None:
        return hash((origin.session, origin.id))
    if named or message.external_id is None:
        return None
    words: object = None
    if isinstance(message, UserMessage | AgentMessage | Reasoning):
        words = words_of(message.content)
    elif isinstance(message, Call):
        words = (message.name, str(message.arguments)[:_ARGUMENTS])
    pointer = message.sources[0].pointer if message.sources else None
    return hash((message.kind, message.external_id, pointer, words))
