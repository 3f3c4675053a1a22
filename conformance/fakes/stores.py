"""A store that keeps everything, and the same store broken on purpose, one fault each.

The faithful one writes the normalised model as it is, so whatever a broken one loses is its
fault alone and must be caught by exactly the cells that the fault touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec
from msgspec.structs import replace

from transcripts.losses import Loss
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
    FileChange,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.narration import prose
from transcripts.stores.base import Listing, Store, WrittenSession

Spoil = Callable[[Sequence[AnyMessage]], Iterable[AnyMessage]]


class FaithfulStore(Store):
    """Writes the normalised model as JSON and reads it back: loses nothing, declares nothing."""

    agent: ClassVar[str] = "faithful"
    writes_for: ClassVar[str] = "every release"

    @classmethod
    def locate(cls, home: Path | None) -> Path:
        """Return the directory that holds the sessions."""
        if home is None:
            raise ValueError("a fake store has no home of its own")
        return home / ".faithful"

    def list(self, cwd: str | None = None) -> Listing:
        """List nothing: no check needs it."""
        del cwd
        return Listing((), 0)

    def find(self, session_id: str) -> Path | None:
        """Return the file of a session, or None."""
        path = self.root / f"{session_id}.json"
        return path if path.is_file() else None

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether the path is one of its files."""
        return path.parent.name == ".faithful"

    @classmethod
    def iter_path(cls, path: Path, *, recover: bool = False) -> Iterator[AnyMessage]:
        """Yield the messages of a session."""
        yield from cls.read_path(path, recover=recover).messages

    @classmethod
    def read_path(cls, path: Path, *, recover: bool = False) -> Transcript:
        """Read a session whole."""
        del recover
        return msgspec.msgpack.decode(path.read_bytes(), type=Transcript)

    def resume_command(self, session_id: str) -> Sequence[str]:
        """Return the words for a CLI that does not exist."""
        return ("faithful", "resume", session_id)

    def write(
        self,
        transcript: Transcript,
        *,
        session_id: str,
        cwd: str | None = None,
        model: str | None = None,
        cli_version: str | None = None,
        now: datetime | None = None,
    ) -> WrittenSession:
        """Write the transcript as it is."""
        del cwd, model, cli_version, now
        self.root.mkdir(parents=True)
        path = self.root / f"{session_id}.json"
        whole = replace(
            transcript,
            session_id=session_id,
            messages=tuple(self.spoilt(transcript.messages)),
        )
        path.write_bytes(msgspec.msgpack.encode(_strict(whole)))
        return WrittenSession(session_id=session_id, path=path, losses=self.losses(transcript))

    def spoilt(self, messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
        """Return what is written of the messages: all of them."""
        return messages

    def losses(self, transcript: Transcript) -> tuple[Loss, ...]:
        """Declare what a write loses: halves of surrogate pairs, as every strict file must."""
        return tuple(
            Loss(loss="replacement-character", message=message.id)
            for message in transcript.messages
            if _strict(message) != message
        )


def broken(name: str, spoil: Spoil) -> type[FaithfulStore]:
    """Return a faithful store with one fault."""

    class Broken(FaithfulStore):
        """A store with a fault that it does not declare."""

        def spoilt(self, messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
            return spoil(messages)

    Broken.__name__ = name
    return Broken


class Fault(NamedTuple):
    """One way to be wrong, and the cells (kind/variant patterns) that must catch it."""

    name: str
    spoil: Spoil
    caught_by: Callable[[AnyMessage], bool]


def _drop_exit_codes(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, CommandExecution):
            yield replace(message, exit_code=None, exit_code_source="none")
        else:
            yield message


def _zero_for_unknown(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, CommandExecution) and message.exit_code is None:
            yield replace(message, exit_code=0, exit_code_source="field")
        else:
            yield message


def _exit_code_from_words(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        said = _output(message)
        if isinstance(message, CommandExecution) and "exited with code 3" in said:
            yield replace(message, exit_code=3)
        else:
            yield message


def _drop_errors(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, Call) and message.error is not None:
            yield replace(message, error=None, output=(Text(text=message.error),))
        else:
            yield message


def _double_prompts(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        yield message
        if isinstance(message, UserMessage):
            yield replace(message, id=f"{message.id}-again")


def _fold_equal_prompts(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    seen: set[str] = set()
    for message in messages:
        if isinstance(message, UserMessage):
            text = repr(message.content)
            if text in seen:
                continue
            seen.add(text)
        yield message


def _swap_calls(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    swapped = list(messages)
    for index in range(len(swapped) - 1):
        if isinstance(swapped[index], ToolCall) and isinstance(swapped[index + 1], ToolCall):
            swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
    return swapped


def _narrate_calls(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, ToolCall):
            said = (Text(text=prose(message) or ""),)
            yield AgentMessage(id=message.id, author="model", at=message.at, content=said)
        else:
            yield message


def _cut_output(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, Call) and len(_output(message)) > 100_000:
            yield replace(message, output=(Text(text=_output(message)[:100_000]),))
        else:
            yield message


def _forget_paths(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, FileChange):
            changes = tuple(replace(edit, path="/elsewhere") for edit in message.changes)
            yield replace(message, changes=changes)
        else:
            yield message


def _as_person(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, AgentMessage):
            yield UserMessage(id=message.id, author="human", at=message.at, content=message.content)
        else:
            yield message


def _close_calls(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        if isinstance(message, Call) and message.status == "unresolved":
            yield replace(message, status="completed", output=(Text(text="ok"),))
        else:
            yield message


def _output(message: object) -> str:
    if not isinstance(message, Call):
        return ""
    return "".join(part.text for part in message.output or () if isinstance(part, Text))


FAULTS: tuple[Fault, ...] = (
    Fault(
        "drops exit codes",
        _drop_exit_codes,
        lambda m: isinstance(m, CommandExecution) and m.exit_code is not None,
    ),
    Fault(
        "says 0 for an exit status nobody recorded",
        _zero_for_unknown,
        lambda m: isinstance(m, CommandExecution) and m.exit_code is None,
    ),
    Fault(
        "takes the exit status from words in the output",
        _exit_code_from_words,
        lambda m: (
            isinstance(m, CommandExecution)
            and "exited with code 3" in _output(m)
            and m.exit_code != 3
        ),
    ),
    Fault(
        "makes errors outputs",
        _drop_errors,
        lambda m: isinstance(m, Call) and m.error is not None,
    ),
    Fault("doubles prompts", _double_prompts, lambda m: isinstance(m, UserMessage)),
    Fault("narrates calls without saying so", _narrate_calls, lambda m: isinstance(m, ToolCall)),
    Fault(
        "cuts long outputs",
        _cut_output,
        lambda m: isinstance(m, Call) and len(_output(m)) > 100_000,
    ),
    Fault(
        "forgets where a file was",
        _forget_paths,
        lambda m: isinstance(m, FileChange) and bool(m.changes),
    ),
    Fault(
        "gives the model's words to the person",
        _as_person,
        lambda m: isinstance(m, AgentMessage),
    ),
    Fault(
        "closes open calls as if they had succeeded",
        _close_calls,
        lambda m: isinstance(m, Call) and m.status == "unresolved",
    ),
)
"""Faults that touch single messages: a cell catches one if a message of its kind is touched."""

ORDER_FAULTS: dict[str, tuple[Spoil, frozenset[str]]] = {
    "folds equal prompts into one": (
        _fold_equal_prompts,
        frozenset({"UserMessage/equal-twice"}),
    ),
    "swaps neighbouring calls": (
        _swap_calls,
        # Two equal calls still differ in when they were made.
        frozenset({"ToolCall/equal-twice", "ToolCall/parallel"}),
    ),
}
"""Faults of order and number, with the cells that must catch each."""


def _strict(document: Transcript | AnyMessage) -> Transcript | AnyMessage:
    """Return the document with halves of surrogate pairs replaced, as UTF-8 needs it."""
    plain = msgspec.to_builtins(document)
    return msgspec.convert(_mended(plain), type(document))


def _mended(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _mended(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(item) for item in value]
    return value
