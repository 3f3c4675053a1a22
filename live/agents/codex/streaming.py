"""What ``codex exec --json`` tells a program while it runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_IN_BETWEEN = ("item.started", "item.updated")


def records(said: str) -> Sequence[Any]:
    """Return what one process wrote, without the states that a later record replaces."""
    lines = [json.loads(line) for line in said.split("\n") if line.startswith("{")]
    return [line for line in lines if line.get("type") not in _IN_BETWEEN]
