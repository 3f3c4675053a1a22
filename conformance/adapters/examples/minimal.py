#!/usr/bin/env python3
"""The smallest adapter: it reads the sessions of one store, in lines of JSON, and no more.

The store is a toy: ~/.toy/ID.jsonl has a line for the directory, then one for each thing said.
Copy this file, and put your own reader in place of `read`. Nothing but Python is needed.
"""

import json
import sys
from pathlib import Path
from typing import Any

KINDS = {"user": ("UserMessage", "human"), "agent": ("AgentMessage", "model")}


def read(home: str, session_id: str) -> dict[str, Any]:
    """Return a session in the normalised model."""
    text = (Path(home) / ".toy" / f"{session_id}.jsonl").read_text("utf-8")
    head, *rest = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    messages: list[dict[str, Any]] = []
    for number, said in enumerate(rest, 2):
        kind, author = KINDS[said["who"]]
        content = [{"type": "text", "text": said["says"]}]
        message = {"kind": kind, "id": f"{session_id}-{number}", "author": author}
        messages.append({**message, "at": said["at"], "content": content})
    about = {"agent": "toy", "session_id": session_id, "cwd": head["cwd"]}
    return {**about, "messages": messages}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return what answers a request."""
    if request["cmd"] == "start":
        about = {"name": "minimal-py", "version": "1.0", "language": "Python"}
        return {"reply": "ok", "protocol": 1, "adapter": about, "stores": {"toy": {"read": True}}}
    try:
        return {"reply": "ok", "transcript": read(request["home"], request["session_id"])}
    except FileNotFoundError:
        return {"reply": "error", "stage": "find", "message": "there is no such session"}
    except (ValueError, KeyError) as error:
        return {"reply": "error", "stage": "read", "message": f"a line is not whole: {error}"}


for line in sys.stdin.buffer:
    asked = json.loads(line)
    if asked["cmd"] == "stop":
        break
    print(json.dumps({"seq": asked["seq"], **answer(asked)}), flush=True)
