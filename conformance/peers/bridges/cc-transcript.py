"""cc-transcript: the events that ``show --json`` prints, as our messages.

The licence forbids commercial use: the tool is run, nothing of it is here.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from finding import session_file
from halves import Telling
from running import borrowed, run
from saying import Json, picture, text
from wire import serve


def transcript(events: list[Json], session_id: str) -> Json:
    """Return the events of a session, as the tool prints them, as a transcript."""
    telling = Telling("claude", session_id)
    for event in events:
        meta: Json = event.get("meta") or {}
        telling.about(
            session_id=meta.get("session_id"),
            cwd=meta.get("cwd"),
            cli_version=meta.get("cc_version"),
            git_branch=meta.get("git_branch"),
        )
        fields = {
            "at": meta.get("timestamp"),
            "external_id": meta.get("uuid"),
            "agent": _thread(meta),
        }
        if event["kind"] == "user":
            _from_user(telling, event, meta, fields)
        elif event["kind"] == "assistant":
            _from_model(telling, event, fields)
    return telling.transcript()


def _thread(meta: Json) -> str | None:
    return "sidechain" if meta.get("is_sidechain") else None


def _from_user(telling: Telling, event: Json, meta: Json, fields: Json) -> None:
    content: list[Json] = []
    for block in event["blocks"]:
        if block["type"] == "tool_result":
            details, denial = block.get("tool_use_result"), block.get("denial_kind")
            ended = (block["tool_use_id"], _shown(block["content"]), block["is_error"])
            telling.end(*ended, details=details, denial=denial)
        else:
            content += _shown([block])
    if not event["blocks"]:
        content = text(event["text"])
    if not content:
        return
    if meta.get("is_compact_summary"):
        boundary: Json = {"kind": "CompactBoundary", "author": "harness", "summary": content}
        telling.other({**boundary, **fields})
    elif meta.get("is_meta") or event.get("is_agent_injected"):
        telling.prompt(content, "harness", provenance="meta", **fields)
    elif event.get("interrupted"):
        telling.prompt(content, "harness", provenance="interruption", **fields)
    else:
        telling.prompt(content, "agent" if meta.get("is_sidechain") else "human", **fields)


def _from_model(telling: Telling, event: Json, fields: Json) -> None:
    fields = {**fields, "model": event.get("model")}
    if failure := event.get("api_error"):
        error: Json = {"kind": "Error", "author": "harness", "status": "failed"}
        told = {"failure": failure.get("error"), "status_code": failure.get("status")}
        telling.other({**error, **told, "text": event["text"], **fields})
        return
    for block in event["blocks"]:
        match block["type"]:
            case "text":
                telling.answer(block["text"], **fields)
            case "thinking":
                telling.thought(text(block.get("thinking") or block.get("text")), **fields)
            case "tool_use":
                telling.begin(block["id"], block["name"], block["input"], **fields)
            case "redacted_thinking":
                sealed = {"form": "redacted", "data": block["raw"]["data"]}
                telling.thought([{"type": "opaque", **sealed}], **fields)
            case _:
                pass


def _shown(content: Any) -> list[Json]:
    """Return a result's or a prompt's content: words, or blocks of words and pictures."""
    if isinstance(content, str):
        return text(content)
    shown: list[Json] = []
    for block in content or ():
        source = block.get("source")
        if isinstance(source, dict):
            shown.append(picture(source.get("data"), source.get("media_type")))
        else:
            shown += text(block.get("text"))
    return shown


def read(request: Json) -> Json:
    """Read a session."""
    path = session_file(request["home"], "claude", request["session_id"])
    with borrowed({}) as home:
        said = run(("cc-transcript", "show", "--json", "--width", "0", "--all", str(path)), home)
    events = [json.loads(line) for line in said.removesuffix("\n").split("\n") if line]
    return {"transcript": transcript(events, request["session_id"])}


def main() -> None:
    """Speak the wire."""
    about = {"name": "cc-transcript", "version": version("cc-transcript"), "language": "Rust"}
    serve(about, {"claude": {"read": True}}, {"read": read})


if __name__ == "__main__":
    main()
