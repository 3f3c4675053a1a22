"""A session from what a tool tells of it: words, and calls in two halves, made one message each.

What calls are, and what the words around their results say, is read for every bridge alike
(``claude_calls.py`` and its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import claude_calls
import codex_calls
import copilot_calls
from calling import Called
from saying import Json, numbered, spoken, text

_TYPED: dict[str, Callable[[str], str]] = {
    "claude": claude_calls.typed,
    "codex": codex_calls.typed,
}

_ORIGINS = {"claude": "meta", "codex": "developer", "copilot": "system.notification"}


class Telling:
    """What was said and called in a session, in the order in which a tool tells it."""

    def __init__(self, agent: str, session_id: str, **about: Any) -> None:
        self._agent = agent
        self._session_id = session_id
        self._about = about
        self._said: list[Json | Called] = []
        self._open: dict[str | None, Called] = {}
        self._tasks: dict[str, Json] = {}
        self._boundary: Json | None = None

    def about(self, **about: Any) -> None:
        """Take what a tool says of the session itself."""
        self._about |= {name: value for name, value in about.items() if value is not None}

    def prompt(self, content: list[Json], author: str = "human", **fields: Any) -> None:
        """Take words that stand in the user's place."""
        typed = _TYPED.get(self._agent, str)
        shown = [
            {**part, "text": typed(part["text"])} if part["type"] == "text" else part
            for part in content
        ]
        self._said.append(spoken("UserMessage", author, shown, **fields))

    def harness(self) -> str:
        """Return the origin of what a tool only says that the CLI put there by itself."""
        return _ORIGINS.get(self._agent, "harness")

    def answer(self, words: str, **fields: Any) -> None:
        """Take words of the model's."""
        if self._agent == "codex":
            self._said += codex_calls.said(words, **fields)
        else:
            self._said.append(spoken("AgentMessage", "model", text(words), **fields))

    def thought(self, content: list[Json], **fields: Any) -> None:
        """Take what the model thought."""
        self._said.append(spoken("Reasoning", "model", content, **fields))

    def other(self, message: Json) -> None:
        """Take a message of another kind, as a bridge makes it."""
        self._said.append(message)

    def failure(self, words: str, status_code: int | None, **fields: Any) -> None:
        """Take a failure of the provider."""
        message: Json = {"kind": "Error", "author": "harness", "status": "failed", **fields}
        self._said.append({**message, "text": words, "status_code": status_code})

    def boundary(
        self, summary: list[Json] | None = None, trigger: str | None = None, **fields: Any
    ) -> None:
        """Take a compaction, or the half of it that is not told yet: its mark, or its summary."""
        last = self._boundary
        half = last is not None and (last["summary"] is None) != (summary is None)
        if last is not None and half:
            last["summary"] = last["summary"] or summary
            last["trigger"] = last["trigger"] or trigger
            self._boundary = None
            return
        message: Json = {"kind": "CompactBoundary", "author": "harness", **fields}
        self._boundary = {**message, "summary": summary, "trigger": trigger}
        self._said.append(self._boundary)

    def begin(self, identifier: str | None, name: str, arguments: Any, **fields: Any) -> None:
        """Take a call: it has no result yet."""
        call = Called(
            name=name,
            arguments=arguments,
            cwd=self._about.get("cwd"),
            release=self._about.get("cli_version"),
            fields={"external_id": identifier, **fields},
        )
        self._said.append(call)
        self._open[identifier] = call

    def end(
        self,
        identifier: str | None,
        output: list[Json] | None,
        failed: bool | None = None,
        *,
        details: Any = None,
        denial: str | None = None,
    ) -> None:
        """Take a call's result; one whose call is not told is a call without a name."""
        if identifier not in self._open:
            self.begin(identifier, "", None)
        call = self._open[identifier]
        call.output = output
        call.failed = failed
        call.details = details
        call.denial = denial

    def transcript(self) -> Json:
        """Return the session as the wire has it."""
        messages = [self._call(one) if isinstance(one, Called) else one for one in self._said]
        if self._agent == "codex":
            messages = codex_calls.settled(messages)
        about = {"agent": self._agent, "session_id": self._session_id, **self._about}
        return {**about, "messages": numbered(self._session_id, messages)}

    def _call(self, call: Called) -> Json:
        match self._agent:
            case "claude":
                return claude_calls.message(call, self._tasks)
            case "codex":
                return codex_calls.message(call)
            case _:
                return copilot_calls.message(call)
