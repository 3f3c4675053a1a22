"""A slow and simple correlator of hook events, and the same one broken on purpose.

It shares no code with the one that users run, nor with the oracle: what it decides it decides by
the best total that is possible with and without a link. Each sin is one mistake that somebody
has made, or will; the checks must tell them all apart from the sinless one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

Sin = Literal[
    "arrival-order",
    "lifo",
    "id-only",
    "first-candidate",
    "tie-picks-first",
    "any-best-assignment",
    "never-takes-back",
    "lone-candidate",
    "missing-field-rejects",
    "differing-field-weighs-nothing",
    "empty-string-is-evidence",
    "numbers-normalised",
    "case-folded",
    "case-kept-on-windows",
    "keys-not-sorted",
    "arrays-sorted",
    "encoded-input-kept",
    "inner-strings-parsed",
    "newlines-kept",
    "failure-keeps-waiting",
    "failure-closes-nothing",
    "no-fallback-to-the-call",
    "across-turns",
    "suffix-makes-a-turn",
    "subagent-of-any-tool",
    "redelivery-everywhere",
    "redelivery-nowhere",
    "bad-lines-swallowed",
    "unknown-dropped",
    "late-reopens-its-turn",
    "orphan-dropped",
    "orphan-not-listed",
    "orphan-at-the-session",
    "durations-added",
    "touching-is-parallel",
    "waves-by-arrival",
]
SINS: tuple[Sin, ...] = get_args(Sin)

_KINDS = {
    "preToolUse": "pre",
    "PreToolUse": "pre",
    "postToolUse": "post",
    "PostToolUse": "post",
    "postToolUseFailure": "failure",
    "PostToolUseFailure": "failure",
    "beforeShellExecution": "shell-before",
    "afterShellExecution": "shell-after",
    "beforeMCPExecution": "mcp-before",
    "afterMCPExecution": "mcp-after",
    "beforeReadFile": "read-file",
    "afterFileEdit": "edit-file",
    "PermissionRequest": "permission",
    "subagentStart": "subagent-start",
    "SubagentStart": "subagent-start",
    "subagentStop": "subagent-stop",
    "SubagentStop": "subagent-stop",
    "beforeSubmitPrompt": "prompt",
    "userPromptSubmitted": "prompt",
    "UserPromptSubmit": "prompt",
    "afterAgentThought": "remark",
    "afterAgentResponse": "remark",
    "stop": "turn-end",
    "Stop": "turn-end",
    "agentStop": "turn-end",
    "sessionStart": "session",
    "SessionStart": "session",
    "sessionEnd": "session-end",
    "SessionEnd": "session-end",
}
_SHELL = {"command": 100, "cwd": 20, "sandbox": 5}
_MCP = {"input": 100, "server": 40, "url": 30, "tool": 20}
_ENDS = frozenset({"post", "failure"})
_REDELIVERED = frozenset({"Read", "Grep"})
_PARENTS = {"end": "end", "stop": "stop", "again": "redelivery"}
_AGENTS = frozenset({"Task"})

Show = Mapping[str, Any]
Tree = dict[str, Any]


class _Event(NamedTuple):
    line: int
    kind: str
    session: str
    turn: Any
    payload: Show
    at: datetime
    name: str | None
    id: str | None
    shows: Show


class _Link(NamedTuple):
    end: int
    start: int
    role: str


class _Raw(str):
    """A number by its text."""


def _row(line: bytes) -> Show | None:
    try:
        row: Any = json.loads(line, parse_int=_Raw, parse_float=_Raw)
    except ValueError:
        return None
    if not isinstance(row, dict):
        return None
    return row if row.get("payload", row) and "fault" not in row else None


class NaiveCorrelator:
    """Correlates the lines of a log, with one sin or with none."""

    def __init__(self, sin: Sin | None = None) -> None:
        self._sin: Sin | None = sin

    def __call__(self, lines: Sequence[bytes], agent: str) -> Tree:
        """Return the tree of a log."""
        bad: list[dict[str, Any]] = []
        rows: list[tuple[int, Show]] = []
        for number, line in enumerate(lines, start=1):
            row = _row(line)
            if row is not None:
                rows.append((number, row))
            elif self._sin != "bad-lines-swallowed":
                bad.append({"line": number, "why": "no event"})
        events = self._events(rows, agent)
        links = self._links(events, agent)
        return {**_Drawing(self._sin, events, links).tree, "bad_lines": bad}

    # Reading

    def _events(self, rows: Iterable[tuple[int, Show]], agent: str) -> list[_Event]:
        events: list[_Event] = []
        prompts: dict[str, int] = {}
        for number, row in rows:
            payload = row.get("payload", row)
            name = payload.get("hook_event_name") or row.get("event")
            session = (
                payload.get("conversation_id") or payload.get("session_id") or payload["sessionId"]
            )
            kind = _KINDS.get(str(name), "other")
            if kind == "other" and self._sin == "unknown-dropped":
                continue
            if kind == "prompt":
                prompts[session] = prompts.get(session, 0) + 1
            events.append(
                _Event(
                    number,
                    kind,
                    session,
                    self._turn(payload, prompts.get(session, 0)),
                    payload,
                    datetime.fromisoformat(row["observed_at"]),
                    payload.get("tool_name", payload.get("toolName")),
                    self._id(kind, payload, agent),
                    self._shows(payload),
                )
            )
        return events

    def _turn(self, payload: Show, prompts: int) -> Any:
        native = payload.get("generation_id") or payload.get("prompt_id") or payload.get("turn_id")
        if native is None:
            return "none" if "generation_id" in payload else prompts
        return native if self._sin == "suffix-makes-a-turn" else native[:36]

    @staticmethod
    def _id(kind: str, payload: Show, agent: str) -> str | None:
        if kind in ("subagent-start", "subagent-stop"):
            return payload.get("subagent_id" if agent == "cursor" else "agent_id")
        return payload.get("tool_use_id") or None

    def _shows(self, payload: Show) -> Show:
        given = payload.get("tool_input", payload.get("toolArgs"))
        fields = given
        if isinstance(given, str):
            try:
                fields = json.loads(given, parse_int=_Raw, parse_float=_Raw)
            except ValueError:
                fields = {}
        inside: Show = fields if isinstance(fields, dict) else {}
        shown: dict[str, Any] = {
            "input": None if given is None else self._canonical(given),
            "command": self._command(payload.get("command") or inside.get("command")),
            "cwd": self._place(
                inside.get("working_directory"), inside.get("cwd"), payload.get("cwd")
            ),
            "sandbox": payload.get("sandbox"),
            "path": self._place(
                payload.get("file_path"),
                inside.get("file_path"),
                inside.get("path"),
                inside.get("target_notebook"),
            ),
            "server": payload.get("mcp_server_name"),
            "url": payload.get("url"),
            "tool": (payload.get("tool_name") or "").removeprefix("MCP:") or None,
        }
        return {name: value for name, value in shown.items() if value is not None}

    def _command(self, command: str | None) -> str | None:
        if not command:
            return None
        if self._sin == "case-folded":
            command = command.lower()
        if self._sin == "newlines-kept":
            return command
        return command.replace("\r\n", "\n").rstrip("\n")

    def _place(self, *paths: str | None) -> str | None:
        for path in paths:
            if path:
                return self._path(path)
            if path == "" and self._sin == "empty-string-is-evidence":
                return ""
        return None

    def _path(self, path: str) -> str:
        windows = path[1:2] == ":"
        if self._sin == "case-kept-on-windows":
            return path
        if windows or self._sin == "case-folded":
            return path.lower().replace("\\", "/").rstrip("/")
        return path

    def _canonical(self, value: Any) -> str:
        if isinstance(value, str) and self._sin != "encoded-input-kept":
            value = self._decoded(value)
        return self._spelled(value)

    @staticmethod
    def _decoded(text: str) -> Any:
        if text.lstrip()[:1] not in ("{", "["):
            return text
        try:
            return json.loads(text, parse_int=_Raw, parse_float=_Raw)
        except ValueError:
            return text

    def _spelled(self, value: Any) -> str:
        match value:
            case dict():
                named = [
                    f"{json.dumps(name)}:{self._spelled(inside)}" for name, inside in value.items()
                ]
                if self._sin != "keys-not-sorted":
                    named.sort()
                return "{" + ",".join(named) + "}"
            case list():
                items = [self._spelled(inside) for inside in value]
                if self._sin == "arrays-sorted":
                    items.sort()
                return "[" + ",".join(items) + "]"
            case _Raw():
                return repr(float(value)) if self._sin == "numbers-normalised" else str(value)
            case str():
                if self._sin == "inner-strings-parsed":
                    inner = self._decoded(value)
                    if not isinstance(inner, str):
                        return self._spelled(inner)
                return json.dumps(value.lower() if self._sin == "case-folded" else value)
            case _:
                return json.dumps(value)

    # Linking

    def _links(self, events: Sequence[_Event], agent: str) -> list[_Link]:
        links, again = self._second_deliveries(events, agent)
        turns: dict[Any, list[_Event]] = {}
        for event in events:
            if event.line in again or self._is_late(event, events, agent):
                continue
            turn = event.session if self._sin == "across-turns" else (event.session, event.turn)
            turns.setdefault(turn, []).append(event)
        for turn in turns.values():
            links += self._of_turn(turn, agent)
        starts = {(e.session, e.id): e.line for e in events if e.kind == "subagent-start"}
        for event in events:
            if event.kind == "subagent-stop" and (event.session, event.id) in starts:
                links.append(_Link(event.line, starts.pop((event.session, event.id)), "stop"))
        return links + self._spawns(events, agent)

    def _spawns(self, events: Sequence[_Event], agent: str) -> list[_Link]:
        """Return which call started which subagent, where a subagent has its call's id."""
        links: list[_Link] = []
        for event in events:
            if agent == "cursor" and event.kind == "subagent-start":
                calls = [
                    call.line
                    for call in events
                    if (call.kind, call.session, call.id) == ("pre", event.session, event.id)
                    and (call.name in _AGENTS or self._sin == "subagent-of-any-tool")
                ]
                links += [_Link(event.line, call, "spawn") for call in calls[:1]]
        return links

    def _is_late(self, event: _Event, events: Sequence[_Event], agent: str) -> bool:
        """Whether an event comes after its turn was over, and only evidence could place it."""
        if self._sin == "late-reopens-its-turn" or (event.id and agent != "cursor"):
            return False
        return any(
            other.kind in ("prompt", "session-end")
            and other.session == event.session
            and other.line < event.line
            and other.turn != event.turn
            and any(
                (earlier.session, earlier.turn) == (event.session, event.turn)
                for earlier in events
                if earlier.line < other.line
            )
            for other in events
            if event.turn != "none"
        )

    def _second_deliveries(
        self, events: Sequence[_Event], agent: str
    ) -> tuple[list[_Link], set[int]]:
        known: dict[str, int] = {}
        links: list[_Link] = []
        everywhere = self._sin == "redelivery-everywhere"
        if self._sin == "redelivery-nowhere" or (agent != "cursor" and not everywhere):
            return links, set()
        for event in events:
            if event.kind == "pre" and (everywhere or event.name in _REDELIVERED):
                payload = {k: v for k, v in event.payload.items() if k != "observed_at"}
                first = known.setdefault(json.dumps(payload), event.line)
                if first != event.line:
                    links.append(_Link(event.line, first, "again"))
        return links, {link.end for link in links}

    def _of_turn(self, events: Sequence[_Event], agent: str) -> list[_Link]:
        of_kind: dict[str, list[_Event]] = {}
        for event in events:
            of_kind.setdefault(event.kind, []).append(event)
        calls = of_kind.get("pre", [])
        ends = [event for event in events if event.kind in _ENDS]
        ended = self._match(ends, calls, self._end_score(agent))
        closed = {start: end for end, start in ended.items()}
        failed = {
            closed[s]
            for s in closed
            if any(e.line == closed[s] and e.kind == "failure" for e in ends)
        }
        links = [_Link(end, start, "end") for end, start in ended.items()]

        def is_open(inner: _Event, call: _Event) -> bool:
            if self._sin == "failure-closes-nothing" and closed.get(call.line) in failed:
                return True
            return inner.line < closed.get(call.line, inner.line + 1)

        def is_not_failed(inner: _Event, call: _Event) -> bool:
            return closed.get(call.line) not in failed or is_open(inner, call)

        for layer, weights in (("shell", _SHELL), ("mcp", _MCP)):
            owner = (lambda call: call.name == "Shell") if layer == "shell" else _is_mcp
            below = self._layer(
                of_kind.get(f"{layer}-before", []),
                of_kind.get(f"{layer}-after", []),
                [call for call in calls if owner(call)],
                weights,
                (closed, failed, is_open, is_not_failed),
            )
            links += below
        requests = self._match(of_kind.get("permission", []), calls, self._request_score(is_open))
        links += [_Link(end, start, "permission") for end, start in requests.items()]
        for kind, owners, reached in (
            ("read-file", ("Read",), is_open),
            ("edit-file", ("Write", "StrReplace", "EditNotebook"), is_not_failed),
        ):
            above = [call for call in calls if call.name in owners]
            files = self._match(of_kind.get(kind, []), above, self._scorer({"path": 100}, reached))
            links += [_Link(end, start, "file") for end, start in files.items()]
        return links

    def _layer(
        self,
        befores: Sequence[_Event],
        afters: Sequence[_Event],
        calls: Sequence[_Event],
        weights: Mapping[str, int],
        state: tuple[dict[int, int], set[int], _Reached, _Reached],
    ) -> list[_Link]:
        closed, failed, is_open, is_not_failed = state
        owned = self._match(befores, calls, self._scorer(weights, is_open))

        def waits(after: _Event, before: _Event) -> bool:
            if self._sin in ("failure-keeps-waiting", "failure-closes-nothing"):
                return True
            end = closed.get(owned.get(before.line, 0))
            return end not in failed or after.line < (end or 0)

        within_scorer = self._scorer(weights, waits)
        within = self._match(afters, befores, within_scorer)
        links = [_Link(end, start, "before") for end, start in owned.items()]
        links += [_Link(end, start, "after") for end, start in within.items()]
        if self._sin == "no-fallback-to-the-call":
            return links
        alone = [
            after
            for after in afters
            if not any(
                before.line < after.line and within_scorer(after, before) is not None
                for before in befores
            )
        ]
        free = [call for call in calls if call.line not in owned.values()]
        direct = self._match(alone, free, self._scorer(weights, is_not_failed))
        return links + [_Link(end, start, "after") for end, start in direct.items()]

    def _end_score(self, agent: str) -> _Score:
        def score(end: _Event, start: _Event) -> int | None:
            if self._sin == "id-only" and agent == "cursor":
                return 1 if end.id and end.id == start.id else None
            if end.name is None or end.name != start.name or end.id != start.id:
                return None
            if end.id is not None and agent != "cursor":
                return 1
            if end.id is None and agent == "cursor":
                return None
            found = self._weigh(end.shows, start.shows, {"input": 100})
            return found if found or agent == "cursor" or self._sin == "lone-candidate" else None

        return score

    def _request_score(self, reached: _Reached) -> _Score:
        """A request for permission has its call's tool and input, and no id."""
        by_input = self._scorer({"input": 100}, reached)

        def score(request: _Event, call: _Event) -> int | None:
            agents = [event.payload.get("agent_id") for event in (request, call)]
            if request.name != call.name or agents[0] != agents[1]:
                return None
            return by_input(request, call)

        return score

    def _scorer(self, weights: Mapping[str, int], reached: _Reached) -> _Score:
        def score(end: _Event, start: _Event) -> int | None:
            if not reached(end, start):
                return None
            found = self._weigh(end.shows, start.shows, weights)
            return found if found or self._sin == "lone-candidate" else None

        return score

    def _weigh(self, one: Show, other: Show, weights: Mapping[str, int]) -> int | None:
        total = 0
        for field, weight in weights.items():
            if field in one and field in other:
                if one[field] == other[field]:
                    total += weight
                elif self._sin != "differing-field-weighs-nothing":
                    return None
            elif field in one and self._sin == "missing-field-rejects":
                return None
        return total

    def _match(
        self, ends: Sequence[_Event], starts: Sequence[_Event], score: _Score
    ) -> dict[int, int]:
        """Return the start of each end that has one."""
        options: dict[int, Mapping[int, int]] = {}
        for end in ends:
            scored = ((start, score(end, start)) for start in starts if start.line < end.line)
            fitting = {start.line: weight for start, weight in scored if weight is not None}
            if fitting:
                options[end.line] = fitting
        greedy = _GREEDY.get(self._sin or "")
        if greedy is not None:
            return _one_by_one(options, greedy)
        chosen: dict[int, int] = {}
        for group in _together(options):
            chosen |= _decided(group, any_will_do=self._sin == "any-best-assignment")
        return chosen


_Score = Callable[[_Event, _Event], int | None]
_Reached = Callable[[_Event, _Event], bool]
_Options = Mapping[int, Mapping[int, int]]


def _is_mcp(call: _Event) -> bool:
    return (call.name or "").startswith("MCP:")


def _unique_best(scores: Mapping[int, int]) -> int | None:
    best = max(scores.values())
    winners = [start for start, score in scores.items() if score == best]
    return winners[0] if len(winners) == 1 else None


_GREEDY: Mapping[str, Callable[[Mapping[int, int]], int | None]] = {
    "arrival-order": min,
    "lifo": max,
    "first-candidate": lambda scores: next(iter(scores)),
    "tie-picks-first": lambda scores: max(scores, key=lambda start: (scores[start], -start)),
    "never-takes-back": _unique_best,
    "id-only": min,
}


def _one_by_one(
    options: _Options, choose: Callable[[Mapping[int, int]], int | None]
) -> dict[int, int]:
    """Give each end, as it comes, a start that no earlier end has taken."""
    found: dict[int, int] = {}
    for end in sorted(options):
        left = {s: score for s, score in options[end].items() if s not in found.values()}
        chosen = choose(left) if left else None
        if chosen is not None:
            found[end] = chosen
    return found


def _together(options: _Options) -> list[dict[int, Mapping[int, int]]]:
    """Return the ends in groups that share no start."""
    groups: list[dict[int, Mapping[int, int]]] = []
    for end, scores in options.items():
        joined: dict[int, Mapping[int, int]] = {end: scores}
        apart: list[dict[int, Mapping[int, int]]] = []
        for group in groups:
            if any(scores.keys() & other.keys() for other in group.values()):
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def _decided(group: _Options, *, any_will_do: bool) -> dict[int, int]:
    """Return the links without which the best total is out of reach."""
    if len(group) == 1:
        ((end, scores),) = group.items()
        best = max(scores.values())
        winners = [start for start, score in scores.items() if score == best]
        return {end: winners[0]} if len(winners) == 1 or any_will_do else {}
    best = _best(group)
    found: dict[int, int] = {}
    rest = {end: dict(scores) for end, scores in group.items()}
    for end, scores in group.items():
        for start in scores:
            without = {
                e: {s: v for s, v in o.items() if (e, s) != (end, start)} for e, o in rest.items()
            }
            if _best(without) < best:
                found[end] = start
            elif any_will_do:
                rest = without
    return found


def _best(group: _Options) -> tuple[int, int]:
    """Return the best total and how many links it takes."""
    ends = sorted(group)

    @cache
    def from_(place: int, taken: frozenset[int]) -> tuple[int, int]:
        if place == len(ends):
            return 0, 0
        best = from_(place + 1, taken)
        for start, score in group[ends[place]].items():
            if start not in taken:
                total, count = from_(place + 1, taken | {start})
                best = max(best, (total + score, count + 1))
        return best

    return from_(0, frozenset())


class _Drawing:
    """The tree of events and links, as the contract shapes it."""

    def __init__(self, sin: Sin | None, events: Sequence[_Event], links: Sequence[_Link]) -> None:
        self._sin: Sin | None = sin
        self._events = {event.line: event for event in events}
        self._links = links
        self._orphans: list[dict[str, Any]] = []
        self.tree = self._tree()

    def _tree(self) -> Tree:
        nodes = {line: self._node(event) for line, event in self._events.items()}
        below: set[int] = set()
        for end, start, role in self._links:
            if role in ("spawn", "permission"):
                nodes[start]["links"].append(_said(end, role))
            elif role in _PARENTS:
                nodes[start]["links"].append(_said(end, _PARENTS[role]))
                below.add(end)
                if role == "end":
                    self._close(nodes[start], self._events[end])
            elif role == "after" and nodes[start]["kind"] in ("shell", "mcp"):
                nodes[start]["links"].append(_said(end, "after"))
                below.add(end)
            else:
                nodes[end]["links"].append(_said(start, role))
                nodes[start]["children"].append(nodes[end])
                below.add(end)
        sessions: dict[str, dict[str, Any]] = {}
        turns: dict[tuple[str, Any], dict[str, Any]] = {}
        for line, event in self._events.items():
            session = sessions.setdefault(
                event.session,
                {"id": event.session, "title": None, "status": None, "nodes": [], "turns": []},
            )
            if line in below:
                continue
            self._hang(nodes[line], event, session, turns)
        for turn in turns.values():
            turn["nodes"] = self._waves(turn["nodes"])
        workspace = {"id": None, "nodes": [], "sessions": list(sessions.values())}
        return {
            "workspaces": [workspace],
            "orphans": [] if self._sin == "orphan-not-listed" else self._orphans,
            "phantoms": [],
            "bad_lines": [],
            "blind_spots": [],
        }

    def _hang(
        self,
        node: dict[str, Any],
        event: _Event,
        session: dict[str, Any],
        turns: dict[tuple[str, Any], dict[str, Any]],
    ) -> None:
        linked = {link.end for link in self._links}
        is_orphan = event.line not in linked and (
            event.kind in (*_ENDS, "permission")
            or event.kind.endswith(("-before", "-after", "-file"))
        )
        if is_orphan:
            if self._sin == "orphan-dropped":
                return
            node["kind"] = "orphan"
            self._orphans.append({"event": event.line, "why": "nothing decides"})
        if event.kind in ("session", "session-end") or (
            is_orphan and self._sin == "orphan-at-the-session"
        ):
            session["nodes"].append(node)
            return
        place = (event.session, event.turn)
        if place not in turns:
            turns[place] = {"id": str(event.turn), "title": "", "status": None, "nodes": []}
            session["turns"].append(turns[place])
        turns[place]["nodes"].append(node)

    def _node(self, event: _Event) -> dict[str, Any]:
        kind = {"pre": "call", "prompt": "prompt", "subagent-start": "subagent"}.get(event.kind)
        if event.kind.endswith(("-before", "-after", "-file")):
            kind = (
                event.kind.split("-", maxsplit=1)[0].replace("read", "file").replace("edit", "file")
            )
        return {
            "event": event.line,
            "kind": kind or ("lifecycle" if event.kind.startswith("session") else "other"),
            "name": event.name,
            "status": None,
            "failure": None,
            "started_at": event.at.isoformat(timespec="microseconds"),
            "ended_at": None,
            "duration_ms": None,
            "duration_source": None,
            "links": [],
            "children": [],
        }

    def _close(self, node: dict[str, Any], end: _Event) -> None:
        node["ended_at"] = end.at.isoformat(timespec="microseconds")
        node["status"] = "failed" if end.kind == "failure" else "completed"

    def _waves(self, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        closed = [n for n in listed if n["kind"] == "call" and n["ended_at"] is not None]
        closed.sort(key=lambda node: node["ended_at"])
        waves: list[list[dict[str, Any]]] = []
        for node in closed:
            touching = [wave for wave in waves if any(self._overlap(node, other) for other in wave)]
            if self._sin == "waves-by-arrival" and touching:
                touching[0].append(node)
                continue
            joined = [member for wave in touching for member in wave]
            waves = [wave for wave in waves if wave not in touching]
            waves.append([*joined, node])
        drawn = [node for node in listed if node not in closed]
        for wave in waves:
            drawn += [self._wave(wave)] if len(wave) > 1 else wave
        return drawn

    def _overlap(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        if self._sin == "touching-is-parallel":
            return one["started_at"] <= other["ended_at"] and other["started_at"] <= one["ended_at"]
        return one["started_at"] < other["ended_at"] and other["started_at"] < one["ended_at"]

    def _wave(self, members: Sequence[dict[str, Any]]) -> dict[str, Any]:
        spans = [
            (datetime.fromisoformat(m["started_at"]), datetime.fromisoformat(m["ended_at"]))
            for m in members
        ]
        first, last = min(s for s, _ in spans), max(e for _, e in spans)
        wall = (last - first).total_seconds() * 1000
        if self._sin == "durations-added":
            wall = sum((e - s).total_seconds() * 1000 for s, e in spans)
        return {
            "event": None,
            "kind": "wave",
            "name": None,
            "status": None,
            "failure": None,
            "started_at": first.isoformat(timespec="microseconds"),
            "ended_at": last.isoformat(timespec="microseconds"),
            "duration_ms": wall,
            "duration_source": "observed",
            "links": [],
            "children": list(members),
        }


def _said(event: int, role: str) -> dict[str, Any]:
    return {"event": event, "role": role, "evidence": [], "score": None, "quality": "heuristic"}
