"""Which scripted answer a request gets: by what it holds, whatever order requests arrive in."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from live.model.history import Entry
from live.model.log import Answer, Exchange, committed, line, read
from live.model.play import (
    Auxiliary,
    Play,
    PlayResponse,
    PlayTurn,
    Search,
    Thread,
    Wire,
    WireCall,
)
from live.model.process import ScriptedModel
from live.model.routing import Asked, Unscripted, route
from live.model.script import Failure, SearchHit

TOOLS = ("Bash", "Read")


def user(text: str) -> Entry:
    return Entry(role="user", type="text", text=text)


def said(text: str) -> Entry:
    return Entry(role="assistant", type="text", text=text)


def called(call_id: str) -> Entry:
    return Entry(role="assistant", type="call", call_id=call_id, name="Bash", arguments={})


def result(call_id: str, text: str = "ok") -> Entry:
    return Entry(role="tool", type="result", call_id=call_id, text=text)


def calls(*call_ids: str) -> tuple[WireCall, ...]:
    return tuple(WireCall(id=call_id, name="Bash", arguments={}) for call_id in call_ids)


def turn(prompt: str, *responses: PlayResponse) -> PlayTurn:
    return PlayTurn(prompt=prompt, responses=responses)


def play(*turns: PlayTurn, threads: tuple[Thread, ...] = (), **more: Any) -> Play:
    main = Thread(name=None, turns=turns)
    return Play(wire="anthropic", model="m", threads=(main, *threads), **more)


def answer(script: Play, *history: Entry, tools: tuple[str, ...] = TOOLS) -> str:
    return route(script, Asked(history=history, tools=tools)).response.id


COUNT = turn(
    "Count the gates.",
    PlayResponse(id="count", text="Counting.", calls=calls("c1", "c2")),
    PlayResponse(id="again", text="Once more.", calls=calls("c3")),
    PlayResponse(id="done", text="17 gates."),
)
DOORS = turn("And the doors?", PlayResponse(id="doors", text="4 doors."))
ASKED = (user("Count the gates."),)
COUNTED = (*ASKED, said("Counting."), called("c1"), called("c2"), result("c2"), result("c1"))
AGAIN = (*COUNTED, said("Once more."), called("c3"), result("c3"))
DONE = (*AGAIN, said("17 gates."))


def test_each_answer_follows_from_what_the_request_holds() -> None:
    script = play(COUNT, DOORS)
    steps = [
        ("count", ASKED),
        ("again", COUNTED),
        ("done", AGAIN),
        ("doors", (*DONE, user("And the doors?"))),
    ]
    for order in itertools.permutations(steps):
        for expected, history in order:
            assert answer(script, *history) == expected


@pytest.mark.parametrize(
    "wrapped",
    [
        "Count the gates.\n",
        "  Count the gates.  ",
        "<now>2026-01-01</now>\n\nCount the gates.",
        "<note>\nIt's late.\n</note>\nCount the gates.\n<tail/>",
        "Count\r\nthe gates.",
    ],
)
def test_a_prompt_is_known_in_its_wrapping(wrapped: str) -> None:
    assert answer(play(COUNT), user(wrapped)) == "count"


def test_harness_text_after_the_prompt_does_not_hide_it() -> None:
    history = (user("<environment/>"), *ASKED, user("<reminder>Be kind.</reminder>"))
    assert answer(play(COUNT), *history) == "count"


def test_calls_that_a_cli_loses_or_renames_still_count() -> None:
    lost_one = (*ASKED, said("Counting."), called("c2"), result("c2"))
    renamed = (*ASKED, called("custom_c1"), result("custom_c1"))
    only_the_result = (*ASKED, result("c1"))
    for history in (lost_one, renamed, only_the_result):
        assert answer(play(COUNT), *history) == "again"


def test_a_request_cut_by_compaction_is_known_by_its_last_prompt() -> None:
    history = (user("Summary: gates were counted."), user("And the doors?"))
    assert answer(play(COUNT, DOORS), *history) == "doors"


def test_two_equal_prompts_are_two_turns() -> None:
    script = play(
        turn("Go on.", PlayResponse(id="first", text="One.")),
        turn("Go on.", PlayResponse(id="second", text="Two.")),
        turn("Go on.", PlayResponse(id="third", text="Three.")),
    )
    history: tuple[Entry, ...] = ()
    for expected, text in (("first", "One."), ("second", "Two."), ("third", "Three.")):
        history = (*history, user("Go on."))
        assert answer(script, *history) == expected
        history = (*history, said(text))


def test_two_equal_answers_are_two_answers() -> None:
    script = play(
        turn(
            "Go on.",
            PlayResponse(id="first", text="Working."),
            PlayResponse(id="second", text="Working."),
            PlayResponse(id="third", text="Working."),
        )
    )
    history = [user("Go on.")]
    for expected in ("first", "second", "third"):
        assert answer(script, *history) == expected
        history.append(said("Working."))
    with pytest.raises(Unscripted):
        answer(script, *history)


def test_an_equal_answer_of_an_earlier_turn_does_not_count() -> None:
    script = play(
        turn("Go on.", PlayResponse(id="first", text="Working.")),
        turn("And on.", PlayResponse(id="second", text="Working.")),
    )
    assert answer(script, user("Go on."), said("Working."), user("And on.")) == "second"


def test_an_answer_that_begins_like_the_next_one_is_not_taken_for_it() -> None:
    script = play(
        turn(
            "Go on.",
            PlayResponse(id="short", text="Done"),
            PlayResponse(id="long", text="Done, all of it."),
        )
    )
    assert answer(script, user("Go on."), said("Done")) == "long"


def test_words_of_a_harness_that_hold_an_answer_are_not_that_answer() -> None:
    script = play(
        turn(
            "Go on.",
            PlayResponse(id="first", text="Done"),
            PlayResponse(id="second", text="Done"),
        )
    )
    assert answer(script, user("Go on."), said("Not Done before"), said("Done")) == "second"


def test_texts_that_a_cli_joined_are_both_there() -> None:
    joined = (*ASKED, called("c1"), result("c1"), said("Counting.\nOnce more."), called("c3"))
    assert answer(play(COUNT), *joined) == "done"


def test_a_prompt_within_a_longer_prompt_is_not_that_prompt() -> None:
    script = play(
        turn("Go on with the north gate.", PlayResponse(id="long", text="One.")),
        turn("Go on", PlayResponse(id="short", text="Two.")),
    )
    first = user("Go on with the north gate.")
    assert answer(script, first) == "long"
    assert answer(script, first, said("One."), user("Go on")) == "short"
    with pytest.raises(Unscripted):
        answer(script, user("Go once more"))


def test_a_prompt_in_a_result_or_in_the_models_words_is_not_asked() -> None:
    history = (*ASKED, said("And the doors?"), called("c1"), result("c1", "And the doors?"))
    assert answer(play(COUNT, DOORS), *history) == "again"


CHILD = Thread(
    name="spawn",
    turns=(
        turn(
            "Look at the north gate.",
            PlayResponse(id="look", calls=calls("k1")),
            PlayResponse(id="report", text="It is open."),
        ),
    ),
)
PARENT = turn(
    "Count the gates.",
    PlayResponse(id="spawn", calls=calls("s1")),
    PlayResponse(id="end", text="One gate is open."),
)


def test_a_subagent_follows_a_thread_of_its_own_at_its_own_pace() -> None:
    script = play(PARENT, threads=(CHILD,))
    child = (user("Look at the north gate."),)
    spawned = (*ASKED, called("s1"), result("s1", "It is open."))
    expected = [
        ("spawn", None, ASKED),
        ("look", "spawn", child),
        ("report", "spawn", (*child, called("k1"), result("k1"))),
        ("end", None, spawned),
        # A subagent that was given its parent's conversation to read.
        ("look", "spawn", (*ASKED, called("s1"), *child)),
    ]
    for order in itertools.permutations(expected):
        for response, thread, history in order:
            routed = route(script, Asked(history=history, tools=TOOLS))
            assert (routed.response.id, routed.thread) == (response, thread)


def test_a_failure_is_repeated_until_the_next_prompt() -> None:
    failure = Failure(status=503, type="overloaded_error", message="Later.")
    script = play(
        turn("Count the gates.", PlayResponse(id="down", failure=failure)),
        turn("And the doors?", PlayResponse(id="doors", text="4 doors.")),
    )
    assert answer(script, *ASKED) == answer(script, *ASKED) == "down"
    assert answer(script, *ASKED, user("And the doors?")) == "doors"


def test_an_argument_that_an_earlier_result_told_is_copied() -> None:
    wait = WireCall(
        id="w1", name="wait", arguments={"ids": [{"$result": ["s1", "agent_id"]}], "ms": 5}
    )
    script = play(
        turn(
            "Count the gates.",
            PlayResponse(id="spawn", calls=calls("s1")),
            PlayResponse(id="wait", calls=(wait,)),
        )
    )
    history = (*ASKED, called("s1"), result("s1", '{"agent_id": "a-17"}'))
    [call] = route(script, Asked(history=history, tools=TOOLS)).response.calls
    assert call.arguments == {"ids": ["a-17"], "ms": 5}
    for wrong in ("no JSON", "{}", "[]"):
        with pytest.raises(Unscripted, match="agent_id"):
            answer(script, *ASKED, called("s1"), result("s1", wrong))
    with pytest.raises(Unscripted, match="no result of s1"):
        answer(script, *ASKED, called("s1"))


AUXILIARIES = (
    Auxiliary(kind="warm-up", answer="warm", contains=("Warmup",)),
    Auxiliary(kind="compaction", answer="sum", contains=("create a detailed summary",)),
    Auxiliary(
        kind="web-search",
        answer="found",
        search=Search(query="gates", hits=(SearchHit(title="Gates", url="https://gates.example"),)),
    ),
    Auxiliary(kind="summary", answer="s", in_system=True, contains=("Summarise",)),
    Auxiliary(kind="title", answer='{"title": "Gates"}', has_tools=False),
)
SYSTEM = Entry(role="system", type="text", text="Summarise this in five words.")


@pytest.mark.parametrize(
    ("expected", "history", "tools"),
    [
        ("turn", ASKED, TOOLS),
        ("warm-up", (user("Warmup"),), TOOLS),
        ("title", ASKED, ()),
        ("title", (user("anything"),), ()),
        ("compaction", (*DONE, user("Please create a detailed summary of it.")), TOOLS),
        ("compaction", (*COUNTED, user("Please create a detailed summary of it.")), TOOLS),
        ("web-search", (user("Search for gates."),), ("web_search_20250305",)),
        ("web-search", ASKED, ("web_search_20250305",)),
        ("turn", ASKED, ("web_search_20250305", "Bash")),
        ("summary", (SYSTEM, user("gates")), ()),
        # The words of an auxiliary in an earlier prompt or in a result change nothing.
        ("turn", (user("Warmup"), said("warm"), *ASKED), TOOLS),
        ("turn", (*ASKED, called("c1"), result("c1", "Warmup")), TOOLS),
    ],
)
def test_requests_on_the_side_are_told_apart(
    expected: str, history: tuple[Entry, ...], tools: tuple[str, ...]
) -> None:
    routed = route(play(COUNT, auxiliaries=AUXILIARIES), Asked(history=history, tools=tools))
    assert routed.kind == expected
    if expected != "turn":
        kinds = {auxiliary.kind: auxiliary.answer for auxiliary in AUXILIARIES}
        assert routed.response.text == kinds[routed.kind]
        assert (routed.thread, routed.turn) == (None, None)


def test_a_search_or_a_compaction_without_an_answer_is_unscripted() -> None:
    with pytest.raises(Unscripted, match="web-search"):
        answer(play(COUNT), *ASKED, tools=("web_search",))
    with pytest.raises(Unscripted, match="compaction"):
        route(play(COUNT), Asked(history=ASKED, tools=TOOLS, compacting=True))


def post(model: ScriptedModel, path: str, body: Any) -> tuple[int, Any]:
    request = Request(f"http://127.0.0.1:{model.port}{path}", json.dumps(body).encode())
    try:
        with urlopen(request, timeout=20) as response:
            return response.status, json.loads(response.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


@pytest.mark.parametrize(
    ("wire", "path", "body", "words"),
    [
        (
            "anthropic",
            "/v1/messages",
            {"messages": [{"role": "user", "content": "Paint the gates."}]},
            "Paint the gates.",
        ),
        ("anthropic", "/v1/responses", {"input": "Count the gates."}, "anthropic"),
        ("responses", "/v1/responses", {"input": "Paint the gates."}, "Paint the gates."),
        ("chat", "/v1/images", {}, "/v1/images"),
    ],
)
def test_an_unscripted_request_is_an_error_that_says_what_was_asked(
    tmp_path: Path, wire: Wire, path: str, body: Any, words: str
) -> None:
    script = Play(wire=wire, model="m", threads=(Thread(name=None, turns=(COUNT,)),))
    with ScriptedModel(script, tmp_path / "log.jsonl") as model:
        status, value = post(model, path, body)
        [exchange] = model.exchanges()
    assert status in (400, 404)
    message = value["error"]["message"]
    assert "unscripted" in message
    assert words in message
    assert (exchange.kind, exchange.path, exchange.answer.status) == ("unscripted", path, status)
    assert exchange.answer.error == {"type": value["error"]["type"], "message": message}


def test_a_nested_search_answers_with_a_search_and_words(tmp_path: Path) -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search"}]
    body = {
        "messages": [{"role": "user", "content": "Search the web for gates."}],
        "tools": tools,
    }
    script = play(COUNT, auxiliaries=AUXILIARIES)
    with ScriptedModel(script, tmp_path / "log.jsonl") as model:
        status, value = post(model, "/v1/messages", body)
        [exchange] = model.exchanges()
    assert (status, exchange.kind) == (200, "web-search")
    search, found, words = value["content"]
    assert (search["type"], search["name"]) == ("server_tool_use", "web_search")
    assert search["input"] == {"query": "gates"}
    assert [(hit["title"], hit["url"]) for hit in found["content"]] == [
        ("Gates", "https://gates.example")
    ]
    assert (found["type"], found["tool_use_id"]) == ("web_search_tool_result", search["id"])
    assert words == {"type": "text", "text": "found"}
    assert value["stop_reason"] == "end_turn"


@pytest.mark.parametrize("path", ["/v1/responses/compact", "/v1/responses"])
def test_codex_compacts_by_an_endpoint_or_by_a_trigger(tmp_path: Path, path: str) -> None:
    script = Play(
        wire="responses",
        model="m",
        threads=(Thread(name=None, turns=(COUNT,)),),
        auxiliaries=(Auxiliary(kind="compaction", answer="sum"),),
    )
    given: list[Any] = [{"role": "user", "content": "Count the gates."}]
    if path == "/v1/responses":
        given.append({"type": "compaction_trigger"})
    with ScriptedModel(script, tmp_path / "log.jsonl") as model:
        status, value = post(model, path, {"model": "m", "input": given})
        [exchange] = model.exchanges()
    assert (status, exchange.kind) == (200, "compaction")
    [item] = value["output"]
    assert (item["type"], item["encrypted_content"]) == ("compaction", "c3Vt")
    assert exchange.violations == ()


def exchanged(seq: int, history: tuple[Entry, ...], response: str | None, **more: Any) -> Exchange:
    defaults: dict[str, Any] = {"kind": "turn", "turn": 0, "thread": None}
    return Exchange(
        seq=seq,
        method="POST",
        path="/v1/messages",
        history=history,
        response=response,
        answer=Answer(text="x"),
        headers={"user-agent": "cli"},
        body={"system": "vendor prose"},
        **{**defaults, **more},
    )


def test_a_log_line_survives_every_text(tmp_path: Path) -> None:
    odd = 'half \ud83d, line\u2028break, "quoted"\n\x00'
    exchange = exchanged(0, (user(odd),), "count")
    path = tmp_path / "log.jsonl"
    path.write_text(line(exchange) + line(exchange)[:-20], encoding="ascii")
    [first] = read(path)
    assert first == exchange


def test_what_is_committed_holds_messages_in_the_plays_order_and_no_word_of_the_vendors() -> None:
    script = play(PARENT, DOORS, threads=(CHILD,), auxiliaries=AUXILIARIES)
    system = Entry(role="system", type="text", text="vendor prose")
    developer = Entry(role="developer", type="text", text="vendor prose")
    reminder = user("<system-reminder>vendor prose</system-reminder>")
    wrapped = user("<note>vendor prose</note>\n\nCount the gates.")
    both = user("Earlier: Count the gates. Later: And the doors?")
    child = (user("Look at the north gate."),)
    log = [
        exchanged(0, (system, user("vendor prose")), "title-4", kind="title", turn=None),
        exchanged(1, (), None, kind="probe", turn=None),
        exchanged(2, (system, developer, reminder, both, wrapped), "spawn"),
        exchanged(3, (*child, called("k1"), result("k1")), "report", thread="spawn"),
        exchanged(4, (system, *child), "look", thread="spawn"),
        exchanged(5, (*ASKED, user("And the doors?")), "doors", turn=1),
        exchanged(6, (*ASKED, called("s1"), result("s1", "It is open.")), "end"),
        exchanged(7, ASKED, "token-count", kind="token-count", turn=None),
    ]
    rows = committed(log, script)
    assert [row["seq"] for row in rows] == list(range(6))
    assert [row["response"] for row in rows] == [
        *("spawn", "end", "doors"),
        *("look", "report", "title-4"),
    ]
    assert "vendor prose" not in json.dumps(rows)
    assert "user-agent" not in json.dumps(rows)
    assert rows[0]["history"] == [
        {"role": "user", "type": "text", "value": {"harness": True}},
        {"role": "user", "type": "text", "value": {"harness": True}},
        {"role": "user", "type": "text", "text": "Count the gates."},
    ]
    assert rows[1]["history"][1:] == [
        {
            "role": "assistant",
            "type": "call",
            "call_id": "s1",
            "name": "Bash",
            "arguments": {},
        },
        {"role": "tool", "type": "result", "call_id": "s1", "text": "It is open."},
    ]
    assert committed(list(reversed(log)), script) == rows
