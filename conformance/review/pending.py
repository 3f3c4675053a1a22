"""One thing that waits for somebody to look at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

State = Literal["changed", "new", "unreferenced", "recorded"]
"""``unreferenced``: of nothing that is recorded any more. ``recorded``: a new recording."""


class Pending(NamedTuple):
    """What waits: its name relative to the checkout, how it differs, and what deciding does.

    ``told`` says in the format's words what differs; ``before`` and ``after`` are the texts, where
    there are any. ``reject`` is None where nothing but a change of the code, or of the recordings,
    can undo it.
    """

    name: str
    state: State
    told: Sequence[str]
    before: str
    after: str
    accept: Callable[[], None]
    reject: Callable[[], None] | None = None


class PendingDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits, as ``conformance review --format json`` prints it."""

    name: str
    state: State
    told: Sequence[str]


class ReviewDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``conformance review --format json`` prints: what waits, and what was decided."""

    pending: Sequence[PendingDocument]
    accepted: Sequence[str]
    rejected: Sequence[str]
