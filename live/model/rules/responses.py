"""What OpenAI's Responses API refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from live.model.rules import shapes
from live.model.rules.base import Finding, Judgement, Rule, found, numbered, once
from live.model.rules.openai import judge_length, judge_name
from live.model.wires.base import ENCRYPTED

RULES = (
    Rule(
        id="responses/required",
        sentence="A request has input, or names what it goes on from.",
        published="https://developers.openai.com/api/reference/resources/responses/methods/create",
    ),
    Rule(
        id="responses/role",
        sentence="A message is the user's, the assistant's, the system's or the developer's.",
        published="openai.types.responses.EasyInputMessageParam.role",
    ),
    Rule(
        id="responses/content",
        sentence="The assistant's content is output, everybody else's is input.",
        published="https://github.com/openai/openai-go/issues/485",
    ),
    Rule(
        id="responses/call-without-output",
        sentence="Every call has an output.",
        published="https://github.com/openai/codex/issues/620",
    ),
    Rule(
        id="responses/output-without-call",
        sentence="Every output has a call before it.",
        published="https://github.com/microsoft/vscode/issues/320060",
    ),
    Rule(
        id="responses/unique-item-ids",
        sentence="No two items share an id.",
        published="https://github.com/microsoft/vscode/issues/321977",
    ),
    Rule(
        id="responses/item-id",
        sentence="An item's id begins with its kind's prefix.",
        published="https://github.com/openai/codex/issues/33176",
    ),
    Rule(
        id="responses/id-length",
        sentence="Ids have 1 to 64 characters.",
        published="https://github.com/AnswerDotAI/fastllm/issues/45",
    ),
    Rule(
        id="responses/tool-name",
        sentence="A function's name consists of letters, digits, underscores and dashes.",
        published="https://developers.openai.com/api/reference/resources/responses/methods/create",
    ),
    Rule(
        id="responses/encrypted-content",
        sentence="A thought is encrypted by the provider of the model that had it.",
        published="https://github.com/openai/codex/issues/8128",
    ),
    Rule(
        id="responses/stored-item",
        sentence="Where nothing is stored, no item stands for one that the provider would keep.",
        published="https://github.com/can1357/oh-my-pi/issues/41",
    ),
    Rule(
        id="responses/trigger-last",
        sentence="What asks for compaction is the last item.",
        published="openai.types.responses.response_input_item_param.CompactionTrigger",
    ),
    Rule(
        id="responses/shape",
        sentence="An item has its type's required fields, each of its JSON type.",
        published="openai.types.responses.ResponseInputItemParam",
    ),
)

_SOURCES = ("input", "previous_response_id", "prompt", "conversation")
_ROLES = ("user", "assistant", "system", "developer")
_OUTPUTS = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
}
_CALL_KINDS = tuple(_OUTPUTS.values())
_PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
}
_LONGEST = 64


def judge(body: Any) -> Judgement:
    """Hold a request against the rules."""
    violations: list[Finding] = []
    unjudged: list[Finding] = []
    if not any(body.get(source) for source in _SOURCES):
        violations.append(found("responses/required", "input", "input must be provided"))
    items = [(f"input[{index}]", _kind(item), item) for index, item in numbered(body.get("input"))]
    for at, kind, item in items:
        if kind == "message":
            # The API takes messages that fit none of the SDK's three types for them.
            violations += _message(at, item)
            unjudged += shapes.unknown_fields("responses", "message", item, at)
        else:
            broken, unknown = shapes.judge("responses", item, at)
            violations += broken
            unjudged += unknown
        violations += _names(at, kind, item)
        if kind == "compaction_trigger" and item is not items[-1][2]:
            words = "a compaction trigger must be the final input item"
            violations.append(found("responses/trigger-last", at, words))
    violations += _unique(items)
    violations += _thoughts(items)
    if body.get("store") is False:
        violations += _stored(items)
    unjudged += _lone_thoughts(items)
    if body.get("previous_response_id") or body.get("conversation"):
        words = "calls and outputs may stand in what the request goes on from"
        unjudged.append(found("responses/call-without-output", "input", words))
    else:
        violations += _pairs(items)
    return Judgement(violations=tuple(violations), unjudged=once(unjudged))


def _kind(item: Any) -> str:
    return str(item.get("type", "message" if "role" in item else None))


def _message(at: str, item: Any) -> Iterator[Finding]:
    role = item.get("role")
    if role not in _ROLES:
        words = f"invalid value {role!r}; supported values are: {', '.join(_ROLES)}"
        yield found("responses/role", f"{at}.role", words)
        return
    if not isinstance(item.get("content"), str | list):
        yield found("responses/shape", f"{at}.content", "a string or an array is expected")
    for place, part in numbered(item.get("content")):
        kind = str(part.get("type"))
        output = kind in ("output_text", "refusal")
        if output != (role == "assistant") and (output or kind.startswith("input_")):
            words = f"invalid value {kind!r} in a message of the {role}'s"
            yield found("responses/content", f"{at}.content[{place}].type", words)
        if kind in ("output_text", "input_text") and not isinstance(part.get("text"), str):
            words = "a string is expected"
            yield found("responses/shape", f"{at}.content[{place}].text", words)


def _names(at: str, kind: str, item: Any) -> Iterator[Finding]:
    for field in ("id", "call_id"):
        yield from judge_length("responses/id-length", f"{at}.{field}", item.get(field), _LONGEST)
    if kind == "function_call":
        yield from judge_name("responses", f"{at}.name", item.get("name"))
    prefix = _PREFIXES.get(kind)
    item_id = item.get("id")
    if prefix is not None and isinstance(item_id, str) and not item_id.startswith(prefix):
        words = f"{item_id!r} is expected to begin with '{prefix}'"
        yield found("responses/item-id", f"{at}.id", words)


def _thoughts(items: list[tuple[str, str, Any]]) -> Iterator[Finding]:
    for at, kind, item in items:
        if kind == "reasoning" and item.get("encrypted_content") not in (None, ENCRYPTED):
            words = "the encrypted content could not be verified"
            yield found("responses/encrypted-content", f"{at}.encrypted_content", words)


def _stored(items: list[tuple[str, str, Any]]) -> Iterator[Finding]:
    for at, kind, item in items:
        bare = kind == "reasoning" and item.get("id") and not item.get("encrypted_content")
        if bare or kind == "item_reference":
            words = f"item with id {item.get('id')!r} not found; items are not persisted when "
            words += "`store` is set to false"
            yield found("responses/stored-item", f"{at}.id", words)


def _lone_thoughts(items: list[tuple[str, str, Any]]) -> Iterator[Finding]:
    """Find thoughts that nothing of the model's follows.

    The API was seen to refuse them where items are stored (openai/openai-node issue 1567);
    whether it does so where nothing is stored is not known.
    """
    end = ("", "end", {})
    for (at, kind, _), (_, next_kind, after) in pairwise([*items, end]):
        own = next_kind in ("reasoning", *_CALL_KINDS) or after.get("role") == "assistant"
        if kind == "reasoning" and not own:
            words = "a thought is not followed by what came of it"
            yield found("responses/lone-thought", at, words)


def _unique(items: list[tuple[str, str, Any]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for at, kind, item in items:
        item_id = item.get("id")
        if not isinstance(item_id, str) or kind == "item_reference":
            continue
        if item_id in seen:
            words = f"duplicate item found with id {item_id}"
            yield found("responses/unique-item-ids", f"{at}.id", words)
        seen.add(item_id)


def _pairs(items: list[tuple[str, str, Any]]) -> Iterator[Finding]:
    called: dict[tuple[str, str], str] = {}
    answered: set[tuple[str, str]] = set()
    for at, kind, item in items:
        call_id = str(item.get("call_id", item.get("id")))
        if kind in _CALL_KINDS:
            called[kind, call_id] = at
        elif kind in _OUTPUTS:
            call = (_OUTPUTS[kind], call_id)
            if call not in called:
                words = f"no tool call found for the output with call_id {call_id}"
                yield found("responses/output-without-call", at, words)
            answered.add(call)
    for (kind, call_id), at in called.items():
        if (kind, call_id) not in answered:
            words = f"no tool output found for {kind} {call_id}"
            yield found("responses/call-without-output", at, words)
