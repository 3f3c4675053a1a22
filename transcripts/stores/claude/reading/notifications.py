"""What became of work in the background, told to the model long after the call returned.

A background call's own result says only that it was started. Its end comes as a
``<task-notification>`` in the user's place, naming the call: without joining the two, an
agent's report would be harness noise and be lost in every other CLI.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from transcripts.model import Status
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.reading.rows import Row

_FIELD = re.compile(
    r"<(?P<name>task-id|tool-use-id|status|summary|result)>(?P<text>.*?)</(?P=name)>", re.DOTALL
)
_EXIT_CODE = re.compile(r"\(exit code (-?[0-9]+)(?:: [^()]*)?\)\Z")
_STATUSES: dict[str, Status] = {
    "completed": "completed",
    "failed": "failed",
    "killed": "cancelled",
    "stopped": "cancelled",
}


class Notification(NamedTuple):
    """The end of a background call: how it ended, and what was reported or which code."""

    status: Status
    result: str | None
    exit_code: int | None
    row: Row
    pointer: str


_OPENING = "<task-notification>"


def notification_in(row: Row) -> tuple[str, Notification] | None:
    """Return the call that a row tells the end of, and that end; None if it tells of none.

    Where it does not name the call, it names the task: what the call's result calls it.
    """
    if row.type not in ("attachment", "user"):
        return None
    text = text_of(parts(row.entry.in_a_prompts_place)).strip()
    if not (text.startswith(_OPENING) and text.endswith("</task-notification>")):
        return None
    # A report may quote such fields; the harness's own come first.
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(text):
        fields.setdefault(match["name"], match["text"])
    status = _STATUSES.get(fields.get("status", ""))
    call = fields.get("tool-use-id") or fields.get("task-id")
    if status is None or not call:
        return None
    code = _EXIT_CODE.search(fields.get("summary", ""))
    return call, Notification(
        status=status,
        result=fields.get("result"),
        exit_code=int(code[1]) if code else None,
        row=row,
        pointer="/message/content" if row.type == "user" else "/attachment/prompt",
    )
