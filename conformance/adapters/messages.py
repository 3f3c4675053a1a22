"""The messages of the wire: what is asked, what may be answered, and how each is a line.

One JSON object a line, UTF-8, ending in LF. Requests may get new fields, which adapters pass
over; an answer with a field that is not here breaks its schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec
import orjson

from conformance.adapters.adapter import About, Offer
from conformance.adapters.errors import Stage
from transcripts.losses import Loss
from transcripts.model import SessionInfo, Transcript
from transcripts.serialise import to_builtins
from transcripts.stores.base import Unlisted

PROTOCOL = 1
"""The version of the wire, told in the handshake; it grows when an old adapter would not do."""


# ------------------------------------------------------------------ requests


class StartRequest(msgspec.Struct, frozen=True, kw_only=True, tag_field="cmd", tag="start"):
    """The first request: who is there, and what does it offer."""

    seq: int
    protocol: int


class RunRequest(msgspec.Struct, frozen=True, kw_only=True, tag_field="cmd", tag="run"):
    """What every verb is asked with: ``home`` is a user's home, ``agent`` whose store in it."""

    seq: int
    verb: str
    agent: str
    home: str


class ReadRequest(RunRequest, frozen=True, kw_only=True, tag="run"):
    """Read a session whole; with ``recover`` what is whole of it, and the damage."""

    verb: Literal["read"]
    session_id: str
    recover: bool


class WriteRequest(RunRequest, frozen=True, kw_only=True, tag="run"):
    """Write a new session and touch nothing else.

    ``now`` is the clock where the transcript has no times; ``model`` and ``cli_version`` are to
    stand in the session where they are not null.
    """

    verb: Literal["write"]
    session_id: str
    cwd: str | None
    transcript: Transcript
    model: str | None
    cli_version: str | None
    now: datetime | None


class ListRequest(RunRequest, frozen=True, kw_only=True, tag="run"):
    """List the sessions, newest first; those of one directory if ``cwd`` is not null."""

    verb: Literal["list"]
    cwd: str | None


class ConvertRequest(RunRequest, frozen=True, kw_only=True, tag="run"):
    """Carry a session of one store into another, as a new session there."""

    verb: Literal["convert"]
    session_id: str
    target_agent: str
    target_home: str
    new_session_id: str
    cwd: str | None
    recover: bool


class StopRequest(msgspec.Struct, frozen=True, kw_only=True, tag_field="cmd", tag="stop"):
    """The last request: it has no answer, the process ends with exit code 0."""

    seq: int


Request = StartRequest | ReadRequest | WriteRequest | ListRequest | ConvertRequest | StopRequest


# ------------------------------------------------------------------ answers


class _Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every answer has: the number of the request that it belongs to."""

    seq: int


class StartOk(_Answer, frozen=True, kw_only=True, tag_field="reply", tag="ok"):
    """The handshake: the adapter's version of the wire, who it is, and its offer for each agent."""

    protocol: int
    adapter: About
    stores: Mapping[str, Offer]


class ReadOk(_Answer, frozen=True, kw_only=True, tag_field="reply", tag="ok"):
    """A session in the normalised model, as ``transcripts show --format json`` prints one."""

    transcript: Transcript


class WriteOk(_Answer, frozen=True, kw_only=True, tag_field="reply", tag="ok"):
    """A session was written or converted: the id that it has, and what was lost."""

    session_id: str
    losses: tuple[Loss, ...] = ()


class ListOk(_Answer, frozen=True, kw_only=True, tag_field="reply", tag="ok"):
    """The sessions, newest first: ``seen`` files were looked at, ``failed`` gave no entry."""

    sessions: tuple[SessionInfo, ...]
    seen: int | None = None
    failed: tuple[Unlisted, ...] = ()


class SkippedReply(_Answer, frozen=True, kw_only=True, tag_field="reply", tag="skipped"):
    """There is no answer, and that is no failure."""

    why: str


class ErrorReply(_Answer, frozen=True, kw_only=True, tag_field="reply", tag="error"):
    """The adapter failed, and says where."""

    stage: Stage
    message: str


StartAnswer = StartOk | SkippedReply | ErrorReply
ReadAnswer = ReadOk | SkippedReply | ErrorReply
WriteAnswer = WriteOk | SkippedReply | ErrorReply
ListAnswer = ListOk | SkippedReply | ErrorReply

MESSAGES: Mapping[str, Any] = {
    "wire-start": StartRequest,
    "wire-start-answer": StartAnswer,
    "wire-read": ReadRequest,
    "wire-read-answer": ReadAnswer,
    "wire-write": WriteRequest,
    "wire-write-answer": WriteAnswer,
    "wire-list": ListRequest,
    "wire-list-answer": ListAnswer,
    "wire-convert": ConvertRequest,
    "wire-convert-answer": WriteAnswer,
    "wire-stop": StopRequest,
}
"""Every message by the name of its schema."""

ANSWERS: frozenset[str] = frozenset(name for name in MESSAGES if name.endswith("-answer"))
"""Those in which, at any depth, a field that is not in the schema is an error."""


# ------------------------------------------------------------------ lines

_OTHER_ENDS = "\x85\u2028\u2029"
"""Where Node's readline or Python's splitlines would end a line too."""


def to_line(message: msgspec.Struct) -> bytes:
    """Return a message as one line, whatever the other side takes for a line's end.

    Half a surrogate pair is written as its escape, and so are the ends that not everybody ends
    a line at.
    """
    value = to_builtins(message)
    try:
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        for end in _OTHER_ENDS:
            if (raw := end.encode()) in line:
                line = line.replace(raw, f"\\u{ord(end):04x}".encode())
        return line
    except TypeError:
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        return text.encode("ascii") + b"\n"
