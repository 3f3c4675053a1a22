"""What Copilot CLI would refuse in a session somebody wrote, each fault by its name.

The CLI's own answer is often nothing at all: 1.0.40 exits with 1 and an empty stderr for a
bad line, 1.0.102 for a bad ``workspace.yaml``. This check reads the bytes by itself, without
the reader, whose business is to be lenient.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EVENT_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_WORKSPACE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One reason for which the CLI refuses a session.

    ``fault`` is a short name; ``file`` is ``events.jsonl`` or ``workspace.yaml``.
    """

    fault: str
    file: str
    line: int | None = None
    why: str = ""


def writer_faults(path: Path) -> list[Fault]:
    """Return every fault of a session directory or events file, in order of place."""
    directory = path if path.is_dir() else None
    events = path / "events.jsonl" if directory is not None else path
    try:
        raw = events.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        return [Fault(fault="events-missing", file="events.jsonl", why=why)]
    checked = _Events(events.name)
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            checked.line(number, line)
    if raw and not raw.endswith(b"\n"):
        checked.add("no-final-newline", len(lines), "the next event is appended to this line")
    checked.finish()
    found = checked.faults
    if directory is not None and (directory / "workspace.yaml").exists():
        found.extend(_workspace_faults(directory / "workspace.yaml"))
    return found


class _Events:
    def __init__(self, file: str) -> None:
        self.faults: list[Fault] = []
        self._file = file
        self._count = 0
        self._ids: set[str] = set()
        self._requested: dict[str, int] = {}
        self._closed: set[str] = set()
        self._cut: dict[str, int] = {}

    def add(self, fault: str, line: int, why: str) -> None:
        self.faults.append(Fault(fault=fault, file=self._file, line=line, why=why))

    def line(self, number: int, raw: bytes) -> None:
        """Check one physical line."""
        self._count += 1
        try:
            event: Any = json.loads(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            self.add("not-utf8", number, error.reason)
            return
        except (ValueError, RecursionError) as error:
            self.add("not-json", number, str(error))
            return
        if not isinstance(event, dict):
            self.add("not-an-object", number, "an event is a JSON object")
            return
        self._envelope(number, event)
        data = event.get("data")
        if not isinstance(data, dict):
            self.add("data-not-object", number, "`data` must be an object")
            return
        kind = event.get("type")
        if self._count == 1 and kind != "session.start":
            self.add("session-start-not-first", number, f"the first event is {kind!r}")
        self._data(number, kind, data)

    def finish(self) -> None:
        """Check what only the whole file shows."""
        if self._count == 0:
            self.add("empty", 1, "there is no event in the file")
        for call, number in self._requested.items():
            # What an abort cut off the CLI itself leaves without a result.
            if call not in self._closed and call not in self._cut:
                self.add("call-not-closed", number, f"no result of call {call!r}")

    def _envelope(self, number: int, event: dict[str, Any]) -> None:
        own = event.get("id")
        if not isinstance(own, str) or _UUID.fullmatch(own) is None:
            self.add("id-not-uuid", number, f"`id` is {own!r}")
        elif own in self._ids:
            self.add("id-repeated", number, f"`id` {own} stands twice")
        else:
            self._ids.add(own)
        if "parentId" not in event:
            self.add("parent-id-missing", number, "`parentId` must be there, if only null")
        else:
            parent = event["parentId"]
            if parent is not None and not (isinstance(parent, str) and _UUID.fullmatch(parent)):
                self.add("parent-id-not-uuid", number, f"`parentId` is {parent!r}")
        self._time(number, event.get("timestamp"), "timestamp")
        if not isinstance(event.get("type"), str):
            self.add("type-not-text", number, f"`type` is {event.get('type')!r}")

    def _time(self, number: int, value: Any, name: str) -> None:
        if not isinstance(value, str) or _EVENT_TIME.fullmatch(value) is None:
            self.add("time-form", number, f"`{name}` is {value!r}, not in millisecond Z form")

    def _data(self, number: int, kind: Any, data: dict[str, Any]) -> None:
        match kind:
            case "session.start":
                for name in ("sessionId", "producer", "copilotVersion"):
                    self._text(number, data, name)
                self._time(number, data.get("startTime"), "startTime")
            case "user.message":
                self._text(number, data, "content")
            case "assistant.message":
                self._text(number, data, "messageId")
                self._text(number, data, "content")
                self._requests(number, data.get("toolRequests"))
                blocks = data.get("reasoningBlocks")
                if blocks is not None and not isinstance(blocks, dict):
                    self.add("reasoning-blocks-not-object", number, "`reasoningBlocks`")
            case "tool.execution_start":
                self._text(number, data, "toolCallId")
                self._text(number, data, "toolName")
            case "tool.execution_complete":
                self._complete(number, data)
            case "abort":
                for call in self._requested.keys() - self._closed:
                    self._cut.setdefault(call, number)
            case _:
                pass

    def _requests(self, number: int, requests: Any) -> None:
        if requests is None:
            return
        if not isinstance(requests, list):
            self.add("tool-requests-not-list", number, "`toolRequests`")
            return
        for request in requests:
            if not isinstance(request, dict):
                self.add("tool-request-not-object", number, "`toolRequests`")
                continue
            self._text(number, request, "toolCallId")
            self._text(number, request, "name")
            call = request.get("toolCallId")
            if isinstance(call, str):
                if call in self._requested:
                    self.add("call-id-repeated", number, f"call {call!r} was requested before")
                self._requested[call] = number

    def _complete(self, number: int, data: dict[str, Any]) -> None:
        self._text(number, data, "toolCallId")
        call = data.get("toolCallId")
        if isinstance(call, str):
            self._closed.add(call)
            if call in self._cut:
                why = f"the result of call {call!r} on line {number} counts no more after this"
                self.add("abort-before-result", self._cut[call], why)
        if not isinstance(data.get("success"), bool):
            self.add("success-not-boolean", number, "`success` must be true or false")
        result, error = data.get("result"), data.get("error")
        if "result" in data and not isinstance(result, dict):
            self.add("result-not-object", number, "`result` must be an object with `content`")
        elif isinstance(result, dict):
            self._text(number, result, "content")
        if "error" in data and not isinstance(error, dict):
            self.add("error-not-object", number, "`error` must be an object with `message`")
        elif isinstance(error, dict):
            self._text(number, error, "message")
        if data.get("success") is False and "error" not in data:
            self.add("failure-without-error", number, "`success` is false without an `error`")

    def _text(self, number: int, fields: dict[str, Any], name: str) -> None:
        if not isinstance(fields.get(name), str):
            self.add(f"{_dashed(name)}-not-text", number, f"`{name}` is {fields.get(name)!r:.60}")


def _workspace_faults(path: Path) -> list[Fault]:
    def fault(name: str, why: str) -> Fault:
        return Fault(fault=name, file=path.name, why=why)

    try:
        found: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return [fault("workspace-unreadable", " ".join(str(error).split()))]
    if not isinstance(found, dict):
        return [fault("workspace-not-mapping", "there is no mapping in it")]
    faults: list[Fault] = []
    if not isinstance(found.get("id"), str) or not found["id"]:
        faults.append(fault("workspace-without-id", "`id` is missing"))
    for name in ("created_at", "updated_at"):
        value = found.get(name)
        if value is not None and _WORKSPACE_TIME.fullmatch(str(value)) is None:
            faults.append(fault("workspace-time-form", f"`{name}` is {value!r}"))
    return faults


def _dashed(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower()
