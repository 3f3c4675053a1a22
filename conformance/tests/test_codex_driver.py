"""Codex's words for our verbs: what is sent, and what a reader will have to find of it."""

from __future__ import annotations

import json
import time
import tomllib
import urllib.request
from typing import Any

import msgspec
import pytest

from live.agents import patches
from live.agents.base import CannotDo, Translation, find_driver
from live.agents.codex import CodexDriver, streaming
from live.composing import steps
from live.model.play import Play, PlayResponse, PlayTurn, Thread, WireCall
from live.model.process import ScriptedModel
from live.model.script import Scenario
from live.model.wires.responses import history, whole

NEW, OLD = "0.171.0", "0.130.0"
WORKSPACE = "/srv/project"
LEDGER = "oats 3\nbarley 14\nrye 15\n"


def scenario(*answers: list[dict[str, Any]], **more: Any) -> Scenario:
    responses = [{"calls": calls, **more} for calls in answers]
    turns = [{"prompt": "Mind the ledger.", "responses": responses}]
    document = {"name": "ledger", "revision": 1, "title": "A ledger", "turns": turns}
    return msgspec.convert({**document, "workspace": {"ledger.txt": LEDGER}}, Scenario)


def said(driver: CodexDriver, script: Scenario, answer: int = -1) -> list[Translation]:
    response = script.turns[0].responses[answer]
    return list(driver.translate_response(response, script, WORKSPACE))


def wire(translation: Translation) -> WireCall:
    """Return the call that the model makes; a translation may also stand for words alone."""
    assert translation.call is not None
    return translation.call


def driver(version: str = NEW, dialect: str | None = None) -> CodexDriver:
    found = find_driver("codex", version, dialect)
    assert isinstance(found, CodexDriver)
    return found


COUNT = {"verb": "command", "id": "count", "run": "wc -l < ledger.txt", "stdout": "3\n"}
MISS = {"verb": "command", "id": "miss", "run": "grep -q hops ledger.txt", "exit_code": 1}


def test_a_command_is_exec_command_and_its_exit_code_is_a_value_not_an_error() -> None:
    (one,) = said(driver(), scenario([MISS]))
    assert (wire(one).name, wire(one).arguments) == ("exec_command", {"cmd": MISS["run"]})
    (expected,) = one.expects
    assert expected.kind == "CommandExecution"
    assert expected.fields["exit_code"] == 1
    assert expected.fields["status"] == "failed"


def test_there_is_no_reading_tool_so_a_file_with_a_space_is_read_by_a_quoted_command() -> None:
    read = {"verb": "read", "id": "look", "path": "old ledger.txt", "content": "oats\n"}
    (one,) = said(driver(), scenario([read]))
    assert wire(one).arguments == {"cmd": "cat 'old ledger.txt'"}
    assert one.expects[0].fields["output"] == "oats\n"


def test_an_update_inside_a_line_becomes_the_whole_line() -> None:
    update = {"verb": "update", "id": "fix", "path": "ledger.txt", "old": "14", "new": "41"}
    (one,) = said(driver(), scenario([update]))
    assert wire(one).custom
    assert wire(one).arguments == (
        "*** Begin Patch\n*** Update File: ledger.txt\n@@\n-barley 14\n+barley 41\n*** End Patch\n"
    )
    (change,) = one.expects[0].fields["changes"]
    assert change["path"] == "/srv/project/ledger.txt"
    assert (change["before"], change["after"]) == ("barley 14", "barley 41")


@pytest.mark.parametrize(
    ("old", "new", "hunk"),
    [
        ("barley 14\n", "", "-barley 14\n"),
        ("barley 14\nrye 15\n", "rye 51\n", "-barley 14\n-rye 15\n+rye 51\n"),
        (" 3\nbarley", " 3 and barley", "-oats 3\n-barley 14\n+oats 3 and barley 14\n"),
        ("oats 3\n", "oats 3", "-oats 3\n-barley 14\n+oats 3barley 14\n"),
        ("rye 15", "rye 15\nwheat 9", "-rye 15\n+rye 15\n+wheat 9\n"),
    ],
)
def test_a_fragment_over_line_ends_is_widened_to_the_lines_it_touches(
    old: str, new: str, hunk: str
) -> None:
    update = {"verb": "update", "id": "fix", "path": "ledger.txt", "old": old, "new": new}
    (one,) = said(driver(), scenario([update]))
    assert wire(one).arguments == (
        f"*** Begin Patch\n*** Update File: ledger.txt\n@@\n{hunk}*** End Patch\n"
    )


def test_a_patch_that_moves_a_file_quotes_it_as_earlier_calls_left_it() -> None:
    first = [{"verb": "update", "id": "u", "path": "ledger.txt", "old": "oats", "new": "spelt"}]
    second = [{"verb": "rename", "id": "mv", "path": "ledger.txt", "to": "book.txt"}]
    (one,) = said(driver(), scenario(first, second))
    assert wire(one).arguments == (
        "*** Begin Patch\n*** Update File: ledger.txt\n*** Move to: book.txt\n@@\n spelt 3\n"
        "*** End Patch\n"
    )
    (change,) = one.expects[0].fields["changes"]
    assert (change["operation"], change["moved_to"]) == ("move", "/srv/project/book.txt")


def test_a_deletion_is_known_with_the_content_that_was_deleted() -> None:
    calls = [
        [{"verb": "create", "id": "c", "path": "new.txt", "content": "hops 1\n"}],
        [{"verb": "delete", "id": "d", "path": "new.txt"}],
    ]
    (one,) = said(driver(), scenario(*calls))
    assert one.expects[0].fields["changes"] == [
        {"path": "/srv/project/new.txt", "operation": "delete", "before": "hops 1\n"}
    ]


def test_files_are_followed_through_a_subagents_calls() -> None:
    inner = {"verb": "create", "id": "c", "path": "sub.txt", "content": "from below\n"}
    spawn = {
        "verb": "subagent",
        "id": "s",
        "description": "Write",
        "prompt": "Write sub.txt.",
        "responses": [{"calls": [inner]}, {"text": "Written."}],
    }
    script = scenario([spawn], [{"verb": "delete", "id": "d", "path": "sub.txt"}])
    assert patches.files_before(script, "c") == {"ledger.txt": LEDGER}
    assert patches.files_before(script, "d")["sub.txt"] == "from below\n"
    with pytest.raises(KeyError):
        patches.files_before(script, "nobody")


def test_what_a_patch_cannot_say_is_refused_with_the_reason() -> None:
    create = {"verb": "create", "id": "c", "path": "new.txt", "content": "no newline"}
    with pytest.raises(CannotDo, match="newline"):
        said(driver(), scenario([create]))
    with pytest.raises(CannotDo, match="quotes"):
        said(driver(), scenario([{"verb": "rename", "id": "r", "path": "gone", "to": "there"}]))


def test_the_checklist_exists_until_it_was_taken_away() -> None:
    items = [{"text": "Sow", "status": "completed"}, {"text": "Reap", "status": "pending"}]
    script = scenario([{"verb": "todo", "id": "t", "items": items}])
    (one,) = said(driver(OLD), script)
    assert wire(one).arguments == {
        "plan": [{"step": "Sow", "status": "completed"}, {"step": "Reap", "status": "pending"}]
    }
    assert one.expects[0].fields["items"] == items
    for dialect in driver().dialects:
        with pytest.raises(CannotDo, match="unsupported call: update_plan"):
            said(driver(NEW, dialect), script)


MCP = {"verb": "mcp", "id": "m", "tool": "weigh", "arguments": {"what": "oats"}, "result": "3 kg"}


def test_the_namespace_of_an_mcp_tool_is_the_releases_own() -> None:
    (new,), (old,) = (said(driver(version), scenario([MCP])) for version in (NEW, OLD))
    namespace = wire(new).namespace
    assert namespace is not None
    assert wire(old).namespace == namespace + "__"
    assert new.expects == old.expects
    assert new.expects[0].fields["output"] == "3 kg"


SPAWN = {
    "verb": "subagent",
    "id": "spawn-1",
    "description": "Count the sacks",
    "prompt": "Count the sacks in the barn.",
    "responses": [{"text": "Looking."}, {"text": "Nine sacks."}],
}


def test_a_subagents_report_is_waited_for_by_the_id_that_spawning_told() -> None:
    (one,) = said(driver(), scenario([SPAWN]))
    assert wire(one).arguments == {"message": "Count the sacks in the barn."}
    (wait,) = one.then
    assert wait.name == "wait_agent"
    assert wait.arguments["targets"] == [{"$result": ["spawn-1", "agent_id"]}]
    assert [expected.kind for expected in one.expects] == ["SubAgent", "ToolCall"]
    assert one.expects[0].fields["report"] == "Nine sacks."


def test_in_code_mode_a_subagent_has_a_name_of_our_own() -> None:
    (one,) = said(driver(NEW, "code-mode"), scenario([SPAWN]))
    assert wire(one).namespace == "collaboration"
    assert wire(one).arguments["task_name"] == "spawn_1"
    assert "targets" not in one.then[0].arguments
    assert list(one.expects[0].unrecorded) == ["prompt"]


def test_code_mode_is_a_script_and_what_it_did() -> None:
    (one,) = said(driver(NEW, "code-mode"), scenario([COUNT]))
    assert (wire(one).name, wire(one).custom) == ("exec", True)
    assert json.dumps(COUNT["run"]) in wire(one).arguments
    assert [expected.kind for expected in one.expects] == ["ToolCall", "CommandExecution"]
    assert one.expects[0].fields["output"] == "3\n"


def test_parallel_calls_in_code_mode_are_one_script_that_leaves_them_in_finishing_order() -> None:
    script = scenario([COUNT, MISS], finish_order=["miss", "count"])
    (one,) = said(driver(NEW, "code-mode"), script)
    assert "Promise.all" in wire(one).arguments
    assert [expected.fields.get("command") for expected in one.expects] == [
        None,
        MISS["run"],
        COUNT["run"],
    ]
    two = said(driver(), script)
    assert [wire(translation).id for translation in two] == ["count", "miss"]


def test_a_patch_refused_in_code_mode_breaks_the_script_and_leaves_nothing_else() -> None:
    update = {"verb": "update", "id": "u", "path": "ledger.txt", "old": "x", "new": "y"}
    (one,) = said(driver(NEW, "code-mode"), scenario([{**update, "fails": True}]))
    (script,) = one.expects
    assert (script.kind, script.fields["status"]) == ("ToolCall", "failed")


def test_what_a_killed_codex_had_done_is_done() -> None:
    create = {"verb": "create", "id": "c", "path": "new.txt", "content": "hops 1\n"}
    script = scenario([create], hang=True)
    (step,) = steps(script, driver(), WORKSPACE)
    (change,) = step.translations[0].expects
    assert (change.kind, change.fields["status"]) == ("FileChange", "completed")
    (step,) = steps(script, driver(NEW, "code-mode"), WORKSPACE)
    outer, change = step.translations[0].expects
    assert outer.fields["status"] == "unresolved"
    assert "output" not in outer.fields
    assert change.fields["status"] == "completed"


def test_a_killed_command_is_told_of_by_releases_with_events_for_commands() -> None:
    script = scenario([COUNT], hang=True)
    for version, status in ((NEW, "completed"), (OLD, "unresolved")):
        (step,) = steps(script, driver(version), WORKSPACE)
        (expected,) = step.translations[0].expects
        assert expected.fields["status"] == status
        assert ("exit_code" in expected.fields) is (status == "completed")


def test_code_mode_is_refused_by_a_release_without_it() -> None:
    with pytest.raises(CannotDo, match=r"0\.130\.0"):
        driver(OLD, "code-mode")


def test_the_configuration_is_toml_and_names_only_loopback(tmp_path: Any) -> None:
    one = driver(NEW, "code-mode")
    one.prepare(tmp_path, WORKSPACE, 8460, scenario([MCP]))
    config = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())
    assert config["model"] == one.model
    (provider,) = config["model_providers"].values()
    assert provider["base_url"] == "http://127.0.0.1:8460/v1"
    assert config["model_provider"] == provider["name"] != "OpenAI"
    assert provider["env_key"] in one.environment("/srv/home", 8460)
    assert config["projects"] == {WORKSPACE: {"trust_level": "trusted"}}
    assert len(config["mcp_servers"]) == 1
    one.prepare(tmp_path, WORKSPACE, 8460, scenario([COUNT]))
    assert "mcp_servers" not in tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())


def test_a_prompt_that_looks_like_an_option_stays_a_prompt() -> None:
    for resume in (None, "01a22c90-5582-7e52-9e16-57e604d084ce"):
        arguments = list(driver().arguments("--help me", resume=resume, session_id=""))
        assert arguments[-2:] == ["--", "--help me"]
        assert ("resume" in arguments) is (resume is not None)


def test_the_session_is_the_newest_rollout_that_is_no_subagents(tmp_path: Any) -> None:
    day = tmp_path / ".codex" / "sessions" / "2026" / "01" / "05"
    day.mkdir(parents=True)
    for second, name, source in ((1, "old", "exec"), (2, "main", "exec"), (3, "sub", {"s": 1})):
        meta = {"type": "session_meta", "payload": {"id": name, "source": source}}
        (day / f"rollout-2026-01-05T09-00-0{second}-{name}.jsonl").write_text(json.dumps(meta))
    one = driver()
    assert len(one.session_files(tmp_path)) == 3
    assert one.session_id(tmp_path) == "main"
    with pytest.raises(LookupError):
        one.session_id(tmp_path / "elsewhere")


def test_a_parameter_marked_encrypted_is_sealed_by_the_provider_and_opened_for_the_child() -> None:
    schema = {"properties": {"task_name": {}, "message": {"encrypted": True}}}
    spawn = {"type": "function", "name": "spawn_agent", "parameters": schema}
    offered = {"type": "namespace", "name": "collaboration", "tools": [spawn]}
    (call,) = said(driver(NEW, "code-mode"), scenario([SPAWN]))
    answer = PlayResponse(id="a", calls=(wire(call),))
    for tools in (
        {"tools": [offered]},
        {"input": [{"type": "additional_tools", "tools": [offered]}]},
    ):
        (item,) = whole(answer, tools, "m")["output"]
        written = json.loads(item["arguments"])
        assert written["task_name"] == "spawn_1"
        assert "barn" not in item["arguments"]
        part = {"type": "encrypted_content", "encrypted_content": written["message"]}
        handed = {"type": "agent_message", "author": "/root", "content": [part]}
        (entry,) = history({"input": [handed]})
        assert (entry.role, entry.name) == ("user", "/root")
        assert entry.text == "Count the sacks in the barn."


def test_the_same_tool_in_another_namespace_is_not_sealed() -> None:
    (call,) = said(driver(), scenario([SPAWN]))
    (item,) = whole(PlayResponse(id="a", calls=(wire(call),)), {"tools": []}, "m")["output"]
    assert json.loads(item["arguments"]) == {"message": "Count the sacks in the barn."}


def test_answers_with_calls_linger_and_a_wait_for_a_subagent_begins_late() -> None:
    (spawn,) = said(driver(), scenario([SPAWN]))
    responses = (
        PlayResponse(id="a", calls=(wire(spawn),)),
        PlayResponse(id="b", calls=spawn.then),
        PlayResponse(id="c", text="Done."),
    )
    turn = PlayTurn(prompt="Go.", responses=responses)
    play = Play(wire="responses", model="m", threads=(Thread(name=None, turns=(turn,)),))
    spawning, waiting, last = driver().pace(play).threads[0].turns[0].responses
    assert spawning.linger > 0 == spawning.delay
    assert waiting.delay > 2 * spawning.linger
    assert last == responses[-1]


def test_a_lingering_answer_is_open_while_its_items_are_whole(tmp_path: Any) -> None:
    response = PlayResponse(id="a", text="Nine sacks.", linger=0.6)
    turn = PlayTurn(prompt="Count.", responses=(response,))
    play = Play(wire="responses", model="m", threads=(Thread(name=None, turns=(turn,)),))
    body = json.dumps({"model": "m", "stream": True, "input": "Count."}).encode()
    with ScriptedModel(play, tmp_path / "log.jsonl") as model:
        request = urllib.request.Request(
            f"http://127.0.0.1:{model.port}/v1/responses",
            body,
            {"Content-Type": "application/json"},
        )
        times: dict[str, float] = {}
        with urllib.request.urlopen(request, timeout=20) as answer:
            for line in answer:
                if line.startswith(b"event: "):
                    times[line.split()[1].decode()] = time.monotonic()
    assert times["response.completed"] - times["response.output_item.done"] > 0.4


@pytest.mark.parametrize(
    ("version", "name", "arguments"),
    [
        ("0.20.0", "shell", {"command": ["bash", "-lc", "grep -q hops ledger.txt"]}),
        ("0.45.0", "shell", {"command": ["bash", "-lc", "grep -q hops ledger.txt"]}),
        ("0.77.0", "shell_command", {"command": "grep -q hops ledger.txt"}),
        ("0.92.0", "shell_command", {"command": "grep -q hops ledger.txt"}),
        ("0.110.0", "exec_command", {"cmd": "grep -q hops ledger.txt"}),
    ],
)
def test_the_shell_is_asked_in_the_words_of_its_release(
    version: str, name: str, arguments: dict[str, Any]
) -> None:
    (one,) = said(driver(version), scenario([MISS]))
    assert (wire(one).name, wire(one).arguments) == (name, arguments)


def test_where_patching_is_no_tool_the_shell_is_given_the_patch() -> None:
    create = {"verb": "create", "id": "c", "path": "new.txt", "content": "hops 1\n"}
    patch = "*** Begin Patch\n*** Add File: new.txt\n+hops 1\n*** End Patch\n"
    (one,) = said(driver("0.20.0"), scenario([create]))
    assert wire(one).name == "shell"
    assert wire(one).arguments == {"command": ["apply_patch", patch]}
    (one,) = said(driver("0.45.0"), scenario([create]))
    assert (wire(one).name, wire(one).arguments, wire(one).custom) == ("apply_patch", patch, True)


def test_a_path_is_absolute_only_where_the_record_says_of_what() -> None:
    delete = {"verb": "delete", "id": "d", "path": "ledger.txt"}
    found = [
        said(driver(version), scenario([delete]))[0].expects[0].fields["changes"][0]
        for version in ("0.20.0", "0.110.0", "0.130.0")
    ]
    assert [change["path"] for change in found] == [
        "ledger.txt",
        "/srv/project/ledger.txt",
        "/srv/project/ledger.txt",
    ]
    assert [change.get("before") for change in found] == [None, None, LEDGER]


@pytest.mark.parametrize(
    ("version", "namespace", "name"),
    [
        ("0.20.0", None, "scenario__boom"),
        ("0.45.0", None, "scenario__boom"),
        ("0.77.0", None, "mcp__scenario__boom"),
        ("0.110.0", None, "mcp__scenario__boom"),
        ("0.130.0", "mcp__scenario__", "boom"),
        ("0.140.0", "mcp__scenario", "boom"),
    ],
)
def test_an_mcp_tool_is_called_by_the_name_of_its_release(
    version: str, namespace: str | None, name: str
) -> None:
    boom = {"verb": "mcp", "id": "b", "tool": "boom", "arguments": {}, "error": "no wind"}
    (one,) = said(driver(version), scenario([boom]))
    assert (wire(one).namespace, wire(one).name) == (namespace, name)
    kept = "status" not in one.expects[0].unrecorded
    assert kept is (namespace is not None)


@pytest.mark.parametrize(
    ("version", "namespace", "waits"),
    [
        ("0.92.0", None, ("wait", "ids")),
        ("0.110.0", None, ("wait", "ids")),
        ("0.130.0", None, ("wait_agent", "targets")),
        ("0.140.0", "multi_agent_v1", ("wait_agent", "targets")),
    ],
)
def test_an_agent_is_spawned_and_waited_for_in_the_words_of_its_release(
    version: str, namespace: str | None, waits: tuple[str, str]
) -> None:
    (one,) = said(driver(version), scenario([SPAWN]))
    (wait,) = one.then
    assert (wire(one).namespace, wait.namespace) == (namespace, namespace)
    assert wait.name == waits[0]
    assert wait.arguments[waits[1]] == [{"$result": [wire(one).id, "agent_id"]}]


def test_there_are_no_agents_before_they_came() -> None:
    with pytest.raises(CannotDo, match="unsupported call: spawn_agent"):
        said(driver("0.77.0"), scenario([SPAWN]))


def test_what_a_release_keeps_of_no_result_is_said_to_be_unrecorded() -> None:
    fails = {"verb": "command", "id": "f", "run": "x", "stdout": "on\n", "stderr": "off\n"}
    (old,) = said(driver("0.20.0"), scenario([fails | {"exit_code": 2}]))
    (new,) = said(driver("0.45.0"), scenario([fails | {"exit_code": 2}]))
    assert (old.expects[0].fields["output"], old.expects[0].fields["stdout"]) == ("off\n", "on\n")
    assert set(old.expects[0].unrecorded) == {"stdout"}
    assert (new.expects[0].fields["output"], new.expects[0].unrecorded) == ("on\noff\n", {})
    (whole,) = said(driver("0.20.0"), scenario([fails]))
    assert whole.expects[0].fields["output"] == "on\noff\n"
    delete = {"verb": "delete", "id": "d", "path": "ledger.txt"}
    (gone,) = said(driver("0.110.0"), scenario([delete]))
    assert (gone.expects[0].fields["deleted"], set(gone.expects[0].unrecorded)) == (
        LEDGER,
        {"deleted"},
    )


def told(*items: tuple[str, str]) -> str:
    """A stream of items that ended, each given by its id and its kind."""
    records = [{"type": "item.completed", "item": {"id": id, "type": kind}} for id, kind in items]
    return "".join(json.dumps(one) + "\n" for one in records)


def test_calls_made_at_once_are_numbered_as_they_end_whichever_began_first() -> None:
    said, call, ended = "agent_message", "command_execution", "mcp_tool_call"
    one = told(("item_0", said), ("item_2", call), ("item_10", call), ("item_9", ended))
    other = told(("item_0", said), ("item_10", call), ("item_9", call), ("item_2", ended))
    assert streaming.records(one) == streaming.records(other)
    ids = [record["item"]["id"] for record in streaming.records(one)]
    assert ids == ["item_0", "item_2", "item_9", "item_10"]


def test_a_call_that_outlasts_what_was_said_meanwhile_keeps_its_number() -> None:
    call, said = "command_execution", "agent_message"
    stream = told(("item_2", call), ("item_3", said), ("item_1", call), ("ws_ripe", "web_search"))
    ids = [record["item"]["id"] for record in streaming.records(stream)]
    assert ids == ["item_2", "item_3", "item_1", "ws_ripe"]
