"""What subagents did: three places in three eras, one form.

Until 2.0 a subagent's rows stand in the session's own file, marked ``isSidechain``; 2.0 gives
each agent a file beside the session; 2.1 a file in the session's own folder, with a note of
the call that it serves. Where no note names the call, its result names the agent; where that
is missing too, the prompt is the only link, and the evidence says "derived".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from transcripts.model import AnyMessage, CallerEvidence, SubAgent, Text, UserMessage
from transcripts.records import jsonlines
from transcripts.stores.claude import layout
from transcripts.stores.claude.messages import Session, read_thread
from transcripts.stores.claude.rows import Row, mapping, row_of, string

_WARM_UP = "Warmup"


class Thread(NamedTuple):
    """One subagent's rows, and the call that its note names."""

    agent: str
    rows: list[Row]
    call: str | None


def own_threads(
    path: Path, root: Path, session_id: str, session: Session, *, recover: bool
) -> list[Thread]:
    """Return the threads that lie in files of their own."""
    threads: list[Thread] = []
    for file in layout.agent_files(path, session_id):
        agent = layout.agent_of_file(file.name)
        beside = file.parent == path.parent
        if agent is None or file == path or (beside and not _serves(file, root, session_id)):
            continue
        rows = [
            row_of(record)
            for record in jsonlines.iterate(file, root, session.damage, recover=recover)
        ]
        threads.append(Thread(agent, rows, None if beside else _noted_call(file)))
    return threads


def inline_threads(rows: Sequence[Row]) -> list[Thread]:
    """Return the threads among the sidechain rows of a session's own file, in file order."""
    threads: dict[str, Thread] = {}
    thread_of: dict[str, str] = {}
    last: str | None = None
    for row in rows:
        agent = string(row.value.get("agentId")) or thread_of.get(row.parent or "")
        if agent is None and row.uuid and row.parent is None:
            agent = f"sidechain-{row.uuid}"
        agent = agent or last or "sidechain"
        last = agent
        if row.uuid:
            thread_of[row.uuid] = agent
        threads.setdefault(agent, Thread(agent, [], None)).rows.append(row)
    return list(threads.values())


def woven(main: list[AnyMessage], threads: Sequence[Thread], session: Session) -> list[AnyMessage]:
    """Return all messages, each thread's behind the call that it serves, strays at the end."""
    children = [read_thread(thread.rows, session, thread.agent) for thread in threads]
    calls = [
        message
        for messages in (main, *children)
        for message in messages
        if isinstance(message, SubAgent)
    ]
    served: dict[str, list[list[AnyMessage]]] = {}
    strays: list[list[AnyMessage]] = []
    taken: set[str] = set()
    for thread, messages in zip(threads, children, strict=True):
        call, evidence = _call_of(thread, messages, calls, taken)
        if call is None:
            strays.append(_stray(messages))
            continue
        taken.add(call.id)
        changes = {"caller": call.id, "caller_evidence": evidence, "turn": call.turn}
        served.setdefault(call.id, []).append(
            [msgspec.structs.replace(message, **changes) for message in messages]
        )
    ordered = list(_expanded(main, served))
    ordered += [message for messages in strays for message in _expanded(messages, served)]
    # A thread that serves a call of its own (a ring of notes) is reached from nowhere.
    reached = {message.id for message in ordered}
    for thread in (thread for threads in served.values() for thread in threads):
        ordered += [message for message in thread if message.id not in reached]
    return ordered


def _serves(file: Path, root: Path, session_id: str) -> bool:
    """Whether a file beside the session is one of its agents', told by its first record."""
    first = next(jsonlines.iterate(file, root, [], recover=True), None)
    return first is not None and row_of(first).session == session_id


def _noted_call(file: Path) -> str | None:
    note = file.with_suffix(".meta.json")
    try:
        return string(mapping(jsonlines.parse(note.read_bytes())).get("toolUseId"))
    except (OSError, ValueError):
        return None


def _call_of(
    thread: Thread, messages: Sequence[AnyMessage], calls: Sequence[SubAgent], taken: set[str]
) -> tuple[SubAgent | None, CallerEvidence]:
    own = {message.id for message in messages}
    calls = [call for call in calls if call.id not in own]
    for call in calls:
        if thread.call and call.external_id == thread.call:
            return call, "native"
    for call in calls:
        if call.agent_id == thread.agent:
            return call, "native"
    prompt = next((part.text for message in messages[:1] for part in _words(message)), None)
    for call in calls:
        if prompt and call.prompt == prompt and call.id not in taken and not call.agent_id:
            return call, "derived"
    return None, "none"


def _words(message: AnyMessage) -> list[Text]:
    if not isinstance(message, UserMessage):
        return []
    return [part for part in message.content if isinstance(part, Text)]


def _stray(messages: list[AnyMessage]) -> list[AnyMessage]:
    """Mark the warm-up of a subagent, which no call asked for, as the harness's own."""
    first = messages[0] if messages else None
    if isinstance(first, UserMessage) and [part.text for part in _words(first)] == [_WARM_UP]:
        return [
            msgspec.structs.replace(message, author="harness", provenance="warm-up")
            for message in messages
        ]
    return messages


def _expanded(
    messages: Sequence[AnyMessage], served: dict[str, list[list[AnyMessage]]]
) -> Iterator[AnyMessage]:
    stack = [iter(messages)]
    while stack:
        message = next(stack[-1], None)
        if message is None:
            stack.pop()
            continue
        yield message
        for thread in reversed(served.get(message.id, [])):
            stack.append(iter(thread))
