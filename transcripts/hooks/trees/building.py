"""The tree of a log, built event by event or all at once: both end in the same tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transcripts.hooks.correlation.correlating import Correlator
from transcripts.hooks.correlation.matching import Link
from transcripts.hooks.correlation.pairing import Orphan
from transcripts.hooks.correlation.sessions import Turn
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent
from transcripts.hooks.logs import BadLine
from transcripts.hooks.trees.assembling import Found
from transcripts.hooks.trees.projecting import project
from transcripts.hooks.trees.tree import Tree


class TreeBuilder:
    """Takes events as they come; :meth:`snapshot` shows what is known so far.

    A link that a snapshot shows stays, or becomes an orphan; it never goes to another event,
    and nothing changes about a turn that is over.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._correlator = Correlator(dialect, self)
        self._events: dict[Turn, list[HookEvent]] = {}
        self._final = Found(dialect=dialect)

    def add(self, event: HookEvent) -> None:
        """Take the next event."""
        self._final.events[event.line] = event
        turn = self._correlator.add(event)
        self._events.setdefault(turn, []).append(event)

    def linked(self, turn: Turn, link: Link) -> None:
        """Keep a final link."""
        self._final.note(link)

    def orphaned(self, turn: Turn, orphan: Orphan) -> None:
        """Keep what will stay an orphan."""
        self._final.orphans[orphan.event] = orphan.why

    def phantom(self, turn: Turn, phantom: Orphan) -> None:
        """Keep what ends what never began."""
        self._final.phantoms[phantom.event] = phantom.why

    def closed(self, turn: Turn) -> None:
        """Nothing is to be done: what was settled has been told."""

    def snapshot(self, bad_lines: Sequence[BadLine] = (), *, payloads: bool = False) -> Tree:
        """Return what is known so far; what may still change is not shown as a link."""
        found = Found(
            dialect=self._dialect,
            events=self._final.events,
            of_owner={line: list(links) for line, links in self._final.of_owner.items()},
            of_event=dict(self._final.of_event),
            orphans=dict(self._final.orphans),
            phantoms=self._final.phantoms,
        )
        for turn in self._events:
            if turn.known is None:
                continue
            known = turn.known.resolve(is_open=True)
            for link in known.links:
                found.note(link)
            found.orphans.update((orphan.event, orphan.why) for orphan in known.orphans)
        return project(self._events, found, bad_lines, payloads=payloads)

    def finish(self, bad_lines: Sequence[BadLine] = (), *, payloads: bool = False) -> Tree:
        """Return the tree of all events: no more will come."""
        for session in self._correlator.sessions.values():
            self._correlator.close(session)
        return project(self._events, self._final, bad_lines, payloads=payloads)


def build_tree(
    events: Iterable[HookEvent],
    dialect: Dialect,
    bad_lines: Sequence[BadLine] = (),
    *,
    payloads: bool = False,
) -> Tree:
    """Return the tree of some events of one harness.

    ``bad_lines`` may grow while the events are read, as a log's do.
    """
    builder = TreeBuilder(dialect)
    for event in events:
        builder.add(event)
    return builder.finish(bad_lines, payloads=payloads)
