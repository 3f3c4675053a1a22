"""What one agent tells another over the Responses API, which the provider seals.

A tool's schema may mark a parameter ``"encrypted": true`` (Codex 0.171's ``spawn_agent``,
``send_message`` and ``followup_task``): the provider then hands out a sealed value, the CLI
records and passes on what it cannot read, and the provider opens it for the agent that it is
meant for. Recordings without a seal would promise readers words that no real session holds.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from live.model.play import WireCall

_SEAL = "c2VhbGVk"
"""What every sealed value begins with."""


def sealed(text: str) -> str:
    """Seal words so that nobody reads them by accident."""
    return _SEAL + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def opened(text: str) -> str:
    """Open a sealed value; what was never sealed stays as it is."""
    if not text.startswith(_SEAL):
        return text
    body = text.removeprefix(_SEAL)
    try:
        return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text


def with_seals(call: WireCall, tools: list[Any]) -> WireCall:
    """Seal the arguments whose parameters the offered tools mark so."""
    marked = _marked(call, tools)
    if not marked or not isinstance(call.arguments, dict):
        return call
    arguments = {
        name: sealed(value) if name in marked and isinstance(value, str) else value
        for name, value in call.arguments.items()
    }
    return msgspec.structs.replace(call, arguments=arguments)


def _marked(call: WireCall, tools: list[Any]) -> set[str]:
    found: set[str] = set()
    for tool in tools:
        inner = tool.get("tools")
        if tool.get("type") == "namespace" and isinstance(inner, list):
            if tool.get("name") == call.namespace:
                found |= _marked(msgspec.structs.replace(call, namespace=None), inner)
        elif tool.get("name") == call.name and call.namespace is None:
            properties = (tool.get("parameters") or {}).get("properties") or {}
            found |= {name for name, schema in properties.items() if schema.get("encrypted")}
    return found
