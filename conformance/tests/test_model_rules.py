"""What the providers' APIs refuse: a request that breaks one rule is found to break that one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from live.model.play import Wire
from live.model.rules import RULES, Unreadable, judge, parse
from live.model.wires.base import ENCRYPTED, SIGNATURE

USE = {"type": "tool_use", "id": "toolu_1", "name": "weigh", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "5"}
TEXT = {"type": "text", "text": "Go on."}
ANTHROPIC: Any = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Weigh it."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE},
                {"type": "text", "text": "Weighing. "},
                USE,
                {**USE, "id": "toolu_2"},
            ],
        },
        {"role": "user", "content": [{**RESULT, "tool_use_id": "toolu_2"}]},
        {"role": "user", "content": [RESULT, TEXT]},
    ],
}
CALL = {"type": "function_call", "call_id": "c1", "name": "weigh", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "5"}
SCRIPT = {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** x"}
SAID = {"type": "output_text", "text": "Weighing."}
RESPONSES: Any = {
    "model": "m",
    "store": False,
    "input": [
        {"type": "message", "role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "Weigh it."}]},
        {"type": "reasoning", "summary": [], "encrypted_content": ENCRYPTED},
        {"type": "message", "role": "assistant", "content": [SAID]},
        CALL,
        SCRIPT,
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
        OUTPUT,
    ],
}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}
CHAT: Any = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weigh it."},
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "5"},
        {"role": "assistant", "content": "5."},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ],
}
BODIES: dict[str, Any] = {"anthropic": ANTHROPIC, "responses": RESPONSES, "chat": CHAT}


WIRES: tuple[Wire, ...] = ("anthropic", "responses", "chat")
THOUGHT = ANTHROPIC["messages"][1]["content"][0]
THIRD = {**USE, "id": "toolu_3"}
MARKED = {**TEXT, "cache_control": {"type": "ephemeral"}}


def final(text: str) -> Any:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


# Each case edits a body that breaks no rule: a path, and the value that goes there. "+" adds
# to a list; REMOVED takes away.
REMOVED = object()
BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("anthropic/required", {"max_tokens": REMOVED}),
    ("anthropic/required", {"messages": []}),
    ("anthropic/role", {"messages.+": {"role": "tool", "content": "5"}}),
    ("anthropic/first-role", {"messages.0.role": "assistant"}),
    ("anthropic/non-empty-message", {"messages.0.content": ""}),
    ("anthropic/non-empty-message", {"messages.0.content": []}),
    ("anthropic/non-empty-text", {"messages.3.content.+": {**TEXT, "text": ""}}),
    ("anthropic/non-empty-text", {"system.0.text": ""}),
    ("anthropic/non-blank-text", {"messages.1.content.1.text": " \n"}),
    ("anthropic/final-white-space", {"messages.+": final("So ")}),
    ("anthropic/block-role", {"messages.3.content.+": THOUGHT}),
    ("anthropic/call-without-result", {"messages.3.content": [TEXT]}),
    ("anthropic/call-without-result", {"messages.+": {"role": "assistant", "content": [THIRD]}}),
    ("anthropic/result-without-call", {"messages.0.content": [{**RESULT, "tool_use_id": "x"}]}),
    ("anthropic/result-without-call", {"messages.1.content.3": TEXT}),
    ("anthropic/results-first", {"messages.3.content": [TEXT, RESULT]}),
    ("anthropic/unique-call-ids", {"messages.1.content.+": USE}),
    (
        "anthropic/call-id",
        {"messages.1.content.2.id": "toolu.1", "messages.3.content.0.tool_use_id": "toolu.1"},
    ),
    ("anthropic/tool-name", {"messages.1.content.2.name": "weigh.it"}),
    ("anthropic/signature", {"messages.1.content.0.signature": ""}),
    ("anthropic/signature", {"messages.1.content.0.signature": "Zm9yZWlnbg=="}),
    ("anthropic/cache-breakpoints", {"messages.0.content": 4 * [MARKED]}),
    ("anthropic/shape", {"messages.1.content.2.input": "{}"}),
    ("anthropic/shape", {"messages.1.content.0.signature": REMOVED}),
    ("anthropic/shape", {"messages.3.content.0.is_error": "no"}),
    ("responses/required", {"input": []}),
    ("responses/role", {"input.1.role": "tool"}),
    ("responses/content", {"input.3.content.0.type": "input_text"}),
    ("responses/content", {"input.1.content.0.type": "output_text"}),
    ("responses/call-without-output", {"input.+": {**CALL, "call_id": "c3"}}),
    ("responses/call-without-output", {"input.+": {**SCRIPT, "call_id": "c3"}}),
    ("responses/output-without-call", {"input.+": {**OUTPUT, "call_id": "c3"}}),
    ("responses/output-without-call", {"input.+": {**OUTPUT, "call_id": "c2"}}),
    ("responses/output-without-call", {"input.3": {**OUTPUT, "call_id": "c1"}}),
    ("responses/unique-item-ids", {"input.1.id": "msg_1", "input.3.id": "msg_1"}),
    ("responses/item-id", {"input.4.id": "call_1"}),
    ("responses/item-id", {"input.1.id": "25fdab0e-8ec3-413c-8703-7ce5668ec990"}),
    ("responses/id-length", {"input.4.id": "fc_" + 64 * "x"}),
    ("responses/id-length", {"input.4.call_id": 65 * "x", "input.7.call_id": 65 * "x"}),
    ("responses/tool-name", {"input.4.name": "weigh it"}),
    ("responses/encrypted-content", {"input.2.encrypted_content": "Zm9yZWlnbg=="}),
    ("responses/stored-item", {"input.2.id": "rs_1", "input.2.encrypted_content": REMOVED}),
    ("responses/stored-item", {"input.+": {"type": "item_reference", "id": "msg_1"}}),
    ("responses/trigger-last", {"input.0": {"type": "compaction_trigger"}}),
    ("responses/shape", {"input.4.arguments": {}}),
    ("responses/shape", {"input.3.content.0.text": None}),
    ("responses/shape", {"input.7.output": REMOVED}),
    ("chat/required", {"messages": []}),
    ("chat/required", {"model": REMOVED}),
    ("chat/role", {"messages.1.role": "human"}),
    ("chat/content", {"messages.4.content": None}),
    ("chat/empty-array", {"messages.4.tool_calls": []}),
    ("chat/empty-array", {"messages.5.content": []}),
    ("chat/call-without-result", {"messages.2.tool_calls.+": {**CHAT_CALL, "id": "c2"}}),
    ("chat/call-without-result", {"messages.+": CHAT["messages"][2]}),
    ("chat/result-without-call", {"messages.+": CHAT["messages"][3]}),
    (
        "chat/id-length",
        {"messages.2.tool_calls.0.id": 41 * "x", "messages.3.tool_call_id": 41 * "x"},
    ),
    ("chat/tool-name", {"messages.2.tool_calls.0.function.name": "weigh.it"}),
    ("chat/shape", {"messages.2.tool_calls.0.function.arguments": {}}),
    ("chat/shape", {"messages.1.content": 5}),
    ("chat/shape", {"messages.0.name": 5}),
]

# What a provider may well accept, but no rule or type speaks of.
UNKNOWN: list[tuple[Wire, dict[str, Any], str]] = [
    ("anthropic", {"messages.3.content.+": {"type": "hologram"}}, "messages.3.content.2"),
    ("anthropic", {"messages.3.content.1.mood": "calm"}, "messages.3.content.1"),
    ("responses", {"input.+": {"type": "dream"}}, "input[8]"),
    ("responses", {"input.4.mood": "calm"}, "input[4]"),
    ("responses", {"input.1.mood": "calm"}, "input[1]"),
    ("responses", {"input.2.content": None}, "input[2].content"),
    ("responses", {"input.2.status": "dreaming"}, "input[2].status"),
    (
        "responses",
        {"input.0": {"type": "reasoning", "summary": [], "id": "rs_1"}, "store": True},
        "input[0]",
    ),
    ("responses", {"previous_response_id": "resp_1"}, "input"),
    ("chat", {"messages.4.reasoning_content": "Hm."}, "messages[4]"),
]


def edited(body: Any, edits: dict[str, Any]) -> Any:
    body = copy.deepcopy(body)
    for path, value in edits.items():
        *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        place = body
        for step in way:
            place = place[step]
        if last == "+":
            place.append(value)
        elif value is REMOVED:
            del place[last]
        else:
            place[last] = value
    return body


def wire_of(rule: str) -> Wire:
    return next(wire for wire in WIRES if rule.startswith(f"{wire}/"))


@pytest.mark.parametrize("wire", WIRES)
def test_a_lawful_request_breaks_no_rule_and_leaves_nothing_unjudged_but_names(wire: Wire) -> None:
    judgement = judge(wire, BODIES[wire])
    assert judgement.violations == ()
    # The SDK wants an id on thoughts that Codex, lawfully, sends without one.
    expected = {"responses": ["input[2].id"]}.get(wire, [])
    assert [finding.at for finding in judgement.unjudged] == expected


def test_a_system_message_within_a_conversation_parts_no_call_from_its_result() -> None:
    body = copy.deepcopy(ANTHROPIC)
    body["messages"].insert(2, {"role": "system", "content": "Be quick."})
    assert judge("anthropic", body).violations == ()


@pytest.mark.parametrize(("rule", "edits"), BROKEN)
def test_a_request_that_breaks_one_rule_is_found_to_break_that_one(
    rule: str, edits: dict[str, Any]
) -> None:
    wire = wire_of(rule)
    judgement = judge(wire, edited(BODIES[wire], edits))
    assert {finding.rule for finding in judgement.violations} == {rule}


@pytest.mark.parametrize(("wire", "edits", "at"), UNKNOWN)
def test_what_no_rule_speaks_of_is_unjudged(wire: Wire, edits: dict[str, Any], at: str) -> None:
    judgement = judge(wire, edited(BODIES[wire], edits))
    assert judgement.violations == ()
    assert at in [finding.at for finding in judgement.unjudged]


def test_every_rule_has_a_request_that_breaks_it() -> None:
    assert {rule.id for rule in RULES} - {rule for rule, _ in BROKEN} == {"utf-8"}


def test_every_rule_says_where_it_is_published() -> None:
    for rule in RULES:
        assert rule.published.startswith(("https://", "anthropic.types.", "openai.types."))
        assert rule.sentence.endswith(".")


@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_request_breaks_rules_and_never_the_judge(wire: Wire) -> None:
    assert judge(wire, {}).violations
    for odd in ("", 5, None, [], [None], ["x"], [[]], {}, [{}], [{"role": None}], [{"role": []}]):
        judge(wire, {"messages": odd, "input": odd, "system": odd, "tools": odd})
        judge(wire, {"messages": [{"role": "user", "content": odd}], "input": [odd]})


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', b'{"a": "\\ud83d"}', b'{"a": "\\udc00\\ud83d"}'])
def test_a_body_must_be_strict_utf_8(raw: bytes) -> None:
    _, findings = parse(raw)
    assert [finding.rule for finding in findings] == ["utf-8"]


def test_a_surrogate_pair_written_as_escapes_is_whole() -> None:
    body, findings = parse(json.dumps({"a": "🍐"}).encode())
    assert (body, findings) == ({"a": "🍐"}, ())


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'"x"'])
def test_a_body_that_is_no_json_object_is_unreadable(raw: bytes) -> None:
    with pytest.raises(Unreadable):
        parse(raw)
