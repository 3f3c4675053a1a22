"""That a sanitised recording is still the CLI's own.

Two witnesses: its records have the kinds, pointers and types of the raw ones; and the CLI
that wrote it goes on with the sanitised copy and sends the model what it sends from the raw
one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from live.agents.base import Driver
from live.model.history import Entry
from live.releases import Release
from live.resume import Resumed, resume_with
from live.running import Run, last_words
from live.sanitise import Document, Sanitiser
from live.sanitise.renaming import UUID
from live.sanitise.rules import Rules, named
from live.unrecorded import FRAME, Kept

PROMPT = "Please say where we were, token RESUME-0001."


class Broken(Exception):
    """Sanitising changed more than words; the message says what."""


def same_shape(raw: Sequence[Document], clean: Sequence[Document], rules: Rules) -> None:
    """See that kinds, pointers and types are the same in both; :class:`Broken` if not."""
    before, after = _shapes(raw, rules), _shapes(clean, rules)
    if before != after:
        lost, new = before - after, after - before
        raise Broken(f"lost {sorted(map(str, lost))[:3]}, gained {sorted(map(str, new))[:3]}")


class Resumption:
    """The CLI going on with a run: from its raw home and from the sanitised one."""

    def __init__(self, driver: Driver, release: Release, run: Run, sanitiser: Sanitiser) -> None:
        self._driver = driver
        self._release = release
        self._run = run
        self._sanitiser = sanitiser

    def facts(self, home: Path, messages: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
        """Return what a case says of its proof; :class:`Broken` if the two differ.

        ``messages`` are the truth's, None for those that the files don't hold. ``forgets``
        names those of them that the CLI did not send when it went on with either home: a
        release's own defect, not the recording's.
        """
        raw = self._go_on(self._run.home, self._run.session_id)
        clean = self._go_on(home, self._sanitiser.text(self._run.session_id, ()))
        if raw.asked is None:
            if clean.asked is not None:
                raise Broken("the CLI resumed the sanitised copy but not its own home")
            return {"resumed": False, "why_not": self._said(raw)}
        if clean.asked is None:
            raise Broken(f"the CLI did not resume the sanitised copy: {_words(clean)}")
        before, after = self._history(raw), self._history(clean)
        if before != after:
            raise Broken(f"resumed with another history: {_first(before, after)}")
        # What a person typed ahead may have been told in the system's role.
        sent = tuple(msgspec.to_builtins(entry) for entry in clean.asked.history)
        held = Kept([Document(path="history", form="lines", records=(*after, *sent))])
        forgets = [
            index
            for index, message in enumerate(messages)
            if message is not None
            and message["thread"] is None
            and message["kind"] != "Error"
            and "superseded" not in message
            and not all(held.holds({name: message[name]}) for name in message if name not in FRAME)
        ]
        return {"resumed": True, "forgets": forgets}

    def _go_on(self, home: Path, session: str) -> Resumed:
        return resume_with(self._driver, self._release, home, session, PROMPT, "record")

    def _history(self, resumed: Resumed) -> list[Any]:
        """Return the conversation as the model read it, foreign words without their places."""
        asked = resumed.asked
        entries = () if asked is None else asked.history
        cleaned = [
            self._sanitiser.value(msgspec.to_builtins(entry))
            for entry in entries
            if _is_conversation(entry)
        ]
        blurred = [_blurred(entry) for entry in cleaned]
        return [entry for entry in blurred if not _is_reminder(entry)]

    def _said(self, resumed: Resumed) -> str:
        return str(self._sanitiser.text(_words(resumed), ("why_not",)))


def _words(resumed: Resumed) -> str:
    return last_words(resumed.stderr, resumed.log_line, resumed.stdout)


def _is_conversation(entry: Entry) -> bool:
    return entry.role not in ("system", "developer")


def _is_reminder(entry: dict[str, Any]) -> bool:
    """Whether an entry is a harness's own in the user's place: nothing in it is the script's.

    A CLI says again what it told the model of its surroundings when they have changed, and
    in a sanitised copy they have: they are elided.
    """
    if entry["role"] != "user" or entry["type"] != "text":
        return False
    rest = _TAG.sub("", (entry.get("text") or "").replace(_ELIDED, ""))
    return not any(character.isalnum() for character in rest)


_ELIDED = "[elided]"
_TAG = re.compile(r"</?[a-z_-]+>")
_FOREIGN = re.compile(r"\[elided: [^\]]*\](?:\s*\[elided: [^\]]*\])*")


def _blurred(value: Any) -> Any:
    if isinstance(value, str):
        return _FOREIGN.sub(_ELIDED, value).strip()
    if isinstance(value, dict):
        return {key: _blurred(one) for key, one in value.items()}
    return [_blurred(one) for one in value] if isinstance(value, list) else value


def _first(before: list[Any], after: list[Any]) -> str:
    for index, (one, two) in enumerate(zip(before, after, strict=False)):
        if one != two:
            return f"entry {index} was {str(one)[:300]} and is {str(two)[:300]}"
    return f"{len(before)} entries became {len(after)}"


def _shapes(documents: Sequence[Document], rules: Rules) -> Counter[tuple[str, ...]]:
    """Count the shapes of all records: kind, and each pointer with its type."""
    found: Counter[tuple[str, ...]] = Counter()
    for document in documents:
        for record in document.records:
            found[tuple(sorted(_pointers(record, (), rules)))] += 1
    return found


def _pointers(value: Any, path: tuple[str, ...], rules: Rules) -> set[str]:
    here = {f"/{'/'.join(path)} {_type(value)}"}
    if any(named(path, (late.key,)) for late in rules.late):
        return set()
    if named(path, rules.emptied):
        return here
    if isinstance(value, dict):
        kind = value.get("type")
        if isinstance(kind, str):
            here.add(f"/{'/'.join(path)}/type={kind}")
        for key, one in value.items():
            here |= _pointers(one, (*path, key if _is_word(key) else "*"), rules)
    elif isinstance(value, (list, tuple)):
        for one in value:
            here |= _pointers(one, (*path, "[]"), rules)
    return here


def _is_word(key: str) -> bool:
    return re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_-]*", key) is not None and not UUID.match(key)


def _type(value: Any) -> str:
    return type(value).__name__
