"""An adapter that commits the fault that it is told to: run by the tests of the wire, alone.

Its one argument is the fault. Everything else it does right: it reads one session of ``toy``, and
a session called ``fine`` is read without the fault.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

FAULT = sys.argv[1]


def write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def line(value: Any) -> str:
    return json.dumps(value) + "\n"


def start(request: dict[str, Any]) -> None:
    protocol = 2 if FAULT == "another version" else 1
    about = {"name": "wire-faults", "version": "1", "language": "Python"}
    stores: dict[str, Any] = {"toy": {"read": True}}
    if FAULT == "offers what there is not":
        stores["toy"]["dream"] = True
    if FAULT == "banner":
        write("wire-faults 1.0, ready\n")
    if FAULT == "another version in another shape":
        write(line({"seq": 0, "protocol": "2.0", "hello": "there"}))
    elif FAULT == "can't start":
        write(line({"seq": 0, "reply": "error", "stage": "start", "message": "no toy here"}))
    elif FAULT == "isn't here":
        write(line({"seq": 0, "reply": "skipped", "why": "needs a toy"}))
    elif FAULT == "hangs at start":
        time.sleep(600)
    elif FAULT == "crashes at start":
        sys.exit("no toy\nin this house")
    else:
        reply = {"seq": request["seq"], "reply": "ok", "protocol": protocol}
        write(line({**reply, "adapter": about, "stores": stores}))


def answered(request: dict[str, Any]) -> dict[str, Any]:
    message = {"kind": "UserMessage", "id": "1", "author": "human", "content": []}
    transcript = {"agent": "toy", "session_id": request["session_id"], "messages": [message]}
    return {"seq": request["seq"], "reply": "ok", "transcript": transcript}


def run(request: dict[str, Any]) -> None:
    answer = answered(request)
    if request["session_id"] == "fine":
        write(line(answer))
        return
    if FAULT in DEEDS:
        DEEDS[FAULT](line(answer))
    said = SAYINGS[FAULT](answer) if FAULT in SAYINGS else answer
    write(said if isinstance(said, str) else line(said))


# ------------------------------------------------------------------ what is done instead


def hang(whole: str) -> None:
    time.sleep(600)


def hang_in_mid_line(whole: str) -> None:
    write(whole[:20])
    time.sleep(600)


def hang_with_a_child(whole: str) -> None:
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def crash(whole: str) -> None:
    sys.stderr.write("the toy fell down the stairs\n")
    sys.exit(3)


def crash_in_mid_line(whole: str) -> None:
    write(whole[:20])
    os._exit(3)


def be_killed(whole: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave_a_child(whole: str) -> None:
    if os.fork() == 0:
        time.sleep(600)
    os._exit(4)


def close_the_output(whole: str) -> None:
    os.close(1)
    time.sleep(600)


def write_bytes(whole: str) -> None:
    sys.stdout.buffer.write(b"\xff\xfe\x00\n")


def write_in_pieces(whole: str) -> None:
    for at in range(0, len(whole), 7):
        write(whole[at : at + 7])
        time.sleep(0.01)


DEEDS: dict[str, Callable[[str], None]] = {
    "hangs": hang,
    "hangs in mid-line": hang_in_mid_line,
    "hangs with a child that ignores it": hang_with_a_child,
    "crashes": crash,
    "crashes in mid-line": crash_in_mid_line,
    "is killed": be_killed,
    "leaves a child that holds the pipe": leave_a_child,
    "closes its output": close_the_output,
    "writes bytes": write_bytes,
    "writes in pieces": write_in_pieces,
}


# ------------------------------------------------------------------ what is said instead


def with_message(answer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer["transcript"]["messages"][0].update(fields)
    return answer


def error(answer: dict[str, Any], stage: str, message: str) -> dict[str, Any]:
    return {"seq": answer["seq"], "reply": "error", "stage": stage, "message": message}


def without(values: dict[str, Any], key: str) -> dict[str, Any]:
    del values[key]
    return values


def without_author(answer: dict[str, Any]) -> dict[str, Any]:
    without(answer["transcript"]["messages"][0], "author")
    return answer


SAYINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "logs": lambda a: "reading toy …\n" + line(a),
    "logs an array": lambda a: '["reading", "toy"]\n' + line(a),
    "writes an empty line": lambda a: "\n" + line(a),
    "pretty-prints": lambda a: json.dumps(a, indent=2) + "\n",
    "breaks a string": lambda a: line(a).replace('"toy"', '"to\ny"', 1),
    "writes in pieces": lambda a: "",
    "ends lines with CR LF": lambda a: line(a).replace("\n", "\r\n"),
    "counts for itself": lambda a: {**a, "seq": a["seq"] + 1},
    "answers twice": lambda a: line(a) * 2,
    "says no number": lambda a: without(a, "seq"),
    "says more": lambda a: {**a, "mood": "good"},
    "says too little": without_author,
    "has a rumour": lambda a: with_message(a, kind="Rumour"),
    "misspells": lambda a: with_message(a, externalId="m1"),
    "misspells in a part": lambda a: with_message(a, content=[{"type": "text", "txt": ""}]),
    "has a part more": lambda a: with_message(
        a, content=[{"type": "text", "text": "", "bold": True}]
    ),
    "knows no zone": lambda a: with_message(a, at="2026-03-01T12:00:00"),
    "fails": lambda a: error(a, "read", "toy.jsonl:3: cut short"),
    "fails nowhere": lambda a: error(a, "attic", "dark"),
    "skips": lambda a: {"seq": a["seq"], "reply": "skipped", "why": "a fork"},
}


for asked in sys.stdin:
    wanted = json.loads(asked)
    if wanted["cmd"] == "start":
        start(wanted)
    elif wanted["cmd"] == "run":
        run(wanted)
    elif FAULT == "does not stop":
        time.sleep(600)
    elif FAULT == "says goodbye":
        write(line({"seq": wanted["seq"], "reply": "ok"}))
        break
    elif FAULT == "stops badly":
        sys.exit(5)
    else:
        break
