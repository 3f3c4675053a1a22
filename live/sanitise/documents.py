"""The CLI's files as decoded values and back, byte for byte in the CLI's own spelling.

A reader of its own, on purpose: what judges a store's reader must not be that reader.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

Form = Literal["lines", "document", "database", "text"]

_LONE = re.compile("[\ud800-\udfff]")

_SEPARATORS = {0x2028: "\\u2028", 0x2029: "\\u2029"}
_SEPARATORS_ESCAPED = "separators"
"""The style of lines in which what splits lines for JavaScript is escaped (Copilot)."""


class Unfaithful(Exception):
    """A file can't be written back as its CLI spelt it; the message says where."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A file: its path under the home and its values.

    ``records`` are the lines' values, the one document's, the text, or a database's
    statements and rows. ``style`` is how the CLI spells them.
    """

    path: str
    form: Form
    records: tuple[Any, ...]
    style: str = ""


def load(path: Path, relative: str) -> Document:
    """Decode a file; :class:`Unfaithful` if it would not come back the same."""
    raw = path.read_bytes()
    if raw.startswith(b"SQLite format 3\0"):
        return Document(path=relative, form="database", records=tuple(_rows(path)))
    text = raw.decode("utf-8")
    if path.suffix == ".jsonl":
        document = _lines(text, relative)
    elif path.suffix == ".json":
        value = json.loads(text)
        document = Document(
            path=relative, form="document", records=(value,), style=_style(text, value)
        )
    else:
        document = Document(path=relative, form="text", records=tuple(text.split("\n")))
    if encode(document) != raw:
        raise Unfaithful(f"{relative}: {_first_difference(raw, encode(document))}")
    return document


def encode(document: Document) -> bytes:
    """Write a document in its own spelling; a database as statements of SQL."""
    match document.form:
        case "lines":
            text = "\n".join(dumps(record) for record in document.records)
            text += "\n" if document.style.startswith("\n") else ""
            if document.style.endswith(_SEPARATORS_ESCAPED):
                text = text.translate(_SEPARATORS)
        case "document":
            text = _styled(document.records[0], document.style)
        case "database":
            text = "\n".join(statement(record) for record in document.records) + "\n"
        case "text":
            text = "\n".join(document.records)
    return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def dumps(value: Any) -> str:
    """Spell a value as JavaScript's ``JSON.stringify`` and serde do."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stored_name(document: Document) -> str:
    """Return the path under which a case keeps a document: a database becomes ``.sql``."""
    return document.path + ".sql" if document.form == "database" else document.path


def restore(source: Path, home: Path) -> None:
    """Lay out a case's home for the CLI: databases are built from their statements."""
    for path in sorted(source.rglob("*")):
        if not path.is_file():
            continue
        target = home / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".sql":
            _build(path.read_text(encoding="utf-8"), target.with_suffix(""))
        else:
            target.write_bytes(path.read_bytes())


def _lines(text: str, relative: str) -> Document:
    body, newline, tail = text.rpartition("\n")
    lines = (body if not tail else text).split("\n") if text else []
    records: list[Any] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise Unfaithful(f"{relative}, line {number}: {error}") from None
    style = "" if tail else newline
    if any(escaped in text for escaped in _SEPARATORS.values()):
        style += _SEPARATORS_ESCAPED
    return Document(path=relative, form="lines", records=tuple(records), style=style)


_STYLES = ("compact", "compact\n", "2", "2\n", "spaced", "spaced\n")


def _style(text: str, value: Any) -> str:
    for style in _STYLES:
        if _styled(value, style) == text:
            return style
    return "compact"


def _styled(value: Any, style: str) -> str:
    end = "\n" if style.endswith("\n") else ""
    match style.strip():
        case "2":
            return json.dumps(value, ensure_ascii=False, indent=2) + end
        case "spaced":
            return json.dumps(value, ensure_ascii=False) + end
        case _:
            return dumps(value) + end


def _first_difference(raw: bytes, written: bytes) -> str:
    at = next(
        (i for i, (a, b) in enumerate(zip(raw, written, strict=False)) if a != b),
        min(len(raw), len(written)),
    )
    return f"byte {at} is {raw[at : at + 40]!r}, would become {written[at : at + 40]!r}"


# ------------------------------------------------------------------ databases


def _rows(path: Path) -> Iterator[Any]:
    """Yield a database as pragmas, schema and rows in the order of their keys."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        for pragma in ("user_version", "application_id"):
            (value,) = database.execute(f"PRAGMA {pragma}").fetchone()
            if value:
                yield {"pragma": pragma, "value": value}
        schema = database.execute(
            "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
            " ORDER BY CASE type WHEN 'table' THEN 0 ELSE 1 END, name"
        ).fetchall()
        for _, _, sql in schema:
            yield {"schema": sql}
        for kind, name, _ in schema:
            if kind != "table":
                continue
            table = name.replace('"', '""')
            cursor = database.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            keys = [
                index
                for index, column in enumerate(database.execute(f'PRAGMA table_info("{table}")'))
                if column[5]
            ]
            rows.sort(key=lambda row: [(str(type(row[k])), row[k]) for k in keys])
            for row in rows:
                yield {"table": name, "row": dict(zip(columns, row, strict=True))}
    database.close()


def statement(record: Any) -> str:
    """Write one pragma, schema entry or row as SQL on one line, or as many as it has."""
    if "pragma" in record:
        return f"PRAGMA {record['pragma']} = {record['value']};"
    if "schema" in record:
        return f"{record['schema']};"
    columns = ", ".join(f'"{name}"' for name in record["row"])
    values = ", ".join(_literal(value) for value in record["row"].values())
    return f'INSERT INTO "{record["table"]}" ({columns}) VALUES ({values});'


def _literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool() | int() | float():
            return repr(value)
        case bytes():
            return f"X'{value.hex()}'"
        case _:
            quoted = str(value).replace("'", "''")
            return f"'{quoted}'"


def _build(statements: str, target: Path) -> None:
    target.unlink(missing_ok=True)
    database = sqlite3.connect(target)
    try:
        database.executescript(statements)
        database.commit()
    finally:
        database.close()
