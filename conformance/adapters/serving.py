"""The other side of the wire: any adapter of this process, as a program.

``python -m conformance.adapters.serving NAME`` answers for the adapter of that name. A Python
store that may hang or crash is asked through this, and costs one answer when it does:
``exec:python -m conformance.adapters.serving py:package.module:Store``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import msgspec

from conformance.adapters.adapter import Adapter, Offer
from conformance.adapters.errors import AdapterError, BrokenAnswer, Failed, NotOffered, Skipped
from conformance.adapters.messages import (
    PROTOCOL,
    ConvertRequest,
    ErrorReply,
    ListOk,
    ListRequest,
    ReadOk,
    ReadRequest,
    SkippedReply,
    StartOk,
    StartRequest,
    StopRequest,
    WriteOk,
    WriteRequest,
    to_line,
)
from conformance.adapters.opening import open_adapter
from transcripts.records import jsonlines

MISUSE = 2

_RUNS: Mapping[str, type[msgspec.Struct]] = {
    "read": ReadRequest,
    "write": WriteRequest,
    "list": ListRequest,
    "convert": ConvertRequest,
}


class NoRequest(Exception):
    """A line asks nothing that this wire knows; nobody could answer it."""


def serve(adapter: Adapter, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests, a line each, until one says stop or they end."""
    for line in requests:
        request = _request(line)
        if isinstance(request, StopRequest):
            return
        answers.write(_answered(adapter, request))
        answers.flush()


def _request(line: bytes) -> Any:
    try:
        value = jsonlines.parse(line)
        cmd = value["cmd"]
        shape = {"start": StartRequest, "stop": StopRequest}.get(cmd) or _RUNS[value["verb"]]
        return msgspec.convert(value, shape)
    except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise NoRequest(f"{type(error).__name__}: {error}") from error


def _answered(adapter: Adapter, request: Any) -> bytes:
    """Return the answer's line; a failure of any kind is an answer too."""
    seq = request.seq
    try:
        return to_line(_ANSWERS[type(request)](adapter, request))
    except (Skipped, NotOffered) as error:
        return to_line(SkippedReply(seq=seq, why=error.why))
    except Failed as error:
        return to_line(ErrorReply(seq=seq, stage=error.stage, message=error.message))
    except BrokenAnswer as error:
        return to_line(ErrorReply(seq=seq, stage="internal", message=error.why))
    except Exception as error:  # the wire must say so, not end
        why = f"{type(error).__name__}: {error}"
        return to_line(ErrorReply(seq=seq, stage="internal", message=why))


def _start(adapter: Adapter, request: StartRequest) -> StartOk:
    stores: dict[str, Offer] = {agent: adapter.offers(agent) for agent in adapter.agents()}
    return StartOk(seq=request.seq, protocol=PROTOCOL, adapter=adapter.about, stores=stores)


def _read(adapter: Adapter, request: ReadRequest) -> ReadOk:
    transcript = adapter.read(
        request.agent, Path(request.home), request.session_id, recover=request.recover
    )
    return ReadOk(seq=request.seq, transcript=transcript)


def _write(adapter: Adapter, request: WriteRequest) -> WriteOk:
    made = adapter.write(
        request.agent,
        Path(request.home),
        request.transcript,
        session_id=request.session_id,
        cwd=request.cwd,
        model=request.model,
        cli_version=request.cli_version,
        now=request.now,
    )
    return WriteOk(seq=request.seq, session_id=made.session_id, losses=made.losses)


def _list(adapter: Adapter, request: ListRequest) -> ListOk:
    listing = adapter.list(request.agent, Path(request.home), cwd=request.cwd)
    return ListOk(
        seq=request.seq, sessions=listing.sessions, seen=listing.seen, failed=listing.failed
    )


def _convert(adapter: Adapter, request: ConvertRequest) -> WriteOk:
    made = adapter.convert(
        request.agent,
        Path(request.home),
        request.session_id,
        request.target_agent,
        Path(request.target_home),
        new_session_id=request.new_session_id,
        cwd=request.cwd,
        recover=request.recover,
    )
    return WriteOk(seq=request.seq, session_id=made.session_id, losses=made.losses)


_ANSWERS: Mapping[type[msgspec.Struct], Callable[[Adapter, Any], msgspec.Struct]] = {
    StartRequest: _start,
    ReadRequest: _read,
    WriteRequest: _write,
    ListRequest: _list,
    ConvertRequest: _convert,
}


def main() -> NoReturn:
    """Serve the adapter that the one argument names; what it prints goes to standard error."""
    if len(sys.argv) != 2:
        print("usage: python -m conformance.adapters.serving ADAPTER", file=sys.stderr)
        sys.exit(MISUSE)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        with answers, open_adapter(sys.argv[1]) as adapter:
            serve(adapter, sys.stdin.buffer, answers)
    except (AdapterError, NoRequest) as error:
        print(f"serving: {error}", file=sys.stderr)
        sys.exit(MISUSE)
    sys.exit(0)


if __name__ == "__main__":
    main()
