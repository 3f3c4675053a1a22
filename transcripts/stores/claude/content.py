"""Content blocks of the Anthropic API to parts of the model, and back."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from typing import Any

from transcripts.losses import LossId
from transcripts.model import Asset, Content, Opaque, Part, Structured, Text
from transcripts.narration import json_text
from transcripts.stores.claude.foreign import mapping, string
from transcripts.stores.claude.reading.entries import Words


def parts(content: Any) -> Content:
    """Return the parts of a message's or a result's content, a string or blocks.

    Empty text says nothing and is no part. A block of an unknown type is kept whole.
    """
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    if not isinstance(content, list):
        return () if content is None else (Structured(value=content),)
    if len(content) == 1 and type(content[0]) is Words:
        # Nearly all that anybody says is one block of text.
        return (Text(text=content[0].text),) if content[0].text else ()
    return tuple([part for block in content if (part := _part(block)) is not None])


def _part(block: Any) -> Part | None:
    if type(block) is Words:
        return Text(text=block.text) if block.text else None
    if isinstance(block, str):
        return Text(text=block) if block else None
    kind = mapping(block).get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(text=block["text"]) if block["text"] else None
    if kind in ("image", "document"):
        return _asset(block)
    return Structured(value=block)


def _asset(block: dict[str, Any]) -> Asset | Structured:
    source = mapping(block.get("source"))
    data = source.get("data")
    name = string(block.get("title"))
    media_type = string(source.get("media_type"))
    if source.get("type") == "url":
        return Asset(sha256=None, path=string(source.get("url")), name=name)
    if not isinstance(data, str):
        return Structured(value=block)
    raw = data.encode("utf-8", "surrogatepass")
    if source.get("type") == "base64":
        try:
            raw = base64.b64decode(raw, validate=True)
        except (binascii.Error, ValueError):
            return Structured(value=block)
    else:
        data = base64.b64encode(raw).decode()
    return Asset(
        sha256=hashlib.sha256(raw).hexdigest(),
        media_type=media_type,
        data=data,
        name=name,
        size=len(raw),
    )


_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DOCUMENTS = frozenset({"application/pdf", "text/plain"})


def blocks(content: Iterable[Part]) -> tuple[list[dict[str, Any]], list[LossId]]:
    """Return parts as blocks that the API takes, and what that loses."""
    made: list[dict[str, Any]] = []
    losses: list[LossId] = []
    for part in content:
        block = _block(part, losses)
        if block is not None:
            made.append(block)
    return made, losses


def _block(part: Part, losses: list[LossId]) -> dict[str, Any] | None:
    match part:
        case Text():
            return {"type": "text", "text": part.text} if part.text.strip() else None
        case Structured():
            if mapping(part.value).get("type") == "tool_reference":
                return part.value
            losses.append("structured-as-text")
            text = part.value if isinstance(part.value, str) else json_text(part.value)
            return {"type": "text", "text": text} if text.strip() else None
        case Opaque():
            losses.append("reasoning-opaque-dropped")
            return None
        case Asset():
            return _asset_block(part, losses)


def _asset_block(asset: Asset, losses: list[LossId]) -> dict[str, Any] | None:
    if asset.data is None or asset.media_type not in _IMAGES | _DOCUMENTS:
        losses.append("asset-dropped")
        what = asset.name or asset.path or asset.media_type or "file"
        return {"type": "text", "text": f"(attached: {what})"}
    kind = "image" if asset.media_type in _IMAGES else "document"
    source = {"type": "base64", "media_type": asset.media_type, "data": asset.data}
    if asset.media_type == "text/plain":
        text = base64.b64decode(asset.data).decode("utf-8", "replace")
        source = {"type": "text", "media_type": "text/plain", "data": text}
    block: dict[str, Any] = {"type": kind, "source": source}
    if asset.name and kind == "document":
        block["title"] = asset.name
    return block
