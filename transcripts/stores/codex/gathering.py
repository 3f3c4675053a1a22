"""Records of one rollout into drafts: call and item merged, never doubled, never lost.

An echo is paired with the item of the same words one to one, inside a turn: two equal prompts
are two messages, and what has no partner stands for itself. Calls are joined by their id; an
id used again is another call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from transcripts.model import Content, Damage, Location, Opaque, Part, Superseded, Text, Usage
from transcripts.narration import content_text
from transcripts.records import Record
from transcripts.stores.codex import authors, tools
from transcripts.stores.codex.dialects import flat
from transcripts.stores.codex.dialects.events import evidence_of
from transcripts.stores.codex.dialects.responses import content_of, spoken_text
from transcripts.stores.codex.drafts import (
    Called,
    Compacted,
    Draft,
    Evidence,
    Failed,
    Kept,
    Response,
    Searched,
    Spoken,
    Thought,
    Vocabulary,
    id_by_place,
)
from transcripts.stores.codex.foreign import integer, items, mapping, moment, parsed, text

_BOOKKEEPING = frozenset(
    {
        "session_meta",
        "turn_context",
        "world_state",
        "token_usage_record",
        "state",
        "retained_context",
        "inter_agent_communication_metadata",
        "response_item/additional_tools",
        "response_item/ghost_snapshot",
        "event_msg/task_started",
        "event_msg/turn_started",
        "event_msg/task_complete",
        "event_msg/turn_complete",
        "event_msg/turn_aborted",
        "event_msg/thread_settings_applied",
        "event_msg/thread_name_updated",
        "event_msg/thread_goal_updated",
        "event_msg/token_count",
        "event_msg/thread_rolled_back",
        "event_msg/agent_reasoning_section_break",
        "event_msg/undo_completed",
        "event_msg/sub_agent_activity",
        "event_msg/item_completed/SubAgentActivity",
    }
)
_REVIEWS = frozenset(
    {
        "entered_review_mode",
        "exited_review_mode",
        "EnteredReviewMode",
        "ExitedReviewMode",
    }
)
_NOTIFICATION = re.compile(
    r"<subagent_notification>\s*(\{.*\})\s*</subagent_notification>", re.DOTALL
)


class Gathering:
    """The state of reading one rollout, record by record."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.meta: dict[str, Any] = {}
        self.title: str | None = None
        self.models: list[str] = []
        self.drafts: list[Draft] = []
        self.unread: Counter[tuple[str, bool]] = Counter()
        self.damage: list[Damage] = []
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None
        self._turn: str | None = None
        self._model: str | None = None
        self._cwd: str | None = None
        self._record: Record | None = None
        self._at: datetime | None = None
        self._previous_at: datetime | None = None
        self._ordinal: int | None = None
        self._ordinals_seen: set[int] = set()
        self._response: Response | None = None
        self._last_response: Response | None = None
        self._counts_by_record = False
        self._last_total: Any = None
        self._calls: dict[str, Called] = {}
        self._open_words: dict[str, list[Spoken]] = {"user": [], "assistant": []}
        self._open_thoughts: list[Thought] = []
        self._open_searches: list[Searched] = []
        self._compactions: list[Compacted] = []
        self._summary_of: dict[str, Spoken] = {}

    # ------------------------------------------------------------------ records

    def feed(self, records: Iterable[Record]) -> None:
        """Take in the records of a file, in its order."""
        for record in records:
            self._take(record)

    def _take(self, record: Record) -> None:
        value = record.value
        lifted = flat.lift(value)
        if lifted is not None:
            kind, payload = lifted
        else:
            kind, payload = text(value.get("type")) or "", mapping(value.get("payload"))
        self._record = record
        self._note_time(moment(value.get("timestamp")) if lifted is None else None)
        self._note_ordinal(integer(value.get("ordinal")))
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
                self._compacted(payload)
            case "token_usage_record":
                self._usage_record(payload)
            case _:
                self._count(kind)

    def _count(self, name: str) -> None:
        self.unread[name, name in _BOOKKEEPING] += 1

    def _here(self) -> Location:
        assert self._record is not None
        return self._record.location

    def _draft_fields(self, own_id: str | None = None) -> dict[str, Any]:
        assert self._record is not None
        key: tuple[str | int, ...]
        if own_id:
            key = (own_id,)
        elif self._ordinal is not None:
            key = ("ordinal", self._ordinal)
        else:
            key = ("line", self._record.line)
        return {
            "key": key,
            "sources": [self._here()],
            "at": self._at,
            "ordinal": self._ordinal,
            "turn": self._turn,
            "model": self._model,
            "cwd": self._cwd,
        }

    # ------------------------------------------------------------------ order and time

    def _note_time(self, at: datetime | None) -> None:
        self._at = at
        if at is None:
            return
        self.first_at = at if self.first_at is None else min(self.first_at, at)
        previous, self._previous_at = self._previous_at, at
        self.last_at = at if self.last_at is None else max(self.last_at, at)
        if previous is not None and at < previous:
            self._note("time_reversal", f"{at:%H:%M:%S.%f} comes after {previous:%H:%M:%S.%f}")

    def _note_ordinal(self, ordinal: int | None) -> None:
        self._ordinal = ordinal
        if ordinal is None:
            if self._ordinals_seen:
                self._note("missing_ordinal", "written by a release that numbers no records")
            return
        if ordinal in self._ordinals_seen:
            self._note("duplicate_ordinal", f"ordinal {ordinal} was used before")
        self._ordinals_seen.add(ordinal)

    def _note(self, kind: str, why: str) -> None:
        assert self._record is not None
        self.damage.append(
            Damage(
                kind=kind,
                source=self.source,
                line=self._record.line,
                offset=self._record.offset,
                why=why,
            )
        )

    # ------------------------------------------------------------------ session and turns

    def _session_meta(self, payload: dict[str, Any]) -> None:
        self._count("session_meta")
        if not self.meta:
            self.meta = payload
            self._cwd = text(payload.get("cwd"))

    def _turn_context(self, payload: dict[str, Any]) -> None:
        self._count("turn_context")
        turn = text(payload.get("turn_id"))
        if turn is not None and turn != self._turn:
            self._begin_turn(turn)
        self._cwd = text(payload.get("cwd")) or self._cwd
        model = text(payload.get("model"))
        if model is not None:
            self._model = model
            self.models.append(model)

    def _begin_turn(self, turn: str | None) -> None:
        self._turn = turn
        self._end_response()
        self._close_words()
        self._open_thoughts.clear()
        self._open_searches.clear()

    def _close_words(self) -> None:
        for words in self._open_words.values():
            words.clear()

    # ------------------------------------------------------------------ responses and usage

    def _by_model(self, draft: Draft) -> None:
        """Count a draft to the answer that the model is giving."""
        if self._response is None:
            line = self._record.line if self._record else 0
            self._response = Response(id=id_by_place(line))
        draft.response = self._response
        self._response.drafts.append(draft)

    def _end_response(self) -> None:
        if self._response is not None:
            self._last_response, self._response = self._response, None

    def _usage_record(self, payload: dict[str, Any]) -> None:
        self._count("token_usage_record")
        self._counts_by_record = True
        response = self._response
        self._end_response()
        if response is None:
            return
        response.id = text(payload.get("response_id")) or response.id
        response.usage = _usage(payload.get("usage"))
        last = response.drafts[-1]
        if isinstance(last, Spoken):
            self._summary_of[response.id] = last

    def _token_count(self, payload: dict[str, Any]) -> None:
        info = payload.get("info")
        total = mapping(info).get("total_token_usage")
        response = self._response or self._last_response
        self._end_response()
        if total is None or total == self._last_total:
            return
        self._last_total = total
        if response is not None and response.usage is None and not self._counts_by_record:
            response.usage = _usage(mapping(info).get("last_token_usage"))

    # ------------------------------------------------------------------ response items

    def _response_item(self, form: str, payload: dict[str, Any]) -> None:
        passed = mapping(payload.get("internal_chat_message_metadata_passthrough"))
        turn = text(passed.get("turn_id"))
        before, self._turn = self._turn, turn or self._turn
        match form:
            case "message":
                self._message(payload)
            case "reasoning":
                self._reasoning(payload)
            case "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call":
                self._call(form, payload)
            case "function_call_output" | "custom_tool_call_output" | "tool_search_output":
                self._output(form, payload)
            case "web_search_call":
                status = text(payload.get("status"))
                self._search(text(payload.get("id")), payload.get("action"), status, "item")
            case "image_generation_call":
                self._image_call(payload)
            case "agent_message":
                self._agent_message(payload)
            case "compaction" | "compaction_summary":
                self._sealed_compaction(payload)
            case _:
                self._count(f"response_item/{form}")
        self._turn = before

    def _message(self, payload: dict[str, Any]) -> None:
        role = payload.get("role")
        if role not in ("user", "assistant", "developer", "system"):
            self._count("response_item/message")
            return
        content = content_of(payload.get("content"))
        marked = authors.tags(payload) if len(content) == len(items(payload.get("content"))) else []
        if authors.LETTER in {kind for kind, _ in marked}:
            sender, _ = authors.opened(spoken_text(content))
            self._letter(text(payload.get("id")), content, sender or "agent")
            return
        draft = Spoken(
            **self._draft_fields(text(payload.get("id"))),
            role="developer" if role == "system" else role,
            own_id=text(payload.get("id")),
            content=content,
            authors=tuple(author for _, author in marked),
            kinds=tuple(kind for kind, _ in marked),
            phase=text(payload.get("phase")),
        )
        if role == "user":
            self._hear_of_agent(spoken_text(content))
        self._hear_words(draft, "item")

    def _hear_words(self, draft: Spoken, vocabulary: Vocabulary) -> None:
        """Take in words: as another telling of what is known, or as a message of their own.

        Each vocabulary tells a message once, so equal words told twice by one are two.
        """
        draft.told.add(vocabulary)
        open_words = self._open_words.get(draft.role)
        known = None if open_words is None else _same_message(open_words, draft, vocabulary)
        if known is None:
            if open_words is not None:
                self._new_words(draft.role)
                open_words.append(draft)
            self.drafts.append(draft)
            if draft.role == "assistant":
                self._by_model(draft)
            else:
                self._end_response()
            return
        known.sources += draft.sources
        known.told.add(vocabulary)
        known.own_id = known.own_id or draft.own_id
        known.phase = known.phase or draft.phase
        known.typed = known.typed or draft.typed
        if vocabulary == "item":
            known.content, known.authors, known.kinds = draft.content, draft.authors, draft.kinds
            known.own_id = draft.own_id or known.own_id

    def _new_words(self, role: str) -> None:
        """Close what words of one side end: an item never comes after the other has spoken."""
        if role == "user":
            self._open_words["assistant"].clear()
        else:
            user = self._open_words["user"]
            user[:] = [one for one in user if "item" in one.told]

    def _reasoning(self, payload: dict[str, Any]) -> None:
        texts = [part.text for part in content_of(payload.get("summary")) if isinstance(part, Text)]
        raw = [part.text for part in content_of(payload.get("content")) if isinstance(part, Text)]
        own_id = text(payload.get("id"))
        draft = Thought(
            **self._draft_fields(own_id),
            own_id=own_id,
            texts=texts + raw,
            sealed=text(payload.get("encrypted_content")),
        )
        self._hear_thought(draft, "item")

    def _hear_thought(self, draft: Thought, vocabulary: Vocabulary) -> None:
        """Take in a whole thought: with what told it, or parts of it, before."""
        draft.told.add(vocabulary)
        known = [one for one in self._open_thoughts if _same_thought(one, draft, vocabulary)]
        if not known:
            if draft.texts or draft.sealed is not None:
                self._new_thought(draft)
            return
        first, *others = known
        if "echo" in first.told and len(first.told) == 1:
            for one in others:
                if one.told == {"echo"}:
                    first.sources += one.sources
                    first.echoed += one.echoed
                    self._drop(one)
                    self._open_thoughts.remove(one)
        first.sources += draft.sources
        first.told.add(vocabulary)
        first.texts = draft.texts or first.texts
        first.sealed = draft.sealed or first.sealed
        first.own_id = draft.own_id or first.own_id

    def _hear_part_of_thought(self, words: str | None) -> None:
        """Take in an echo, which tells one part of a thought."""
        if words is None:
            self._count("event_msg/agent_reasoning")
            return
        for one in self._open_thoughts:
            whole = one.told != {"echo"}
            if whole and one.echoed.count(words) < one.texts.count(words):
                one.sources.append(self._here())
                one.echoed.append(words)
                one.told.add("echo")
                return
        draft = Thought(**self._draft_fields(), texts=[words], echoed=[words], told={"echo"})
        self._new_thought(draft)

    def _new_thought(self, draft: Thought) -> None:
        self._open_thoughts.append(draft)
        self.drafts.append(draft)
        self._by_model(draft)

    def _drop(self, draft: Draft) -> None:
        self.drafts.remove(draft)
        if draft.response is not None:
            draft.response.drafts.remove(draft)

    # ------------------------------------------------------------------ calls

    def _call(self, form: str, payload: dict[str, Any]) -> None:
        call_id = text(payload.get("call_id")) or text(payload.get("id"))
        name = text(payload.get("name")) or ""
        arguments: Any = payload.get("arguments")
        match form:
            case "local_shell_call":
                name, arguments = "local_shell", payload.get("action")
            case "tool_search_call":
                name = "tool_search"
            case "custom_tool_call":
                arguments = payload.get("input")
            case _:
                arguments = _arguments(arguments)
        known = self._calls.get(call_id) if call_id else None
        if known is not None and not known.has_call and not known.has_output:
            draft = known
            draft.sources.append(self._here())
        else:
            draft = Called(**self._draft_fields(call_id), call_id=call_id)
            if call_id:
                self._calls[call_id] = draft
            self.drafts.append(draft)
        draft.has_call = True
        draft.name, draft.arguments = name, arguments
        draft.namespace = text(payload.get("namespace"))
        draft.custom = form == "custom_tool_call"
        if draft.response is None:
            self._by_model(draft)

    def _output(self, form: str, payload: dict[str, Any]) -> None:
        self._end_response()
        call_id = text(payload.get("call_id"))
        draft = self._calls.get(call_id) if call_id else None
        if draft is None or draft.has_output:
            # A result that no call asked for, such as the objective of a goal, is kept.
            draft = Called(
                **self._draft_fields(text(payload.get("id")) or call_id),
                call_id=call_id,
                name=text(payload.get("name")) or "",
                namespace=text(payload.get("namespace")),
            )
            self.drafts.append(draft)
        else:
            draft.sources.append(self._here())
        draft.has_output = True
        draft.ended_at = self._at
        output: Any = payload.get("tools") if form == "tool_search_output" else None
        draft.output = payload.get("output") if output is None else [{"tools": output}]
        self._hear_result(draft)

    def _hear_result(self, draft: Called) -> None:
        """Note what one call's result says of another call."""
        if not isinstance(draft.output, str):
            return
        if draft.name == tools.STDIN:
            session = str(mapping(draft.arguments).get("session_id"))
            result = tools.command_result("exec_command", draft.output)
            if result is not None and result.exit_code is not None:
                for other in self._calls.values():
                    if other.later_exit_code is None and _background_id(other) == session:
                        other.later_exit_code = result.exit_code
        elif draft.name == tools.WAIT:
            for agent_id, state in mapping(_json(draft.output).get("status")).items():
                self._report(agent_id, state)

    def _hear_of_agent(self, words: str) -> None:
        found = _NOTIFICATION.fullmatch(words.strip())
        if found is not None:
            value = _json(found[1])
            agent = text(value.get("agent_path")) or text(value.get("agent_id"))
            self._report(agent, value.get("status"))

    def _report(self, agent_id: str | None, state: Any) -> None:
        report = text(mapping(state).get("completed"))
        if agent_id is None or report is None:
            return
        for draft in self._calls.values():
            if draft.report is None and draft.name == tools.SPAWN and _spawned(draft, agent_id):
                draft.report = report

    def _evidence(self, evidence: Evidence, vocabulary: Vocabulary) -> None:
        draft = self._calls.get(evidence.id) if evidence.id else None
        if draft is not None and vocabulary not in draft.told:
            draft.told.add(vocabulary)
            draft.evidence = draft.evidence or evidence
            draft.sources.append(self._here())
            return
        draft = Called(
            **self._draft_fields(evidence.id),
            call_id=evidence.id,
            told={vocabulary},
            evidence=evidence,
            ended_at=self._at,
            caller=self._running_script(evidence),
        )
        if evidence.id:
            self._calls[evidence.id] = draft
        self.drafts.append(draft)
        if draft.caller is not None:
            draft.response = draft.caller.response
        else:
            self._by_model(draft)

    def _running_script(self, evidence: Evidence) -> Called | None:
        """Return the code-mode script that an event without a call belongs to.

        Such events bear ids of their own, ``exec-…``; they are recorded while the script runs,
        or, for what it left running, after it.
        """
        if evidence.id is None or not evidence.id.startswith("exec-"):
            return None
        scripts = [
            one
            for one in self._calls.values()
            if one.custom and one.name == tools.SCRIPT and one.has_call
        ]
        running = [one for one in scripts if not one.has_output]
        return (running or scripts or [None])[-1]

    def _image_call(self, payload: dict[str, Any]) -> None:
        draft = Called(
            **self._draft_fields(text(payload.get("id"))),
            call_id=text(payload.get("id")),
            has_call=True,
            name="image_generation",
            arguments={"prompt": payload.get("revised_prompt")},
            ended_at=self._at,
        )
        result = text(payload.get("result"))
        if result is not None:
            draft.has_output = True
            draft.output = [{"type": "input_image", "image_url": f"data:image/png;base64,{result}"}]
        self.drafts.append(draft)
        self._by_model(draft)

    def _agent_message(self, payload: dict[str, Any]) -> None:
        content = content_of(payload.get("content"))
        sender = text(payload.get("author")) or "agent"
        self._letter(text(payload.get("id")), content, sender)

    def _letter(self, own_id: str | None, content: Content, sender: str) -> None:
        """Take in what one agent wrote to another, which Codex puts under a heading."""
        parts = tuple(self._opened(part) for part in content)
        draft = Spoken(
            **self._draft_fields(own_id),
            role="user",
            own_id=own_id,
            content=tuple(part for part in parts if part != Text(text="")),
            from_agent=sender,
        )
        self._end_response()
        self.drafts.append(draft)
        for called in self._calls.values():
            if called.name == tools.SPAWN and called.report is None and _path(called) == sender:
                called.report = content_text(draft.content)

    def _opened(self, part: Part) -> Part:
        """Return a part of a letter without its heading, and unsealed where it is no secret.

        A provider that seals nothing has the task in plain words, as the spawning call does.
        """
        if isinstance(part, Text):
            return Text(text=authors.opened(part.text)[1])
        if isinstance(part, Opaque) and any(
            called.name == tools.SPAWN and mapping(called.arguments).get("message") == part.data
            for called in self._calls.values()
        ):
            return Text(text=part.data)
        return part

    def _agent_activity(self, item: dict[str, Any]) -> None:
        """Take in where a spawned agent runs; its end is told elsewhere."""
        draft = self._calls.get(text(item.get("id")) or "")
        if draft is None or item.get("kind") != "started" or draft.evidence is not None:
            self._count("event_msg/item_completed/SubAgentActivity")
            return
        self._evidence(
            Evidence(
                kind="agent",
                id=draft.call_id,
                at=self._at,
                agent_id=text(item.get("agent_thread_id")),
            ),
            "completed",
        )

    # ------------------------------------------------------------------ searches

    def _search(
        self, own_id: str | None, action: Any, status: str | None, vocabulary: Vocabulary
    ) -> None:
        asked = mapping(action)
        for one in self._open_searches:
            same = (own_id is not None and own_id == one.own_id) or one.action == asked
            if same and vocabulary not in one.told:
                one.sources.append(self._here())
                one.told.add(vocabulary)
                return
        draft = Searched(
            **self._draft_fields(own_id),
            own_id=own_id,
            action=asked,
            query=text(asked.get("query")),
            status="failed" if status == "failed" else "completed",
            told={vocabulary},
        )
        self._open_searches.append(draft)
        self.drafts.append(draft)
        self._by_model(draft)

    # ------------------------------------------------------------------ events

    def _event(self, form: str, payload: dict[str, Any]) -> None:
        match form:
            case "task_started" | "turn_started":
                self._count(f"event_msg/{form}")
                self._begin_turn(text(payload.get("turn_id")))
            case "task_complete" | "turn_complete":
                self._count(f"event_msg/{form}")
                self._turn_ended(payload)
            case "turn_aborted":
                self._count(f"event_msg/{form}")
                self._interrupt(text(payload.get("turn_id")) or self._turn)
            case "user_message":
                self._typed(payload.get("message"), payload, "echo")
            case "agent_message":
                phase = text(payload.get("phase"))
                self._answered(text(payload.get("message")), None, phase, "echo")
            case "agent_reasoning" | "agent_reasoning_raw_content":
                self._hear_part_of_thought(text(payload.get("text")))
            case "item_completed":
                item = mapping(payload.get("item"))
                turn = text(payload.get("turn_id"))
                before, self._turn = self._turn, turn or self._turn
                self._item(text(item.get("type")) or "", item)
                self._turn = before
            case "token_count":
                self._count(f"event_msg/{form}")
                self._token_count(payload)
            case "web_search_end":
                action = mapping(payload.get("action")) or {"query": payload.get("query")}
                self._search(text(payload.get("call_id")), action, None, "echo")
            case "context_compacted":
                self._compaction_echo(None)
            case "thread_rolled_back":
                self._count(f"event_msg/{form}")
                self._roll_back(integer(payload.get("num_turns")) or 0)
            case "thread_name_updated":
                self._count(f"event_msg/{form}")
                self.title = text(payload.get("thread_name")) or self.title
            case "error":
                self._error(payload)
            case _ if form in _REVIEWS:
                self._keep(f"event_msg/{form}", payload, None)
            case _:
                evidence = evidence_of(form, payload, self._at)
                if evidence is None:
                    self._count(f"event_msg/{form}")
                else:
                    self._evidence(evidence, "echo")

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
                thought = Thought(**self._draft_fields(own_id), own_id=own_id, texts=texts)
                self._hear_thought(thought, "completed")
            case "WebSearch":
                action = mapping(item.get("action")) or {"query": item.get("query")}
                self._search(own_id, action, None, "completed")
            case "ContextCompaction":
                self._compaction_echo(own_id)
            case "SubAgentActivity":
                self._agent_activity(item)
            case _ if form in _REVIEWS:
                self._keep(f"event_msg/item_completed/{form}", item, own_id)
            case _:
                evidence = evidence_of(form, item, self._at)
                if evidence is None:
                    self._count(f"event_msg/item_completed/{form}")
                else:
                    self._evidence(evidence, "completed")

    def _typed(self, content: Any, payload: dict[str, Any], vocabulary: Vocabulary) -> None:
        own_id = text(payload.get("id"))
        attached = [
            {"type": "input_image", "image_url": url} for url in items(payload.get("images"))
        ]
        draft = Spoken(
            **self._draft_fields(own_id),
            role="user",
            own_id=own_id,
            content=content_of(content) + content_of(attached),
            typed=True,
        )
        self._hear_words(draft, vocabulary)

    def _answered(
        self, words: str | None, own_id: str | None, phase: str | None, vocabulary: Vocabulary
    ) -> None:
        if words is None:
            self._count("event_msg/agent_message")
            return
        draft = Spoken(
            **self._draft_fields(own_id),
            role="assistant",
            own_id=own_id,
            content=(Text(text=words),),
            phase=phase,
        )
        self._hear_words(draft, vocabulary)

    def _turn_ended(self, payload: dict[str, Any]) -> None:
        error = mapping(payload.get("error"))
        if error:
            self._error(error)
        self._begin_turn(None)

    def _error(self, error: dict[str, Any]) -> None:
        last = self.drafts[-1] if self.drafts else None
        words = text(error.get("message")) or ""
        if isinstance(last, Failed) and last.text == words:
            last.sources.append(self._here())
            return
        raw = error.get("codex_error_info")
        self.drafts.append(Failed(**self._draft_fields(), text=words, raw=raw))

    def _keep(self, record: str, value: dict[str, Any], own_id: str | None) -> None:
        self.drafts.append(
            Kept(**self._draft_fields(own_id), own_id=own_id, record=record, value=value)
        )

    def _interrupt(self, turn: str | None) -> None:
        for draft in self._calls.values():
            if not draft.has_output and (turn is None or draft.turn == turn):
                draft.interrupted = True

    # ------------------------------------------------------------------ compaction and rewinding

    def _compacted(self, payload: dict[str, Any]) -> None:
        words = text(payload.get("message")) or ""
        history = items(payload.get("replacement_history"))
        boundary = Compacted(
            **self._draft_fields(),
            summary=(Text(text=words),) if words else _sealed(history),
        )
        answered = self._summary_of.get(text(payload.get("compaction_response_id")) or "")
        if answered is not None and words.endswith(content_text(answered.content)):
            # The model's answer to the request to summarise was never said to anybody.
            boundary.summary = answered.content
            boundary.sources[:0] = answered.sources
            self._drop(answered)
        boundary.kept = self._kept(history)
        for draft in self.drafts:
            if draft.superseded_by is None and draft not in boundary.kept:
                draft.superseded_by = boundary
        self._close_words()
        self._end_response()
        self._compactions.append(boundary)
        self.drafts.append(boundary)

    def _sealed_compaction(self, payload: dict[str, Any]) -> None:
        sealed = text(payload.get("encrypted_content"))
        content = (Opaque(form="encrypted", data=sealed),) if sealed else None
        self.drafts.append(
            Compacted(**self._draft_fields(text(payload.get("id"))), summary=content)
        )

    def _compaction_echo(self, own_id: str | None) -> None:
        if self._compactions:
            self._compactions.pop(0).sources.append(self._here())
            return
        self.drafts.append(Compacted(**self._draft_fields(own_id), own_id=own_id))

    def _kept(self, history: list[Any]) -> list[Draft]:
        """Return the messages that a replaced history still holds, by their id or their words."""
        kept: list[Draft] = []
        users = [
            one
            for one in self.drafts
            if isinstance(one, Spoken) and one.role == "user" and one.superseded_by is None
        ]
        for value in map(mapping, history):
            if value.get("role") != "user":
                continue
            own_id = text(value.get("id"))
            words = spoken_text(content_of(value.get("content")))
            for draft in users:
                same = own_id == draft.own_id if own_id and draft.own_id else None
                if same or (same is None and spoken_text(draft.content) == words):
                    kept.append(draft)
                    users.remove(draft)
                    break
        return kept

    def _roll_back(self, turns: int) -> None:
        """Take back the last turns: all from the person's n-th last prompt on."""
        prompts = [
            at
            for at, draft in enumerate(self.drafts)
            if isinstance(draft, Spoken)
            and draft.role == "user"
            and not isinstance(draft.superseded_by, Superseded)
            and self._is_prompt(draft)
        ]
        if turns < 1:
            return
        start = prompts[-turns] if turns <= len(prompts) else 0
        undone = self.drafts[start:]
        for draft in undone:
            draft.superseded_by = Superseded(id=None, why="rewind")
        for draft in self.drafts[:start]:
            if draft.superseded_by in undone:
                draft.superseded_by = None
        self._begin_turn(None)

    @staticmethod
    def _is_prompt(draft: Spoken) -> bool:
        if draft.typed or "human" in draft.authors:
            return True
        untagged = draft.from_agent is None and not any(draft.authors)
        return untagged and not authors.is_by_harness(draft.content)


def _same_message(known: list[Spoken], wanted: Spoken, vocabulary: Vocabulary) -> Spoken | None:
    """Return the first message that the vocabulary has not told yet, by its id or its words."""
    untold = [one for one in known if vocabulary not in one.told]
    for one in untold:
        if wanted.own_id and one.own_id == wanted.own_id:
            return one
    for one in untold:
        if spoken_text(one.content) == spoken_text(wanted.content) or (
            content_text(one.content) == content_text(wanted.content)
        ):
            return one
    return None


def _same_thought(known: Thought, wanted: Thought, vocabulary: Vocabulary) -> bool:
    """Whether a thought told whole is one that others have told, whole or in part."""
    if vocabulary in known.told:
        return False
    if known.own_id and wanted.own_id:
        return known.own_id == wanted.own_id
    if known.told == {"echo"}:
        return all(words in wanted.texts for words in known.texts)
    return bool(wanted.texts) and known.texts == wanted.texts


def _usage(value: Any) -> Usage | None:
    counts = mapping(value)
    if not counts:
        return None
    return Usage(
        scope="response",
        accounting="delta",
        input=integer(counts.get("input_tokens")),
        output=integer(counts.get("output_tokens")),
        cache_read=integer(counts.get("cached_input_tokens")),
        cache_write=integer(counts.get("cache_write_input_tokens")),
        reasoning=integer(counts.get("reasoning_output_tokens")),
        total=integer(counts.get("total_tokens")),
    )


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parsed(value)
    except ValueError:
        return value


def _json(words: str) -> dict[str, Any]:
    try:
        return mapping(parsed(words))
    except ValueError:
        return {}


def _background_id(draft: Called) -> str | None:
    if draft.name != "exec_command" or not isinstance(draft.output, str):
        return None
    result = tools.command_result(draft.name, draft.output)
    return None if result is None else result.background_id


def _path(draft: Called) -> str | None:
    """Return the path under which a spawned agent writes to others."""
    output = draft.output if isinstance(draft.output, str) else ""
    return text(_json(output).get("task_name"))


def _spawned(draft: Called, agent_id: str) -> bool:
    if draft.evidence is not None and draft.evidence.agent_id == agent_id:
        return True
    output = draft.output if isinstance(draft.output, str) else ""
    return text(_json(output).get("agent_id")) == agent_id


def _sealed(history: list[Any]) -> tuple[Opaque, ...] | None:
    for value in map(mapping, history):
        sealed = text(value.get("encrypted_content"))
        if str(value.get("type")).startswith("compaction") and sealed:
            return (Opaque(form="encrypted", data=sealed),)
    return None
