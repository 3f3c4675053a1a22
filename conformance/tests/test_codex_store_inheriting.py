"""What a Codex session took over from another is told apart from what is its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from transcripts.errors import DamagedRecord, SessionNotFound
from transcripts.model import AnyMessage, Transcript
from transcripts.narration import content_text
from transcripts.stores.codex import CodexStore

PARENT = "019f0000-0000-7000-8000-00000000000a"
FORK = "019f0000-0000-7000-8000-00000000000b"
FORKED_AGAIN = "019f0000-0000-7000-8000-00000000000c"

Row = dict[str, Any]


def row(minute: int, kind: str, **payload: Any) -> Row:
    return {"timestamp": f"2026-05-02T08:{minute:02d}:00.000Z", "type": kind, "payload": payload}


def meta(minute: int, session: str, **more: Any) -> Row:
    at = f"2026-05-02T08:{minute:02d}:00.000Z"
    known = {"id": session, "timestamp": at, "cwd": "/srv/mill", "cli_version": "0.150.0"}
    return row(minute, "session_meta", **known, **more)


def asks(minute: int, words: str) -> Row:
    content = [{"type": "input_text", "text": words}]
    return row(minute, "response_item", type="message", role="user", content=content)


def says(minute: int, words: str) -> Row:
    content = [{"type": "output_text", "text": words}]
    return row(minute, "response_item", type="message", role="assistant", content=content)


def begins(minute: int, turn: str) -> Row:
    return row(minute, "event_msg", type="task_started", turn_id=turn)


def calls(minute: int, call_id: str) -> Row:
    arguments = json.dumps({"message": "count"})
    return row(
        minute,
        "response_item",
        type="function_call",
        name="spawn_agent",
        arguments=arguments,
        call_id=call_id,
    )


def numbered(start: int, *rows: Row) -> list[Row]:
    return [one | {"ordinal": start + at} for at, one in enumerate(rows)]


def again(minute: int, *rows: Row) -> list[Row]:
    """Return rows as they are copied: the same, with the time of the copying."""
    return [one | {"timestamp": f"2026-05-02T08:{minute:02d}:00.000Z"} for one in rows]


def file(home: Path, session: str, rows: list[Row]) -> Path:
    path = home / ".codex/sessions/2026/05/02" / f"rollout-2026-05-02T08-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    return path


def forked(session: str, start: int, minute: int, base: str, *own: Row) -> list[Row]:
    history = {"thread_id": base, "end_ordinal_exclusive": start, "end_byte_offset": 0}
    first = meta(minute, session, forked_from_id=base, history_base=history)
    return numbered(start, first, *own)


def words(transcript: Transcript) -> list[str]:
    return [_words(message) for message in transcript.messages]


def _words(message: AnyMessage) -> str:
    return content_text(getattr(message, "content", ())) or message.kind


def taken(transcript: Transcript) -> list[tuple[str | None, str | None] | None]:
    return [
        None if one is None else (one.session, one.id)
        for one in (message.inherited_from for message in transcript.messages)
    ]


PARENTS = numbered(
    0,
    meta(0, PARENT),
    asks(1, "oats?"),
    says(2, "three"),
    asks(3, "barley?"),
    says(4, "none"),
)


def test_a_fork_holds_its_parents_messages_up_to_the_cut(tmp_path: Path) -> None:
    parent = CodexStore.read_path(file(tmp_path, PARENT, PARENTS))
    own = (asks(6, "rye?"), says(7, "two"))
    path = file(tmp_path, FORK, forked(FORK, 3, 5, PARENT, *own))
    fork = CodexStore.read_path(path)
    assert words(fork) == ["oats?", "three", "rye?", "two"]
    assert taken(fork) == [
        (PARENT, parent.messages[0].id),
        (PARENT, parent.messages[1].id),
        None,
        None,
    ]
    assert {one.id for one in fork.messages}.isdisjoint(one.id for one in parent.messages)
    assert fork.session_id == FORK
    assert (fork.lineage.forked_from, fork.lineage.fork_cut) == (PARENT, "3")
    assert [Path(one.sources[0].path).stem[-4:] for one in fork.messages] == [
        "000a",
        "000a",
        "000b",
        "000b",
    ]
    assert [one.follows for one in fork.messages[1:]] == [one.id for one in fork.messages[:-1]]
    assert list(CodexStore.iter_path(path)) == list(fork.messages)


def test_a_fork_of_a_fork_goes_on_from_both(tmp_path: Path) -> None:
    file(tmp_path, PARENT, PARENTS)
    own = (asks(6, "rye?"), says(7, "two"))
    middle = CodexStore.read_path(file(tmp_path, FORK, forked(FORK, 3, 5, PARENT, *own)))
    last = forked(FORKED_AGAIN, 5, 8, FORK, asks(9, "hops?"))
    transcript = CodexStore.read_path(file(tmp_path, FORKED_AGAIN, last))
    assert words(transcript) == ["oats?", "three", "rye?", "hops?"]
    assert taken(transcript) == [*((FORK, one.id) for one in middle.messages[:3]), None]


def test_a_fork_without_its_parent_is_half_a_conversation(tmp_path: Path) -> None:
    path = file(tmp_path, FORK, forked(FORK, 3, 5, PARENT, asks(6, "rye?")))
    with pytest.raises(SessionNotFound, match=PARENT):
        CodexStore.read_path(path)
    recovered = CodexStore.read_path(path, recover=True)
    assert words(recovered) == ["rye?"]
    assert [one.kind for one in recovered.damage] == ["missing_history"]


def test_a_parent_that_ends_before_the_cut_is_told(tmp_path: Path) -> None:
    file(tmp_path, PARENT, PARENTS[:2])
    path = file(tmp_path, FORK, forked(FORK, 5, 5, PARENT, asks(6, "rye?")))
    with pytest.raises(DamagedRecord, match="from record 5"):
        CodexStore.read_path(path)
    recovered = CodexStore.read_path(path, recover=True)
    assert words(recovered) == ["oats?", "rye?"]
    assert [one.kind for one in recovered.damage] == ["missing_history"]


def test_two_forks_of_each_other_are_no_endless_reading(tmp_path: Path) -> None:
    file(tmp_path, PARENT, forked(PARENT, 3, 5, FORK, asks(6, "oats?")))
    path = file(tmp_path, FORK, forked(FORK, 5, 5, PARENT, asks(6, "rye?")))
    with pytest.raises(SessionNotFound):
        CodexStore.read_path(path)
    assert words(CodexStore.read_path(path, recover=True)) == ["oats?", "rye?"]


def test_a_fork_takes_back_turns_that_it_took_over(tmp_path: Path) -> None:
    file(tmp_path, PARENT, PARENTS)
    back = row(7, "event_msg", type="thread_rolled_back", num_turns=2)
    own = (asks(6, "rye?"), back, asks(8, "hops?"))
    fork = CodexStore.read_path(file(tmp_path, FORK, forked(FORK, 5, 5, PARENT, *own)))
    assert [_words(one) for one in fork.effective()] == ["oats?", "three", "hops?"]
    undone = [one.superseded_by.why for one in fork.messages if one.superseded_by is not None]
    assert undone == ["rewind", "rewind", "rewind"]


# ------------------------------------------------------------------ copies

OLD_PARENT = [
    meta(0, PARENT),
    begins(1, "t1"),
    asks(1, "go on"),
    says(2, "three"),
    begins(5, "t2"),
    asks(5, "go on"),
    says(6, "four"),
]


def test_copies_are_told_from_the_same_words_said_later(tmp_path: Path) -> None:
    parent = CodexStore.read_path(file(tmp_path, PARENT, OLD_PARENT))
    own = [asks(4, "go on"), says(4, "ten")]
    rows = [meta(3, FORK, forked_from_id=PARENT), *again(3, *OLD_PARENT[:4]), *own]
    fork = CodexStore.read_path(file(tmp_path, FORK, rows))
    assert words(fork) == ["go on", "three", "go on", "ten"]
    assert taken(fork) == [*((PARENT, one.id) for one in parent.messages[:2]), None, None]
    assert fork.damage == ()


def spawned(minute: int, session: str) -> Row:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    return meta(minute, session, forked_from_id=PARENT, source=source)


def test_an_agent_is_given_its_parents_words_without_its_calls(tmp_path: Path) -> None:
    first, began, prompt, answer = OLD_PARENT[:4]
    rows = [first, began, prompt, calls(2, "c1"), answer]
    parent = CodexStore.read_path(file(tmp_path, PARENT, rows))
    given = again(3, first, began, prompt, answer)
    own = [begins(3, "t9"), asks(3, "count"), says(4, "nine")]
    child = CodexStore.read_path(file(tmp_path, FORK, [spawned(3, FORK), *given, *own]))
    assert words(parent) == ["go on", "SubAgent", "three"]
    assert taken(child) == [
        (PARENT, parent.messages[0].id),
        (PARENT, parent.messages[2].id),
        None,
        None,
    ]
    assert [one.author for one in child.messages] == ["human", "model", "agent", "model"]


def test_two_agents_with_old_times_and_equal_work_keep_what_is_their_own(tmp_path: Path) -> None:
    begun = [asks(0, "weigh the sacks"), says(1, "two hundred")]
    (tmp_path / "parent.jsonl").write_text(_lines([meta(0, PARENT), *begun]))
    for name, session in (("one", FORK), ("two", FORKED_AGAIN)):
        rows = [spawned(1, session), *begun, asks(1, "weigh again"), says(1, "two hundred")]
        (tmp_path / f"{name}.jsonl").write_text(_lines(rows))
        child = CodexStore.read_path(tmp_path / f"{name}.jsonl")
        assert [one is None for one in taken(child)] == [False, False, True, True]
        assert [one.author for one in child.messages] == ["human", "model", "agent", "model"]
        assert child.damage == ()


def test_without_the_parent_nobody_can_tell_where_the_copies_end(tmp_path: Path) -> None:
    rows = [spawned(3, FORK), *again(3, *OLD_PARENT[:4]), asks(4, "count")]
    child = CodexStore.read_path(file(tmp_path, FORK, rows))
    assert words(child) == ["go on", "three", "count"]
    assert taken(child) == [None, None, None]
    assert [one.kind for one in child.damage] == ["missing_parent"]


def test_an_agent_that_was_given_nothing_needs_no_parent(tmp_path: Path) -> None:
    rows = [spawned(3, FORK), begins(3, "t9"), asks(3, "count")]
    child = CodexStore.read_path(file(tmp_path, FORK, rows))
    assert taken(child) == [None]
    assert child.damage == ()


def _lines(rows: list[Row]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in rows)
