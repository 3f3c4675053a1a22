"""One fact: a value, or the reason why there is none, and what it rests on."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

import msgspec

from transcripts.model import Location

T = TypeVar("T")
Accounting = Literal["reported", "derived"]


class Fact(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One answer about a session.

    ``value`` is None just where ``unavailable`` says why. ``evidence`` are the ids of the messages
    that it rests on, ``records`` the places of records that are no message. ``accounting`` says
    whether the CLI recorded the value as it is or it was added up from what it recorded.
    ``partial`` says what the value leaves out; ``by_text`` are the messages of which nothing but
    words told what they are.
    """

    value: T | None = None
    unavailable: str | None = None
    evidence: tuple[str, ...] = ()
    records: tuple[Location, ...] = ()
    accounting: Accounting | None = None
    partial: str | None = None
    by_text: tuple[str, ...] = ()
