"""A conversation that stopped in the middle, ended where something was last finished.

A turn without an end reads to the next agent as a question that is still open, or as a call
that it must wait for. What was finished is kept, edits and commands above all: an agent that is
not shown them does them again.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Reasoning,
    Transcript,
    UserMessage,
)
from transcripts.narration import content_text, qualified_name


class Trim(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript without its unfinished end, and what that was.

    ``dropped`` are the ids of the messages that were taken away, ``dropped_request`` what the
    person had asked in them. ``outstanding_request`` is the request that was being worked at: it
    is still in the transcript, without an answer. ``unresolved_calls`` are the calls without a
    result in that last turn: one of them may have had its effect all the same.
    """

    transcript: Transcript
    dropped: tuple[str, ...] = ()
    dropped_request: str | None = None
    outstanding_request: str | None = None
    unresolved_calls: tuple[Call, ...] = ()

    @property
    def ends_mid_turn(self) -> bool:
        """Whether something was left undone."""
        return bool(self.dropped or self.outstanding_request)

    @property
    def request(self) -> str | None:
        """All that the person asked and got no answer to."""
        both = (self.outstanding_request, self.dropped_request)
        return "\n\n".join(one for one in both if one) or None


def trim_incomplete_tail(transcript: Transcript) -> Trim:
    """Take away what the last turn left unfinished; one that is complete is left whole.

    Finished are the agent's words, a call that came to an end (failed, declined and cancelled
    ones too: only *unresolved* means that nobody knows), and a summary. What follows the last of
    these goes, from what is unfinished on: a request that nothing was done about, calls without
    a result, thoughts.
    """
    line = [
        (place, message)
        for place, message in enumerate(transcript.messages)
        if message.agent is None and message.superseded_by is None
    ]
    ends = [place for place, message in line if is_finished(message)]
    end = ends[-1] if ends else -1
    tail = [message for place, message in line if place > end]
    begun = next((place for place, one in enumerate(tail) if _is_unfinished(one)), len(tail))
    dropped = tail[begun:]
    ids = _with_their_agents({message.id for message in dropped}, transcript.messages)
    kept = tuple(message for message in transcript.messages if message.id not in ids)
    worked_at = [message for place, message in line if place <= end]
    turn = _last_turn(worked_at)
    is_open = bool(turn) and not isinstance(turn[-1], AgentMessage | CompactBoundary)
    return Trim(
        transcript=msgspec.structs.replace(transcript, messages=kept) if ids else transcript,
        dropped=tuple(one.id for one in transcript.messages if one.id in ids),
        dropped_request=_requests(dropped),
        outstanding_request=_requests(turn) if is_open else None,
        unresolved_calls=tuple(
            message
            for message in (*(turn if is_open else ()), *dropped)
            if isinstance(message, Call) and not is_finished(message)
        ),
    )


def is_finished(message: AnyMessage) -> bool:
    """Whether nothing of a message of the model's, or of a summary, is still to come."""
    match message:
        case AgentMessage():
            return content_text(message.content).strip() != ""
        case Call():
            said = message.output is not None or message.error is not None
            return said or message.status != "unresolved"
        case CompactBoundary():
            return True
        case _:
            return False


def is_request(message: AnyMessage) -> bool:
    """Whether somebody asked something, rather than the harness told something."""
    return isinstance(message, UserMessage) and message.author in ("human", "agent")


def last_request(transcript: Transcript) -> str | None:
    """Return what was last asked on the main line, answered or not."""
    asked = [one for one in transcript.effective() if is_request(one)]
    return _requests(asked[-1:])


def call_in_words(call: Call) -> str:
    """Return what a call was for: its command, or its tool and the files that it changes."""
    if isinstance(call, CommandExecution):
        return call.command
    paths = [edit.path for edit in getattr(call, "changes", ())]
    return " ".join((qualified_name(call.name, call.server) or call.kind, *paths))


def _with_their_agents(ids: set[str], messages: Sequence[AnyMessage]) -> set[str]:
    """Return the ids, and those of all that agents did whose call is among them."""
    found = set(ids)
    for message in messages:
        if message.agent is not None and message.caller in found:
            found.add(message.id)
    return found


def _is_unfinished(message: AnyMessage) -> bool:
    return is_request(message) or isinstance(message, AgentMessage | Call | Reasoning)


def _last_turn(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the last request with what was done about it."""
    asked = [place for place, message in enumerate(messages) if is_request(message)]
    return list(messages[asked[-1] :]) if asked else []


def _requests(messages: Sequence[AnyMessage]) -> str | None:
    asked = [
        content_text(m.content) for m in messages if isinstance(m, UserMessage) and is_request(m)
    ]
    return "\n\n".join(text for text in asked if text.strip()) or None
