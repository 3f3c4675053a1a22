"""What sanitising does to a Copilot CLI session, on records written from scratch."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from live.proof import same_shape
from live.sanitise import Clock, Document, Provenance, Sanitiser, encode, load, markers, rules
from live.sanitise.derived import Underived
from live.sanitise.engine import leaves

AGENT = "copilot"
BEGUN = 1_790_000_000.0
"""2026-09-21T13:33:20Z."""

SESSION = "3f1d9f7e-51a2-4c58-9a36-9f5c3d1b7e20"
AGENT_ID = "b7e0c1d2-3a4b-4c5d-8e6f-708192a3b4c5"


def sanitiser(*script: str) -> Sanitiser:
    known = Provenance({*script, "/srv/project"}, markers(AGENT))
    return Sanitiser(rules(AGENT), known, Clock(BEGUN, BEGUN + 60))


def lines(*records: Any, path: str = "s/events.jsonl") -> Document:
    return Document(path=path, form="lines", records=records, style="\n")


def event(kind: str, at: str, **data: Any) -> dict[str, Any]:
    id = hashlib.sha256(f"{kind}{at}".encode()).hexdigest()
    uuid = f"{id[:8]}-{id[8:12]}-4{id[13:16]}-8{id[17:20]}-{id[20:32]}"
    return {"type": kind, "data": data, "id": uuid, "timestamp": f"2026-09-21T13:33:{at}Z"}


def test_a_size_of_the_file_is_measured_again() -> None:
    start = event("session.start", "20.100", sessionId=SESSION, producer="copilot-agent")
    prose = event("system.message", "20.200", role="system", content="Words of the vendor. " * 9)
    before = len(encode(lines(start, prose)))
    resume = event("session.resume", "25.000", eventsFileSizeBytes=before)
    (clean,) = sanitiser().documents([lines(start, prose, resume)])
    *rest, last = encode(clean).splitlines(keepends=True)
    size = json.loads(last)["data"]["eventsFileSizeBytes"]
    assert size == sum(map(len, rest))
    assert size < before


def test_a_size_that_no_formula_explains_is_an_error() -> None:
    start = event("session.start", "20.100", sessionId=SESSION)
    resume = event("session.resume", "25.000", eventsFileSizeBytes=1)
    with pytest.raises(Underived, match="eventsFileSizeBytes is 1, but no line up to it begins"):
        sanitiser().documents([lines(start, resume)])


def test_a_size_read_before_the_last_lines_were_written_is_told_as_if_after() -> None:
    start = event("session.start", "20.100", sessionId=SESSION)
    size = len(encode(lines(start)))
    info = event("session.info", "24.900")
    end = event("session.shutdown", "25.000", eventsFileSizeBytes=size)
    (clean,) = sanitiser().documents([lines(start, info, end)])
    *above, _ = encode(clean).splitlines(keepends=True)
    assert clean.records[2]["data"]["eventsFileSizeBytes"] == sum(map(len, above))


def test_a_size_in_a_copied_line_tells_of_the_file_that_it_was_copied_from() -> None:
    longer = event("session.start", "20.100", sessionId=SESSION, producer="copilot-agent")
    end = event("session.shutdown", "25.000", eventsFileSizeBytes=len(encode(lines(longer))))
    start = event("session.start", "26.000", sessionId=SESSION)
    copy = lines(start, end, path="copy/events.jsonl")
    clean = {one.path: one for one in sanitiser().documents([copy, lines(longer, end)])}
    first, *_ = encode(clean["s/events.jsonl"]).splitlines(keepends=True)
    assert clean["copy/events.jsonl"].records[1]["data"]["eventsFileSizeBytes"] == len(first)


@pytest.mark.parametrize("ends", ["\n", ""])
def test_separators_stay_escaped_as_the_cli_writes_them(tmp_path: Path, ends: str) -> None:
    text = '{"type":"user.message","data":{"content":"one\\u2028two \x85 木"}}' + ends
    path = tmp_path / "events.jsonl"
    path.write_bytes(text.encode())
    document = load(path, "events.jsonl")
    assert document.records[0]["data"]["content"] == "one\u2028two \x85 木"
    assert encode(document) == text.encode()


def test_an_instant_written_in_two_ways_stays_one_instant() -> None:
    for millisecond in range(0, 1000, 7):
        written = f"2026-09-21T13:33:25.{millisecond:03d}Z"
        number = 1_790_000_005_000 + millisecond
        both = event("session.shutdown", "40.000", sessionStartTime=number)
        both["data"]["accountingSnapshot"] = {"sessionStartTime": written}
        late = event("session.resume", "50.000")
        (clean,) = sanitiser().documents([lines(both, late)])
        instants = {record["timestamp"] for record in clean.records}
        assert instants == {"2026-01-05T10:00:01.137Z", "2026-01-05T10:00:02.137Z"}, written


@pytest.mark.parametrize("taken", ["24.999", "25.000"])
def test_the_time_told_to_hooks_is_the_time_of_its_record(taken: str) -> None:
    told = {"timestamp": 1_790_000_000_000 + round((float(taken) - 20) * 1000)}
    asked = event("hook.start", "25.000", input=told)
    (clean,) = sanitiser().documents([lines(asked)])
    (record,) = clean.records
    assert record["timestamp"] == "2026-01-05T10:00:00.137Z"
    assert record["data"]["input"]["timestamp"] == 1_767_607_200_137


def test_of_what_the_model_is_told_the_prompt_stays() -> None:
    prompt = "Sow the beans by the southern wall."
    told = f"<current_datetime>2026-09-21T13:33:25.000+00:00</current_datetime>\n\n{prompt}"
    told += "\n\n<system_reminder>\nThere are no tables yet.\n</system_reminder>"
    asked = event("user.message", "25.000", content=prompt, transformedContent=told)
    (clean,) = sanitiser(prompt).documents([lines(asked)])
    assert clean.records[0]["data"] == {
        "content": prompt,
        "transformedContent": f"[elided: data.transformedContent, 128]{prompt}"
        "[elided: data.transformedContent, 64]",
    }


def test_an_agent_keeps_one_new_id_as_value_as_key_and_inside_words() -> None:
    started = {**event("subagent.started", "21.000"), "agentId": AGENT_ID}
    spoken = event("user.message", "22.000", source=f"agent-{AGENT_ID}", content="")
    ended = event("session.shutdown", "23.000", agentMetrics={"main": {}, AGENT_ID: {"n": 1}})
    raw = lines(started, spoken, ended)
    (clean,) = sanitiser().documents([raw])
    new = clean.records[0]["agentId"]
    assert new != AGENT_ID
    assert clean.records[1]["data"]["source"] == f"agent-{new}"
    assert list(clean.records[2]["data"]["agentMetrics"]) == ["main", new]
    same_shape([raw], [clean], rules(AGENT))


def chained(*kinds: str) -> Document:
    """Events in the order of their times, each pointing at the one before."""
    records: list[Any] = []
    for number, kind in enumerate(kinds):
        one = event(kind, f"{20 + number}.000")
        records.append({**one, "parentId": records[-1]["id"] if records else None})
    return lines(*records)


def test_events_that_race_are_put_in_one_order_and_still_form_one_chain() -> None:
    head, tail = ("subagent.started",), ("user.message", "assistant.turn_start")
    ahead = chained(*head, "session.model_change", "subagent.configured", *tail)
    behind = chained(*head, "subagent.configured", "session.model_change", *tail)
    (one,), (other,) = sanitiser().documents([ahead]), sanitiser().documents([behind])
    assert [record["type"] for record in other.records[1:3]] == [
        "session.model_change",
        "subagent.configured",
    ]
    for document in (one, other):
        ids = [record["id"] for record in document.records]
        assert [record["parentId"] for record in document.records] == [None, *ids[:-1]]


@pytest.mark.parametrize("ahead", [True, False])
def test_what_is_said_aside_points_at_what_it_points_at_in_the_file(ahead: bool) -> None:
    change, settings = "session.model_change", "subagent.configured"
    racing = (change, settings) if ahead else (settings, change)
    raw = chained("subagent.started", *racing, "user.message", "assistant.turn_start")
    cleaner = sanitiser()
    (clean,) = cleaner.documents([raw])
    # The stream is not told of the change, and so never has the two side by side.
    said = [one for one in raw.records if one["type"] != change]
    (aside,) = cleaner.aside([lines(*said, path="stream/1.jsonl")])
    assert list(aside.records) == [one for one in clean.records if one["type"] != change]


def test_what_races_aside_is_told_in_the_order_of_the_file() -> None:
    raw = chained("assistant.turn_end", "tool.execution_complete", "subagent.completed", "done")
    cleaner = sanitiser()
    (clean,) = cleaner.documents([raw])
    before, *racing, after = raw.records
    between = event("model.call_failure", "21.500")
    aside = lines(before, racing[0], between, racing[1], after, path="stream/1.jsonl")
    (aside,) = cleaner.aside([aside])
    first, one, unfiled, other, last = aside.records
    assert unfiled["type"] == "model.call_failure"
    assert [first, one, other, last] == list(clean.records)
    assert [one["type"], other["type"]] == ["subagent.completed", "tool.execution_complete"]


def test_a_pointer_that_only_the_stream_has_stays() -> None:
    raw = chained("user.message", "assistant.turn_start")
    unwritten = event("system.message", "20.500")
    cleaner = sanitiser()
    (clean,) = cleaner.documents([raw])
    prompt, start = raw.records
    said = lines(prompt, {**start, "parentId": unwritten["id"]}, path="stream/1.jsonl")
    (aside,) = cleaner.aside([said])
    assert aside.records[0] == clean.records[0]
    assert aside.records[1]["id"] == clean.records[1]["id"]
    assert aside.records[1]["parentId"] not in {one["id"] for one in clean.records}


def test_a_model_change_elsewhere_stays_where_it_is() -> None:
    raw = chained("subagent.configured", "user.message", "session.model_change")
    (clean,) = sanitiser().documents([raw])
    assert [one["type"] for one in clean.records] == [one["type"] for one in raw.records]


def test_a_result_keeps_the_trailer_that_tells_the_exit_code() -> None:
    content = "the wheel is stuck\n<shellId: wheel completed with exit code 3>"
    done = event("tool.execution_complete", "25.000", result={"content": content})
    (clean,) = sanitiser("the wheel is stuck\n", "wheel").documents([lines(done)])
    assert clean.records[0]["data"]["result"]["content"] == content


def test_the_workspace_file_keeps_its_form_and_a_clock_of_its_own() -> None:
    name = '"Sign: \\"Grüße\\"\\Lline, then 木の名前."'
    text = (
        f"id: {SESSION}\ncwd: /srv/project\nclient_name: github/cli\nname: {name}\n"
        "user_named: false\ncreated_at: 2026-09-21T13:33:20.050Z\n"
        "updated_at: 2026-09-21T13:33:25.001Z\n"
    )
    yaml = Document(path="s/workspace.yaml", form="text", records=tuple(text.split("\n")))
    start = event("session.start", "20.050", sessionId=SESSION)
    clean = sanitiser('Sign: "Grüße"\u2028line, then 木の名前.').documents([yaml, lines(start)])
    written = {one.path: encode(one).decode() for one in clean}["s/workspace.yaml"]
    assert f"\nname: {name}\n" in written
    assert "\nclient_name: github/cli\nname" in written
    assert "\ncreated_at: 2026-01-05T10:00:00.137Z\n" in written
    assert "\nupdated_at: 2026-01-05T10:00:01.137Z\n" in written
    assert SESSION not in written


@pytest.mark.parametrize("second", [20, 41])
def test_whole_seconds_of_the_checklist_do_not_tell_when_in_the_run_they_fell(
    tmp_path: Path, second: int
) -> None:
    path = tmp_path / "session.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE todos (id TEXT PRIMARY KEY, status TEXT, created_at TEXT)")
        row = ("1", "in_progress", f"2026-09-21 13:33:{second}")
        database.execute("INSERT INTO todos VALUES (?, ?, ?)", row)
    database.close()
    events = lines(*(event("assistant.turn_end", f"{at}.500") for at in range(20, 50, 4)))
    clean = sanitiser().documents([events, load(path, "s/session.db")])
    rows = [one for document in clean for one in document.records if "row" in one]
    assert rows == [
        {
            "table": "todos",
            "row": {"id": "1", "status": "in_progress", "created_at": "2026-01-05 10:00:00"},
        }
    ]


def test_nothing_that_was_measured_stays() -> None:
    usage = {"duration": 18, "timeToFirstTokenMs": 18.014264, "inputTokens": 120}
    record = event("session.usage_record", "25.000", usage=usage)
    (clean,) = sanitiser().documents([lines(record)])
    found = {path[-1]: value for path, value in leaves(clean.records[0]) if path[-1] in usage}
    assert found == {"duration": 100, "timeToFirstTokenMs": 0.5, "inputTokens": 120}


def test_a_fork_tells_its_origin_in_words_that_prose_does_not_hold() -> None:
    told = f'Forked from "Where should the new beds be?" ({SESSION}) as "other" ({AGENT_ID}).'
    info = event("session.info", "20.100", message=told)
    prose = event("system.message", "20.200", content="(anything above) as they are")
    clean = sanitiser("Where should the new beds be?").documents([lines(info, prose)])
    message = clean[0].records[0]["data"]["message"]
    assert message.startswith('Forked from "Where should the new beds be?" (0000')
    assert ') as "' in message
    assert " as" not in clean[0].records[1]["data"]["content"]
