"""The facts of a session on one sheet, gathered in one pass over its messages.

What a copy of another session's messages says is that session's; what a subagent did is on the
subagent's own sheet, never on its parent's.
"""

from __future__ import annotations

import msgspec

from transcripts.facts.calls import CallsFold
from transcripts.facts.changed_files import ChangedFile, ChangedFilesFold
from transcripts.facts.fact import Fact
from transcripts.facts.final_message import FinalMessage, FinalMessageFold
from transcripts.facts.human_turns import ExcludedTurn, HumanTurn, HumanTurnsFold
from transcripts.facts.pull_requests import PullRequest, PullRequestsFold
from transcripts.facts.subagents import Outcome, SpawnedTask, SubagentsFold
from transcripts.facts.tokens import TokensFold, TokenSum
from transcripts.facts.window import Window, WindowFold
from transcripts.model import AgentMessage, Call, CommandExecution, FileChange, Message, Unread
from transcripts.stores.notes import Notes

SCHEMA_VERSION = 1


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The answers about a session, or about one subagent of it."""

    tool_calls: Fact[int]
    tool_calls_by_name: Fact[dict[str, int]]
    failed_calls: Fact[int]
    unresolved_calls: Fact[int]
    subagents: Fact[list[SpawnedTask]]
    pull_requests: Fact[list[PullRequest]]
    changed_files: Fact[list[ChangedFile]]
    human_turns: Fact[list[HumanTurn]]
    excluded_turns: Fact[list[ExcludedTurn]]
    final_message: Fact[FinalMessage]
    window: Fact[Window]
    token_total: Fact[int]
    token_sum: Fact[TokenSum]


class SubagentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What one subagent did, by its own messages, and how its task ended, by its caller's."""

    agent: str
    task: str | None
    outcome: Outcome
    facts: Facts


class FactsSheet(msgspec.Struct, frozen=True, kw_only=True):
    """What ``transcripts facts SESSION --format json`` prints."""

    schema_version: int
    agent: str
    session_id: str
    cli_version: str | None
    facts: Facts
    subagents: list[SubagentFacts]
    unread: tuple[Unread, ...]


class ThreadFold:
    """All that is gathered of one thread."""

    def __init__(self, notes: Notes) -> None:
        self.calls = CallsFold()
        self.subagents = SubagentsFold()
        self.pull_requests = PullRequestsFold()
        self.changed_files = ChangedFilesFold()
        self.human_turns = HumanTurnsFold(notes.unstamped)
        self.final_message = FinalMessageFold()
        self.window = WindowFold()
        self.tokens = TokensFold(notes.unended)

    def take(self, message: Message) -> None:
        """Take in a message of the thread."""
        if message.inherited_from is not None:
            return
        self.window.take(message)
        if message.usage is not None:
            self.tokens.take(message)
        # Each question is asked only of what can answer it: a session may be of any length.
        if isinstance(message, Call):
            self.calls.take(message)
            self.subagents.take(message)
            if isinstance(message, CommandExecution):
                self.pull_requests.take(message)
            elif isinstance(message, FileChange):
                self.changed_files.take(message)
        elif isinstance(message, AgentMessage):
            self.final_message.take(message)
