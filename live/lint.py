"""Whether a committed recording holds only words of known origin, and all that it should.

Clean: every string is from the script, a placeholder, a marker, a renamed id, a time of the
fixed morning, or a word of the format where the agent's table says that one stands. Alive:
every value that the truth asks for is still there. The first alone would praise an empty file.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from live.agents.base import find_driver
from live.composing import play, steps
from live.hooklog import LOGS, PLACE
from live.model import script
from live.sanitise import (
    Document,
    Provenance,
    hook_words,
    load,
    markers,
    rules,
    script_patterns,
    script_strings,
)
from live.sanitise.engine import embedded, labelled, leaves
from live.sanitise.provenance import TOKEN
from live.sanitise.renaming import UUID, is_drawn_name, is_renamed_id, is_renamed_uuid
from live.sanitise.rules import Rules, named
from live.unrecorded import FRAME, Kept

_SHOWN = 80


def provenance(case: Path) -> list[str]:
    """Return what in a case is of unknown origin: one line each, empty when it is clean."""
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    table = rules(facts["agent"])
    hooked = case / PLACE
    script_words = _script(facts)
    documents = _documents(case)
    found = list(_unknown(documents, facts, table, script_words | _ids(documents, table)))
    if hooked.is_dir():
        words = script_words | hook_words(facts["hooked"]["registered"])
        told = [load(path, path.name) for path in sorted(hooked.glob(LOGS))]
        of_hooks = table.of_hooks()
        beside = _documents(hooked)
        words |= _ids([*beside, *told], of_hooks)
        found += (f"{PLACE}/{one}" for one in _unknown(beside, facts, table, words))
        words |= {*table.hooks.words}
        found += (f"{PLACE}/{one}" for one in _unknown(told, facts, of_hooks, words))
    return found


def _unknown(
    documents: Sequence[Document], facts: dict[str, Any], table: Rules, words: set[str]
) -> Iterator[str]:
    patterns = script_patterns(script.load(facts["scenario"]))
    known = Provenance(words, markers(facts["agent"]), patterns)
    for document in documents:
        if document.form == "text":
            yield from _text(document, known, table, words)
            continue
        for index, record in enumerate(document.records, 1):
            for path, value in _values(document, record):
                if isinstance(value, str) and not _explained(path, value, known, table, words):
                    where = f"{document.path}, record {index}, {'.'.join(path)}"
                    yield f"{where}: {_foreign_part(value, known)!r}"


def alive(case: Path) -> list[str]:
    """Return what the truth asks for and the files no longer hold."""
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    found = list(_gone(case, truth, facts["unrecorded"]))
    if (case / PLACE).is_dir():
        left = _gone(case / PLACE, truth, facts["hooked"]["unrecorded"])
        found += (f"{PLACE}: {one}" for one in left)
    return found


def _gone(
    directory: Path, truth: dict[str, Any], unrecorded: Sequence[dict[str, Any]]
) -> Iterator[str]:
    files = [one for one in _documents(directory) if one.path != "model.jsonl"]
    kept = Kept([one for one in files if not one.path.startswith("stream/")])
    gone: dict[int, set[str] | None] = {}
    for entry in unrecorded:
        fields = entry["fields"]
        before = gone.get(entry["message"], set[str]())
        gone[entry["message"]] = None if fields is None or before is None else before | {*fields}
    for index, message in enumerate(truth["messages"]):
        missing = gone.get(index, set[str]())
        if missing is None:
            continue
        for name, value in message.items():
            if name not in FRAME and name not in missing and not kept.holds({name: value}):
                yield f"message {index} ({message['kind']}): no file holds its {name}"


def _script(facts: dict[str, Any]) -> set[str]:
    """Return the strings that the recorder brought into a case's run."""
    driver = find_driver(facts["agent"], facts["release"], facts["dialect"])
    scenario = script.load(facts["scenario"])
    if scenario.revision != facts["revision"]:
        raise ValueError(
            f"{facts['scenario']} is now at revision {scenario.revision}, the recording at"
            f" {facts['revision']}: record it again"
        )
    played = steps(scenario, driver, facts["cwd"])
    return script_strings(scenario, played, play(played, driver, scenario), driver, facts["cwd"])


def _documents(case: Path) -> list[Document]:
    """Load a case's files, databases from their statements, and what the model was asked."""
    found: list[Document] = []
    for path in sorted((case / "home").rglob("*")):
        if path.is_file():
            found.append(_load(path, str(path.relative_to(case / "home"))))
    found += [
        load(path, str(path.relative_to(case))) for path in sorted((case / "stream").glob("*"))
    ]
    rows = (case / "model.jsonl").read_text(encoding="utf-8").splitlines()
    records = tuple(_asked(json.loads(row)) for row in rows)
    return [*found, Document(path="model.jsonl", form="lines", records=records)]


def _load(path: Path, relative: str) -> Document:
    if path.suffix != ".sql":
        return load(path, relative)
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "database"
        database = sqlite3.connect(target)
        database.executescript(path.read_text(encoding="utf-8"))
        database.close()
        return load(target, relative)


def _asked(row: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the judge of the requests said, in this project's own words."""
    return {name: value for name, value in row.items() if name not in ("violations", "unjudged")}


def _ids(documents: Sequence[Document], table: Rules) -> set[str]:
    """Return the renamed ids and drawn names that stand where the table says that such do."""
    texts = [
        (path, value)
        for document in documents
        for record in document.records
        for path, value in leaves(record)
        if isinstance(value, str)
    ]
    names = {value for path, value in texts if named(path, table.drawn) and is_drawn_name(value)}
    return names | {
        value
        for path, value in texts
        for rule in table.ids
        if named(path, (rule.key,)) and is_renamed_id(value, rule.prefix)
    }


def _values(document: Document, record: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a record's values; of a database only those of rows, under their table."""
    if document.form != "database":
        yield from leaves(record)
    elif "row" in record:
        yield from leaves(record["row"], (record["table"],))


def _explained(
    path: tuple[str, ...], value: str, known: Provenance, table: Rules, words: set[str]
) -> bool:
    if any(not is_renamed_uuid(found) and found not in words for found in UUID.findall(value)):
        return False
    if path and path[-1] == "key":
        return TOKEN.fullmatch(value) is not None or not known.foreign(value)
    if path and path[0] in ("kind", "role", "type", "ending", "thread", "response", "media_type"):
        return TOKEN.fullmatch(value) is not None
    if embedded(value) is not None:
        return True  # what is inside comes by itself
    if named(path, table.structural) and TOKEN.fullmatch(value):
        return True
    return not known.foreign(value)


def _foreign_part(value: str, known: Provenance) -> str:
    """Return the first words of unknown origin, or what a text begins with."""
    spans = known.foreign(value)
    start, end = spans[0] if spans else (0, len(value))
    return value[start : min(end, start + _SHOWN)]


def _text(document: Document, known: Provenance, table: Rules, words: set[str]) -> Iterator[str]:
    for number, line in enumerate(document.records, 1):
        _, value, path = labelled(line, document.path)
        if not _explained(path, value, known, table, words):
            yield f"{document.path}, line {number}: {line[:_SHOWN]!r}"
