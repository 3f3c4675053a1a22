"""Writers of sessions broken on purpose: what the reference wrote, with one fault put into it.

Each fault is one that writers were seen to have. A file that has it may well be read back without a
complaint; what it does to a conversation shows only when the real CLI goes on with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from conformance.livechecks.moving import Moved, Mover, StoreMover

Rows = list[dict[str, Any]]
Spoil = Callable[[Rows], Rows]

_SESSIONS = {
    "claude": ".claude/projects/*/{id}.jsonl",
    "codex": ".codex/sessions/**/rollout-*-{id}.jsonl",
    "copilot": ".copilot/session-state/{id}/events.jsonl",
}


class BrokenMover:
    """Moves by the reference, and breaks what was written."""

    def __init__(self, name: str, spoil: Callable[[str, Path], None]) -> None:
        self.name = name
        self._spoil = spoil

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Move, then break the one file that holds the conversation."""
        moved = StoreMover().move(
            source,
            source_home,
            session_id,
            target,
            target_home,
            new_session_id=new_session_id,
            cwd=cwd,
        )
        (path,) = target_home.glob(_SESSIONS[target].format(id=moved.session_id))
        self._spoil(moved.session_id, path)
        return moved


class Broken(NamedTuple):
    """A broken writer, and the case, direction and releases in which it is caught."""

    mover: Mover
    case: str
    source: str
    target: str
    releases: Mapping[str, str] = MappingProxyType({})


def _rows(spoil: Spoil) -> Callable[[str, Path], None]:
    """Return what breaks the rows of a file of JSON lines."""

    def spoiled(session_id: str, path: Path) -> None:
        del session_id
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in spoil(rows)]
        path.write_text("".join(lines), "utf-8")

    return spoiled


def _no_message_ids(rows: Rows) -> Rows:
    for row in rows:
        if row.get("type") == "assistant":
            row["message"].pop("id", None)
    return rows


def _calls_without_results(rows: Rows) -> Rows:
    return [row for row in rows if not str(row["payload"].get("type")).endswith("_call_output")]


def _foreign_signatures(rows: Rows) -> Rows:
    for row in rows:
        if row.get("type") == "assistant":
            row["message"]["content"] = list(_signed(row["message"]["content"]))
    return rows


def _signed(content: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Make of what was thought, told in prose or not, a thought signed by nobody of the house."""
    for block in content:
        text = block.get("thinking") or block.get("text") or ""
        if block.get("type") == "thinking" or text.startswith("(thinking)"):
            thought = text.removeprefix("(thinking)").strip()
            yield {"type": "thinking", "thinking": thought, "signature": "Zm9yZWlnbg=="}
        else:
            yield block


def _wrong_provider(rows: Rows) -> Rows:
    rows[0]["payload"]["model_provider"] = "anthropic"
    return rows


def _string_results(rows: Rows) -> Rows:
    for row in rows:
        data = row["data"]
        if row["type"] == "tool.execution_complete":
            data["result"] = data.get("result", {}).get("content", "")
    return rows


def _plain_ids(rows: Rows) -> Rows:
    for number, row in enumerate(rows):
        row["id"] = f"event-{number}"
        row["parentId"] = f"event-{number - 1}" if number else None
    return rows


def _emptied(session_id: str, path: Path) -> None:
    del session_id
    path.write_bytes(b"")


def _offset_time(session_id: str, path: Path) -> None:
    """Write the time of the workspace as a .NET clock does, with an offset."""
    facts = f"id: {session_id}\ncreated_at: 2026-01-05T10:00:00.5080000+00:00\n"
    (path.parent / "workspace.yaml").write_text(facts, "utf-8")


BROKEN: tuple[Broken, ...] = (
    Broken(BrokenMover("an empty file", _emptied), "t0", "claude", "codex"),
    Broken(BrokenMover("an empty session", _rows(lambda rows: rows[:1])), "t0", "claude", "codex"),
    Broken(
        BrokenMover("no message ids", _rows(_no_message_ids)),
        "t13-order",
        "codex",
        "claude",
    ),
    Broken(
        BrokenMover("calls without results", _rows(_calls_without_results)),
        "t13",
        "claude",
        "codex",
    ),
    # 2.1.332 leaves such a thought out, and no case fails by that; 2.1.112 sends it.
    Broken(
        BrokenMover("foreign signatures", _rows(_foreign_signatures)),
        "t14",
        "codex",
        "claude",
        {"claude": "2.1.112"},
    ),
    Broken(BrokenMover("wrong provider", _rows(_wrong_provider)), "t0", "claude", "codex"),
    Broken(BrokenMover("string results", _rows(_string_results)), "t2", "claude", "copilot"),
    Broken(BrokenMover("ids that are no UUIDs", _rows(_plain_ids)), "t0", "claude", "copilot"),
    Broken(
        BrokenMover("an offset in the workspace's time", _offset_time),
        "t0",
        "claude",
        "copilot",
    ),
)
