"""What the reader of a thread carries from row to row: ids, turns, counts and what was wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from transcripts.ids import SEPARATOR, Scope, derive
from transcripts.model import Damage, Inherited
from transcripts.stores.claude.reading import bookkeeping
from transcripts.stores.claude.reading.entries import Entry
from transcripts.stores.claude.reading.glances import usage_of
from transcripts.stores.claude.reading.lookahead import Lookahead
from transcripts.stores.claude.reading.rows import Row, instant
from transcripts.stores.claude.tools import Checklist
from transcripts.stores.notes import ShellChange

SYNTHETIC = "<synthetic>"
PROVIDER = "anthropic"


class Session(msgspec.Struct, kw_only=True):
    """What the threads of one session share while they are read.

    ``inherited`` maps the uuids of copied rows to the session that they are from; ``stamping``
    are the releases whose rows say where a prompt came from, ``unstamped`` the ids of the
    prompts of such a release that don't say it, ``unended`` those of the messages whose answer
    was counted before it ended; ``shell_changes`` are the files that commands changed.
    """

    scope: str
    inherited: dict[str, str]
    stamping: frozenset[str]
    used: set[str] = msgspec.field(default_factory=set)
    unstamped: set[str] = msgspec.field(default_factory=set)
    unended: set[str] = msgspec.field(default_factory=set)
    shell_changes: list[ShellChange] = msgspec.field(default_factory=list)
    checklist: Checklist = msgspec.field(default_factory=dict)
    damage: list[Damage] = msgspec.field(default_factory=list)
    unread: Counter[tuple[str, bool]] = msgspec.field(default_factory=Counter)
    derived: Callable[..., str] = derive

    def __post_init__(self) -> None:
        self.derived = Scope(self.scope).derive

    def id_of(self, row: Row) -> str:
        """Return the id of a row's first message: derived from the record's own id."""
        return self.derived(row.uuid or f"line {row.line}")


class Context:
    """One thread being read: the main one (``agent`` is None) or a subagent's.

    ``unasked``: the last prompt was given in a mode in which no call is asked about.
    """

    def __init__(self, session: Session, ahead: Lookahead, agent: str | None) -> None:
        self.session = session
        self.ahead = ahead
        self.agent = agent
        self.turn: str | None = None
        self.unasked = False
        self._counted: set[str] = set()

    def fields(
        self,
        row: Row,
        entry: Entry,
        index: int,
        pointer: str | None,
        identity: str | None = None,
    ) -> dict[str, Any]:
        """Return the fields that every message has; ``identity`` is a call's own id."""
        at = instant(entry.timestamp)
        uuid = row.uuid
        inherited = None
        if self.session.inherited:
            inherited = self.session.inherited.get(uuid or "")
        return {
            "id": self._new_id(row, index, identity),
            "external_id": identity or uuid,
            "at": at,
            "at_source": "record" if at else None,
            "turn": self.turn,
            "agent": self.agent,
            "inherited_from": Inherited(session=inherited, id=uuid) if inherited else None,
            "sources": (row.at(pointer),),
        }

    def model_fields(
        self, row: Row, entry: Entry, index: int, identity: str | None = None
    ) -> dict[str, Any]:
        """Return the fields of a message of the model: its response, and its cost once."""
        message = entry.message
        assert message is not None
        model = message.model or None
        synthetic = model == SYNTHETIC
        response = row.response
        usage = said = None
        if not synthetic and response not in self._counted:
            spending = self.ahead.spending.get(response)
            said = None if spending is None else spending.entry.message
            usage = None if said is None else usage_of(said.usage)
            self._counted.add(response)
        inside = type(message.content) is not str
        pointer = f"/message/content/{index}" if inside else "/message/content"
        fields = self.fields(row, entry, index, pointer, identity)
        if usage is not None and said is not None and said.stop_reason is None:
            self.session.unended.add(fields["id"])
        if synthetic:
            fields["author"] = "harness"
            fields["provenance"] = SYNTHETIC[1:-1]
        else:
            fields["author"] = "model"
            fields["model"] = model
        fields["response"] = response
        fields["usage"] = usage
        return fields

    def _new_id(self, row: Row, index: int, identity: str | None) -> str:
        """Return an id that no other message has.

        It is derived from a call's own id, else from the record's; remembered is what it is
        derived from, which lies there anyhow.
        """
        session = self.session
        used = session.used
        own = identity
        if own is None or own in used:
            own = row.uuid or f"line {row.line}"
            if index:
                own = f"{own}{SEPARATOR}{index}"
        if own in used:
            own = f"{session.derived(own)}{SEPARATOR}{len(used)}"
        found = session.derived(own)
        # Halves of surrogate pairs are not told apart by what is derived of them.
        used.add(own if own.isascii() else found)
        return found

    def damage(self, kind: str, row: Row, why: str) -> None:
        """Report what is wrong about a row."""
        self.session.damage.append(
            Damage(kind=kind, source=row.path, line=row.line, offset=row.offset, why=why)
        )

    def skip(self, row: Row) -> None:
        """Count a row that becomes no message."""
        if row.type in bookkeeping.QUIET:
            self.session.unread[row.type or "", True] += 1
            return
        if row.type is None:
            self.damage("malformed_record", row, "a record without a type")
        self.count(bookkeeping.record_name(row), known=bookkeeping.is_known(row))

    def count(self, record: str, *, known: bool) -> None:
        """Count something that becomes no message, under a name."""
        self.session.unread[record, known] += 1
