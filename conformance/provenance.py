"""Where every string of a committed case comes from, asked of the sanitiser's own tables.

The script is translated again for the case's release, so that nothing but the scenario, the
driver and the agent's tables decides which words a recording may hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.corpus import Case
from live.agents.base import CannotDo, find_driver
from live.composing import play, steps
from live.model import script
from live.proof import PROMPT
from live.sanitise import Clock, Provenance, Sanitiser, load, markers, rules, script_strings

_SAMPLE = 100
_KEYED = re.compile(r"\s*(?:- )?([A-Za-z_][\w-]*): ?(.*)", re.DOTALL)
_QUOTED = re.compile(r"'((?:[^']|'')*)'")


def provenance(case: Case) -> list[str]:
    """Return every string of a case's files that comes from nowhere, with its place."""
    try:
        sanitiser = _sanitiser(case)
    except (CannotDo, FileNotFoundError, KeyError) as error:
        return [f"its script cannot be put together again: {error}"]
    wrong: list[str] = []
    for path in sorted(path for path in case.home.rglob("*") if path.is_file()):
        relative = path.relative_to(case.home).as_posix()
        for number, record in enumerate(_records(path, relative), 1):
            wrong += [f"home/{relative}:{number}: {where}" for where in _foreign(record, sanitiser)]
    lines = (case.directory / "model.jsonl").read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(filter(None, lines), 1):
        wrong += [
            f"model.jsonl:{number}: {where}"
            for where in _foreign(json.loads(line), sanitiser, ("model",))
        ]
    return wrong


def _records(path: Path, relative: str) -> Iterator[Any]:
    """Yield a file's records; a line of plain text as what stands after its key."""
    if path.suffix == ".sql":
        for line in path.read_text(encoding="utf-8").split("\n"):
            yield [value.replace("''", "'") for value in _QUOTED.findall(line)]
        return
    document = load(path, relative)
    if document.form != "text":
        yield from document.records
        return
    for line in document.records:
        keyed = _KEYED.fullmatch(line)
        yield {path.name: {keyed[1]: keyed[2]} if keyed else line}


def _sanitiser(case: Case) -> Sanitiser:
    facts = case.facts
    scenario = script.load(facts.scenario)
    if scenario.revision != facts.revision:
        raise KeyError(f"the scenario has revision {scenario.revision}, not {facts.revision}")
    driver = find_driver(facts.agent, facts.release, facts.dialect)
    played = steps(scenario, driver, facts.cwd)
    words = script_strings(scenario, played, play(played, driver), driver, facts.cwd)
    return Sanitiser(
        rules(facts.agent), Provenance({*words, PROMPT}, markers(facts.agent)), Clock(0, 0)
    )


def _foreign(value: Any, sanitiser: Sanitiser, path: tuple[str, ...] = ()) -> Iterator[str]:
    match value:
        case str():
            if sanitiser.text(value, path) != value:
                yield f"{'/'.join(path)} holds words of unknown origin: {value[:_SAMPLE]!r}"
        case dict():
            for key, one in value.items():
                yield from _foreign(one, sanitiser, (*path, str(key)))
        case list() | tuple():
            for one in value:
                yield from _foreign(one, sanitiser, path)
        case _:
            return
