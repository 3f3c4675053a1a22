"""What is done to a conversation before it is written elsewhere: cut, trimmed, made a briefing.

Nothing of it is done unless it is asked for: the conversation itself is what is best moved.
"""

from __future__ import annotations

import msgspec

from transcripts.handoff.failures import (
    LABELS,
    Failure,
    choose_failure,
    cut_before,
    report_failures,
)
from transcripts.handoff.prompt import HandoffDetails, handoff_prompt
from transcripts.handoff.summary import SummaryOptions, summarise_if_longer
from transcripts.handoff.trim import Trim, call_in_words, last_request, trim_incomplete_tail
from transcripts.model import Transcript
from transcripts.stores.failing import FailureKind


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """Where a conversation was cut: at which failure, and how many messages went with it."""

    number: int
    id: str
    kind: FailureKind
    dropped: int


class Trimmed(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken from the end of a conversation (ids of messages), and what was still open."""

    dropped: tuple[str, ...]
    dropped_request: str | None
    outstanding_request: str | None
    unresolved_calls: tuple[str, ...]


class Summarised(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages a briefing stands for."""

    messages: int


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation made ready to be written, and what was done to it."""

    transcript: Transcript
    cut: Cut | None = None
    trimmed: Trimmed | None = None
    summarised: Summarised | None = None
    request: str | None = None
    failure: Failure | None = None
    unresolved_call: str | None = None


def prepare(
    transcript: Transcript,
    *,
    cut: bool = False,
    failure_number: int | None = None,
    trim: bool = False,
    summarise_over: int | None = None,
    options: SummaryOptions | None = None,
) -> Preparation:
    """Cut before a failure, trim and summarise, in this order, what of these is asked for."""
    whole, failure, cut_at = transcript, None, None
    if cut:
        failure = choose_failure(report_failures(transcript), failure_number)
        transcript = cut_before(transcript, failure)
        cut_at = Cut(
            number=failure.number,
            id=failure.id,
            kind=failure.kind,
            dropped=len(whole.messages) - len(transcript.messages),
        )
    stopped: Trim = trim_incomplete_tail(transcript)
    # A turn that a failure ended was not answered, whatever was said in it before.
    request = stopped.request or (last_request(transcript) if cut else None)
    if trim:
        transcript = stopped.transcript
    summarised = None
    if summarise_over is not None:
        briefed = summarise_if_longer(transcript, summarise_over, options)
        if briefed is not transcript:
            summarised = Summarised(messages=len(transcript.messages))
            transcript = briefed
    calls = stopped.unresolved_calls
    return Preparation(
        transcript=transcript,
        cut=cut_at,
        trimmed=_trimmed(stopped) if trim else None,
        summarised=summarised,
        request=request,
        failure=failure,
        unresolved_call=call_in_words(calls[-1]) if calls else None,
    )


def prompt_for(
    template: str, prepared: Preparation, *, target: str, source_path: str, cwd: str | None
) -> str:
    """Return the prompt that goes with a conversation that was prepared so."""
    failure = prepared.failure
    details = HandoffDetails(
        source_cli=prepared.transcript.agent,
        target_cli=target,
        source_session_id=prepared.transcript.session_id,
        source_path=source_path,
        cwd=cwd,
        request=prepared.request,
        reason=failure.text if failure else None,
        failure_kind=LABELS[failure.kind] if failure else None,
        unresolved_call=prepared.unresolved_call,
    )
    return handoff_prompt(template, details)


def _trimmed(trim: Trim) -> Trimmed:
    return Trimmed(
        dropped=trim.dropped,
        dropped_request=trim.dropped_request,
        outstanding_request=trim.outstanding_request,
        unresolved_calls=tuple(call.id for call in trim.unresolved_calls),
    )
