"""Where every word of a recording comes from: the script, a marker, or a placeholder.

What is none of these is the vendor's or the machine's and has no place in a recording. The
sanitiser asks this module what to take out, and the lint asks it whether all of it is gone.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from live import sandbox
from live.agents.base import Driver
from live.composing import Step
from live.model.play import Play
from live.model.script import Command, Scenario, calls_of
from live.model.wires.base import ENCRYPTED, SIGNATURE
from live.pictures import MEDIA_TYPE, digest, png
from live.sanitise.renaming import BEGIN, DAY, STAMP, UUID
from live.sanitise.rules import Marker

PLACEHOLDER = re.compile(r"\[elided: [\w./-]+, \d+k?\]")
TOKEN = re.compile(r"[\w$.:/@+*\[\]()-]{1,80}")

_NUMBERS: dict[bool | str, str] = {
    False: "",
    True: r"(?: ?-?\d+)?",
    "always": r" ?-?\d+",
}
"""What may, or must, follow a marker's words."""

_SPLITS = 16
"""A piece of the script this long stands by itself; shorter ones inside foreign words are
taken for chance."""

_YAML = {0x85: "\\N", 0xA0: "\\_", 0x2028: "\\L", 0x2029: "\\P"}
"""What YAML's double-quoted strings escape beside what JSON's do."""

_ESCAPE = re.compile(r"\\(?:[nrtbf\"'\\/]|u[0-9a-fA-F]{4})")
_NEUTRAL = re.compile(r"(?<!\w)(?:true|false|null)(?!\w)")


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a text whose origin is known; ``firm`` ones part foreign words in two."""

    start: int
    end: int
    firm: bool


class Provenance:
    """The words that a recording may hold."""

    def __init__(
        self, script: Iterable[str], markers: Iterable[Marker], patterns: Iterable[str] = ()
    ) -> None:
        self._whole = frozenset(script)
        self._patterns = tuple(re.compile(pattern) for pattern in patterns)
        self.admit(())
        self._markers = re.compile(
            "|".join(
                _bounded(piece) + _NUMBERS[marker.number]
                for marker in sorted(markers, key=lambda marker: -len(marker.text))
                for piece in sorted(_spellings(marker.text))
            )
            or r"(?!)"
        )

    def admit(self, words: Iterable[str]) -> None:
        """Let further words in: ids that were renamed."""
        self._whole |= frozenset(words)
        self._script = _alternatives({piece for text in self._whole for piece in _pieces(text)})

    def foreign(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of a text that come from nowhere, each as long as it can be."""
        if text in self._whole:
            return []
        spans = self._spans(text)
        known = bytearray(len(text))
        for span in spans:
            known[span.start : span.end] = b"\1" * (span.end - span.start)
        firm = bytearray(len(text))
        for span in spans:
            if span.firm:
                firm[span.start : span.end] = b"\1" * (span.end - span.start)
        alien = [
            index
            for index, character in enumerate(text)
            if not known[index] and (character.isalpha() or ord(character) > 0x2FFF)
        ]
        return [_widened(start, end, firm) for start, end in _groups(alien, firm)]

    def _spans(self, text: str) -> list[Span]:
        found = [
            Span(start=match.start(), end=match.end(), firm=True)
            for pattern in (PLACEHOLDER, self._markers, UUID, *self._patterns)
            for match in pattern.finditer(text)
        ]
        found += [
            Span(start=match.start(), end=match.end(), firm=match.end() - match.start() >= _SPLITS)
            for match in self._script.finditer(text)
        ]
        morning = f"{BEGIN:%Y}"
        found += [
            Span(start=match.start(), end=match.end(), firm=False)
            for pattern in (STAMP, DAY, _ESCAPE, _NEUTRAL)
            for match in pattern.finditer(text)
            if pattern not in (STAMP, DAY) or match[1] == morning
        ]
        return found


def placeholder(path: tuple[str, ...], text: str) -> str:
    """Return what stands for foreign words: where they were and about how many."""
    label = ".".join(re.sub(r"[^\w-]", "-", part) for part in path[-2:]) or "text"
    size = 16
    while size < len(text):
        size *= 2
    return f"[elided: {label}, {size if size < 1024 else f'{size // 1024}k'}]"


def script_strings(
    scenario: Scenario, played: Iterable[Step], play: Play, driver: Driver, workspace: str
) -> set[str]:
    """Return every string that the recorder itself brought into a run."""
    found: set[str] = set()
    for value in (scenario, tuple(played), play):
        _collect(msgspec.to_builtins(value), found)
    found |= {driver.compact_prompt} if driver.compact_prompt else set()
    slug = re.sub(r"[^A-Za-z0-9]", "-", workspace)
    found |= {
        *(driver.agent, driver.version, driver.model, workspace, slug),
        *(sandbox.HOME, sandbox.CLI, sandbox.TOOLS, sandbox.MCP_COMMAND, "/tmp", "main"),
        *(SIGNATURE, ENCRYPTED),
    }
    found |= {driver.typed(turn, scenario) for turn in scenario.turns if turn.summary is None}
    for picture in scenario.pictures.values():
        encoded = base64.b64encode(png(picture)).decode()
        found |= {encoded, f"data:{MEDIA_TYPE};base64,{encoded}", digest(picture), MEDIA_TYPE}
    for response in (r for thread in play.threads for turn in thread.turns for r in turn.responses):
        found |= {f"{prefix}{response.id}" for prefix in ("msg_", "req_", "resp_", "chatcmpl-")}
    return {text for text in found if text}


def hook_words(registered: Iterable[str]) -> set[str]:
    """Return what the recorder brought in by registering hooks for some events."""
    events = set(registered)
    found = events | {f"{sandbox.HOOK_COMMAND} {event}" for event in events}
    return found | {sandbox.HOOK_COMMAND} if events else set()


def script_patterns(scenario: Scenario) -> tuple[str, ...]:
    """Return regular expressions for what a scenario has printed without writing it down."""
    return tuple(
        call.prints.pattern()
        for turn in scenario.turns
        for call in calls_of(turn.responses)
        if isinstance(call, Command) and call.prints is not None
    )


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, dict):
        for key, one in value.items():
            found.add(key)
            _collect(one, found)
    elif isinstance(value, (list, tuple)):
        for one in value:
            _collect(one, found)


def _pieces(text: str) -> set[str]:
    """Return a script's text, its lines, and both as they stand inside JSON."""
    lines = (line.strip() for line in text.split("\n"))
    pieces = {text, text.strip(), *(line for line in lines if len(line) > 1)}
    return {spelt for piece in pieces for spelt in _spellings(piece)}


def _spellings(text: str) -> set[str]:
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    quoted = json.dumps(plain, ensure_ascii=False)[1:-1]
    return {one for one in (text, plain, quoted, plain.translate(_YAML)) if one}


def _alternatives(texts: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(texts, key=lambda text: (-len(text), text))
    if not ordered:
        return re.compile(r"(?!)")
    return re.compile("|".join(_bounded(text) for text in ordered))


def _bounded(text: str) -> str:
    """Return a pattern for a text that does not begin or end inside a word."""
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", text) else ""
    return f"{before}{re.escape(text)}{after}"


def _groups(alien: list[int], firm: bytearray) -> list[tuple[int, int]]:
    """Join foreign letters into spans; only what is firmly known parts them."""
    groups: list[tuple[int, int]] = []
    for index in alien:
        if groups and not any(firm[groups[-1][1] : index]):
            groups[-1] = (groups[-1][0], index + 1)
        else:
            groups.append((index, index + 1))
    return groups


def _widened(start: int, end: int, firm: bytearray) -> tuple[int, int]:
    while start > 0 and not firm[start - 1]:
        start -= 1
    while end < len(firm) and not firm[end]:
        end += 1
    return start, end
