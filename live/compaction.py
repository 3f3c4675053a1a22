"""What a compaction took out of the model's context, told by what the model was asked next.

No script can say which of the earlier messages a CLI keeps beside its summary; the first
request after the compaction does. A reader that calls a message superseded which that request
still holds is wrong, and so is one that takes a dropped message for context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from live.model.log import Exchange
from live.sanitise.documents import Document
from live.unrecorded import FRAME, Kept


def dropped(messages: Sequence[Mapping[str, Any]], exchanges: Sequence[Exchange]) -> frozenset[int]:
    """Return the indices of the main thread's messages that some compaction took away."""
    gone: set[int] = set()
    for index, message in enumerate(messages):
        if message["kind"] != "CompactBoundary" or message["thread"] is not None:
            continue
        asked = _next_request(messages[index + 1 :], exchanges)
        if asked is None:
            continue
        history = tuple(msgspec.to_builtins(entry) for entry in asked.history)
        held = Kept([Document(path="history", form="lines", records=history)])
        gone |= {
            place
            for place, earlier in enumerate(messages[:index])
            if earlier["thread"] is None
            and earlier["kind"] not in ("CompactBoundary", "Error")
            and not all(held.holds({name: earlier[name]}) for name in earlier if name not in FRAME)
        }
    return frozenset(gone)


def _next_request(
    later: Sequence[Mapping[str, Any]], exchanges: Sequence[Exchange]
) -> Exchange | None:
    """Return the request that the first answer behind a compaction was given to."""
    for message in later:
        if message["thread"] is None and message["response"] is not None:
            return next(
                one
                for one in exchanges
                if one.kind == "turn" and one.response == message["response"]
            )
    return None
