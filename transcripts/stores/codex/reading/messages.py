"""Drafts into messages of the normalised model: ids, threads, authors, what was superseded.

In code mode the script is a :class:`ToolCall` and in the model's context; the commands and
edits that it made are messages with the script as caller, and not in context: the model saw
only what the script printed.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from transcripts.ids import Scope, derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Author,
    CompactBoundary,
    Content,
    Delivery,
    Error,
    Inherited,
    Opaque,
    Other,
    Part,
    Plan,
    Reasoning,
    Superseded,
    Text,
    UserMessage,
    WebSearch,
)
from transcripts.stores.codex.foreign import integer, mapping
from transcripts.stores.codex.reading import authors
from transcripts.stores.codex.reading.calls import call_message
from transcripts.stores.codex.reading.drafts import (
    Called,
    Compacted,
    Draft,
    Failed,
    Kept,
    Origin,
    Planned,
    Response,
    Searched,
    Spoken,
    Thought,
    is_recorded,
)


class Thread:
    """What is the same for all messages of one rollout, and how its ids are derived."""

    def __init__(
        self,
        session_id: str,
        *,
        agent: str | None = None,
        caller: str | None = None,
        spawned: bool = False,
        provider: str | None = None,
    ) -> None:
        self._scope = Scope(derive("CodexCli", session_id))
        self.agent = agent
        self.caller = caller
        self.spawned = spawned
        self.provider = provider

    def messages(self, drafts: list[Draft]) -> Iterator[AnyMessage]:
        """Yield the drafts as messages, in their order, taking each from the list: it is let go."""
        self._derive_ids_of_equal_keys(drafts)
        prompted: set[str] = set()
        counted: set[int] = set()
        follows: str | None = None
        drafts.reverse()
        while drafts:
            draft = drafts.pop()
            if draft.bundle is not None:
                draft.bundle.restore(draft)
            for message in self._build(draft, follows, prompted, counted):
                yield message
                follows = message.id

    def _derive_ids_of_equal_keys(self, drafts: Sequence[Draft]) -> None:
        """Tell apart those that are told apart by their order; the others wait for their turn."""
        marks = array("q", [one.mark or hash(one.key) for one in drafts])
        if len(set(marks)) == len(marks):
            return
        many = {mark for mark, uses in Counter(marks).items() if uses > 1}
        uses: Counter[tuple[str | int, ...]] = Counter()
        for mark, draft in zip(marks, drafts, strict=True):
            if mark in many:
                uses[draft.key] += 1
                again = () if uses[draft.key] == 1 else (uses[draft.key],)
                draft.id = self._scope.derive(*draft.key, *again)

    def _id(self, draft: Draft) -> str:
        if not draft.id:
            draft.id = self._scope.derive(*draft.key)
        return draft.id

    def _build(
        self, draft: Draft, follows: str | None, prompted: set[str], counted: set[int]
    ) -> list[AnyMessage]:
        common = self._common(draft, follows, counted)
        match draft:
            case Spoken():
                return self._spoken(draft, common, prompted)
            case Thought():
                return [self._thought(draft, common)]
            case Called():
                return [call_message(draft, common)]
            case Searched():
                return [_search(draft, common)]
            case Compacted():
                return [_compaction(draft, common)]
            case Failed():
                return [_error(draft, common)]
            case Planned():
                return [_plan(draft, common)]
            case Kept():
                return [
                    Other(
                        **common,
                        external_id=draft.own_id,
                        author="harness",
                        in_context=False,
                        record=draft.record,
                        value=draft.value,
                    )
                ]
            case _:
                return []

    def _common(self, draft: Draft, follows: str | None, counted: set[int]) -> dict[str, Any]:
        response = draft.response
        usage = None
        if response is not None and response.number not in counted:
            usage = response.usage
            counted.add(response.number)
        superseded = draft.superseded_by
        if isinstance(superseded, Draft):
            superseded = Superseded(id=self._id(superseded), why="compaction")
        at = draft.at
        return {
            "id": draft.id or self._id(draft),
            "at": at,
            "at_source": None if at is None else "record",
            "follows": follows,
            "turn": draft.turn,
            "response": None if response is None else self._answer(response),
            "model": None if response is None else draft.model,
            "agent": self.agent,
            "caller": self.caller,
            "caller_evidence": "native" if self.caller else "none",
            "usage": usage,
            "superseded_by": superseded,
            "inherited_from": None if draft.origin is None else _inherited(draft.origin),
            "sources": tuple(draft.sources),
        }

    def _answer(self, response: Response) -> str:
        """Return an answer's id, told apart from those of the other threads of the session."""
        if self.agent is None or is_recorded(response.id):
            return response.id
        return f"{response.id}-of-{self.agent}"

    # ------------------------------------------------------------------ words

    def _spoken(
        self, draft: Spoken, common: dict[str, Any], prompted: set[str]
    ) -> list[AnyMessage]:
        if draft.role == "assistant":
            return [
                AgentMessage(
                    **common,
                    external_id=draft.own_id,
                    author="model",
                    provenance=draft.phase,
                    content=draft.content,
                )
            ]
        messages: list[AnyMessage] = []
        for at, (author, kinds, content) in enumerate(self._voices(draft)):
            shared = dict(common)
            if at:
                shared["id"] = self._scope.derive(*draft.key, "part", at)
                shared["follows"] = messages[-1].id
            messages.append(
                UserMessage(
                    **shared,
                    external_id=draft.own_id,
                    author=author,
                    delivery=_delivery(draft, author, prompted),
                    provenance=_provenance(draft, author, kinds),
                    content=content,
                )
            )
        return messages

    def _voices(self, draft: Spoken) -> list[tuple[Author, tuple[str | None, ...], Content]]:
        """Return the message as runs of parts by one author."""
        whole = self._untagged_author(draft)
        runs: list[tuple[Author, list[str | None], list[Part]]] = []
        for at, part in enumerate(draft.content):
            tagged = draft.authors[at] if at < len(draft.authors) else None
            kind = draft.kinds[at] if at < len(draft.kinds) else None
            author: Author = "harness" if draft.role == "developer" else tagged or whole
            if author == "human" and self.spawned and draft.origin is None:
                author = "agent"
            if runs and runs[-1][0] == author:
                runs[-1][1].append(kind)
                runs[-1][2].append(part)
            else:
                runs.append((author, [kind], [part]))
        return [(author, tuple(kinds), tuple(parts)) for author, kinds, parts in runs] or [
            (whole, (), ())
        ]

    def _untagged_author(self, draft: Spoken) -> Author:
        if draft.role == "developer":
            return "harness"
        if draft.from_agent is not None:
            # To a spawned agent this is its prompt; to the one that spawned it, a notice.
            return "agent" if self.spawned else "harness"
        if draft.typed:
            return "human"
        return "harness" if authors.is_by_harness(draft.content) else "human"

    def _thought(self, draft: Thought, common: dict[str, Any]) -> Reasoning:
        parts: list[Part] = [Text(text=words) for words in draft.texts]
        if draft.sealed is not None:
            parts.append(Opaque(form="encrypted", data=draft.sealed, provider=self.provider))
        return Reasoning(**common, external_id=draft.own_id, author="model", content=tuple(parts))


def _inherited(origin: Origin) -> Inherited:
    scope = derive("CodexCli", origin.session)
    return Inherited(
        session=origin.session, id=None if origin.key is None else derive(scope, *origin.key)
    )


def _delivery(draft: Spoken, author: Author, prompted: set[str]) -> Delivery | None:
    """Say that a prompt was steered into a turn that had one already."""
    if author != "human" or draft.turn is None:
        return None
    if draft.turn in prompted:
        return "steered"
    prompted.add(draft.turn)
    return None


def _provenance(draft: Spoken, author: Author, kinds: tuple[str | None, ...]) -> str | None:
    named = ",".join(kind for kind in kinds if kind is not None)
    if draft.role == "developer":
        return f"developer/{named or 'message'}"
    if draft.from_agent is not None:
        return f"agent_message/{draft.from_agent}"
    if named or author != "harness":
        return named or None
    return ",".join(authors.harness_shapes(draft.content)) or None


# ------------------------------------------------------------------ other kinds


def _search(draft: Searched, common: dict[str, Any]) -> WebSearch:
    return WebSearch(
        **common,
        external_id=draft.own_id,
        author="model",
        name="web_search",
        arguments=draft.action or None,
        query=draft.query,
        status=draft.status,
    )


def _compaction(draft: Compacted, common: dict[str, Any]) -> CompactBoundary:
    return CompactBoundary(
        **common,
        external_id=draft.own_id,
        author="harness",
        trigger=draft.trigger,
        summary=draft.summary,
        preserved=tuple(kept.id for kept in draft.kept),
    )


_STATUS = re.compile(r"unexpected status (\d{3})\b")
"""How a failure is told by releases that record no status: 0.145 and 0.150."""


def _plan(draft: Planned, common: dict[str, Any]) -> Plan:
    return Plan(
        **common,
        external_id=draft.own_id,
        author="model",
        name="",
        form="proposal",
        content=(Text(text=draft.text),),
    )


def _error(draft: Failed, common: dict[str, Any]) -> Error:
    raw = draft.raw
    token = raw if isinstance(raw, str) else next(iter(mapping(raw)), None)
    status_code = None
    for value in mapping(raw).values():
        status_code = integer(mapping(value).get("http_status_code")) or status_code
    if status_code is None:
        told = _STATUS.match(draft.text)
        status_code = int(told[1]) if told else None
    return Error(
        **common,
        author="harness",
        in_context=False,
        status="failed",
        text=draft.text,
        failure=token,
        status_code=status_code,
        raw=raw,
    )
