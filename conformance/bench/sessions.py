"""Sessions of any size, made from the records of the corpus: its shapes, other ids and texts.

Nothing of a format is invented here. The first turn is a recorded case as it stands; every
further one is a recorded turn again, with ids and times of its own, linked to the turn before,
and with its texts drawn out until the sizes of the records follow one of the histograms of
``sizes.json``. Equal arguments give equal bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import count
from pathlib import Path

from conformance.bench.sizes import Sizes
from conformance.bench.turns import FORMATS, Template, Turn
from conformance.bench.words import Words
from conformance.corpus import Case, load_case

_PACE = timedelta(minutes=3)
_SCENARIOS = (
    "plain-exchange",
    "command-ok",
    "parallel-calls",
    "file-edits",
    "command-fails",
    "reasoning",
    "mcp-call",
    "tool-fails",
)

RELEASES = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}
"""The releases whose records are said again: those of which the corpus has every scenario."""


class Generator:
    """Sessions of one store, from the cases of the corpus that is given."""

    def __init__(self, agent: str, corpus: Path, sizes: Sizes) -> None:
        self._form = FORMATS[agent]
        self._sizes = sizes
        self._turns: list[Turn] = []
        first, *_ = cases = [
            load_case(corpus / agent / RELEASES[agent] / scenario, corpus)
            for scenario in _SCENARIOS
        ]
        self.session_id = first.facts.session_id
        self.session_path = _transcript(first).relative_to(first.home).as_posix()
        self._first_lines = _transcript(first).read_bytes().split(b"\n")[:-1]
        for case in cases:
            lines = _transcript(case).read_bytes().split(b"\n")[:-1]
            own, ours = case.facts.session_id.encode(), self.session_id.encode()
            lines = [line.replace(own, ours) for line in lines]
            self._turns.append(Turn(lines, self._form, self.session_id))

    def lines(self, size: int, seed: int = 0) -> Iterator[bytes]:
        """Yield the lines of a session of about so many bytes, each with its line end."""
        chance = random.Random(seed)
        words = Words(random.Random(0))
        saying = _Saying(self._first_lines, self._form.own)
        written = 0
        for line in self._first_lines:
            yield line + b"\n"
            written += len(line) + 1
        owed = 0
        for number in count(1):
            turn = chance.choice(self._turns)
            texts, owed = self._texts(turn, words, chance, owed)
            for line in saying.turn(turn, number, texts):
                yield line
                written += len(line)
            if written >= size:
                return

    def _texts(
        self, turn: Turn, words: Words, chance: random.Random, owed: int
    ) -> tuple[dict[str, bytes], int]:
        """Return what each text of a turn grows by, and how many bytes the histogram is owed.

        Not every record has a text, and what is said stays short: results make up for both.
        """
        texts: dict[str, bytes] = {}
        for record in turn.records:
            drawn = self._sizes.draw(chance)
            goal = drawn + owed if record.is_result else min(drawn, self._sizes.longest_words)
            goal += 0 if record.is_result else min(owed, 0)
            for text in record.grows:
                share = len(record.grows) * record.holds(text)
                texts[text] = words.of_length(max(0, goal - record.length) // share, chance)
            owed += drawn - record.length - sum(len(texts.get(one, b"")) for one in record.texts())
        return texts, owed


class _Saying:
    """What goes on from turn to turn of one session: the ordinals and the link."""

    def __init__(self, first_lines: list[bytes], own: str | None) -> None:
        self._ordinal = len(first_lines)
        linked = [value[own] for value in map(json.loads, first_lines) if value.get(own)]
        self._link = json.dumps(linked[-1] if linked else None).encode()

    def turn(self, turn: Turn, number: int, texts: Mapping[str, bytes]) -> Iterator[bytes]:
        """Yield the lines of a turn that is said for the next time."""
        mark = f"{number:08x}"
        for record in turn.records:
            yield self._record(record, number, mark.encode(), texts)
            self._ordinal += 1
        if turn.last is not None:
            self._link = json.dumps(turn.last[:-8] + mark).encode()

    def _record(
        self, record: Template, number: int, mark: bytes, texts: Mapping[str, bytes]
    ) -> bytes:
        said: list[bytes] = []
        for part in record.parts:
            if isinstance(part, bytes):
                said.append(part)
                continue
            match part.kind:
                case "id":
                    said.append(mark)
                case "text":
                    said.append(texts.get(part.value, b""))
                case "time":
                    moment = part.value + number * _PACE
                    said.append(
                        f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z".encode()
                    )
                case "ordinal":
                    said.append(str(self._ordinal).encode())
                case _:
                    said.append(self._link)
        return b"".join(said) + b"\n"


def _transcript(case: Case) -> Path:
    path = case.home / case.facts.session_path
    return path / "events.jsonl" if path.is_dir() else path
