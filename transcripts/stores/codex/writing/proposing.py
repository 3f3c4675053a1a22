"""Plans put before the person: told whole, and between tags in the words of the answer.

So Codex records them from its plan mode; the reader takes tagged words for a plan only where
the same plan was told whole before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeGuard

from transcripts.model import AgentMessage, AnyMessage, Plan
from transcripts.narration import content_text
from transcripts.stores.codex.writing import items
from transcripts.stores.codex.writing.items import Payload
from transcripts.stores.codex.writing.rollout import Rollout
from transcripts.stores.codex.writing.wording import answer_parts

_OPENED, _CLOSED = "<proposed_plan>", "</proposed_plan>"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def with_plans(
    group: Sequence[AnyMessage], *, own: bool
) -> Iterator[tuple[AnyMessage, Plan | None]]:
    """Yield the messages of an answer, words together with the plan that they end with.

    A plan without such words stands for itself. ``own``: another CLI's plan is none of Codex's.
    """
    if not own:
        yield from ((message, None) for message in group)
        return
    waiting: AgentMessage | None = None
    for message in group:
        if waiting is not None and is_proposal(message) and _OPENED not in _words(waiting):
            yield waiting, message
            waiting = None
            continue
        if waiting is not None:
            yield waiting, None
        waiting = message if isinstance(message, AgentMessage) else None
        if waiting is None:
            yield message, message if is_proposal(message) else None
    if waiting is not None:
        yield waiting, None


def is_proposal(message: AnyMessage) -> TypeGuard[Plan]:
    """Whether a message is a plan that can stand between tags."""
    return (
        isinstance(message, Plan)
        and message.form == "proposal"
        and not message.name
        and _CLOSED not in content_text(message.content)
        and bool(content_text(message.content).strip())
    )


def propose(rollout: Rollout, plan: Plan, said: AgentMessage | None) -> None:
    """Write a plan, and in one item with it the words of the answer that it ends."""
    words = content_text(plan.content)
    whole: Payload = {"type": "Plan", "id": plan.external_id or plan.id, "text": words}
    told: list[tuple[AnyMessage, Payload]] = [
        (plan, items.completed(whole, plan.turn, rollout.session_id))
    ]
    content = [] if said is None else answer_parts(rollout, said)
    if said is not None and content:
        rollout.last_answer = "".join(part["text"] for part in content)
        told.append((said, items.agent_message(rollout.last_answer, said.provenance)))
    for message, event in sorted(told, key=lambda one: one[0].at or _EPOCH):
        rollout.go_on(message.at, message)
        rollout.event(event)
    end = "" if words.endswith("\n") else "\n"
    tagged = f"{_OPENED}\n{words}{end}{_CLOSED}"
    if content:
        content[-1]["text"] += f"\n{tagged}"
    else:
        content = [{"type": "output_text", "text": tagged}]
    own_id = None if said is None else said.external_id
    phase = None if said is None else said.provenance
    passed = items.tagged(None, plan.turn, len(content))
    rollout.item(items.message("assistant", content, own_id, phase=phase, **passed))


def _words(message: AgentMessage) -> str:
    return content_text(message.content)
