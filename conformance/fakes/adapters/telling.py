"""Writers that tell what was said and done otherwise than it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.fakes.adapters.fake import Failing
from conformance.fakes.adapters.miniature import CALLING, FAILING, MADE, SEALED, TWO_ANSWERS
from conformance.fakes.adapters.writing import WritesWrongly
from transcripts.model import (
    AgentMessage,
    CommandExecution,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    Transcript,
)


class TellsOtherwise(WritesWrongly):
    """Does something to each message before it is written."""

    def before(self, transcript: Transcript) -> Transcript:
        return replace(transcript, messages=tuple(self.messages(transcript.messages)))

    def messages(self, messages: Sequence[Any]) -> Iterator[Any]:
        yield from map(self.message, messages)

    def message(self, message: Any) -> Any:
        return message


class NarratesEverything(TellsOtherwise):
    fails: ClassVar[Failing] = {
        "write.native": CALLING,
        "round-trip.kept": CALLING,
    }

    def message(self, message: Any) -> Any:
        if not isinstance(message, CommandExecution | ToolCall):
            return message
        output = "".join(one.text for one in message.output or () if isinstance(one, Text))
        told = f"I called {message.name} with {json.dumps(message.arguments)}: {output}"
        return AgentMessage(id=message.id, author="model", content=(Text(text=told),))


class MergesTexts(TellsOtherwise):
    # Two answers become one, with every word in its order.
    fails: ClassVar[Failing] = {
        "write.apart": {TWO_ANSWERS},
        "round-trip.kept": {TWO_ANSWERS},
    }

    def messages(self, messages: Sequence[Any]) -> Iterator[Any]:
        before: Any = None
        for one in messages:
            if isinstance(before, AgentMessage) and isinstance(one, AgentMessage):
                texts = [part.text for part in (*before.content, *one.content)]  # type: ignore[union-attr]
                before = replace(before, content=(Text(text="\n\n".join(texts)),))
                continue
            if before is not None:
                yield before
            before = one
        yield before


class TakesBlanksForNothing(TellsOtherwise):
    fails: ClassVar[Failing] = {"write.texts": MADE, "round-trip.kept": MADE}

    def message(self, message: Any) -> Any:
        if not isinstance(message, AgentMessage):
            return message
        content = (Text(text="".join(part.text.split(" "))) for part in message.content)  # type: ignore[union-attr]
        return replace(message, content=tuple(content))


class TrimsLineEnds(TellsOtherwise):
    fails: ClassVar[Failing] = {"write.results": {FAILING}}

    def message(self, message: Any) -> Any:
        if not isinstance(message, CommandExecution):
            return message
        output = tuple(Text(text=part.text.rstrip("\n")) for part in message.output)  # type: ignore[union-attr]
        return replace(message, output=output)


class WritesNumbersAnew(TellsOtherwise):
    fails: ClassVar[Failing] = {"write.arguments": {"ToolCall/arguments"}}

    def message(self, message: Any) -> Any:
        if not isinstance(message, ToolCall):
            return message
        return replace(message, arguments={**message.arguments, "long": 9007199254740991.0})


class ForgetsStatuses(TellsOtherwise):
    fails: ClassVar[Failing] = {"write.exit-codes": {FAILING}, "round-trip.kept": {FAILING}}

    def message(self, message: Any) -> Any:
        if isinstance(message, CommandExecution):
            return replace(message, exit_code=None, exit_code_source=None, status="completed")
        return message


class CallsOneByOne(TellsOtherwise):
    fails: ClassVar[Failing] = {"write.parallel": {FAILING}}

    def message(self, message: Any) -> Any:
        return replace(message, response=None)


class HandsSealsOn(WritesWrongly):
    fails: ClassVar[Failing] = {"write.seals": {SEALED}, "round-trip.kept": {SEALED}}

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Any:
        self._seals = [
            part.data
            for one in transcript.messages
            if isinstance(one, Reasoning)
            for part in one.content
            if isinstance(part, Opaque)
        ]
        return super().write(agent, home, transcript, **given)

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            text = path.read_text("utf-8")
            for seal in self._seals:
                first = text.index("SIGNE-")
                text = f"{text[:first]}{seal} {text[first:]}"
            path.write_text(text, "utf-8")
