"""What a person does to a Codex session is read: going back, planning, compacting, breaking off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from transcripts.errors import SessionNotFound
from transcripts.model import (
    AnyMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    Plan,
    SubAgent,
    ToolCall,
    UserMessage,
)
from transcripts.narration import content_text
from transcripts.stores.codex import CodexStore

SESSION = "019f0000-0000-7000-8000-0000000000d1"
BRANCH = "019f0000-0000-7000-8000-0000000000d2"
AGENT = "019f0000-0000-7000-8000-0000000000d3"
PIXEL = "iVBORw0KGgo="

Row = dict[str, Any]


class Rollout:
    """Records of one file, numbered from an ordinal on, a second each."""

    def __init__(self, start: int = 0, **meta: Any) -> None:
        self.rows: list[Row] = []
        self._start = start
        known = {"id": SESSION, "timestamp": "2026-05-02T08:00:00.000Z", "cwd": "/srv/mill"}
        self.add("session_meta", **known, cli_version="0.171.0", **meta)

    def add(self, kind: str, **payload: Any) -> Rollout:
        at = self._start + len(self.rows)
        # A file that is begun later has later times, whatever its numbers.
        stamp = f"2026-05-02T08:{self._start:02d}:{at:02d}.000Z"
        self.rows.append({"timestamp": stamp, "ordinal": at, "type": kind, "payload": payload})
        return self

    def begins(self, turn: str) -> Rollout:
        return self.add("event_msg", type="task_started", turn_id=turn)

    def ends(self, turn: str) -> Rollout:
        return self.add("event_msg", type="task_complete", turn_id=turn)

    def asks(self, words: str, *parts: Any) -> Rollout:
        content = [*parts, {"type": "input_text", "text": words}]
        kinds = [f"user.{'image' if one['type'] == 'input_image' else 'text'}" for one in content]
        tags = {"content_item_kinds": kinds}
        return self.add(
            "response_item",
            type="message",
            role="user",
            content=content,
            internal_chat_message_metadata_passthrough=tags,
        )

    def says(self, words: str, **more: Any) -> Rollout:
        content = [{"type": "output_text", "text": words}]
        return self.add("response_item", type="message", role="assistant", content=content, **more)

    def calls(self, call_id: str, name: str, **arguments: Any) -> Rollout:
        given = json.dumps(arguments)
        return self.add(
            "response_item", type="function_call", name=name, call_id=call_id, arguments=given
        )

    def runs(self, call_id: str, script: str) -> Rollout:
        return self.add(
            "response_item", type="custom_tool_call", name="exec", call_id=call_id, input=script
        )

    def returns(self, call_id: str, output: Any, form: str = "function_call_output") -> Rollout:
        return self.add("response_item", type=form, call_id=call_id, output=output)

    def item(self, form: str, turn: str | None = None, **fields: Any) -> Rollout:
        told = {"type": form, **fields}
        return self.add("event_msg", type="item_completed", turn_id=turn, item=told)

    def write(self, tmp_path: Path, name: str = SESSION) -> Path:
        folder = tmp_path / ".codex" / "sessions" / "2026" / "05" / "02"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-05-02T10-00-{self._start:02d}-{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        return path


def messages(path: Path) -> tuple[AnyMessage, ...]:
    return CodexStore.read_path(path).messages


def told(found: tuple[AnyMessage, ...]) -> list[tuple[str, str, str | None]]:
    return [
        (
            one.kind,
            content_text(getattr(one, "content", ())),
            None if one.superseded_by is None else one.superseded_by.why,
        )
        for one in found
    ]


# ------------------------------------------------------------------ going back


def went_back(tmp_path: Path) -> tuple[Path, Path]:
    """Two turns, and then another one in the place of the second."""
    whole = Rollout()
    whole.begins("t1").asks("Name a tree.").says("An elm.").ends("t1")
    whole.begins("t2").asks("And a shrub.").says("A yew.").ends("t2")
    base = {"thread_id": SESSION, "end_ordinal_exclusive": 5, "end_byte_offset": 1}
    other = Rollout(5, history_base=base)
    other.begins("t3").asks("Rather a climber.").says("Ivy.").ends("t3")
    return whole.write(tmp_path), other.write(tmp_path, f"{SESSION}_{BRANCH}")


GONE_BACK = [
    ("UserMessage", "Name a tree.", None),
    ("AgentMessage", "An elm.", None),
    ("UserMessage", "And a shrub.", "rewind"),
    ("AgentMessage", "A yew.", "rewind"),
    ("UserMessage", "Rather a climber.", None),
    ("AgentMessage", "Ivy.", None),
]


@pytest.mark.parametrize("which", [0, 1])
def test_a_session_that_somebody_went_back_in_is_one_from_either_of_its_files(
    tmp_path: Path, which: int
) -> None:
    transcript = CodexStore.read_path(went_back(tmp_path)[which])
    assert told(transcript.messages) == GONE_BACK
    assert transcript.session_id == SESSION
    assert not transcript.damage
    assert all(message.inherited_from is None for message in transcript.messages)
    assert len({message.id for message in transcript.messages}) == len(GONE_BACK)


def test_such_a_session_is_listed_once(tmp_path: Path) -> None:
    went_back(tmp_path)
    listing = CodexStore(tmp_path).list()
    assert [info.session_id for info in listing.sessions] == [SESSION]


def test_the_later_file_alone_is_no_session(tmp_path: Path) -> None:
    first, later = went_back(tmp_path)
    first.unlink()
    with pytest.raises(SessionNotFound):
        CodexStore.read_path(later)


# ------------------------------------------------------------------ plans


def planned(words: str, plan: str | None) -> Rollout:
    rollout = Rollout().begins("t1").asks("Plan it.")
    if plan is not None:
        rollout.item("Plan", "t1", id="p1", text=plan)
    return rollout.says(words, id="m1").ends("t1")


def test_a_plan_stands_behind_the_words_that_hold_it(tmp_path: Path) -> None:
    words = "Here it is.\n<proposed_plan>\n1. Dig.\n</proposed_plan>"
    found = messages(planned(words, "1. Dig.\n").write(tmp_path))
    assert told(found)[1:] == [("AgentMessage", "Here it is.", None), ("Plan", "1. Dig.\n", None)]
    plan = found[-1]
    assert isinstance(plan, Plan)
    assert plan.form == "proposal"
    assert len(plan.sources) == 2


def test_a_plan_stands_behind_its_words_before_the_answer_is_recorded_that_holds_both(
    tmp_path: Path,
) -> None:
    rollout = Rollout().begins("t1").asks("Plan it.").item("Plan", "t1", id="p1", text="1. Dig.\n")
    said = [{"type": "Text", "text": "Here it is.\n"}]
    rollout.item("AgentMessage", "t1", id="m1", content=said)
    begun = messages(rollout.write(tmp_path))
    rollout.says("Here it is.\n<proposed_plan>\n1. Dig.\n</proposed_plan>", id="m1").ends("t1")
    found = messages(rollout.write(tmp_path))
    assert told(begun) == told(found)
    assert [one.id for one in begun] == [one.id for one in found]


def test_tags_that_codex_took_for_no_plan_are_words(tmp_path: Path) -> None:
    words = "Write <proposed_plan>\n1. Dig.\n</proposed_plan> around it."
    found = messages(planned(words, None).write(tmp_path))
    assert told(found)[1:] == [("AgentMessage", words, None)]


# ------------------------------------------------------------------ compacting


@pytest.mark.parametrize(("asked", "trigger"), [(None, "manual"), ("Go on.", "auto")])
def test_who_asked_for_a_compaction_follows_from_what_else_its_turn_holds(
    tmp_path: Path, asked: str | None, trigger: str
) -> None:
    rollout = Rollout().begins("t1").asks("Count.").says("Four.").ends("t1").begins("t2")
    rollout.add("compacted", message="Four of them.", replacement_history=[])
    if asked is not None:
        rollout.asks(asked).says("Gone on.")
    boundary = next(
        one
        for one in messages(rollout.ends("t2").write(tmp_path))
        if isinstance(one, CompactBoundary)
    )
    assert boundary.trigger == trigger


# ------------------------------------------------------------------ what came of calls


def test_an_agent_that_came_to_an_error_failed(tmp_path: Path) -> None:
    rollout = Rollout().begins("t1").calls("c1", "spawn_agent", message="Look.")
    rollout.returns("c1", json.dumps({"agent_id": AGENT}))
    rollout.calls("c2", "wait_agent", targets=[AGENT])
    rollout.returns("c2", json.dumps({"status": {AGENT: {"errored": "no key"}}}))
    agent = messages(rollout.write(tmp_path))[0]
    assert isinstance(agent, SubAgent)
    assert (agent.status, agent.error, agent.output) == ("failed", "no key", None)


@pytest.mark.parametrize(
    "result", ["Wall time: 1.9 seconds\naborted by user", "aborted by user after 0.8s"]
)
def test_a_call_that_the_person_broke_off_is_cancelled(tmp_path: Path, result: str) -> None:
    rollout = Rollout().begins("t1").calls("c1", "exec_command", cmd="sleep 9")
    (command,) = messages(rollout.returns("c1", result).write(tmp_path))
    assert command.status == "cancelled"


def test_a_command_that_outlives_its_turn_stands_where_it_was_begun(tmp_path: Path) -> None:
    rollout = Rollout().begins("t1").asks("Pump.").runs("c1", "await tools.exec_command()")
    rollout.returns("c1", "aborted by user after 0.8s", "custom_tool_call_output")
    rollout.begins("t2").asks("Enough.").says("It is off.").ends("t2")
    rollout.item("CommandExecution", "t1", id="exec-1", command="pump", exit_code=-1)
    found = messages(rollout.write(tmp_path))
    assert [one.kind for one in found] == [
        "UserMessage",
        "ToolCall",
        "CommandExecution",
        "UserMessage",
        "AgentMessage",
    ]
    assert found[2].caller == found[1].id


CUT = "Warning: truncated output (original token count: 9)\nTotal output lines: 9\n\nrow 1\n"


@pytest.mark.parametrize(("body", "extent"), [("row 1\n", "full"), (CUT, "truncated")])
def test_what_is_said_of_a_cut_is_no_output(tmp_path: Path, body: str, extent: str) -> None:
    frame = "Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
    rollout = Rollout().begins("t1").calls("c1", "exec_command", cmd="rows")
    rollout.returns("c1", frame + body)
    (command,) = messages(rollout.write(tmp_path))
    assert isinstance(command, CommandExecution)
    assert content_text(command.output or ()) == "row 1\n"
    assert command.output_extent == extent


def test_what_a_running_command_is_asked_for_has_the_frame_of_a_command(tmp_path: Path) -> None:
    frame = "Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
    rollout = Rollout().begins("t1").calls("c1", "write_stdin", session_id=7, chars="")
    (asked,) = messages(rollout.returns("c1", f"{frame}ground\n").write(tmp_path))
    assert isinstance(asked, ToolCall)
    assert content_text(asked.output or ()) == "ground\n"


# ------------------------------------------------------------------ pictures


def test_a_picture_is_an_asset_and_the_tags_around_it_are_nobodys_words(tmp_path: Path) -> None:
    opening = {"type": "input_text", "text": '<image name=[Image #1] path="leaf.png">'}
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
    closing = {"type": "input_text", "text": "</image>"}
    rollout = Rollout().begins("t1").asks("Which colour?", opening, picture, closing)
    (prompt,) = messages(rollout.write(tmp_path))
    assert isinstance(prompt, UserMessage)
    assert [type(part) for part in prompt.content][:1] == [Asset]
    assert content_text(prompt.content[1:]) == "Which colour?"
    assert prompt.provenance == "user.image,user.text"


def test_a_script_shows_its_pictures_with_what_it_printed(tmp_path: Path) -> None:
    frame = "Script completed\nWall time 0.1 seconds\nOutput:\n"
    shown = [
        {"type": "input_text", "text": frame},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
    ]
    rollout = Rollout().begins("t1").runs("c1", "image(r)")
    (script,) = messages(rollout.returns("c1", shown, "custom_tool_call_output").write(tmp_path))
    assert isinstance(script, ToolCall)
    assert [type(part) for part in script.output or ()] == [Asset]


def test_an_agents_letter_that_it_failed_is_no_report(tmp_path: Path) -> None:
    heading = "Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/seeker\nPayload:\n"
    letter = f"{heading}Agent errored: no key\n\nGive it another task."
    rollout = Rollout().begins("t1").calls("c1", "spawn_agent", task_name="seeker", message="Look.")
    rollout.returns("c1", json.dumps({"task_name": "/root/seeker"}))
    content = [{"type": "input_text", "text": letter}]
    rollout.add("response_item", type="agent_message", author="/root/seeker", content=content)
    agent = messages(rollout.write(tmp_path))[0]
    assert isinstance(agent, SubAgent)
    assert (agent.status, agent.error) == ("failed", "no key")


def test_a_picture_that_a_script_looks_at_is_a_call_of_the_scripts(tmp_path: Path) -> None:
    rollout = Rollout().begins("t1").runs("c1", "await tools.view_image()")
    rollout.item("ImageView", "t1", id="exec-1", path="file:///srv/mill/leaf.png")
    script, seen = messages(rollout.returns("c1", "", "custom_tool_call_output").write(tmp_path))
    assert isinstance(seen, ToolCall)
    assert (seen.caller, seen.status) == (script.id, "completed")
    assert seen.arguments == {"path": "/srv/mill/leaf.png"}
