"""What a session took in tokens: what the CLI says, and what its answers add up to.

Only a total that the CLI recorded is a total. What the answers took is added up apart from it,
each answer once however many records tell of it; answers that made no message (a summary of the
conversation, a title) are mostly not in it.
"""

from __future__ import annotations

from collections.abc import Set

import msgspec

from transcripts.facts.fact import Fact
from transcripts.model import Message, Usage
from transcripts.stores.notes import RecordedTotal, Spent

_NAMES = ("input", "output", "cache_read", "cache_write", "reasoning")


class TokenSum(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens added up; None where no answer says. Thoughts are part of the output.

    ``cache_in_input`` says that ``input`` holds what was read from the cache too, as the provider
    counts it; ``total`` counts everything once.
    """

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    reasoning: int | None
    cache_in_input: bool
    total: int


class TokensFold:
    """The tokens of one thread's answers.

    ``unended`` are those that were counted before they ended; it grows while messages are read.
    """

    def __init__(self, unended: Set[str] = frozenset()) -> None:
        self.spent = Spent()
        self.evidence: list[str] = []
        self.unended = unended
        self._of_unknown_length = 0

    def take(self, message: Message) -> None:
        """Take in a message: the first of each answer has its count."""
        usage = message.usage
        if usage is None or usage.scope != "response" or usage.accounting != "delta":
            return
        self.evidence.append(message.id)
        if message.id in self.unended:
            usage = msgspec.structs.replace(usage, output=None, reasoning=None)
            self._of_unknown_length += 1
        add(self.spent, usage)

    @property
    def partial(self) -> str | None:
        """What the sum leaves out, in words."""
        count = self._of_unknown_length
        if not count:
            return None
        return f"what was written in {count} of {len(self.evidence)} answers: counted too early"

    def summed(self, counted: Spent | None, *, cache_in_input: bool) -> Fact[TokenSum]:
        """Return the sum; ``counted`` is what was counted apart from messages, if anything was."""
        spent = self.spent if counted is None else counted
        if all(getattr(spent, name) is None for name in _NAMES):
            return Fact(unavailable="no answer's record says what it took")
        return Fact(
            value=token_sum(spent, cache_in_input=cache_in_input),
            evidence=tuple(self.evidence),
            accounting="derived",
            partial=self.partial,
        )


def add(spent: Spent, more: Usage | Spent | TokenSum) -> None:
    """Add counts to a sum; what is not told adds nothing."""
    if more.input is not None:
        spent.input = (spent.input or 0) + more.input
    if more.output is not None:
        spent.output = (spent.output or 0) + more.output
    if more.cache_read is not None:
        spent.cache_read = (spent.cache_read or 0) + more.cache_read
    if more.cache_write is not None:
        spent.cache_write = (spent.cache_write or 0) + more.cache_write
    if more.reasoning is not None:
        spent.reasoning = (spent.reasoning or 0) + more.reasoning


def token_sum(spent: Spent, *, cache_in_input: bool) -> TokenSum:
    """Return counts with their total."""
    parts = [spent.input, spent.output]
    if not cache_in_input:
        parts += [spent.cache_read, spent.cache_write]
    return TokenSum(
        input=spent.input,
        output=spent.output,
        cache_read=spent.cache_read,
        cache_write=spent.cache_write,
        reasoning=spent.reasoning,
        cache_in_input=cache_in_input,
        total=sum(part or 0 for part in parts),
    )


def token_total(
    recorded: RecordedTotal | None, why_not: str | None, who: str, summed: Fact[TokenSum]
) -> Fact[int]:
    """Return the CLI's own total.

    One that is less than what the session's own answers took leaves some of them out (what was
    undone, a process before this one), and is no total.
    """
    if recorded is None:
        return Fact(unavailable=why_not or f"{who} recorded no total of the session")
    sums = summed.value
    if sums is not None and (
        recorded.tokens < sums.total
        or (recorded.output is not None and recorded.output < (sums.output or 0))
    ):
        why = f"{who} wrote {recorded.tokens} into {recorded.record}, less than its answers took"
        return Fact(unavailable=why, records=(recorded.source,))
    partial = None
    if recorded.inherited:
        partial = f"{recorded.inherited} more are the session's that this one was copied from"
    return Fact(
        value=recorded.tokens,
        records=(recorded.source,),
        accounting="reported",
        partial=partial,
    )
