"""Copilot's two spellings of one run: two logs of different payloads, and one conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from conformance.corpus import cases, find_corpus
from live.hooklog import LOG
from transcripts.hooks import CaptureLog, build_tree, find_dialect, read_log
from transcripts.hooks.summaries.summarising import summarise
from transcripts.hooks.trees.tree import Node, Tree

CORPUS = find_corpus()
BOTH = [
    case.directory / "hooked"
    for case in cases(CORPUS)
    if (case.directory / "hooked" / "hooks.pascal.jsonl").is_file()
]
_ONE_SPELLING = "userPromptTransformed"
"""Told under its camelCase name alone."""

Shape = tuple[str, str | None, bool, tuple[str, ...], tuple["Shape", ...]]


def shape(node: Node) -> Shape:
    """Return what of a node does not go by how its events are spelt."""
    return (
        node.kind,
        node.status,
        node.failure is not None,
        tuple(link.role for link in node.links),
        tuple(shape(one) for one in node.children if one.name != _ONE_SPELLING),
    )


def shapes(tree: Tree) -> Iterator[tuple[str, tuple[Shape, ...]]]:
    """Yield what each session and turn of a tree holds."""
    for workspace in tree.workspaces:
        for session in workspace.sessions:
            for part in (session, *session.turns):
                nodes = tuple(shape(one) for one in part.nodes if one.name != _ONE_SPELLING)
                yield str(part.status), nodes


def tree_of(log: CaptureLog) -> Tree:
    """Return the tree of a whole log."""
    return build_tree(log, log.dialect, log.bad_lines)


def test_there_are_runs_in_both_spellings() -> None:
    assert len(BOTH) >= 10


@pytest.mark.parametrize("hooked", BOTH, ids=lambda one: one.parent.name)
def test_both_spellings_of_a_run_tell_one_conversation(hooked: Path) -> None:
    camel = tree_of(read_log(hooked / LOG, "copilot"))
    pascal = tree_of(read_log(hooked / "hooks.pascal.jsonl", "copilot"))
    assert list(shapes(camel)) == list(shapes(pascal))
    assert len(camel.orphans) == len(pascal.orphans)
    assert not camel.bad_lines
    assert not pascal.bad_lines


@pytest.mark.parametrize("hooked", BOTH, ids=lambda one: one.parent.name)
def test_the_spellings_are_of_different_payloads(hooked: Path) -> None:
    keys: list[set[str]] = []
    for name in (LOG, "hooks.pascal.jsonl"):
        lines = (hooked / name).read_bytes().splitlines()
        keys.append({key for line in lines for key in msgspec.json.decode(line)["payload"]})
    camel, pascal = keys
    assert "sessionId" in camel
    assert "session_id" not in camel
    assert "session_id" in pascal


def rows(hooked: Path) -> list[tuple[str, bytes]]:
    """Return the lines of both logs of a run as one recorder would have taken them down."""
    lines = [
        line
        for name in (LOG, "hooks.pascal.jsonl")
        for line in (hooked / name).read_bytes().splitlines(keepends=True)
    ]
    return sorted((msgspec.json.decode(line)["observed_at"], line) for line in lines)


@pytest.mark.parametrize("hooked", BOTH, ids=lambda one: one.parent.name)
def test_a_log_of_both_spellings_holds_each_call_once_and_says_so(hooked: Path) -> None:
    dialect = find_dialect("copilot")
    alone = tree_of(read_log(hooked / LOG, "copilot"))
    pascal = (hooked / "hooks.pascal.jsonl").read_bytes().count(b"\n")
    mixed = [line for _, line in rows(hooked)]
    log = CaptureLog(hooked / LOG, dialect)
    tree = build_tree(log.read(mixed), dialect, log.bad_lines)
    assert calls_of(tree) == calls_of(alone)
    assert len(tree.orphans) == len(alone.orphans)
    said = [bad for bad in tree.bad_lines if "two spellings" in bad.why]
    assert 0 < len(said) <= pascal + 1
    figures = [one.summary.tool_calls for one in summarise(log.read(mixed), dialect).sessions]
    once = summarise(read_log(hooked / LOG, "copilot"), dialect).sessions
    assert figures == [one.summary.tool_calls for one in once]


def calls_of(tree: Tree) -> list[int]:
    """Return how many calls each turn of a tree holds, in whichever spelling."""
    return [
        sum(one.kind == "call" for node in turn.nodes for one in below(node))
        for workspace in tree.workspaces
        for session in workspace.sessions
        for turn in session.turns
    ]


def below(node: Node) -> Iterator[Node]:
    """Yield a node and all that stands below it."""
    yield node
    for child in node.children:
        yield from below(child)


def test_hooks_of_which_each_is_registered_in_one_spelling_are_all_read() -> None:
    (hooked,) = (one for one in BOTH if one.parent.name == "command-ok")
    pascal = ("SessionStart", "Stop", "SessionEnd")
    some = [
        line
        for _, line in rows(hooked)
        if (name := msgspec.json.decode(line)["event"]) in pascal
        or (name[0].islower() and name not in ("sessionStart", "agentStop", "sessionEnd"))
    ]
    dialect = find_dialect("copilot")
    log = CaptureLog(hooked / LOG, dialect)
    tree = build_tree(log.read(some), dialect, log.bad_lines)
    assert not tree.bad_lines
    assert not tree.orphans
    assert calls_of(tree) == [1]
