"""Small conversations written by hand, each of which one mistake falls into.

Chance finds most mistakes in the end; these find each of them at once, and say which it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from conformance.hooks.happenings import Conversation, Happening, Part
from conformance.hooks.payloads import BY_NAME, WORKSPACE, Manner, Place, TrueCall, Verb

_LAYERS = frozenset({"before", "after", "file"})
_BOUNDARIES = frozenset({"session-start", "turn-end", "session-end"})


class Step(NamedTuple):
    """An event of a trap. ``odd`` are fields that its payload has otherwise than usual.

    An odd value of None takes the field out.
    """

    what: str
    call: TrueCall | None = None
    turn: int = 0
    lost: bool = False
    again: bool = False
    after: int = 10
    odd: Mapping[str, Any] = {}


class Trap(NamedTuple):
    """A conversation and the mistake that it is about."""

    name: str
    told: Conversation


def _call(
    number: int,
    verb: Verb,
    given: Mapping[str, Any],
    *,
    name: str,
    id: str | None = "shared",
    where: str = WORKSPACE,
    server: str | None = None,
    agent: str | None = None,
) -> TrueCall:
    return TrueCall(number, verb, name, id, given, where, server, agent)


def _shell(number: int, command: str, id: str | None = "shared", **given: Any) -> TrueCall:
    where = given.get("cwd") or WORKSPACE
    return _call(number, "shell", {"command": command, **given}, name="Shell", id=id, where=where)


def _mcp(number: int, given: Mapping[str, Any], server: str = "dumps") -> TrueCall:
    return _call(number, "mcp", given, name="MCP:stacks", server=server)


def _read(number: int, path: str, id: str = "shared") -> TrueCall:
    return _call(number, "read", {"file_path": path}, name="Read", id=id)


def _bash(number: int, command: str, id: str | None = None) -> TrueCall:
    return _call(number, "shell", {"command": command}, name="Bash", id=id)


def _trap(name: str, dialect: str, steps: Sequence[Step], *, manner: Manner | None = None) -> Trap:
    arrived: list[Happening] = []
    lost: list[Happening] = []
    tick = 0
    for key, step in enumerate([Step("prompt"), *steps]):
        tick += step.after
        words = Place(_ID.format(5), _ID.format(70 + step.turn), tick)
        told = BY_NAME[dialect].payload(step.what, words, manner or Manner(), step.call)
        assert told is not None, f"{name}: {dialect} has no {step.what}"
        payload = {**told[1], **step.odd}
        happening = Happening(
            key=key,
            part=_part(step.what),
            layer="none" if step.call is None else _layer(step.what, step.call),
            session=0,
            turn=step.turn,
            call=None if step.call is None else step.call.number,
            event=told[0],
            payload={field: value for field, value in payload.items() if value is not _GONE},
            tick=tick,
        )
        if step.again:
            first = next(each for each in arrived if each.call == happening.call)
            happening = happening._replace(again=first.key, payload=first.payload)
        (lost if step.lost else arrived).append(happening)
    return Trap(name, Conversation(BY_NAME[dialect].agent, dialect, tuple(arrived), tuple(lost)))


_ID = "{:08}-0000-4000-8000-000000000000"
_GONE: Any = object()


def _part(what: str) -> Part:
    if what in _BOUNDARIES:
        return "boundary"
    if what in ("thought", "response"):
        return "remark"
    part: Any = what
    return part


def _layer(what: str, call: TrueCall) -> str:
    if what in _LAYERS:
        return "file" if what == "file" else call.verb
    return "subagent" if what.startswith("subagent") else "call"


def _crossed(one: TrueCall, other: TrueCall) -> list[Step]:
    """Return two calls that overlap and end in the order in which they began, or the other."""
    return [Step("pre", one), Step("pre", other), Step("post", other), Step("post", one)]


def _side_by_side(one: TrueCall, other: TrueCall) -> list[Step]:
    return [Step("pre", one), Step("pre", other), Step("post", one), Step("post", other)]


def traps() -> tuple[Trap, ...]:
    """Return all traps."""
    lint, build = _shell(1, "lint", cwd=""), _shell(2, "build", cwd="")
    here = _shell(4, "make", "b", cwd=WORKSPACE)
    anywhere = _shell(3, "make", "a")
    tried, retried = _shell(5, "flaky"), _shell(6, "flaky")
    subagent = _call(9, "task", {"prompt": "here"}, name="Task", id="call-9\nfc_9", agent="agent-9")
    windows = _read(10, "C:\\W\\A.txt")
    return (
        _trap(
            "shells-end-crossed",
            "cursor",
            [
                *(Step("pre", call) for call in (build, lint)),
                *(Step("before", call) for call in (build, lint)),
                *(Step(what, lint) for what in ("after", "post")),
                *(Step(what, build) for what in ("after", "post")),
                Step("turn-end"),
            ],
        ),
        _trap("ends-in-order-of-starts", "cursor", _side_by_side(build, lint)),
        _trap("ids-that-are-shared-by-tools", "cursor", _crossed(lint, _mcp(2, {}))),
        _trap(
            "two-equal-calls-one-end",
            "cursor",
            [
                Step("pre", _shell(1, "date")),
                Step("pre", _shell(2, "date")),
                Step("post", _shell(1, "date")),
                Step("post", _shell(2, "date"), lost=True),
            ],
        ),
        _trap(
            "two-equal-calls-without-ids",
            "copilot",
            _side_by_side(_bash(1, "date"), _bash(2, "date")),
        ),
        _trap(
            "the-twin-comes-later",
            "cursor",
            [
                Step("pre", anywhere),
                Step("pre", here),
                Step("before", anywhere),
                Step("before", here),
            ],
        ),
        _trap(
            "a-better-one-was-taken",
            "cursor",
            [
                Step("pre", _mcp(1, {"limit": 1}), odd={"tool_input": _GONE}),
                Step("pre", _mcp(2, {"limit": 2})),
                Step("post", _mcp(2, {"limit": 2})),
                Step("post", _mcp(1, {"limit": 1}), odd={"tool_input": _GONE}),
            ],
        ),
        _trap(
            "nothing-in-common",
            "claude-without-ids",
            [
                Step("pre", _bash(1, "one"), odd={"tool_input": _GONE}),
                Step("post", _bash(1, "one"), lost=True),
                Step("pre", _bash(2, "two"), lost=True),
                Step("post", _bash(2, "two")),
            ],
        ),
        _trap(
            "another-sandbox",
            "cursor",
            [
                Step("pre", _shell(1, "make", "a")),
                Step("before", _shell(1, "make", "a")),
                Step("after", _shell(1, "make", "a"), lost=True),
                Step("pre", _shell(2, "make", "b"), lost=True),
                Step("before", _shell(2, "make", "b"), lost=True),
                Step("after", _shell(2, "make", "b")),
            ],
        ),
        _trap(
            "a-directory-that-only-one-names",
            "cursor",
            [Step("pre", _shell(1, "ls")), Step("before", _shell(1, "ls"))],
        ),
        _trap(
            "an-empty-directory",
            "cursor",
            [Step("pre", _shell(1, "ls", cwd="")), Step("before", _shell(1, "ls"))],
        ),
        _trap(
            "numbers-in-other-words",
            "cursor",
            _crossed(_mcp(1, {"limit": 1}), _mcp(2, {"limit": 1.0})),
        ),
        _trap("case-counts", "cursor", _crossed(_shell(1, "Make"), _shell(2, "make"))),
        _trap(
            "case-counts-in-paths",
            "cursor",
            [
                *(Step("pre", _read(n, path, str(n))) for n, path in _POSIX),
                *(Step("file", _read(n, path, str(n))) for n, path in reversed(_POSIX)),
            ],
        ),
        _trap(
            "case-does-not-count-on-windows",
            "cursor",
            [Step(what, windows) for what in ("pre", "file", "post")],
        ),
        _trap(
            "keys-in-another-order",
            "cursor",
            [Step(what, _mcp(1, {"a": {"x": 1, "y": 2}, "b": 3})) for what in ("pre", "post")],
        ),
        _trap(
            "arrays-in-another-order",
            "cursor",
            _crossed(_mcp(1, {"a": [1, 2]}), _mcp(2, {"a": [2, 1]})),
        ),
        _trap(
            "an-input-in-a-string",
            "cursor",
            [Step(what, _mcp(2, {"a": 1})) for what in ("pre", "before", "after", "post")],
        ),
        _trap(
            "a-string-that-looks-like-an-object",
            "cursor",
            _crossed(_mcp(1, {"query": '{"a": 1}'}), _mcp(2, {"query": '{"a":1}'})),
        ),
        _trap(
            "lines-that-end-otherwise",
            "cursor",
            [
                Step("pre", _shell(1, "cd a\r\nls\n")),
                Step("before", _shell(1, "cd a\r\nls\n"), odd={"command": "cd a\nls"}),
            ],
        ),
        _trap(
            "failed-and-tried-again",
            "cursor",
            [
                *(Step(what, tried) for what in ("pre", "before", "failure")),
                Step("after", tried, lost=True),
                *(Step(what, retried) for what in ("pre", "before", "after", "post")),
            ],
            manner=Manner(sandbox=False),
        ),
        _trap(
            "tried-again-without-a-before",
            "cursor",
            [
                *(Step(what, tried) for what in ("pre", "before", "failure")),
                Step("after", tried, lost=True),
                Step("pre", retried),
                Step("before", retried, lost=True),
                *(Step(what, retried) for what in ("after", "post")),
            ],
            manner=Manner(sandbox=False),
        ),
        _trap(
            "failed-before-it-ran",
            "cursor",
            [
                *(Step(what, tried) for what in ("pre", "failure")),
                Step("before", tried, lost=True),
                *(Step(what, retried) for what in ("pre", "before")),
            ],
        ),
        _trap(
            "an-after-without-a-before",
            "cursor",
            [
                Step("pre", lint),
                Step("before", lint, lost=True),
                Step("after", lint),
                Step("post", lint),
            ],
        ),
        _trap(
            "never-ended-and-made-anew",
            "cursor",
            [
                Step("pre", tried),
                Step("post", tried, lost=True),
                Step("turn-end"),
                Step("prompt", turn=1),
                Step("pre", retried, turn=1, lost=True),
                Step("post", retried, turn=1),
            ],
        ),
        _trap(
            "an-end-when-its-turn-is-over",
            "cursor",
            [
                Step("pre", tried),
                Step("post", tried),
                Step("pre", retried, lost=True),
                Step("post", retried),
                Step("prompt", turn=1),
                Step("pre", _shell(7, "flaky"), turn=1),
                Step("post", _shell(7, "flaky"), turn=1),
            ],
        ),
        _trap(
            "an-after-when-its-turn-is-over",
            "cursor",
            [
                *(Step(what, lint) for what in ("pre", "before", "after", "post")),
                Step("prompt", turn=1),
                Step("response", turn=1),
            ],
        ),
        _trap("a-turn-with-a-suffix", "cursor", [Step("thought"), Step("response")]),
        _trap(
            "read-told-twice",
            "cursor",
            [
                Step("pre", windows),
                Step("pre", windows, again=True),
                Step("post", windows),
            ],
        ),
        _trap(
            "read-told-twice-around-another",
            "cursor",
            [
                Step("pre", _read(1, "/w/A.txt")),
                Step("pre", _read(2, "/w/a.txt")),
                Step("pre", _read(1, "/w/A.txt"), again=True),
                Step("post", _read(1, "/w/A.txt")),
                Step("post", _read(2, "/w/a.txt")),
            ],
        ),
        _trap(
            "read-once",
            "cursor",
            [Step("pre", windows), Step("post", windows)],
        ),
        _trap(
            "subagent",
            "claude",
            [
                Step("pre", subagent),
                Step("subagent-start", subagent),
                Step("pre", _bash(10, "ls", "toolu_10")._replace(agent="agent-9")),
                Step("post", _bash(10, "ls", "toolu_10")._replace(agent="agent-9")),
                Step("subagent-stop", subagent),
                Step("post", subagent),
            ],
        ),
        _trap(
            "a-subagent-that-stops-twice",
            "claude",
            [
                Step("subagent-start", subagent),
                Step("subagent-stop", subagent),
                Step("subagent-start", subagent._replace(number=11), lost=True),
                Step("subagent-stop", subagent._replace(number=11)),
            ],
        ),
        _trap(
            "a-read-with-the-id-of-a-subagent",
            "cursor",
            [
                Step("pre", subagent, lost=True),
                Step("pre", _read(10, "/w/a.txt", "call-9\nfc_9")),
                Step("subagent-start", subagent),
                Step("subagent-stop", subagent),
            ],
        ),
        _trap(
            "a-subagent-under-its-call",
            "cursor",
            [Step(what, subagent) for what in ("pre", "subagent-start", "subagent-stop", "post")],
        ),
        _trap(
            "ended-with-its-session-outside-of-turns",
            "cursor",
            [
                *(
                    Step(what, _mcp(1, {})._replace(silence="no turn"), lost=what == "post")
                    for what in ("pre", "before", "post")
                ),
                Step("session-end"),
            ],
        ),
        _trap(
            "side-by-side-in-an-unseen-subagent",
            "claude",
            _side_by_side(*(_bash(n, "ls", f"toolu_{n}")._replace(agent="a-9") for n in (1, 2))),
        ),
        _trap(
            "an-id-whose-input-changed",
            "claude",
            [
                Step("pre", _bash(1, "ls", "toolu_1")),
                Step("pre", _bash(2, "pwd", "toolu_2")),
                Step("post", _bash(1, "ls", "toolu_1"), odd={"tool_input": {"command": "pwd"}}),
                Step("post", _bash(2, "pwd", "toolu_2")),
            ],
        ),
        _trap(
            "waves-that-a-third-call-joins",
            "claude",
            [
                Step("pre", _bash(1, "a", "toolu_1")),
                Step("pre", _bash(2, "b", "toolu_2")),
                Step("post", _bash(1, "a", "toolu_1")),
                Step("pre", _bash(3, "c", "toolu_3")),
                Step("post", _bash(3, "c", "toolu_3")),
                Step("post", _bash(2, "b", "toolu_2")),
            ],
        ),
        _trap(
            "one-ends-as-the-next-begins",
            "claude",
            [
                Step("pre", _bash(1, "a", "toolu_1")),
                Step("post", _bash(1, "a", "toolu_1")),
                Step("pre", _bash(2, "b", "toolu_2"), after=0),
                Step("post", _bash(2, "b", "toolu_2")),
            ],
        ),
    )


_POSIX = ((1, "/w/A.txt"), (2, "/w/a.txt"))
