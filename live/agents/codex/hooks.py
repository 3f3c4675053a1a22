"""Hooks that Codex runs without asking anybody: registered, and trusted as their owner would.

Codex runs a hook only once somebody has looked at it: ``config.toml`` then holds a digest of what
was looked at. The switch that does without (``--dangerously-bypass-hook-trust``) exists from 0.140
on, where ``codex exec`` takes it and still runs nothing. The digest is the same in all releases.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

NONE = (
    "{version} has no hooks: it names no such event, and with a hooks.json that 0.130 acts on it"
    " runs nothing"
)

_SECONDS = 60
_SECONDS_AT_END = 3
"""Codex gives no more to what it runs while somebody waits for it to stop."""

_AT_END = ("SessionEnd", "Interrupt")


def lay(directory: Path, inside: str, events: Sequence[str], command: str) -> None:
    """Register a command for hook events, and trust it; ``inside`` is where Codex finds them."""
    document = {
        "hooks": {event: [{"hooks": [_handler(event, command)]}] for event in events},
    }
    (directory / "hooks.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    with (directory / "config.toml").open("a", encoding="utf-8") as config:
        for event in events:
            key = json.dumps(f"{inside}/hooks.json:{_snake(event)}:0:0")
            digest = _digest(event, command)
            config.write(f'\n[hooks.state.{key}]\ntrusted_hash = "sha256:{digest}"\n')


def _handler(event: str, command: str) -> dict[str, str | int]:
    seconds = _SECONDS_AT_END if event in _AT_END else _SECONDS
    return {"type": "command", "command": f"{command} {event}", "timeout": seconds}


def _digest(event: str, command: str) -> str:
    """Return the digest of what Codex makes of a registered hook: with all that it assumes."""
    hook = {
        "event_name": _snake(event),
        "hooks": [{**_handler(event, command), "async": False}],
    }
    text = json.dumps(hook, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
