"""A case's files on the disk: how each is spelt, written, and held against another recording."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from live.sanitise import Document, encode, stored_name


class Unrepeatable(Exception):
    """A second recording differs from the first; the message names the first difference."""


def encoded(documents: Sequence[Document]) -> list[tuple[str, bytes]]:
    """Return what each document is stored as and its bytes, in order."""
    return sorted((stored_name(document), encode(document)) for document in documents)


def write(path: Path, content: bytes) -> str:
    """Write a file and return its digest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def pretty(value: Any) -> bytes:
    """Spell a document of our own."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def line(row: Any) -> bytes:
    """Spell a row of our own, in ASCII, which lone surrogates survive."""
    return (json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def compare(first: Path, again: Path) -> None:
    """See that two recordings are the same bytes under the same names."""
    ours = {path.relative_to(first) for path in first.rglob("*") if path.is_file()}
    theirs = {path.relative_to(again) for path in again.rglob("*") if path.is_file()}
    if ours != theirs:
        raise Unrepeatable(f"files differ: {sorted(map(str, ours ^ theirs))}")
    for name in sorted(ours, key=lambda name: (name.name == "case.json", name)):
        one, two = (first / name).read_bytes(), (again / name).read_bytes()
        if one != two:
            raise Unrepeatable(f"{name}: {_difference(one, two)}")


def _difference(one: bytes, two: bytes) -> str:
    for number, (a, b) in enumerate(zip(one.split(b"\n"), two.split(b"\n"), strict=False), 1):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
            start = max(0, at - 60)
            return (
                f"line {number}, byte {at}: {a[start : at + 80]!r} and then {b[start : at + 80]!r}"
            )
    return "one is longer"
