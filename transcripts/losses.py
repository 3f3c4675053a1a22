"""The closed list of what a write may lose, each with what it means."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

LossId = Literal[
    "withheld-error",  # a provider's failure is kept from the next agent on purpose
    "narrated",  # crossed as marked prose instead of a record of its own
    "reasoning-opaque-dropped",  # a signature or encrypted thought that no other provider reads
    "call-closed",  # a call without a result was given an interrupted one
    "orphan-result-narrated",  # a result whose call is gone
    "exit-code-as-text",  # the target has no field, so the status is words in the output
    "asset-dropped",  # the target takes no such attachment there
    "structured-as-text",  # a JSON result became its text
    "usage-dropped",
    "model-dropped",
    "time-moved",  # times were made to rise, or the target stores none for this message
    "thread-flattened",  # a subagent's own messages do not cross, its report does
    "superseded-dropped",  # rewound, edited or compacted messages stay behind
    "harness-dropped",  # context that the source harness injected, which the target makes itself
    "replacement-character",  # half a surrogate pair became U+FFFD
    "cwd-dropped",
    "duration-dropped",
    "provenance-dropped",
    "side-store-dropped",  # undo history, todo databases, checkpoints
    "empty-dropped",  # nothing in the message that could be written
]
"""One word for each thing that can be lost; writers use no other."""

LOSS_IDS: tuple[str, ...] = get_args(LossId)


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What one message lost in a write. ``message`` is its id, None for the whole session."""

    loss: LossId
    message: str | None = None
    why: str = ""
