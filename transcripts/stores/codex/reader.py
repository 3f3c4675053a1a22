"""A rollout file into a transcript, and a store's rollouts into a listing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from transcripts.errors import DamagedRecord, NoMessages, NotATranscript, SessionNotFound
from transcripts.model import AnyMessage, Damage, Lineage, SubAgent, Transcript, Unread
from transcripts.records import Record, jsonlines
from transcripts.records.collecting import uncollected
from transcripts.stores.codex import layout
from transcripts.stores.codex.dialects import shapes
from transcripts.stores.codex.foreign import integer, mapping, moment, text
from transcripts.stores.codex.reading import inheriting
from transcripts.stores.codex.reading.attic import Attic
from transcripts.stores.codex.reading.bookkeeping import BOOKKEEPING
from transcripts.stores.codex.reading.gathering import Gathering
from transcripts.stores.codex.reading.inheriting import Base, First
from transcripts.stores.codex.reading.messages import Thread
from transcripts.stores.codex.reading.state import State
from transcripts.stores.notes import Notes, Spent

AGENT = "codex"


def read(path: Path, *, recover: bool = False) -> Transcript:
    """Read a session: its rollout, and those of the agents that it spawned beside it."""
    root = layout.root_of(path)
    state, session_id = _gather(path, root, recover=recover)
    damage = list(state.damage)
    cwd = text(state.meta.get("cwd")) or _cwd_of(state)
    messages = tuple(_messages(state, session_id, root, damage, recover=recover))
    if not messages:
        raise _nothing(path)
    meta = state.meta
    return Transcript(
        agent=AGENT,
        session_id=session_id,
        cwd=cwd,
        cli_version=text(meta.get("cli_version")),
        model=state.model,
        title=state.title,
        git_branch=text(mapping(meta.get("git")).get("branch")),
        created_at=moment(meta.get("timestamp")) or state.first_at,
        updated_at=state.last_at,
        source_path=state.source,
        lineage=lineage_of(meta),
        messages=messages,
        damage=tuple(damage),
        unread=_unread(state),
    )


def _unread(state: State) -> tuple[Unread, ...]:
    return tuple(
        Unread(record=record, count=count, known=record in BOOKKEEPING)
        for record, count in sorted(state.unread.items())
    )


def _take_down(notes: Notes, state: State, session_id: str) -> None:
    """Take down what a rollout's records say beside its messages."""
    notes.agent = AGENT
    notes.session_id = session_id
    notes.cwd = text(state.meta.get("cwd"))
    notes.cli_version = text(state.meta.get("cli_version"))
    notes.lineage = lineage_of(state.meta)
    notes.first_at, notes.last_at = state.first_at, state.last_at
    notes.total = state.counted.recorded()
    notes.spent = state.counted.spent or Spent()
    notes.unread = _unread(state)


def iterate(
    path: Path, *, recover: bool = False, notes: Notes | None = None
) -> Iterator[AnyMessage]:
    """Yield the messages of a session in little memory: what is not due yet lies on the disk."""
    root = layout.root_of(path)
    found = False
    with Attic() as attic:
        with uncollected():
            state, session_id = _gather(path, root, recover=recover, attic=attic)
        if notes is not None:
            _take_down(notes, state, session_id)
        for message in _messages(state, session_id, root, [], recover=recover, attic=attic):
            found = True
            yield message
    if not found:
        raise _nothing(path)


def _nothing(path: Path) -> NoMessages:
    return NoMessages(
        "no message of a conversation in this file",
        path=path,
        next_step="if Codex shows one, its format is new here: report the release",
    )


def lineage_of(meta: dict[str, Any]) -> Lineage:
    """Return where a session comes from, by its own first record."""
    base = inheriting.base_of(meta)
    cut = integer(meta.get("forked_from_ordinal_exclusive")) or (base.ordinal if base else None)
    return Lineage(
        forked_from=text(meta.get("forked_from_id")),
        fork_cut=None if cut is None else str(cut),
        parent=parent_of(meta),
    )


def parent_of(meta: dict[str, Any]) -> str | None:
    """Return the session that spawned this one, or None."""
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return text(meta.get("parent_thread_id")) or text(spawned.get("parent_thread_id"))


def is_spawned(meta: dict[str, Any]) -> bool:
    """Whether another agent wrote this session's prompts."""
    return "subagent" in mapping(meta.get("source")) or meta.get("thread_source") == "subagent"


def _gather(
    path: Path, root: Path, *, recover: bool, attic: Attic | None = None
) -> tuple[State, str]:
    """Read a session's files and what it took over from others."""
    begun = layout.goes_on(path)
    path = (None if begun is None else inheriting.find(begun, path, root)) or path
    head = _head(path, root, _HEAD, recover=recover)
    if not head:
        raise NotATranscript("the file holds no record", path=path)
    damage: list[Damage] = []
    gathered = Gathering(_name(path, root), attic)
    state = gathered.state
    if _stands_alone(head):
        gathered.feed(jsonlines.skim(path, root, damage, shapes.decode, recover=recover))
        state.damage[:0] = damage
    else:
        records = list(jsonlines.iterate(path, root, damage, recover=recover))
        _inherit(gathered, records, damage, path, root, recover=recover)
    session_id = text(state.meta.get("id"))
    if session_id is None and recover:
        session_id = layout.id_in_name(path)
    if session_id is None:
        raise NotATranscript(
            "no session_meta record says which session this is",
            path=path,
            next_step="read with --recover to take the id from the file's name",
        )
    for part in layout.parts(root, session_id):
        if part != path:
            _go_on(gathered, part, root, recover=recover)
    return state, session_id


def _go_on(gathered: Gathering, part: Path, root: Path, *, recover: bool) -> None:
    """Take in the file in which a session went on after the person had gone back in it."""
    base = inheriting.base_of(inheriting.meta_of(_head(part, root, 1, recover=recover)))
    gathered.go_back(None if base is None else base.ordinal)
    damage = gathered.state.damage
    gathered.feed(jsonlines.skim(part, root, damage, shapes.decode, recover=recover))


def _head(path: Path, root: Path, count: int, *, recover: bool) -> list[Record]:
    """Return the first records of a file, as objects; what is wrong with them is told later."""
    records = jsonlines.iterate(path, root, [], recover=recover, at_once=jsonlines.FEW)
    return list(islice(records, count))


_HEAD = 3


def _stands_alone(head: list[Record]) -> bool:
    """Whether a session took over nothing, told by its first records: then it can be streamed."""
    if head[0].value.get("type") != "session_meta":
        return False
    meta = inheriting.meta_of(head)
    return inheriting.base_of(meta) is None and not _may_hold_copies(head, meta)


def _inherit(
    gathered: Gathering,
    records: list[Record],
    found: list[Damage],
    path: Path,
    root: Path,
    *,
    recover: bool,
) -> None:
    """Take in a session together with what it took over from others."""
    damage = gathered.state.damage
    damage += found
    meta = inheriting.meta_of(records)
    base = inheriting.base_of(meta)
    if base is not None:
        for record in _history(base, path, root, damage, {path}, recover=recover):
            gathered.inherit(record, First(base.session, record))
    copies = _copies(records, meta, path, root, damage, recover=recover)
    gathered.feed(records[:1])
    for record, first in zip(records[1:], copies, strict=False):
        gathered.inherit(record, first)
    gathered.feed(records[1 + len(copies) :])


def _history(
    base: Base, path: Path, root: Path, damage: list[Damage], seen: set[Path], *, recover: bool
) -> list[Record]:
    """Return the records that a fork points at, those first that its parent points at.

    Without them a fork is half a conversation: no reading that succeeds may hide that.
    """
    where = inheriting.find(base.session, path, root)
    if where is None or where in seen:
        why = f"its history up to here is in session {base.session}, which is not in this store"
        if not recover:
            raise SessionNotFound(why, path=path, next_step=_RECOVER)
        damage.append(Damage(kind="missing_history", source=_name(path, root), why=why))
        return []
    file = jsonlines.read(where, root, recover=recover)
    damage += file.damage
    held = [record for record in file.records if base.holds(record)]
    deeper = inheriting.base_of(inheriting.meta_of(file.records))
    if deeper is not None:
        held[:0] = _history(deeper, where, root, damage, {*seen, where}, recover=recover)
    last = next((n for n in map(inheriting.ordinal_of, reversed(held)) if n is not None), None)
    if base.ordinal is not None and last != base.ordinal - 1:
        why = (
            f"{_name(path, root)} goes on from record {base.ordinal} of this session,"
            f" of which {'none' if last is None else f'the last one here is {last}'}"
        )
        if not recover:
            raise DamagedRecord(why, path=where, next_step=_RECOVER)
        damage.append(Damage(kind="missing_history", source=_name(where, root), why=why))
    return held


def _numbered_before(start: int) -> Callable[[Record], bool]:
    return lambda record: (inheriting.ordinal_of(record) or 0) < start


_RECOVER = "read with --recover to get what is there"


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _copied_from(meta: dict[str, Any]) -> str | None:
    return text(meta.get("forked_from_id")) or parent_of(meta)


def _may_hold_copies(records: list[Record], meta: dict[str, Any]) -> bool:
    """Whether a session may begin with records of another one; its first three records tell."""
    if _copied_from(meta) is None:
        return False
    start = integer(meta.get("subagent_history_start_ordinal"))
    return start is not None or inheriting.is_copied(records)


def _copies(
    records: list[Record],
    meta: dict[str, Any],
    path: Path,
    root: Path,
    damage: list[Damage],
    *,
    recover: bool,
) -> list[First]:
    """Return where each of the copies behind a session's first record was written first."""
    parent = _copied_from(meta)
    start = integer(meta.get("subagent_history_start_ordinal"))
    if parent is None or not _may_hold_copies(records, meta):
        return []
    where = inheriting.find(parent, path, root)
    found: list[Record] = []
    if where is not None:
        original = jsonlines.read(where, root, recover=recover)
        base = inheriting.base_of(inheriting.meta_of(original.records))
        before = []
        if base is not None:
            before = _history(base, where, root, damage, {path, where}, recover=recover)
        found = inheriting.originals(records, [*before, *original.records])
    copies = [First(parent, record) for record in found]
    if start is not None:
        left = records[1 + len(copies) :]
        copies += [First(parent, None) for _ in takewhile(_numbered_before(start), left)]
    elif where is None:
        why = f"which records are copies is not told without session {parent}"
        damage.append(Damage(kind="missing_parent", source=_name(path, root), why=why))
    return copies


def _thread(
    state: State, session_id: str, agent: str | None = None, caller: str | None = None
) -> Thread:
    meta = state.meta
    return Thread(
        session_id,
        agent=agent,
        caller=caller,
        spawned=is_spawned(meta),
        provider=text(meta.get("model_provider")),
    )


def _cwd_of(state: State) -> str | None:
    return next((draft.cwd for draft in state.drafts if draft.cwd), None)


def _messages(
    state: State,
    session_id: str,
    root: Path,
    damage: list[Damage],
    *,
    recover: bool,
    attic: Attic | None = None,
) -> Iterator[AnyMessage]:
    """Yield the messages of a session and of the agents that it spawned."""
    messages = _thread(state, session_id).messages(state.drafts)
    return _with_agents(messages, (session_id,), root, damage, recover=recover, attic=attic)


def _with_agents(
    messages: Iterable[AnyMessage],
    lineage: tuple[str, ...],
    root: Path,
    damage: list[Damage],
    *,
    recover: bool,
    attic: Attic | None,
) -> Iterator[AnyMessage]:
    """Put the messages of each spawned agent, which has a rollout of its own, after its call.

    ``lineage`` is the session and those that spawned it, from the first on: two files that
    each call the other its parent would otherwise be read without an end.
    """
    for message in messages:
        yield message
        if not isinstance(message, SubAgent) or message.agent_id in (None, *lineage):
            continue
        path = layout.find(root, message.agent_id)
        if path is None:
            continue
        state, agent_id = _gather(path, root, recover=recover, attic=attic)
        if parent_of(state.meta) != lineage[-1] or agent_id in lineage:
            continue
        damage += state.damage
        thread = _thread(state, agent_id, agent=agent_id, caller=message.id)
        # What it copied from the session that spawned it is in that session already.
        own = (one for one in thread.messages(state.drafts) if one.inherited_from is None)
        lines = (*lineage, agent_id)
        yield from _with_agents(own, lines, root, damage, recover=recover, attic=attic)
