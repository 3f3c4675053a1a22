"""The scripted model as a process: it answers a CLI's requests as its play says.

``python -m live.model.server --play FILE --log FILE [--port N]`` listens on 127.0.0.1 and
says where in the first line of its output: ``{"port": N}``. It ends at SIGTERM, and with
``--attended`` when its input is closed: whoever started it may be killed itself.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import os
import signal
import socket
import sys
import threading
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from live.model import probes, rules
from live.model.delivery import Delivery, Ending, Pieces
from live.model.history import Entry
from live.model.log import Answer, Exchange, line
from live.model.play import Play, PlayResponse, Wire
from live.model.routing import Asked, Routed, Unscripted, route
from live.model.script import Failure
from live.model.wires import WIRES, responses
from live.model.wires.base import Stream, dumps, server_sent, tokens, wire_id

_ENDPOINTS: dict[str, Wire] = {
    "/v1/messages": "anthropic",
    "/v1/messages/count_tokens": "anthropic",
    "/v1/responses": "responses",
    "/v1/responses/compact": "responses",
    "/responses": "responses",
    "/responses/compact": "responses",
    "/v1/chat/completions": "chat",
    "/chat/completions": "chat",
}
_LOGGED_HEADERS = (
    "user-agent",
    "anthropic-version",
    "anthropic-beta",
    "content-encoding",
    "x-stainless-retry-count",
    "x-codex-turn-metadata",
    "x-initiator",
)
_UNSCRIPTED = "unscripted request"


class _Arrived:
    """A request that came in, to be written to the log once its answer is known."""

    def __init__(self, request: Request, seq: int, log: Path) -> None:
        self.request = request
        self._seq = seq
        self._log = log

    def exchange(self, answer: Answer, **exchange: Any) -> Exchange:
        """Return the exchange that an answer makes of the request."""
        request = self.request
        query = f"?{request.url.query}" if request.url.query else ""
        logged = [name for name in _LOGGED_HEADERS if name in request.headers]
        return Exchange(
            seq=self._seq,
            method=request.method,
            path=request.url.path + query,
            headers={name: request.headers[name] for name in logged},
            answer=answer,
            **exchange,
        )

    def write(self, exchange: Exchange) -> None:
        """Append the exchange to the log."""
        with self._log.open("a", encoding="ascii") as file:
            file.write(line(exchange))


class ScriptedServer:
    """Answers requests by a play. Nothing outlives a request but the log's numbering and which
    answers were refused once, as their script says."""

    def __init__(self, play: Play, log: Path) -> None:
        self._play = play
        self._log = log
        self._numbers = itertools.count()
        self._refused_once: set[str] = set()

    def application(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                *(Route(path, self._model, methods=["POST"]) for path in _ENDPOINTS),
                Route("/{path:path}", self._aside, methods=["GET", "HEAD", "POST"]),
            ],
            exception_handlers={Exception: self._failed},
        )

    def _arrived(self, request: Request) -> _Arrived:
        return _Arrived(request, next(self._numbers), self._log)

    async def _failed(self, request: Request, error: Exception) -> Response:
        """Log a fault of this server's own, which must not pass for the provider's."""
        message = f"the scripted model failed: {error!r}"
        failure = Failure(status=500, type="api_error", message=message)
        return _refuse(self._arrived(request), self._play.wire, failure, kind="unscripted")

    async def _aside(self, request: Request) -> Response:
        """Answer what is no request to the model."""
        arrived = self._arrived(request)
        path = request.url.path
        if request.method == "POST" and not path.startswith(probes.BACKGROUND):
            message = f"{_UNSCRIPTED}: POST {path}"
            failure = Failure(status=404, type="not_found_error", message=message)
            return _refuse(arrived, self._play.wire, failure, kind="unscripted")
        status, value = probes.answer(request, self._play)
        request_id = wire_id("probe-", path)
        answer = Answer(status=status, request_id=request_id)
        arrived.write(arrived.exchange(answer, kind="probe"))
        return _json(value, status, _identified(request_id))

    async def _model(self, request: Request) -> Response:
        """Answer a request to the model as the play says."""
        arrived = self._arrived(request)
        wire = _ENDPOINTS[request.url.path]
        try:
            body, encoding = rules.parse(_unpacked(request, await request.body()))
        except rules.Unreadable as error:
            failure = Failure(status=400, type="invalid_request_error", message=str(error))
            return _refuse(arrived, wire, failure, kind="unscripted")
        counting = request.url.path.endswith("/count_tokens")
        judgement = await asyncio.to_thread(rules.judge, wire, body, counting=counting)
        exchange: dict[str, Any] = {
            "violations": encoding + judgement.violations,
            "unjudged": judgement.unjudged,
            "history": tuple(WIRES[wire].history(body)),
            "body": body,
        }
        try:
            routed = self._routed(request, wire, body, exchange["history"])
        except Unscripted as error:
            message = f"{_UNSCRIPTED}: {error}; {_asked(request, wire, body, exchange['history'])}"
            failure = Failure(status=400, type="invalid_request_error", message=message)
            return _refuse(arrived, wire, failure, kind="unscripted", **exchange)
        exchange |= {
            "kind": routed.kind,
            "thread": routed.thread,
            "turn": routed.turn,
            "response": routed.response.id,
        }
        if exchange["violations"] and self._play.judging == "enforce":
            return _refuse(arrived, wire, _broken(exchange["violations"][0]), **exchange)
        await asyncio.sleep(routed.response.delay)
        failure = routed.response.failure or self._first_failure(routed.response)
        if failure is not None:
            return _refuse(arrived, wire, failure, **exchange)
        return self._deliver(arrived, wire, body, routed.response, exchange)

    def _routed(self, request: Request, wire: Wire, body: Any, history: Sequence[Entry]) -> Routed:
        if wire != self._play.wire:
            raise Unscripted(f"the play is for the {self._play.wire} wire")
        if request.url.path.endswith("/count_tokens"):
            return Routed(kind="token-count", response=PlayResponse(id="token-count"))
        compacting = request.url.path.endswith("/compact") or (
            wire == "responses" and responses.is_compacting(body)
        )
        tools = WIRES[wire].tool_kinds(body)
        return route(self._play, Asked(history=history, tools=tools, compacting=compacting))

    def _first_failure(self, scripted: PlayResponse) -> Failure | None:
        if scripted.fails_first is None or scripted.id in self._refused_once:
            return None
        self._refused_once.add(scripted.id)
        return scripted.fails_first

    def _deliver(
        self,
        arrived: _Arrived,
        wire: Wire,
        body: Any,
        scripted: PlayResponse,
        exchange: dict[str, Any],
    ) -> Response:
        request_id = wire_id("req_", scripted.id)
        answer = Answer(
            request_id=request_id,
            reasoning=scripted.reasoning,
            text=scripted.text,
            calls=scripted.calls,
        )

        def told(ending: Ending) -> None:
            ended = msgspec.structs.replace(answer, ending=ending)
            arrived.write(arrived.exchange(ended, **exchange))

        streamed = bool(body.get("stream"))
        if streamed:
            pieces = _stream_pieces(WIRES[wire].stream(scripted, body, self._play.model))
        else:
            pieces = _body_pieces(self._whole(arrived.request, wire, body, scripted))
        media_type = "text/event-stream" if streamed else "application/json"
        return Delivery(pieces, scripted, _identified(request_id), media_type, told)

    def _whole(self, request: Request, wire: Wire, body: Any, scripted: PlayResponse) -> Any:
        if request.url.path.endswith("/count_tokens"):
            return {"input_tokens": tokens(scripted).input}
        if request.url.path.endswith("/compact"):
            return responses.compacted(scripted)
        return WIRES[wire].whole(scripted, body, self._play.model)


def _refuse(arrived: _Arrived, wire: Wire, failure: Failure, **exchange: Any) -> Response:
    """Answer with a failure, scripted or not, in the wire's own shape."""
    request_id = wire_id("req_", exchange.get("response") or "unscripted")
    error = {"type": failure.type, "message": failure.message}
    answer = Answer(status=failure.status, request_id=request_id, error=error)
    arrived.write(arrived.exchange(answer, **exchange))
    value = WIRES[wire].refusal(failure, request_id)
    return _json(value, failure.status, {**_identified(request_id), **failure.headers})


def _broken(finding: rules.Finding) -> Failure:
    message = f"{finding.at}: {finding.message}"
    return Failure(status=400, type="invalid_request_error", message=message)


def _json(value: Any, status: int, headers: dict[str, str]) -> Response:
    return Response(dumps(value), status, headers, media_type="application/json")


def _stream_pieces(stream: Stream) -> Pieces:
    return Pieces(
        opening=[server_sent(event) for event in stream.opening],
        until_cut=stream.until_cut(),
        closing=[server_sent(event) for event in stream.closing],
    )


def _body_pieces(value: Any) -> Pieces:
    body = dumps(value)
    half = len(body) // 2
    return Pieces(opening=[body[:half]], until_cut=1, closing=[body[half:]])


def _unpacked(request: Request, raw: bytes) -> bytes:
    encoding = request.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return raw
    if encoding == "gzip":
        try:
            return gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise rules.Unreadable(f"the body is not gzip: {error}") from None
    raise rules.Unreadable(f"the body is compressed with {encoding}, which is not read here")


def _identified(request_id: str) -> dict[str, str]:
    return {"request-id": request_id, "x-request-id": request_id}


def _asked(request: Request, wire: Wire, body: Any, history: Sequence[Entry]) -> str:
    texts = [entry.text for entry in history if entry.role == "user" and entry.text]
    tools = WIRES[wire].tool_kinds(body)
    last = texts[-1][-300:] if texts else ""
    return (
        f"asked: {request.method} {request.url.path}, {len(history)} entries, "
        f"{len(tools)} tools {tools[:4]}, last user text {last!r}"
    )


def load(path: Path) -> Play:
    """Load a play; msgspec.ValidationError says what is wrong with one that can't be played."""
    play = msgspec.convert(json.loads(path.read_bytes()), Play)
    _check_prompts(play)
    names: set[str] = set()
    for thread in play.threads:
        for response in itertools.chain.from_iterable(turn.responses for turn in thread.turns):
            tokens(response)
            for name in (
                f"response {response.id}",
                *(f"call {call.id}" for call in response.calls),
            ):
                if name in names:
                    raise msgspec.ValidationError(f"two of the play's answers share {name}")
                names.add(name)
    return play


def _check_prompts(play: Play) -> None:
    """See that a prompt tells which thread a request belongs to."""
    threads: dict[str, str | None] = {}
    for thread in play.threads:
        for prompt in (turn.prompt for turn in thread.turns):
            if not prompt.strip():
                raise msgspec.ValidationError("a prompt is empty, so nothing tells who asks")
            if threads.setdefault(prompt, thread.name) != thread.name:
                raise msgspec.ValidationError(f"two threads share the prompt {prompt!r}")


def _end_when_left() -> None:
    """Wait until the input is closed, which it also is when who holds it was killed."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve a play until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m live.model.server", description=__doc__)
    parser.add_argument("--play", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--attended", action="store_true")
    options = parser.parse_args()
    try:
        play = load(options.play)
    except (OSError, ValueError) as error:
        sys.exit(f"{options.play}: {error}")
    options.log.touch()
    listener = socket.create_server(("127.0.0.1", options.port))
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    if options.attended:
        threading.Thread(target=_end_when_left, daemon=True).start()
    threading.Thread(target=rules.prepare, args=(play.wire,), daemon=True).start()
    config = uvicorn.Config(
        ScriptedServer(play, options.log).application(),
        http="h11",
        ws="none",
        lifespan="off",
        log_level="critical",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
