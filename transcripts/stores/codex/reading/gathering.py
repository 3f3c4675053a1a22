"""Records of one rollout into drafts: every kind of record finds the part that it is for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transcripts.model import Content, Text
from transcripts.records import Record
from transcripts.stores.codex.dialects import flat
from transcripts.stores.codex.dialects.events import evidence_of
from transcripts.stores.codex.dialects.responses import content_of, numbered_content, spoken_text
from transcripts.stores.codex.foreign import integer, items, mapping, moment, text
from transcripts.stores.codex.reading import authors
from transcripts.stores.codex.reading.attic import Attic
from transcripts.stores.codex.reading.bookkeeping import REVIEWS
from transcripts.stores.codex.reading.drafts import Failed, Kept, Spoken, Thought, Vocabulary
from transcripts.stores.codex.reading.inheriting import First
from transcripts.stores.codex.reading.joining import Joining
from transcripts.stores.codex.reading.pairing import Pairing
from transcripts.stores.codex.reading.proposing import Proposing
from transcripts.stores.codex.reading.replacing import Replacing
from transcripts.stores.codex.reading.state import State


class Gathering:
    """The reading of one rollout, record by record, into ``state``."""

    def __init__(self, source: str, attic: Attic | None = None) -> None:
        self.state = State(source, attic)
        self._pairing = Pairing(self.state)
        self._calls = Joining(self.state)
        self._replacing = Replacing(self.state, self._pairing)
        self._proposing = Proposing(self.state)

    @property
    def looks(self) -> int:
        """How often something told before was looked at: grows with the records, no faster."""
        return self._pairing.looks

    def feed(self, records: Iterable[Record]) -> None:
        """Take in the records of a file, in its order."""
        for record in records:
            self._take(record, None)
            self.state.tidy()

    def inherit(self, record: Record, first: First) -> None:
        """Take in a record that another session wrote first."""
        self._take(record, first)
        self.state.tidy()

    def go_back(self, ordinal: int | None) -> None:
        """Take back what stands from an ordinal on: the person went back to before it."""
        self._begin_turn(None)
        if ordinal is not None:
            self._replacing.go_back(ordinal)
            self.state.go_back(ordinal)

    def _take(self, record: Record, first: First | None) -> None:
        value = record.value
        lifted = flat.lift(value)
        if lifted is not None:
            kind, payload = lifted
        else:
            kind, payload = text(value.get("type")) or "", mapping(value.get("payload"))
        at = moment(value.get("timestamp")) if lifted is None else None
        self.state.arrive(record, at, integer(value.get("ordinal")), first)
        form = text(payload.get("type")) or ""
        match kind:
            case "session_meta":
                self._session_meta(payload)
            case "turn_context":
                self._turn_context(payload)
            case "response_item":
                self._response_item(form, payload)
            case "event_msg":
                self._event(form, payload)
            case "compacted":
                self._replacing.compacted(payload)
            case "token_usage_record":
                self.state.usage_record(payload)
            case _:
                self.state.count(kind)

    def _session_meta(self, payload: dict[str, Any]) -> None:
        self.state.count("session_meta")
        if self.state.first is None and not self.state.meta:
            self.state.meta = payload
            self.state.cwd = text(payload.get("cwd")) or self.state.cwd
        elif self.state.cwd is None:
            self.state.cwd = text(payload.get("cwd"))

    def _turn_context(self, payload: dict[str, Any]) -> None:
        self.state.count("turn_context")
        turn = text(payload.get("turn_id"))
        if turn is not None and turn != self.state.turn:
            self._begin_turn(turn)
        self.state.cwd = text(payload.get("cwd")) or self.state.cwd
        model = text(payload.get("model"))
        if model is not None:
            self.state.model = model
            self.state.models.append(model)

    def _begin_turn(self, turn: str | None) -> None:
        self.state.turn = turn
        self.state.end_response()
        self._pairing.end()
        self._proposing.end()

    def _response_item(self, form: str, payload: dict[str, Any]) -> None:
        passed = mapping(payload.get("internal_chat_message_metadata_passthrough"))
        turn = text(passed.get("turn_id"))
        before, self.state.turn = self.state.turn, turn or self.state.turn
        match form:
            case "message":
                self._message(payload)
            case "reasoning":
                self._reasoning(payload)
            case "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call":
                self._calls.call(form, payload)
            case "function_call_output" | "custom_tool_call_output" | "tool_search_output":
                self._calls.output(form, payload)
            case "web_search_call":
                status = text(payload.get("status"))
                self._pairing.search(text(payload.get("id")), payload.get("action"), status, "item")
            case "image_generation_call":
                self._calls.image(payload)
            case "agent_message":
                self._agent_message(payload)
            case "compaction" | "compaction_summary":
                self._replacing.sealed(payload)
            case _:
                self.state.count(f"response_item/{form}")
        self.state.turn = before

    def _message(self, payload: dict[str, Any]) -> None:
        role = payload.get("role")
        if role not in ("user", "assistant", "developer", "system"):
            self.state.count("response_item/message")
            return
        numbered = numbered_content(payload.get("content"))
        content: Content = tuple(part for _, part in numbered)
        marks = authors.tags(payload)
        marked = [marks[at] for at, _ in numbered] if marks else []
        if authors.LETTER in {kind for kind, _ in marked}:
            sender, _ = authors.opened(spoken_text(content))
            self._calls.letter(text(payload.get("id")), content, sender or "agent")
            return
        plan = None
        if role == "assistant":
            content, plan = self._proposing.without_plan(content)
        draft = Spoken(
            **self.state.draft_fields(text(payload.get("id"))),
            role="developer" if role == "system" else role,
            own_id=text(payload.get("id")),
            content=content,
            authors=tuple(author for _, author in marked),
            kinds=tuple(kind for kind, _ in marked),
            phase=text(payload.get("phase")),
        )
        if role == "user":
            self._calls.notice(spoken_text(content))
        if content or plan is None:
            self._pairing.words(draft, "item")
        if plan is not None:
            self._proposing.behind(plan)

    def _reasoning(self, payload: dict[str, Any]) -> None:
        texts = [part.text for part in content_of(payload.get("summary")) if isinstance(part, Text)]
        raw = [part.text for part in content_of(payload.get("content")) if isinstance(part, Text)]
        own_id = text(payload.get("id"))
        draft = Thought(
            **self.state.draft_fields(own_id),
            own_id=own_id,
            texts=texts + raw,
            sealed=text(payload.get("encrypted_content")),
        )
        self._pairing.thought(draft, "item")

    def _agent_message(self, payload: dict[str, Any]) -> None:
        content = content_of(payload.get("content"))
        sender = text(payload.get("author")) or "agent"
        self._calls.letter(text(payload.get("id")), content, sender)

    def _event(self, form: str, payload: dict[str, Any]) -> None:
        match form:
            case "task_started" | "turn_started":
                self.state.count(f"event_msg/{form}")
                self._begin_turn(text(payload.get("turn_id")))
            case "task_complete" | "turn_complete":
                self.state.count(f"event_msg/{form}")
                self._turn_ended(payload)
            case "turn_aborted":
                self.state.count(f"event_msg/{form}")
                self._calls.interrupt(text(payload.get("turn_id")) or self.state.turn)
            case "user_message":
                self._typed(payload.get("message"), payload, "echo")
            case "agent_message":
                self._told(text(payload.get("message")), text(payload.get("phase")))
            case "agent_reasoning" | "agent_reasoning_raw_content":
                self._pairing.part_of_thought(text(payload.get("text")))
            case "item_completed":
                item = mapping(payload.get("item"))
                turn = text(payload.get("turn_id"))
                before, self.state.turn = self.state.turn, turn or self.state.turn
                self._item(text(item.get("type")) or "", item)
                self.state.turn = before
            case "token_count":
                self.state.count(f"event_msg/{form}")
                self.state.token_count(payload)
            case "web_search_end":
                action = mapping(payload.get("action")) or {"query": payload.get("query")}
                self._pairing.search(text(payload.get("call_id")), action, None, "echo")
            case "context_compacted":
                self._replacing.echo(None)
            case "thread_rolled_back":
                self.state.count(f"event_msg/{form}")
                self._replacing.roll_back(integer(payload.get("num_turns")) or 0)
                self._begin_turn(None)
            case "thread_name_updated":
                self.state.count(f"event_msg/{form}")
                self.state.title = text(payload.get("thread_name")) or self.state.title
            case "error":
                self._error(payload)
            case _ if form in REVIEWS:
                self._keep(f"event_msg/{form}", payload, None)
            case _:
                evidence = evidence_of(form, payload, self.state.at)
                if evidence is None:
                    self.state.count(f"event_msg/{form}")
                else:
                    self._calls.evidence(evidence, "echo")

    def _item(self, form: str, item: dict[str, Any]) -> None:
        own_id = text(item.get("id"))
        match form:
            case "UserMessage":
                self._typed(item.get("content"), item, "completed")
            case "AgentMessage":
                words = spoken_text(content_of(item.get("content")))
                self._answered(words, own_id, text(item.get("phase")), "completed")
            case "Reasoning":
                told = [*items(item.get("summary_text")), *items(item.get("raw_content"))]
                texts = [one for one in told if isinstance(one, str)]
                thought = Thought(**self.state.draft_fields(own_id), own_id=own_id, texts=texts)
                self._pairing.thought(thought, "completed")
            case "Plan":
                self._proposing.item(own_id, text(item.get("text")) or "")
            case "WebSearch":
                action = mapping(item.get("action")) or {"query": item.get("query")}
                self._pairing.search(own_id, action, None, "completed")
            case "ContextCompaction":
                self._replacing.echo(own_id)
            case "SubAgentActivity":
                self._calls.activity(item)
            case _ if form in REVIEWS:
                self._keep(f"event_msg/item_completed/{form}", item, own_id)
            case _:
                evidence = evidence_of(form, item, self.state.at)
                if evidence is None:
                    self.state.count(f"event_msg/item_completed/{form}")
                else:
                    self._calls.evidence(evidence, "completed")

    def _typed(self, content: Any, payload: dict[str, Any], vocabulary: Vocabulary) -> None:
        own_id = text(payload.get("id"))
        attached = [
            {"type": "input_image", "image_url": url} for url in items(payload.get("images"))
        ]
        draft = Spoken(
            **self.state.draft_fields(own_id),
            role="user",
            own_id=own_id,
            content=content_of(content) + content_of(attached),
            typed=True,
        )
        self._pairing.words(draft, vocabulary)

    def _told(self, words: str | None, phase: str | None) -> None:
        if self._replacing.is_done(words):
            self._replacing.echo(None)
        else:
            self._answered(words, None, phase, "echo")

    def _answered(
        self, words: str | None, own_id: str | None, phase: str | None, vocabulary: Vocabulary
    ) -> None:
        if words is None:
            self.state.count("event_msg/agent_message")
            return
        draft = Spoken(
            **self.state.draft_fields(own_id),
            role="assistant",
            own_id=own_id,
            content=(Text(text=words),),
            phase=phase,
        )
        self._pairing.words(draft, vocabulary)

    def _turn_ended(self, payload: dict[str, Any]) -> None:
        error = mapping(payload.get("error"))
        if error:
            self._error(error)
        self._replacing.turn_ended()
        self._begin_turn(None)

    def _error(self, error: dict[str, Any]) -> None:
        last = self.state.drafts[-1] if self.state.drafts else None
        words = text(error.get("message")) or ""
        if isinstance(last, Failed) and last.text == words:
            last.sources.append(self.state.here())
            return
        raw = error.get("codex_error_info")
        self.state.drafts.append(Failed(**self.state.draft_fields(), text=words, raw=raw))

    def _keep(self, record: str, value: dict[str, Any], own_id: str | None) -> None:
        self.state.drafts.append(
            Kept(**self.state.draft_fields(own_id), own_id=own_id, record=record, value=value)
        )
