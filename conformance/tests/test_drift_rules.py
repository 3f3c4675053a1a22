"""Each rule of drift is found in a pair of sides made for it: just that, and just its mirror back.

The sides are small corpora of real shape, so that what is tested is the whole way from the files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conformance import drift
from conformance.corpus import Case, load_case
from conformance.drift.comparing import changes
from conformance.drift.findings import Change
from conformance.drift.rules import RULES
from conformance.drift.sides import Side
from conformance.offered import load as load_offered
from live.resume_rules import Effect

MAIN = ".claude/projects/-srv-project/00000001-db1b-4aa7-8e76-cb5c5c64abac.jsonl"
ROLLOUT = (
    ".codex/sessions/2026/01/05/"
    "rollout-2026-01-05T10-00-00-019b8d99-6901-7db1-8baa-7e76cb5c5c64.jsonl"
)


class Made(NamedTuple):
    """One side of a pair: what a release left of one scenario, and what else is known of it."""

    records: Sequence[Mapping[str, Any]] = ()
    files: Mapping[str, str] = {}
    cannot: Mapping[str, str] = {}
    resumes: Mapping[str, Effect] | None = None
    offered: frozenset[str] | None = None
    unrecorded: Sequence[str] = ()
    forgets: Sequence[int] = ()


class Pair(NamedTuple):
    """Two sides that differ in one thing, and what must be told of it."""

    rule: str
    before: Made
    after: Made
    told: tuple[tuple[str, str, str], ...]
    agent: str = "claude"


def _one(rule: str, before: Any, after: Any, place: str, was: str, now: str) -> Pair:
    """Return a pair of sides of one record each that differ in what stands at ``value``."""
    rows = [{"type": "mode", "sessionId": "x"} | value for value in (before, after)]
    return Pair(rule, Made([rows[0]]), Made([rows[1]]), ((place, was, now),))


def _two(rule: str, before: Sequence[Any], after: Sequence[Any], *told: str) -> Pair:
    rows = [[{"type": "mode", "sessionId": "x"} | one for one in rows] for rows in (before, after)]
    place, was, now = told
    return Pair(rule, Made(rows[0]), Made(rows[1]), ((place, was, now),))


def _answer(number: int, response: str, parent: int | None) -> dict[str, Any]:
    return {
        "type": "assistant",
        "uuid": f"u{number}",
        "parentUuid": None if parent is None else f"u{parent}",
        "message": {"id": response, "content": []},
    }


def _asked(*types: str) -> dict[str, Any]:
    content = [{"type": one} for one in types]
    return {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": content},
    }


def _said(text: str) -> dict[str, Any]:
    return {"type": "summary", "summary": text}


SAME = [{"type": "mode", "sessionId": "x"}]
FLAT = {"type": "message", "role": "user", "content": "hello", "id": "m", "end": True}
RICH = {"one": 1, "two": "2", "three": [3], "four": {"five": 5}}

PAIRS = (
    Pair("file-added", Made(SAME), Made(SAME, {".claude/projects/-srv-project/x.pollen": "{}"}),
         (("file:.claude/projects/-srv-project/x.pollen", "",
           ".claude/projects/-srv-project/x.pollen"),)),
    Pair("file-moved",
         Made(SAME, {".claude/projects/-srv-project/agent-a0001f1.jsonl": json.dumps(SAME[0])}),
         Made(SAME, {".claude/projects/-srv-project/sub/agent-a0001f1.jsonl": json.dumps(SAME[0])}),
         (("file:.claude/projects/-srv-project/agent-{hex}.jsonl",
           ".claude/projects/-srv-project/agent-{hex}.jsonl",
           ".claude/projects/-srv-project/sub/agent-{hex}.jsonl"),)),
    Pair("kind-added", Made(SAME), Made([*SAME, {"type": "pollen", "a": 1}]),
         (("pollen", "", "pollen"),)),
    Pair("kind-renamed", Made([*SAME, {"type": "pollen", **RICH}]),
         Made([*SAME, {"type": "nectar", **RICH}]), (("pollen", "pollen", "nectar"),)),
    Pair("kind-wrapped", Made([FLAT]), Made([{"type": "response_item", "payload": FLAT}]),
         (("flat/message:user", "flat/message:user", "response_item/message:user#/payload"),),
         "codex"),
    Pair("shape-added", Made([_asked("input_text")]), Made([_asked("input_text", "input_image")]),
         (("response_item/message:user#/payload/content/*", "", "input_image"),), "codex"),
    _one("field-added", {}, {"mode": "plan"}, "mode#/mode", "", "string"),
    _one("field-renamed", {"sessionName": {"a": 1, "b": 2}}, {"session_name": {"a": 1, "b": 2}},
         "mode#/sessionName", "sessionName", "session_name"),
    _one("field-moved", {"count": 3, "in": {}}, {"in": {"count": 3}},
         "mode#/count", "mode#/count", "mode#/in/count"),
    _two("field-became-optional", [{"a": 1}, {"a": 2}], [{"a": 1}, {}],
         "mode#/a", "always", "sometimes"),
    _two("became-nullable", [{"a": 1}, {"a": 2}], [{"a": 1}, {"a": None}],
         "mode#/a", "integer", "integer or null"),
    _two("type-widened", [{"a": 1}, {"a": 2}], [{"a": 1}, {"a": "x"}],
         "mode#/a", "integer", "integer or string"),
    _one("type-changed", {"a": 1}, {"a": [1]}, "mode#/a", "integer", "array"),
    _two("word-added", [{"level": "low"}, {"level": "low"}], [{"level": "low"}, {"level": "high"}],
         "mode#/level", "", "high"),
    _one("encoding-changed", {"at": "2026-01-05T10:00:00Z"}, {"at": "2026-01-05T10:00:00.000Z"},
         "mode#/at", "date-time", "date-time.3"),
    Pair("link-changed", Made([_answer(1, "r", None), _answer(2, "s", 1), _answer(3, "t", 2)]),
         Made([_answer(1, "r", None), _answer(2, "s", 1), _answer(3, "t", 1)]),
         (("order:assistant[empty]#/parentUuid", "nothing or the record before",
           "an earlier record or nothing or the record before"),)),
    Pair("grouping-changed", Made([_answer(1, "r", None), _answer(2, "s", 1)]),
         Made([_answer(1, "r", None), _answer(2, "r", 1)]),
         (("order:message.id", "one record", "several records"),)),
    Pair("wording-added", Made([_said("3")]), Made([_said("Exit code 3")]),
         (("wording:'Exit code'", "", "'Exit code'"),)),
    Pair("wording-changed", Made([_said("<status>completed</status>")]),
         Made([_said("<status>failed</status>")]),
         (("wording:'<status>completed</status>'", "'<status>completed</status>'",
           "'<status>failed</status>'"),)),
    Pair("numbering-changed", Made([_said("1\tsow\n2\treap")]), Made([_said("sow\nreap")]),
         (("wording:numbers of lines", repr("1\t"), "no numbers"),)),
    Pair("value-lost", Made(SAME), Made(SAME, unrecorded=["exit_code"]),
         (("kept:CommandExecution.exit_code", "", "CommandExecution.exit_code"),)),
    Pair("tool-added", Made(SAME, offered=frozenset({"Bash"})),
         Made(SAME, offered=frozenset({"Bash", "Task"})), (("tool:Task", "", "Task"),)),
    Pair("scenario-became-impossible", Made(SAME, cannot={}),
         Made(cannot={"made": "no such tool"}), (("scenario:made", "", "no such tool"),)),
    Pair("resume-tightened", Made(SAME, resumes={"crlf": "full"}),
         Made(SAME, resumes={"crlf": "silent"}), (("resume:crlf", "full", "silent"),)),
    Pair("resume-forgets", Made(SAME), Made(SAME, forgets=[0]),
         (("resume:what the CLI itself recorded in made", "", "1 CommandExecution"),)),
)  # fmt: skip


# ------------------------------------------------------------------ made


def made(root: Path, release: str, agent: str, one: Made) -> Side:
    """Return a side whose case lies on the disk as a recorded one does."""
    cases: dict[str, Case] = {}
    if one.records or one.files:
        directory = root / agent / release / "made"
        main = {"claude": MAIN, "codex": ROLLOUT}[agent]
        lines = "".join(f"{json.dumps(row)}\n" for row in one.records)
        files = ({main: lines} if one.records else {}) | dict(one.files)
        for name, text in files.items():
            path = directory / "home" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        _write(directory / "case.json", _facts(agent, release, files, one))
        _write(
            directory / "truth.json",
            {
                "format": 1,
                "agent": agent,
                "release": release,
                "scenario": "made",
                "revision": 1,
                "messages": [{"kind": "CommandExecution"}],
            },
        )
        cases["made"] = load_case(directory, root)
    return Side(agent, release, cases, one.cannot, one.resumes, one.offered)


def _facts(agent: str, release: str, files: Mapping[str, str], one: Made) -> dict[str, Any]:
    return {
        "format": 1,
        "agent": agent,
        "release": release,
        "integrity": "sha512-made",
        "platform": {"os": "linux", "arch": "x86_64"},
        "scenario": "made",
        "revision": 1,
        "sanitiser": 1,
        "sealed": True,
        "session_id": "x",
        "session_path": next(iter(files)),
        "cwd": "/srv/project",
        "files": dict.fromkeys(files, ""),
        "unrecorded": [
            {"message": 0, "fields": [field], "why": "made", "proof": None}
            for field in one.unrecorded
        ],
        "resumed": True,
        "forgets": list(one.forgets),
    }


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def told(root: Path, agent: str, before: Made, after: Made) -> list[Change]:
    return list(changes(made(root, "1.0.0", agent, before), made(root, "2.0.0", agent, after)))


# ------------------------------------------------------------------ the tests


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.rule)
def test_a_rule_finds_what_was_made_for_it_and_nothing_else(pair: Pair, tmp_path: Path) -> None:
    found = told(tmp_path, pair.agent, pair.before, pair.after)
    expected = [(pair.rule, *one) for one in pair.told]
    assert sorted((one.rule, one.place, one.before, one.after) for one in found) == sorted(expected)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.rule)
def test_swapped_sides_find_the_mirror(pair: Pair, tmp_path: Path) -> None:
    found = told(tmp_path / "1", pair.agent, pair.before, pair.after)
    back = told(tmp_path / "2", pair.agent, pair.after, pair.before)
    mirrored = sorted((RULES[one.rule].mirror, one.after, one.before) for one in found)
    assert sorted((one.rule, one.before, one.after) for one in back) == mirrored


def test_of_what_was_measured_on_one_side_only_nothing_is_said(tmp_path: Path) -> None:
    measured = Made(SAME, resumes={"crlf": "full"}, offered=frozenset({"Bash"}))
    assert told(tmp_path / "1", "claude", Made(SAME), measured) == []
    assert told(tmp_path / "2", "claude", measured, Made(SAME)) == []
    assert load_offered(tmp_path) is None


def test_every_rule_has_a_pair_of_its_own_or_its_mirror_has() -> None:
    rules = {pair.rule for pair in PAIRS}
    assert RULES.keys() == rules | {RULES[rule].mirror for rule in rules}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_is_found_by_the_module_that_it_names(rule: Any) -> None:
    module = Path(drift.__file__).with_name(f"{rule.found_by}.py")
    assert f'"{rule.id}"' in module.read_text("utf-8")


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_has_its_mirror_with_severities_swapped_or_says_why_not(rule: Any) -> None:
    mirror = RULES[rule.mirror]
    assert mirror.mirror == rule.id
    swapped = (mirror.writer, mirror.reader) == (rule.reader, rule.writer)
    assert swapped == (rule.waiver is None)
