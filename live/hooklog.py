"""What a CLI tells its hooks: the program that takes it down, and its log read back.

A recorder of this package's own, so that what a correlator is tried on was not made by the
correlator's side. Run as a program it is started once an event, inside the sandbox, beside
nothing: standard library only. It never stops a CLI: it prints nothing, ends with 0 whatever
happens, and writes each event with one call of an append-only file, so that two that run at
once don't tear each other's lines.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LOG = "hooks.jsonl"
LOGS = "hooks*.jsonl"
"""All logs of a run: one, unless events were registered under two names each."""
PLACE = "hooked"
"""Where a case keeps its run with hooks."""


class Unlogged(Exception):
    """A log holds what was no payload; the message says which event and what is wrong."""


def row(observed: float, event: str | None, raw: bytes) -> bytes:
    """Return the line of an event; a payload that can't be read is told by length and hash."""
    head = f'{{"observed_at":"{_stamp(observed)}","event":{json.dumps(event)},'
    try:
        text = raw.decode("utf-8").strip()
        payload = json.loads(text)
    except ValueError as error:
        fault = {
            "fault": "malformed_payload" if raw.strip() else "empty_payload",
            "bytes": len(raw),
            "sha256": hashlib.sha256(raw).hexdigest(),
            "why": str(error),
        }
        return (head + json.dumps(fault)[1:] + "\n").encode()
    # As it came, unless it would be several lines.
    if "\n" in text or "\r" in text:
        text = json.dumps(payload, separators=(",", ":"))
    return (head + '"payload":' + text + "}\n").encode()


def append(log: Path, line: bytes) -> None:
    """Write a line behind all others in one go; nobody else may read the file."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def read(log: Path) -> list[dict[str, Any]]:
    """Return a log's rows in the order of arrival; :class:`Unlogged` if one is no payload."""
    if not log.exists():
        return []
    lines = log.read_bytes().split(b"\n")
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
    for number, one in enumerate(rows, 1):
        if "fault" in one:
            raise Unlogged(f"row {number}: {one['event']} told {one['bytes']} bytes: {one['why']}")
    return rows


def _stamp(seconds: float) -> str:
    whole = int(seconds)
    digits = f"{int((seconds - whole) * 1_000_000):06d}"
    return time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(whole)) + digits + "Z"


def main() -> None:
    """Take down one event: its payload is on standard input, its name the only argument."""
    try:
        raw = sys.stdin.buffer.read()
        event = sys.argv[1] if len(sys.argv) > 1 else None
        append(Path(sys.argv[0]).with_name(LOG), row(time.time(), event, raw))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
