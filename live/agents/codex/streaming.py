"""What ``codex exec --json`` tells a program while it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

_IN_BETWEEN = ("item.started", "item.updated")
_CALLS = ("collab_tool_call", "command_execution", "file_change", "mcp_tool_call")
_NUMBERED = re.compile(r"item_(\d+)")


def records(said: str) -> Sequence[Any]:
    """Return what one process wrote, without the states that a later record replaces.

    An item is numbered when it begins. Of calls made at once, which one begins first is chance,
    while they end as the script says: those that end one after another share their numbers out
    in that order.
    """
    lines = [json.loads(line) for line in said.split("\n") if line.startswith("{")]
    told = [line for line in lines if line.get("type") not in _IN_BETWEEN]
    result: list[Any] = []
    for calls, together in groupby(told, key=_ends_call):
        run = list(together)
        result += _numbered(run) if calls else run
    return result


def _ends_call(record: Any) -> bool:
    item = record.get("item", {})
    return item.get("type") in _CALLS and _NUMBERED.fullmatch(item.get("id", "")) is not None


def _numbered(calls: Sequence[Any]) -> list[Any]:
    ids = sorted((one["item"]["id"] for one in calls), key=lambda one: int(one.rpartition("_")[2]))
    return [
        {**one, "item": {**one["item"], "id": number}}
        for one, number in zip(calls, ids, strict=True)
    ]
