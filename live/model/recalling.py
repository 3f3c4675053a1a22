"""What the scripted model knows of what was said before: from the request, and nothing else.

A model that is asked about an earlier conversation can answer only from what the request shows of
it, and one that goes on with a change does again whatever it is not shown as done. So does this
one: it reads words, arguments and results, natively or in prose, and knows no tool's and no
writer's own words for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from live.model.history import Entry
from live.model.script import Given, Recall

UNKNOWN = "something I was not told"
"""What is said in place of what can't be recalled."""

# How somebody says of a thing that it did not come to its end; in any CLI's or writer's words.
_UNDONE = re.compile(
    r"\b(?:abort|interrupt|cancel|unknown|unresolved|fail|error|denied|reject|refus|stopp|kill"
    r"|not (?:been )?(?:run|ran|done|made|finish|execut|complet|appl|record)"
    r"|no (?:result|output|answer)|never|without (?:a )?result|incomplete|unfinished|pending)",
    re.IGNORECASE,
)


def recalled(
    text: str | None, recalls: Mapping[str, Recall], before: Sequence[Entry]
) -> str | None:
    """Put what is recalled from the entries before the prompt into the places of a text."""
    for name, recall in recalls.items():
        text = (text or "").replace(f"{{{name}}}", _recall(recall, before) or UNKNOWN)
    return text


def holds(given: Given, history: Sequence[Entry], position: int) -> bool:
    """Return whether the condition of an answer holds; the prompt stands at ``position``."""
    shown = _shown_done(given.path, given.holds, history[:position])
    if given.state == "hidden":
        return not shown
    if given.state == "shown":
        return shown
    results = [
        entry.text or ""
        for entry in history[position:]
        if entry.type == "result" and _is(given.check or "", entry.call_id)
    ]
    return shown and bool(results) and given.holds not in results[-1]


def _recall(recall: Recall, before: Sequence[Entry]) -> str | None:
    if recall.picture:
        pictures = [entry.value["sha256"] for entry in before if entry.type == "image"]
        return pictures[-1] if pictures else None
    found: list[str] = []
    for text in _texts(before) if recall.of is None else _belonging(recall.of, before):
        matches = [match[1] for match in re.finditer(recall.pattern, text)]
        if recall.of is not None:
            # What belongs to something is what comes next, not what comes last.
            found += matches[:1]
        else:
            found += matches
    return found[-1] if found else None


def _texts(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield everything that can be read, as it is read."""
    for entry in _said(entries):
        if entry.text is not None:
            yield _read(entry.text)
        if entry.type == "call":
            yield _spelt(entry)


def _read(text: str) -> str:
    """Return a text as it is read: of a JSON object what it says, not how that is escaped."""
    if not text.startswith("{"):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    strings: list[str] = []
    _gather(value, strings)
    return "\n".join([text, *strings])


def _belonging(what: str, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the results of calls whose arguments hold something, and what follows it in texts."""
    for entry in _said(entries):
        if entry.type == "call" and what in _spelt(entry):
            for other in entries:
                if other.type == "result" and other.call_id == entry.call_id:
                    yield other.text or ""
        elif entry.type in ("text", "reasoning") and what in (entry.text or ""):
            yield (entry.text or "").partition(what)[2]


def _shown_done(path: str, wanted: str, before: Sequence[Entry]) -> bool:
    """Return whether somebody who reads these entries takes a change to a file for done."""
    results = {entry.call_id: entry for entry in before if entry.type == "result"}
    for entry in _said(before):
        if entry.type == "call":
            spelt = _spelt(entry)
            result = results.get(entry.call_id)
            if path in spelt and wanted in spelt and result is not None and _is_good(result):
                return True
        elif entry.type == "text" and path in (entry.text or ""):
            # Told in prose, beside others: what is said of it ends where another file is named.
            for told in (entry.text or "").split(path)[1:]:
                of_it = re.split(r"\S+\.ya?ml\b", told)[0]
                if wanted in of_it and not _UNDONE.search(of_it):
                    return True
    return False


def _is_good(result: Entry) -> bool:
    return not result.error and not _UNDONE.search(result.text or "")


def _said(entries: Sequence[Entry]) -> Iterator[Entry]:
    return (entry for entry in entries if entry.role not in ("system", "developer"))


def _spelt(entry: Entry) -> str:
    """Return a call's arguments as text: free text as it is, so that its lines are lines."""
    if isinstance(entry.arguments, str):
        return entry.arguments
    strings: list[str] = []
    _gather(entry.arguments, strings)
    return "\n".join(strings)


def _gather(value: object, strings: list[str]) -> None:
    if isinstance(value, str):
        strings.append(value)
    elif isinstance(value, Mapping):
        for one in value.values():
            _gather(one, strings)
    elif isinstance(value, list):
        for one in value:
            _gather(one, strings)
    elif value is not None:
        strings.append(json.dumps(value))


def _is(call_id: str, given: str | None) -> bool:
    # Copilot CLI sends custom calls back with a prefix of its own.
    return given in (call_id, f"custom_{call_id}")
