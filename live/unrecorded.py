"""What the script caused and the CLI did not keep, each proved by searching its files.

Also the other way round: a value that the script chose and that no file holds is found here
without anybody's claim, so a truth can't ask a reader for what is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from live.sanitise.documents import Document
from live.sanitise.engine import leaves

FRAME = frozenset({"kind", "author", "thread", "turn", "response", "status"})

_VOCABULARY = frozenset(
    {
        "assets",
        "decision",
        "delivery",
        "form",
        "inherited",
        "operation",
        "output_extent",
        "status",
        "superseded",
        "trigger",
    }
)
"""Values in the normalised model's own words, which no CLI has to use."""


_ARGUMENTS = re.compile(r"\b(?:arguments|input|toolArgs)\b")
"""Where the CLIs record what a call was given."""


def unrecorded(
    messages: Sequence[tuple[Mapping[str, Any], Mapping[str | None, str]]],
    documents: Sequence[Document],
) -> list[dict[str, Any]]:
    """Return the ``unrecorded`` list of a case."""
    kept = Kept(documents)
    found: list[dict[str, Any]] = []
    for index, (message, known) in enumerate(messages):
        fields = {
            name: value
            for name, value in message.items()
            if name not in FRAME and name not in _VOCABULARY
        }
        gone = [name for name, value in fields.items() if not kept.holds(value)]
        worded = [name for name, value in fields.items() if any(_words(value))]
        if worded and set(worded) <= set(gone) - set(known):
            why = known.get(None, "no file holds a word of it")
            found.append(_entry(index, None, why, kept))
            continue
        if None in known:
            proof = kept.only_in_calls(message["text"])
            found.append({"message": index, "fields": None, "why": known[None], "proof": proof})
            continue
        claimed = [name for name in known if name and name in message and name not in gone]
        unexplained = [name for name in gone if name not in known]
        if unexplained:
            found.append(_entry(index, unexplained, "no file holds the value", kept))
        found += [_entry(index, [name], known[name], kept) for name in gone if name in known]
        found += [
            {
                "message": index,
                "fields": [name],
                "why": known[name],
                "proof": kept.without(name),
            }
            for name in claimed
        ]
    return found


def one_sided(
    messages: Sequence[Mapping[str, Any]], files: Sequence[Document], streams: Sequence[Document]
) -> dict[str, list[int]]:
    """Return which messages stand on one side only, of a session's files and the CLI's stream.

    A message stands where every word that the script chose for it does.
    """
    sides = {"files": Kept(files), "stream": Kept(streams)}
    held = {
        side: {
            index
            for index, message in enumerate(messages)
            if all(
                kept.holds({name: value}) for name, value in message.items() if name not in FRAME
            )
        }
        for side, kept in sides.items()
    }
    return {
        "files_only": sorted(held["files"] - held["stream"]),
        "stream_only": sorted(held["stream"] - held["files"]),
    }


class Kept:
    """All strings of a run's files, as decoded."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.files = len(documents)
        self._strings: dict[str, set[str]] = {}
        self._keys: set[str] = set()
        for document in documents:
            for record in document.records:
                for path, value in leaves(record):
                    if isinstance(value, str):
                        self._strings.setdefault(value, set()).add(".".join(path))
                    self._keys.update(path)

    def holds(self, value: Any) -> bool:
        """Return whether every string in a value stands in some file, whole or line by line."""
        return all(self._stands(text) for text in _words(value))

    def without(self, field: str) -> str:
        """Say that no record has a key of that name, in any of its spellings."""
        plain = field.replace("_", "")
        same = sorted(key for key in self._keys if key.replace("_", "").lower() == plain)
        if same:
            raise ValueError(f"{field} is said to be unrecorded, but there is a key {same[0]}")
        return f"no key of {self.files} files is called {field} in any spelling"

    def only_in_calls(self, text: str) -> str:
        """Say where a text stands, all of it in the arguments of calls."""
        places = {place for one, where in self._strings.items() if text in one for place in where}
        elsewhere = sorted(place for place in places if not _ARGUMENTS.search(place))
        if elsewhere or not places:
            raise ValueError(f"{text!r} is said to stand in calls only, but is at {elsewhere}")
        return f"its words stand only at {', '.join(sorted(places))}"

    def _stands(self, text: str) -> bool:
        if any(text in one for one in self._strings):
            return True
        if text.startswith("/") and self._in_pieces(text.split(" ", 1)):
            return True
        if self._stands_below(text):
            return True
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        return bool(lines) and any(all(line in one for line in lines) for one in self._strings)

    def _stands_below(self, text: str) -> bool:
        """Whether a path stands as its directory and, elsewhere, the rest of it."""
        if not text.startswith("/") or "\n" in text:
            return False
        parts = text.split("/")
        return any(
            "/".join(parts[:at]) in self._strings
            and any("/".join(parts[at:]) in one for one in self._strings)
            for at in range(2, len(parts))
        )

    def _in_pieces(self, pieces: Sequence[str]) -> bool:
        """Return whether a slash command stands somewhere with its arguments beside it."""
        return any(all(piece in one for piece in pieces) for one in self._strings)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            if name not in _VOCABULARY:
                yield from _words(one)
    elif isinstance(value, Iterable):
        for one in value:
            yield from _words(one)


def _entry(index: int, fields: list[str] | None, why: str, kept: Kept) -> dict[str, Any]:
    proof = f"no string of {kept.files} files holds it"
    return {"message": index, "fields": fields, "why": why, "proof": proof}
