"""Attachments, and the events that hold their bytes: stored once, referred to by digest."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from transcripts.model import Asset
from transcripts.stores.copilot.foreign import integer, string

_PREFIX = "sha256:"


class Assets:
    """The bytes that a session has stored so far."""

    def __init__(self) -> None:
        self._data: dict[str, str] = {}

    def store(self, data: Mapping[str, Any]) -> None:
        """Take in a ``session.binary_asset``, which stands before what refers to it."""
        digest, content = string(data.get("assetId")), string(data.get("data"))
        if digest is not None and content is not None:
            self._data[digest.removeprefix(_PREFIX)] = content

    def part(self, item: Mapping[str, Any]) -> Asset:
        """Return an attachment or a binary result, with its bytes if the session has them."""
        data = string(item.get("data"))
        digest = string(item.get("assetId"))
        if digest is not None:
            digest = digest.removeprefix(_PREFIX)
            data = data or self._data.get(digest)
        elif data is not None:
            digest = _sha256(data)
        return Asset(
            sha256=digest,
            media_type=string(item.get("mimeType")),
            data=data,
            path=string(item.get("path")),
            name=string(item.get("displayName")) or string(item.get("description")),
            size=integer(item.get("byteLength")),
        )


def stored(asset: Asset) -> dict[str, Any]:
    """Return the ``session.binary_asset`` that holds an asset's bytes."""
    media_type = asset.media_type or "application/octet-stream"
    return {
        "assetId": f"{_PREFIX}{asset.sha256}",
        "type": kind(media_type),
        "mimeType": media_type,
        "byteLength": _size(asset),
        "data": asset.data,
    }


def reference(asset: Asset) -> dict[str, Any]:
    """Return the fields by which an event refers to stored bytes."""
    return {
        "assetId": f"{_PREFIX}{asset.sha256}",
        "mimeType": asset.media_type or "application/octet-stream",
        "byteLength": _size(asset),
    }


def kind(media_type: str) -> str:
    """Return Copilot's word for a kind of bytes."""
    return "image" if media_type.startswith("image/") else "resource"


def _size(asset: Asset) -> int:
    if asset.size is not None:
        return asset.size
    data = asset.data or ""
    return len(data) * 3 // 4 - data[-2:].count("=")


def _sha256(data: str) -> str | None:
    try:
        return hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return None
