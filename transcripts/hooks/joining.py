"""Hooks and transcript of one run, side by side: two witnesses of the same calls.

What only one of them tells of is listed as that, never as something that did not happen. Where
they disagree, a rule with a name says whose word stands, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
import orjson

from transcripts.errors import SessionNotFound
from transcripts.hooks.correlation.canonical import CanonicalInput, canonical_input
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent
from transcripts.hooks.logs import BadLine
from transcripts.hooks.preview import preview
from transcripts.hooks.trees.building import TreeBuilder
from transcripts.hooks.trees.tree import Node, SessionTree, Tree
from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    Text,
    Transcript,
    UserMessage,
)

MatchedBy = Literal["id", "input", "order"]
Told = Literal["hooks", "transcript", "both"]
Rule = Literal[
    "only-one-saw-the-end",
    "what-is-stated-beats-what-is-not",
    "the-record-of-the-result-decides",
    "an-event-of-failure-decides",
]
RULES: dict[Rule, str] = {
    "only-one-saw-the-end": (
        "one of them never saw the call end: harnesses send no event for some failures, and a "
        "result may be lost from a transcript"
    ),
    "what-is-stated-beats-what-is-not": (
        "one of them does not say how the call went, and that is no statement"
    ),
    "the-record-of-the-result-decides": (
        "the result that the model was given says more than an event that only tells of an end"
    ),
    "an-event-of-failure-decides": (
        "there is an event of its own for a failure, and the result carries no mark of one"
    ),
}


class JoinedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call, by its event and by its message; None for the one that does not tell of it.

    ``matched_by``: an id that both have; the only two with this input; or equal calls in their
    order, as many here as there. ``source`` says whose word ``status`` is, and ``rule`` why,
    where the two do not say the same.
    """

    event: int | None
    message: str | None
    name: str | None
    matched_by: MatchedBy | None
    status: str
    source: Told
    rule: Rule | None
    exit_code: int | None
    duration_ms: float | None


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """What the two say differently of one call, whose word stands, and by which rule."""

    event: int
    message: str
    field: Literal["status", "exit_code"]
    hooks: str | int | None
    transcript: str | int | None
    rule: Rule
    value: str | int | None


class Lone(msgspec.Struct, frozen=True, kw_only=True):
    """What only one of them tells of: an event by its line, or a message by its id."""

    event: int | None = None
    message: str | None = None
    kind: str
    name: str | None
    why: str


class Join(msgspec.Struct, frozen=True, kw_only=True):
    """What ``hooks join --format json`` prints."""

    agent: str
    session_id: str
    calls: Sequence[JoinedCall]
    prompts: int
    only_in_hooks: Sequence[Lone]
    only_in_transcript: Sequence[Lone]
    disagreements: Sequence[Disagreement]
    bad_lines: Sequence[BadLine]
    blind_spots: Sequence[str]


class _Seen(msgspec.Struct, frozen=True):
    """A call as its hooks show it."""

    event: HookEvent
    node: Node


def join(
    events: Iterable[HookEvent],
    dialect: Dialect,
    transcript: Transcript,
    bad_lines: Sequence[BadLine] = (),
) -> Join:
    """Return what the hooks and the transcript of one session say together.

    :class:`SessionNotFound` if no event is of that session.
    """
    known: dict[int, HookEvent] = {}
    builder = TreeBuilder(dialect)
    for event in events:
        known[event.line] = event
        builder.add(event)
    session = _session(builder.finish(bad_lines), transcript.session_id)
    seen = [
        _Seen(known[node.event], node)
        for node in _nodes(session)
        if node.kind == "call" and node.event is not None
    ]
    recorded = [one for one in _own(transcript) if isinstance(one, Call) and one.external_id]
    pairs = _paired(seen, recorded, dialect)
    both: list[tuple[_Seen, Call, MatchedBy]] = [
        (seen[place], recorded[other], by) for place, (other, by) in pairs.items()
    ]
    told = {other for other, _ in pairs.values()}
    prompts = _prompts(session, known, transcript)
    return Join(
        agent=dialect.agent,
        session_id=transcript.session_id,
        calls=[
            *(_joined(one, message, by) for one, message, by in both),
            *(_seen_only(one) for place, one in enumerate(seen) if place not in pairs),
            *(_recorded_only(one) for place, one in enumerate(recorded) if place not in told),
        ],
        prompts=prompts.both,
        only_in_hooks=[
            *prompts.only_in_hooks,
            *(
                Lone(event=one.event.line, kind="call", name=one.node.name, why=_NOT_RECORDED)
                for place, one in enumerate(seen)
                if place not in pairs
            ),
        ],
        only_in_transcript=[
            *prompts.only_in_transcript,
            *(
                Lone(message=one.id, kind=one.kind, name=one.name, why=_NOT_SEEN)
                for place, one in enumerate(recorded)
                if place not in told
            ),
        ],
        disagreements=[
            one for seen_one, message, _ in both for one in _disagreements(seen_one, message)
        ],
        bad_lines=list(bad_lines),
        blind_spots=list(dialect.blind_spots),
    )


_NOT_RECORDED = "no call of the transcript is this one for sure"
_NOT_SEEN = "no event is of this call for sure; that says nothing of whether it happened"


def _session(tree: Tree, session_id: str) -> SessionTree:
    sessions = [one for workspace in tree.workspaces for one in workspace.sessions]
    for session in sessions:
        if session.id == session_id:
            return session
    others = ", ".join(str(session.id) for session in sessions[:4]) or "none"
    raise SessionNotFound(
        f"the log has no event of session {session_id}",
        next_step=f"give a session that it has events of: {others}",
    )


def _own(transcript: Transcript) -> Iterator[AnyMessage]:
    """Yield what happened in this session: what a fork has copied happened in another one."""
    return (message for message in transcript.messages if message.inherited_from is None)


def _nodes(session: SessionTree) -> Iterator[Node]:
    for some in (session.nodes, *(turn.nodes for turn in session.turns)):
        yield from _below(some)


def _below(some: Iterable[Node]) -> Iterator[Node]:
    for node in some:
        yield node
        yield from _below(node.children)


def _paired(
    seen: Sequence[_Seen], recorded: Sequence[Call], dialect: Dialect
) -> dict[int, tuple[int, MatchedBy]]:
    """Return which message is of which call, by places, and how that is known."""
    pairs: dict[int, tuple[int, MatchedBy]] = {}
    by_id: dict[str, list[int]] = {}
    for place, message in enumerate(recorded):
        by_id.setdefault(message.external_id or "", []).append(place)
    for place, one in enumerate(seen):
        named = by_id.get(one.event.call or "", [])
        if len(named) == 1:
            pairs[place] = (named[0], "id")
    taken = {other for other, _ in pairs.values()}
    alike: dict[tuple[str, CanonicalInput], tuple[list[int], list[int]]] = {}
    for place, one in enumerate(seen):
        given = None if place in pairs else canonical_input(bytes(one.event.input))
        if given is not None and not one.event.call:
            key = (_use(one.event.tool, dialect), given)
            alike.setdefault(key, ([], []))[0].append(place)
    for place, message in enumerate(recorded):
        given = None if place in taken else _arguments(message)
        if given is not None and (key := (_use(message.name, dialect), given)) in alike:
            alike[key][1].append(place)
    for ours, theirs in alike.values():
        if len(ours) == len(theirs):
            by: MatchedBy = "input" if len(ours) == 1 else "order"
            pairs.update((mine, (other, by)) for mine, other in zip(ours, theirs, strict=True))
    return dict(sorted(pairs.items()))


def _use(tool: str | None, dialect: Dialect) -> str:
    """Return what a tool is for: hooks and transcript may call it by other names."""
    verb = dialect.verb(tool)
    return "" if verb == "other" else verb


def _arguments(message: Call) -> CanonicalInput | None:
    try:
        return canonical_input(orjson.dumps(message.arguments))
    except orjson.JSONEncodeError:
        return None


def _joined(one: _Seen, message: Call, by: MatchedBy) -> JoinedCall:
    status, source, rule = _outcome(one.node.status or "unknown", message.status)
    exit_code = one.node.exit_code
    if isinstance(message, CommandExecution) and message.exit_code is not None:
        exit_code = message.exit_code
    lasted = one.node.duration_ms
    return JoinedCall(
        event=one.event.line,
        message=message.id,
        name=one.node.name,
        matched_by=by,
        status=status,
        source=source,
        rule=rule,
        exit_code=exit_code,
        duration_ms=message.duration_ms if lasted is None else lasted,
    )


def _outcome(hooks: str, transcript: str) -> tuple[str, Told, Rule | None]:
    """Return how a call went by both, whose word that is, and by which rule if they differ."""
    if hooks == transcript:
        return hooks, "both", None
    if transcript == "unresolved":
        return hooks, "hooks", "only-one-saw-the-end"
    if hooks == "unresolved":
        return transcript, "transcript", "only-one-saw-the-end"
    if transcript == "unknown":
        return hooks, "hooks", "what-is-stated-beats-what-is-not"
    if hooks == "unknown":
        return transcript, "transcript", "what-is-stated-beats-what-is-not"
    if transcript == "completed":
        return hooks, "hooks", "an-event-of-failure-decides"
    return transcript, "transcript", "the-record-of-the-result-decides"


def _disagreements(one: _Seen, message: Call) -> Iterator[Disagreement]:
    hooks = one.node.status or "unknown"
    status, _, rule = _outcome(hooks, message.status)
    # Who does not say how a call went contradicts nobody.
    if rule is not None and "unknown" not in (hooks, message.status):
        yield Disagreement(
            event=one.event.line,
            message=message.id,
            field="status",
            hooks=hooks,
            transcript=message.status,
            rule=rule,
            value=status,
        )
    seen, recorded = one.node.exit_code, getattr(message, "exit_code", None)
    if seen is not None and recorded is not None and seen != recorded:
        yield Disagreement(
            event=one.event.line,
            message=message.id,
            field="exit_code",
            hooks=seen,
            transcript=recorded,
            rule="the-record-of-the-result-decides",
            value=recorded,
        )


def _seen_only(one: _Seen) -> JoinedCall:
    return JoinedCall(
        event=one.event.line,
        message=None,
        name=one.node.name,
        matched_by=None,
        status=one.node.status or "unknown",
        source="hooks",
        rule=None,
        exit_code=one.node.exit_code,
        duration_ms=one.node.duration_ms,
    )


def _recorded_only(message: Call) -> JoinedCall:
    return JoinedCall(
        event=None,
        message=message.id,
        name=message.name,
        matched_by=None,
        status=message.status,
        source="transcript",
        rule=None,
        exit_code=message.exit_code if isinstance(message, CommandExecution) else None,
        duration_ms=message.duration_ms,
    )


class _Prompts(msgspec.Struct, frozen=True):
    both: int
    only_in_hooks: Sequence[Lone]
    only_in_transcript: Sequence[Lone]


def _prompts(session: SessionTree, known: dict[int, HookEvent], transcript: Transcript) -> _Prompts:
    """Compare what was asked: equal texts in their order, as many here as there."""
    seen: dict[str, list[int]] = {}
    for node in _nodes(session):
        if node.kind == "prompt" and node.event is not None and not known[node.event].agent:
            seen.setdefault(_words(known[node.event].prompt), []).append(node.event)
    recorded: dict[str, list[str]] = {}
    for message in _own(transcript):
        if isinstance(message, UserMessage) and message.author == "human" and not message.agent:
            recorded.setdefault(_words(_said(message)), []).append(message.id)
    both = 0
    only_seen: list[Lone] = []
    only_recorded: list[Lone] = []
    for text in [*seen, *(text for text in recorded if text not in seen)]:
        events, messages = seen.get(text, []), recorded.get(text, [])
        shared = min(len(events), len(messages))
        both += shared
        name = preview(text)
        only_seen += [
            Lone(event=line, kind="prompt", name=name, why="no prompt of the transcript says this")
            for line in events[shared:]
        ]
        only_recorded += [
            Lone(message=message, kind="UserMessage", name=name, why="no event is of this prompt")
            for message in messages[shared:]
        ]
    return _Prompts(both, only_seen, only_recorded)


def _said(message: UserMessage) -> str:
    """Return what a person wrote: hooks are told nothing of what was attached to it."""
    return "\n".join(part.text for part in message.content if isinstance(part, Text))


def _words(text: Any) -> str:
    return " ".join(str(text or "").split())
