"""From a session's messages, streamed or whole, to its sheet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from transcripts.facts.fact import Fact
from transcripts.facts.sheet import SCHEMA_VERSION, Facts, FactsSheet, SubagentFacts, ThreadFold
from transcripts.facts.tokens import token_total
from transcripts.model import AnyMessage, Transcript, UserMessage
from transcripts.reading import find_session
from transcripts.stores.base import Store, store_class
from transcripts.stores.notes import Notes


def facts_of_path(
    session_or_path: str,
    agent: str | None = None,
    home: Path | None = None,
    recover: bool = False,
) -> FactsSheet:
    """Return the sheet of a session by its path or id, read in bounded memory."""
    store, path = find_session(session_or_path, agent, home)
    notes = Notes()
    fold = SheetFold(store, notes)
    fold.take(store.iter_noting(path, notes, recover=recover))
    return fold.sheet()


def facts_of(transcript: Transcript) -> FactsSheet:
    """Return the sheet of a transcript: what only records say that are no message is not in it."""
    notes = Notes(
        agent=transcript.agent,
        session_id=transcript.session_id,
        cwd=transcript.cwd,
        cli_version=transcript.cli_version,
        lineage=transcript.lineage,
        unread=transcript.unread,
        total_unavailable="a transcript in the normalised model holds no total",
    )
    fold = SheetFold(store_class(transcript.agent), notes)
    fold.take(transcript.messages)
    return fold.sheet()


class SheetFold:
    """The threads of one session, each gathered apart."""

    def __init__(self, store: type[Store], notes: Notes) -> None:
        self.store = store
        self.notes = notes
        self.main = ThreadFold(notes)
        self._threads: dict[str, ThreadFold] = {}
        self._callers: dict[str, str | None] = {}
        self._has_main = False

    def take(self, messages: Iterable[AnyMessage]) -> None:
        """Take in messages, in order."""
        main, threads = self.main, self._threads
        turns = main.human_turns
        for message in messages:
            if isinstance(message, UserMessage):
                turns.take(message)
            else:
                turns.previous = None
            agent = message.agent
            if agent is None:
                self._has_main = True
                main.take(message)
                continue
            fold = threads.get(agent)
            if fold is None and message.caller is None and message.author == "harness":
                # The CLI tries its agents by itself; nobody handed them a task.
                continue
            if fold is None:
                fold = threads[agent] = ThreadFold(self.notes)
                self._callers[agent] = message.caller
                if message.caller is None:
                    main.subagents.stray(message)
            fold.take(message)

    def sheet(self) -> FactsSheet:
        """Return the sheet, once all messages are taken in."""
        notes = self.notes
        self.main.window.moment(notes.first_at)
        self.main.window.moment(notes.last_at)
        for change in notes.shell_changes:
            self.main.changed_files.by_shell(change)
        return FactsSheet(
            schema_version=SCHEMA_VERSION,
            agent=notes.agent,
            session_id=notes.session_id,
            cli_version=notes.cli_version,
            facts=self._of_session(),
            subagents=[self._subagent(agent, fold) for agent, fold in self._threads.items()],
            unread=notes.unread,
        )

    def _of_session(self) -> Facts:
        if self._has_main:
            return self._facts(self.main, of_session=True)
        # Nothing is known of what is not there: it is not that nothing was done.
        gone = Fact[Any](unavailable="only its subagents' transcripts are left")
        facts: dict[str, Any] = dict.fromkeys(Facts.__struct_fields__, gone)
        facts["subagents"] = self.main.subagents.fact()
        return Facts(**facts)

    def _subagent(self, agent: str, fold: ThreadFold) -> SubagentFacts:
        caller = self._callers[agent]
        folds = (self.main, *self._threads.values())
        served = (one.subagents.served(caller) for one in folds)
        task = next((one for one in served if one is not None), None)
        return SubagentFacts(
            agent=agent,
            task=None if task is None else task.task,
            outcome="unknown" if task is None else task.outcome,
            facts=self._facts(fold, of_session=False),
        )

    def _facts(self, fold: ThreadFold, *, of_session: bool) -> Facts:
        notes, store = self.notes, self.store
        counted = notes.spent if of_session else None
        summed = fold.tokens.summed(counted, cache_in_input=store.cache_is_input)
        if of_session:
            who = f"{notes.agent} {notes.cli_version or '(of an unknown release)'}"
            total = token_total(notes.total, notes.total_unavailable, who, summed)
        else:
            total = Fact[int](unavailable="a total is of the session as a whole")

        def is_told_by_words(provenance: str | None) -> bool:
            return store.is_told_by_words(provenance, notes.cli_version)

        others = {path for one in self._threads.values() for path in one.changed_files.paths()}
        return Facts(
            tool_calls=fold.calls.count(),
            tool_calls_by_name=fold.calls.by_name(),
            failed_calls=fold.calls.failed(),
            unresolved_calls=fold.calls.unresolved(),
            subagents=fold.subagents.fact(),
            pull_requests=fold.pull_requests.fact(notes.pull_requests if of_session else ()),
            changed_files=fold.changed_files.fact(
                notes.copied_aside if of_session else {}, notes.cwd, others
            ),
            human_turns=fold.human_turns.turns(is_told_by_words),
            excluded_turns=fold.human_turns.excluded(is_told_by_words),
            final_message=fold.final_message.fact(),
            window=fold.window.fact(),
            token_total=total,
            token_sum=summed,
        )
