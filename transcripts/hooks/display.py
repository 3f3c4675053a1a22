"""A rebuilt conversation for people to look at: a tree on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree as Branches

from transcripts.display import plain
from transcripts.hooks.tree import Node, SessionTree, Tree, TurnTree

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


def show_tree(tree: Tree) -> None:
    """Print a tree, and below it what could not be placed and what can't be seen."""
    console = Console(soft_wrap=True)
    orphans = {orphan.event: orphan.why for orphan in tree.orphans}
    for workspace in tree.workspaces:
        shown = Branches(Text(_workspace_name(workspace.id), style="bold"))
        for node in workspace.nodes:
            _add(shown, node, orphans)
        for session in workspace.sessions:
            _session(shown, session, orphans)
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


def _session(shown: Branches, session: SessionTree, orphans: dict[int, str]) -> None:
    head = Text(plain(session.title or session.id or "Unknown session"), style="bold")
    head.append(f"  {plain(session.id or '')} {session.status}", style="dim")
    branch = shown.add(head)
    for node in session.nodes:
        _add(branch, node, orphans)
    for turn in session.turns:
        _turn(branch, turn, orphans)


def _turn(shown: Branches, turn: TurnTree, orphans: dict[int, str]) -> None:
    head = Text(plain(turn.title))
    if turn.status != "completed":
        head.append(f"  {turn.status}", style="yellow")
    branch = shown.add(head)
    for node in turn.nodes:
        _add(branch, node, orphans)


def _add(shown: Branches, node: Node, orphans: dict[int, str]) -> None:
    text = Text()
    if node.kind == "wave":
        text.append(f"∥ {plain(node.name or '')}", style="blue")
    else:
        style = _STYLES.get(node.status or "") or _STYLES.get(node.kind, "default")
        text.append(f"{node.kind} ", style="dim")
        text.append(plain(node.name or ""), style=style)
    if node.status not in _UNREMARKED:
        text.append(f" {node.status}", style=_STYLES.get(node.status or "", "default"))
    if node.exit_code is not None:
        text.append(f" exit {node.exit_code}", style="red" if node.exit_code else "dim")
    if node.duration_ms is not None:
        text.append(f" {lasting(node.duration_ms)}", style="dim")
    if node.event is not None:
        text.append(f"  line {node.event}", style="dim")
    branch = shown.add(text)
    if node.event in orphans:
        branch.add(Text(plain(orphans[node.event]), style="magenta"))
    if node.failure is not None:
        said = ": ".join(filter(None, (node.failure.type, node.failure.message)))
        branch.add(Text(plain(said or "no word of why"), style="red"))
    for link in node.links:
        evidence = f" by {', '.join(link.evidence)}" if link.evidence else ""
        weight = "" if link.score is None else f" ({link.score})"
        branch.add(
            Text(f"{link.role}: line {link.event}{evidence}{weight}, {link.quality}", style="dim")
        )
    for child in node.children:
        _add(branch, child, orphans)


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
