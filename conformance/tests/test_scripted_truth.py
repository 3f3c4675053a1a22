"""What a scenario promises, worked out by hand, and that a run which broke it is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from live.agents.claude import ClaudeDriver
from live.agents.copilot import CopilotDriver
from live.composing import play, steps
from live.model import script
from live.model.history import Entry
from live.model.log import Answer, Exchange
from live.truth import Untrue, expected, truth

PLACE = "/srv/project"


def messages(name: str, version: str = "2.1.332") -> list[dict[str, Any]]:
    driver = ClaudeDriver(version)
    scenario = script.load(name)
    played = steps(scenario, driver, PLACE)
    return [message for message, _ in expected(played, driver, scenario)]


def brief(name: str, version: str = "2.1.332") -> list[tuple[str, str, str | None, str]]:
    return [
        (one["kind"], one["author"], one["thread"], one["status"])
        for one in messages(name, version)
    ]


def exchange(response: str, *results: str) -> Exchange:
    entries = tuple(Entry(role="tool", type="result", call_id="c", text=one) for one in results)
    return Exchange(
        seq=0,
        kind="turn",
        response=response,
        method="POST",
        path="/v1/messages",
        history=entries,
        answer=Answer(),
    )


CORE = (
    *("awkward-text", "command-fails", "command-ok", "failure-auth", "file-edits"),
    *("killed-mid-edit", "mcp-call", "parallel-calls", "plain-exchange", "reasoning"),
    *("subagent", "todo-list", "tool-fails", "two-turns"),
)


@pytest.mark.parametrize("name", script.names())
def test_a_scenario_is_what_its_file_says_and_its_prompts_tell_its_threads_apart(
    name: str,
) -> None:
    scenario = script.load(name)
    prompts = [turn.prompt for turn in scenario.turns if turn.summary is None]
    assert scenario.turns
    assert all(prompts)
    assert len(set(prompts)) == len(prompts)


def test_every_core_scenario_can_be_said_in_the_words_of_both_releases() -> None:
    for name in CORE:
        for version in ("2.1.332", "2.0.77"):
            assert messages(name, version), (name, version)


def test_a_command_is_promised_with_its_exit_code_and_what_it_prints() -> None:
    _, said, command, answer = messages("command-ok")
    assert (said["text"], answer["text"]) == (
        "I'll count them.",
        "There are 17 gates, token GATES-5520.",
    )
    assert command["command"] == "printf 'gates: 17\\n'"
    assert (command["exit_code"], command["output"]) == (0, "gates: 17\n")
    assert command["response"] == said["response"] != answer["response"]


def test_a_command_that_fails_keeps_its_output_and_its_code() -> None:
    failed = messages("command-fails")[2]
    assert (failed["status"], failed["exit_code"]) == ("failed", 3)
    assert failed["output"] == "turning the wheel\nthe wheel is stuck\n"


def test_the_older_release_shows_standard_error_first() -> None:
    failed = messages("command-fails", "2.0.77")[2]
    assert failed["output"] == "the wheel is stuck\n\nturning the wheel\n"


def test_a_subagents_thread_stands_behind_the_main_one() -> None:
    assert brief("subagent") == [
        ("UserMessage", "human", None, "completed"),
        ("AgentMessage", "model", None, "completed"),
        ("SubAgent", "model", None, "completed"),
        ("AgentMessage", "model", None, "completed"),
        ("UserMessage", "agent", "counter", "completed"),
        ("AgentMessage", "model", "counter", "completed"),
        ("CommandExecution", "model", "counter", "completed"),
        ("AgentMessage", "model", "counter", "completed"),
    ]


def test_what_the_model_was_still_saying_when_the_cli_was_killed_is_unresolved() -> None:
    *_, said, call = messages("killed-mid-edit")
    assert said["text"] == "Bed three gets fennel, token FENNEL-3324."
    assert (call["kind"], call["status"]) == ("FileChange", "unresolved")


def test_a_refusal_is_an_error_and_nobodys_words() -> None:
    assert brief("failure-auth") == [
        ("UserMessage", "human", None, "completed"),
        ("Error", "harness", None, "failed"),
    ]


def test_a_checklist_by_tasks_grows_and_is_brought_forward_call_by_call() -> None:
    lists = [one["items"] for one in messages("todo-list") if one["kind"] == "Plan"]
    assert [[item["status"] for item in one] for one in lists] == [
        ["pending"],
        ["pending", "pending"],
        ["pending", "pending", "pending"],
        ["completed", "pending", "pending"],
        ["completed", "in_progress", "pending"],
    ]


def test_the_older_release_sets_its_checklist_at_once() -> None:
    lists = [one["items"] for one in messages("todo-list", "2.0.77") if one["kind"] == "Plan"]
    assert [len(one) for one in lists] == [3, 3]


@pytest.mark.parametrize(("version", "name"), [("2.1.332", "Agent"), ("2.0.77", "Task")])
def test_a_task_is_handed_over_by_the_releases_own_tool(version: str, name: str) -> None:
    played = steps(script.load("subagent"), ClaudeDriver(version), PLACE)
    call = played[0].translations[0].call
    assert call is not None
    assert call.name == name


def test_a_play_holds_every_thread_and_every_answer_once() -> None:
    driver = ClaudeDriver("2.1.332")
    played = steps(script.load("subagent"), driver, PLACE)
    scripted = play(played, driver)
    assert [thread.name for thread in scripted.threads] == [None, "counter"]
    ids = [r.id for thread in scripted.threads for turn in thread.turns for r in turn.responses]
    assert len(ids) == len(set(ids)) == 4


def test_an_answer_that_was_never_asked_for_makes_a_run_untrue() -> None:
    driver = ClaudeDriver("2.1.332")
    scenario = script.load("command-ok")
    played = steps(scenario, driver, PLACE)
    with pytest.raises(Untrue, match="command-ok-1-2"):
        truth(scenario, driver, played, [exchange("command-ok-1-1")])


def test_a_result_that_differs_from_the_script_makes_a_run_untrue() -> None:
    driver = ClaudeDriver("2.1.332")
    scenario = script.load("command-ok")
    played = steps(scenario, driver, PLACE)
    asked = [exchange("command-ok-1-1"), exchange("command-ok-1-2", "gates: 18")]
    with pytest.raises(Untrue, match="gates: 17"):
        truth(scenario, driver, played, asked)
    asked[1] = exchange("command-ok-1-2", "gates: 17")
    assert truth(scenario, driver, played, asked)["release"] == "2.1.332"


def test_a_result_that_a_release_is_known_to_lose_need_not_have_come_back() -> None:
    driver = CopilotDriver("0.0.423")
    scenario = script.load("command-fails")
    played = steps(scenario, driver, PLACE)
    asked = [exchange(f"command-fails-1-{number}", "") for number in (1, 2, 3, 4)]
    with pytest.raises(Untrue, match="exited with code 7"):
        truth(scenario, driver, played, asked)
    asked[2] = exchange("command-fails-1-3", "last run exited with code 7")
    assert truth(scenario, driver, played, asked)["release"] == "0.0.423"


def test_a_failure_without_its_status_is_said_to_be_so() -> None:
    found: list[set[str | None]] = []
    for version in ("0.0.384", "0.0.406"):
        driver = CopilotDriver(version)
        scenario = script.load("failure-auth")
        _, (_, known) = expected(steps(scenario, driver, PLACE), driver, scenario)
        found.append(set(known))
    assert found == [{"status_code"}, set()]


def test_a_compaction_for_which_no_summary_was_asked_makes_a_run_untrue() -> None:
    driver = ClaudeDriver("2.1.332")
    scenario = script.load("compaction-auto")
    played = steps(scenario, driver, PLACE)
    names = [step.id for step in played]
    asked = [exchange(name, "wheels: 3") for name in names]
    with pytest.raises(Untrue, match="never asked for a summary"):
        truth(scenario, driver, played, asked)
    summary = msgspec.structs.replace(exchange(names[-1]), kind="compaction", response=None)
    assert truth(scenario, driver, played, [*asked, summary])["scenario"] == "compaction-auto"
