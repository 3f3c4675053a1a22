"""A rollout file into a transcript, and a store's rollouts into a listing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transcripts.errors import NoMessages, NotATranscript
from transcripts.model import AnyMessage, Damage, Lineage, SubAgent, Transcript, Unread
from transcripts.records import RecordFile, jsonlines
from transcripts.stores.codex import layout
from transcripts.stores.codex.foreign import integer, mapping, moment, text
from transcripts.stores.codex.reading.gathering import Gathering
from transcripts.stores.codex.reading.messages import Thread
from transcripts.stores.codex.reading.state import State

AGENT = "codex"


def read(path: Path, *, recover: bool = False) -> Transcript:
    """Read a session: its rollout, and those of the agents that it spawned beside it."""
    root = layout.root_of(path)
    state, session_id = _gather(path, root, recover=recover)
    messages = _thread(state, session_id).messages(state.drafts)
    if not messages:
        raise NoMessages(
            "no message of a conversation in this file",
            path=path,
            next_step="if Codex shows one, its format is new here: report the release",
        )
    damage = list(state.damage)
    with_agents = _with_agents(messages, (session_id,), root, damage, recover=recover)
    meta = state.meta
    return Transcript(
        agent=AGENT,
        session_id=session_id,
        cwd=text(meta.get("cwd")) or _cwd_of(state),
        cli_version=text(meta.get("cli_version")),
        model=state.models[-1] if state.models else None,
        title=state.title,
        git_branch=text(mapping(meta.get("git")).get("branch")),
        created_at=moment(meta.get("timestamp")) or state.first_at,
        updated_at=state.last_at,
        source_path=state.source,
        lineage=lineage_of(meta),
        messages=tuple(with_agents),
        damage=tuple(damage),
        unread=tuple(
            Unread(record=record, count=count, known=known)
            for (record, known), count in sorted(state.unread.items())
        ),
    )


def lineage_of(meta: dict[str, Any]) -> Lineage:
    """Return where a session comes from, by its own first record."""
    cut = integer(meta.get("forked_from_ordinal_exclusive"))
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


def _gather(path: Path, root: Path, *, recover: bool) -> tuple[State, str]:
    file: RecordFile = jsonlines.read(path, root, recover=recover)
    if not file.records:
        raise NotATranscript("the file holds no record", path=path)
    gathered = Gathering(file.path)
    gathered.feed(file.records)
    state = gathered.state
    state.damage[:0] = file.damage
    session_id = text(state.meta.get("id"))
    if session_id is None and recover:
        session_id = layout.id_in_name(path)
    if session_id is None:
        raise NotATranscript(
            "no session_meta record says which session this is",
            path=path,
            next_step="read with --recover to take the id from the file's name",
        )
    return state, session_id


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
        inherited_before=integer(meta.get("subagent_history_start_ordinal")),
        inherited_from=parent_of(meta),
    )


def _cwd_of(state: State) -> str | None:
    return next((draft.cwd for draft in state.drafts if draft.cwd), None)


def _with_agents(
    messages: list[AnyMessage],
    lineage: tuple[str, ...],
    root: Path,
    damage: list[Damage],
    *,
    recover: bool,
) -> list[AnyMessage]:
    """Put the messages of each spawned agent, which has a rollout of its own, after its call.

    ``lineage`` is the session and those that spawned it, from the first on: two files that
    each call the other its parent would otherwise be read without an end.
    """
    found: list[AnyMessage] = []
    for message in messages:
        found.append(message)
        if not isinstance(message, SubAgent) or message.agent_id in (None, *lineage):
            continue
        path = layout.find(root, message.agent_id)
        if path is None:
            continue
        state, agent_id = _gather(path, root, recover=recover)
        if parent_of(state.meta) != lineage[-1] or agent_id in lineage:
            continue
        damage += state.damage
        thread = _thread(state, agent_id, agent=agent_id, caller=message.id)
        # What it copied from the session that spawned it is in that session already.
        own = [one for one in thread.messages(state.drafts) if one.inherited_from is None]
        found += _with_agents(own, (*lineage, agent_id), root, damage, recover=recover)
    return found
