"""Where the provider gave up, whether the conversation survived it, and how it stood before.

A failure is what the CLI recorded as one, and nothing else: a conversation about a 401 is full
of sentences that say *API Error*. A CLI that records each of its attempts has one failure to
tell of, whose last record decides; the others are listed with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from transcripts.errors import NoSuchFailure
from transcripts.handoff.classifying import ClassifiedBy, Verdict, classify
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Damage,
    Error,
    Other,
    Transcript,
    UserMessage,
)
from transcripts.narration import content_text
from transcripts.stores.base import agents, store_class
from transcripts.stores.failing import FailureKind, FailureTraits, NoteId

LABELS: dict[FailureKind, str] = {
    "Unknown": "Failed",
    "RateLimited": "Rate limited",
    "Overloaded": "Overloaded",
    "Auth": "Auth error",
    "MaxTurns": "Max turns reached",
    "MaxTokens": "Context limit reached",
    "Refusal": "Refused",
    "ApiError": "API error",
    "SessionNotFound": "Session history unavailable",
}
"""Each kind in words for people."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier record of the same failure: the CLI tried again, or told of it twice."""

    id: str
    at: datetime | None
    text: str
    status: int | None
    raw: Any


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was refused.

    ``number`` counts the failures from 1, ``index`` the recorded messages from 0; ``id`` is the
    message's. ``kind`` is one of a closed list, in its own spelling, whatever the CLI's word is
    (``subtype``). ``classified_by`` is null where nothing said what it was. ``recovered``: the
    agent spoke again later. ``retried``: the CLI itself tried again and recorded no end, so the
    turn may not have been refused at all. ``agent`` is the thread, null for the main one.
    """

    number: int
    index: int
    id: str
    kind: FailureKind
    text: str
    at: datetime | None
    recovered: bool
    retried: bool
    raw: Any
    subtype: str | None
    status: int | None
    classified_by: ClassifiedBy | None
    agent: str | None
    attempts: tuple[Attempt, ...] = ()


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something to know before the list is believed; ``message`` is the id of what it is about."""

    note: NoteId
    why: str
    message: str | None = None


class FailureReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``transcripts failures --format json`` prints.

    ``knowable`` is false where an empty list means nothing: the release records no failures, or
    nobody knows which release it was. ``damage`` is what ``--recover`` read around.
    """

    agent: str
    session_id: str
    cli_version: str | None
    failures: tuple[Failure, ...]
    knowable: bool
    notes: tuple[Note, ...]
    damage: tuple[Damage, ...] = ()


# ------------------------------------------------------------------ finding


def find_failures(transcript: Transcript) -> tuple[Failure, ...]:
    """Return the failures of a session in the order in which they were recorded."""
    traits = _traits(transcript)
    messages = transcript.messages
    groups = _groups(messages)
    spoken = {message.agent: index for index, message in enumerate(messages) if _speaks(message)}
    return tuple(
        _failure(number, group, messages, spoken, traits) for number, group in enumerate(groups, 1)
    )


def report_failures(transcript: Transcript) -> FailureReport:
    """Return the failures of a session, and what can be known of them in its release."""
    traits = _traits(transcript)
    failures = find_failures(transcript)
    release = transcript.cli_version
    recorded = traits.recorded(release)
    notes = [Note(note=note.note, why=note.why) for note in traits.notes if note.applies(release)]
    if recorded is None:
        why = "the session does not say of which release it is, and some record no failures"
        notes.append(Note(note="release_unknown", why=why))
    if not recorded:
        notes += _empty_turns(transcript)
    return FailureReport(
        agent=transcript.agent,
        session_id=transcript.session_id,
        cli_version=release,
        failures=failures,
        knowable=bool(recorded or failures),
        notes=tuple(notes),
        damage=transcript.damage,
    )


def _traits(transcript: Transcript) -> FailureTraits:
    known = transcript.agent in agents()
    return store_class(transcript.agent).failures if known else FailureTraits()


def _groups(messages: Sequence[AnyMessage]) -> list[list[int]]:
    """Return the errors with nothing said or done between them, by their places."""
    groups: list[list[int]] = []
    latest: dict[str | None, list[int]] = {}
    for index, message in enumerate(messages):
        if isinstance(message, Error):
            group = latest.get(message.agent)
            if group is None or messages[group[-1]].turn != message.turn:
                group = latest[message.agent] = []
                groups.append(group)
            group.append(index)
        elif not isinstance(message, Other):
            latest.pop(message.agent, None)
    return groups


def _failure(
    number: int,
    group: Sequence[int],
    messages: Sequence[AnyMessage],
    spoken: Mapping[str | None, int],
    traits: FailureTraits,
) -> Failure:
    errors = [message for index in group if isinstance(message := messages[index], Error)]
    last, index = errors[-1], group[-1]
    verdict = _verdict(errors, traits)
    return Failure(
        number=number,
        index=index,
        id=last.id,
        kind=verdict.kind,
        text=last.text,
        at=last.at,
        recovered=max(spoken.get(last.agent, -1), spoken.get(None, -1)) > index,
        retried=last.provenance == "retried",
        raw=last.raw,
        subtype=last.failure,
        status=last.status_code,
        classified_by=verdict.by,
        agent=last.agent,
        attempts=tuple(
            Attempt(id=one.id, at=one.at, text=one.text, status=one.status_code, raw=one.raw)
            for one in errors[:-1]
        ),
    )


def _verdict(errors: Sequence[Error], traits: FailureTraits) -> Verdict:
    """Classify by the last record that has more to go by than its sentence."""
    verdicts = [classify(error, traits) for error in reversed(errors)]
    told = [verdict for verdict in verdicts if verdict.by in ("subtype", "status")]
    worded = [verdict for verdict in verdicts if verdict.by == "wording"]
    return (told or worded or verdicts)[0]


def _speaks(message: AnyMessage) -> bool:
    return (
        isinstance(message, AgentMessage)
        and message.author == "model"
        and content_text(message.content).strip() != ""
    )


def _empty_turns(transcript: Transcript) -> list[Note]:
    """Name the prompts that a failure without a record may have followed."""
    open_prompt: UserMessage | None = None
    found: list[UserMessage] = []
    main = [message for message in transcript.messages if message.agent is None]
    for message in main:
        if isinstance(message, UserMessage) and message.author == "human":
            if open_prompt is not None:
                found.append(open_prompt)
            open_prompt = message
        elif (
            message.author == "model" or isinstance(message, Error) or message.status == "cancelled"
        ):
            open_prompt = None
    if open_prompt is not None:
        found.append(open_prompt)
    why = "after this prompt neither an answer nor a failure is recorded: either may have been"
    return [Note(note="empty_turn", why=why, message=prompt.id) for prompt in found]


# ------------------------------------------------------------------ choosing and cutting


def choose_failure(report: FailureReport, number: int | None = None) -> Failure:
    """Return the failure to cut at: that of a number, else the last that was not survived.

    One that was survived is chosen only by its number: what came after it would be lost.
    """
    failures = report.failures
    if not failures:
        doubt = "" if report.knowable else " (its release is not known to record any)"
        raise NoSuchFailure(
            f"session {report.session_id} records no failure{doubt}",
            next_step="leave out --cut-before-failure",
        )
    if number is not None:
        if not 1 <= number <= len(failures):
            raise NoSuchFailure(
                f"session {report.session_id} has no failure {number}: it records {len(failures)}",
                next_step="`transcripts failures` numbers them",
            )
        return failures[number - 1]
    ended = [failure for failure in failures if not failure.recovered]
    if not ended:
        raise NoSuchFailure(
            f"the conversation went on after every failure of session {report.session_id}",
            next_step="give the number of the one to cut at: `transcripts failures` numbers them",
        )
    main = [failure for failure in ended if failure.agent is None]
    return (main or ended)[-1]


def cut_before(transcript: Transcript, failure: Failure) -> Transcript:
    """Return the conversation as it stood before a failure; what is said of the session is kept.

    What something later had taken the place of (a rewind, a compaction) stands again. The last
    turn is left as it was cut: see :func:`transcripts.handoff.trim.trim_incomplete_tail`.
    """
    messages = transcript.messages
    first = failure.attempts[0].id if failure.attempts else failure.id
    places = {message.id: index for index, message in enumerate(messages[: failure.index + 1])}
    if places.get(failure.id) != failure.index or first not in places:
        raise NoSuchFailure(
            f"message {failure.id} is not the failure at {failure.index} of this transcript",
            path=transcript.source_path,
            next_step="take the failure from find_failures() of the same transcript",
        )
    kept = messages[: places[first]]
    ids = {message.id for message in kept}
    return msgspec.structs.replace(
        transcript, messages=tuple(_as_before(message, ids) for message in kept)
    )


def _as_before(message: AnyMessage, kept: set[str]) -> AnyMessage:
    by = message.superseded_by
    if by is None or by.id is None or by.id in kept:
        return message
    return msgspec.structs.replace(message, superseded_by=None)
