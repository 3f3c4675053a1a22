#!/usr/bin/env python3
"""An adapter that offers everything: it reads, lists, writes and converts the sessions of a toy.

The toy's sessions are ~/.toy/ID.jsonl: a line for the directory, then one for each thing said.
It converts them into pages, plain text in ~/.page/ID.txt. Nothing but Python is needed.
"""

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ABOUT = {"name": "whole-py", "version": "1.0", "language": "Python"}
STORES = {"toy": {"read": True, "write": True, "list": True, "convert": ["page"]}}
KINDS = {"user": ("UserMessage", "human"), "agent": ("AgentMessage", "model")}
WHO = {"UserMessage": "user", "AgentMessage": "agent"}


class Failure(Exception):
    """The adapter can't do it: at which stage, and why."""


def load(home: str, session_id: str) -> tuple[str, list[Json]]:
    """Return a session's directory and what was said, each as the toy keeps it."""
    try:
        text = (Path(home) / ".toy" / f"{session_id}.jsonl").read_text("utf-8")
    except FileNotFoundError:
        raise Failure("find", "there is no such session") from None
    try:
        head, *said = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
        return head["cwd"], said
    except (ValueError, KeyError) as error:
        raise Failure("read", f"a line is not whole: {error}") from None


def read(home: str, session_id: str) -> Json:
    """Return a session in the normalised model."""
    cwd, lines = load(home, session_id)
    messages: list[Json] = []
    for number, said in enumerate(lines, 2):
        kind, author = KINDS[said["who"]]
        content = [{"type": "text", "text": said["says"]}]
        message = {"kind": kind, "id": f"{session_id}-{number}", "author": author}
        messages.append({**message, "at": said["at"], "content": content})
    return {"agent": "toy", "session_id": session_id, "cwd": cwd, "messages": messages}


def listed(home: str, cwd: str | None) -> list[Json]:
    """Return the sessions, newest first."""
    sessions: list[Json] = []
    for path in (Path(home) / ".toy").glob("*.jsonl"):
        where, lines = load(home, path.stem)
        entry: Json = {"agent": "toy", "session_id": path.stem, "path": path.name, "cwd": where}
        entry["updated_at"] = lines[-1]["at"] if lines else None
        if cwd in (None, where):
            sessions.append(entry)
    return sorted(sessions, key=lambda entry: entry["updated_at"] or "", reverse=True)


def words(parts: list[Json] | None) -> str:
    """Return the text of a message's content."""
    return "".join(part["text"] for part in parts or () if part["type"] == "text")


def write(home: str, transcript: Json, session_id: str, cwd: str | None, now: str | None) -> Json:
    """Write a new session; what the toy has no line for becomes prose, or is left out."""
    lines: list[Json] = [{"cwd": cwd or transcript["cwd"]}]
    losses: list[Json] = []
    for message in transcript["messages"]:
        kind, says = message["kind"], words(message.get("content"))
        loss = None
        if kind == "Error":
            loss = "withheld-error"
        elif kind == "CommandExecution":
            loss, output = "narrated", words(message["output"])
            says = f"(ran {message['command']}, exit code {message['exit_code']}) {output}"
        elif kind not in WHO:
            loss, says = "narrated", f"({kind}) {says or message.get('name', '')}"
        if loss:
            losses.append({"loss": loss, "message": message["id"]})
        if loss != "withheld-error":
            who = WHO.get(kind, "agent")
            lines.append({"who": who, "at": message["at"] or now, "says": says})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    place(Path(home) / ".toy" / f"{session_id}.jsonl", text)
    return {"session_id": session_id, "losses": losses}


def convert(home: str, session_id: str, target_home: str, new_session_id: str) -> Json:
    """Write a session of the toy as a page."""
    _, lines = load(home, session_id)
    text = "".join(f"{said['who']}: {said['says']}\n" for said in lines)
    place(Path(target_home) / ".page" / f"{new_session_id}.txt", text)
    return {"session_id": new_session_id, "losses": [{"loss": "time-moved"}]}


def place(path: Path, text: str) -> None:
    """Put a whole new file in its place, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        raise Failure("write", f"there is a session {path.stem} already")
    half = path.with_suffix(".half")
    half.write_text(text, "utf-8")
    half.rename(path)  # nobody ever sees half a session


def answer(request: Json) -> Json:
    """Return what answers a request."""
    verb = request.get("verb", request["cmd"])
    if verb == "start":
        return {"protocol": 1, "adapter": ABOUT, "stores": STORES}
    home = request["home"]
    if verb == "read":
        return {"transcript": read(home, request["session_id"])}
    if verb == "list":
        return {"sessions": listed(home, request["cwd"])}
    if verb == "write":
        transcript, now = request["transcript"], request["now"]
        return write(home, transcript, request["session_id"], request["cwd"], now)
    where = request["target_home"]
    return convert(home, request["session_id"], where, request["new_session_id"])


for line in sys.stdin.buffer:
    asked = json.loads(line)
    if asked["cmd"] == "stop":
        break
    try:
        reply = {"seq": asked["seq"], "reply": "ok", **answer(asked)}
    except Failure as failure:
        stage, message = failure.args
        reply = {"seq": asked["seq"], "reply": "error", "stage": stage, "message": message}
    print(json.dumps(reply), flush=True)
