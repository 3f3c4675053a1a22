"""Copilot's two spellings of one run: two logs of different payloads, and one conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from conformance.corpus import cases, find_corpus
from live.hooklog import LOG
from transcripts.hooks import CaptureLog, build_tree, read_log
from transcripts.hooks.tree import Node, Tree

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
