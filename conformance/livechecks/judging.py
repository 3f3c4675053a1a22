"""What must be so after a moved conversation was gone on with, and what was not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from live.checks import Check
from live.model.log import Exchange
from live.running import Run


def wrong(check: Check, run: Run, says: Sequence[str], done: Iterable[str]) -> Iterator[str]:
    """Yield what a continuation did not come to: answers, files, what must not be shown."""
    turns = asked(run.exchanges)
    answers = list(_answers(turns))
    for number, wanted in enumerate(says):
        said = answers[number] if number < len(answers) else None
        if said != wanted:
            yield f"asked {number + 1}, the model could say {said!r}, not {wanted!r}"
    for one in turns:
        for finding in one.violations:
            yield f"the provider would refuse its request: {finding.at}: {finding.message}"
    for words in check.unsaid:
        if any(words in json.dumps(one.body, ensure_ascii=False) for one in turns):
            yield f"the model was shown {words!r}"
    yield from _wrong_files(check, run.workspace_files, set(done))


def asked(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Return the requests of the conversation itself."""
    return [one for one in exchanges if one.kind == "turn" and one.thread is None]


def doubled(words: Sequence[str], exchanges: Iterable[Exchange], *, last: bool) -> Iterator[str]:
    """Yield what a model was shown twice; of the last request of all also what is not in it."""
    bodies = [json.dumps(one.body, ensure_ascii=False) for one in asked(exchanges)]
    for planted in words:
        most = max(body.count(planted) for body in bodies)
        if most > 1:
            yield f"the model was shown {planted!r} {most} times"
        elif last and planted not in bodies[-1]:
            yield f"the model was not shown {planted!r}"


def lines(words: Sequence[str], exchanges: Iterable[Exchange]) -> dict[str, str]:
    """Return the lines of prose in which words stand, as the model was first shown them."""
    found: dict[str, str] = {}
    for entry in asked(exchanges)[0].history:
        if entry.type == "text":
            for line in (entry.text or "").split("\n"):
                found |= {planted: line for planted in words if planted in line}
    return found


def retold(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield what was prose already at the stop before and has other words around it now."""
    for planted in before.keys() & now.keys():
        if before[planted] != now[planted]:
            yield f"what was told as {before[planted]!r} is told as {now[planted]!r}"


def shown_as(words: Sequence[str], exchanges: Iterable[Exchange]) -> dict[str, str]:
    """Tell of words how the first request that goes on with a session holds them."""
    history = asked(exchanges)[0].history
    found: dict[str, str] = {}
    for planted in words:
        kinds = {entry.type for entry in history if planted in (entry.text or "")}
        if "reasoning" in kinds:
            found[planted] = "as a thought"
        else:
            found[planted] = "as words" if "text" in kinds else "not at all"
    return found


def _answers(turns: Sequence[Exchange]) -> Iterator[str | None]:
    """Yield the last words said to each turn."""
    last: dict[int, str | None] = {}
    for one in turns:
        last[one.turn or 0] = one.answer.text
    for number in sorted(last):
        yield last[number]


def _wrong_files(check: Check, workspace: Path, done: set[str]) -> Iterator[str]:
    if check.edits is not None:
        for path in check.edits.files:
            text = _text(workspace / path)
            if check.edits.holds not in text:
                yield f"{path} was left undone"
            if path in done and check.edits.marks not in text:
                yield f"{path} was done before and was done again: what was added to it is gone"
    for path, wanted in check.holds.items():
        text = _text(workspace / path)
        for words in wanted:
            if words not in text:
                yield f"{path} does not hold {words!r}"


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.is_file() else ""


def fingerprints(home: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of files of a home by their places in it."""
    return {
        path.relative_to(home).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files
    }


def touched(before: Mapping[str, str], home: Path) -> Iterator[str]:
    """Yield what is no longer in a home as it was."""
    for name, digest in before.items():
        path = home / name
        if not path.is_file():
            yield f"the original's {name} is gone"
        elif sha256(path.read_bytes()).hexdigest() != digest:
            yield f"the original's {name} was changed"
