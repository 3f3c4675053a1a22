"""What witnesses without a model say, put into our words and judged; no CLI is started."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from conformance.modelfree import UNSHOWN, judge
from conformance.tests.copilot_events import Events, bash, event_id, request
from live import sandbox
from live.model.history import Entry
from live.sandbox import Sandbox
from live.witnesses import Disagreement, Witnessed, codex_threads, copilot_acp, witnesses
from live.witnesses.base import NoSession
from live.witnesses.copilot_files import events_file
from live.witnesses.copilot_import import judged
from live.witnesses.copilot_interchange import Record, records
from live.witnesses.jsonrpc import Peer, Refused, Unanswered
from live.witnesses.schemas import Choice, each_place_once, in_words
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    FileChange,
    FileEdit,
    Reasoning,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)

# ------------------------------------------------------------------ judging


def said(text: str) -> tuple[Text, ...]:
    return (Text(text=text),)


def transcript(*messages: AnyMessage) -> Transcript:
    return Transcript(agent="claude", session_id="s", cwd="/srv/project", messages=messages)


ASKED = UserMessage(id="u", author="human", content=said("Oil the gate."))
THOUGHT = Reasoning(id="r", author="model", content=said("It squeaks."))
RUN = CommandExecution(
    id="c", author="model", name="Bash", command="oil gate", output=said("quiet\n"), exit_code=0
)
ANSWERED = AgentMessage(id="a", author="model", content=said("It is quiet now."))
WHOLE = transcript(ASKED, RUN, ANSWERED)

PROMPT = Entry(role="user", type="text", text="Oil the gate.")
CALL = Entry(role="assistant", type="call", call_id="1", arguments={"command": "oil gate"})
RESULT = Entry(role="tool", type="result", call_id="1", text="quiet\n")
ANSWER = Entry(role="assistant", type="text", text="It is quiet now.")


def seen(witness: str, *entries: Entry) -> Witnessed:
    return Witnessed(name=witness, verdict="agrees", shown=entries)


@pytest.mark.parametrize("witness", UNSHOWN)
def test_a_session_that_is_shown_whole_and_in_order_agrees(witness: str) -> None:
    result = judge(seen(witness, PROMPT, CALL, RESULT, ANSWER), WHOLE)
    assert (result.verdict, result.why, result.unshown, result.shown) == ("agrees", "", {}, 4)


@pytest.mark.parametrize("witness", UNSHOWN)
@pytest.mark.parametrize("gone", [PROMPT, ANSWER], ids=["prompt", "answer"])
def test_words_that_are_not_shown_are_missed_by_every_witness(witness: str, gone: Entry) -> None:
    entries = [one for one in (PROMPT, CALL, RESULT, ANSWER) if one is not gone]
    result = judge(seen(witness, *entries), WHOLE)
    kind = "UserMessage u" if gone is PROMPT else "AgentMessage a"
    assert (result.verdict, result.why) == ("differs", f"{kind}: it is not shown")


@pytest.mark.parametrize("witness", UNSHOWN)
def test_words_in_another_order_are_seen_by_every_witness(witness: str) -> None:
    result = judge(seen(witness, ANSWER, CALL, RESULT, PROMPT), WHOLE)
    assert result.verdict == "differs"
    assert "it is shown in another order" in result.why


def test_a_call_behind_later_words_is_wrong_but_where_calls_stand_at_their_end() -> None:
    late = (PROMPT, ANSWER, CALL, RESULT)
    assert judge(seen("acp", *late), WHOLE).verdict == "differs"
    assert judge(seen("thread-read", *late), WHOLE).verdict == "agrees"


def test_other_output_than_was_written_differs() -> None:
    other = Entry(role="tool", type="result", call_id="1", text="squeak")
    result = judge(seen("acp", PROMPT, CALL, other, ANSWER), WHOLE)
    assert result.why == "CommandExecution c: 1 of 1 lines of the output are not shown"
    unanswered = judge(seen("acp", PROMPT, CALL, ANSWER), WHOLE)
    assert unanswered.why == "CommandExecution c: the call has no result"


def test_only_what_the_table_says_of_a_witness_may_be_absent() -> None:
    without_call = (PROMPT, ANSWER)
    reads = judge(seen("thread-read", *without_call), WHOLE)
    assert reads.verdict == "agrees"
    assert list(reads.unshown) == ["CommandExecution: it is not shown"]
    assert judge(seen("acp", *without_call), WHOLE).verdict == "differs"
    thinking = transcript(ASKED, THOUGHT, ANSWERED)
    assert judge(seen("acp", *without_call), thinking).verdict == "agrees"
    assert judge(seen("thread-read", *without_call), thinking).verdict == "differs"


def test_a_change_whose_words_are_known_and_a_servers_call_must_be_shown_by_every_witness() -> None:
    edit = FileEdit(path="/srv/project/a", operation="update", before="rust", after="oil")
    change = FileChange(id="f", author="model", name="Edit", changes=(edit,), output=said("ok"))
    call = ToolCall(id="t", author="model", name="lookup", server="yard", output=said("7"))
    for witness in UNSHOWN:
        for message in (change, call):
            result = judge(seen(witness, PROMPT), transcript(ASKED, message))
            assert result.why == f"{message.kind} {message.id}: it is not shown"


def test_a_call_shown_without_its_name_is_known_by_its_arguments() -> None:
    call = ToolCall(
        id="t", author="model", name="view", arguments={"path": "/srv/a"}, output=said("rust")
    )
    shown = (
        PROMPT,
        Entry(role="assistant", type="call", call_id="1", arguments={"path": "/srv/a"}),
        Entry(role="tool", type="result", call_id="1", text="rust"),
    )
    assert judge(seen("acp", *shown), transcript(ASKED, call)).verdict == "agrees"
    named = Entry(
        role="assistant", type="call", call_id="1", name="edit", arguments={"path": "/srv/a"}
    )
    other = judge(seen("acp", PROMPT, named, shown[2]), transcript(ASKED, call))
    assert other.why == "ToolCall t: it is not shown"


def test_a_refusal_and_an_absent_witness_are_passed_on() -> None:
    for verdict in ("refuses", "not-offered"):
        witnessed = Witnessed(name="acp", verdict=verdict, why="line 3: no UUID")
        result = judge(witnessed, WHOLE)
        assert (result.verdict, result.why, result.shown) == (verdict, "line 3: no UUID", None)


def test_a_disagreement_is_the_vendors_where_its_own_recordings_have_it_too() -> None:
    theirs = Disagreement(kind="skill", pointer="/data/x", rule="type", line=2, why="null")
    ours = Disagreement(kind="user", pointer="/data/content", rule="type", line=3, why="a list")
    witnessed = Witnessed(name="events-schema", verdict="refuses", disagreements=(theirs, ours))
    both = judge(witnessed, WHOLE, recorded=lambda _: frozenset({theirs.place}))
    assert (both.verdict, both.vendors) == ("refuses", (theirs,))
    assert both.why == "line 3: user /data/content: a list"
    alone = Witnessed(name="events-schema", verdict="refuses", disagreements=(theirs,))
    assert judge(alone, WHOLE, recorded=lambda _: frozenset({theirs.place})).verdict == "agrees"
    assert judge(alone, WHOLE).verdict == "refuses"


def test_who_offers_what() -> None:
    def names(agent: str, version: str) -> list[str]:
        return [one.name for one in witnesses(agent, version)]

    assert names("claude", "2.1.332") == []
    assert names("codex", "0.171.0") == ["thread-read", "items-schema"]
    assert names("codex", "0.92.0") == ["items-schema"]
    assert names("codex", "0.45.0") == []
    assert names("copilot", "1.0.102") == ["acp", "import", "events-schema"]
    assert names("copilot", "1.0.84-4") == ["acp", "events-schema"]
    assert names("copilot", "1.0.60") == ["events-schema"]


# ------------------------------------------------------------------ what they show


def update(kind: str, **fields: Any) -> dict[str, Any]:
    return {"method": "session/update", "params": {"update": {"sessionUpdate": kind, **fields}}}


def test_a_replay_is_told_in_messages() -> None:
    text = {"type": "text", "text": "Oil it."}
    told = [
        update("user_message_chunk", content=text),
        update("tool_call", toolCallId="1", title="Running: oil", rawInput={"command": "oil"}),
        update("tool_call", toolCallId="2", title="yard-lookup", rawInput={"n": 1}),
        update("tool_call_update", toolCallId="1", status="completed", rawOutput={"content": "q"}),
        update(
            "tool_call_update",
            toolCallId="2",
            status="failed",
            rawOutput={"message": "no such", "code": "failure"},
        ),
        update("agent_message_chunk", content=text),
        update("available_commands_update", availableCommands=[]),
        {"method": "session/other", "params": {}},
    ]
    assert list(copilot_acp.shown(told)) == [
        Entry(role="user", type="text", text="Oil it."),
        Entry(role="assistant", type="call", call_id="1", arguments={"command": "oil"}),
        Entry(role="assistant", type="call", call_id="2", name="yard-lookup", arguments={"n": 1}),
        Entry(role="tool", type="result", call_id="1", text="q", error=False),
        Entry(role="tool", type="result", call_id="2", text="no such", error=True),
        Entry(role="assistant", type="text", text="Oil it."),
    ]


def test_a_threads_items_are_told_in_messages() -> None:
    change = {"path": "/srv/a", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@\n-rust\n+oil"}
    items = [
        {"type": "userMessage", "id": "1", "content": [{"type": "text", "text": "Oil it."}]},
        {"type": "reasoning", "id": "2", "summary": ["squeaks"], "content": []},
        {
            "type": "commandExecution",
            "id": "3",
            "command": "oil",
            "aggregatedOutput": "quiet\n",
            "exitCode": 3,
            "status": "failed",
        },
        {"type": "fileChange", "id": "4", "changes": [change], "status": "completed"},
        {
            "type": "mcpToolCall",
            "id": "5",
            "server": "yard",
            "tool": "lookup",
            "arguments": {"n": 1},
            "status": "completed",
            "result": {"content": [{"type": "text", "text": "two"}], "structuredContent": {"n": 2}},
        },
        {"type": "agentMessage", "id": "6", "text": "Done."},
        {"type": "somethingNew", "id": "7"},
    ]
    shown = codex_threads.shown(items)
    assert [(one.type, one.call_id, one.name, one.text, one.error) for one in shown] == [
        ("text", None, None, "Oil it.", None),
        ("reasoning", None, None, "squeaks", None),
        ("call", "3", "command", None, None),
        ("result", "3", None, "quiet\n\nexit code 3", True),
        ("call", "4", "fileChange", None, None),
        ("result", "4", None, "completed", False),
        ("call", "5", "yard__lookup", None, None),
        ("result", "5", None, 'two\n{"n":2}', False),
        ("text", None, None, "Done.", None),
    ]
    (changed,) = shown[4].arguments["changes"]
    assert changed["diff"].split("\n")[1:] == ["rust", "oil"]


# ------------------------------------------------------------------ the vendor's own records


def interchange(events: Events) -> list[Record]:
    return list(records(enumerate(events.lines, start=1)))


def test_events_become_the_vendors_records() -> None:
    events = Events()
    events.user("Oil it.")
    events.answer("I will.", bash("c", "oil"), request("d", "view", {"path": "/srv/a"}))
    events.done("c", "quiet")
    events.done("d", success=False, error={"message": "no such file", "code": "failure"})
    events.add("assistant.message", agent="child", content="Inside.", messageId="x")
    made = interchange(events)
    assert [one.line for one in made] == [1, 2, 3, 3, 3, 4, 5]
    values = [one.value for one in made]
    assert values[0]["version"] == 1
    assert values[0]["createdAt"] == "2026-03-04T09:00:00.000Z"
    assert values[1] == {
        "type": "message",
        "id": event_id(1),
        "timestamp": "2026-03-04T09:00:01.000Z",
        "role": "user",
        "content": [{"type": "text", "text": "Oil it."}],
    }
    assert [(one["type"], one["id"]) for one in values[2:5]] == [
        ("message", event_id(2)),
        ("tool-call", "c"),
        ("tool-call", "d"),
    ]
    assert (values[5]["success"], values[5]["content"]) == (True, "quiet")
    assert (values[6]["success"], values[6]["error"]["message"]) == (False, "no such file")
    assert "content" not in values[6]


def test_what_the_importer_says_is_said_of_the_line_of_the_event() -> None:
    events = Events()
    events.user("Oil it.")
    events.answer("I will.", bash("c", "oil"))
    made = interchange(events)
    diagnostic = {"line": 4, "code": "orphan_tool_call", "message": "No message."}
    refused = {"ok": False, "diagnostics": [diagnostic]}
    assert judged(made, refused) == "line 3 of events.jsonl: orphan_tool_call: No message."
    counts = {"messages": 2, "toolCalls": 1, "toolResults": 0}
    assert judged(made, {"ok": True, "diagnostics": [], "imported": counts}) == ""
    fewer = {"ok": True, "diagnostics": [], "imported": counts | {"messages": 1}}
    assert judged(made, fewer) == "it was given 2 messages and counts 1"


SCHEMA = {
    "definitions": {
        "Word": {
            "type": "object",
            "properties": {
                "type": {"const": "word"},
                "parts": {"type": "array", "items": {"$ref": "#/definitions/Part"}},
            },
            "required": ["type", "parts"],
        },
        "Part": {"type": "object", "properties": {"text": {"type": "string"}}},
        "Number": {
            "type": "object",
            "properties": {"type": {"enum": ["number"]}, "value": {"type": "integer"}},
        },
        "Record": {"anyOf": [{"$ref": "#/definitions/Word"}, {"$ref": "#/definitions/Number"}]},
    }
}


def test_a_record_is_judged_by_the_branch_of_its_type() -> None:
    schema = Choice(SCHEMA, "Record")
    assert schema.kinds == {"word", "number"}

    def places(record: Any) -> list[tuple[str, str, str]]:
        return [one.place for one in schema.disagreements(record, 1)]

    assert places({"type": "word", "parts": [{"text": "a"}]}) == []
    assert places({"type": "word", "parts": [{"text": "a"}, {"text": 1}]}) == [
        ("word", "/parts/*/text", "type")
    ]
    assert places({"type": "word"}) == [("word", "/", "required")]
    assert places({"type": "number", "value": "1"}) == [("number", "/value", "type")]
    assert places({"type": "picture"}) == [("picture", "/type", "unknown")]
    assert places(None) == [("None", "/type", "unknown")]


def test_equal_disagreements_are_said_once() -> None:
    schema = Choice(SCHEMA, "Record")
    wrong = {"type": "number", "value": "1"}
    found = each_place_once(one for line in (4, 9) for one in schema.disagreements(wrong, line))
    assert [one.line for one in found] == [4]
    assert in_words(found) == "line 4: number /value: '1' is not of type 'integer'"


def test_a_session_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoSession, match="no-such-session"):
        events_file(tmp_path, "no-such-session")


# ------------------------------------------------------------------ asking

PEER = r"""
while read -r line; do
    case $line in
        *greet*)
            echo 'a word before the protocol'
            echo '{"method":"news","params":{"n":1}}'
            echo '{"id":"q","method":"may I","params":{}}'
            read -r answer
            case $answer in *-32601*) echo '{"id":1,"result":{"hello":true}}' ;; esac ;;
        *refuse*) echo '{"id":1,"error":{"code":-32603,"message":"odd","data":"line 3"}}' ;;
        *die*) echo 'cannot go on' >&2; exit 1 ;;
    esac
done
"""


def peer(box: Sandbox) -> Peer:
    return Peer(box, ["/bin/sh", "-c", PEER], {})


@pytest.mark.skipif(sandbox.sealing() is None, reason="no namespaces here")
def test_a_peer_answers_refuses_dies_or_is_silent_and_leaves_nothing() -> None:
    with Sandbox(Path("/usr")) as box:
        with peer(box) as one:
            assert one.ask("greet", {}) == {"hello": True}
            assert [message["method"] for message in one.told] == ["news"]
        with peer(box) as one, pytest.raises(Refused, match=r'refuse: -32603 odd \("line 3"\)'):
            one.ask("refuse", {})
        with peer(box) as one, pytest.raises(Unanswered, match=r"the process ended.*cannot go on"):
            one.ask("die", {})
        begun = time.monotonic()
        with peer(box) as one, pytest.raises(Unanswered, match="no answer within 1 s"):
            one.ask("say nothing", {}, seconds=1.0)
        assert time.monotonic() - begun < 60
