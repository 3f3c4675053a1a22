"""What a session's records say of it beside its messages, taken down while they are read.

A total that the CLI counted, a pull request that it linked, a file that it put a copy of aside:
each stands in a record that is no message. A reader that is given notes takes them down on its
way; who does not ask for them pays nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from transcripts.model import Lineage, Location, Unread


class LinkedPullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request that the CLI itself connected with the session."""

    number: int | None
    url: str | None
    repository: str | None
    source: Location


class RecordedTotal(msgspec.Struct, frozen=True, kw_only=True):
    """How many tokens the CLI says that the session took, and the record that says so.

    ``output`` is the part of it that the model wrote, where that is told apart; ``inherited`` what
    the same kind of record counted before the session began, in the one that it was copied from.
    """

    tokens: int
    output: int | None = None
    record: str
    source: Location
    inherited: int = 0


class ShellChange(msgspec.Struct, frozen=True, kw_only=True):
    """Files that a command changed, as the CLI found out by itself.

    An operation is None where it is not said. ``more`` counts files that the record leaves out.
    """

    message: str
    files: dict[str, Literal["add", "update", "delete"] | None]
    more: int = 0


class Spent(msgspec.Struct, kw_only=True):
    """Tokens of answers, added up: None where no answer's record had the number."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Notes(msgspec.Struct, kw_only=True):
    """What was taken down of one session, whole once its messages have all been read.

    ``total_unavailable`` says why a total that the CLI writes is none of this session's.
    ``spent`` is there where tokens are counted apart from messages: then it holds them all.
    ``copied_aside`` are the files of which the CLI kept a copy before it changed them.
    ``unstamped`` are the ids of prompts that bear no mark of who typed them though their release
    marks what is typed, ``unended`` those of the messages whose answer was counted before it ended:
    what the model wrote is not known of it.
    """

    agent: str = ""
    session_id: str = ""
    cwd: str | None = None
    cli_version: str | None = None
    lineage: Lineage = Lineage()
    first_at: datetime | None = None
    last_at: datetime | None = None
    total: RecordedTotal | None = None
    total_unavailable: str | None = None
    spent: Spent | None = None
    pull_requests: list[LinkedPullRequest] = msgspec.field(default_factory=list)
    copied_aside: dict[str, Location] = msgspec.field(default_factory=dict)
    shell_changes: list[ShellChange] = msgspec.field(default_factory=list)
    unstamped: set[str] = msgspec.field(default_factory=set)
    unended: set[str] = msgspec.field(default_factory=set)
    unread: tuple[Unread, ...] = ()
