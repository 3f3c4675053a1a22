"""A long conversation as one briefing: what was asked, what was done, and where it stands.

All of it is extracted: no model reads it, and nothing understands what mattered. It is for a
conversation that does not fit; one that does is carried over itself. Who has read it can say
more (``narrative``), which stands as that reader's account above what is extracted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from transcripts.handoff.trim import call_in_words, is_request, trim_incomplete_tail
from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
    FileChange,
    Text,
    Transcript,
    UserMessage,
)
from transcripts.narration import content_text

HEADER = (
    "This is a briefing on a conversation with another agent, which is not carried over itself. "
    "It was extracted from the record; nothing here was verified since."
)
ACKNOWLEDGEMENT = (
    "Understood. I have only this briefing, not the conversation itself: I will look at the "
    "files as they are now before I rely on it."
)
_CLOSING = (
    "Work that is listed as done may be done: look before you do it again. What is not listed "
    "here stands in the transcript named above."
)

_PATH_KEYS = ("path", "file_path", "filePath", "notebook_path")
_UNDONE = ("failed", "declined", "cancelled")
_LONGEST_REQUEST = 400
_LONGEST_COMMAND = 160
_LONGEST_PATH = 300


class SummaryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a briefing, and how much of it.

    ``narrative`` is the account of somebody who has read the conversation: it takes the place of
    the agent's last words, since two accounts of one state are worse than either. ``facts``
    False leaves out what is extracted; ``transcript_path`` says where the whole can be read.
    """

    max_requests: int = 20
    max_files: int = 40
    max_commands: int = 15
    max_closing_characters: int = 4000
    tool_activity: bool = True
    narrative: str | None = None
    facts: bool = True
    header: str = HEADER
    acknowledgement: str = ACKNOWLEDGEMENT
    transcript_path: str | None = None


def summarise_if_longer(
    transcript: Transcript, max_messages: int, options: SummaryOptions | None = None
) -> Transcript:
    """Return a briefing where the next request would hold more messages than that.

    Otherwise the transcript itself is returned.
    """
    if len(transcript.effective()) <= max_messages:
        return transcript
    return summarise(transcript, options)


def summarise(transcript: Transcript, options: SummaryOptions | None = None) -> Transcript:
    """Return the session with one briefing and its acknowledgement for a conversation.

    It ends on a turn of the agent: one that ended on the briefing would read as a question that
    nobody has answered, and be trimmed away.
    """
    options = options or SummaryOptions()
    told = [part for part in _sections(transcript, options) if part.strip()]
    at = max((one.at for one in transcript.messages if one.at is not None), default=None)
    source: dict[str, Any] = {"at": at, "at_source": None if at is None else "derived"}
    briefing = derive(transcript.agent, transcript.session_id, "briefing")
    answer = derive(transcript.agent, transcript.session_id, "acknowledgement")
    return msgspec.structs.replace(
        transcript,
        messages=(
            UserMessage(
                id=briefing,
                author="human",
                provenance="briefing",
                content=(Text(text="\n\n".join(told)),),
                **source,
            ),
            AgentMessage(
                id=answer,
                follows=briefing,
                author="model",
                provenance="briefing",
                content=(Text(text=options.acknowledgement or ACKNOWLEDGEMENT),),
                **source,
            ),
        ),
    )


# ------------------------------------------------------------------ the sections


def _sections(transcript: Transcript, options: SummaryOptions) -> Iterator[str]:
    stood = [one for one in transcript.messages if not _was_taken_back(one)]
    yield options.header
    yield _about(transcript, stood, options)
    if options.facts:
        yield _asked(stood, options)
        if options.tool_activity:
            yield from _files(stood, options)
            yield _commands(stood, options)
    if options.narrative and options.narrative.strip():
        title = "Where the work stands, as somebody reads it who was given the conversation"
        yield f"{title} (a reading, which can be wrong):\n\n{options.narrative.strip()}"
    else:
        yield _closing(stood, options)
    if options.facts:
        yield _undone(transcript)
    yield _CLOSING


def _was_taken_back(message: AnyMessage) -> bool:
    """Whether the person went back behind a message; a compaction takes back nothing."""
    by = message.superseded_by
    return by is not None and by.why != "compaction"


def _about(transcript: Transcript, messages: Sequence[AnyMessage], options: SummaryOptions) -> str:
    main = [one for one in messages if one.agent is None]
    counts = (
        f"{sum(map(is_request, main))} requests, {sum(map(_is_reply, main))} replies, "
        f"{sum(isinstance(one, Call) for one in messages)} tool calls"
    )
    version = f" {transcript.cli_version}" if transcript.cli_version else ""
    lines: Mapping[str, str | None] = {
        "agent": transcript.agent + version,
        "session": transcript.session_id,
        "whole transcript": options.transcript_path or transcript.source_path,
        "working directory": transcript.cwd,
        "model": transcript.model,
        "volume": counts,
    }
    return "\n".join(f"- {name}: {_line(value, 1000)}" for name, value in lines.items() if value)


def _asked(messages: Sequence[AnyMessage], options: SummaryOptions) -> str:
    asked = [
        text
        for one in messages
        if one.agent is None and isinstance(one, UserMessage) and is_request(one)
        if (text := _line(content_text(one.content), _LONGEST_REQUEST))
    ]
    return _list("What was asked, in order", asked, options.max_requests, numbered=True)


def _files(messages: Sequence[AnyMessage], options: SummaryOptions) -> Iterator[str]:
    changed: dict[str, None] = {}
    seen: dict[str, None] = {}
    for one in messages:
        if isinstance(one, FileChange) and one.status not in _UNDONE:
            for edit in one.changes:
                changed[edit.path] = None
                if edit.moved_to:
                    changed[edit.moved_to] = None
        elif isinstance(one, Call) and isinstance(one.arguments, Mapping):
            seen.update(dict.fromkeys(_paths(one.arguments)))
    looked_at = [path for path in seen if path not in changed]
    most = options.max_files
    yield _list("Files changed", [_line(path, _LONGEST_PATH) for path in changed], most)
    left = max(0, most - len(changed))
    yield _list("Files named in other calls", [_line(p, _LONGEST_PATH) for p in looked_at], left)


def _paths(arguments: Mapping[str, Any]) -> list[str]:
    found = [arguments.get(key) for key in _PATH_KEYS]
    return [path for path in found if isinstance(path, str) and path.strip()]


def _commands(messages: Sequence[AnyMessage], options: SummaryOptions) -> str:
    lines = [
        f"{_line(one.command, _LONGEST_COMMAND)}{_fate(one)}"
        for one in messages
        if isinstance(one, CommandExecution)
    ]
    return _list("Commands run last", lines, options.max_commands)


def _fate(command: CommandExecution) -> str:
    if command.exit_code:
        return f" (exit {command.exit_code})"
    if command.status == "completed":
        return ""
    return " (no result recorded)" if command.status == "unresolved" else f" ({command.status})"


def _closing(messages: Sequence[AnyMessage], options: SummaryOptions) -> str:
    """Return the agent's last words; of a long message its end, which says where things stand."""
    replies = [one for one in messages if one.agent is None and _is_reply(one)]
    if not replies:
        return ""
    text = content_text(getattr(replies[-1], "content", ())).strip()
    if len(text) > options.max_closing_characters:
        start = max(0, len(text) - options.max_closing_characters)
        text = f"[… {start} characters left out]\n{text[start:]}"
    return f"The agent's last words:\n\n{text}"


def _undone(transcript: Transcript) -> str:
    """Say what the conversation broke off in the middle of."""
    trim = trim_incomplete_tail(transcript)
    lines: list[str] = []
    if trim.request:
        lines.append(f"not answered: {_line(trim.request, _LONGEST_REQUEST)}")
    lines += [
        f"without a result, and perhaps done: {_line(call_in_words(call), _LONGEST_COMMAND)}"
        for call in trim.unresolved_calls[-3:]
    ]
    return _list("It broke off here", lines, len(lines))


# ------------------------------------------------------------------ wording


def _is_reply(message: AnyMessage) -> bool:
    return (
        isinstance(message, AgentMessage)
        and message.author == "model"
        and content_text(message.content).strip() != ""
    )


def _line(text: str, longest: int) -> str:
    """Return text on one line, no longer than that."""
    words = " ".join(text[: 4 * longest].split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


def _list(title: str, lines: Sequence[str], most: int, *, numbered: bool = False) -> str:
    """Return the last lines under a title, with how many came before."""
    if not lines:
        return ""
    shown = lines[len(lines) - most :] if 0 < most < len(lines) else lines if most else []
    left = len(lines) - len(shown)
    items = [
        f"{left + place}. {line}" if numbered else f"- {line}"
        for place, line in enumerate(shown, 1)
    ]
    if left:
        items.insert(0, f"({left} earlier ones are left out)")
    return "\n".join((f"{title}:", "", *items))
