"""The model's answers put together: one record holds a thought, words and parallel calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from transcripts.model import Call, Message, PermissionRequest, Reasoning, SubAgent, Usage
from transcripts.stores.copilot.reading.context import detail
from transcripts.stores.copilot.thoughts import thought_fields
from transcripts.stores.copilot.writing.eventlog import EventLog, stamp
from transcripts.stores.copilot.writing.ledger import Ledger
from transcripts.stores.copilot.writing.requests import Request, human_response, is_broken_off

Role = Literal["thought", "words", "call"]


class Answer:
    """The messages that become one ``assistant.message``."""

    def __init__(self, first: Message) -> None:
        self.agent = first.agent
        self.response = first.response
        self.author = first.author
        self.thought: Reasoning | None = None
        self.words: str | None = None
        self.words_of: Message | None = None
        self.calls: list[tuple[Call, list[Request]]] = []
        self.permissions: list[PermissionRequest] = []

    @property
    def members(self) -> list[Message]:
        """The messages, in order, each once."""
        found: list[Message] = [self.thought] if self.thought is not None else []
        if self.words_of is not None and not any(self.words_of is call for call, _ in self.calls):
            found.append(self.words_of)
        return [*found, *(call for call, _ in self.calls)]

    def takes(self, message: Message, role: Role) -> bool:
        """Whether a further message can be part of this answer without losing its place."""
        mine = (self.agent, self.author, self.response)
        if (message.agent, message.author, message.response) != mine or role == "thought":
            return False
        if role == "words":
            return self.words is None and not self.calls
        # Without the provider's id nothing says that two calls were made at once.
        return self.response is not None or not self.calls


class Composer:
    """Writes answers: one at a time is open, for no two threads share a record.

    ``aborted`` are the calls behind which an abort comes by itself.
    """

    def __init__(self, log: EventLog, ledger: Ledger, aborted: frozenset[str]) -> None:
        self._aborted = aborted
        self._log = log
        self._ledger = ledger
        self._native = log.native
        self._answer: Answer | None = None
        self._closing: list[tuple[SubAgent, Request]] = []
        self._turns: dict[str | None, int] = {}
        self._interactions: dict[str | None, str] = {}

    def begin_turn(self, message: Message) -> str:
        """Begin a turn on a thread and return the id of its interaction."""
        self._turns[message.agent] = 0
        interaction = self._log.uuid("interaction", message.id)
        self._interactions[message.agent] = interaction
        return interaction

    def think(self, message: Reasoning) -> None:
        """Add a thought of this same store."""
        self._join(message, "thought").thought = message

    def say(self, message: Message, words: str) -> None:
        """Add words; ``message`` is what they are of."""
        answer = self._join(message, "words")
        answer.words, answer.words_of = words, message

    def call(self, message: Call, requests: list[Request]) -> None:
        """Add a call."""
        self._join(message, "call").calls.append((message, requests))

    def permit(self, message: PermissionRequest) -> None:
        """Add a permission: before the results of the answer that asked for it, if it is open."""
        answer = self._answer
        if answer is not None and any(call.id == message.caller for call, _ in answer.calls):
            answer.permissions.append(message)
        else:
            self.close(message.agent)
            self._write_permission(message)

    def close(self, agent: str | None) -> None:
        """Write the open answer before a thread's next event, and the reports it waited for."""
        answer, self._answer = self._answer, None
        if answer is not None:
            self._write(answer)
        waiting, self._closing = self._closing, []
        for call, request in sorted(waiting, key=lambda entry: _ended(entry[0])):
            if agent is None or call.agent == agent:
                self._close_sub_agent(call, request)
            else:
                self._closing.append((call, request))

    def complete(self, call: Call, request: Request) -> None:
        """Write what came of a call, if anything did."""
        if not request.complete:
            return
        response = human_response(call, request) if self._native else None
        if response is not None:
            fields = {
                "requestId": self._log.uuid("response", request.id),
                "toolCallId": request.id,
                "actor": "unknown",
                "response": response,
            }
            self._log.emit("human_response.recorded", fields, call, own=False, timed=False)
        self._log.tick(call.ended_at)
        fields = {"toolCallId": request.id, **request.complete}
        self._log.emit("tool.execution_complete", fields, call, own=False, timed=False)

    def _join(self, message: Message, role: Role) -> Answer:
        if self._answer is None or not self._answer.takes(message, role):
            self.close(message.agent)
            self._answer = Answer(message)
        return self._answer

    # One answer.

    def _write(self, answer: Answer) -> None:
        members = answer.members
        first = members[0]
        for member in members[1:]:
            if member.at and first.at and stamp(member.at) != stamp(first.at):
                self._ledger.lose("time-moved", member, "an answer is recorded at one time")
        model = next((one.model for one in members if one.model is not None), None)
        shared: dict[str, Any] = {"model": model} if self._native and model is not None else {}
        turn = self._turn(answer)
        if turn:
            self._log.emit("assistant.turn_start", dict(turn), first, own=False)
        data = self._fields(answer) | shared | turn
        usage = next((one.usage for one in members if one.usage is not None), None)
        if self._native and usage is not None:
            self._count(usage, data, first)
        self._log.emit("assistant.message", data, first, own=False)
        by_turn = {"turnId": turn["turnId"]} if turn else {}
        self._write_calls(answer, shared | by_turn)
        if turn:
            self._log.emit("assistant.turn_end", dict(by_turn), first, own=False, timed=False)
        if any(is_broken_off(call) and call.id not in self._aborted for call, _ in answer.calls):
            self._log.emit("abort", {"reason": "user_initiated"}, first, own=False, timed=False)

    def _turn(self, answer: Answer) -> dict[str, Any]:
        """Return the turn of an answer; what the CLI itself wrote has none."""
        if answer.author == "harness":
            return {}
        number = self._turns.get(answer.agent, 0)
        self._turns[answer.agent] = number + 1
        interaction = self._interactions.setdefault(
            answer.agent, self._log.uuid("interaction", answer.agent or "")
        )
        return {"turnId": str(number), "interactionId": interaction}

    def _fields(self, answer: Answer) -> dict[str, Any]:
        own = self._message_id(answer)
        data: dict[str, Any] = {
            "messageId": own,
            "content": answer.words or "",
            "toolRequests": [
                request.requested() for _, requests in answer.calls for request in requests
            ],
        }
        if self._native and answer.response and answer.response != own:
            data["apiCallId"] = answer.response
        if answer.thought is not None:
            data |= thought_fields(answer.thought.content)
        return data

    def _message_id(self, answer: Answer) -> str:
        """Return the answer's own message id where it is of this store, else a derived one."""
        for member in (answer.thought, answer.words_of):
            if self._native and member is not None and member.external_id:
                return member.external_id
        if self._native and answer.author == "harness" and answer.response:
            return answer.response
        return self._log.uuid("answer", answer.members[0].id)

    def _count(self, usage: Usage, data: dict[str, Any], first: Message) -> None:
        """Write an answer's usage: a record of its own, or the one field of older releases."""
        counts = {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadTokens": usage.cache_read,
            "cacheWriteTokens": usage.cache_write,
            "reasoningTokens": usage.reasoning,
        }
        known = {name: count for name, count in counts.items() if count is not None}
        response = data.get("apiCallId")
        if set(known) <= {"outputTokens"} or response is None:
            data |= {name: count for name, count in known.items() if name == "outputTokens"}
            return
        fields = {"model": data.get("model", ""), "apiCallId": response, **known}
        self._log.emit("session.usage_record", {"usage": fields}, first, own=False)

    def _write_calls(self, answer: Answer, shared: dict[str, Any]) -> None:
        for call, requests in answer.calls:
            for request in requests:
                self._log.emit("tool.execution_start", request.started() | shared, call, own=False)
                if isinstance(call, SubAgent) and call.agent_id:
                    self._start_sub_agent(call, request)
        for permission in answer.permissions:
            self._write_permission(permission)
        for call, requests in sorted(answer.calls, key=lambda entry: _ended(entry[0])):
            for request in requests:
                if isinstance(call, SubAgent) and call.agent_id and not call.background:
                    self._closing.append((call, request))
                else:
                    self.complete(call, request)

    # Subagents and permissions.

    def _start_sub_agent(self, call: SubAgent, request: Request) -> None:
        data: dict[str, Any] = _agent_fields(call, request)
        data["agentDescription"] = call.description or ""
        data["executionMode"] = "background" if call.background else "sync"
        self._log.emit("subagent.started", data, call, own=False, agent=call.agent_id)

    def _close_sub_agent(self, call: SubAgent, request: Request) -> None:
        """Write a subagent's report, after what its thread did."""
        data = _agent_fields(call, request)
        if not request.complete:
            return
        event = "subagent.completed"
        if request.complete.get("success") is False:
            event = "subagent.failed"
            data["error"] = request.complete["error"]["message"]
        self._log.emit(event, data, call, own=False, timed=False, agent=call.agent_id)
        self.complete(call, request)

    def _write_permission(self, message: PermissionRequest) -> None:
        request_id = message.request_id or self._log.uuid("permission", message.id)
        asked: Any = message.arguments if isinstance(message.arguments, dict) else {}
        fields: dict[str, Any] = {"requestId": request_id, "permissionRequest": dict(asked)}
        self._log.emit("permission.requested", fields, message)
        if message.status == "unresolved":
            return
        granted = "approved" if message.decision == "allowed" else "denied"
        kind = detail(message.provenance) or granted
        fields = {"requestId": request_id, "result": {"kind": kind}}
        if isinstance(asked.get("toolCallId"), str):
            fields["toolCallId"] = asked["toolCallId"]
        if message.decided_by:
            fields["decisionSource"] = message.decided_by
        self._log.emit("permission.completed", fields, message, own=False)


def _agent_fields(call: SubAgent, request: Request) -> dict[str, Any]:
    name = call.agent_type or "task"
    return {"toolCallId": request.id, "agentName": name, "agentDisplayName": name}


def _ended(call: Call) -> datetime:
    """Return when a call ended, for the order of results; without a time it is the last."""
    return call.ended_at or datetime.max.replace(tzinfo=UTC)
