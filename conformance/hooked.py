"""A conversation rebuilt from hooks, held against the script that the recorded CLI followed.

What was asked, which calls the model made (in the words of its own wire), on which thread and
what came of them is known before any hook is told of it: from the truth and the model's log.
Whatever the tree, the summary or the join with the transcript shows differently is a
difference, and each difference has to stand in ``hooked.toml`` with the reason that lies in
the harness; what does not is a fault of the correlator.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from conformance.corpus import Case
from conformance.matrix import read_case
from conformance.told_otherwise import Difference, table
from live.calls import ScriptedCall, calls
from live.hooklog import LOGS
from transcripts.errors import SessionNotFound
from transcripts.hooks import build_tree, read_log
from transcripts.hooks.dialects import find_dialect
from transcripts.hooks.joining import Join, join
from transcripts.hooks.summaries.summarising import summarise
from transcripts.serialise import to_json
from transcripts.stores.base import store_class

_SCRIPTS = frozenset({"exec"})
"""What a model calls to run a script that makes the calls."""


_SHELLS = ("Bash", "bash")


def logs(hooked: Case) -> list[Path]:
    """Return a run's logs: one, or one for each spelling of events that its harness has."""
    return sorted(hooked.directory.glob(LOGS))


def differences(hooked: Case, log: Path) -> list[Difference]:
    """Return all that hooks show otherwise than the script has it."""
    return list(_Retold(hooked, log).differences())


class Called(NamedTuple):
    """A call of the script: what the model said, and how the truth says that it went."""

    call: ScriptedCall
    status: str
    kind: str


def scripted(hooked: Case) -> list[Called]:
    """Return the script's calls in their order, thread by thread, with their outcomes."""
    made = calls(hooked.directory / "model.jsonl")
    told: dict[tuple[str | None, str | None], list[Mapping[str, Any]]] = {}
    for message in hooked.truth.messages:
        if message["author"] == "model" and message["kind"] not in ("AgentMessage", "Reasoning"):
            told.setdefault((message["thread"], message["response"]), []).append(message)
    found: list[Called] = []
    for call in made:
        messages = told.get((call.thread, call.response), [])
        place = [one.id for one in made if one.response == call.response].index(call.id)
        message = messages[place] if place < len(messages) else None
        found.append(
            Called(
                call,
                call.outcome if message is None else message["status"],
                "" if message is None else message["kind"],
            )
        )
    return found


class _Shown(NamedTuple):
    """A call as the tree shows it, and the subagent that it stands under."""

    node: dict[str, Any]
    agent: str | None


class _Retold:
    """One log and its script."""

    def __init__(self, hooked: Case, log: Path) -> None:
        self.case = hooked
        self.log = log
        self.agent = hooked.facts.agent
        self.dialect = find_dialect(self.agent)
        events = read_log(log, self.agent)
        built = build_tree(events, self.dialect, events.bad_lines, payloads=True)
        self.tree: dict[str, Any] = json.loads(to_json(built))
        self.shown = sorted(_calls(self.tree), key=lambda one: one.node["event"])
        self.made = scripted(hooked)
        self.parts: dict[str, list[_Shown]] = {}
        self.pairs = self._paired()

    def differences(self) -> Iterator[Difference]:
        """Yield everything that is shown otherwise."""
        yield from self._prompts()
        yield from self._calls()
        yield from self._threads()
        for name in ("orphan", "phantom"):
            for one in self.tree[f"{name}s"]:
                yield Difference(name, f"{self._event(one['event'])}: {one['why']}")
        yield from self._summary()
        yield from self._joined()

    def _event(self, line: int) -> str:
        row = json.loads(self.log.read_text(encoding="utf-8").split("\n")[line - 1])
        return row["event"]

    # -------------------------------------------------------------- what was asked

    def _prompts(self) -> Iterator[Difference]:
        said = [
            str(node["payload"].get("prompt", ""))
            for node, agent in _walk(self.tree)
            if node["kind"] == "prompt" and agent is None
        ]
        asked = self._asked()
        for text in asked:
            found = next((one for one in said if _same_words(one, text)), None)
            if found is None:
                yield Difference("prompt-untold", _short(text))
            else:
                said.remove(found)
        for text in said:
            yield Difference("prompt-of-none", _short(text))

    def _asked(self) -> list[str]:
        return [
            message["text"]
            for message in self.case.truth.messages
            if message["kind"] == "UserMessage"
            and message["author"] == "human"
            and message["thread"] is None
        ]

    # -------------------------------------------------------------- what was called

    def _paired(self) -> dict[str, _Shown]:
        """Return which shown call is which of the script's: by id, else by name and input."""
        pairs: dict[str, _Shown] = {}
        left = list(self.shown)
        for called in self.made:
            found = next((one for one in left if self._is(one, called.call)), None)
            if found is not None:
                pairs[called.call.id] = found
                left.remove(found)
        for one in left:
            script = next((made.call for made in self.made if self._runs(made.call, one)), None)
            if script is not None:
                self.parts.setdefault(script.id, []).append(one)
                pairs.setdefault(script.id, one)
        return pairs

    def _runs(self, call: ScriptedCall, shown: _Shown) -> bool:
        """Return whether a call is a script in which a shown call is quoted once more."""
        words = table().words.get(self.agent, {})
        names = {name for name, told in words.items() if shown.node["name"] in told}
        if call.name not in _SCRIPTS or not isinstance(call.arguments, str):
            return False
        script = call.arguments
        wanted = sum(script.count(f"tools.{name}(") for name in {*names, shown.node["name"]})
        have = sum(one.node["name"] == shown.node["name"] for one in self.parts.get(call.id, ()))
        told = _arguments(shown.node["payload"])
        quoted = all(
            "[elided: " in str(value)
            or any(json.dumps(value, ensure_ascii=plain) in script for plain in (True, False))
            for value in told.values()
        )
        return have < wanted and quoted

    def _is(self, shown: _Shown, call: ScriptedCall) -> bool:
        payload = shown.node["payload"]
        if given := payload.get("tool_use_id"):
            return given == call.id
        told = shown.node["name"], _arguments(payload)
        return told[0] in self._words(call.name) and self._holds(call, told[1])

    def _words(self, name: str) -> tuple[str, ...]:
        """Return what hooks call a tool that the model called."""
        return table().words.get(self.agent, {}).get(name, (name,))

    def _holds(self, call: ScriptedCall, told: Any) -> bool:
        """Return whether hooks were told a call's arguments: each of them, in their words."""
        given = _parsed(call.arguments)
        names = table().arguments.get(self.agent, {})
        if isinstance(given, dict) and isinstance(told, dict):
            arguments: dict[str, Any] = given
            heard: dict[str, Any] = told
            renamed = {names.get(name, name): value for name, value in arguments.items()}
            return all(renamed[name] == heard[name] for name in renamed.keys() & heard.keys()) and (
                not renamed or bool(renamed.keys() & heard.keys())
            )
        values: list[Any] = list(told.values()) if isinstance(told, dict) else [told]
        return given in values

    def _calls(self) -> Iterator[Difference]:
        for called in self.made:
            call = called.call
            shown = self.pairs.get(call.id)
            if shown is None:
                yield Difference("call-untold", f"{call.name}: {called.status}")
                continue
            node = shown.node
            if node["status"] != called.status:
                yield Difference("outcome", f"{call.name}: {called.status} as {node['status']}")
            if call.id in self.parts:
                continue
            if node["name"] not in self._words(call.name):
                yield Difference("word", f"{call.name} as {node['name']}")
            if not self._holds(call, _arguments(node["payload"])):
                yield Difference("input", call.name)
        shown_calls = [*self.pairs.values(), *(one for some in self.parts.values() for one in some)]
        known = {shown.node["event"] for shown in shown_calls}
        for one in self.shown:
            if one.node["event"] not in known:
                yield Difference("call-of-none", str(one.node["name"]))

    def _threads(self) -> Iterator[Difference]:
        """Yield calls that stand on another thread than the model made them on, or out of order."""
        agents: dict[str | None, set[str | None]] = {None: {None}}
        lines: dict[str | None, list[int]] = {}
        for called in self.made:
            shown = self.pairs.get(called.call.id)
            if shown is not None:
                agents.setdefault(called.call.thread, set()).add(shown.agent)
                lines.setdefault(called.call.thread, []).append(shown.node["event"])
        taken = Counter(agent for some in agents.values() for agent in some)
        for thread, some in agents.items():
            if len(some) != 1 or any(taken[agent] != 1 for agent in some):
                yield Difference("thread", thread or "main")
        for thread, some in lines.items():
            if some != sorted(some):
                yield Difference("order", thread or "main")
        wanted = len({message["thread"] for message in self.case.truth.messages} - {None})
        started = {id(node) for node, _ in _walk(self.tree) if node["kind"] == "subagent"}
        if len(started) != wanted:
            yield Difference("subagents", f"{len(started)} of {wanted}")

    # -------------------------------------------------------------- in numbers

    def _summary(self) -> Iterator[Difference]:
        """Yield the figures that are not what the script comes to, untold calls left out."""
        events = read_log(self.log, self.agent)
        sessions = json.loads(to_json(summarise(events, self.dialect)))["sessions"]
        totals = [one["summary"] for one in sessions]
        told = [one for one in self.made if one.call.id in self.pairs]
        names = Counter(
            self._scripted_name(one.call, shown)
            for one in told
            for shown in self.parts.get(one.call.id, (self.pairs[one.call.id],))
        )
        mcp = sum(count for name, count in names.items() if self.dialect.is_mcp(name))
        shown_so = [one for one in told if self.pairs[one.call.id].node["status"] == one.status]
        wanted = {
            "tool_calls": sum(names.values()) - mcp,
            "mcp_calls": mcp,
            "failures": sum(one.status in ("failed", "declined", "cancelled") for one in shown_so),
            "commands": sum(names[name] for name in _SHELLS),
            "turns": len(self._asked()),
            "subagents": len({one["thread"] for one in self.case.truth.messages} - {None}),
            "files_written": len(
                {
                    change["path"]
                    for message in self.case.truth.messages
                    if message["kind"] == "FileChange" and message["status"] == "completed"
                    for change in message["changes"]
                }
            ),
        }
        for name, value in wanted.items():
            shown = sum(
                len(total[name]) if isinstance(total[name], list) else total[name]
                for total in totals
            )
            if shown != value:
                yield Difference("summary", f"{name}: {shown} of {value}")

    # -------------------------------------------------------------- beside the transcript

    def _scripted_name(self, call: ScriptedCall, shown: _Shown) -> str:
        """Return what a tool must be called: a script's calls are only known by what is shown."""
        name = str(shown.node["name"])
        words = self._words(call.name)
        return name if call.id in self.parts or name in words else words[0]

    def _joined(self) -> Iterator[Difference]:
        transcript = read_case(self.case, store_class(self.agent))
        try:
            found: Join = join(read_log(self.log, self.agent), self.dialect, transcript)
        except SessionNotFound:
            yield Difference("join", "no event is of the session")
            return
        for one in found.only_in_hooks:
            yield Difference("join-seen-only", f"{one.kind} {_short(one.name or '')}")
        for one in found.only_in_transcript:
            yield Difference("join-recorded-only", f"{one.kind} {_short(one.name or '')}")
        for one in found.disagreements:
            yield Difference("join-disagrees", f"{one.hooks} or {one.transcript}: {one.rule}")


# ------------------------------------------------------------------ trees and words


def _walk(tree: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Yield every node of a tree with the subagent that it stands under."""
    for workspace in tree["workspaces"]:
        for session in workspace["sessions"]:
            for some in (session["nodes"], *(turn["nodes"] for turn in session["turns"])):
                yield from _below(some, None)


def _below(
    some: Iterable[dict[str, Any]], agent: str | None
) -> Iterator[tuple[dict[str, Any], str | None]]:
    for node in some:
        yield node, agent
        if node["kind"] == "subagent":
            payload: Mapping[str, Any] = node.get("payload") or {}
            named = payload.get("agent_id") or payload.get("agentId") or payload.get("agentName")
            yield from _below(node["children"], str(named or node["name"]))
        else:
            yield from _below(node["children"], agent)


def _calls(tree: Mapping[str, Any]) -> Iterator[_Shown]:
    return (_Shown(node, agent) for node, agent in _walk(tree) if node["kind"] == "call")


def _arguments(payload: Mapping[str, Any]) -> Any:
    return _parsed(payload.get("tool_input", payload.get("toolArgs")))


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _same_words(one: str, other: str) -> bool:
    return one.split() == other.split()


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:59]}…"
