"""Records of one rollout into drafts: every kind of record finds the part that it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, get_args

from transcripts.model import Text
from transcripts.records import Record, jsonlines
from transcripts.stores.codex.dialects import flat, shapes
from transcripts.stores.codex.dialects.events import evidence_in, evidence_of
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
        self._tidies = attic is not None
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
        take = self._take
        for record in records:
            take(record, None)
            if self._tidies:
                self.state.tidy()

    def inherit(self, record: Record, first: First) -> None:
        """Take in a record that another session wrote first."""
        self._take(record, first)
        if self._tidies:
            self.state.tidy()

    def go_back(self, ordinal: int | None) -> None:
        """Take back what stands from an ordinal on: the person went back to before it."""
        self._begin_turn(None)
        if ordinal is not None:
            self._replacing.go_back(ordinal)
            self.state.go_back(ordinal)

    def _take(self, record: Record, first: First | None) -> None:
        line = record.value
        if type(line) is dict:
            self._take_object(record, line, first)
            return
        self.state.arrive(record, moment(line.timestamp), line.ordinal, first)
        payload = line.payload
        self._takers[type(payload)](self, payload)

    def _take_object(self, record: Record, value: dict[str, Any], first: First | None) -> None:
        """Take in a record that is not of the commonest, or has a field of an odd type."""
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
                self._turn_context(shapes.shaped(shapes.TurnContext, payload))
            case "response_item":
                item = shapes.item_of(form, payload)
                if item is None:
                    self._rare_item(form, payload)
                else:
                    self._item(item)
            case "event_msg":
                event = shapes.event_of(form, payload)
                if event is None:
                    self._rare_event(form, payload)
                else:
                    self._takers[type(event)](self, event)
            case "compacted":
                self._replacing.compacted(payload)
            case "token_usage_record":
                self.state.usage_record(shapes.shaped(shapes.AnswerCounted, payload))
            case _:
                self.state.count(kind)

    def _session_meta(self, payload: dict[str, Any]) -> None:
        self.state.count("session_meta")
        if self.state.first is None and not self.state.meta:
            self.state.meta = payload
            self.state.cwd = text(payload.get("cwd")) or self.state.cwd
        elif self.state.cwd is None:
            self.state.cwd = text(payload.get("cwd"))

    def _turn_context(self, context: shapes.TurnContext) -> None:
        state = self.state
        state.count("turn_context")
        if context.turn_id is not None and context.turn_id != state.turn:
            self._begin_turn(context.turn_id)
        state.cwd = context.cwd or state.cwd
        if context.model is not None:
            state.model = context.model

    def _answer_counted(self, counted: shapes.AnswerCounted) -> None:
        self.state.usage_record(counted)

    def _begin_turn(self, turn: str | None) -> None:
        self.state.turn = turn
        self.state.end_response()
        self._pairing.end()
        self._proposing.end()

    # ------------------------------------------------------------------ response items

    def _item(self, item: shapes.Item) -> None:
        state, passed = self.state, item.passed
        before = state.turn
        if passed is not None and passed.turn_id:
            state.turn = passed.turn_id
        self._items[type(item)](self, item)
        state.turn = before

    def _rare_item(self, form: str, payload: dict[str, Any]) -> None:
        passed = mapping(payload.get("internal_chat_message_metadata_passthrough"))
        turn = text(passed.get("turn_id"))
        before, self.state.turn = self.state.turn, turn or self.state.turn
        match form:
            case "local_shell_call":
                self._calls.call(_call_id(payload), "local_shell", payload.get("action"), None)
            case "tool_search_call":
                namespace = text(payload.get("namespace"))
                arguments = payload.get("arguments")
                self._calls.call(_call_id(payload), "tool_search", arguments, namespace)
            case "tool_search_output":
                self._calls.output(_searched_tools(payload))
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

    def _output(self, result: shapes.Output) -> None:
        self._calls.output(result)

    def _call(self, call: shapes.Call) -> None:
        call_id = call.call_id or call.id
        self._calls.call(call_id, call.name or "", _arguments(call.arguments), call.namespace)

    def _custom_call(self, call: shapes.CustomCall) -> None:
        call_id = call.call_id or call.id
        self._calls.call(call_id, call.name or "", call.input, call.namespace, custom=True)

    def _message(self, message: shapes.Message) -> None:
        role = message.role
        if role not in ("user", "assistant", "developer", "system"):
            self.state.count("response_item/message")
            return
        content = content_of(message.content)
        marked = authors.tags(message.passed, len(items(message.content)))
        if len(marked) != len(content) and marked:
            marked = [marked[at] for at, _ in numbered_content(message.content)]
        if marked and authors.LETTER in [kind for kind, _ in marked]:
            sender, _ = authors.opened(spoken_text(content))
            self._calls.letter(message.id, content, sender or "agent")
            return
        plan = None
        if role == "assistant":
            content, plan = self._proposing.without_plan(content)
        draft = Spoken(
            *self.state.standing(message.id),
            role="developer" if role == "system" else role,
            own_id=message.id,
            content=content,
            authors=tuple([author for _, author in marked]),
            kinds=tuple([kind for kind, _ in marked]),
            phase=message.phase,
        )
        if role == "user":
            self._calls.notice(spoken_text(content))
        if content or plan is None:
            self._pairing.words(draft, "item")
        if plan is not None:
            self._proposing.behind(plan)

    def _reasoning(self, thought: shapes.Reasoned) -> None:
        summary, raw = content_of(thought.summary), content_of(thought.content)
        draft = Thought(
            *self.state.standing(thought.id),
            own_id=thought.id,
            texts=[part.text for part in (*summary, *raw) if isinstance(part, Text)],
            sealed=thought.encrypted_content,
        )
        self._pairing.thought(draft, "item")

    def _agent_message(self, payload: dict[str, Any]) -> None:
        content = content_of(payload.get("content"))
        sender = text(payload.get("author")) or "agent"
        self._calls.letter(text(payload.get("id")), content, sender)

    # ------------------------------------------------------------------ events

    def _turn_started(self, event: shapes.TurnStarted) -> None:
        self.state.count("event_msg/task_started")
        self._begin_turn(event.turn_id)

    def _turn_ended(self, event: shapes.TurnEnded) -> None:
        self.state.count("event_msg/task_complete")
        self._end_turn(event.error)

    def _token_count(self, event: shapes.TokensCounted) -> None:
        self.state.count("event_msg/token_count")
        self.state.token_count(event.info)

    def _completed(self, event: shapes.ItemCompleted) -> None:
        state, item = self.state, event.item
        before = state.turn
        if event.turn_id:
            state.turn = event.turn_id
        self._completed_items[type(item)](self, item)
        state.turn = before

    def _completed_object(self, payload: dict[str, Any]) -> None:
        value = mapping(payload.get("item"))
        form = text(value.get("type")) or ""
        turn = text(payload.get("turn_id"))
        before, self.state.turn = self.state.turn, turn or self.state.turn
        item = shapes.completed_of(form, value)
        if item is None:
            self._rare_completed(form, value)
        else:
            self._completed_items[type(item)](self, item)
        self.state.turn = before

    def _rare_event(self, form: str, payload: dict[str, Any]) -> None:
        match form:
            case "item_completed":
                self._completed_object(payload)
            case "turn_started":
                self.state.count(f"event_msg/{form}")
                self._begin_turn(text(payload.get("turn_id")))
            case "turn_complete":
                self.state.count(f"event_msg/{form}")
                self._end_turn(payload.get("error"))
            case "turn_aborted":
                self.state.count(f"event_msg/{form}")
                self._calls.interrupt(text(payload.get("turn_id")) or self.state.turn)
            case "agent_reasoning_raw_content":
                self._pairing.part_of_thought(text(payload.get("text")))
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

    def _rare_completed(self, form: str, item: dict[str, Any]) -> None:
        own_id = text(item.get("id"))
        match form:
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

    def _evidence_item(self, told: shapes.Told) -> None:
        self._calls.evidence(evidence_in(told, self.state.at), "completed")

    def _evidence_event(self, told: shapes.Told) -> None:
        self._calls.evidence(evidence_in(told, self.state.at), "echo")

    def _typed_item(self, item: shapes.TypedItem) -> None:
        self._typed(item.id, item.content, item.images, "completed")

    def _typed_echo(self, event: shapes.TypedEcho) -> None:
        self._typed(event.id, event.message, event.images, "echo")

    def _typed(self, own_id: str | None, content: Any, images: Any, vocabulary: Vocabulary) -> None:
        parts = content_of(content)
        if images:
            parts += content_of(
                [{"type": "input_image", "image_url": url} for url in items(images)]
            )
        draft = Spoken(
            *self.state.standing(own_id), role="user", own_id=own_id, content=parts, typed=True
        )
        self._pairing.words(draft, vocabulary)

    def _answered_item(self, item: shapes.AnsweredItem) -> None:
        words = spoken_text(content_of(item.content))
        self._answered(words, item.id, item.phase, "completed")

    def _answered_echo(self, event: shapes.AnsweredEcho) -> None:
        if self._replacing.is_done(event.message):
            self._replacing.echo(None)
        else:
            self._answered(event.message, None, event.phase, "echo")

    def _answered(
        self, words: str | None, own_id: str | None, phase: str | None, vocabulary: Vocabulary
    ) -> None:
        if words is None:
            self.state.count("event_msg/agent_message")
            return
        words = self._proposing.before_plan(words)
        draft = Spoken(
            *self.state.standing(own_id),
            role="assistant",
            own_id=own_id,
            content=(Text(text=words),),
            phase=phase,
        )
        self._pairing.words(draft, vocabulary)
        self._proposing.keep_behind()

    def _thought_item(self, item: shapes.ThoughtItem) -> None:
        told = [*items(item.summary_text), *items(item.raw_content)]
        texts = [one for one in told if isinstance(one, str)]
        thought = Thought(*self.state.standing(item.id), own_id=item.id, texts=texts)
        self._pairing.thought(thought, "completed")

    def _thought_echo(self, event: shapes.ThoughtEcho) -> None:
        self._pairing.part_of_thought(event.text)

    def _end_turn(self, failure: Any) -> None:
        error = mapping(failure)
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
        self.state.drafts.append(Failed(*self.state.standing(), text=words, raw=raw))

    def _keep(self, record: str, value: dict[str, Any], own_id: str | None) -> None:
        self.state.drafts.append(
            Kept(*self.state.standing(own_id), own_id=own_id, record=record, value=value)
        )

    _takers: ClassVar[dict[type, Callable[[Gathering, Any], None]]] = {
        **dict.fromkeys(get_args(shapes.ResponseItem), _item),
        shapes.AnswerCounted: _answer_counted,
        shapes.TurnContext: _turn_context,
        shapes.TurnStarted: _turn_started,
        shapes.TurnEnded: _turn_ended,
        shapes.TokensCounted: _token_count,
        shapes.ItemCompleted: _completed,
        shapes.TypedEcho: _typed_echo,
        shapes.AnsweredEcho: _answered_echo,
        shapes.ThoughtEcho: _thought_echo,
        shapes.RanEvent: _evidence_event,
        shapes.PatchedEvent: _evidence_event,
        shapes.ServedEvent: _evidence_event,
    }
    _items: ClassVar[dict[type, Callable[[Gathering, Any], None]]] = {
        shapes.Message: _message,
        shapes.Reasoned: _reasoning,
        shapes.Call: _call,
        shapes.CustomCall: _custom_call,
        shapes.Output: _output,
        shapes.CustomOutput: _output,
    }
    _completed_items: ClassVar[dict[type, Callable[[Gathering, Any], None]]] = {
        shapes.TypedItem: _typed_item,
        shapes.AnsweredItem: _answered_item,
        shapes.ThoughtItem: _thought_item,
        shapes.Ran: _evidence_item,
        shapes.Patched: _evidence_item,
        shapes.Served: _evidence_item,
    }


def _call_id(payload: dict[str, Any]) -> str | None:
    return text(payload.get("call_id")) or text(payload.get("id"))


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return jsonlines.parse_text(value)
    except ValueError:
        return value


def _searched_tools(payload: dict[str, Any]) -> shapes.Output:
    """Return what a search for tools found as the result of a call."""
    result = shapes.shaped(shapes.Output, payload)
    if payload.get("tools") is not None:
        result.output = [{"tools": payload["tools"]}]
    return result
