"""Movers that carry another conversation than the one they were given, or harm the one they took.

Each does to a whole conversation what some case of the live checks is there for: what is left out,
told wrongly or in the wrong order, and what is done to the original. The file that comes of it is
as good as the reference writes it, so that nothing but the case itself can find the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from conformance.crossing import all_stores
from conformance.fakes.movers import Broken
from conformance.livechecks.moving import Moved, NotMoved, StoreMover
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    Plan,
    Reasoning,
    SubAgent,
    Text,
    ToolCall,
    UserMessage,
)

Messages = Sequence[AnyMessage]
Retell = Callable[[Messages], Iterable[AnyMessage]]
Harm = Callable[[Path], None]


class Retelling:
    """Moves by the reference, with other messages than were read."""

    def __init__(self, name: str, retell: Retell) -> None:
        self.name = name
        self._retell = retell

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Read, tell it otherwise, and write; what was written is not said."""
        stores = all_stores()
        transcript = stores[source](source_home).read(session_id)
        if transcript is None:
            raise NotMoved(f"the reader of {source} finds no session {session_id}")
        told = replace(transcript, messages=tuple(self._retell(transcript.messages)))
        written = stores[target](target_home).write(told, session_id=new_session_id, cwd=cwd)
        return Moved(written.session_id, written.losses)


class Harming:
    """Moves by the reference, and then does something to the session that it took."""

    def __init__(self, name: str, harm: Harm) -> None:
        self.name = name
        self._harm = harm

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Move, then harm the original's files."""
        found = (path for path in source_home.rglob("*.jsonl") if session_id in path.as_posix())
        originals = sorted(found)
        moved = StoreMover().move(
            source,
            source_home,
            session_id,
            target,
            target_home,
            new_session_id=new_session_id,
            cwd=cwd,
        )
        for path in originals:
            self._harm(path)
        return moved


class Idle:
    """Moves nothing and says that the original is the moved session."""

    name = "the original's id"

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Return what was given."""
        del source, source_home, target, target_home, new_session_id, cwd
        return Moved(session_id)


# ------------------------------------------------------------------ what is told instead


def _another(messages: Messages) -> Iterable[AnyMessage]:
    """Tell of something else altogether, as the same people."""
    asked = next(one for one in messages if isinstance(one, UserMessage))
    said = next(one for one in messages if isinstance(one, AgentMessage))
    yield replace(asked, content=_words("Who mends the weir when the reeds are cut?"))
    yield replace(said, content=_words("Nobody has mended it since."))


def _without(*kinds: type[AnyMessage]) -> Retell:
    def told(messages: Messages) -> Iterable[AnyMessage]:
        return (one for one in messages if not isinstance(one, kinds))

    return told


def _each(change: Callable[[AnyMessage], AnyMessage]) -> Retell:
    return lambda messages: map(change, messages)


def _words(text: str) -> Content:
    return (Text(text=text),)


def _said(message: AnyMessage) -> str:
    content = message.content if isinstance(message, AgentMessage | UserMessage) else ()
    return "".join(part.text for part in content if isinstance(part, Text))


def _gone_well(one: AnyMessage) -> AnyMessage:
    if not isinstance(one, CommandExecution):
        return one
    return replace(
        one,
        status="completed",
        exit_code=0,
        exit_code_source="field",
        output=one.output or _words("opened\n"),
        error=None,
    )


def _unanswered(one: AnyMessage) -> AnyMessage:
    return replace(one, output=_words("")) if isinstance(one, ToolCall) else one


def _told_of_failures(one: AnyMessage) -> AnyMessage:
    if not isinstance(one, Error):
        return one
    return AgentMessage(id=one.id, author="model", content=_words(one.text))


def _summary_as_words(messages: Messages) -> Iterable[AnyMessage]:
    """Keep what was compacted in view, and say the summary as if it were one more answer."""
    for one in messages:
        if isinstance(one, CompactBoundary):
            yield AgentMessage(id=one.id, author="model", content=one.summary or ())
        else:
            yield replace(one, superseded_by=None, in_context=True)


def _in_ascii(one: AnyMessage) -> AnyMessage:
    if not isinstance(one, Call) or one.output is None:
        return one
    return replace(one, output=tuple(map(_plain, one.output)))


def _plain(part: object) -> Text:
    text = part.text if isinstance(part, Text) else ""
    return Text(text=text.encode("ascii", "replace").decode("ascii"))


def _cut(one: AnyMessage) -> AnyMessage:
    if not isinstance(one, Call) or one.output is None:
        return one
    text = "".join(part.text for part in one.output if isinstance(part, Text))
    return replace(one, output=_words(text[:1000]))


def _half_answers_left_out(messages: Messages) -> Iterable[AnyMessage]:
    return (one for one in messages if "TANSY" not in _said(one))


def _pictures_as_words(one: AnyMessage) -> AnyMessage:
    if not isinstance(one, UserMessage):
        return one
    parts = (part if isinstance(part, Text) else Text(text="[picture]") for part in one.content)
    return replace(one, content=tuple(parts))


def _said_twice(messages: Messages) -> Iterable[AnyMessage]:
    for one in messages:
        yield one
        if isinstance(one, AgentMessage):
            yield replace(one, id=f"{one.id}-again", external_id=None)


def _prose_told_again(one: AnyMessage) -> AnyMessage:
    text = _said(one)
    if isinstance(one, AgentMessage) and text.startswith("("):
        return replace(one, content=_words(f"(told) {text}"))
    return one


def _results_exchanged(messages: Messages) -> Iterable[AnyMessage]:
    """Give each call the result of the one that was made after it, the last that of the first."""
    calls = [one for one in messages if isinstance(one, CommandExecution)]
    given = dict(zip((one.id for one in calls), [*calls[1:], *calls[:1]], strict=True))
    for one in messages:
        if isinstance(one, CommandExecution):
            other = given[one.id]
            yield replace(one, output=other.output, stdout=other.stdout)
        else:
            yield one


def _last_word_first(messages: Messages) -> Iterable[AnyMessage]:
    """Say what came of the calls before they are made."""
    said = [one for one in messages if isinstance(one, AgentMessage)]
    rest = [one for one in messages if one is not said[-1]]
    place = next(at for at, one in enumerate(rest) if isinstance(one, Call))
    return [*rest[:place], said[-1], *rest[place:]]


# ------------------------------------------------------------------ what is done to the original


def _written_on(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


EDITS_DROPPED = Retelling("edits dropped", _without(FileChange))
ANOTHER = Retelling("another conversation", _another)

RETOLD: tuple[Broken, ...] = (
    Broken(ANOTHER, "t0", "codex", "codex"),
    Broken(Idle(), "t0", "codex", "codex"),
    Broken(Harming("the original written on", _written_on), "t0", "codex", "codex"),
    Broken(Harming("the original removed", Path.unlink), "t0", "codex", "codex"),
    Broken(ANOTHER, "t0-terminal", "codex", "codex"),
    Broken(EDITS_DROPPED, "t1", "codex", "codex"),
    Broken(Retelling("all went well", _each(_gone_well)), "t2", "codex", "codex"),
    Broken(Retelling("plans dropped", _without(Plan)), "t3", "claude", "codex"),
    Broken(Retelling("results of tools dropped", _each(_unanswered)), "t4", "codex", "codex"),
    Broken(Retelling("other agents dropped", _without(SubAgent)), "t5", "claude", "codex"),
    Broken(EDITS_DROPPED, "t6", "claude", "codex"),
    Broken(EDITS_DROPPED, "t6-batch", "claude", "codex"),
    Broken(EDITS_DROPPED, "t6-midstream", "codex", "codex"),
    Broken(Retelling("summaries said as words", _summary_as_words), "t7", "claude", "codex"),
    Broken(Retelling("in ASCII alone", _each(_in_ascii)), "t8", "codex", "codex"),
    Broken(Retelling("long results cut", _each(_cut)), "t8", "codex", "codex"),
    Broken(Retelling("all went well", _each(_gone_well)), "t9", "codex", "codex"),
    Broken(
        Retelling("half answers dropped", _half_answers_left_out), "t9-midstream", "codex", "codex"
    ),
    Broken(Retelling("pictures as words", _each(_pictures_as_words)), "t10", "codex", "codex"),
    Broken(Retelling("said twice", _said_twice), "t11", "codex", "claude"),
    Broken(Retelling("prose told again", _each(_prose_told_again)), "t11", "codex", "claude"),
    Broken(Retelling("failures told as words", _each(_told_of_failures)), "t12", "claude", "codex"),
    Broken(Retelling("results exchanged", _results_exchanged), "t13", "codex", "codex"),
    Broken(Retelling("the last word first", _last_word_first), "t13-order", "codex", "codex"),
    Broken(Retelling("thoughts dropped", _without(Reasoning)), "t14", "claude", "codex"),
    Broken(ANOTHER, "t15", "codex", "codex"),
    Broken(ANOTHER, "t16", "codex", "codex"),
    Broken(Harming("the original written on", _written_on), "t16", "codex", "codex"),
)
