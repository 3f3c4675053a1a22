"""JSON lines, read as CLIs really leave them: split on LF only, nothing skipped in silence."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import orjson

from transcripts.errors import DamagedRecord
from transcripts.model import Damage
from transcripts.records.base import Record, RecordFile

_LONG_INTEGER = re.compile(rb"[0-9]{16}")


def parse(raw: bytes) -> Any:
    """Parse one JSON text; raise ValueError if it is none.

    orjson first. The standard library where orjson refuses what the CLIs wrote legally (half
    a surrogate pair), and where an integer is long enough for orjson to round it silently.
    """
    if _LONG_INTEGER.search(raw) is None:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
    return json.loads(raw.decode("utf-8"))


def read(path: Path, root: Path, *, recover: bool = False) -> RecordFile:
    """Read every record of a file.

    Strict (the default) raises :class:`DamagedRecord` at the first line that is no whole
    record; ``recover=True`` returns every complete record and says what was wrong where.
    """
    name = path.relative_to(root).as_posix()
    records: list[Record] = []
    damage: list[Damage] = []
    offset = 0
    for number, raw in enumerate(path.read_bytes().split(b"\n"), 1):
        text = raw.strip(b" \t\r")
        if text:
            try:
                records.append(Record(parse(text), text, name, number, offset))
            except ValueError as error:
                if not recover:
                    raise DamagedRecord(
                        f"not a JSON record: {error}",
                        path=path,
                        line=number,
                        offset=offset,
                        next_step="read with --recover to get the records that are whole",
                    ) from error
                damage.append(
                    Damage(
                        kind="malformed", source=name, line=number, offset=offset, why=str(error)
                    )
                )
        offset += len(raw) + 1
    return RecordFile(name, records, damage)
