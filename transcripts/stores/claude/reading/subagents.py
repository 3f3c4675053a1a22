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

from transcripts.model import AnyMessage, CallerEvidence, Damage, SubAgent
from transcripts.records import jsonlines
from transcripts.stores.claude import layout
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import mapping, string
from transcripts.stores.claude.reading.context import Session
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.reading.rowmaking import rows_of_file
from transcripts.stores.claude.reading.rows import Row, row_of
from transcripts.stores.claude.reading.threads import read_thread

_WARM_UP = "Warmup"


class Thread(NamedTuple):
    """One subagent's rows, and the call that its note names."""

    agent: str
    rows: list[Row]
    call: str | None

    @property
    def prompt(self) -> str | None:
        """The words with which the thread begins."""
        first = next((row for row in self.rows if row.type == "user"), None)
        return text_of(parts(first.entry.in_a_prompts_place)) if first else None


def own_threads(
    path: Path,
    root: Path,
    session_id: str,
    damage: list[Damage],
    *,
    recover: bool,
    sparing: bool,
) -> list[Thread]:
    """Return the threads that lie in files of their own."""
    threads: list[Thread] = []
    for file in layout.agent_files(path, session_id):
        agent = layout.agent_of_file(file.name)
        beside = file.parent == path.parent
        if agent is None or file == path or (beside and not _serves(file, root, session_id)):
            continue
        rows = rows_of_file(file, root, damage, recover=recover, sparing=sparing)
        threads.append(Thread(agent, rows, None if beside else _noted_call(file)))
    return threads


def inline_threads(rows: Sequence[Row]) -> list[Thread]:
    """Return the threads among the sidechain rows of a session's own file, in file order."""
    threads: dict[str, Thread] = {}
    thread_of: dict[str, str] = {}
    last: str | None = None
    for row in rows:
        agent = row.entry.agent_id or thread_of.get(row.parent or "")
        if agent is None and row.uuid and row.parent is None:
            agent = f"sidechain-{row.uuid}"
        agent = agent or last or "sidechain"
        last = agent
        if row.uuid:
            thread_of[row.uuid] = agent
        threads.setdefault(agent, Thread(agent, [], None)).rows.append(row)
    return list(threads.values())


def woven(
    main: Iterator[AnyMessage], threads: Sequence[Thread], session: Session
) -> Iterator[AnyMessage]:
    """Yield all messages, each thread's behind the call that it serves, strays at the end."""
    if not threads:
        yield from main
        return
    waiting = list(threads)
    yield from _expanded(main, waiting, session)
    while waiting:
        thread = waiting.pop(0)
        yield from _expanded(_stray(thread, session), waiting, session)


def _expanded(
    messages: Iterator[AnyMessage], waiting: list[Thread], session: Session
) -> Iterator[AnyMessage]:
    """Yield messages, after each call the threads that serve it; these are waited for no more."""
    stack = [messages]
    while stack:
        message = next(stack[-1], None)
        if message is None:
            stack.pop()
            continue
        if not isinstance(message, SubAgent):
            yield message
        else:
            served = _threads_of(message, waiting)
            yield _outcome(message, [thread for thread, _ in served])
            stack += [_served(thread, message, evidence, session) for thread, evidence in served]


def _outcome(call: SubAgent, threads: Sequence[Thread]) -> SubAgent:
    """Return a call as failed whose agent ended with its provider's failure.

    Releases before 2.1.332 hand the failure out as if it were the agent's report.
    """
    if call.status != "completed" or not any(_failed(thread) for thread in threads):
        return call
    said = text_of(call.output or ())
    return msgspec.structs.replace(call, status="failed", error=said or None, output=None)


def _failed(thread: Thread) -> bool:
    answers = (row for row in reversed(thread.rows) if row.type == "assistant")
    last = next(answers, None)
    return last is not None and last.entry.is_api_error_message is True


def _threads_of(call: SubAgent, waiting: list[Thread]) -> list[tuple[Thread, CallerEvidence]]:
    """Take the threads that serve a call: named by their note or by its result, else by prompt."""
    native = [
        thread
        for thread in waiting
        if call.agent_id == thread.agent or (thread.call and thread.call == call.external_id)
    ]
    found: list[tuple[Thread, CallerEvidence]] = [(thread, "native") for thread in native]
    if not found and not call.agent_id and call.prompt:
        alike = (thread for thread in waiting if not thread.call and thread.prompt == call.prompt)
        found = [(thread, "derived") for thread in [next(alike, None)] if thread is not None]
    for thread, _ in found:
        waiting.remove(thread)
    return found[::-1]


def _served(
    thread: Thread, call: SubAgent, evidence: CallerEvidence, session: Session
) -> Iterator[AnyMessage]:
    for message in read_thread(thread.rows, session, thread.agent):
        yield msgspec.structs.replace(
            message, caller=call.id, caller_evidence=evidence, turn=call.turn
        )


def _stray(thread: Thread, session: Session) -> Iterator[AnyMessage]:
    """Yield a thread that no call asked for; a warm-up is the harness's own."""
    messages = read_thread(thread.rows, session, thread.agent)
    if thread.prompt != _WARM_UP:
        return messages
    return (
        msgspec.structs.replace(message, author="harness", provenance="warm-up")
        for message in messages
    )


def _serves(file: Path, root: Path, session_id: str) -> bool:
    """Whether a file beside the session is one of its agents', told by its first record."""
    rows = jsonlines.iterate(file, root, [], recover=True, at_once=jsonlines.FEW)
    first = next(rows, None)
    return first is not None and row_of(first).session == session_id


def _noted_call(file: Path) -> str | None:
    note = file.with_suffix(".meta.json")
    try:
        return string(mapping(jsonlines.parse(note.read_bytes())).get("toolUseId"))
    except (OSError, ValueError):
        return None
