"""A briefing in place of a conversation, and the prompt that goes with a move."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from conformance.tests.talks import asks, edits, fails, injects, runs, says, talk, talks
from transcripts.handoff.prompt import TEMPLATES, HandoffDetails, handoff_prompt
from transcripts.handoff.summary import (
    ACKNOWLEDGEMENT,
    HEADER,
    SummaryOptions,
    summarise,
    summarise_if_longer,
)
from transcripts.model import Superseded, Transcript
from transcripts.narration import content_text


def briefing(transcript: Transcript, **options: object) -> str:
    briefed = summarise(transcript, SummaryOptions(**options))  # pyright: ignore[reportArgumentType]
    return content_text(getattr(briefed.messages[0], "content", ()))


def mill() -> Transcript:
    return talk(
        injects("<environment_context>"),
        asks("Mend the  wheel\nand the weir."),
        edits("/srv/mill/wheel.py"),
        edits("/srv/mill/refused.py", status="declined"),
        runs("pytest wheel", "1 failed", status="failed", exit_code=1),
        asks("Not that one!", superseded_by=Superseded(id=None, why="rewind")),
        asks("And the sluice?", superseded_by=Superseded(id=None, why="compaction")),
        fails("You've hit your limit"),
        says("The wheel turns. The sluice is next.", superseded_by=None),
        edits("/srv/mill/sluice.py", agent="child"),
    )


def test_a_briefing_is_one_exchange_that_ends_with_the_agent():
    briefed = summarise(mill())
    assert [message.kind for message in briefed.messages] == ["UserMessage", "AgentMessage"]
    assert content_text(getattr(briefed.messages[1], "content", ())) == ACKNOWLEDGEMENT
    assert (briefed.title, briefed.cwd, briefed.session_id) == ("The mill", "/srv/mill", "s-1")
    assert briefed == summarise(mill())


def test_a_briefing_says_what_was_asked_done_and_said_last():
    text = briefing(mill(), transcript_path="/home/you/s-1.jsonl")
    assert text.startswith(HEADER)
    for told in (
        "- agent: claude 2.1.332",
        "- session: s-1",
        "- whole transcript: /home/you/s-1.jsonl",
        "- working directory: /srv/mill",
        "1. Mend the wheel and the weir.\n2. And the sluice?",
        "- /srv/mill/wheel.py\n- /srv/mill/sluice.py",
        "- pytest wheel (exit 1)",
        "The wheel turns. The sluice is next.",
    ):
        assert told in text
    # Neither what was taken back, nor refused, nor the provider's failure, nor the harness's own.
    for kept_out in ("Not that one!", "refused.py", "hit your limit", "environment_context"):
        assert kept_out not in text


def test_a_briefing_on_a_turn_that_broke_off_says_so():
    text = briefing(talk(asks("Plant five."), edits("bed-1"), runs("dig bed-2", None)))
    assert "not answered: Plant five." in text
    assert "without a result, and perhaps done: dig bed-2" in text


def test_a_narrative_stands_for_the_last_words_and_above_the_facts():
    text = briefing(mill(), narrative="The weir is still broken.")
    assert "The weir is still broken." in text
    assert "a reading, which can be wrong" in text
    assert "The wheel turns." not in text
    assert "/srv/mill/wheel.py" in text
    bare = briefing(mill(), narrative="The weir is still broken.", facts=False)
    assert "/srv/mill/wheel.py" not in bare
    assert "Mend the wheel" not in bare
    assert "session: s-1" in bare
    # Without facts and without a narrative there would be nothing left to go by.
    assert "The wheel turns." in briefing(mill(), facts=False, narrative="  ")


def test_how_it_begins_and_what_is_answered_can_be_said_otherwise():
    briefed = summarise(mill(), SummaryOptions(header="Listen.", acknowledgement="Aye."))
    assert content_text(getattr(briefed.messages[0], "content", ())).startswith("Listen.")
    assert content_text(getattr(briefed.messages[1], "content", ())) == "Aye."
    assert "pytest wheel" not in briefing(mill(), tool_activity=False)


def test_only_a_conversation_that_is_longer_is_summarised():
    transcript = talk(asks("one"), says("1"), fails(), asks("two"), says("2"))
    assert summarise_if_longer(transcript, 4) is transcript
    assert len(summarise_if_longer(transcript, 3).messages) == 2


def test_of_many_the_last_are_told_and_the_rest_counted():
    asked = [asks(f"request {number}") for number in range(1, 31)]
    ran = [runs(f"step {number}") for number in range(20)]
    text = briefing(talk(*asked, *ran, says("x" * 5000 + " the end")))
    assert "(10 earlier ones are left out)\n11. request 11\n" in text
    assert "30. request 30" in text
    assert "(5 earlier ones are left out)\n- step 5\n" in text
    assert "[… 1008 characters left out]" in text
    assert text.count("x" * 100)
    assert "the end" in text


@given(talks())
def test_a_briefing_is_bounded_whatever_the_conversation(transcript: Transcript):
    many = tuple(
        msgspec.structs.replace(message, id=f"{message.id}-{copy}")
        for copy in range(30)
        for message in transcript.messages
    )
    long = msgspec.structs.replace(transcript, messages=many)
    text = briefing(long)
    assert len(text) < 45_000
    assert briefing(long, max_requests=0, max_files=0, max_commands=0, max_closing_characters=0)


def test_a_briefing_is_bounded_in_every_line():
    giant = "y" * 100_000
    transcript = talk(
        *(asks(giant) for _ in range(50)),
        *(edits(f"{number}{giant}") for number in range(90)),
        *(runs(f"{number}{giant}") for number in range(50)),
        says(giant),
        asks(giant),
        *(runs(f"{number}{giant}", None) for number in range(50)),
    )
    assert len(briefing(transcript)) < 45_000


# ------------------------------------------------------------------ prompts


DETAILS = HandoffDetails(
    source_cli="claude",
    target_cli="codex",
    source_session_id="s-1",
    source_path="/home/you/s-1.jsonl",
    cwd="/srv/mill",
    request="Mend the {cwd} wheel.",
    reason="You've hit your limit",
    failure_kind="Rate limited",
    unresolved_call="make wheel",
)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_leaves_no_name_unfilled(name: str):
    assert "{" not in handoff_prompt(name, msgspec.structs.replace(DETAILS, request="Mend it."))


def test_a_line_that_would_say_nothing_is_dropped():
    bare = handoff_prompt("default", HandoffDetails(source_cli="claude", request="  "))
    assert "moved here from claude" in bare
    for gone in ("gave up", "no result", "asked in these words", "{"):
        assert gone not in bare
    assert handoff_prompt("{reason}\n{cwd}", HandoffDetails()) == TEMPLATES["minimal"]


def test_a_name_that_nobody_knows_stays_to_be_seen():
    told = handoff_prompt("{ request } {sauce} to {target_cli}", DETAILS)
    assert told == "{ request } {sauce} to codex"


def test_what_is_filled_in_is_not_looked_at_again():
    assert handoff_prompt("Do: {request}", DETAILS) == "Do: Mend the {cwd} wheel."
