"""Readers that spoil words and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.fakes.adapters.fake import Failing
from conformance.fakes.adapters.miniature import CALLS, planted
from conformance.fakes.adapters.reading import ReadsWrongly
from transcripts.model import AgentMessage, Call, Text, UserMessage

_HALF = re.compile("[\ud800-\udfff]")


class _ChangesWords(ReadsWrongly):
    """Does something to every text that a person or a model said."""

    def message(self, message: Any) -> Any:
        if not isinstance(message, UserMessage | AgentMessage):
            return message
        parts = (self.part(one) if isinstance(one, Text) else one for one in message.content)
        return replace(message, content=tuple(parts))

    def part(self, part: Text) -> Text:
        return replace(part, text=self.words(part.text))

    def words(self, text: str) -> str:
        return text


class TrimsTexts(_ChangesWords):
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"read.edges": planted("edges")}

    def words(self, text: str) -> str:
        return text.strip()


class ReplacesHalfPairs(_ChangesWords):
    fails: ClassVar[Failing] = {"read.half-pairs": planted("half-pairs")}

    def words(self, text: str) -> str:
        return _HALF.sub("\ufffd", text)


class LosesHalfPairs(_ChangesWords):
    agent: ClassVar[str] = "copilot"
    fails: ClassVar[Failing] = {"read.half-pairs": planted("half-pairs")}

    def words(self, text: str) -> str:
        return _HALF.sub("", text)


class TrimsTheEndsOfResults(ReadsWrongly):
    agent: ClassVar[str] = "copilot"
    fails: ClassVar[Failing] = {"read.output-edges": planted("output-edges")}

    def message(self, message: Any) -> Any:
        if not isinstance(message, Call) or not message.output:
            return message
        parts = (
            replace(one, text=one.text.rstrip("\n")) if isinstance(one, Text) else one
            for one in message.output
        )
        return replace(message, output=tuple(parts))


class MergesTexts(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.parts": planted("parts")}

    def message(self, message: Any) -> Any:
        for name in ("content", "output"):
            parts = getattr(message, name, None) or ()
            if len(parts) > 1 and all(isinstance(one, Text) for one in parts):
                merged = Text(text="\n".join(one.text for one in parts))
                message = replace(message, **{name: (merged,)})
        return message


class _ChangesNumbers(ReadsWrongly):
    """Does something to every number in a call's arguments."""

    def message(self, message: Any) -> Any:
        if not isinstance(message, Call):
            return message
        return replace(message, arguments=_changed(message.arguments, self.number))

    def number(self, number: Any) -> Any:
        return number


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _changed(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_changed(one, change) for one in value]
    return value if isinstance(value, bool) or not isinstance(value, int | float) else change(value)


class TakesIntegersForFloats(_ChangesNumbers):
    fails: ClassVar[Failing] = {"read.numbers": planted("numbers", CALLS)}

    def number(self, number: Any) -> Any:
        return float(number)


class TakesWholeNumbersForIntegers(_ChangesNumbers):
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"read.numbers": planted("numbers", CALLS)}

    def number(self, number: Any) -> Any:
        return int(number) if number == int(number) else number


class RoundsLongIntegers(_ChangesNumbers):
    agent: ClassVar[str] = "copilot"
    fails: ClassVar[Failing] = {"read.numbers": planted("numbers", CALLS)}

    def number(self, number: Any) -> Any:
        return number if abs(number) < 2**63 else float(number)


class LosesTheSignOfZero(_ChangesNumbers):
    fails: ClassVar[Failing] = {"read.numbers": planted("numbers", CALLS)}

    def number(self, number: Any) -> Any:
        return number if number else abs(number)


class TakesHugeNumbersForNothing(ReadsWrongly):
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"read.numbers": planted("numbers", CALLS)}

    def message(self, message: Any) -> Any:
        if not isinstance(message, Call) or not isinstance(message.arguments, Mapping):
            return message
        kept = {
            key: [None if one == "1e400" else one for one in value] if key == "numbers" else value
            for key, value in message.arguments.items()
        }
        return replace(message, arguments=kept)
