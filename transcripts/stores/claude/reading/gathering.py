"""The rows of one session: gathered from where they lie, foreign and doubled ones set apart.

A file is named after one session, and mostly holds just that one. Not always: another live
session's rows land in it (anthropics/claude-code#26964), this session's land in a neighbour's
(#30802), a compaction appends rows that are already there (#92089). Nothing of this loses a
row or a fact: what is set apart is reported as damage with its place.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from transcripts.model import Damage
from transcripts.records import jsonlines
from transcripts.stores.claude import layout
from transcripts.stores.claude.reading.rowmaking import rows_of_file
from transcripts.stores.claude.reading.rows import Row, row_of


class Gathered(NamedTuple):
    """A session's own rows in order, with what was wrong about them.

    ``inherited`` maps the uuid of a row that was copied from another session to that
    session's id.
    """

    session_id: str
    rows: list[Row]
    damage: list[Damage]
    inherited: dict[str, str]


def gather(path: Path, root: Path, *, recover: bool, sparing: bool) -> Gathered:
    """Return the rows of the session whose file is given."""
    damage: list[Damage] = []
    rows = rows_of_file(path, root, damage, recover=recover, sparing=sparing)
    session_id = _session_id(path, rows)
    own, foreign, inherited = _partition(_parents_first(rows), session_id)
    inherited |= _copied(own, session_id)
    name = path.relative_to(root).as_posix()
    damage += _foreign_damage(name, foreign)
    for other in _neighbours(path, root, session_id, damage):
        found = _rows_elsewhere(other, root, session_id, damage)
        if found:
            own = _merge(own, found)
    own, doubled = _without_doubles(own)
    damage += doubled
    damage += _dangling(own, foreign)
    return Gathered(session_id, own, damage, inherited)


def _session_id(path: Path, rows: list[Row]) -> str:
    """Return the file's name if it is a session id, else the id that most rows bear."""
    if _is_uuid(path.stem):
        return path.stem
    counted = Counter(row.session for row in rows if row.session and row.uuid)
    if not counted:
        counted = Counter(row.session for row in rows if row.session)
    return counted.most_common(1)[0][0] if counted else path.stem


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _parents_first(rows: list[Row]) -> list[Row]:
    """Return the rows with none before its own parent.

    Where a session begins at a terminal, 2.1.197 may write the first answer before the prompt:
    two tasks of its own create the file.
    """
    seen: set[str | None] = {None}
    for row in rows:
        if row.parent not in seen:
            break
        seen.add(row.uuid)
    else:
        return rows
    places: dict[str, int] = {}
    for index, row in enumerate(rows):
        if row.uuid:
            places.setdefault(row.uuid, index)
    if all(places.get(row.parent, -1) < index for index, row in enumerate(rows) if row.parent):
        return rows
    waiting: dict[str, list[Row]] = {}
    ordered: list[Row] = []
    held: set[str] = set()
    for index, row in enumerate(rows):
        if row.parent and (row.parent in held or places.get(row.parent, -1) > index):
            waiting.setdefault(row.parent, []).append(row)
            held |= {row.uuid} if row.uuid else set()
            continue
        family = [row]
        while family:
            one = family.pop(0)
            ordered.append(one)
            family = [*waiting.pop(one.uuid or "", ()), *family]
            held.discard(one.uuid or "")
    # A circle of parents has no first row: its rows stay, at the end.
    return ordered + [row for late in waiting.values() for row in late]


# ------------------------------------------------------------------ whose row it is


def _partition(rows: list[Row], session_id: str) -> tuple[list[Row], list[Row], dict[str, str]]:
    """Part the session's rows from foreign ones.

    A row of another id that the session's own rows descend from is no foreigner: the CLI
    resumes a file whatever ids its rows bear and goes on under the file's name.
    """
    sessions = {row.session for row in rows}
    if session_id not in sessions or sessions <= {session_id, None}:
        return rows, [], {}
    by_uuid = {row.uuid: index for index, row in enumerate(rows) if row.uuid}
    last_ancestor: dict[str, int] = {}
    seen: set[int] = set()
    for start in rows:
        if start.session != session_id:
            continue
        index = by_uuid.get(start.link or "")
        while index is not None and index not in seen:
            seen.add(index)
            row = rows[index]
            if row.session and row.session != session_id:
                last_ancestor[row.session] = max(index, last_ancestor.get(row.session, -1))
            index = by_uuid.get(row.link or "")
    own: list[Row] = []
    foreign: list[Row] = []
    inherited: dict[str, str] = {}
    for index, row in enumerate(rows):
        if row.session is None or row.session == session_id:
            own.append(row)
        elif index <= last_ancestor.get(row.session, -1):
            own.append(row)
            if row.uuid:
                inherited[row.uuid] = row.session
        else:
            foreign.append(row)
    return own, foreign, inherited


def _copied(rows: Iterable[Row], session_id: str) -> dict[str, str]:
    """Return which rows a fork copied, and from which session.

    A copy bears the id of the session that it is in. What says where it is from is the session
    whose request an answer belongs to; the prompts and results before that answer came with it.
    """
    copied: dict[str, str] = {}
    before: list[str] = []
    for row in rows:
        if row.uuid:
            before.append(row.uuid)
        origin = row.glance.asked_in
        if origin and origin != session_id:
            copied |= dict.fromkeys(before, origin)
            before = []
    return copied


def _foreign_damage(source: str, foreign: Iterable[Row]) -> list[Damage]:
    first: dict[str, Row] = {}
    counts: Counter[str] = Counter()
    for row in foreign:
        session = row.session or ""
        first.setdefault(session, row)
        counts[session] += 1
    return [
        Damage(
            kind="foreign_rows",
            source=source,
            line=row.line,
            offset=row.offset,
            why=f"{counts[session]} records of session {session} lie in this file",
        )
        for session, row in first.items()
    ]


# ------------------------------------------------------------------ rows in other files


def _neighbours(path: Path, root: Path, session_id: str, damage: list[Damage]) -> list[Path]:
    """Return the files of the same folder that name this session as the owner of a row."""
    # An id that holds half a surrogate pair is in no file as bytes.
    named = session_id.encode("utf-8", "replace").decode()
    needles = [f'"sessionId":{blank}"{named}"'.encode() for blank in ("", " ")]
    found: list[Path] = []
    for other in sorted(path.parent.glob("*.jsonl")):
        if other.name == path.name or layout.agent_of_file(other.name) is not None:
            continue
        if not other.is_file() or not other.stat().st_size:
            continue
        try:
            if _holds(other, needles):
                found.append(other)
        except OSError as error:
            source = other.relative_to(root).as_posix()
            why = f"cannot be searched for rows of this session: {error.strerror or error}"
            damage.append(Damage(kind="unreadable_neighbour", source=source, why=why))
    return found


def _holds(path: Path, needles: Iterable[bytes]) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return any(view.find(needle) >= 0 for needle in needles)


def _rows_elsewhere(other: Path, root: Path, session_id: str, damage: list[Damage]) -> list[Row]:
    """Return this session's rows in another session's file, adding what is to be said of it."""
    # What is broken in a neighbour is the neighbour's: only whole records count here.
    rows = [row_of(record) for record in jsonlines.iterate(other, root, [], recover=True)]
    owner = _session_id(other, rows)
    if owner == session_id:
        return []
    _, foreign, _ = _partition(rows, owner)
    found = [row for row in foreign if row.session == session_id]
    if found:
        damage.append(
            Damage(
                kind="rows_found_in_other_file",
                source=found[0].path,
                line=found[0].line,
                offset=found[0].offset,
                why=f"{len(found)} records of session {session_id} lie in this file",
            )
        )
    return found


def _merge(own: list[Row], found: list[Row]) -> list[Row]:
    """Put rows from another file where the links say: before their first child, else last."""
    places = {row.uuid: index for index, row in enumerate(found) if row.uuid}
    for index, row in enumerate(own):
        if row.parent in places:
            last = max(places[child.parent] for child in own if child.parent in places)
            return [*own[:index], *found[: last + 1], *own[index:], *found[last + 1 :]]
    return [*own, *found]


# ------------------------------------------------------------------ doubles and lost parents


def _without_doubles(rows: list[Row]) -> tuple[list[Row], list[Damage]]:
    """Fold rows of one uuid into the first: replayed history is not said twice."""
    named = [row.uuid for row in rows if row.uuid]
    if len(set(named)) == len(named):
        return rows, []
    first: dict[str, Row] = {}
    kept: list[Row] = []
    damage: list[Damage] = []
    for row in rows:
        earlier = first.get(row.uuid) if row.uuid else None
        if earlier is None:
            if row.uuid:
                first[row.uuid] = row
            kept.append(row)
            continue
        damage.append(
            Damage(
                kind="duplicate_record",
                source=row.path,
                line=row.line,
                offset=row.offset,
                why=f"record {row.uuid} is already on line {earlier.line}",
            )
        )
    return kept, damage


def _dangling(rows: list[Row], foreign: list[Row]) -> list[Damage]:
    known = {row.uuid for row in rows if row.uuid} | {row.uuid for row in foreign if row.uuid}
    return [
        Damage(
            kind="dangling_parent",
            source=row.path,
            line=row.line,
            offset=row.offset,
            why=f"parent {row.parent} of record {row.uuid} is nowhere; bridged in file order",
        )
        for row in rows
        if row.parent and row.parent not in known
    ]
