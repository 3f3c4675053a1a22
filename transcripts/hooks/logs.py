"""A capture log, read as it really is: bad lines are counted and named, never fatal.

A row is our recorder's (``observed_at``, ``event``, ``payload``), a payload by itself, or a
payload in another recorder's envelope. Only the fields that a correlation asks for are decoded,
straight into a :class:`HookEvent`; what a row of an unexpected shape holds is looked at again,
field by field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from transcripts.errors import NotACaptureLog
from transcripts.hooks.correlation.canonical import as_written, parse_as_written
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, Time, happened
from transcripts.hooks.spellings import Spellings

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PAYLOADS = ("payload", "native", "in")
_NAMES = ("event", "configuredEventName", "hook", "cfg")
_TIMES = ("observed_at", "observedAtUtc")
_TIME_FIELDS = ("observed_at", "stamped_at")

_TOLD_AGAIN = "told again, for a hook that is registered in two spellings: read in the other one"

_Way = tuple[Callable[[bytes], Any], bool]
"""A decoder, and whether what it decodes is a row around the payload."""


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of which nothing came: its number from 1, and why."""

    line: int
    why: str


class CaptureLog:
    """The events of a log, read one by one; ``bad_lines`` grows as they are, as does ``events``.

    ``keep_payloads`` keeps each row's bytes with its event, which a tree shows and a summary
    has no use for.
    """

    def __init__(self, path: Path, dialect: Dialect, *, keep_payloads: bool = True) -> None:
        self.path = path
        self.dialect = dialect
        self.bad_lines: list[BadLine] = []
        self.events = 0
        self._keep = keep_payloads

    def __iter__(self) -> Iterator[HookEvent]:
        with self.path.open("rb") as file:
            yield from self.read(file)

    def read(self, lines: Iterable[bytes]) -> Iterator[HookEvent]:
        """Yield the events of some lines, the first being line 1."""
        kinds = self.dialect.kinds
        settle, settled = self.dialect.settle, self.dialect.settled
        keep = self._keep
        spellings = None if self.dialect.spelt is None else Spellings(self.dialect.spelt)
        # What the last row was like, the next one is like most of the time.
        decoders = _decoders(self.dialect)
        decode, is_row = decoders[0]
        for number, raw in enumerate(lines, 1):
            line = raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw
            try:
                event = decode(line)
                if is_row:
                    event = _opened(event)
            except (msgspec.DecodeError, RecursionError):
                event = None
            if event is None or not event.session:
                found = _another(line, decoders) or self._generic(line, number, decoders[0])
                if found is None:
                    continue
                event, (decode, is_row) = found
            if spellings is not None and spellings.told_again(event):
                self.bad_lines.append(BadLine(line=number, why=_TOLD_AGAIN))
                continue
            event.line = number
            event.at = event.observed_at if event.stamped_at is None else happened(event)
            self.events += 1
            kind = event.kind = kinds.get(event.name or "", "other")
            if keep:
                event.payload = line
            if settled is None or kind in settled:
                settle(event)
            yield event

    def refuse_if_none(self) -> None:
        """Raise :class:`NotACaptureLog` if lines were read, and none of them is an event."""
        if self.events or not self.bad_lines:
            return
        first = self.bad_lines[0]
        raise NotACaptureLog(
            f"none of its {len(self.bad_lines):,} lines is a hook event: {first.why}",
            path=self.path,
            line=first.line,
            next_step="give the log of a recorder of hooks; a session file is for `show`",
        )

    def _generic(self, line: bytes, number: int, next_way: _Way) -> tuple[HookEvent, _Way] | None:
        """Return what can be made of an unexpected row, or name it as a bad line."""
        try:
            event = _lenient(line, self.dialect)
        except (ValueError, RecursionError) as error:
            self.bad_lines.append(BadLine(line=number, why=str(error) or type(error).__name__))
            return None
        return event, next_way


def _decoders(dialect: Dialect) -> list[_Way]:
    """Return how rows of a dialect may be decoded at once: in our envelope, and without."""
    rows = [msgspec.json.Decoder(_row(made)).decode for made in dialect.forms]
    bare = [msgspec.json.Decoder(made).decode for made in dialect.forms]
    return [*((decode, True) for decode in rows), *((decode, False) for decode in bare)]


def _row(made: type[HookEvent]) -> Any:
    return msgspec.defstruct(
        "Row",
        [("payload", made), ("observed_at", Time | None, None), ("event", str | None, None)],
        gc=False,
    )


def _opened(row: Any) -> HookEvent:
    """Return the event that stands in a row."""
    event: HookEvent = row.payload
    event.observed_at = row.observed_at
    told: str | None = row.event
    name = event.name
    if not name or (told != name and told is not None and told.lower() == name.lower()):
        # A payload may name its event in another spelling than its hook is registered in.
        event.name = told
    return event


def _another(line: bytes, decoders: Iterable[_Way]) -> tuple[HookEvent, _Way] | None:
    """Return the event by the first way to decode it that finds a session."""
    for decode, is_row in decoders:
        try:
            decoded = decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        event: HookEvent = _opened(decoded) if is_row else decoded
        if event.session and event.name:
            return event, (decode, is_row)
    return None


def unwrapped(line: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a row's payload and what its recorder says of it; ValueError where there is none."""
    if not line.strip():
        raise ValueError("the line is empty")
    try:
        row = json.loads(line, parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from None
    if not isinstance(row, dict):
        raise ValueError("the line is no object")
    fields: dict[str, Any] = row
    if isinstance(fields.get("fault"), str):
        raise ValueError(fields["fault"])
    return _split(fields)


def _split(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a row's payload and what stands around it; nothing does if it is a bare payload."""
    inner = row.get("event")
    told: dict[str, Any] = inner if isinstance(inner, dict) else row
    for key in _PAYLOADS:
        payload = told.get(key)
        if isinstance(payload, dict):
            return payload, {**row, **told}
    return told, {}


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _lenient(line: bytes, dialect: Dialect) -> HookEvent:
    """Return an event from a row of an odd shape, field by field."""
    payload, envelope = unwrapped(line)
    if not payload:
        raise ValueError("the payload holds nothing")
    written, _ = _split(parse_as_written(line.decode()))
    made = max(dialect.forms, key=lambda made: len(_known(made) & payload.keys()))
    event = made()
    odd: list[str] = []
    for field in msgspec.structs.fields(made):
        if field.encode_name not in payload:
            continue
        value = payload[field.encode_name]
        try:
            if field.type is msgspec.Raw:
                value = msgspec.Raw(as_written(written[field.encode_name]).encode())
            elif field.name in _TIME_FIELDS and isinstance(value, str):
                value = _time(value)
            else:
                value = msgspec.convert(value, field.type)
        except (msgspec.ValidationError, ValueError):
            odd.append(field.encode_name)
        else:
            setattr(event, field.name, value)
    event.odd = tuple(odd)
    if not event.name:
        event.name = next((envelope[k] for k in _NAMES if isinstance(envelope.get(k), str)), None)
    if event.observed_at is None:
        seen = next((envelope[k] for k in _TIMES if isinstance(envelope.get(k), str)), None)
        event.observed_at = _maybe_time(seen)
    if not event.name and not event.session:
        raise ValueError("no hook event: it has neither a name nor a session")
    return event


def _known(made: type[HookEvent]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(made)}


def _time(text: str) -> datetime:
    """Return a time, ValueError if it is none; one without a zone is taken for UTC."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _maybe_time(text: str | None) -> datetime | None:
    try:
        return _time(text) if text else None
    except ValueError:
        return None
