"""What every wire module offers, and what the three wires have in common.

Everything a CLI may write down is derived from the play: ids from the response's id, the
time from a constant, token counts from the script. Two runs of one play answer in equal
bytes, which is what makes a recording reproducible.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from typing import Any, Literal, Protocol, get_args

import msgspec

from live.model.history import Entry
from live.model.play import PlayResponse
from live.model.script import Failure

CREATED = 1767225600
"""When everything was answered: 2026-01-01T00:00:00Z."""

SIGNATURE = base64.b64encode(b"signed by the scripted model").decode()
ENCRYPTED = base64.b64encode(b"encrypted by the scripted model").decode()

Role = Literal["system", "developer", "user", "assistant", "tool"]

_ROLES = get_args(Role)
_PIECE = 4096
_ID_LENGTH = 40


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One server-sent event. ``delta`` marks a piece of content: a stream is cut at one."""

    name: str | None = None
    data: Any
    delta: bool = False


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """A streamed answer: the events that carry it, and those that say that it is whole.

    A hanging answer never sends ``closing``.
    """

    opening: tuple[Event, ...]
    closing: tuple[Event, ...]

    def until_cut(self) -> int:
        """Count the opening events before the last piece of content, where a cut falls."""
        deltas = [index for index, event in enumerate(self.opening) if event.delta]
        return deltas[-1] if deltas else len(self.opening)


class Tokens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Token counts in the script's words; a response's ``usage`` may set each of them.

    ``input`` is what was neither read from nor written to the cache.
    """

    input: int = 120
    output: int = 30
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class WireModule(Protocol):
    """A provider's wire. The modules of this package are its implementations."""

    @staticmethod
    def history(body: Any) -> list[Entry]:
        """Turn a request's body into what the model reads, in its order."""
        ...

    @staticmethod
    def tool_kinds(body: Any) -> list[str]:
        """Name every tool that the request offers: its type where it is not a function."""
        ...

    @staticmethod
    def stream(response: PlayResponse, body: Any, model: str) -> Stream:
        """Turn a scripted answer into the wire's events."""
        ...

    @staticmethod
    def whole(response: PlayResponse, body: Any, model: str) -> Any:
        """Turn a scripted answer into the body of an answer that is not streamed."""
        ...

    @staticmethod
    def refusal(failure: Failure, request_id: str) -> Any:
        """Turn a failure into the wire's error body."""
        ...


def wire_id(prefix: str, name: str) -> str:
    """Derive an id from a name of the play; long names keep a digest of what is cut off."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    if plain != name or len(plain) > _ID_LENGTH:
        plain = f"{plain[: _ID_LENGTH - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{prefix}{plain}"


def tokens(response: PlayResponse) -> Tokens:
    """Return the token counts of a scripted answer; an unknown name is an error."""
    return msgspec.convert(response.usage, Tokens)


def pieces(text: str) -> list[str]:
    """Split text as a model streams it: at least two pieces unless it is one character."""
    size = max(1, min(_PIECE, (len(text) + 1) // 2))
    return [text[start : start + size] for start in range(0, len(text), size)]


def dumps(value: Any) -> bytes:
    """Encode JSON as UTF-8, escaping only where a lone surrogate leaves no other way."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def server_sent(event: Event) -> bytes:
    """Encode one event as it goes over the connection."""
    data = event.data.encode() if isinstance(event.data, str) else dumps(event.data)
    name = f"event: {event.name}\n".encode() if event.name is not None else b""
    return name + b"data: " + data + b"\n\n"


def parsed_arguments(arguments: Any) -> Any:
    """Parse a call's arguments; what does not parse stays as it was sent."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def written_arguments(arguments: Any) -> str:
    """Write a call's arguments as a model does; a string is sent as it stands."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def image_value(data: str, media_type: str | None) -> dict[str, str | None]:
    """Identify an image by its bytes; what is no base64 is identified by its text."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        raw = data.encode(errors="surrogatepass")
    return {"sha256": hashlib.sha256(raw).hexdigest(), "media_type": media_type}


def image_url_value(url: Any) -> dict[str, str | None]:
    """Identify an image given by URL, by its bytes where the URL holds them."""
    match = re.fullmatch(r"data:([^;,]*);base64,(.*)", str(url), re.DOTALL)
    if match is None:
        return {"url": str(url)}
    return image_value(match.group(2), match.group(1))


def objects(value: Any) -> list[Any]:
    """Return a JSON array's objects; what is no object is the rules' business."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def object_of(value: Any) -> Any:
    """Return a JSON object; what is none is empty."""
    return value if isinstance(value, dict) else {}


def role_of(value: Any) -> Role:
    """Return a message's role; one that no API knows is read as the user's."""
    return value if value in _ROLES else "user"


def name_of(value: Any) -> str | None:
    """Return a name or an id; what is no string is none."""
    return value if isinstance(value, str) else None


def text_of(value: Any) -> str:
    """Return a text; null and what is absent are empty."""
    return value if isinstance(value, str) else "" if value is None else str(value)
