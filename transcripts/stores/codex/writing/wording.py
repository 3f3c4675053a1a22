"""Messages that are no calls into a rollout: as Codex's own record, or in marked words."""

from __future__ import annotations

from transcripts.losses import LossId
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CompactBoundary,
    Message,
    Opaque,
    Other,
    Reasoning,
    Text,
    UserMessage,
)
from transcripts.narration import prose
from transcripts.stores.codex.reading import authors
from transcripts.stores.codex.writing import items
from transcripts.stores.codex.writing.items import Payload
from transcripts.stores.codex.writing.rollout import Rollout

SUMMARY = "compaction.summary"
"""What Codex calls the part of a prompt that is the summary of what was replaced."""

_NOTE = "harness.note"


def say(rollout: Rollout, message: AnyMessage) -> None:
    """Write a message that is no call."""
    match message:
        case UserMessage():
            _user_message(rollout, message)
        case AgentMessage():
            _agent_message(rollout, message)
        case Reasoning() if rollout.own:
            _reasoning(rollout, message)
        case Other() if rollout.own and message.record.startswith("event_msg/"):
            _other(rollout, message)
        case CompactBoundary():
            _narrate_compaction(rollout, message)
        case _:
            narrate(rollout, message)


def narrate(rollout: Rollout, message: Message) -> None:
    """Write a message in marked words, as the model's, and say that it is told so."""
    words = prose(message)
    if words is None:
        sealed = isinstance(message, Reasoning) and message.content
        loss: LossId = "reasoning-opaque-dropped" if sealed else "empty-dropped"
        rollout.lose(loss, message, "nothing in it that can be said")
        return
    rollout.answer([{"type": "output_text", "text": words}], message.turn)
    rollout.lose("narrated", message, f"Codex has no record of its own for this {message.kind}")
    if isinstance(message, Reasoning) and any(isinstance(part, Opaque) for part in message.content):
        rollout.lose("reasoning-opaque-dropped", message, "only its own provider reads it")


def sender_of(message: UserMessage) -> str | None:
    """Return the agent that wrote the message to another; None if it is no such letter."""
    written, _, sender = (message.provenance or "").partition("/")
    return sender if written == "agent_message" else None


def is_prompt(message: Message, *, own: bool) -> bool:
    """Whether a message is written as a prompt that somebody typed; ``own``: in Codex's store."""
    if not isinstance(message, UserMessage) or (own and sender_of(message) is not None):
        return False
    typed = message.author == "human" or (message.author == "agent" and own)
    return typed and bool(items.parts(message.content, "input_text"))


def _user_message(rollout: Rollout, message: UserMessage) -> None:
    sealed = [part.data for part in message.content if isinstance(part, Opaque)]
    sender = sender_of(message) if rollout.own else None
    if sender is not None and sealed:
        rollout.item(items.letter(sender, authors.heading(sender), sealed, message.external_id))
        return
    content = items.parts(message.content, "input_text")
    if not content:
        rollout.lose("empty-dropped", message, "nothing in it")
        return
    rollout.lose_parts(message, message.content)
    if sender is not None:
        content = [{"type": "input_text", "text": authors.heading(sender)}, *content]
    human = is_prompt(message, own=rollout.own)
    provenance = message.provenance or ""
    developer = rollout.own and provenance.split("/")[0] == "developer"
    kinds = _kinds(rollout, message, provenance, developer=developer, human=human)
    passed = items.tagged(kinds, message.turn if rollout.own else None, len(content))
    role = "developer" if developer else "user"
    own_id = message.external_id if rollout.own else None
    rollout.item(items.message(role, content, own_id, **passed))
    if human:
        rollout.event(items.user_message(content))
    if not rollout.own and message.provenance is not None:
        rollout.lose("provenance-dropped", message, "where it came from has no field")


def _kinds(
    rollout: Rollout, message: UserMessage, provenance: str, *, developer: bool, human: bool
) -> list[str | None] | None:
    if rollout.own:
        named = provenance.split("/", 1)[-1] if "/" in provenance else provenance
        if named and named != "developer" and "." in named:
            return list(named.split(","))
        if sender_of(message) is not None:
            return [authors.LETTER]
        shaped = authors.is_by_harness(message.content)
        return None if human or developer or shaped else [_NOTE]
    return None if human or developer else [_NOTE]


def answer_parts(rollout: Rollout, message: AgentMessage) -> list[Payload]:
    """Return the words of an answer, saying what they lose; none is a loss too."""
    content = items.parts(message.content, "output_text")
    if not content:
        rollout.lose("empty-dropped", message, "nothing in it")
        return []
    rollout.lose_parts(message, message.content, images=False)
    for part in content:
        if part["type"] == "input_image":
            part.clear()
            part.update({"type": "output_text", "text": "(attached: image)"})
    return content


def _agent_message(rollout: Rollout, message: AgentMessage) -> None:
    content = answer_parts(rollout, message)
    if not content:
        return
    phase = message.provenance if rollout.own else None
    rollout.answer(content, message.turn, message.external_id if rollout.own else None, phase)


def _reasoning(rollout: Rollout, message: Reasoning) -> None:
    texts = [part.text for part in message.content if isinstance(part, Text)]
    sealed = [part.data for part in message.content if isinstance(part, Opaque)]
    for words in texts:
        rollout.event({"type": "agent_reasoning", "text": words})
    rollout.item(items.reasoning(texts, next(iter(sealed), None), message.external_id))


def _other(rollout: Rollout, message: Other) -> None:
    value = message.value if isinstance(message.value, dict) else {}
    if message.record.startswith("event_msg/item_completed/"):
        rollout.event(items.completed(value, message.turn, rollout.session_id))
    else:
        rollout.event(value)


def _narrate_compaction(rollout: Rollout, message: CompactBoundary) -> None:
    words = prose(message) or ""
    content = [{"type": "input_text", "text": words}]
    rollout.item(items.message("user", content, None, **items.tagged([SUMMARY], None, 1)))
    rollout.lose("narrated", message, "what another CLI compacted is told in words")
