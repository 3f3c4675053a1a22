"""The content of response items: parts of messages, thoughts and results."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, get_args, get_type_hints

from transcripts.model import Asset, Content, Opaque, Part, Structured, Text
from transcripts.stores.codex.dialects.shapes import Words
from transcripts.stores.codex.foreign import items, mapping, text

_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_IMAGE_OPENS = re.compile(r'<image(?: name=\[Image #\d+\](?: path="[^"]*")?| [^>]*)?>')
_IMAGE_CLOSES = "</image>"
_NAMES_OF_WORDS = get_args(get_type_hints(Words)["type"])


def content_of(value: Any) -> Content:
    """Return the parts of a message or of a result, from either vocabulary's spelling.

    The tags in which Codex wraps an attached image are no text of the person's.
    """
    if type(value) is list and len(value) == 1 and (words := _words(value[0])) is not None:
        return (Text(text=words),)
    return tuple([part for _, part in numbered_content(value)])


def numbered_content(value: Any) -> list[tuple[int, Part]]:
    """Return the parts, each with its place among those that were recorded."""
    if isinstance(value, str):
        return [(0, Text(text=value))]
    parts = items(value)
    if len(parts) == 1:
        part = _part(parts[0])
        return [] if part is None else [(0, part)]
    return [
        (at, part)
        for at, one in enumerate(parts)
        if not _wraps_an_image(parts, at) and (part := _part(one)) is not None
    ]


def spoken_text(content: Content) -> str:
    """Return the words of a message as its echo repeats them: joined without a separator."""
    if len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return "".join(part.text for part in content if isinstance(part, Text))


def image(url: str, name: str | None = None) -> Asset:
    """Return an image by its URL, with its bytes if the URL holds them."""
    found = _DATA_URL.fullmatch(url)
    if found is None:
        return Asset(sha256=None, path=url, name=name)
    return asset(found[2], found[1] or None, name)


def asset(data: str, media_type: str | None, name: str | None = None) -> Asset:
    """Return an attachment by its base64 text; its identity is the digest of its bytes."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Asset(sha256=None, media_type=media_type, data=data, name=name)
    digest = hashlib.sha256(raw).hexdigest()
    return Asset(sha256=digest, media_type=media_type, data=data, name=name, size=len(raw))


def mcp_content(result: Any) -> Content:
    """Return what an MCP tool answered: its content blocks and its structured value."""
    value = mapping(result)
    parts: list[Part] = [
        part for one in items(value.get("content")) if (part := _part(one)) is not None
    ]
    if value.get("structuredContent") is not None:
        parts.append(Structured(value=value["structuredContent"]))
    return tuple(parts)


def _words(part: Any) -> str | None:
    """Return the words of a part that is nothing else."""
    if type(part) is Words:
        return part.text
    if isinstance(part, dict) and part.get("type") in _NAMES_OF_WORDS:
        return text(part.get("text"))
    return None


def _part(value: Any) -> Part | None:
    plain = _words(value)
    if plain is not None:
        return Text(text=plain)
    part = mapping(value)
    words = text(part.get("text"))
    match str(part.get("type")).lower():
        case "input_text" | "output_text" | "text" | "reasoning_text" | "summary_text":
            return None if words is None else Text(text=words)
        case "input_image":
            return image(text(part.get("image_url")) or "")
        case "image":
            data = text(part.get("data"))
            if data is not None:
                return asset(data, text(part.get("mimeType")))
            return image(text(part.get("image_url")) or text(part.get("url")) or "")
        case "local_image" | "localimage":
            return Asset(sha256=None, path=text(part.get("path")))
        case "encrypted_content":
            data = text(part.get("encrypted_content"))
            return None if data is None else Opaque(form="encrypted", data=data)
        case "refusal":
            refusal = text(part.get("refusal"))
            return None if refusal is None else Text(text=refusal)
        case _:
            return Structured(value=value)


def _wraps_an_image(parts: list[Any], at: int) -> bool:
    words = text(mapping(parts[at]).get("text"))
    if words is None:
        return False
    before = mapping(parts[at - 1]).get("type") if at else None
    after = mapping(parts[at + 1]).get("type") if at + 1 < len(parts) else None
    opens = after == "input_image" and _IMAGE_OPENS.fullmatch(words.strip()) is not None
    return opens or (before == "input_image" and words.strip() == _IMAGE_CLOSES)
