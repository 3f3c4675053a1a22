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
    turns = [one for one in run.exchanges if one.kind == "turn" and one.thread is None]
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
