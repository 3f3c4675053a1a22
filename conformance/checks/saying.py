"""Whether the words of a conversation are in the files that were written of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from conformance.checks.check import Told
from conformance.essence import TOKEN, Atom, atoms, essence, mended
from transcripts.losses import Loss, LossId
from transcripts.model import AgentMessage, Opaque, Reasoning, Text, Transcript, UserMessage

TAKES_AWAY: frozenset[LossId] = frozenset(
    {
        "withheld-error",
        "reasoning-opaque-dropped",
        "asset-dropped",
        "thread-flattened",
        "superseded-dropped",
        "harness-dropped",
        "empty-dropped",
    }
)
"""Losses by which words of a message do not cross; with any other they must be there."""


def crossing(transcript: Transcript, losses: Sequence[Loss]) -> list[Atom]:
    """Return what must be found, less what the writer says that it took away."""
    excused = {loss.message for loss in losses if loss.loss in TAKES_AWAY}
    if None in excused:
        return []
    return [atom for atom in atoms(transcript.messages) if atom.message.id not in excused]


def words(atom: Atom) -> list[str]:
    """Return the planted words by which something is found."""
    return [word for piece in essence(atom) for word in TOKEN.findall(piece)]


def told_words(crossed: Sequence[Atom], lines: Sequence[Sequence[str]]) -> Iterator[Told]:
    """Look for the planted words of each message in everything that was written."""
    said = ["\n".join(line) for line in lines]
    last = (0, "")
    for atom in crossed:
        planted = words(atom)
        for word in planted:
            if not any(word in line for line in said):
                yield Told("write.words", f"{word} of the {atom.kind} is in no file")
        if planted and atom.kind in ("UserMessage", "AgentMessage"):
            place = next((n for n in range(last[0], len(said)) if planted[0] in said[n]), None)
            if place is None:
                yield Told("write.order", f"{planted[0]} does not stand behind {last[1]}")
            else:
                last = (place, planted[0])


def told_texts(crossed: Sequence[Atom], leaves: Collection[str]) -> Iterator[Told]:
    """Look for each text as it was said, and for two that became one."""
    spoken: list[str] = []
    for atom in crossed:
        message = atom.message
        if not isinstance(message, UserMessage | AgentMessage):
            continue
        for part in message.content:
            if isinstance(part, Text) and not any(mended(part.text) in leaf for leaf in leaves):
                yield Told("write.texts", f"a {message.kind} is not as it was: {part.text[:60]!r}")
        spoken += words(atom)[:1]
    for leaf in leaves:
        together = [word for word in dict.fromkeys(spoken) if word in leaf]
        if len(together) > 1:
            yield Told("write.apart", f"{' and '.join(together)} stand in one text")


def told_seals(transcript: Transcript, leaves: Collection[str]) -> Iterator[Told]:
    """Look for what a provider sealed that is not the provider of this store's agent."""
    for message in transcript.messages:
        for part in message.content if isinstance(message, Reasoning) else ():
            if isinstance(part, Opaque) and any(part.data in leaf for leaf in leaves):
                yield Told("write.seals", f"a {part.form} of {part.provider} was handed on")
