"""What Anthropic's Messages API refuses.

Consecutive messages of one role are one turn (the SDK says so at ``messages``), and calls
and results are paired between turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from live.model.rules import shapes
from live.model.rules.base import Finding, Judgement, Rule, found, numbered, once
from live.model.wires.base import SIGNATURE

_CALLS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"
_TOOLS = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"
_CACHE = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_MESSAGES = "https://platform.claude.com/docs/en/api/messages"
_ISSUES = "https://github.com/anthropics/claude-code/issues"

RULES = (
    Rule(
        id="anthropic/required",
        sentence="A request names a model, a token limit and at least one message.",
        published=_MESSAGES,
    ),
    Rule(
        id="anthropic/role",
        sentence="A message is the user's, the assistant's or, within the conversation, system's.",
        published="anthropic.types.beta.BetaMessageParam",
    ),
    Rule(
        id="anthropic/first-role",
        sentence="The first message is the user's.",
        published="https://github.com/lobehub/lobehub/issues/1601",
    ),
    Rule(
        id="anthropic/non-empty-message",
        sentence="Every message but a final one of the assistant's has content.",
        published=f"{_ISSUES}/6774",
    ),
    Rule(
        id="anthropic/non-empty-text",
        sentence="A text block is not empty.",
        published=f"{_ISSUES}/59812",
    ),
    Rule(
        id="anthropic/non-blank-text",
        sentence="A text block holds more than white space.",
        published=f"{_ISSUES}/23369",
    ),
    Rule(
        id="anthropic/final-white-space",
        sentence="A final message of the assistant's does not end with white space.",
        published="https://github.com/tailcallhq/forgecode/issues/1872",
    ),
    Rule(
        id="anthropic/block-role",
        sentence="The assistant makes calls and has thoughts; the user brings results.",
        published=_CALLS,
    ),
    Rule(
        id="anthropic/call-without-result",
        sentence="Every call has a result in the turn right after it.",
        published=f"{_ISSUES}/7929",
    ),
    Rule(
        id="anthropic/result-without-call",
        sentence="Every result has a call in the turn right before it.",
        published=f"{_ISSUES}/13460",
    ),
    Rule(
        id="anthropic/results-first",
        sentence="Results come before any other content of their turn.",
        published=_CALLS,
    ),
    Rule(
        id="anthropic/unique-call-ids",
        sentence="No two calls share an id.",
        published="https://github.com/trycua/cua/issues/524",
    ),
    Rule(
        id="anthropic/call-id",
        sentence="A call's id consists of letters, digits, underscores and dashes.",
        published="https://github.com/BlockRunAI/ClawRouter/issues/17",
    ),
    Rule(
        id="anthropic/tool-name",
        sentence="A tool's name consists of letters, digits, underscores and dashes.",
        published=_TOOLS,
    ),
    Rule(
        id="anthropic/signature",
        sentence="A thought is signed by the model that had it.",
        published="https://github.com/anthropics/anthropic-sdk-python/issues/1598",
    ),
    Rule(
        id="anthropic/cache-breakpoints",
        sentence="At most four blocks are marked for the cache.",
        published=_CACHE,
    ),
    Rule(
        id="anthropic/shape",
        sentence="A content block has its type's required fields, each of its JSON type.",
        published="anthropic.types.beta.BetaContentBlockParam",
    ),
)

_REQUIRED = ("model", "max_tokens", "messages")
_ROLES = ("user", "assistant", "system")
_WORD = re.compile(r"[A-Za-z0-9_-]+")
_ASSISTANTS = ("tool_use", "thinking", "redacted_thinking")
_BREAKPOINTS = 4


def judge(body: Any) -> Judgement:
    """Hold a request against the rules."""
    violations: list[Finding] = []
    unjudged: list[Finding] = []
    violations += _envelope(body)
    for at, block in _blocks(body):
        broken, unknown = shapes.judge("anthropic", block, at)
        violations += broken
        unjudged += unknown
    violations += _texts(body)
    violations += _calls(body)
    violations += _pairs(_turns(body.get("messages")))
    violations += _thoughts(body)
    return Judgement(violations=tuple(violations), unjudged=once(unjudged))


def _envelope(body: Any) -> Iterator[Finding]:
    for field in _REQUIRED:
        if not body.get(field):
            yield found("anthropic/required", field, "Field required")
    messages = list(numbered(body.get("messages")))
    for index, message in messages:
        if message.get("role") not in _ROLES:
            words = f"unexpected role {message.get('role')!r}"
            yield found("anthropic/role", f"messages.{index}.role", words)
        final = index == messages[-1][0] and message.get("role") == "assistant"
        if not message.get("content") and not final:
            words = "all messages must have non-empty content except for the optional final "
            words += "assistant message"
            yield found("anthropic/non-empty-message", f"messages.{index}", words)
    if messages and messages[0][1].get("role") == "assistant":
        words = 'first message must use the "user" role'
        yield found("anthropic/first-role", "messages.0.role", words)
    marked = sum("cache_control" in part for part in _cacheable(body))
    if marked > _BREAKPOINTS:
        words = f"A maximum of 4 blocks with cache_control may be provided. Found {marked}."
        yield found("anthropic/cache-breakpoints", "cache_control", words)


def _cacheable(body: Any) -> Iterator[Any]:
    for field in ("system", "tools"):
        for _, part in numbered(body.get(field)):
            yield part
    for _, block in _blocks(body):
        yield block
        for _, part in numbered(block.get("content")):
            yield part


def _blocks(body: Any) -> Iterator[tuple[str, Any]]:
    for index, message in numbered(body.get("messages")):
        for place, block in numbered(message.get("content")):
            yield f"messages.{index}.content.{place}", block


def _texts(body: Any) -> Iterator[Finding]:
    system = [(f"system.{index}", block) for index, block in numbered(body.get("system"))]
    for at, block in [*system, *_blocks(body)]:
        if block.get("type") != "text" or not isinstance(block.get("text"), str):
            continue
        if not block["text"]:
            words = "text content blocks must be non-empty"
            yield found("anthropic/non-empty-text", at, words)
        elif not block["text"].strip():
            words = "text content blocks must contain non-whitespace text"
            yield found("anthropic/non-blank-text", at, words)
    messages = list(numbered(body.get("messages")))
    if messages and messages[-1][1].get("role") == "assistant":
        content = messages[-1][1].get("content")
        blocks = [block for _, block in numbered(content)]
        last = content if isinstance(content, str) else blocks[-1].get("text") if blocks else None
        if isinstance(last, str) and last.strip() and last != last.rstrip():
            words = "final assistant content cannot end with trailing whitespace"
            yield found("anthropic/final-white-space", f"messages.{messages[-1][0]}", words)


def _calls(body: Any) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, message in numbered(body.get("messages")):
        for place, block in numbered(message.get("content")):
            at = f"messages.{index}.content.{place}"
            kind = block.get("type")
            misplaced = (kind in _ASSISTANTS and message.get("role") == "user") or (
                kind == "tool_result" and message.get("role") == "assistant"
            )
            if misplaced:
                words = f"`{kind}` blocks can't be in {message['role']} messages"
                yield found("anthropic/block-role", at, words)
            if kind != "tool_use":
                continue
            call_id, name = str(block.get("id")), str(block.get("name"))
            if call_id in seen:
                yield found("anthropic/unique-call-ids", at, "`tool_use` ids must be unique")
            seen.add(call_id)
            if not _WORD.fullmatch(call_id):
                words = f"{call_id!r} should match pattern '^[a-zA-Z0-9_-]+$'"
                yield found("anthropic/call-id", f"{at}.tool_use.id", words)
            if not _WORD.fullmatch(name):
                words = f"{name!r} should match pattern '^[a-zA-Z0-9_-]+$'"
                yield found("anthropic/tool-name", f"{at}.tool_use.name", words)


def _thoughts(body: Any) -> Iterator[Finding]:
    for at, block in _blocks(body):
        if block.get("type") == "thinking" and block.get("signature", SIGNATURE) != SIGNATURE:
            words = "Invalid `signature` in `thinking` block"
            yield found("anthropic/signature", at, words)


def _turns(messages: Any) -> list[tuple[int, str, list[Any]]]:
    """Join neighbouring messages of one role: the first one's place, the role, all blocks."""
    turns: list[tuple[int, str, list[Any]]] = []
    for index, message in numbered(messages):
        role = message.get("role")
        if role == "system":
            continue
        content = message.get("content")
        blocks = [block for _, block in numbered(content)]
        if isinstance(content, str):
            blocks = [{"type": "text", "text": content}]
        if turns and turns[-1][1] == role:
            turns[-1][2].extend(blocks)
        else:
            turns.append((index, role, blocks))
    return turns


def _pairs(turns: list[tuple[int, str, list[Any]]]) -> Iterator[Finding]:
    called: list[str] = []
    for number, (index, role, blocks) in enumerate(turns):
        at = f"messages.{index}"
        if role == "user":
            yield from _results(at, blocks, called)
        called = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if role != "assistant" or not called:
            continue
        after = turns[number + 1][2] if number + 1 < len(turns) else []
        missing = set(called) - {str(block.get("tool_use_id")) for block in after}
        if missing:
            words = "`tool_use` ids were found without `tool_result` blocks immediately after: "
            words += ", ".join(sorted(missing))
            yield found("anthropic/call-without-result", at, words)


def _results(at: str, blocks: list[Any], called: list[str]) -> Iterator[Finding]:
    other = False
    for block in blocks:
        if block.get("type") != "tool_result":
            other = True
            continue
        call_id = str(block.get("tool_use_id"))
        if call_id not in called:
            words = f"unexpected `tool_use_id` found in `tool_result` blocks: {call_id}"
            yield found("anthropic/result-without-call", at, words)
        elif other:
            words = f"`tool_result` {call_id} comes after other content"
            yield found("anthropic/results-first", at, words)
