"""A link to another message crosses if it leads to the copy of what it led to."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.fidelity import compare
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CompactBoundary,
    Superseded,
    Text,
    UserMessage,
)


def session(scope: str, *, by: int = 3, kept: int = 0) -> Sequence[AnyMessage]:
    """A compacted conversation whose ids are a session's own; ``by`` and ``kept`` are its links."""
    ids = [f"{scope}{number}" for number in range(5)]

    def words(text: str) -> tuple[Text, ...]:
        return (Text(text=text),)

    return (
        UserMessage(id=ids[0], author="human", content=words("prune")),
        AgentMessage(
            id=ids[1],
            author="model",
            content=words("pruned"),
            superseded_by=Superseded(id=ids[by], why="compaction"),
        ),
        UserMessage(id=ids[2], author="human", content=words("rake")),
        CompactBoundary(
            id=ids[3], author="harness", summary=words("short"), preserved=(ids[kept],)
        ),
        CompactBoundary(id=ids[4], author="harness", summary=words("shorter")),
    )


def test_links_between_the_copies_are_the_same_links() -> None:
    judged = compare(session("a"), session("b"), ()).judged
    assert {one.verdict for one in judged.values()} == {"exact"}


def test_a_link_that_leads_elsewhere_is_another_one() -> None:
    judged = compare(session("a"), session("b", by=4, kept=2), ()).judged
    assert judged["a1"].verdict == "translated"
    assert judged["a3"].verdict == "translated"
    assert judged["a0"].verdict == "exact"
