"""The scripted model, asked over HTTP by the vendors' own clients."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from live.model.play import Play, PlayResponse, PlayTurn, Thread, Wire, WireCall
from live.model.process import ScriptedModel

CALL = WireCall(id="call_weigh_1", name="weigh", arguments={"what": "äpples", "n": 2})
OTHER = WireCall(id="call_weigh_2", name="weigh", arguments={"what": "pears", "n": 3})
WEIGHING = PlayResponse(
    id="weighing",
    reasoning="Fruit first, then nuts.",
    text="I'll weigh both.",
    calls=(CALL, OTHER),
    usage={"input": 77, "output": 33, "cache_read": 11, "reasoning": 5},
)
WEIGHED = PlayResponse(id="weighed", text="Apples 5, pears 7. ÄPFEL ✓ 🍐")
PROMPT = "Weigh the fruit."


def play(wire: Wire, *responses: PlayResponse) -> Play:
    turn = PlayTurn(prompt=PROMPT, responses=responses or (WEIGHING, WEIGHED))
    return Play(wire=wire, model="lab-model-1", threads=(Thread(name=None, turns=(turn,)),))


Serve = Callable[[Play], ScriptedModel]


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    return lambda script: ScriptedModel(script, tmp_path / "log.jsonl")


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def claude(model: ScriptedModel) -> anthropic.Anthropic:
    address = f"http://127.0.0.1:{model.port}"
    return anthropic.Anthropic(api_key="sk-test", base_url=address, max_retries=0)


def gpt(model: ScriptedModel) -> openai.OpenAI:
    address = f"http://127.0.0.1:{model.port}/v1"
    return openai.OpenAI(api_key="sk-test", base_url=address, max_retries=0)


def ask_claude(model: ScriptedModel, messages: Any) -> Any:
    tools = [{"name": "weigh", "input_schema": {"type": "object"}}]
    settings: Any = {"model": "claude-x", "max_tokens": 99, "tools": tools}
    with (
        claude(model) as client,
        client.beta.messages.stream(messages=messages, **settings) as stream,
    ):
        return stream.get_final_message()


def ask_responses(model: ScriptedModel, given: Any, **settings: Any) -> tuple[list[Any], Any]:
    tools = settings.pop("tools", [{"type": "function", "name": "weigh", "parameters": {}}])
    with (
        gpt(model) as client,
        client.responses.stream(input=given, model="gpt-x", tools=tools, **settings) as stream,
    ):
        events = list(stream)
        return events, stream.get_final_response()


def ask_chat(model: ScriptedModel, messages: Any) -> Any:
    tools = [{"type": "function", "function": {"name": "weigh", "parameters": {}}}]
    settings: Any = {"model": "gpt-x", "tools": tools, "stream_options": {"include_usage": True}}
    with (
        gpt(model) as client,
        client.chat.completions.stream(messages=messages, **settings) as stream,
    ):
        list(stream)
        return stream.get_final_completion()


def test_anthropics_client_reads_thoughts_words_and_parallel_calls(serve: Serve) -> None:
    with serve(play("anthropic")) as model:
        first = ask_claude(model, [user(PROMPT)])
        answered = [
            user(PROMPT),
            {"role": "assistant", "content": [block.to_dict() for block in first.content]},
            user(
                [
                    {"type": "tool_result", "tool_use_id": OTHER.id, "content": "7"},
                    {"type": "tool_result", "tool_use_id": CALL.id, "content": "5"},
                ]
            ),
        ]
        second = ask_claude(model, answered)
    thought, words, call, other = first.content
    assert (thought.type, thought.thinking) == ("thinking", WEIGHING.reasoning)
    assert thought.signature
    assert (words.type, words.text) == ("text", WEIGHING.text)
    assert (call.id, call.name, call.input) == (CALL.id, CALL.name, CALL.arguments)
    assert (other.id, other.name, other.input) == (OTHER.id, OTHER.name, OTHER.arguments)
    assert (first.stop_reason, second.stop_reason) == ("tool_use", "end_turn")
    assert [block.text for block in second.content] == [WEIGHED.text]
    assert (first.id, second.id) == ("msg_weighing", "msg_weighed")
    assert (first.usage.input_tokens, first.usage.output_tokens) == (77, 33)
    assert first.usage.cache_read_input_tokens == 11
    assert first.model == "claude-x"


def test_openais_client_reads_reasoning_words_and_parallel_calls_from_responses(
    serve: Serve,
) -> None:
    with serve(play("responses")) as model:
        events, first = ask_responses(model, PROMPT)
        output = [item.to_dict(exclude_unset=True) for item in first.output]
        results = [
            {"type": "function_call_output", "call_id": OTHER.id, "output": "7"},
            {"type": "function_call_output", "call_id": CALL.id, "output": "5"},
        ]
        _, second = ask_responses(model, [user(PROMPT), *output, *results])
    thought, words, call, other = first.output
    assert thought.summary[0].text == WEIGHING.reasoning
    assert thought.encrypted_content
    assert words.content[0].text == WEIGHING.text
    for item, scripted in ((call, CALL), (other, OTHER)):
        assert (item.call_id, item.name) == (scripted.id, scripted.name)
        assert json.loads(item.arguments) == scripted.arguments
    assert second.output_text == WEIGHED.text
    assert (first.id, second.id) == ("resp_weighing", "resp_weighed")
    assert first.usage.input_tokens == 77 + 11
    assert first.usage.output_tokens_details.reasoning_tokens == 5
    numbers = [event.sequence_number for event in events]
    assert numbers == list(range(len(numbers)))


def test_openais_client_reads_words_and_parallel_calls_from_chat(serve: Serve) -> None:
    with serve(play("chat")) as model:
        first = ask_chat(model, [user(PROMPT)])
        message = first.choices[0].message
        answered = [
            user(PROMPT),
            message.to_dict(exclude_unset=True, exclude_none=True),
            {"role": "tool", "tool_call_id": OTHER.id, "content": "7"},
            {"role": "tool", "tool_call_id": CALL.id, "content": "5"},
        ]
        second = ask_chat(model, answered)
    assert message.content == WEIGHING.text
    assert message.reasoning_content == WEIGHING.reasoning
    for call, scripted in zip(message.tool_calls, (CALL, OTHER), strict=True):
        assert (call.id, call.function.name) == (scripted.id, scripted.name)
        assert json.loads(call.function.arguments) == scripted.arguments
    assert first.choices[0].finish_reason == "tool_calls"
    assert second.choices[0].message.content == WEIGHED.text
    assert (first.id, second.id) == ("chatcmpl-weighing", "chatcmpl-weighed")
    assert first.usage.prompt_tokens == 77 + 11
