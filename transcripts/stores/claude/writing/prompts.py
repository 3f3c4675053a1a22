"""A user message's marks: who speaks and how it was sent, in the fields that a row has for it."""

from __future__ import annotations

from typing import Any

from transcripts.model import Text, UserMessage
from transcripts.stores.claude import wordings

_SOURCES = {"typed": "typed", "queued": "queued", "programmatic": "sdk"}
_WRAPPERS = {
    "slash-command": wordings.slash_command,
    wordings.OWN_COMMAND: wordings.own_command,
    "bash-input": wordings.shell_input,
}
_AGENT_ORIGINS = frozenset({"coordinator", "peer", "teammate"})


def marked(message: UserMessage, *, own: bool) -> tuple[str | None, dict[str, Any]]:
    """Return other words for a message where a wrapper must be put back, and the row's fields."""
    text = _only_text(message)
    provenance = message.provenance if own else None
    match message.author:
        case "human":
            return _human(message, text, provenance)
        case "hook":
            return None, {"isMeta": True, "origin": {"kind": "hook"}}
        case "agent" if message.agent is None and not _says_itself(text, "agent"):
            origin = provenance if provenance in _AGENT_ORIGINS else "peer"
            return None, {"origin": {"kind": origin}}
        case "harness":
            return None, _harness(message, text, provenance)
        case _:
            return None, {}


def _human(
    message: UserMessage, text: str | None, provenance: str | None
) -> tuple[str | None, dict[str, Any]]:
    fields: dict[str, Any] = {}
    source = _SOURCES.get(message.delivery or "")
    if source:
        fields["promptSource"] = source
    if provenance == "human" or _is_mistakable(text):
        fields["origin"] = {"kind": "human"}
    wrap = _WRAPPERS.get(provenance or "")
    if wrap is not None and text is not None and wordings.typed(wrap(text)).text == text:
        return wrap(text), fields
    return None, fields


def _harness(message: UserMessage, text: str | None, provenance: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if message.delivery == "queued":
        fields["promptSource"] = "queued"
    if provenance == "warm-up" or (provenance != "meta" and _says_itself(text, "harness")):
        return fields
    fields["isMeta"] = True
    if provenance not in (None, "meta", "compact-summary"):
        fields["origin"] = {"kind": provenance}
    return fields


def _only_text(message: UserMessage) -> str | None:
    if len(message.content) == 1 and isinstance(message.content[0], Text):
        return message.content[0].text
    return None


def _says_itself(text: str | None, author: str) -> bool:
    return text is not None and wordings.typed(text).author == author


def _is_mistakable(text: str | None) -> bool:
    """Whether a person's words would be taken for somebody else's."""
    return text is not None and wordings.typed(text).author in ("harness", "agent")
