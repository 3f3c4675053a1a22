"""What is known of driving Copilot CLI, each value measured on the release it names."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from live.agents.base import CannotDo, find_driver
from live.agents.copilot import person
from live.model.play import Play, PlayResponse, PlayTurn, Thread
from live.model.script import (
    Ask,
    Choice,
    Command,
    Create,
    Delete,
    Mcp,
    Permission,
    Read,
    Rename,
    Response,
    Scenario,
    SearchHit,
    SearchWeb,
    Spawn,
    Todo,
    TodoItem,
    Turn,
    UnknownTool,
    Update,
)

RELEASES = ("1.0.102", "1.0.60")
WORKSPACE = "/srv/project"


def said(version: str, call: Any, dialect: str | None = None) -> tuple[str, Any, str, Any]:
    """The tool, its arguments, and the kind and fields of the one message expected."""
    translation = find_driver("copilot", version, dialect).translate(call, WORKSPACE)
    (expected,) = translation.expects
    wire = translation.call
    assert wire is not None
    return wire.name, wire.arguments, expected.kind, dict(expected.fields)


@pytest.mark.parametrize("version", RELEASES)
def test_a_command_runs_in_a_shell_that_the_script_names(version: str) -> None:
    call = Command(id="count", run="ls | wc -l", stdout="3\n")
    tool, arguments, kind, fields = said(version, call)
    assert (tool, kind) == ("bash", "CommandExecution")
    assert arguments["command"] == "ls | wc -l"
    assert arguments["shellId"] == "count"
    assert arguments["mode"] == "sync"
    assert fields == {"command": "ls | wc -l", "exit_code": 0, "output": "3\n"}


@pytest.mark.parametrize(
    ("version", "output"),
    [("1.0.102", "wet\ncold\n"), ("1.0.60", "wet\ncold\nexit\n")],
)
def test_a_terminal_shows_that_its_shell_was_ended(version: str, output: str) -> None:
    call = Command(
        id="try",
        run="echo wet; echo cold >&2; exit 3",
        stdout="wet\n",
        stderr="cold\n",
        exit_code=3,
    )
    _, _, _, fields = said(version, call)
    assert fields["output"] == output
    assert fields["exit_code"] == 3
    assert fields["status"] == "failed"


@pytest.mark.parametrize("run", ["sh -c 'exit 3'", "echo exit; false", "grep exit notes.txt"])
def test_a_word_exit_that_ends_no_shell_adds_nothing_to_the_output(run: str) -> None:
    _, _, _, fields = said("1.0.60", Command(id="try", run=run, exit_code=3))
    assert fields["output"] == ""


@pytest.mark.parametrize(
    ("version", "shown"), [("1.0.102", "hello\n"), ("1.0.60", "1. hello\n2. ")]
)
def test_lines_of_a_viewed_file_are_numbered_in_the_older_release(version: str, shown: str) -> None:
    tool, arguments, kind, fields = said(version, Read(id="r", path="a.txt", content="hello\n"))
    assert (tool, kind) == ("view", "ToolCall")
    assert arguments == {"path": "/srv/project/a.txt"}
    assert fields["output"] == shown


@pytest.mark.parametrize("version", RELEASES)
def test_a_file_that_is_not_there_is_an_error(version: str) -> None:
    _, _, _, fields = said(version, Read(id="r", path="b.txt"))
    assert fields["status"] == "failed"
    assert "output" not in fields


@pytest.mark.parametrize("version", RELEASES)
def test_files_are_created_and_edited_with_tools(version: str) -> None:
    tool, arguments, kind, fields = said(version, Create(id="c", path="n.txt", content="one\n"))
    assert (tool, kind) == ("create", "FileChange")
    assert arguments == {"path": "/srv/project/n.txt", "file_text": "one\n"}
    assert fields == {
        "changes": [{"path": "/srv/project/n.txt", "operation": "add", "after": "one\n"}]
    }
    tool, arguments, kind, fields = said(
        version, Update(id="u", path="n.txt", old="one", new="two")
    )
    assert (tool, kind) == ("edit", "FileChange")
    assert arguments == {"path": "/srv/project/n.txt", "old_str": "one", "new_str": "two"}
    (change,) = fields["changes"]
    assert (change["operation"], change["before"], change["after"]) == ("update", "one", "two")
    assert "status" not in fields


@pytest.mark.parametrize("version", RELEASES)
def test_an_edit_that_matches_nothing_fails(version: str) -> None:
    call = Update(id="u", path="n.txt", old="one", new="two", fails=True)
    _, _, _, fields = said(version, call)
    assert fields["status"] == "failed"


@pytest.mark.parametrize("dialect", [None, "chat"])
def test_deleting_and_moving_are_commands_where_there_is_no_patch(dialect: str | None) -> None:
    _, arguments, kind, fields = said("1.0.102", Delete(id="d", path="old name.txt"), dialect)
    assert kind == "CommandExecution"
    assert arguments["command"] == "rm '/srv/project/old name.txt'" == fields["command"]
    _, arguments, kind, _ = said("1.0.102", Rename(id="m", path="a.txt", to="b.txt"), dialect)
    assert kind == "CommandExecution"
    assert arguments["command"] == "mv /srv/project/a.txt /srv/project/b.txt"


@pytest.mark.parametrize("version", RELEASES)
def test_a_codex_model_changes_files_by_patches_of_free_text(version: str) -> None:
    tool, text, kind, fields = said(
        version, Create(id="c", path="n.txt", content="one\ntwo\n"), "apply-patch"
    )
    assert (tool, kind) == ("apply_patch", "FileChange")
    assert text == (
        "*** Begin Patch\n*** Add File: /srv/project/n.txt\n+one\n+two\n*** End Patch\n"
    )
    assert fields["changes"][0]["operation"] == "add"
    _, text, _, fields = said(version, Delete(id="d", path="n.txt"), "apply-patch")
    assert text == "*** Begin Patch\n*** Delete File: /srv/project/n.txt\n*** End Patch\n"
    assert fields["changes"] == [{"path": "/srv/project/n.txt", "operation": "delete"}]
    call = Update(id="u", path="n.txt", old="two\n", new="three\n", fails=True)
    _, text, _, fields = said(version, call, "apply-patch")
    assert "\n@@\n-two\n+three\n" in text
    assert fields["status"] == "failed"


@pytest.mark.parametrize("version", RELEASES)
def test_a_patch_that_moves_a_file_quotes_what_is_in_it_by_then(version: str) -> None:
    edit = Update(id="u", path="a.txt", old="one", new="uno")
    move = Rename(id="m", path="a.txt", to="b.txt")
    responses = (Response(calls=(edit,)), Response(calls=(move,)))
    scenario = Scenario(
        name="moving",
        revision=1,
        title="",
        workspace={"a.txt": "one\ntwo\n"},
        turns=(Turn(prompt="Go.", responses=responses),),
    )
    driver = find_driver("copilot", version, "apply-patch")
    (said,) = driver.translate_response(responses[1], scenario, WORKSPACE)
    assert said.call is not None
    assert said.call.arguments == (
        "*** Begin Patch\n*** Update File: /srv/project/a.txt\n*** Move to: /srv/project/b.txt\n"
        "@@\n uno\n*** End Patch\n"
    )
    with pytest.raises(CannotDo):
        driver.translate(move, WORKSPACE)


@pytest.mark.parametrize("version", RELEASES)
def test_a_checklist_is_rows_of_a_table(version: str) -> None:
    items = (
        TodoItem(text="Ring the miller's bell", status="completed"),
        TodoItem(text="Sweep", status="in_progress"),
    )
    tool, arguments, kind, fields = said(version, Todo(id="t", items=items))
    assert (tool, kind) == ("sql", "ToolCall")
    assert arguments["query"] == (
        "DELETE FROM todos; INSERT INTO todos (id, title, status) VALUES "
        "('1', 'Ring the miller''s bell', 'done'), ('2', 'Sweep', 'in_progress')"
    )
    assert fields["arguments"] == arguments


@pytest.mark.parametrize("version", RELEASES)
def test_a_server_is_named_before_its_error(version: str) -> None:
    _, _, _, fields = said(version, UnknownTool(id="x", name="weigh", arguments={"what": "stone"}))
    assert fields == {"name": "weigh", "arguments": {"what": "stone"}, "status": "failed"}
    tool, _, _, fields = said(version, Mcp(id="m", tool="ring", arguments={}, error="bell is gone"))
    assert tool == f"{fields['server']}-ring"
    assert fields["error"] == f"MCP server '{fields['server']}': bell is gone"


@pytest.mark.parametrize("version", RELEASES)
def test_a_task_is_waited_for_and_its_last_words_are_its_output(version: str) -> None:
    call = Spawn(
        id="scout",
        description="Look around",
        prompt="Look for the well.",
        responses=(Response(text="I look."), Response(text="Behind the barn.")),
    )
    tool, arguments, kind, fields = said(version, call)
    assert (tool, kind) == ("task", "SubAgent")
    assert arguments["mode"] == "sync"
    assert fields == {
        "description": "Look around",
        "prompt": "Look for the well.",
        "report": "Behind the barn.",
    }


def test_each_dialect_speaks_a_wire_of_its_own() -> None:
    wires = {d: find_driver("copilot", "1.0.102", d).wire for d in (None, "apply-patch", "chat")}
    assert wires == {None: "anthropic", "apply-patch": "responses", "chat": "chat"}
    environment = find_driver("copilot", "1.0.102").environment("/srv/home", 8460)
    assert environment["COPILOT_PROVIDER_TYPE"] == "anthropic"
    assert environment["COPILOT_PROVIDER_BASE_URL"] == "http://127.0.0.1:8460"
    assert environment["COPILOT_OFFLINE"] == "true"
    assert not environment["COPILOT_CACHE_HOME"].startswith("/srv/home")


@pytest.mark.parametrize("version", ["0.0.384", "0.0.406", "0.0.423"])
def test_a_release_without_providers_asks_its_account_s_api_for_chat(version: str) -> None:
    driver = find_driver("copilot", version)
    environment = driver.environment("/srv/home", 8460)
    assert driver.wire == "chat"
    assert environment["COPILOT_API_URL"] == "http://127.0.0.1:8460"
    assert environment["COPILOT_GITHUB_TOKEN"]
    assert not any("PROVIDER" in name or "OFFLINE" in name for name in environment)
    with pytest.raises(ValueError, match="no dialect"):
        find_driver("copilot", version, "apply-patch")


def test_only_the_first_release_with_providers_wants_a_key() -> None:
    def key(version: str, dialect: str | None = None) -> bool:
        found = find_driver("copilot", version, dialect).environment("/srv/home", 8460)
        return "COPILOT_PROVIDER_API_KEY" in found

    assert [key(version) for version in ("0.0.423", "1.0.20", "1.0.40")] == [False, True, False]
    assert not key("1.0.20", "chat")


def test_a_release_that_unpacks_at_home_is_led_to_a_place_of_its_own(tmp_path: Path) -> None:
    places: set[Path] = set()
    for version in ("0.0.384", "0.0.406", "1.0.20"):
        home = tmp_path / version
        find_driver("copilot", version).prepare(home, WORKSPACE, 8460, None)
        unpacked = home / ".copilot" / "pkg"
        assert unpacked.is_symlink() == version.startswith("0.")
        places.add(unpacked.resolve())
    assert len(places) == 3


@pytest.mark.parametrize("version", ["0.0.384", "0.0.406"])
def test_a_checklist_was_markdown_once(version: str) -> None:
    items = (
        TodoItem(text="Oil the wheel", status="completed"),
        TodoItem(text="Sweep", status="in_progress"),
        TodoItem(text="Lock up", status="pending"),
    )
    tool, arguments, kind, fields = said(version, Todo(id="t", items=items))
    assert (tool, kind) == ("update_todo", "Plan")
    assert arguments == {"todos": "- [x] Oil the wheel\n- [~] Sweep\n- [ ] Lock up"}
    assert [item["status"] for item in fields["items"]] == ["completed", "in_progress", "pending"]


def test_a_command_that_ended_its_shell_once_lost_its_output_and_its_code() -> None:
    ends = Command(id="try", run="echo wet; exit 3", stdout="wet\n", exit_code=3)
    stays = Command(id="try", run="echo wet", stdout="wet\n")
    driver = find_driver("copilot", "0.0.423")
    (lost,) = driver.translate(ends, WORKSPACE).expects
    assert set(lost.unrecorded) == {"output", "exit_code"}
    assert "status" not in lost.fields
    assert driver.translate(stays, WORKSPACE).expects[0].unrecorded == {}
    (kept,) = find_driver("copilot", "1.0.20").translate(ends, WORKSPACE).expects
    assert (dict(kept.unrecorded), kept.fields["status"]) == ({}, "failed")


def test_the_oldest_release_keeps_one_name_for_a_server_and_its_tool() -> None:
    call = Mcp(id="m", tool="ring", arguments={}, error="bell is gone")
    (old,) = find_driver("copilot", "0.0.384").translate(call, WORKSPACE).expects
    (new,) = find_driver("copilot", "0.0.406").translate(call, WORKSPACE).expects
    assert (old.fields["name"], set(old.unrecorded)) == ("scenario-ring", {"server"})
    assert (new.fields["name"], dict(new.unrecorded)) == ("ring", {})
    assert old.fields["error"] == new.fields["error"] == "bell is gone"


def test_one_release_does_not_survive_a_tool_that_does_not_exist() -> None:
    call = UnknownTool(id="x", name="weigh", arguments={})
    with pytest.raises(CannotDo, match="does not exist"):
        find_driver("copilot", "1.0.20").translate(call, WORKSPACE)
    for version in ("0.0.423", "1.0.40"):
        assert said(version, call)[3]["status"] == "failed"


def test_a_shell_is_kept_under_the_release_s_own_word() -> None:
    call = Command(id="count", run="ls")
    words = {version: said(version, call)[1] for version in ("0.0.384", "0.0.406")}
    assert "sessionId" in words["0.0.384"]
    assert "shellId" in words["0.0.406"]


def test_thoughts_travel_where_the_release_looks_for_them() -> None:
    turn = PlayTurn(prompt="Go.", responses=(PlayResponse(id="r", reasoning="Hm."),))
    play = Play(wire="chat", model="m", threads=(Thread(name=None, turns=(turn,)),))
    fields = [
        find_driver("copilot", version, dialect).pace(play).threads[0].turns[0].responses[0]
        for version, dialect in (("0.0.384", None), ("1.0.60", "chat"), ("1.0.102", "chat"))
    ]
    assert [one.thoughts_as for one in fields] == [
        "reasoning_text",
        "reasoning_text",
        "reasoning_content",
    ]


def test_a_session_is_begun_under_an_id_and_resumed_by_it() -> None:
    driver = find_driver("copilot", "1.0.102")
    begin = driver.arguments("Hello.", resume=None, session_id="id-1")
    assert "--allow-all-tools" in begin
    assert begin[-2:] == ["--session-id", "id-1"]
    assert driver.arguments("Go on.", resume="id-1", session_id="x")[-2:] == ["--resume", "id-1"]


def test_the_mcp_server_is_offered_only_to_a_scenario_that_calls_it(tmp_path: Path) -> None:
    driver = find_driver("copilot", "1.0.102")
    inner = Response(calls=(Mcp(id="m", tool="ring", arguments={}),))
    outer = Spawn(id="s", description="d", prompt="p", responses=(inner,))
    for name, call in (("plain", Command(id="c", run="true")), ("nested", outer)):
        turn = Turn(prompt="Go.", responses=(Response(calls=(call,)),))
        scenario = Scenario(name=name, revision=1, title="", turns=(turn,))
        driver.prepare(tmp_path / name, WORKSPACE, 8460, scenario)
    assert not (tmp_path / "plain" / ".copilot" / "mcp-config.json").exists()
    config: Any = json.loads((tmp_path / "nested/.copilot/mcp-config.json").read_text())
    assert list(config["mcpServers"]) == ["scenario"]
    trusted: Any = json.loads((tmp_path / "plain/.copilot/config.json").read_text())
    assert trusted["trustedFolders"] == [WORKSPACE]


def test_only_what_is_recorded_counts_as_a_session_file(tmp_path: Path) -> None:
    state = tmp_path / ".copilot" / "session-state"
    kept = ("a/events.jsonl", "a/workspace.yaml", "a/checkpoints/index.md", "a/session.db")
    left = (
        "a/.workspace-fork.lock",
        "a/inuse.31.lock",
        ".session-operation-locks/a.lock",
        "../session-store.db",
        "../logs/process-1-2.log",
    )
    for name in (*kept, *left):
        path = state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (state / "a" / "files").mkdir()
    found = find_driver("copilot", "1.0.102").session_files(tmp_path)
    assert [p.relative_to(state).as_posix() for p in found] == sorted(kept)


def test_the_newest_session_is_the_one_written_last(tmp_path: Path) -> None:
    driver = find_driver("copilot", "1.0.60")
    with pytest.raises(LookupError):
        driver.session_id(tmp_path)
    for name, at in (("b-older", 1_000), ("a-newer", 2_000)):
        path = tmp_path / ".copilot/session-state" / name / "events.jsonl"
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (at, at))
    assert driver.session_id(tmp_path) == "a-newer"


def test_the_log_says_what_stderr_kept_to_itself(tmp_path: Path) -> None:
    driver = find_driver("copilot", "1.0.102")
    assert driver.newest_log_line(tmp_path) is None
    log = tmp_path / ".copilot" / "logs" / "process-17-1.log"
    log.parent.mkdir(parents=True)
    log.write_text("10:00 [INFO] Began.\n10:01 [ERROR] Failed to open it\n10:02 [ERROR] {\n  x\n")
    assert driver.newest_log_line(tmp_path) == "10:01 [ERROR] Failed to open it"


# ------------------------------------------------------------------ somebody there


@pytest.mark.parametrize(
    ("version", "arguments"),
    [
        (
            "1.0.102",
            {
                "message": "Which one?",
                "requestedSchema": {
                    "properties": {
                        "choice": {"type": "string", "title": "One", "enum": ["this", "that"]}
                    },
                    "required": ["choice"],
                },
            },
        ),
        ("1.0.80", {"question": "Which one?", "choices": ["this", "that"]}),
    ],
)
def test_a_question_is_a_form_or_a_list_of_choices(version: str, arguments: Any) -> None:
    choice = Choice(header="One", question="Which one?", options=("this", "that"), answer="that")
    tool, given, kind, fields = said(version, Ask(id="one", questions=(choice,)))
    assert (tool, given, kind) == ("ask_user", arguments, "UserQuestion")
    assert fields["questions"] == [
        {"question": "Which one?", "options": ["this", "that"], "answer": "that"}
    ]


def test_a_call_that_was_not_allowed_is_declined_with_the_reason() -> None:
    refused = Permission(answer="denied", feedback="not the rake")
    call = Command(id="rake", run="rm rake", permission=refused)
    ran, asked = find_driver("copilot", "1.0.102").translate(call, WORKSPACE).expects
    assert ran.fields == {"command": "rm rake", "status": "declined", "error": "not the rake"}
    assert (asked.kind, asked.author) == ("PermissionRequest", "harness")
    assert asked.fields == {"decision": "denied"}


def test_nothing_searches_the_web_without_an_account() -> None:
    hit = SearchHit(title="Quinces", url="https://example.com/quinces")
    with pytest.raises(CannotDo, match="account"):
        said("1.0.102", SearchWeb(id="web", query="quinces", hits=(hit,)))


def test_an_agent_in_the_background_begins_when_its_sender_has_spoken() -> None:
    driver = find_driver("copilot", "1.0.102")
    answers = (Response(text="Done."),)
    spawn = Spawn(
        id="scales", description="Weigh", prompt="Weigh.", responses=answers, background=True
    )
    call = driver.translate(spawn, WORKSPACE).call
    assert call is not None
    main = PlayTurn(prompt="Go.", responses=(PlayResponse(id="a", calls=(call,)),))
    agent = PlayTurn(prompt="Weigh.", responses=(PlayResponse(id="b", text="Done."),))
    threads = (Thread(name=None, turns=(main,)), Thread(name="scales", turns=(agent,)))
    paced = driver.pace(Play(wire="anthropic", model="m", threads=threads))
    first, second = (thread.turns[0].responses[0].delay for thread in paced.threads)
    assert second > first + 1


def test_the_screen_tells_whether_the_cli_works() -> None:
    line = "─" * 20
    working = f"{line}\n❯\n{line}\n ◉ Working · 190 B esc esc interrupt   model"
    resting = f"{line}\n❯\n{line}\n ← open sidebar · Interactive · ? help   model"
    assert not person.is_idle(working)
    assert person.is_idle(resting)
    assert not person.is_idle("$ rm rake\nDo you want to run this command?")


def test_a_dialog_is_read_by_its_mark() -> None:
    shown = "│   1. Yes      │\n│ ❯ 3. No, and tell Copilot what to do │"
    assert person.marked(shown, re.compile("No, and tell"))
    assert not person.marked(shown, re.compile("Yes"))
