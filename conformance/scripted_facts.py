"""What a facts sheet must say of a recording, worked out from its script and from nothing else.

Looked at are ``truth.json`` (what the script says must be found), the scripted model's own log and
``case.json`` (what the CLI is known not to keep): never the session's files, and no code that makes
sheets.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from conformance.corpus import Case

_ANSWER = (120, 30)
"""The tokens that each answer of the scripted model takes unless the script says otherwise."""
_CALLS = frozenset(
    ["CommandExecution", "FileChange", "ToolCall", "Plan", "WebSearch", "SubAgent", "UserQuestion"]
)
_REQUEST = re.compile(r"https://github\.com/([\w-]+/[\w-]+)/pull/([0-9]+)")


class ScriptedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The answers that a script gives; None where it does not say."""

    calls: tuple[str, ...]
    names: Mapping[str, int] | None
    failed: int
    unresolved: int
    changed_files: tuple[str, ...]
    human_turns: tuple[str, ...]
    final_message: str | None
    tasks: tuple[str | None, ...]
    pull_requests: tuple[tuple[str, int], ...]
    tokens: tuple[int, int] | None
    total: int | None
    threads: tuple[tuple[int, str | None], ...]


def scripted_facts(case: Case) -> ScriptedFacts:
    """Return what the script says of the session itself and of each thread that it hands out."""
    kept = list(_kept(case))
    own = [one for one in kept if one["thread"] is None and not one.get("inherited")]
    answers = _answers(case)
    called = {answer["response"] for answer in answers if answer["answer"].get("calls")}
    calls = [one for one in own if _is_call(one, called)]
    final = [one["text"] for one in own if one["kind"] == "AgentMessage"]
    threads: dict[str, list[Mapping[str, Any]]] = {}
    for one in kept:
        if one["thread"] is not None:
            threads.setdefault(one["thread"], []).append(one)
    return ScriptedFacts(
        calls=tuple(one["kind"] for one in calls),
        names=_names(case, kept, answers),
        failed=sum(one.get("status") == "failed" for one in calls),
        unresolved=sum(one.get("status") == "unresolved" for one in calls),
        changed_files=tuple(sorted(_changed(own))),
        human_turns=tuple(
            one["text"]
            for one in own
            if one["kind"] == "UserMessage" and one["author"] == "human" and "text" in one
        ),
        final_message=final[-1] if final else None,
        tasks=tuple(one.get("description") for one in own if one["kind"] == "SubAgent"),
        pull_requests=tuple(_requests(own)),
        tokens=_tokens(case, [one for one in answers if one["thread"] is None]),
        total=_total(case, answers),
        threads=tuple(_thread(messages, called) for messages in threads.values()),
    )


def _kept(case: Case) -> Iterator[Mapping[str, Any]]:
    """Yield the truth's messages less what the CLI did not keep."""
    gone: dict[int, set[str] | None] = {}
    for unrecorded in case.facts.unrecorded:
        before = gone.get(unrecorded.message, set[str]())
        fields = unrecorded.fields
        gone[unrecorded.message] = None if fields is None or before is None else before | {*fields}
    for index, message in enumerate(case.truth.messages):
        missing = gone.get(index, set[str]())
        if missing is not None:
            yield {name: value for name, value in message.items() if name not in missing}


def _answers(case: Case) -> list[Mapping[str, Any]]:
    """Return the answers of the model's log to what the conversation asked of it."""
    lines = (case.directory / "model.jsonl").read_bytes().rstrip(b"\n").split(b"\n")
    return [one for one in map(json.loads, lines) if one["kind"] == "turn"]


def _is_call(message: Mapping[str, Any], called: set[str]) -> bool:
    """Whether a message is a call; a plan may be told in words, in an answer without any call."""
    if message["kind"] not in _CALLS or message["author"] != "model":
        return False
    return message["kind"] != "Plan" or message["response"] in called


def _own_name(name: str, served: list[str]) -> str:
    """Return a tool's own name: each CLI puts its MCP server before it in another way."""
    return next((own for own in served if name.endswith(own)), name.removesuffix("_call"))


def _names(
    case: Case, kept: list[Mapping[str, Any]], answers: list[Mapping[str, Any]]
) -> Mapping[str, int] | None:
    """Return how often the model called what, by its log: without the MCP server in a name.

    What code calls in its turn is not in the log, and what the CLI did not keep is in no sheet.
    """
    if case.facts.dialect == "code-mode" or _is_cut(case):
        return None
    copied = {one["response"] for one in kept if one.get("inherited")}
    served = [one["name"] for one in kept if one.get("server")]
    calls = {
        (call["id"], _own_name(call["name"], served))
        for answer in answers
        if answer["thread"] is None and answer["response"] not in copied
        for call in answer["answer"].get("calls") or ()
    }
    return Counter(name for _, name in calls)


def _changed(own: list[Mapping[str, Any]]) -> set[str]:
    paths: set[str] = set()
    for one in own:
        if one["kind"] == "FileChange" and one["status"] == "completed":
            for change in one["changes"]:
                paths |= {change["path"]} | (
                    {change["moved_to"]} if "moved_to" in change else set()
                )
    return {path for path in paths if path}


def _requests(own: list[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    for one in own:
        if one["kind"] == "CommandExecution" and one["command"].startswith("gh pr create "):
            for repository, number in _REQUEST.findall(one.get("output") or ""):
                yield repository, int(number)


def _tokens(case: Case, answers: list[Mapping[str, Any]]) -> tuple[int, int] | None:
    """Return what answers took as input and output, where each was given whole and as usual."""
    odd = ("failure", "interrupted", "killed", "compaction", "fork", "subagent-fails", "web-search")
    if case.facts.scenario.startswith(odd) or _is_cut(case):
        return None
    count = len({str(one["answer"]) for one in answers})
    return count * _ANSWER[0], count * _ANSWER[1]


def _is_cut(case: Case) -> bool:
    """Whether the CLI kept nothing of something that the model said or did."""
    gone = [case.truth.messages[one.message] for one in case.facts.unrecorded if one.fields is None]
    return any(one["response"] is not None for one in gone)


def _total(case: Case, answers: list[Mapping[str, Any]]) -> int | None:
    """Return what a CLI's own total must be, if there is one: Codex counts each agent apart."""
    if case.facts.agent == "codex":
        answers = [one for one in answers if one["thread"] is None]
    taken = _tokens(case, answers)
    return None if taken is None else sum(taken)


def _thread(messages: list[Mapping[str, Any]], called: set[str]) -> tuple[int, str | None]:
    said = [one["text"] for one in messages if one["kind"] == "AgentMessage"]
    return sum(_is_call(one, called) for one in messages), said[-1] if said else None
