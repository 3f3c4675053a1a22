"""Each rule of a facts sheet is needed: with it the sheet is right, without it some answer is not.

Every session here was made by hand with one trap in it, and what is right was reasoned, not read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from transcripts.facts import (
    Facts,
    FactsSheet,
    calls,
    changed_files,
    facts_of_path,
    human_turns,
    pull_requests,
    sheets,
    subagents,
    tokens,
)
from transcripts.facts.stores import facts_of_stores
from transcripts.model import CommandExecution, Message

SESSION = "0190f5c6-1d2e-4abc-8def-0123456789ab"
OTHER = "0190f5c6-1d2e-4abc-8def-0123456789ff"
DAY = "2026-03-01T09:00:"


def at(second: int) -> str:
    return f"{DAY}{second:02}.000Z"


def row(number: int, type_: str, message: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A row of Claude Code's, linked to the one before."""
    found: dict[str, Any] = {
        "type": type_,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number > 1 else None,
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/w",
        "version": "2.1.300",
        "timestamp": at(number),
    }
    if message is not None:
        found["message"] = message
    return found | more


def said(number: int, text: str, **more: Any) -> dict[str, Any]:
    """What stands in a person's place."""
    return row(number, "user", {"role": "user", "content": text}, **more)


def answered(number: int, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer of the model's; ``id`` names its response, ``usage`` what it took."""
    message: dict[str, Any] = {
        "id": more.pop("id", f"msg_{number}"),
        "role": "assistant",
        "type": "message",
        "model": "model-a",
        "content": list(blocks),
        "stop_reason": "end_turn",
    }
    if "usage" in more:
        message["usage"] = more.pop("usage")
    return row(number, "assistant", message, **more)


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(name: str, use: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": use, "name": name, "input": given}


def result(number: int, use: str, text: str, *, failed: bool = False, **more: Any) -> Any:
    block = {"type": "tool_result", "tool_use_id": use, "content": text}
    if failed:
        block["is_error"] = True  # type: ignore[assignment]
    return row(number, "user", {"role": "user", "content": [block]}, **more)


TASK = {"subagent_type": "scout", "description": "Scout it", "prompt": "scout the hill"}
HUMAN = {"origin": {"kind": "human"}}
TAKES = {"input_tokens": 100, "output_tokens": 7}


def written(home: Path, *rows: dict[str, Any], session: str = SESSION) -> Path:
    path = home / ".claude" / "projects" / "-w" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def read(home: Path, *rows: dict[str, Any]) -> FactsSheet:
    return facts_of_path(str(written(home, *rows)), "claude")


# ------------------------------------------------------------------ sessions with a trap


def with_a_child(home: Path) -> FactsSheet:
    """A task is handed over; the child runs a command, edits a file and ends last of all."""
    path = written(
        home,
        said(1, "hand it over", **HUMAN),
        answered(2, call("Delegate", "toolu_1", **TASK)),
        answered(3, call("Bash", "toolu_2", command="ls")),
        result(4, "toolu_2", "a\n"),
        answered(5, words("handed over")),
    )
    child = path.parent / SESSION / "subagents" / "agent-abc1234.jsonl"
    child.parent.mkdir(parents=True)
    own: dict[str, Any] = {"isSidechain": True, "agentId": "abc1234"}
    rows = [
        said(11, "scout the hill", **own) | {"parentUuid": None},
        answered(12, call("Bash", "toolu_8", command="gh pr create"), **own),
        result(13, "toolu_8", "https://forge.example/a/b/pull/9\n", **own),
        answered(14, call("Write", "toolu_9", file_path="/w/hill", content="x"), **own),
        result(15, "toolu_9", "File created successfully at: /w/hill", **own),
        answered(50, words("scouted"), **own),
    ]
    child.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return facts_of_path(str(path), "claude")


def with_marks(home: Path) -> FactsSheet:
    """The release marks what is typed; a note, an interruption and a summary bear no mark."""
    return read(
        home,
        said(1, "first", **HUMAN),
        answered(2, words("yes")),
        said(3, "Please go on with the work."),
        said(4, "<task-notification>done</task-notification>", origin={"kind": "task"}),
        said(5, "printed", promptSource="sdk"),
        said(6, "printed by an older one", entrypoint="sdk-cli"),
        said(7, "<div> is what I typed", **HUMAN),
        said(
            8,
            "<command-message>label</command-message>\n<command-name>/label</command-name>\n"
            "<command-args>mint bed</command-args>",
        ),
        answered(9, words("done")),
    )


def with_edits(home: Path) -> FactsSheet:
    """One edit is made, one fails, one file is only known by the copy that was put aside."""
    return read(
        home,
        {
            "type": "file-history-delta",
            "messageId": "m",
            "trackingPath": "notes/aside.txt",
            "timestamp": at(1),
        },
        said(1, "edit", **HUMAN),
        answered(2, call("Write", "toolu_1", file_path="/w/new", content="x")),
        result(3, "toolu_1", "File created successfully at: /w/new"),
        answered(4, call("Edit", "toolu_2", file_path="/w/old", old_string="a", new_string="b")),
        result(5, "toolu_2", "String to replace not found in file.", failed=True),
        answered(6, words("edited")),
    )


def with_requests(home: Path) -> FactsSheet:
    """One request is opened; others are only spoken of, printed, quoted or refused."""
    return read(
        home,
        said(1, "open https://forge.example/a/b/pull/1", **HUMAN),
        answered(2, call("Bash", "toolu_1", command="echo 'gh pr create'")),
        result(3, "toolu_1", "https://forge.example/a/b/pull/2\n"),
        answered(4, call("Bash", "toolu_2", command="cat <<'E'\ngh pr create\nE")),
        result(5, "toolu_2", "https://forge.example/a/b/pull/3\n"),
        answered(6, call("Bash", "toolu_3", command="gh pr create -t x")),
        result(7, "toolu_3", "Error: not logged in", failed=True),
        answered(
            8, call("Bash", "toolu_4", command="cd a && GH_X=1 gh pr create -t 'gh pr merge'")
        ),
        result(9, "toolu_4", "https://forge.example/a/b/pull/4\n"),
        answered(10, call("Bash", "toolu_5", command="gh pr merge 4 --squash")),
        result(11, "toolu_5", "Squashed and merged pull request #4 (x)\n"),
        {
            "type": "pr-link",
            "sessionId": SESSION,
            "prNumber": 4,
            "prUrl": "https://forge.example/a/b/pull/4",
            "prRepository": "a/b",
            "timestamp": at(12),
        },
        answered(13, words("opened https://forge.example/a/b/pull/5")),
    )


def with_repeated_counts(home: Path) -> FactsSheet:
    """One answer stands in two rows, each of which has its count."""
    return read(
        home,
        said(1, "count", **HUMAN),
        answered(2, words("I look."), id="msg_a", usage=TAKES),
        answered(3, call("Bash", "toolu_1", command="wc"), id="msg_a", usage=TAKES),
        result(4, "toolu_1", "3\n"),
        answered(5, words("three"), id="msg_b", usage=TAKES),
        cost(6, 214),
    )


def with_a_stale_total(home: Path) -> FactsSheet:
    """The CLI wrote its total, and was killed after another answer."""
    return read(
        home,
        said(1, "count", **HUMAN),
        answered(2, words("two"), usage=TAKES),
        cost(3, 107),
        said(4, "again", **HUMAN),
        answered(5, words("three"), usage=TAKES),
    )


def with_copies(home: Path) -> FactsSheet:
    """A session of Codex's begins with what was said in the one that it was spawned from."""
    folder = home / ".codex" / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True)
    parent = [
        meta(OTHER, 0, source="cli"),
        prompted(1, "weigh the sacks"),
        counted(2, 105, 105),
        counted(9, 265, 160),
    ]
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER, "depth": 1}}}
    child = [
        meta(SESSION, 9, source=spawned),
        *parent[1:],
        prompted(9, "weigh again"),
        counted(9, 370, 105),
    ]
    for session, lines in ((OTHER, parent), (SESSION, child)):
        path = folder / f"rollout-2026-03-01T09-00-00-{session}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return facts_of_path(SESSION, "codex", home)


def meta(session: str, second: int, **more: Any) -> dict[str, Any]:
    payload = {"id": session, "timestamp": at(second), "cwd": "/w", "cli_version": "0.100.0"}
    return {"timestamp": at(second), "type": "session_meta", "payload": payload | more}


def prompted(second: int, text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    payload = {"type": "message", "role": "user", "content": content}
    return {"timestamp": at(second), "type": "response_item", "payload": payload}


def counted(second: int, total: int, last: int) -> dict[str, Any]:
    info = {
        "total_token_usage": {"input_tokens": total - 5, "output_tokens": 5, "total_tokens": total},
        "last_token_usage": {"input_tokens": last - 5, "output_tokens": 5, "total_tokens": last},
    }
    payload = {"type": "token_count", "info": info}
    return {"timestamp": at(second), "type": "event_msg", "payload": payload}


def with_queued_prompts(home: Path) -> FactsSheet:
    """Of two prompts that were typed ahead one was delivered; another one stands there twice."""
    queued = {"type": "queued_command", "prompt": "and the ferns", "commandMode": "prompt"}
    return read(
        home,
        said(1, "water the bed", **HUMAN),
        {"type": "queue-operation", "operation": "enqueue", "content": "and the ferns"}
        | {"sessionId": SESSION, "timestamp": at(2)},
        {"type": "queue-operation", "operation": "enqueue", "content": "never mind"}
        | {"sessionId": SESSION, "timestamp": at(3)},
        row(4, "attachment", None, attachment=queued | HUMAN),
        answered(5, words("watered")),
        said(6, "thanks", **HUMAN),
        said(7, "thanks", **HUMAN) | {"timestamp": at(6)},
    )


def cost(number: int, tokens_: int) -> dict[str, Any]:
    usage = {"m": {"inputTokens": tokens_ - 14, "outputTokens": 14}}
    return {"type": "cost-state", "sessionId": SESSION, "modelUsage": usage}


# ------------------------------------------------------------------ what is right


def paths(facts: Facts) -> list[str]:
    return [one.path for one in facts.changed_files.value or ()]


def texts(facts: Facts) -> list[str]:
    return [one.text for one in facts.human_turns.value or ()]


def requests(facts: Facts) -> list[tuple[str | None, int | None, str]]:
    return [(one.repository, one.number, one.action) for one in facts.pull_requests.value or ()]


def test_what_a_child_did_is_on_its_own_sheet(tmp_path: Path) -> None:
    found = with_a_child(tmp_path)
    facts, child = found.facts, found.subagents[0].facts
    assert facts.tool_calls.value == 2
    assert facts.tool_calls_by_name.value == {"Bash": 1, "Delegate": 1}
    assert facts.unresolved_calls.value == 1
    assert paths(facts) == []
    assert requests(facts) == []
    assert texts(facts) == ["hand it over"]
    assert facts.final_message.value is not None
    assert facts.final_message.value.text == "handed over"
    assert facts.window.value is not None
    assert facts.window.value.last.second == 5
    assert child.tool_calls.value == 2
    assert paths(child) == ["/w/hill"]
    assert requests(child) == [("a/b", 9, "create")]
    assert texts(child) == []
    assert child.final_message.value is not None
    assert child.final_message.value.text == "scouted"
    # The file of a child says what it did, and not what became of it.
    assert found.subagents[0].outcome == "unknown"


def test_a_spawn_is_listed_whatever_the_tool_is_called(tmp_path: Path) -> None:
    tasks = with_a_child(tmp_path).facts.subagents.value or []
    assert [(one.task, one.outcome) for one in tasks] == [("Scout it", "unknown")]


def test_a_spawn_is_listed_without_its_transcript_and_ends_as_its_call_says(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        said(1, "hand it over", **HUMAN),
        answered(2, call("Agent", "toolu_1", **TASK), call("Agent", "toolu_2", **TASK)),
        result(3, "toolu_1", "all quiet"),
        result(4, "toolu_2", "no such agent", failed=True),
        answered(5, call("Task", "toolu_3", subagent_type="  ", description="blank")),
    )
    tasks = found.facts.subagents.value or []
    assert [one.outcome for one in tasks][:2] == ["completed", "failed"]
    assert found.subagents == []


def test_of_a_session_that_is_gone_only_what_its_agents_did_is_known(tmp_path: Path) -> None:
    with_a_child(tmp_path)
    folder = tmp_path / ".claude" / "projects" / "-w" / SESSION
    folder.with_suffix(".jsonl").unlink()
    found = facts_of_path(str(folder), "claude")
    assert found.facts.tool_calls.value is None
    assert found.facts.human_turns.value is None
    assert [one.outcome for one in found.facts.subagents.value or ()] == ["unknown"]
    assert found.subagents[0].facts.tool_calls.value == 2


def test_a_mark_decides_who_typed_and_each_exclusion_says_why(tmp_path: Path) -> None:
    facts = with_marks(tmp_path).facts
    assert texts(facts) == [
        "first",
        "printed",
        "printed by an older one",
        "<div> is what I typed",
        "/label mint bed",
    ]
    excluded = facts.excluded_turns.value or []
    assert [(one.reason, one.reclassified) for one in excluded] == [
        ("no_human_origin", True),
        ("not_by_a_person", False),
    ]
    command = (facts.human_turns.value or [])[-1].id
    assert command in facts.human_turns.by_text


def test_files_are_those_that_were_changed(tmp_path: Path) -> None:
    files = with_edits(tmp_path).facts.changed_files.value or []
    assert [(one.path, one.operations, one.source, one.stated) for one in files] == [
        ("/w/new", ["add"], "arguments", True),
        ("/w/notes/aside.txt", ["update"], "record", False),
    ]


def test_files_that_a_command_changed_are_those_that_the_cli_found(tmp_path: Path) -> None:
    diff = {
        "files": [{"filePath": "/w/a", "hunks": [], "created": True}, {"filePath": "/w/b"}],
        "changedFiles": ["/w/a", "/w/b", "/w/c"],
        "moreFiles": 2,
    }
    found = read(
        tmp_path,
        said(1, "sort them", **HUMAN),
        answered(2, call("Bash", "toolu_1", command="sed -i s/a/b/ *")),
        result(3, "toolu_1", "", toolUseResult={"stdout": "", "bashEditDiff": diff}),
        answered(4, words("sorted")),
    ).facts.changed_files
    assert [(one.path, one.operations, one.stated) for one in found.value or ()] == [
        ("/w/a", ["add"], True),
        ("/w/b", ["update"], True),
        ("/w/c", ["update"], False),
    ]
    assert found.partial == "left out: 2 files that commands changed and the CLI only counted"


def test_requests_are_those_that_commands_opened(tmp_path: Path) -> None:
    assert requests(with_requests(tmp_path).facts) == [("a/b", 4, "create"), ("a/b", 4, "merge")]


def test_an_answer_is_counted_once_and_the_total_is_the_clis(tmp_path: Path) -> None:
    facts = with_repeated_counts(tmp_path).facts
    assert facts.token_sum.value is not None
    assert (facts.token_sum.value.input, facts.token_sum.value.output) == (200, 14)
    assert (facts.token_sum.accounting, facts.token_total.accounting) == ("derived", "reported")
    assert facts.token_total.value == 214


def test_a_total_that_later_answers_are_not_in_is_none(tmp_path: Path) -> None:
    total = with_a_stale_total(tmp_path).facts.token_total
    assert total.value is None
    assert total.unavailable == "the session went on behind its last cost-state"


def test_what_was_copied_is_the_other_sessions(tmp_path: Path) -> None:
    facts = with_copies(tmp_path).facts
    assert texts(facts) == []
    assert [one.reason for one in facts.excluded_turns.value or ()] == [
        "inherited",
        "not_by_a_person",
    ]
    assert facts.token_total.value == 105
    assert facts.token_sum.value is not None
    assert facts.token_sum.value.total == 105


def test_a_prompt_typed_ahead_is_a_turn_if_it_was_delivered(tmp_path: Path) -> None:
    facts = with_queued_prompts(tmp_path).facts
    assert texts(facts) == ["water the bed", "and the ferns", "thanks"]
    reasons = [one.reason for one in facts.excluded_turns.value or ()]
    assert sorted(reasons) == ["never_delivered", "told_twice"]


def test_all_sessions_together_count_nothing_twice(tmp_path: Path) -> None:
    with_copies(tmp_path)
    totals = facts_of_stores(home=tmp_path)
    assert totals.sessions == 2
    assert texts(totals.facts) == ["weigh the sacks"]
    assert totals.facts.token_sum.value is not None
    assert totals.facts.token_sum.value.total == 370


# ------------------------------------------------------------------ each rule is needed


def _drop(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    def off(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(
            human_turns, "RULES", {k: v for k, v in human_turns.RULES.items() if k != name}
        )

    return off


def _children_count(patch: pytest.MonkeyPatch) -> None:
    """A child's messages are taken for the session's own."""
    take = sheets.SheetFold.take

    def all_alike(self: sheets.SheetFold, messages: Any) -> None:
        for message in messages:
            self.main.take(message)

    assert take is not all_alike
    patch.setattr(sheets.SheetFold, "take", all_alike)


def _by_tool_name(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(subagents, "is_spawn", lambda one: one.name in ("Task", "Agent"))


def _failed_edits_count(patch: pytest.MonkeyPatch) -> None:
    take = changed_files.ChangedFilesFold.take

    def whatever_came_of_it(self: changed_files.ChangedFilesFold, message: Any) -> None:
        take(self, _completed(message))

    patch.setattr(changed_files.ChangedFilesFold, "take", whatever_came_of_it)


def _completed(message: Message) -> Message:
    return replace(message, status="completed")


def _no_copies_aside(patch: pytest.MonkeyPatch) -> None:
    fact = changed_files.ChangedFilesFold.fact
    patch.setattr(
        changed_files.ChangedFilesFold, "fact", lambda self, _, cwd, o: fact(self, {}, cwd, o)
    )


def _prose_counts(patch: pytest.MonkeyPatch) -> None:
    """Whatever looks like a command is one."""
    patch.setattr(
        pull_requests,
        "commands",
        lambda script: (script[i:].split() for i in _places(script, "gh pr")),
    )


def _places(script: str, what: str) -> list[int]:
    return [i for i in range(len(script)) if script.startswith(what, i)]


def _failed_commands_count(patch: pytest.MonkeyPatch) -> None:
    take = pull_requests.PullRequestsFold.take

    def whatever_came_of_it(self: pull_requests.PullRequestsFold, message: Any) -> None:
        if isinstance(message, CommandExecution) and message.output is None:
            message = replace(message, output=(), status="completed")
        take(self, message)

    patch.setattr(pull_requests.PullRequestsFold, "take", whatever_came_of_it)


def _no_call_unresolved(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(calls.CallsFold, "unresolved", calls.CallsFold.failed)


def _sum_for_total(patch: pytest.MonkeyPatch) -> None:
    def total(recorded: Any, why: Any, who: str, summed: Any) -> Any:
        return tokens.Fact(value=summed.value.total, accounting="derived")

    patch.setattr(sheets, "token_total", total)


def _unmarked_is_human(patch: pytest.MonkeyPatch) -> None:
    _drop(human_turns.UNSTAMPED)(patch)


ABLATIONS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Callable[[Path], None]]] = {
    "a child's work is its own": (_children_count, test_what_a_child_did_is_on_its_own_sheet),
    "a prompt to a child is no turn": (
        _drop("subagent"),
        lambda home: _reasons(with_a_child(home), "subagent"),
    ),
    "spawns by what the harness does": (
        _by_tool_name,
        test_a_spawn_is_listed_whatever_the_tool_is_called,
    ),
    "a mark decides who typed": (
        _unmarked_is_human,
        test_a_mark_decides_who_typed_and_each_exclusion_says_why,
    ),
    "only a person's turns": (
        _drop("not_by_a_person"),
        test_a_mark_decides_who_typed_and_each_exclusion_says_why,
    ),
    "a change that failed is none": (
        _failed_edits_count,
        test_files_are_those_that_were_changed,
    ),
    "copies that were put aside": (_no_copies_aside, test_files_are_those_that_were_changed),
    "commands as a shell parts them": (
        _prose_counts,
        test_requests_are_those_that_commands_opened,
    ),
    "a command that failed opened nothing": (
        _failed_commands_count,
        test_requests_are_those_that_commands_opened,
    ),
    "a call without an end is unresolved": (
        _no_call_unresolved,
        test_what_a_child_did_is_on_its_own_sheet,
    ),
    "what was copied is another session's": (
        _drop("inherited"),
        test_what_was_copied_is_the_other_sessions,
    ),
    "what was never delivered is no turn": (
        _drop("never_delivered"),
        test_a_prompt_typed_ahead_is_a_turn_if_it_was_delivered,
    ),
    "what is told twice is said once": (
        _drop("told_twice"),
        test_a_prompt_typed_ahead_is_a_turn_if_it_was_delivered,
    ),
    "a sum is no total": (_sum_for_total, test_a_total_that_later_answers_are_not_in_is_none),
}


def _reasons(found: FactsSheet, reason: str) -> None:
    assert reason in [one.reason for one in found.facts.excluded_turns.value or ()]


@pytest.mark.parametrize("rule", ABLATIONS)
def test_without_a_rule_an_answer_is_wrong(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off, check = ABLATIONS[rule]
    check(tmp_path / "with")
    off(monkeypatch)
    with pytest.raises((AssertionError, IndexError)):
        check(tmp_path / "without")
