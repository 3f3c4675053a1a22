"""Calls joined with their results and with what the events say of them, by their id.

An id that is used again is another call; a result or an event without a call stands for
itself. What one call's result says of another call is told to that one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from transcripts.model import Content, Opaque, Part, Text
from transcripts.narration import content_text
from transcripts.stores.codex import tools
from transcripts.stores.codex.dialects.shapes import Output
from transcripts.stores.codex.foreign import json_object, mapping, text
from transcripts.stores.codex.reading import authors
from transcripts.stores.codex.reading.drafts import Called, Evidence, Spoken, Vocabulary
from transcripts.stores.codex.reading.state import State

_ERRORED = re.compile(r"Agent errored: (.*?)(?:\n\n|\Z)", re.DOTALL)
"""How one agent's letter begins that tells another that it failed."""
_NOTIFICATION = re.compile(
    r"<subagent_notification>\s*(\{.*\})\s*</subagent_notification>", re.DOTALL
)


class Joining:
    """The calls of a rollout, by their ids."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._calls: dict[str, Called] = {}
        # Those that are looked for by what they are; all but the last under the same ids.
        self._scripts: dict[str, Called] = {}
        self._running: dict[str, Called] = {}
        self._spawning: dict[str, Called] = {}
        self._in_background: defaultdict[str, list[Called]] = defaultdict(list)

    def _put(self, call_id: str, draft: Called) -> None:
        """Let a draft be the call of its id: an id that is used again is another call."""
        self._calls[call_id] = draft
        for special in (self._scripts, self._running, self._spawning):
            special.pop(call_id, None)

    def call(
        self,
        call_id: str | None,
        name: str,
        arguments: Any,
        namespace: str | None,
        *,
        custom: bool = False,
    ) -> None:
        """Take in a call; a custom one is of a tool that takes free text."""
        known = self._calls.get(call_id) if call_id else None
        if known is not None and not known.has_call and not known.has_output:
            draft = known
            draft.sources.append(self._state.here())
        else:
            draft = Called(*self._state.standing(call_id), call_id=call_id)
            if call_id:
                self._put(call_id, draft)
            self._state.drafts.append(draft)
        draft.has_call = True
        draft.name, draft.arguments = name, arguments
        draft.namespace = namespace
        draft.custom = custom
        if call_id and name == tools.SPAWN:
            self._spawning[call_id] = draft
        if call_id and name == tools.SCRIPT and draft.custom:
            self._scripts[call_id] = self._running[call_id] = draft
        if draft.response is None:
            self._state.by_model(draft)

    def output(self, result: Output) -> None:
        """Take in a result."""
        self._state.end_response()
        call_id = result.call_id
        draft = self._calls.get(call_id) if call_id else None
        if draft is None or draft.has_output:
            # A result that no call asked for, such as the objective of a goal, is kept.
            draft = Called(
                *self._state.standing(result.id or call_id),
                call_id=call_id,
                name=result.name or "",
                namespace=result.namespace,
            )
            self._state.drafts.append(draft)
        else:
            draft.sources.append(self._state.here())
        draft.has_output = True
        if call_id:
            self._running.pop(call_id, None)
        draft.ended_at = self._state.at
        draft.output = result.output
        session = _background_id(draft)
        if session is not None:
            self._in_background[session].append(draft)
        self._hear_result(draft)

    def _hear_result(self, draft: Called) -> None:
        """Note what one call's result says of another call."""
        if not isinstance(draft.output, str):
            return
        if draft.name == tools.STDIN:
            session = str(mapping(draft.arguments).get("session_id"))
            result = tools.command_result("exec_command", draft.output)
            if result is not None and result.exit_code is not None:
                for other in self._in_background[session]:
                    is_call = self._calls.get(other.call_id or "") is other
                    if other.later_exit_code is None and is_call:
                        other.later_exit_code = result.exit_code
        elif draft.name in tools.WAITS:
            for agent_id, state in mapping(json_object(draft.output).get("status")).items():
                self._report(agent_id, state)

    def notice(self, words: str) -> None:
        """Take in what a notice to the model says of a spawned agent's end."""
        found = _NOTIFICATION.fullmatch(words.strip())
        if found is not None:
            value = json_object(found[1])
            agent = text(value.get("agent_path")) or text(value.get("agent_id"))
            self._report(agent, value.get("status"))

    def _report(self, agent_id: str | None, state: Any) -> None:
        told = mapping(state)
        report, failure = text(told.get("completed")), text(told.get("errored"))
        if agent_id is None or (report is None and failure is None):
            return
        for draft in self._spawning.values():
            if _spawned(draft, agent_id):
                draft.report = draft.report or report
                draft.failure = draft.failure or failure

    def evidence(self, evidence: Evidence, vocabulary: Vocabulary) -> None:
        """Take in what an event or a completed item says of a call."""
        draft = self._calls.get(evidence.id) if evidence.id else None
        if draft is not None and vocabulary not in draft.told:
            draft.told += (vocabulary,)
            draft.evidence = draft.evidence or evidence
            draft.sources.append(self._state.here())
            return
        draft = Called(
            *self._state.standing(evidence.id),
            call_id=evidence.id,
            told=(vocabulary,),
            evidence=evidence,
            ended_at=self._state.at,
            caller=self._running_script(evidence),
        )
        if evidence.id:
            self._put(evidence.id, draft)
        self._state.place(draft, draft.caller)
        if draft.caller is not None:
            draft.response = draft.caller.response
        else:
            self._state.by_model(draft)

    def _running_script(self, evidence: Evidence) -> Called | None:
        """Return the code-mode script that an event without a call belongs to.

        Such events bear ids of their own, ``exec-…``; they are recorded while the script runs,
        or, for what it left running, after it, under the turn that it was begun in.
        """
        if evidence.id is None or not evidence.id.startswith("exec-"):
            return None
        scripts = [*reversed(self._running.values()), *reversed(self._scripts.values())]
        own = (script for script in scripts if script.turn == self._state.turn)
        return next(own, scripts[0] if scripts else None)

    def image(self, payload: dict[str, Any]) -> None:
        """Take in an image that the model made."""
        draft = Called(
            *self._state.standing(text(payload.get("id"))),
            call_id=text(payload.get("id")),
            has_call=True,
            name="image_generation",
            arguments={"prompt": payload.get("revised_prompt")},
            ended_at=self._state.at,
        )
        result = text(payload.get("result"))
        if result is not None:
            draft.has_output = True
            draft.output = [{"type": "input_image", "image_url": f"data:image/png;base64,{result}"}]
        self._state.drafts.append(draft)
        self._state.by_model(draft)

    def letter(self, own_id: str | None, content: Content, sender: str) -> None:
        """Take in what one agent wrote to another, which Codex puts under a heading."""
        parts = tuple(self._opened(part) for part in content)
        draft = Spoken(
            *self._state.standing(own_id),
            role="user",
            own_id=own_id,
            content=tuple(part for part in parts if part != Text(text="")),
            from_agent=sender,
        )
        self._state.end_response()
        self._state.drafts.append(draft)
        for called in self._spawning.values():
            if called.report is None and called.failure is None and _path(called) == sender:
                words = content_text(draft.content)
                failed = _ERRORED.match(words)
                called.report = words if failed is None else None
                called.failure = None if failed is None else failed[1]

    def _opened(self, part: Part) -> Part:
        """Return a part of a letter without its heading, and unsealed where it is no secret.

        A provider that seals nothing has the task in plain words, as the spawning call does.
        """
        if isinstance(part, Text):
            return Text(text=authors.opened(part.text)[1])
        if isinstance(part, Opaque) and any(
            mapping(called.arguments).get("message") == part.data
            for called in self._spawning.values()
        ):
            return Text(text=part.data)
        return part

    def activity(self, item: dict[str, Any]) -> None:
        """Take in where a spawned agent runs; its end is told elsewhere."""
        draft = self._calls.get(text(item.get("id")) or "")
        later = item.get("kind") in _LATER_ACTIVITIES
        if draft is None or later or draft.evidence is not None:
            self._state.count("event_msg/item_completed/SubAgentActivity")
            return
        self.evidence(
            Evidence(
                kind="agent",
                id=draft.call_id,
                at=self._state.at,
                agent_id=text(item.get("agent_thread_id")),
            ),
            "completed",
        )

    def interrupt(self, turn: str | None) -> None:
        """Note that a turn was broken off: what has no result gets none."""
        for draft in self._calls.values():
            if not draft.has_output and (turn is None or draft.turn == turn):
                draft.interrupted = True


_LATER_ACTIVITIES = frozenset({"interacted", "interrupted", "completed"})
"""What is told of an agent that runs already. Any other word, a new one too, says where it runs."""


def _background_id(draft: Called) -> str | None:
    if draft.name != "exec_command" or not isinstance(draft.output, str):
        return None
    if not tools.may_be_in_background(draft.output):
        return None
    result = tools.command_result(draft.name, draft.output)
    return None if result is None else result.background_id


def _path(draft: Called) -> str | None:
    """Return the path under which a spawned agent writes to others."""
    output = draft.output if isinstance(draft.output, str) else ""
    return text(json_object(output).get("task_name"))


def _spawned(draft: Called, agent_id: str) -> bool:
    if draft.evidence is not None and draft.evidence.agent_id == agent_id:
        return True
    output = draft.output if isinstance(draft.output, str) else ""
    return text(json_object(output).get("agent_id")) == agent_id
