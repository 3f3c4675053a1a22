"""The scripted model, asked over HTTP by the vendors' own clients."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import anthropic
import openai
import pytest
from pydantic import TypeAdapter

from live.model.play import Play, PlayResponse, PlayTurn, Thread, Wire, WireCall
from live.model.process import ScriptedModel
from live.model.wires.base import SIGNATURE

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


SHORT = WireCall(id="call_short_1", name="weigh", arguments={})
PATCH = WireCall(id="call_patch_1", name="apply_patch", arguments="*** Begin Patch\n…\n")
SPACED = WireCall(id="call_box_1", name="open", namespace="box", arguments={"lid": "ö"})
CODING = PlayResponse(id="coding", reasoning="So.", text="Now.", calls=(SHORT, PATCH, SPACED))
ODD = 'é e\u0301 🧑‍🌾 \u2028 \u0085 \x00 \x1b[31m "quoted" \\ \\u0041 ```\ndata: x\n\n</think>'
TORN = "half \ud83d"
LONG = "".join(f"line {number} ✓\n" for number in range(40_000))

# One process plays all of this: what a request holds says which of it is asked for.
SCRIPT: dict[str, tuple[PlayResponse, ...]] = {
    PROMPT: (WEIGHING, WEIGHED),
    "Code it.": (CODING,),
    "Be sealed.": (
        PlayResponse(id="sealed", reasoning="Hm.", text="So.", thoughts_as="reasoning_text"),
    ),
    "Be odd.": (PlayResponse(id="odd", text=ODD, reasoning=ODD),),
    "Be torn.": (PlayResponse(id="torn", text=TORN),),
    "Be long.": (PlayResponse(id="long", text=LONG),),
}
PATHS: dict[Wire, str] = {
    "anthropic": "/v1/messages?beta=true",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
}
Models = dict[Wire, ScriptedModel]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Models]:
    threads = tuple(
        Thread(name=prompt, turns=(PlayTurn(prompt=prompt, responses=responses),))
        for prompt, responses in SCRIPT.items()
    )
    directory = tmp_path_factory.mktemp("models")
    with ExitStack() as stack:
        yield {
            wire: stack.enter_context(
                ScriptedModel(
                    Play(wire=wire, model="lab-model-1", threads=threads), directory / wire
                )
            )
            for wire in PATHS
        }


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


def test_anthropics_client_reads_thoughts_words_and_parallel_calls(models: Models) -> None:
    model = models["anthropic"]
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
    models: Models,
) -> None:
    model = models["responses"]
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


def test_openais_client_reads_words_and_parallel_calls_from_chat(models: Models) -> None:
    model = models["chat"]
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


def post(model: ScriptedModel, path: str, body: Any) -> tuple[int, Any, bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(f"http://127.0.0.1:{model.port}{path}", data, method="POST")
    try:
        with urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def get(model: ScriptedModel, path: str, method: str = "GET") -> tuple[int, Any, bytes]:
    request = Request(f"http://127.0.0.1:{model.port}{path}", method=method)
    with urlopen(request, timeout=20) as answer:
        return answer.status, answer.headers, answer.read()


def events(raw: bytes) -> list[Any]:
    datas = [line[6:] for line in raw.decode().split("\n") if line.startswith("data: ")]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


def asking(wire: Wire, text: str = PROMPT, **more: Any) -> Any:
    field = "input" if wire == "responses" else "messages"
    return {"model": "m", "max_tokens": 9, field: [user(text)], **more}


@pytest.mark.parametrize(
    ("wire", "type_"),
    [
        ("anthropic", "anthropic.types.beta:BetaRawMessageStreamEvent"),
        ("responses", "openai.types.responses:ResponseStreamEvent"),
        ("chat", "openai.types.chat:ChatCompletionChunk"),
    ],
)
def test_every_streamed_event_has_the_shape_that_the_vendors_sdk_gives_it(
    models: Models, wire: Wire, type_: str
) -> None:
    module, _, name = type_.partition(":")
    adapter = TypeAdapter(getattr(import_module(module), name))
    prompt = "Code it." if wire == "responses" else PROMPT
    model = models[wire]
    status, headers, raw = post(model, PATHS[wire], asking(wire, prompt, stream=True))
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    found = [event for event in events(raw) if event not in ("[DONE]", {"type": "ping"})]
    assert len(found) > 5
    for event in found:
        adapter.validate_python(event)


@pytest.mark.parametrize("wire", PATHS)
def test_an_event_is_named_as_its_type_says(models: Models, wire: Wire) -> None:
    model = models[wire]
    _, _, raw = post(model, PATHS[wire], asking(wire, stream=True))
    lines = raw.decode().split("\n")
    names = [line[7:] for line in lines if line.startswith("event: ")]
    assert names == ([] if wire == "chat" else [event["type"] for event in events(raw)])
    assert (lines[-3] == "data: [DONE]") == (wire == "chat")


def streamed(model: ScriptedModel, wire: Wire) -> Any:
    if wire == "anthropic":
        return ask_claude(model, [user(PROMPT)]).to_dict()
    if wire == "responses":
        return ask_responses(model, [user(PROMPT)])[1].to_dict()
    return ask_chat(model, [user(PROMPT)]).to_dict()


@pytest.mark.parametrize("wire", PATHS)
def test_an_answer_that_is_not_streamed_is_the_same_message(models: Models, wire: Wire) -> None:
    model = models[wire]
    pieced = streamed(model, wire)
    _, headers, raw = post(model, PATHS[wire], asking(wire, model=pieced["model"]))
    whole = json.loads(raw)
    assert headers["content-type"] == "application/json"
    for field in ("id", "model"):
        assert whole[field] == pieced[field]
    if wire == "anthropic":
        assert whole["content"] == pieced["content"]
        assert whole["usage"] == pieced["usage"]
        return
    assert whole["usage"] == pieced["usage"]
    if wire == "responses":
        assert [item["id"] for item in whole["output"]] == [item["id"] for item in pieced["output"]]
        return
    [whole_message, pieced_message] = [one["choices"][0]["message"] for one in (whole, pieced)]
    for field in ("role", "content", "reasoning_content"):
        assert whole_message[field] == pieced_message[field]


def test_free_text_is_a_custom_call_and_a_namespace_stands_beside_the_name(models: Models) -> None:
    model = models["responses"]
    events, response = ask_responses(model, "Code it.")
    _, _, call, patch, spaced = response.output
    assert (call.type, patch.type, spaced.type) == (
        "function_call",
        "custom_tool_call",
        "function_call",
    )
    assert (patch.call_id, patch.name, patch.input) == (PATCH.id, PATCH.name, PATCH.arguments)
    assert (spaced.namespace, json.loads(spaced.arguments)) == ("box", {"lid": "ö"})
    written = "".join(
        event.delta for event in events if event.type == "response.custom_tool_call_input.delta"
    )
    assert written == PATCH.arguments


@pytest.mark.parametrize("wire", PATHS)
def test_every_answer_is_identified_and_equal_requests_get_equal_bytes(
    models: Models, wire: Wire
) -> None:
    model = models[wire]
    answers = [post(model, PATHS[wire], asking(wire, stream=True)) for _ in range(3)]
    refused = post(model, PATHS[wire], asking(wire, "Something else."))
    for _, headers, raw in answers:
        assert headers["request-id"] == headers["x-request-id"] == "req_weighing"
        assert raw == answers[0][2]
    assert refused[1]["request-id"] == "req_unscripted"


def test_texts_that_try_an_encoding_arrive_as_scripted(models: Models) -> None:
    asks: dict[Wire, Any] = {
        "anthropic": ask_claude,
        "responses": ask_responses,
        "chat": ask_chat,
    }
    for wire, ask in asks.items():
        answer = ask(models[wire], [user("Be odd.")])
        if wire == "anthropic":
            assert [answer.content[0].thinking, answer.content[1].text] == [ODD, ODD]
        elif wire == "responses":
            assert answer[1].output_text == answer[1].output[0].summary[0].text == ODD
        else:
            assert answer.choices[0].message.content == ODD


@pytest.mark.parametrize("wire", PATHS)
def test_half_a_surrogate_pair_can_be_scripted(models: Models, wire: Wire) -> None:
    _, _, raw = post(models[wire], PATHS[wire], asking(wire, "Be torn."))
    assert TORN in json.dumps(json.loads(raw), ensure_ascii=False)
    assert models[wire].exchanges()[-1].answer.text == TORN


def test_a_long_answer_arrives_whole(models: Models) -> None:
    model = models["anthropic"]
    assert ask_claude(model, [user("Be long.")]).content[0].text == LONG


def test_tokens_are_counted_and_probes_answered(models: Models) -> None:
    model = models["anthropic"]
    before = len(model.exchanges())
    with claude(model) as client:
        count = client.beta.messages.count_tokens(model="m", messages=[user(PROMPT)])
        listed = list(client.models.list())
    assert get(model, "/", "HEAD")[0] == get(model, "/api/hello", "HEAD")[0] == 200
    assert json.loads(get(model, "/anything")[2]) == {}
    new = model.exchanges()[before:]
    assert count.input_tokens > 0
    assert [entry.id for entry in listed] == ["lab-model-1"]
    assert [exchange.kind for exchange in new] == [
        "token-count",
        "probe",
        "probe",
        "probe",
        "probe",
    ]
    assert new[0].violations == ()


def test_copilot_finds_the_model_in_its_own_shape_of_list(models: Models) -> None:
    model = models["chat"]
    [entry] = json.loads(get(model, "/models")[2])["data"]
    _, _, raw = post(model, "/chat/completions", asking("chat"))
    with gpt(model) as client:
        assert [one.id for one in client.models.list()] == ["lab-model-1"]
    assert entry["capabilities"]["supports"]["tool_calls"] is True
    assert json.loads(raw)["choices"][0]["message"]["content"] == WEIGHING.text


def test_the_account_s_api_seals_thoughts_under_a_name_of_its_own(models: Models) -> None:
    model = models["chat"]
    asked = asking("chat", "Be sealed.")
    whole = json.loads(post(model, "/chat/completions", asked)[2])["choices"][0]["message"]
    pieces = events(post(model, "/chat/completions", asking("chat", "Be sealed.", stream=True))[2])
    deltas = [one["choices"][0]["delta"] for one in pieces if one != "[DONE]" and one["choices"]]
    assert (whole["reasoning_text"], whole["reasoning_opaque"]) == ("Hm.", SIGNATURE)
    assert "".join(one.get("reasoning_text", "") for one in deltas) == "Hm."
    assert [one["reasoning_opaque"] for one in deltas if "reasoning_opaque" in one] == [SIGNATURE]
    assert "reasoning_content" not in whole
    again = {**asked, "messages": [*asked["messages"], whole, user(PROMPT)]}
    post(model, "/chat/completions", again)
    told = model.exchanges()[-1].history
    assert [entry.text for entry in told if entry.type == "reasoning"] == ["Hm."]


def test_a_websocket_is_declined(models: Models) -> None:
    model = models["responses"]
    request = Request(
        f"http://127.0.0.1:{model.port}/v1/responses",
        headers={"upgrade": "websocket", "connection": "upgrade"},
    )
    with pytest.raises(HTTPError) as refused:
        urlopen(request, timeout=20)
    refused.value.close()
    assert refused.value.code == 426


def test_the_log_holds_what_the_model_read_on_every_wire(models: Models) -> None:
    png = "iVBORw0KGgo="
    bodies: dict[Wire, Any] = {
        "anthropic": {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [
                user(PROMPT),
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                        {"type": "text", "text": "Weighing."},
                        {"type": "tool_use", "id": "c1", "name": "weigh", "input": {"n": 2}},
                        {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
                    ],
                },
                user(
                    [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c2",
                            "content": [
                                {"type": "text", "text": "one"},
                                {"type": "text", "text": "two"},
                                {
                                    "type": "image",
                                    "source": {
                                        "type": "base64",
                                        "media_type": "image/png",
                                        "data": png,
                                    },
                                },
                            ],
                        },
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": "five",
                            "is_error": True,
                        },
                        {"type": "text", "text": "Go on."},
                    ]
                ),
            ],
        },
        "responses": {
            "instructions": "Be brief.",
            "input": [
                {"type": "additional_tools", "tools": []},
                user([{"type": "input_text", "text": PROMPT}]),
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Weighing."}],
                },
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "weigh",
                    "arguments": '{"n": 2}',
                },
                {"type": "custom_tool_call", "call_id": "c2", "name": "look", "input": "{}"},
                {
                    "type": "custom_tool_call_output",
                    "call_id": "c2",
                    "output": [
                        {"type": "input_text", "text": "one"},
                        {"type": "input_text", "text": "two"},
                        {"type": "input_image", "image_url": f"data:image/png;base64,{png}"},
                    ],
                },
                {"type": "function_call_output", "call_id": "c1", "output": "five"},
                user("Go on."),
            ],
        },
        "chat": {
            "messages": [
                {"role": "system", "content": "Be brief."},
                user(PROMPT),
                {
                    "role": "assistant",
                    "reasoning_content": "Hm.",
                    "content": "Weighing.",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "weigh", "arguments": '{"n": 2}'},
                        },
                        {
                            "id": "c2",
                            "type": "custom",
                            "custom": {"name": "look", "input": "{}"},
                        },
                    ],
                },
                {
                    "role": "tool",
                    "tool_call_id": "c2",
                    "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "five"},
                user([{"type": "text", "text": "Go on."}]),
            ],
        },
    }
    read: dict[Wire, list[tuple[Any, ...]]] = {}
    for wire, body in bodies.items():
        model = models[wire]
        post(model, PATHS[wire], {"model": "m", "max_tokens": 9, **body})
        history = model.exchanges()[-1].history
        read[wire] = [
            (entry.role, entry.type, entry.call_id, entry.name, entry.arguments, entry.text)
            for entry in history
            if entry.type != "image"
        ]
        if wire != "chat":
            [image] = [entry for entry in history if entry.type == "image"]
            digest = hashlib.sha256(base64.b64decode(png)).hexdigest()
            assert image.call_id == "c2"
            assert image.value == {"sha256": digest, "media_type": "image/png"}
    assert read["anthropic"] == [
        ("system", "text", None, None, None, "Be brief."),
        ("user", "text", None, None, None, PROMPT),
        ("assistant", "reasoning", None, None, None, "Hm."),
        ("assistant", "text", None, None, None, "Weighing."),
        ("assistant", "call", "c1", "weigh", {"n": 2}, None),
        ("assistant", "call", "c2", "look", {}, None),
        ("tool", "result", "c2", None, None, "one\ntwo"),
        ("tool", "result", "c1", None, None, "five"),
        ("user", "text", None, None, None, "Go on."),
    ]
    free_text = [
        ("assistant", "call", "c2", "look", "{}", None) if entry[3] == "look" else entry
        for entry in read["anthropic"]
    ]
    assert read["responses"] == read["chat"] == free_text
