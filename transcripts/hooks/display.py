"""A rebuilt conversation for people to look at: a tree on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text
from rich.tree import Tree as Branches

from transcripts.display import plain
from transcripts.hooks.trees.tree import Node, SessionTree, Tree, TurnTree

_STYLES = {
    "failed": "red",
    "declined": "red",
    "cancelled": "yellow",
    "unresolved": "yellow",
    "orphan": "magenta",
    "prompt": "bold cyan",
    "response": "green",
    "thought": "dim",
    "lifecycle": "dim",
}
_UNREMARKED = (None, "completed", "unknown")


class _Notes(NamedTuple):
    """What is to be said under nodes: why an event is an orphan, and why another is not."""

    orphans: dict[int, str]
    why: bool


def show_tree(tree: Tree, *, why: bool) -> None:
    """Print a tree, and below it what could not be placed and what can't be seen.

    ``why``: under each node also what belongs to it, and why it is known to.
    """
    console = Console()
    notes = _Notes({orphan.event: orphan.why for orphan in tree.orphans}, why)
    for workspace in tree.workspaces:
        shown = Branches(Text(_workspace_name(workspace.id), style="bold"))
        for node in workspace.nodes:
            _add(shown, node, notes)
        for session in workspace.sessions:
            _session(shown, session, notes)
        console.print(shown)
    _notes(console, "orphans", [f"line {one.event}: {one.why}" for one in tree.orphans])
    _notes(console, "phantoms", [f"line {one.event}: {one.why}" for one in tree.phantoms])
    _notes(console, "bad lines", [f"line {one.line}: {one.why}" for one in tree.bad_lines])
    _notes(
        console,
        "not known",
        [
            f"{one.event}{'' if one.known else ' (unknown event)'}: {one.count} times"
            + (f", fields {', '.join(one.fields)}" if one.fields else "")
            for one in tree.unknown
        ],
    )
    _notes(console, "what these hooks can't show", tree.blind_spots, style="dim")


def _workspace_name(name: str | None) -> str:
    if name is None:
        return "Unknown workspace"
    return plain(name.replace("\n", ", ")) if name else "No workspace"


def _session(shown: Branches, session: SessionTree, notes: _Notes) -> None:
    head = Text(plain(session.title or session.id or "Unknown session"), style="bold")
    head.append(f"  {plain(session.id or '')} {session.status}", style="dim")
    branch = shown.add(head)
    for node in session.nodes:
        _add(branch, node, notes)
    for turn in session.turns:
        _turn(branch, turn, notes)


def _turn(shown: Branches, turn: TurnTree, notes: _Notes) -> None:
    head = Text(plain(turn.title))
    if turn.status != "completed":
        head.append(f"  {turn.status}", style="yellow")
    branch = shown.add(head)
    for node in turn.nodes:
        _add(branch, node, notes)


def _add(shown: Branches, node: Node, notes: _Notes) -> None:
    text = Text()
    if node.kind == "wave":
        text.append(f"∥ {plain(node.name or '')}", style="blue")
    else:
        style = _STYLES.get(node.status or "") or _STYLES.get(node.kind, "default")
        text.append(f"{node.kind} ", style="dim")
        text.append(plain(node.name or ""), style=style)
    unsaid = node.status == "unknown" and node.kind in ("call", "subagent")
    if unsaid:
        text.append(" ended", style="dim")
    if node.status not in _UNREMARKED:
        text.append(f" {node.status}", style=_STYLES.get(node.status or "", "default"))
    if node.exit_code is not None:
        text.append(f" exit {node.exit_code}", style="red" if node.exit_code else "dim")
    if node.duration_ms is not None:
        text.append(f" {lasting(node.duration_ms)}", style="dim")
    if node.event is not None:
        text.append(f"  line {node.event}", style="dim")
    branch = shown.add(text)
    if node.event in notes.orphans:
        branch.add(Text(plain(notes.orphans[node.event]), style="magenta"))
    if node.failure is not None:
        said = ": ".join(filter(None, (node.failure.type, node.failure.message)))
        branch.add(Text(plain(said or "no word of why"), style="red"))
    for link in node.links if notes.why else ():
        evidence = f" by {', '.join(link.evidence)}" if link.evidence else ""
        weight = "" if link.score is None else f" ({link.score})"
        branch.add(
            Text(f"{link.role}: line {link.event}{evidence}{weight}, {link.quality}", style="dim")
        )
    for child in node.children:
        _add(branch, child, notes)


def lasting(milliseconds: float) -> str:
    """Return a duration as people read it."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _notes(console: Console, title: str, notes: Sequence[str], style: str = "yellow") -> None:
    if notes:
        console.print(Text(title, style="bold"))
        for note in notes:
            console.print(Text(f"  {plain(note)}", style=style))
