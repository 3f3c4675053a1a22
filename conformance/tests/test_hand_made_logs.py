"""Hook logs made by hand: what was reasoned of each is what the tree and the summary show."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus import find_corpus
from conformance.handmade import Because, MadeLog, MadeNode, MadeSession, hand_made
from conformance.lint import lint
from conformance.tests.hook_trees import links, node_of, nodes, tree_of
from transcripts.hooks import CaptureLog, find_dialect
from transcripts.hooks.summaries.summarising import summarise
from transcripts.serialise import to_json

LOGS = hand_made(find_corpus())
REASONS: dict[Because, str] = {
    "twins": r"tells them apart|fit it as well|several open calls",
    "no-id": r"no id of a call",
    "nothing-fits": r"^no open call",
    "differs": r"of another tool or turn",
    "no-start": r"start of this subagent is missing",
}

every_log = pytest.mark.parametrize("made", LOGS, ids=lambda made: made.name)


def tree(made: MadeLog) -> dict[str, Any]:
    """Return the tree of a log, as ``hooks tree --format json`` prints it."""
    return tree_of(made.reasoned.agent, made.log.read_bytes().splitlines(keepends=True))


def summary(made: MadeLog) -> dict[str, Any]:
    """Return the summary of a log, as ``hooks summary --format json`` prints it."""
    dialect = find_dialect(made.reasoned.agent)
    return json.loads(to_json(summarise(CaptureLog(made.log, dialect), dialect)))


def sessions(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the sessions of a tree, in whichever workspace."""
    return [one for workspace in tree["workspaces"] for one in workspace["sessions"]]


def events(some: Iterable[dict[str, Any]]) -> Iterator[int]:
    """Yield every event that stands in some nodes, below them, or as a link of theirs."""
    for node in some:
        if node["event"] is not None:
            yield node["event"]
        yield from (link["event"] for link in node["links"])
        yield from events(node["children"])


@every_log
def test_what_belongs_together_is_linked_and_nothing_else(made: MadeLog) -> None:
    shown, reasoned = tree(made), made.reasoned
    assert links(shown) == {(one.event, one.to, one.role) for one in reasoned.links}
    assert {one["event"] for one in shown["orphans"]} == {one.event for one in reasoned.orphans}
    assert tuple(one["event"] for one in shown["phantoms"]) == reasoned.phantoms
    whys = {one["event"]: one["why"] for one in shown["orphans"]}
    for one in reasoned.orphans:
        assert re.search(REASONS[one.because], whys[one.event])


@every_log
def test_each_event_stands_in_its_turn_or_outside_of_all(made: MadeLog) -> None:
    shown, reasoned = tree(made), made.reasoned
    found = {
        one["id"]: (
            one["title"],
            one["status"],
            set(events(one["nodes"])),
            [(t["id"], t["status"], set(events(t["nodes"]))) for t in one["turns"]],
        )
        for one in sessions(shown)
    }
    assert found == {
        one.id: (
            _title(one, found),
            one.status,
            set(one.outside),
            [(turn.id, turn.status, set(turn.events)) for turn in one.turns],
        )
        for one in reasoned.sessions
    }
    titles = {one["id"]: [turn["title"] for turn in one["turns"]] for one in sessions(shown)}
    for one in reasoned.sessions:
        for turn, title in zip(one.turns, titles[one.id], strict=True):
            assert turn.title in (None, title)
    outside = [node for workspace in shown["workspaces"] for node in workspace["nodes"]]
    assert tuple(events(outside)) == reasoned.workspace_events


def _title(session: MadeSession, found: dict[str | None, Any]) -> str | None:
    """Return a session's title; what was not reasoned about a long prompt may be anything."""
    asked = session.title is not None or all(turn.title for turn in session.turns)
    return session.title if asked else found[session.id][0]


@every_log
def test_nodes_show_what_the_payloads_say(made: MadeLog) -> None:
    shown, reasoned = tree(made), made.reasoned
    for one in reasoned.nodes:
        assert _says(node_of(shown, one.event), one)
    for place in reasoned.under:
        below = node_of(shown, place.parent)["children"]
        assert place.event in [node["event"] for node in below]
    waves = [node for node in nodes(shown) if node["kind"] == "wave"]
    found = {
        tuple(sorted(child["event"] for child in wave["children"])): wave["duration_ms"]
        for wave in waves
    }
    wanted = {tuple(sorted(wave.calls)): wave.wall_ms for wave in reasoned.waves}
    assert found == pytest.approx(wanted)
    unknown = {(one["event"], one["known"], tuple(one["fields"])) for one in shown["unknown"]}
    assert unknown == {(one.event, one.known, one.fields) for one in reasoned.unknown}


def _says(node: dict[str, Any], one: MadeNode) -> bool:
    asked = json.loads(to_json(one))
    del asked["event"]
    shown = {**node, "failure": (node["failure"] or {}).get("type")}
    return {name: shown[name] for name in asked} == asked


@every_log
def test_the_summary_counts_what_was_reasoned(made: MadeLog) -> None:
    found = {one["id"]: one for one in summary(made)["sessions"]}
    assert list(found) == [one.id for one in made.reasoned.sessions]
    for one in made.reasoned.sessions:
        shown = found[one.id]
        if one.summary is not None:
            assert _figures(shown["summary"]) == _figures(one.summary)
        turns = {turn["id"]: turn["summary"] for turn in shown["turns"]}
        for turn in one.turns:
            if turn.summary is not None:
                assert _figures(turns[turn.id]) == _figures(turn.summary)


def _figures(summary: Any) -> dict[str, Any]:
    """Return figures to compare: times to the microsecond, tools in whichever order."""
    told: dict[str, Any] = dict(summary)
    if told["wall_ms"] is not None:
        told["wall_ms"] = round(told["wall_ms"], 3)
    for name in ("tools", "mcp_tools"):
        rows = [
            {**row, "duration_ms": row["duration_ms"] and round(row["duration_ms"], 3)}
            for row in told[name]
        ]
        told[name] = sorted(rows, key=lambda row: row["name"])
    return told


def test_every_event_of_both_harnesses_is_in_a_log() -> None:
    for agent in ("cursor", "vscode"):
        seen = {
            json.loads(line)["event"]
            for made in LOGS
            if made.reasoned.agent == agent
            for line in made.log.read_bytes().splitlines()
        }
        assert find_dialect(agent).kinds.keys() <= seen


# ------------------------------------------------------------------ it can fail


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one log made by hand."""
    place = tmp_path / "hand-made" / "cursor" / "twin-calls"
    shutil.copytree(find_corpus() / "hand-made" / "cursor" / "twin-calls", place)
    return tmp_path


def test_the_logs_as_committed_have_no_fault(tmp_path: Path) -> None:
    shutil.copytree(find_corpus() / "hand-made", tmp_path / "hand-made")
    assert list(lint(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("reasoned.json", '"hand_made": true', '"hand_made": false', "hand_made"),
        ("reasoned.json", '"events": [1, 2, 3, 4, 5]', '"events": [1, 2, 3, 4]', "one place"),
        ("reasoned.json", '"agent": "cursor"', '"agent": "vscode"', "the directory says"),
        ("hooks.jsonl", "/srv/project", "/Users/somebody", "a path of the machine"),
        ("hooks.jsonl", '"observed_at"', '"at"', "observed_at"),
    ],
)
def test_what_is_wrong_with_a_log_is_seen(
    corpus: Path, file: str, old: str, new: str, says: str
) -> None:
    path = corpus / "hand-made" / "cursor" / "twin-calls" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(says in fault for _, fault in lint(corpus))


def test_a_file_beside_a_log_belongs_to_nothing(corpus: Path) -> None:
    (corpus / "hand-made" / "cursor" / "twin-calls" / "notes.md").write_text("x")
    assert [fault for _, fault in lint(corpus)] == ["belongs to no case"]
