"""What OpenAI's Chat Completions API refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from live.model.rules import shapes
from live.model.rules.base import Finding, Judgement, Rule, found, numbered, once
from live.model.rules.openai import judge_length, judge_name

_REFERENCE = "https://developers.openai.com/api/reference/resources/chat/subresources/completions"

RULES = (
    Rule(
        id="chat/required",
        sentence="A request names a model and has at least one message.",
        published=f"{_REFERENCE}/methods/create",
    ),
    Rule(
        id="chat/role",
        sentence="A message's role is one of the six that have a type.",
        published="openai.types.chat.ChatCompletionMessageParam",
    ),
    Rule(
        id="chat/content",
        sentence="Only a message with calls may have no content.",
        published="https://github.com/run-llama/llama_index/issues/17555",
    ),
    Rule(
        id="chat/empty-array",
        sentence="A list of calls or of parts has at least one member.",
        published="https://github.com/openai/openai-node/pull/1341",
    ),
    Rule(
        id="chat/call-without-result",
        sentence="A message with calls is followed by tool messages for each of them.",
        published="https://github.com/BerriAI/litellm/issues/10083",
    ),
    Rule(
        id="chat/result-without-call",
        sentence="A tool message answers a call of the assistant's message before it.",
        published="https://github.com/miurla/morphic/issues/136",
    ),
    Rule(
        id="chat/tool-name",
        sentence="A function's name consists of letters, digits, underscores and dashes.",
        published="openai.types.chat.chat_completion_message_function_tool_call_param.Function",
    ),
    Rule(
        id="chat/id-length",
        sentence="A call's id has 1 to 40 characters.",
        published="https://github.com/vercel/ai/issues/8132",
    ),
    Rule(
        id="chat/shape",
        sentence="A message has its role's required fields, each of its JSON type.",
        published="openai.types.chat.ChatCompletionMessageParam",
    ),
)

_ROLES = ("developer", "system", "user", "assistant", "tool", "function")
_LONGEST = 40


def judge(body: Any) -> Judgement:
    """Hold a request against the rules."""
    violations: list[Finding] = []
    unjudged: list[Finding] = []
    for field in ("model", "messages"):
        if not body.get(field):
            violations.append(found("chat/required", field, f"'{field}' is a required property"))
    messages = [(f"messages[{index}]", item) for index, item in numbered(body.get("messages"))]
    for at, message in messages:
        if message.get("role") not in _ROLES:
            words = f"invalid value {message.get('role')!r}"
            violations.append(found("chat/role", f"{at}.role", words))
            continue
        violations += _content(at, message)
        broken, unknown = shapes.judge("chat", message, at)
        # That content may be missing is told by a rule of its own, with its exception.
        violations += [fault for fault in broken if fault.at != f"{at}.content"]
        unjudged += unknown
        violations += _calls(at, message)
    violations += _pairs(messages)
    return Judgement(violations=tuple(violations), unjudged=once(unjudged))


def _content(at: str, message: Any) -> Iterator[Finding]:
    content = message.get("content")
    calls = message.get("tool_calls") or message.get("function_call")
    if content is None and not calls and not message.get("refusal"):
        words = "expected a string, got null"
        yield found("chat/content", f"{at}.content", words)
    elif content is not None and not isinstance(content, str | list):
        yield found("chat/shape", f"{at}.content", "a string or an array is expected")
    for field in ("content", "tool_calls"):
        if message.get(field) == []:
            words = "empty array; expected an array with minimum length 1"
            yield found("chat/empty-array", f"{at}.{field}", words)


def _calls(at: str, message: Any) -> Iterator[Finding]:
    for index, call in numbered(message.get("tool_calls")):
        place = f"{at}.tool_calls[{index}]"
        yield from judge_length("chat/id-length", f"{place}.id", call.get("id"), _LONGEST)
        function = call.get("function")
        if isinstance(function, dict):
            yield from judge_name("chat", f"{place}.function.name", function.get("name"))
            if not isinstance(function.get("arguments"), str):
                words = "a string is expected"
                yield found("chat/shape", f"{place}.function.arguments", words)


def _pairs(messages: list[tuple[str, Any]]) -> Iterator[Finding]:
    open_calls: list[str] = []
    called: list[str] = []
    place = ""
    for at, message in [*messages, ("", {})]:
        if message.get("role") == "tool":
            call_id = str(message.get("tool_call_id"))
            if call_id not in called:
                words = "messages with role 'tool' must be a response to a preceding message with "
                words += f"'tool_calls': {call_id}"
                yield found("chat/result-without-call", at, words)
            elif call_id in open_calls:
                open_calls.remove(call_id)
            continue
        if open_calls:
            words = "an assistant message with 'tool_calls' must be followed by tool messages "
            words += f"responding to each 'tool_call_id': {', '.join(open_calls)}"
            yield found("chat/call-without-result", place, words)
        called = [str(call.get("id")) for _, call in numbered(message.get("tool_calls"))]
        open_calls, place = list(called), at
