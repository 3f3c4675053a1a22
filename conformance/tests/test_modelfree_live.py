"""The vendors' own software is asked about sessions that were written for it, and broken ones."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance.modelfree import ModelFree, model_free
from live import defects
from live.agents.base import find_driver
from live.defects import codex, copilot
from live.defects.written import SESSION_ID, Defect, Written, put
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    FileChange,
    FileEdit,
    Structured,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.base import store_class

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

NEWEST = {"codex": "0.171.0", "copilot": "1.0.102"}
SESSION = "f00dfeed-1234-7abc-8def-0123456789ab"
TABLES = {"codex": codex, "copilot": copilot}
EMPTY = Transcript(agent="claude", session_id="s")


def conversation() -> Transcript:
    """A conversation of another CLI's, with calls side by side."""

    def frame(number: int, **fields: Any) -> dict[str, Any]:
        at = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC) + timedelta(seconds=number)
        return {"id": f"m{number}", "at": at, "author": "model"} | fields

    def said(text: str) -> tuple[Text, ...]:
        return (Text(text=text),)

    def made() -> Iterator[AnyMessage]:
        yield UserMessage(**frame(0, author="human"), content=said("Oil it.\u2028 ü😀"))
        yield AgentMessage(**frame(1, response="r"), content=said("Two things."))
        yield CommandExecution(
            **frame(2, response="r", status="failed"),
            name="Bash",
            command="oil gate",
            output=said("squeak\n"),
            exit_code=3,
        )
        yield ToolCall(
            **frame(3, response="r"),
            name="lookup",
            server="yard",
            arguments={"n": 2},
            output=(Text(text="two"), Structured(value={"n": 2})),
        )
        edit = FileEdit(path="/srv/project/gate", operation="update", before="rust", after="oil")
        yield FileChange(**frame(4), name="Edit", changes=(edit,), output=said("ok"))
        yield UserMessage(**frame(5, author="human"), content=said("Again."))
        yield UserMessage(**frame(6, author="human"), content=said("Again."))
        yield AgentMessage(**frame(7), content=said("Quiet."))

    messages = tuple(made())
    return Transcript(agent="claude", session_id="s", cwd="/srv/project", messages=messages)


def asked(agent: str, home: Path, session_id: str, transcript: Transcript) -> list[ModelFree]:
    return model_free(agent, NEWEST[agent], home, session_id, transcript)


@pytest.mark.parametrize("agent", NEWEST)
def test_what_was_written_is_shown_and_accepted(agent: str, tmp_path: Path) -> None:
    transcript = conversation()
    written = store_class(agent)(tmp_path).write(transcript, session_id=SESSION)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    results = model_free(agent, NEWEST[agent], tmp_path, SESSION, transcript, written.losses)
    assert [(one.witness, one.verdict, one.why) for one in results] == [
        (name, "agrees", "")
        for name in {
            "codex": ("thread-read", "items-schema"),
            "copilot": ("acp", "import", "events-schema"),
        }[agent]
    ]
    shown = {"codex": ["CommandExecution: it is not shown"], "copilot": []}[agent]
    assert list(results[0].unshown) == shown
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("agent", "release"), [("codex", "0.110.0"), ("copilot", "1.0.80")], ids=["codex", "copilot"]
)
def test_the_oldest_release_that_shows_calls_shows_them(
    agent: str, release: str, tmp_path: Path
) -> None:
    transcript = conversation()
    written = store_class(agent)(tmp_path).write(transcript, session_id=SESSION)
    results = model_free(agent, release, tmp_path, SESSION, transcript, written.losses)
    verdicts = [(one.witness, one.verdict) for one in results]
    assert (
        verdicts
        == {
            "codex": [("thread-read", "agrees"), ("items-schema", "agrees")],
            "copilot": [("acp", "agrees"), ("import", "not-offered"), ("events-schema", "agrees")],
        }[agent]
    )
    # The schema of 0.110 takes no text for an output, which 0.110 itself writes.
    assert bool(results[1].vendors) == (agent == "codex")


@pytest.mark.parametrize("agent", NEWEST)
def test_a_message_that_was_not_written_is_missed(agent: str, tmp_path: Path) -> None:
    transcript = conversation()
    messages = transcript.messages
    fewer = Transcript(
        agent="claude", session_id="s", cwd=transcript.cwd, messages=(*messages[:4], *messages[5:])
    )
    store_class(agent)(tmp_path).write(fewer, session_id=SESSION)
    shows = asked(agent, tmp_path, SESSION, transcript)[0]
    assert (shows.verdict, shows.why) == ("differs", "FileChange m4: it is not shown")


def laid(agent: str, defect: Defect, home: Path) -> dict[str, ModelFree]:
    written: Written = defect.change(TABLES[agent].sound(find_driver(agent, NEWEST[agent])))
    for name, content in written.files().items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return {one.witness: one for one in asked(agent, home, SESSION_ID, EMPTY)}


def known(agent: str, name: str) -> Defect:
    assert name in defects.names(agent)
    return next(one for one in TABLES[agent].DEFECTS if one.name == name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("result-as-string", "line 5"),
        ("no-uuid", "UUID"),
        # What --resume swallows without a word.
        ("workspace-offset", "created_at"),
    ],
)
def test_a_broken_session_is_refused_by_the_protocol_with_its_reason(
    name: str, reason: str, tmp_path: Path
) -> None:
    acp = laid("copilot", known("copilot", name), tmp_path)["acp"]
    assert acp.verdict == "refuses"
    assert reason in acp.why


def test_a_sound_session_by_hand_is_refused_by_nobody(tmp_path: Path) -> None:
    for agent in NEWEST:
        found = laid(agent, known(agent, "none"), tmp_path / agent)
        assert {one.verdict for one in found.values()} == {"agrees"}


def test_a_result_behind_the_next_message_is_refused_by_the_importer(tmp_path: Path) -> None:
    def late(written: Written) -> Written:
        written.lines.append(written.lines.pop(copilot.RESULT_EVENT))
        return written

    found = laid("copilot", Defect(name="late", what="a result is late", change=late), tmp_path)
    assert found["import"].verdict == "refuses"
    assert "line 6 of events.jsonl: late_tool_result" in found["import"].why


def test_an_event_of_another_shape_breaks_the_vendors_schema(tmp_path: Path) -> None:
    wrong = put(copilot.PROMPT, ["words"], "data", "content")
    defect = Defect(name="list", what="a prompt is a list", change=wrong)
    schema = laid("copilot", defect, tmp_path)["events-schema"]
    assert schema.verdict == "refuses"
    assert schema.why.startswith("line 2: user.message /data/content: ")


def test_an_item_of_another_shape_breaks_the_vendors_schema(tmp_path: Path) -> None:
    wrong = put(codex.CALL, 7, "payload", "arguments")
    defect = Defect(name="number", what="arguments are a number", change=wrong)
    schema = laid("codex", defect, tmp_path)["items-schema"]
    assert schema.verdict == "refuses"
    assert schema.why.startswith("line 5: function_call /arguments: ")


def test_a_rollout_that_cannot_be_read_is_refused_by_the_app_server(tmp_path: Path) -> None:
    found = laid("codex", known("codex", "no-meta"), tmp_path)["thread-read"]
    assert found.verdict == "refuses"
    assert "thread/read" in found.why


def test_a_release_that_offers_nothing_says_so(tmp_path: Path) -> None:
    store_class("codex")(tmp_path).write(conversation(), session_id=SESSION)
    results = model_free("codex", "0.45.0", tmp_path, SESSION, conversation())
    assert {one.verdict for one in results} == {"not-offered"}
    assert all(one.why for one in results)
    assert model_free("claude", "2.1.332", tmp_path, SESSION, conversation()) == []
