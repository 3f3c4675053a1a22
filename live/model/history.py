"""What a request to the model holds, the same on every wire: the model's side of the witness.

Each wire module turns a request body into entries, in the order in which the model reads
them. Truth and the model witness are judged on these, never on a reader's output.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing in the model's context.

    ``text`` holds words, thoughts or a result's text. A call has ``call_id``, ``name`` (as on
    the wire, with ``namespace`` where the wire has one) and ``arguments`` (parsed; a string
    when the wire carries free text); a result has ``call_id`` and, on wires that mark it,
    ``error``. ``value`` keeps what has no text (images as {"sha256", "media_type"}).
    """

    role: Literal["system", "developer", "user", "assistant", "tool"]
    type: Literal["text", "reasoning", "call", "result", "image", "opaque"]
    text: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: Any = None
    error: bool | None = None
    value: Any = None
