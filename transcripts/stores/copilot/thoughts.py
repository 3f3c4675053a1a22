"""Thoughts in Copilot's fields and in the provider's own blocks, both ways.

1.0.102 keeps the blocks verbatim, for it sends Anthropic's again after a resume; parts of
them stand beside as bare fields, which is all that older releases have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from transcripts.model import Content, Opaque, Part, Structured, Text
from transcripts.stores.copilot.foreign import mapping, mappings, string
from transcripts.stores.copilot.reading.skimming import Data


def thoughts(data: Data) -> Content:
    """Return what an answer records of the model's thinking."""
    if (
        data.reasoning_text is UNSET
        and data.reasoning_opaque is UNSET
        and data.reasoning_blocks is UNSET
        and data.encrypted_content is UNSET
    ):
        return ()
    blocks = mapping(data.reasoning_blocks)
    provider = string(blocks.get("provider"))
    parts: list[Part] = []
    for block in mappings(blocks.get("blocks")):
        parts.extend(_block_parts(block, provider))
    if parts:
        return tuple(parts)
    if (text := string(data.reasoning_text)) is not None:
        parts.append(Text(text=text))
    if (opaque := string(data.reasoning_opaque)) is not None:
        parts.append(Opaque(form="signature", data=opaque))
    if (sealed := string(data.encrypted_content)) is not None:
        parts.append(Opaque(form="encrypted", data=sealed))
    return tuple(parts)


def _block_parts(block: Mapping[str, Any], provider: str | None) -> Iterator[Part]:
    match block.get("type"):
        case "thinking":
            if (text := string(block.get("thinking"))) is not None:
                yield Text(text=text)
            if (signature := string(block.get("signature"))) is not None:
                yield Opaque(form="signature", data=signature, provider=provider)
        case "redacted_thinking":
            if (sealed := string(block.get("data"))) is not None:
                yield Opaque(form="redacted", data=sealed, provider=provider)
        case "reasoning":
            for summary in mappings(block.get("summary")):
                if (text := string(summary.get("text"))) is not None:
                    yield Text(text=text)
            if (own := string(block.get("id"))) is not None:
                yield Opaque(form="signature", data=own, provider=provider)
            if (sealed := string(block.get("encrypted_content"))) is not None:
                yield Opaque(form="encrypted", data=sealed, provider=provider)
        case _:
            yield Structured(value=dict(block))


def thought_fields(content: Content) -> dict[str, Any]:
    """Return a thought of this same store in the fields and blocks it was recorded in."""
    provider = next((p.provider for p in content if isinstance(p, Opaque) and p.provider), None)
    text = "\n\n".join(part.text for part in content if isinstance(part, Text))
    fields: dict[str, Any] = {"reasoningText": text} if text else {}
    for part in content:
        if isinstance(part, Opaque) and part.form == "signature":
            fields.setdefault("reasoningOpaque", part.data)
        elif isinstance(part, Opaque) and part.form == "encrypted":
            fields.setdefault("encryptedContent", part.data)
    if provider is not None:
        fields["reasoningBlocks"] = {
            "provider": provider,
            "blocks": list(_blocks(content, provider)),
        }
    return fields


def _blocks(content: Content, provider: str) -> Iterator[dict[str, Any]]:
    if provider.startswith("openai"):
        yield from _summary_blocks(content)
        return
    thinking: str | None = None
    for part in content:
        match part:
            case Text():
                if thinking is not None:
                    yield {"type": "thinking", "thinking": thinking}
                thinking = part.text
            case Opaque() if part.form == "signature":
                yield {"type": "thinking", "thinking": thinking or "", "signature": part.data}
                thinking = None
            case Opaque() if part.form == "redacted":
                yield {"type": "redacted_thinking", "data": part.data}
            case Structured() if isinstance(part.value, Mapping):
                yield dict(part.value)
            case _:
                pass
    if thinking is not None:
        yield {"type": "thinking", "thinking": thinking}


def _summary_blocks(content: Content) -> Iterator[dict[str, Any]]:
    block: dict[str, Any] = {"type": "reasoning", "summary": []}
    for part in content:
        if isinstance(part, Text) and ("id" in block or "encrypted_content" in block):
            yield block
            block = {"type": "reasoning", "summary": []}
        match part:
            case Text():
                block["summary"].append({"type": "summary_text", "text": part.text})
            case Opaque() if part.form == "signature":
                block["id"] = part.data
            case Opaque() if part.form == "encrypted":
                block["encrypted_content"] = part.data
            case _:
                pass
    yield block
