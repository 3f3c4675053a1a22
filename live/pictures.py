"""Pictures of one colour, drawn in equal bytes on every machine.

A scenario says how large and which colour; nothing binary is committed, and a picture's
digest is known before any CLI has seen it.
"""

from __future__ import annotations

import hashlib
import struct
import zlib

from live.model.script import Picture

MEDIA_TYPE = "image/png"
_STORED = 0
"""zlib's level that compresses nothing: its bytes are the same for every build of zlib."""


def png(picture: Picture) -> bytes:
    """Return a picture as PNG (https://www.w3.org/TR/png-3/)."""
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    row = b"\0" + bytes.fromhex(picture.colour) * picture.width
    pixels = zlib.compress(row * picture.height, _STORED)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def digest(picture: Picture) -> str:
    """Return the sha256 of a picture's bytes: its identity in a transcript."""
    return hashlib.sha256(png(picture)).hexdigest()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
