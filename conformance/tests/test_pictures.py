"""Pictures are real PNG files, in the same bytes on every machine."""

from __future__ import annotations

import hashlib
import struct
import zlib

from live.model.script import Picture
from live.pictures import digest, png

LEAF = Picture(width=3, height=2, colour="2f7d32")


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found: list[tuple[bytes, bytes]] = []
    position = 8
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        body = data[position + 4 : position + 8 + length]
        (check,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        assert zlib.crc32(body) == check
        found.append((body[:4], body[4:]))
        position += 12 + length
    return found


def test_a_picture_has_its_size_and_is_of_one_colour() -> None:
    header, pixels, end = chunks(png(LEAF))
    assert header == (b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0))
    assert zlib.decompress(pixels[1]) == (b"\0" + bytes.fromhex("2f7d32") * 3) * 2
    assert end == (b"IEND", b"")


def test_a_pictures_digest_is_that_of_its_bytes() -> None:
    assert digest(LEAF) == hashlib.sha256(png(LEAF)).hexdigest()
    assert digest(LEAF) != digest(Picture(width=3, height=2, colour="2f7d33"))
