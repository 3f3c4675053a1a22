"""One module for each provider's wire: requests into history, answers into its events."""

from __future__ import annotations

from live.model.play import Wire
from live.model.wires import anthropic, chat, responses
from live.model.wires.base import WireModule

WIRES: dict[Wire, WireModule] = {
    "anthropic": anthropic,
    "responses": responses,
    "chat": chat,
}

__all__ = ["WIRES", "WireModule"]
