"""A tool is red exactly where it drops something, and never for what it does not offer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from conformance.corpus import Case, find_corpus, load_case, opened
from conformance.peers.judging import Judged, judge
from conformance.peers.tallying import Tally, portable
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    Reasoning,
    Text,
    ToolCall,
    UserMessage,
)
from transcripts.stores.base import open_store

CORPUS = find_corpus()


def _case(name: str) -> Case:
    return load_case(CORPUS / name, CORPUS)


def _read(case: Case) -> tuple[AnyMessage, ...]:
    with opened(case) as home:
        transcript = open_store(case.facts.agent, home).read(case.facts.session_id)
    assert transcript is not None
    return transcript.messages


def _verdicts(judged: Sequence[Judged]) -> set[tuple[str, str]]:
    return {(one.kind, one.verdict) for one in judged if one.verdict != "exact" or one.stray}


def _faults(judged: Sequence[Judged]) -> set[tuple[str, str]]:
    return {(one.kind, wrong.field) for one in judged for wrong in one.wrong}


REASONING = "claude/2.1.332/reasoning"
FAILS = "claude/2.1.332/command-fails"


@pytest.mark.parametrize("name", [REASONING, FAILS, "codex/0.171.0/parallel-calls"])
def test_what_is_read_whole_is_exact(name: str) -> None:
    case = _case(name)
    assert _verdicts(judge(case, _read(case))) == set()


def test_a_tool_that_drops_a_kind_loses_exactly_that_kind() -> None:
    case = _case(REASONING)
    kept = [one for one in _read(case) if not isinstance(one, Reasoning)]
    assert _verdicts(judge(case, kept)) == {("Reasoning", "lost")}


def test_a_kind_that_is_not_offered_is_not_lost() -> None:
    case = _case(REASONING)
    kept = [one for one in _read(case) if not isinstance(one, Reasoning)]
    assert _verdicts(judge(case, kept, {"Reasoning"})) == {("Reasoning", "not offered")}


def test_a_field_that_is_not_offered_is_not_looked_at() -> None:
    case = _case(FAILS)
    dropped = [
        replace(one, exit_code=None) if isinstance(one, CommandExecution) else one
        for one in _read(case)
    ]
    assert _faults(judge(case, dropped)) == {("CommandExecution", "exit_code")}
    assert _faults(judge(case, dropped, {"exit_code"})) == set()


def test_a_call_of_no_kind_is_held_to_what_it_was_given_and_what_came_of_it() -> None:
    case = _case(FAILS)

    def plain(message: AnyMessage, output: str) -> AnyMessage:
        if not isinstance(message, CommandExecution):
            return message
        return ToolCall(
            id=message.id,
            author="model",
            name="shell",
            arguments={"cmd": message.command},
            output=(Text(text=output),),
            status=message.status,
        )

    framed = [
        plain(one, f"code {one.exit_code}\n{_words(one)}")
        if isinstance(one, CommandExecution)
        else one
        for one in _read(case)
    ]
    assert _faults(judge(case, framed)) == set()
    silent = [plain(one, "") for one in _read(case)]
    assert ("CommandExecution", "output") in _faults(judge(case, silent))
    assert ("CommandExecution", "exit_code") in _faults(judge(case, silent))


def _words(message: CommandExecution) -> str:
    return "".join(part.text for part in message.output or () if isinstance(part, Text))


def test_words_that_nobody_said_are_told_of() -> None:
    case = _case(REASONING)
    rumour = UserMessage(id="x", author="human", content=(Text(text="I never said that."),))
    judged = judge(case, (*_read(case), rumour))
    assert [(one.kind, one.stray) for one in judged if one.wrong] == [("UserMessage", True)]
    harness = replace(rumour, author="harness")
    assert _verdicts(judge(case, (*_read(case), harness))) == set()


def test_words_that_are_cut_are_degraded_and_two_in_one_are_found() -> None:
    case = _case(FAILS)
    messages = _read(case)
    answers = [one for one in messages if isinstance(one, AgentMessage)]
    cut = replace(answers[0], content=(Text(text="Opening i"),))
    judged = judge(case, [cut if one is answers[0] else one for one in messages])
    assert _faults(judged) == {("AgentMessage", "text")}
    both = " ".join(
        part.text for one in answers[:2] for part in one.content if isinstance(part, Text)
    )
    joined = replace(answers[0], content=(Text(text=both),))
    kept = [joined if one is answers[0] else one for one in messages if one is not answers[1]]
    assert ("AgentMessage", "lost") not in _verdicts(judge(case, kept))


def test_what_stands_elsewhere_is_out_of_order() -> None:
    case = _case(FAILS)
    first, *rest = _read(case)
    assert _faults(judge(case, [*rest, first])) == {(first.kind, "order")}


def test_a_cell_has_the_worst_verdict_and_the_smallest_case_that_shows_it() -> None:
    tally = Tally("read", "claude")
    case = _case(REASONING)
    kept = [one for one in _read(case) if not isinstance(one, Reasoning)]
    tally.add("large", 9000, judge(case, kept))
    tally.add("small", 500, judge(case, kept))
    tally.add("whole", 100, judge(case, _read(case)))
    scores = {one.kind: one for one in tally.scores({})}
    assert {kind for kind, one in scores.items() if one.verdict != "exact"} == {"Reasoning"}
    reasoning = scores["Reasoning"]
    assert (reasoning.verdict, dict(reasoning.counts)) == ("lost", {"exact": 2, "lost": 4})
    assert reasoning.evidence is not None
    assert reasoning.evidence.case == "small"
    assert "HIVES-1180" in reasoning.evidence.expected


def test_what_is_kept_names_no_place_of_this_machine() -> None:
    assert portable("can't open /tmp/peer-x1/a.jsonl: gone") == "can't open …: gone"
