"""Every record under a home, named: lines, documents, YAML and the rows of databases.

A file of no known kind is told, never passed over; nothing is written where the files lie (a
database is copied before it is opened).
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from conformance.corpus import DATABASE_TEXT
from conformance.formats.naming import namer
from conformance.formats.tables import FileRule, Table, table
from transcripts.errors import DamagedRecord, NotATranscript
from transcripts.model import Damage
from transcripts.records import jsonlines

_LARGEST_DOCUMENT = 64 * 1024 * 1024
_SIDES = ("-wal", "-shm")


class Named(NamedTuple):
    """One record: its kind, its value, where it lies, and the release that it says wrote it.

    ``file`` is relative to what was asked for; ``line`` None for what has no lines.
    """

    kind: str
    value: Any
    file: str
    line: int | None
    release: str | None


class Gathering:
    """The records of a place, one after the other; what was odd about it is known at the end.

    ``damage`` lists what was not whole, ``unknown`` the files of no known kind.
    """

    def __init__(self, agent: str, path: Path, *, recover: bool = False) -> None:
        self.damage: list[Damage] = []
        self.unknown: list[str] = []
        self._agent = agent
        self._path = path
        self._recover = recover

    def __iter__(self) -> Iterator[Named]:
        """Yield every record; strict raises at the first that can't be read whole."""
        path = self._path
        if not path.exists():
            raise NotATranscript(
                "there is no such file or directory", path=path, next_step="check the path"
            )
        found = False
        for record in self._everything(path if path.is_dir() else path.parent):
            found = True
            yield record
        if not found:
            raise NotATranscript(
                f"holds no record of {self._agent}'s",
                path=path,
                next_step="name another --agent or path",
            )

    def _everything(self, base: Path) -> Iterator[Named]:
        rules = table(self._agent)
        for file in _files(self._agent, self._path, rules):
            rule = rules.rule_of(file.absolute().as_posix())
            if rule is not None:
                yield from _records(self._agent, file, base, rule, self.damage, self._recover)
            elif file != self._path:
                self.unknown.append(file.relative_to(base).as_posix())
            else:
                raise NotATranscript(
                    f"no file of {self._agent}'s sessions has such a name",
                    path=file,
                    next_step="give a session file, its directory or a home, or another --agent",
                )


def _files(agent: str, path: Path, rules: Table) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    root = path / f".{agent}"
    root = root if root.is_dir() else path
    places = [root / name for name in rules.roots if (root / name).is_dir()] or [root]
    for place in places:
        yield from sorted(file for file in place.rglob("*") if file.is_file())


def _records(
    agent: str, file: Path, base: Path, rule: FileRule, damage: list[Damage], recover: bool
) -> Iterator[Named]:
    name = file.relative_to(base).as_posix()
    match rule.form:
        case "records":
            yield from _lines(agent, file, base, damage, recover)
        case "stream":
            names = namer(agent, table(agent))
            for record in jsonlines.iterate(file, base, damage, recover=recover):
                yield Named(names.told(record.value), record.value, name, record.line, None)
        case "document":
            yield Named(rule.kind or name, _document(file), name, None, None)
        case "yaml":
            yield Named(rule.kind or name, _yaml(file), name, None, None)
        case "database":
            for kind, value in _database(file, rule.kind or name):
                yield Named(kind, value, name, None, None)
        case "opaque":
            return


def _lines(
    agent: str, file: Path, base: Path, damage: list[Damage], recover: bool
) -> Iterator[Named]:
    names = namer(agent, table(agent))
    release: str | None = None
    for record in jsonlines.iterate(file, base, damage, recover=recover):
        release = names.release(record.value) or release
        yield Named(names.name(record.value), record.value, record.path, record.line, release)


def _document(file: Path) -> Any:
    if file.stat().st_size > _LARGEST_DOCUMENT:
        raise DamagedRecord("too large for a document", path=file)
    try:
        return jsonlines.parse(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DamagedRecord(
            "not a JSON document", path=file, next_step="leave the file out"
        ) from error


def _yaml(file: Path) -> Any:
    try:
        return _plain(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise DamagedRecord(
            "not a YAML document",
            path=file,
            line=None if mark is None else mark.line + 1,
            next_step="leave the file out",
        ) from error


def _plain(value: Any) -> Any:
    """Return a YAML value as JSON knows it: a time is text, and so is every key."""
    if isinstance(value, dict):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return value.isoformat() if isinstance(value, date) else value


def _database(file: Path, kind: str) -> Iterator[tuple[str, Any]]:
    """Yield a database's definition as one record, then each row as one of its table's kind.

    Recordings keep a database as its text.
    """
    try:
        if file.name.endswith(DATABASE_TEXT):
            with closing(sqlite3.connect(":memory:")) as connection:
                connection.executescript(file.read_text(encoding="utf-8"))
                yield from _tables(connection, kind)
            return
        with tempfile.TemporaryDirectory(prefix="database-") as temporary:
            copy = Path(temporary) / file.name
            for suffix in ("", *_SIDES):
                if (side := file.with_name(file.name + suffix)).is_file():
                    shutil.copyfile(side, copy.with_name(copy.name + suffix))
            with closing(sqlite3.connect(copy)) as connection:
                yield from _tables(connection, kind)
    except sqlite3.Error as error:
        raise DamagedRecord(
            "not a database that can be read", path=file, next_step="leave the file out"
        ) from error


def _tables(connection: sqlite3.Connection, kind: str) -> Iterator[tuple[str, Any]]:
    connection.row_factory = sqlite3.Row
    names = [
        row["name"]
        for row in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY name"
        )
    ]
    tables: dict[str, Any] = {}
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        tables[name] = {
            "columns": {
                row["name"]: _column(row)
                for row in connection.execute(f"PRAGMA table_info({quoted})")
            }
        }
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    yield kind, {"user_version": version, "tables": tables}
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        for row in connection.execute(f"SELECT * FROM {quoted}"):
            yield (
                f"{kind}/{name}",
                {
                    key: "(bytes)" if isinstance(row[key], bytes) else row[key]
                    for key in row.keys()  # noqa: SIM118 (a row is no mapping)
                },
            )


def _column(row: sqlite3.Row) -> str:
    """Return a column's definition in words, such as ``TEXT NOT NULL KEY 1``."""
    default = f"DEFAULT {row['dflt_value']}" if row["dflt_value"] is not None else ""
    key = f"KEY {row['pk']}" if row["pk"] else ""
    parts = (row["type"], "NOT NULL" if row["notnull"] else "", default, key)
    return " ".join(part for part in parts if part)
