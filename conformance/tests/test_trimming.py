"""The unfinished end of a conversation: what goes, what stays, and what was still asked."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from conformance.tests.talks import (
    asks,
    edits,
    fails,
    hands_over,
    injects,
    notes,
    runs,
    says,
    talk,
    talks,
    thinks,
)
from transcripts.handoff.failures import cut_before, find_failures
from transcripts.handoff.summary import summarise
from transcripts.handoff.trim import Trim, trim_incomplete_tail
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CompactBoundary,
    Superseded,
    Transcript,
)
from transcripts.narration import content_text


def kinds(trim: Trim) -> list[str]:
    return [message.kind for message in trim.transcript.messages]


def test_a_complete_conversation_is_left_whole():
    transcript = talk(asks("one"), runs("ls"), says("Two files."), fails(), notes("shutdown"))
    trim = trim_incomplete_tail(transcript)
    assert trim.transcript is transcript
    assert not trim.ends_mid_turn
    assert trim.request is None


def test_a_request_that_nothing_was_done_about_goes_and_is_returned():
    trim = trim_incomplete_tail(talk(asks("one"), says("1"), asks("two"), thinks("hm"), fails()))
    assert kinds(trim) == ["UserMessage", "AgentMessage"]
    assert (trim.dropped_request, trim.outstanding_request) == ("two", None)
    assert len(trim.dropped) == 3


def test_what_was_done_in_the_last_turn_stays_with_its_request():
    transcript = talk(asks("Edit five."), edits("a"), edits("b"), runs("make", None), thinks("?"))
    trim = trim_incomplete_tail(transcript)
    assert kinds(trim) == ["UserMessage", "FileChange", "FileChange"]
    assert (trim.dropped_request, trim.outstanding_request) == (None, "Edit five.")
    assert [call.external_id for call in trim.unresolved_calls] == ["call-make"]
    assert trim.ends_mid_turn


@pytest.mark.parametrize("status", ["failed", "declined", "cancelled", "unknown"])
def test_a_call_that_came_to_an_end_is_finished_however_it_ended(status: str):
    trim = trim_incomplete_tail(talk(asks("Edit."), edits("a", status=status, output=None)))
    assert kinds(trim) == ["UserMessage", "FileChange"]
    assert trim.unresolved_calls == ()
    assert trim.outstanding_request == "Edit."


def test_a_call_in_the_background_has_its_answer_though_it_still_runs():
    trim = trim_incomplete_tail(talk(asks("Serve."), runs("serve", "started", status="unresolved")))
    assert kinds(trim) == ["UserMessage", "CommandExecution"]


def test_a_call_that_stopped_beside_one_that_ended_stays_for_the_writer_to_close():
    trim = trim_incomplete_tail(talk(asks("Both."), runs("one", None), runs("two")))
    assert kinds(trim) == ["UserMessage", "CommandExecution", "CommandExecution"]
    assert [call.external_id for call in trim.unresolved_calls] == ["call-one"]


def test_all_that_was_asked_without_an_answer_is_returned():
    trim = trim_incomplete_tail(talk(asks("first"), runs("ls"), asks("and this")))
    assert trim.request == "first\n\nand this"
    assert kinds(trim) == ["UserMessage", "CommandExecution"]


def test_what_a_harness_injects_is_no_request():
    transcript = talk(asks("one"), says("1"), injects("Stop hook feedback"))
    assert trim_incomplete_tail(transcript).transcript is transcript


def test_the_work_of_an_agent_goes_with_the_call_that_began_it():
    spawn = hands_over("dig", status="unresolved")
    transcript = talk(asks("one"), says("1"), asks("two"), spawn)
    caller = transcript.messages[-1].id
    child = says("digging", agent="child", caller=caller)
    messages = (*transcript.messages, msgspec.structs.replace(child, id="child"))
    trim = trim_incomplete_tail(Transcript(agent="claude", session_id="s", messages=messages))
    assert kinds(trim) == ["UserMessage", "AgentMessage"]


def test_what_was_rewound_is_no_end():
    by = Superseded(id=None, why="rewind")
    transcript = talk(asks("one"), says("1", superseded_by=by), asks("two"))
    trim = trim_incomplete_tail(transcript)
    assert kinds(trim) == ["AgentMessage"]
    assert trim.dropped_request == "one\n\ntwo"


def test_a_summary_is_an_end():
    boundary = CompactBoundary(id="", author="harness")
    transcript = talk(asks("one"), boundary, injects("summary"))
    assert trim_incomplete_tail(transcript).transcript is transcript


def test_a_briefing_is_left_whole():
    briefed = summarise(talk(asks("one"), runs("ls", None)))
    trim = trim_incomplete_tail(briefed)
    assert trim.transcript is briefed
    assert not trim.ends_mid_turn


def test_a_session_without_an_answer_is_trimmed_to_nothing():
    assert kinds(trim_incomplete_tail(talk(injects("context"), asks("one"), fails()))) == [
        "UserMessage"
    ]
    assert kinds(trim_incomplete_tail(talk())) == []


@given(talks())
def test_trimming_twice_is_trimming_once(transcript: Transcript):
    once = trim_incomplete_tail(transcript)
    twice = trim_incomplete_tail(once.transcript)
    assert twice.transcript.messages == once.transcript.messages
    assert twice.dropped == ()
    assert twice.outstanding_request == once.outstanding_request


@given(talks())
def test_trimming_takes_only_from_the_end_and_nothing_that_was_finished(transcript: Transcript):
    trim = trim_incomplete_tail(transcript)
    ids = [message.id for message in transcript.messages]
    kept = [message.id for message in trim.transcript.messages]
    assert sorted([*kept, *trim.dropped]) == sorted(ids)
    assert kept == [one for one in ids if one not in trim.dropped]
    gone = [one for one in transcript.messages if one.id in trim.dropped]
    assert not [one for one in gone if had_an_effect(one)]


def had_an_effect(message: AnyMessage) -> bool:
    if isinstance(message, AgentMessage):
        return message.agent is None and content_text(message.content).strip() != ""
    return isinstance(message, Call) and message.status == "completed"


@given(talks())
def test_after_a_cut_and_a_trim_nothing_waits_for_an_answer(transcript: Transcript):
    for failure in find_failures(transcript):
        trim = trim_incomplete_tail(cut_before(transcript, failure))
        line = [one for one in trim.transcript.messages if one.agent is None]
        assert not line or line[-1].kind not in ("Reasoning",)
        asked = [one for one in line if one.kind == "UserMessage" and one.author == "human"]
        if asked:
            assert line[-1] is not asked[-1]
