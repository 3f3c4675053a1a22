"""What a CLI asks of a provider beside the model: is it there, which models does it have."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from live.model.play import Play
from live.model.wires.base import CREATED

BACKGROUND = ("/mcp/readonly", "/agents/swe/internal/memory")
"""What Copilot CLI posts to its own provider before 1.0.10, and is content with nothing."""


def answer(request: Request, play: Play) -> tuple[int, Any]:
    """Return the status and the body of the answer to a probe."""
    if "upgrade" in request.headers:
        return 426, {"error": {"message": "no websockets here", "type": "upgrade_required"}}
    if request.url.path.endswith("/models"):
        return 200, _models(play)
    return 200, {}


def _models(play: Play) -> Any:
    """List the play's model, in the shape that Copilot's API adds to OpenAI's."""
    limits = {
        "max_context_window_tokens": 128000,
        "max_prompt_tokens": 128000,
        "max_output_tokens": 16000,
    }
    supports = {
        "tool_calls": True,
        "streaming": True,
        "parallel_tool_calls": True,
        "vision": True,
    }
    model = {
        "id": play.model,
        "object": "model",
        "type": "model",
        "display_name": play.model,
        "created": CREATED,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": "scripted",
        "name": play.model,
        "vendor": "scripted",
        "version": play.model,
        "preview": False,
        "model_picker_enabled": True,
        "is_chat_default": True,
        "is_chat_fallback": True,
        "policy": {"state": "enabled", "terms": ""},
        "billing": {"is_premium": False, "multiplier": 1, "restricted_to": []},
        "supported_endpoints": ["/chat/completions"],
        "capabilities": {
            "family": play.model,
            "type": "chat",
            "object": "model_capabilities",
            "tokenizer": "o200k_base",
            "limits": limits,
            "supports": supports,
        },
    }
    return {
        "object": "list",
        "data": [model],
        "has_more": False,
        "first_id": play.model,
        "last_id": play.model,
    }
