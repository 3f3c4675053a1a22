"""How the scripted model's answers arrive: refused, late, cut, hanging, and its process gone."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.model.log import Exchange
from live.model.play import Judging, Play, PlayResponse, PlayTurn, Thread, Wire, WireCall
from live.model.process import ScriptedModel, StillRunning, command
from live.model.script import Failure

WORDS = "Apples 5, pears 7, plums 11."
PATHS: dict[Wire, str] = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
}
SLOW_DOWN = Failure(
    status=429, type="rate_limit_error", message="Slow down.", headers={"retry-after": "7"}
)
LONG_CALL = WireCall(id="c1", name="weigh", arguments={"what": WORDS})
PAUSE = 0.2
DELAYS = {"Take long.": 1.4, "Take no time.": 0.0, "Take a while.": 0.7}

# One process plays all of this: what a request holds says which of it is asked for.
SCRIPT: dict[str, tuple[PlayResponse, ...]] = {
    "Be fine.": (PlayResponse(id="fine", text=WORDS),),
    "Be limited.": (
        PlayResponse(id="limited", failure=SLOW_DOWN),
        PlayResponse(id="later", text=WORDS),
    ),
    "Stumble.": (PlayResponse(id="stumble", text=WORDS, fails_first=SLOW_DOWN),),
    "Be cut.": (PlayResponse(id="cut", text=WORDS, cut=True),),
    "Be cut in a call.": (PlayResponse(id="cut-call", calls=(LONG_CALL,), cut=True),),
    "Be slow.": (PlayResponse(id="slow", text=WORDS, pause=PAUSE),),
    "Hang.": (PlayResponse(id="hang", text=WORDS, hang=True),),
    **{
        prompt: (PlayResponse(id=prompt, text=WORDS, delay=delay),)
        for prompt, delay in DELAYS.items()
    },
}


def play(wire: Wire, judging: Judging = "record") -> Play:
    threads = tuple(
        Thread(name=prompt, turns=(PlayTurn(prompt=prompt, responses=responses),))
        for prompt, responses in SCRIPT.items()
    )
    return Play(wire=wire, model="m", threads=threads, judging=judging)


BROKEN_OFF = -200
Serve = Callable[..., ScriptedModel]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Return a running model for a wire, one process for all tests of it."""
    with ExitStack() as stack:

        @cache
        def start(wire: Wire, judging: Judging = "record") -> ScriptedModel:
            log = tmp_path_factory.mktemp("model") / "log.jsonl"
            return stack.enter_context(ScriptedModel(play(wire, judging), log))

        yield start


def asking(wire: Wire, prompt: str, *more: Any, stream: bool = True) -> Any:
    field = "input" if wire == "responses" else "messages"
    messages = [{"role": "user", "content": prompt}, *more]
    return {"model": "m", "max_tokens": 9, field: messages, "stream": stream}


def post(model: ScriptedModel, wire: Wire, body: Any) -> tuple[int, dict[str, str], bytes]:
    """Ask, and return what arrived even when the connection drops."""
    connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=20)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", PATHS[wire], raw, {"content-type": "application/json"})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        try:
            return answer.status, headers, answer.read()
        except http.client.IncompleteRead as error:
            return -answer.status, headers, error.partial
    finally:
        connection.close()


def last(model: ScriptedModel) -> Exchange:
    return model.exchanges()[-1]


@pytest.mark.parametrize("wire", PATHS)
def test_a_scripted_failure_has_its_status_headers_and_words_every_time(
    serve: Serve, wire: Wire
) -> None:
    model = serve(wire)
    answers = [post(model, wire, asking(wire, "Be limited.")) for _ in range(3)]
    exchange = last(model)
    for status, headers, raw in answers:
        error = json.loads(raw)["error"]
        assert (status, error["type"], error["message"]) == (429, "rate_limit_error", "Slow down.")
        assert headers["retry-after"] == "7"
        assert headers["request-id"] == "req_limited"
    in_body = json.loads(answers[0][2]).get("request_id")
    assert in_body == ("req_limited" if wire == "anthropic" else None)
    assert (exchange.kind, exchange.response, exchange.answer.status) == ("turn", "limited", 429)
    assert exchange.answer.error == {"type": "rate_limit_error", "message": "Slow down."}


@pytest.mark.parametrize("wire", PATHS)
def test_who_is_refused_the_first_time_is_answered_the_second(serve: Serve, wire: Wire) -> None:
    model = serve(wire)
    answers = [post(model, wire, asking(wire, "Stumble.")) for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 200, 200]
    assert "Apples" in answers[1][2].decode()
    assert {one.response for one in model.exchanges()[-3:]} == {"stumble"}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("wire", PATHS)
def test_a_cut_answer_breaks_off_in_its_middle(serve: Serve, wire: Wire, stream: bool) -> None:
    model = serve(wire)
    body = asking(wire, "Be cut.", stream=stream)
    status, _, raw = post(model, wire, body)
    again = post(model, wire, body)
    exchange = last(model)
    assert status == BROKEN_OFF
    if stream:
        assert WORDS[:10].encode() in raw
        assert WORDS[-10:].encode() not in raw
    else:
        with pytest.raises(json.JSONDecodeError):
            json.loads(raw)
    assert again[2] == raw
    assert (exchange.answer.status, exchange.answer.ending) == (200, "cut")


@pytest.mark.parametrize("wire", PATHS)
def test_a_pause_parts_the_pieces_of_an_answer(serve: Serve, wire: Wire) -> None:
    model = serve(wire)
    raw = json.dumps(asking(wire, "Be slow.")).encode()
    connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=20)
    times: list[float] = []
    try:
        connection.request("POST", PATHS[wire], raw, {"content-type": "application/json"})
        answer = connection.getresponse()
        while line := answer.readline():
            if line.startswith(b"data: "):
                times.append(time.monotonic())
    finally:
        connection.close()
    assert len(times) > 2
    assert times[1] - times[0] > PAUSE / 2


@pytest.mark.parametrize("wire", PATHS)
def test_a_call_can_be_cut_too(serve: Serve, wire: Wire) -> None:
    status, _, raw = post(serve(wire), wire, asking(wire, "Be cut in a call."))
    assert status == BROKEN_OFF
    assert b"weigh" in raw
    assert b"11." not in raw


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("wire", PATHS)
def test_a_hang_is_in_the_log_when_everything_before_it_has_arrived(
    serve: Serve, wire: Wire, stream: bool
) -> None:
    model = serve(wire)
    before = len(model.exchanges())
    with socket.create_connection(("127.0.0.1", model.port), timeout=20) as connection:
        body = json.dumps(asking(wire, "Hang.", stream=stream)).encode()
        head = f"POST {PATHS[wire]} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        for _ in waiting():
            if any(one.answer.ending == "hanging" for one in model.exchanges()[before:]):
                break
        connection.settimeout(0.2)
        arrived = everything(connection)
    # The client is gone; another one is answered as before.
    assert post(model, wire, asking(wire, "Be fine."))[0] == 200
    assert [one.answer.ending for one in model.exchanges()[before:]] == ["hanging", "whole"]
    assert b"200 OK" in arrived
    if stream:
        assert b"plums 11." in arrived
        for word in (b"message_stop", b"response.completed", b"[DONE]", b'finish_reason":"stop'):
            assert word not in arrived


def everything(connection: socket.socket) -> bytes:
    """Return what has arrived on a connection that is still open."""
    arrived = b""
    try:
        while piece := connection.recv(65536):
            arrived += piece
    except TimeoutError:
        return arrived
    pytest.fail("the connection was closed")


def waiting(seconds: float = 15) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
    pytest.fail("it did not happen in time")


def test_parallel_answers_finish_in_the_order_that_their_delays_say(serve: Serve) -> None:
    model = serve("chat")
    before = len(model.exchanges())
    finished: list[str] = []

    def ask(prompt: str) -> None:
        assert post(model, "chat", asking("chat", prompt))[0] == 200
        finished.append(prompt)

    with ThreadPoolExecutor(len(DELAYS)) as pool:
        for prompt in DELAYS:
            pool.submit(ask, prompt)
            time.sleep(0.15)
    assert finished == ["Take no time.", "Take a while.", "Take long."]
    assert [one.thread for one in model.exchanges()[before:]] == list(DELAYS)


@pytest.mark.parametrize("judging", ["record", "enforce"])
@pytest.mark.parametrize("wire", PATHS)
def test_a_broken_rule_is_refused_where_rules_are_enforced_and_always_logged(
    serve: Serve, wire: Wire, judging: Judging
) -> None:
    orphans: dict[Wire, Any] = {
        "anthropic": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "none", "content": "5"}],
        },
        "responses": {"type": "function_call_output", "call_id": "none", "output": "5"},
        "chat": {"role": "tool", "tool_call_id": "none", "content": "5"},
    }
    rules: dict[Wire, str] = {
        "anthropic": "anthropic/result-without-call",
        "responses": "responses/output-without-call",
        "chat": "chat/result-without-call",
    }
    model = serve(wire, judging)
    body = asking(wire, "Be fine.", orphans[wire], stream=False)
    status, _, raw = post(model, wire, body)
    exchange = last(model)
    assert [finding.rule for finding in exchange.violations] == [rules[wire]]
    assert (exchange.kind, exchange.thread, exchange.turn) == ("turn", "Be fine.", 0)
    if judging == "record":
        assert (status, exchange.answer.status) == (200, 200)
        assert WORDS.encode() in raw
    else:
        assert (status, exchange.answer.status) == (400, 400)
        error = json.loads(raw)["error"]
        assert error["type"] == "invalid_request_error"
        assert "none" in error["message"]


def test_half_a_surrogate_pair_is_refused_where_rules_are_enforced(serve: Serve) -> None:
    body = asking("chat", "Be fine.", {"role": "user", "content": "MARK"})
    raw = json.dumps(body).encode().replace(b"MARK", b"\\ud83d")
    model = serve("chat", "enforce")
    status, _, _ = post(model, "chat", raw)
    exchange = last(model)
    assert status == 400
    assert [finding.rule for finding in exchange.violations] == ["utf-8"]
    assert exchange.history[-1].text == "\ud83d"


@pytest.mark.parametrize("wire", PATHS)
def test_what_is_no_json_object_is_refused_in_the_wires_shape(serve: Serve, wire: Wire) -> None:
    model = serve(wire)
    for raw in (b"", b"{", b"[]", b"\xff\xfe"):
        status, _, answer = post(model, wire, raw)
        assert (status, last(model).kind) == (400, "unscripted")
        assert "JSON" in json.loads(answer)["error"]["message"]


@pytest.mark.parametrize("wire", PATHS)
def test_no_odd_body_makes_the_server_itself_fail(serve: Serve, wire: Wire) -> None:
    odd = [5, "x", None, [], [5], ["x"], [[]], {}, [{}], [{"role": 5, "content": 5}]]
    odd += [[{"role": "assistant", "content": [{"type": kind}]}] for kind in ("image", "tool_use")]
    odd += [[{"type": kind, "call_id": [], "output": 5}] for kind in ("function_call_output", [])]
    odd += [[{"role": "tool", "tool_call_id": {}, "tool_calls": [{"function": "x"}, 5]}]]
    model = serve(wire)
    for value in odd:
        body = {"messages": value, "input": value, "system": value, "tools": value}
        assert post(model, wire, body)[0] == 400
        assert (last(model).kind, last(model).answer.status) == ("unscripted", 400)


def test_the_process_is_gone_and_its_port_free_afterwards(tmp_path: Path) -> None:
    with ScriptedModel(play("chat"), tmp_path / "log.jsonl") as model:
        connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=20)
        connection.request("POST", PATHS["chat"], json.dumps(asking("chat", "Hang.")).encode())
        connection.getresponse().read(5)
        started = time.monotonic()
    assert time.monotonic() - started < 4
    connection.close()
    with pytest.raises(ProcessLookupError):
        os.killpg(model.pid, 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", model.port))
    assert last(model).answer.ending == "hanging"


def test_a_process_that_outlives_the_server_is_ended_and_told_of(tmp_path: Path) -> None:
    prefix = ("sh", "-c", 'sleep 60 & exec "$@"', "sh")
    model = ScriptedModel(play("chat"), tmp_path / "log.jsonl", prefix=prefix)
    with pytest.raises(StillRunning), model:
        pass
    for _ in waiting():
        try:
            os.killpg(model.pid, 0)
        except ProcessLookupError:
            break


def test_the_process_ends_when_who_started_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "play.json"
    path.write_bytes(msgspec.json.encode(play("chat")))
    code = (
        "import sys, time; from pathlib import Path; import msgspec; "
        "from live.model.play import Play; from live.model.process import ScriptedModel\n"
        "play = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Play)\n"
        "with ScriptedModel(play, Path(sys.argv[2])) as model:\n"
        "    print(model.pid, flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(tmp_path / "log.jsonl")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with starter:
        assert starter.stdout is not None
        group = int(starter.stdout.readline())
        os.killpg(group, 0)
        starter.kill()
    for _ in waiting():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            break


def test_a_play_that_can_not_be_played_says_why(tmp_path: Path) -> None:
    fine = PlayResponse(id="fine", text=WORDS)
    other = PlayResponse(id="other", text=WORDS)
    odd = PlayResponse(id="odd", text=WORDS, usage={"in": 5})
    wrong = [
        ("share response fine", thread("main", "Be fine.", fine, fine)),
        ("unknown field `in`", thread("main", "Be fine.", odd)),
        ("a prompt is empty", thread("main", " ", fine)),
        (
            "share the prompt 'Be fine.'",
            thread("main", "Be fine.", fine) + thread("child", "Be fine.", other),
        ),
    ]
    for words, threads in wrong:
        bad = Play(wire="chat", model="m", threads=threads)
        with (
            pytest.raises(RuntimeError, match=words) as said,
            ScriptedModel(bad, tmp_path / "log"),
        ):
            pass
        assert "Traceback" not in str(said.value)


def thread(name: str, prompt: str, *responses: PlayResponse) -> tuple[Thread, ...]:
    return (Thread(name=name, turns=(PlayTurn(prompt=prompt, responses=responses),)),)


def test_the_server_starts_by_its_arguments_alone_and_ends_at_sigterm(tmp_path: Path) -> None:
    path = tmp_path / "play.json"
    path.write_bytes(msgspec.json.encode(play("chat")))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "live.model.server", "--play", str(path)),
            *("--log", str(tmp_path / "log.jsonl"), "--port", str(port)),
        ],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"port": port}
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        assert process.stdout.read() == b""


def test_the_port_is_told_before_the_sdks_are_loaded() -> None:
    code = (
        "import sys, live.model.server; print({'anthropic', 'openai', 'pydantic'} & {*sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert loaded.stdout == "set()\n"


def test_the_command_needs_no_directory_to_start_from(tmp_path: Path) -> None:
    argv = command(tmp_path / "missing.json", tmp_path / "log")
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/")
    assert ended.returncode == 1
    assert "missing.json" in ended.stderr
    assert "Traceback" not in ended.stderr
