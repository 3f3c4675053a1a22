"""The scripted model as a process: it answers a CLI's requests as its play says.

``python -m live.model.server --play FILE --log FILE [--port N]`` listens on 127.0.0.1 and
says where in the first line of its output: ``{"port": N}``. It ends at SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from live.model import rules
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
_BACKGROUND = ("/mcp/readonly", "/agents/swe/internal/memory")
"""What Copilot CLI asks of its own provider before 1.0.10, and is content with nothing."""

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


class _Streamed(Response):
    """A streamed answer, which may be cut or hang as its script says."""

    media_type = "text/event-stream"

    def __init__(
        self, stream: Stream, scripted: PlayResponse, headers: dict[str, str], log: _Log
    ) -> None:
        super().__init__(headers={"cache-control": "no-cache", **headers})
        del self.headers["content-length"]
        self._stream = stream
        self._scripted = scripted
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; a hang begins only when everything before it is sent."""
        if not self._scripted.hang:
            self._log.write(ending="cut" if self._scripted.cut else "whole")
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        if self._scripted.cut:
            # Leaving without the last chunk makes the server drop the connection.
            return await self._send(send, self._stream.cut())
        await self._send(send, self._stream.opening)
        if self._scripted.hang:
            return await self._hang(receive)
        await asyncio.sleep(self._scripted.linger)
        await self._send(send, self._stream.closing)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None

    async def _send(self, send: Send, events: Any) -> None:
        for event in events:
            body = {"type": "http.response.body", "body": server_sent(event), "more_body": True}
            await send(body)

    async def _hang(self, receive: Receive) -> None:
        self._log.write(ending="hanging")
        while (await receive())["type"] != "http.disconnect":
            pass


class _Log:
    """One exchange, to be written once its answer is known."""

    def __init__(self, path: Path, exchange: Exchange) -> None:
        self._path = path
        self.exchange = exchange

    def write(self, **answer: Any) -> None:
        """Append the exchange, its answer changed by what became of it."""
        changed = msgspec.structs.replace(self.exchange.answer, **answer)
        exchange = msgspec.structs.replace(self.exchange, answer=changed)
        with self._path.open("a", encoding="ascii") as file:
            file.write(line(exchange))


class ScriptedServer:
    """Answers requests by a play. Nothing but the log's numbering outlives a request."""

    def __init__(self, play: Play, log: Path) -> None:
        self._play = play
        self._log_path = log
        self._numbers = itertools.count()

    def application(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                *(Route(path, self._model, methods=["POST"]) for path in _ENDPOINTS),
                Route("/{path:path}", self._aside, methods=["GET", "HEAD", "POST"]),
            ]
        )

    async def _aside(self, request: Request) -> Response:
        """Answer what is no request to the model: probes and lists of models."""
        path = request.url.path
        if request.method == "POST" and not path.startswith(_BACKGROUND):
            failure = Failure(
                status=404, type="not_found_error", message=f"{_UNSCRIPTED}: POST {path}"
            )
            return self._refuse(request, self._play.wire, failure, kind="unscripted")
        status, value = self._probe(request)
        request_id = self._request_id(wire_id("probe-", path))
        log = self._log(request, kind="probe", answer=Answer(status=status, request_id=request_id))
        log.write()
        headers = _identified(request_id)
        return Response(dumps(value), status, headers, media_type="application/json")

    def _probe(self, request: Request) -> tuple[int, Any]:
        if "upgrade" in request.headers:
            return 426, {"error": {"message": "no websockets here", "type": "upgrade_required"}}
        if request.url.path.endswith("/models"):
            return 200, _models(self._play)
        return 200, {}

    async def _model(self, request: Request) -> Response:
        """Answer a request to the model as the play says."""
        wire = _ENDPOINTS[request.url.path]
        raw = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body, encoding = rules.parse(raw)
        except rules.Unreadable as error:
            failure = Failure(status=400, type="invalid_request_error", message=str(error))
            return self._refuse(request, wire, failure, kind="unscripted")
        history = WIRES[wire].history(body)
        judgement = await asyncio.to_thread(rules.judge, wire, body)
        violations = encoding + judgement.violations
        findings: dict[str, Any] = {
            "violations": violations,
            "unjudged": judgement.unjudged,
            "history": tuple(history),
            "body": body,
        }
        if request.url.path.endswith("/count_tokens"):
            return self._count(request, findings)
        try:
            routed = self._route(request, wire, body, history)
        except Unscripted as error:
            message = f"{_UNSCRIPTED}: {error}; {_asked(request, wire, body, history)}"
            failure = Failure(status=400, type="invalid_request_error", message=message)
            return self._refuse(request, wire, failure, kind="unscripted", **findings)
        findings |= {
            "kind": routed.kind,
            "thread": routed.thread,
            "turn": routed.turn,
            "response": routed.response.id,
        }
        if violations and self._play.judging == "enforce":
            broken = violations[0]
            message = f"{broken.at}: {broken.message}"
            failure = Failure(status=400, type="invalid_request_error", message=message)
            return self._refuse(request, wire, failure, **findings)
        return await self._answer(request, wire, body, routed, findings)

    def _route(self, request: Request, wire: Wire, body: Any, history: list[Entry]) -> Routed:
        if wire != self._play.wire:
            raise Unscripted(f"the play is for the {self._play.wire} wire")
        compacting = request.url.path.endswith("/compact") or (
            wire == "responses" and responses.is_compacting(body)
        )
        tools = WIRES[wire].tool_kinds(body)
        return route(self._play, Asked(history=history, tools=tools, compacting=compacting))

    async def _answer(
        self, request: Request, wire: Wire, body: Any, routed: Routed, findings: dict[str, Any]
    ) -> Response:
        scripted = routed.response
        await asyncio.sleep(scripted.delay)
        if scripted.failure is not None:
            return self._refuse(request, wire, scripted.failure, **findings)
        request_id = self._request_id(scripted.id)
        answer = Answer(
            request_id=request_id,
            reasoning=scripted.reasoning,
            text=scripted.text,
            calls=scripted.calls,
        )
        log = self._log(request, answer=answer, **findings)
        headers = _identified(request_id)
        if body.get("stream"):
            stream = WIRES[wire].stream(scripted, body, self._play.model)
            return _Streamed(stream, scripted, headers, log)
        log.write()
        if request.url.path.endswith("/compact"):
            value = responses.compacted(scripted)
        else:
            value = WIRES[wire].whole(scripted, body, self._play.model)
        return Response(dumps(value), 200, headers, media_type="application/json")

    def _count(self, request: Request, findings: dict[str, Any]) -> Response:
        request_id = self._request_id("token-count")
        log = self._log(
            request, kind="token-count", answer=Answer(request_id=request_id), **findings
        )
        log.write()
        value = {"input_tokens": tokens(PlayResponse(id="token-count")).input}
        return Response(dumps(value), 200, _identified(request_id), media_type="application/json")

    def _refuse(self, request: Request, wire: Wire, failure: Failure, **exchange: Any) -> Response:
        """Answer with a failure, scripted or not, in the wire's own shape."""
        request_id = self._request_id(exchange.get("response") or "unscripted")
        error = {"type": failure.type, "message": failure.message}
        answer = Answer(status=failure.status, request_id=request_id, error=error)
        self._log(request, answer=answer, **exchange).write()
        return Response(
            dumps(WIRES[wire].refusal(failure, request_id)),
            failure.status,
            {**_identified(request_id), **failure.headers},
            media_type="application/json",
        )

    def _request_id(self, name: str) -> str:
        return wire_id("req_", name)

    def _log(self, request: Request, **exchange: Any) -> _Log:
        headers = {
            name: request.headers[name] for name in _LOGGED_HEADERS if name in request.headers
        }
        query = f"?{request.url.query}" if request.url.query else ""
        return _Log(
            self._log_path,
            Exchange(
                seq=next(self._numbers),
                method=request.method,
                path=request.url.path + query,
                headers=headers,
                **exchange,
            ),
        )


def _identified(request_id: str) -> dict[str, str]:
    return {"request-id": request_id, "x-request-id": request_id}


def _asked(request: Request, wire: Wire, body: Any, history: list[Entry]) -> str:
    texts = [entry.text for entry in history if entry.role == "user" and entry.text]
    tools = WIRES[wire].tool_kinds(body)
    last = texts[-1][-300:] if texts else ""
    return (
        f"asked: {request.method} {request.url.path}, {len(history)} entries, "
        f"{len(tools)} tools {tools[:4]}, last user text {last!r}"
    )


def _models(play: Play) -> Any:
    """List the play's model, in the shape that Copilot's API adds to OpenAI's."""
    limits = {
        "max_context_window_tokens": 128000,
        "max_prompt_tokens": 128000,
        "max_output_tokens": 16000,
    }
    supports = {
        "tool_calls": True,
        "streaming": True,
        "parallel_tool_calls": True,
        "vision": True,
    }
    model = {
        "id": play.model,
        "object": "model",
        "type": "model",
        "display_name": play.model,
        "created": 0,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": "scripted",
        "name": play.model,
        "vendor": "scripted",
        "version": play.model,
        "preview": False,
        "model_picker_enabled": True,
        "is_chat_default": True,
        "is_chat_fallback": True,
        "policy": {"state": "enabled", "terms": ""},
        "billing": {"is_premium": False, "multiplier": 1, "restricted_to": []},
        "supported_endpoints": ["/chat/completions"],
        "capabilities": {
            "family": play.model,
            "type": "chat",
            "object": "model_capabilities",
            "tokenizer": "o200k_base",
            "limits": limits,
            "supports": supports,
        },
    }
    return {
        "object": "list",
        "data": [model],
        "has_more": False,
        "first_id": play.model,
        "last_id": play.model,
    }


def load(path: Path) -> Play:
    """Load a play; msgspec.ValidationError says what is wrong with one that can't be played."""
    play = msgspec.json.decode(path.read_bytes(), type=Play)
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


def main() -> None:
    """Serve a play until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m live.model.server", description=__doc__)
    parser.add_argument("--play", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    try:
        play = load(options.play)
    except (OSError, msgspec.MsgspecError) as error:
        sys.exit(f"{options.play}: {error}")
    options.log.touch()
    listener = socket.create_server(("127.0.0.1", options.port))
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
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
