"""True conversations, made up, with all that makes a correlator stumble.

Sessions run beside each other, turns follow each other, and the calls of a turn overlap, end in
any order, share ids and inputs, fail and are tried again, are broken off, and have subagents
that make calls of their own. Then events are lost, and some arrive twice where the harness is
known to do that. What the log can't tell is still known here: each event's call.

One thing is held to, because it is so in life and because no rule could work without it: **an
end carries no evidence that its start lacked**, unless every event of its kind carries it. Then
the true pairs are among the best ones as long as nothing is lost, and a false link can come only
of a loss.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from conformance.choices import Choices, Seeded
from conformance.hooks.happenings import Conversation, Happening, Part
from conformance.hooks.payloads import (
    BY_NAME,
    WORKSPACE,
    Dialect,
    Manner,
    Place,
    Silence,
    TrueCall,
    Verb,
)

_COMMANDS = ("make", "Make", "make test", "git status", "git status\n", "cd a\nls", "cd a\r\nls")
_PATHS = (
    "/w/a.txt",
    "/w/A.txt",
    "C:\\W\\A.txt",
    "C:\\W\\b.txt",
    "c:/w/a.txt",
    "/w/skills/SKILL.md",
)
_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"dumpPath": "A.dmp", "limit": 1},
    {"dumpPath": "A.dmp", "limit": 1.0},
    {"dumpPath": "B.dmp", "limit": 1},
    {"filter": {"b": [1, 2], "a": "x"}},
    {"filter": {"b": [2, 1], "a": "x"}},
    {"query": '{"a": 1}'},
    {"query": '{"a":1}'},
    {},
)
_SILENCES: tuple[Silence, ...] = (
    "no input at the end",
    "no input",
    "no id at the end",
    "no turn",
)
_SERVERS = ("dumps", "symbols")
_LAYERED: frozenset[Verb] = frozenset({"shell", "mcp"})
_FILES: frozenset[Verb] = frozenset({"read", "write", "edit", "notebook"})


class Size(NamedTuple):
    """How much happens at most."""

    sessions: int = 2
    turns: int = 2
    calls: int = 5


SMALL = Size()
"""Small enough that every consistent assignment can be listed."""


class _Step(NamedTuple):
    """An event to come. ``sent`` is False for one that never reaches the log."""

    what: str
    part: Part
    layer: str
    call: TrueCall | None = None
    sent: bool = True
    twice: bool = False
    place: tuple[str, str] | None = None


def conversation(
    choices: Choices, dialect: Dialect, size: Size = SMALL, *, first: int = 0
) -> Conversation:
    """Return a conversation; sessions, calls and events are numbered from ``first``."""
    maker = _Maker(choices, dialect, first)
    count = choices.between(1, size.sessions)
    sessions = [maker.session(size) for _ in range(count)]
    return maker.told(sessions)


def conversations(
    dialect: str, seed: int, events: int, *, at_once: int = 8
) -> Iterator[Conversation]:
    """Yield conversations of several sessions each until so many events have arrived."""
    choices = Choices(Seeded(seed))
    size = Size(sessions=at_once, turns=3, calls=7)
    first = told = 0
    while told < events:
        made = conversation(choices, BY_NAME[dialect], size, first=first)
        first += 1_000_000
        told += len(made.arrived)
        yield made


def some_late(told: Conversation, choices: Choices) -> Conversation:
    """Return the conversation with some ends that arrive when their turn is over.

    What comes late was as good as lost when its turn was judged.
    """
    arrived = list(told.arrived)
    late: set[int] = set()
    for happening in told.arrived:
        if happening.part not in _MAY_COME_LATE or not choices.chance(30):
            continue
        after = [
            place
            for place, other in enumerate(arrived)
            if other.part == "prompt"
            and other.session == happening.session
            and other.turn > happening.turn
        ]
        if after:
            arrived.remove(happening)
            arrived.insert(choices.between(after[0], len(arrived)), happening)
            late.add(happening.key)
    return told._replace(arrived=tuple(arrived), late=frozenset(late))


_MAY_COME_LATE: frozenset[Part] = frozenset({"post", "failure", "after", "subagent-stop"})
"""What comes last of its call or layer: nothing that was caused by it comes before it."""


class _Maker:
    """One conversation in the making."""

    def __init__(self, choices: Choices, dialect: Dialect, first: int) -> None:
        self._choices = choices
        self._dialect = dialect
        self._numbers = itertools.count(first)
        self._manner = Manner(
            sandbox=not choices.chance(30),
            remote=choices.chance(30),
            folded=not choices.chance(30),
            encoded_arguments=choices.chance(30),
        )
        self._loss = choices.among((0, 0, 8, 25))
        self._missing = frozenset(
            what for what in ("before", "after", "file") if choices.chance(12)
        )
        self._silent = choices.among((0, 0, 0, 15))
        self._windows = choices.chance(30)
        self._ends = choices.chance(50)

    # Sessions and turns

    def session(self, size: Size) -> list[tuple[int, int, _Step]]:
        """Return a session's steps in their true order, each with its session and turn."""
        number = next(self._numbers)
        steps: list[tuple[int, int, _Step]] = []
        earlier: list[TrueCall] = []
        turns = self._choices.between(1, size.turns)
        start = _Step("session-start", "boundary", "none")
        late = self._dialect.agent == "copilot" and self._choices.chance(50)
        if not late:
            steps.append((number, 0, start))
        for turn in range(turns):
            steps.append((number, turn, _Step("prompt", "prompt", "none")))
            if late and turn == 0:
                steps.append((number, 0, start))
            steps += ((number, turn, step) for step in self._turn(size, earlier))
            if not self._choices.chance(20):
                steps.append((number, turn, _Step("turn-end", "boundary", "none")))
        if self._ends:
            steps.append((number, turns - 1, _Step("session-end", "boundary", "none")))
        return steps

    def _turn(self, size: Size, earlier: list[TrueCall]) -> Iterator[_Step]:
        """Yield a turn's steps: its calls run beside each other."""
        of_before = len(earlier)
        threads: list[list[_Step]] = []
        for _ in range(self._choices.between(0, size.calls)):
            threads.append(self._thread(self._call(earlier, of_before), depth=0))
        if self._choices.chance(30):
            threads.append(
                [_Step("thought", "remark", "none"), _Step("response", "remark", "none")]
            )
        yield from self._beside_each_other(threads)

    def _beside_each_other(self, threads: Sequence[list[_Step]]) -> Iterator[_Step]:
        waiting = [iter(thread) for thread in threads]
        while waiting:
            place = self._choices.below(len(waiting))
            step = next(waiting[place], None)
            if step is None:
                waiting.pop(place)
            else:
                yield step

    # Calls

    def _call(self, earlier: list[TrueCall], of_before: int, agent: str | None = None) -> TrueCall:
        """Return a new call, which may have much in common with an earlier one."""
        choices = self._choices
        number = next(self._numbers)
        twin = choices.among(earlier) if earlier and choices.chance(40) else None
        if twin is not None and twin.verb != "task":
            call = twin._replace(number=number, agent=agent)
        else:
            call = self._fresh(number, agent)
        call = call._replace(
            id=self._id(call, earlier, of_before),
            silence=self._silence(),
            changed=self._dialect.ids == "unique" and choices.chance(5),
        )
        earlier.append(call)
        return call

    def _silence(self) -> Silence:
        if not self._choices.chance(self._silent):
            return "says all"
        silence = self._choices.among(_SILENCES)
        # Without its turn's id an event of a dialect that has such ids belongs to no turn.
        names_turns = self._dialect.agent == "cursor"
        return "says all" if silence == "no turn" and not names_turns else silence

    def _id(self, call: TrueCall, earlier: Sequence[TrueCall], of_before: int) -> str | None:
        match self._dialect.ids:
            case "none":
                return None
            case "unique":
                return f"toolu_{call.number:08}"
            case "shared":
                reusable = call.verb != "task"
                if reusable and earlier and self._choices.chance(45):
                    shared = self._choices.among(earlier).id
                    taken = any(
                        other.id == shared and other.name == call.name and other.input == call.input
                        for other in earlier[of_before:]
                    )
                    if not (taken and call.verb in self._dialect.redelivers):
                        return shared
                if call.verb in _LAYERED:
                    return _uuid("c", call.number)
                return f"call-{_uuid('c', call.number)}-0\nfc_{_uuid('f', call.number)}_0"

    def _fresh(self, number: int, agent: str | None) -> TrueCall:
        choices = self._choices
        verb = choices.among(tuple(self._dialect.tools))
        name = self._dialect.tools[verb]
        given: dict[str, Any] = {}
        where = WORKSPACE
        server = None
        match verb:
            case "shell":
                given["command"] = choices.among(_COMMANDS)
                where = self._directory(given)
                if choices.chance(15):
                    given["timeout"] = choices.among((30000, 30000.0))
            case "mcp":
                server = choices.among(_SERVERS)
                tool = choices.among(("stacks", "strings"))
                name += tool if name == "MCP:" else f"{server}__{tool}"
                given |= choices.among(_ARGUMENTS)
            case "read" | "write" | "edit":
                spellings = ("file_path", "path") if self._dialect.layers else ("file_path",)
                key = choices.among(spellings)
                given[key] = choices.among(_PATHS)
                if verb == "write":
                    given["content"] = "x"
            case "notebook":
                given["target_notebook"] = choices.among(_PATHS)
            case "search" | "web":
                given |= {"pattern": choices.among(("todo", "TODO")), "glob": "**/*"}
            case "task":
                given |= {"description": "look", "prompt": choices.among(("here", "there"))}
                agent = _uuid("a", number)
        return TrueCall(number, verb, name, None, given, where, server, agent)

    def _directory(self, given: dict[str, Any]) -> str:
        """Let a shell call name its directory, or not; return where it runs."""
        place = "C:\\W\\sub" if self._windows else "/srv/project/sub"
        match self._choices.below(4):
            case 0:
                given["cwd"] = ""
            case 1:
                given["cwd"] = place
                return "c:/w/Sub/" if self._windows and self._manner.folded else place
            case 2:
                given["working_directory"] = place
                return place
            case _:
                pass
        return WORKSPACE

    # What comes of a call

    def _thread(self, call: TrueCall, depth: int) -> list[_Step]:
        choices = self._choices
        failed = choices.chance(25)
        again = failed and call.verb != "task" and choices.chance(60)
        steps = self._attempt(call, depth, failed=failed)
        if choices.chance(10):
            steps = self._broken_off(steps)
        elif again:
            steps += self._attempt(self._retried(call), depth, failed=choices.chance(20))
        return [self._maybe_lost(step) for step in steps]

    def _retried(self, call: TrueCall) -> TrueCall:
        """Return the same call, made once more: the id too, where ids are not unique."""
        number = next(self._numbers)
        if self._dialect.ids == "unique":
            return call._replace(number=number, id=f"toolu_{number:08}")
        if self._dialect.ids == "shared" and call.verb in self._dialect.redelivers:
            return call._replace(number=number, id=_uuid("c", number))
        return call._replace(number=number)

    def _attempt(self, call: TrueCall, depth: int, *, failed: bool) -> list[_Step]:
        choices = self._choices
        twice = call.verb in self._dialect.redelivers and choices.chance(25)
        steps = [_Step("pre", "pre", "call", call, twice=twice)]
        if "permission" in self._dialect.events and call.verb != "task" and choices.chance(25):
            steps.append(_Step("permission", "permission", "call", call))
        if self._dialect.layers and call.verb in _LAYERED:
            steps.append(_Step("before", "before", call.verb, call))
            # A call may fail before its command has run to an end.
            cut = failed and choices.chance(50)
            steps.append(_Step("after", "after", call.verb, call, sent=not cut))
        if self._dialect.layers and call.verb in _FILES:
            steps.append(_Step("file", "file", "file", call, sent=not failed))
        if call.verb == "task" and self._dialect.subagents:
            steps += self._subagent(call, depth)
        if failed and self._dialect.failures:
            steps.append(_Step("failure", "failure", "call", call))
        else:
            steps.append(_Step("post", "post", "call", call, sent=not failed))
        return steps

    def _subagent(self, call: TrueCall, depth: int) -> Iterator[_Step]:
        yield _Step("subagent-start", "subagent-start", "subagent", call)
        earlier: list[TrueCall] = []
        place = None
        if self._dialect.agent == "cursor":
            place = (_uuid("d", call.number), _uuid("e", call.number))
        count = self._choices.between(0, 2) if depth < 1 else 0
        threads = [
            self._thread(self._call(earlier, 0, call.agent), depth + 1) for _ in range(count)
        ]
        for step in self._beside_each_other(threads):
            yield step if step.place is not None else step._replace(place=place)
        yield _Step("subagent-stop", "subagent-stop", "subagent", call)

    def _broken_off(self, steps: list[_Step]) -> list[_Step]:
        """Return the steps of which only the first ones were ever sent."""
        reached = self._choices.between(1, len(steps) - 1)
        return [
            step if place < reached else step._replace(sent=False)
            for place, step in enumerate(steps)
        ]

    def _maybe_lost(self, step: _Step) -> _Step:
        if step.what in self._missing or self._choices.chance(self._loss):
            return step._replace(sent=False)
        return step

    # The telling

    def told(self, sessions: Sequence[Sequence[tuple[int, int, _Step]]]) -> Conversation:
        """Return the sessions beside each other, as events."""
        arrived: list[Happening] = []
        lost: list[Happening] = []
        waiting = [iter(session) for session in sessions]
        tick = 0
        keys = itertools.count()
        while waiting:
            place = self._choices.below(len(waiting))
            following = next(waiting[place], None)
            if following is None:
                waiting.pop(place)
                continue
            session, turn, step = following
            tick += self._choices.among((40, 0, 3, 900))
            happening = self._happening(next(keys), session, turn, step, tick)
            if happening is None:
                continue
            (arrived if step.sent else lost).append(happening)
            if step.twice and step.sent:
                tick += 1
                arrived.append(happening._replace(key=next(keys), tick=tick, again=happening.key))
        bare = self._dialect.agent == "cursor" and self._choices.chance(20)
        return Conversation(
            self._dialect.agent, self._dialect.name, tuple(arrived), tuple(lost), bare
        )

    def _happening(
        self, key: int, session: int, turn: int, step: _Step, tick: int
    ) -> Happening | None:
        own = (_uuid("5", session), _uuid(f"7{turn:x}", session))
        words = Place(*(step.place or own), tick)
        told = self._dialect.payload(step.what, words, self._manner, step.call)
        if told is None:
            return None
        return Happening(
            key=key,
            part=step.part,
            layer=step.layer,
            session=session,
            turn=turn,
            call=None if step.call is None else step.call.number,
            event=told[0],
            payload=told[1],
            tick=tick,
        )


def _uuid(mark: str, number: int) -> str:
    return f"{mark:0<8}-{number >> 32 & 0xFFFF:04x}-4000-8000-{number & 0xFFFFFFFF:012x}"
