"""A field of an odd type costs that field: no mutation of a Claude file stops the reader."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.tests.claude_rows import Rows, calls, save, says
from transcripts.errors import NoMessages
from transcripts.model import AgentMessage
from transcripts.serialise import to_json
from transcripts.stores.claude import ClaudeStore

odd_values = st.sampled_from(
    [
        None,
        True,
        0,
        -7,
        1.5,
        10**30,
        "",
        "x",
        "\ud83d",
        [],
        [[]],
        [None],
        {},
        {"": None},
        {"a": [1]},
    ]
)


def session() -> list[dict[str, Any]]:
    """Return a session with a row of every kind that the reader looks into."""
    rows = Rows()
    rows.bare("custom-title", customTitle="a title")
    rows.user(
        "<command-name>/survey</command-name>", origin={"kind": "human"}, promptSource="typed"
    )
    rows.user([says("look"), {"type": "image", "source": {"type": "base64", "data": "aGk="}}])
    counts = {"usage": {"input_tokens": 1, "output_tokens_details": {"thinking_tokens": 2}}}
    rows.assistant({"type": "thinking", "thinking": "hm", "signature": "s"}, message=counts)
    rows.assistant(says("so"), calls("toolu_1", "Bash", command="ls"))
    side = {"stdout": "a", "stderr": "", "interrupted": False, "backgroundTaskId": "b1"}
    rows.result("toolu_1", "a", is_error=False, toolUseResult=side)
    notice = "<tool-use-id>toolu_1</tool-use-id><status>failed</status>"
    queued = {
        "type": "queued_command",
        "prompt": f"<task-notification>{notice}</task-notification>",
        "origin": {"kind": "task-notification"},
    }
    rows.row("attachment", attachment=queued)
    hook = {"type": "hook_blocking_error", "blockingError": {"blockingError": "no"}}
    rows.row("attachment", attachment=hook)
    edits = [{"old_string": "a", "new_string": "b"}]
    rows.assistant(calls("toolu_2", "MultiEdit", file_path="/a", edits=edits))
    rows.result("toolu_2", "Exit code 1", is_error=True, toolUseResult="Error: no")
    rows.assistant(calls("toolu_3", "Agent", description="d", prompt="p"))
    report = {"agentId": "a1", "content": [says("r")], "harnessNoteCount": 0, "status": "completed"}
    rows.result("toolu_3", [says("r")], toolUseResult=report)
    rows.user("p", isSidechain=True, agentId="a1", parent=None)
    rows.assistant(calls("toolu_4", "TaskCreate", subject="x"))
    rows.result("toolu_4", "ok", toolUseResult={"task": {"id": "1"}})
    rows.assistant(calls("toolu_5", "TaskUpdate", taskId="1", status="completed"))
    rows.result("toolu_5", "ok")
    rows.assistant(calls("toolu_6", "TaskList"))
    listed = {"tasks": [{"id": "1", "subject": "x", "status": "pending"}]}
    rows.result("toolu_6", "ok", toolUseResult=listed)
    question = {"question": "Q", "options": [{"label": "a"}]}
    rows.assistant(calls("toolu_7", "AskUserQuestion", questions=[question]))
    rows.result("toolu_7", "ok", toolUseResult={"answers": {"Q": ["a", "b"]}})
    rows.assistant(calls("toolu_8", "WebSearch", query="q"))
    hits = {"results": [{"content": [{"title": "t", "url": "u"}]}], "durationSeconds": 1}
    rows.result("toolu_8", "ok", toolUseResult=hits)
    rows.assistant(says("failed"), isApiErrorMessage=True, apiErrorStatus=500)
    segment = {"preservedSegment": {"headUuid": rows.last, "tailUuid": rows.last}}
    rows.row("system", subtype="compact_boundary", parent=None, compactMetadata=segment)
    rows.user("summary", isCompactSummary=True)
    rows.assistant(says("THE LAST WORD"))
    return rows.rows


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a JSON value."""
    members: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield (*path, key)
        if isinstance(member, dict | list):
            yield from places(member, (*path, key))


WHOLE = session()
# The last row stays whole: what happens elsewhere must not cost it.
PLACES = [path for path in places(WHOLE) if len(path) > 1 and path[0] < len(WHOLE) - 1]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), odd_values), min_size=1, max_size=4))
def test_odd_values_anywhere_cost_only_themselves(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    rows = copy.deepcopy(WHOLE)
    for path, value in changes:
        target: Any = rows
        try:
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took this place away
    with tempfile.TemporaryDirectory() as home:
        path_of_file = save(Path(home), json.loads(json.dumps(rows)))
        transcript = ClaudeStore.read_path(path_of_file)
        assert tuple(ClaudeStore.iter_path(path_of_file)) == transcript.messages
        said = [m for m in transcript.messages if isinstance(m, AgentMessage)]
        # A row that is made a side chain of its own stands behind the main thread.
        last = [message for message in said if message.agent is None][-1]
        assert "THE LAST WORD" in str(last.content)
        assert to_json(transcript)
        ClaudeStore(Path(home)).list()
        ClaudeStore(Path(home)).write(
            transcript, session_id="dddddddd-1111-4222-8333-444444444444", cwd="/srv/w"
        )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["type", "uuid", "message", "x"]), odd_values)))
def test_rows_of_nonsense_are_an_error_or_counted(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as home:
        path = save(Path(home), rows)
        with suppress(NoMessages):
            assert ClaudeStore.read_path(path).messages


def test_half_a_surrogate_pair_in_the_session_id_costs_no_message(tmp_path: Path):
    rows = Rows(session="\ud83d")
    rows.user("water the bed")
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows.rows))
    path.with_name("beside.jsonl").write_text("{}\n")
    assert len(ClaudeStore.read_path(path).messages) == 1
