"""Claude Code talked to over streams of JSON: prompts and answers to its questions go in at
standard input, everything that it does comes out at standard output.

What it asks the person comes as a ``control_request`` and is answered by a
``control_response`` of the same id; none of the two reaches the session's file.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from live.conversation import Conversation, Silent
from live.model.script import Ask, Call, Permission, Propose, Turn
from live.pictures import MEDIA_TYPE
from live.sandbox import Sandbox

_END_SECONDS = 60.0
_POLL_SECONDS = 0.05
COMPACT = "/compact"
_CARRIED_OUT = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
"""What the person chooses with a plan: that its edits need no further word."""


def words_of(turn: Turn) -> str:
    """Return what the person types for a turn."""
    return turn.prompt if turn.slash is None else turn.slash.typed


class StreamConversation(Conversation):
    """One process of the CLI, fed line by line."""

    def __init__(
        self,
        box: Sandbox,
        argv: Sequence[str],
        environment: Mapping[str, str],
        pictures: Mapping[str, bytes],
    ) -> None:
        self._box = box
        self._pictures = pictures
        self._lines: list[str] = []
        self._asked: dict[str, dict[str, Any]] = {}
        self._busy = False
        self._errors = (box.tmp.parent / "stderr").open("wb")
        self._process = subprocess.Popen(
            box.command(argv),
            cwd=box.start_directory,
            env={**box.environment(), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def begin(self) -> None:
        """Nothing comes before the first prompt."""

    def say(self, turn: Turn) -> None:
        """Send a prompt with its pictures."""
        content: list[dict[str, Any]] = [{"type": "text", "text": words_of(turn)}]
        for name in turn.images:
            data = base64.b64encode(self._pictures[name]).decode()
            source = {"type": "base64", "media_type": MEDIA_TYPE, "data": data}
            content.append({"type": "image", "source": source})
        self._send_prompt(content if turn.images else words_of(turn))

    def compact(self) -> None:
        """Send the command that compacts."""
        self._send_prompt(COMPACT)

    def interrupt(self) -> None:
        """Send the request that stands for the Escape key."""
        self._busy = True
        self._send(
            {
                "type": "control_request",
                "request_id": "interrupt",
                "request": {"subtype": "interrupt"},
            }
        )

    def asks(self, call: Call) -> bool:
        """Return whether the CLI asked about a call."""
        return _use(call) in self._asked

    def permit(self, call: Call, permission: Permission) -> None:
        """Allow a call, or refuse it with the person's words."""
        if permission.answer == "approved":
            self._reply(call, {"behavior": "allow"})
        else:
            self._reply(call, {"behavior": "deny", "message": permission.feedback or ""})

    def answer(self, call: Ask) -> None:
        """Answer the questions by their own words."""
        answers = {choice.question: choice.answer for choice in call.questions}
        self._reply(call, {"behavior": "allow"}, answers=answers)

    def settle(self, call: Propose) -> None:
        """Let a plan be carried out, or say what is wrong with it."""
        if call.accepted:
            self._reply(call, {"behavior": "allow", "updatedPermissions": [_CARRIED_OUT]})
        else:
            self._reply(call, {"behavior": "deny", "message": call.feedback or ""})

    def rests(self) -> bool:
        """Return whether the last prompt came to a result."""
        return not self._busy

    def end(self) -> None:
        """Close the input; the CLI ends when it is through with it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Silent(f"it did not end; it said last:\n{self.shown()}") from None
        self._reader.join(_END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(_END_SECONDS)
        self._errors.close()
        self._box.reap(self._process.pid)
        self._reader.join(_END_SECONDS)
        with contextlib.suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()

    def shown(self) -> str:
        """Return the last lines of both outputs."""
        errors = (self._box.tmp.parent / "stderr").read_text("utf-8", "replace")
        return "\n".join([*(line[:400] for line in self._lines[-5:]), errors[-800:]])

    def stream(self) -> Sequence[str]:
        """Return all lines of its standard output."""
        return tuple(self._lines)

    def _send_prompt(self, content: Any) -> None:
        self._busy = True
        self._send({"type": "user", "message": {"role": "user", "content": content}})

    def _send(self, value: Any) -> None:
        if self._process.stdin is None or self._process.poll() is not None:
            raise Silent(f"it ended before it could be told; it said last:\n{self.shown()}")
        self._process.stdin.write(json.dumps(value).encode() + b"\n")
        self._process.stdin.flush()

    def _reply(self, call: Call, response: dict[str, Any], **more: Any) -> None:
        asked = self._asked.pop(_use(call))
        if response["behavior"] == "allow":
            given = {**asked["request"].get("input", {}), **more}
            response = {**response, "updatedInput": given}
        self._send(
            {
                "type": "control_response",
                "response": {
                    "subtype": "success",
                    "request_id": asked["request_id"],
                    "response": response,
                },
            }
        )

    def _read(self) -> None:
        for raw in self._process.stdout or ():
            line = raw.decode("utf-8", "replace").rstrip("\n")
            self._lines.append(line)
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if said.get("type") == "control_request":
                request = said.get("request", {})
                if request.get("subtype") == "can_use_tool":
                    self._asked[request.get("tool_use_id", "")] = said
            elif said.get("type") == "result":
                self._busy = False
        time.sleep(_POLL_SECONDS)


def _use(call: Call) -> str:
    return f"toolu_{call.id}"
