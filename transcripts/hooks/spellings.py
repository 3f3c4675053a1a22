"""Events that a harness tells twice, because hooks are registered under both of their spellings.

One of two tellings is read: that of the spelling in which a session's first event came. The
other is no second call; its lines are named as lines of which nothing came.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache

import msgspec

from transcripts.hooks.dialects.base import Spelling
from transcripts.hooks.events import HookEvent

_MOST_SESSIONS = 1024
_MOST_NAMES = 64


class _Session(msgspec.Struct, gc=False):
    """The spelling that is read of one session, and the names that it was told in so far."""

    read: str
    told: set[str] = msgspec.field(default_factory=set)
    both: bool = False


class Spellings:
    """Tells of each event whether it is the second telling of what was told already."""

    def __init__(self, spelt: Spelling) -> None:
        self._spelt = lru_cache(maxsize=_MOST_NAMES)(spelt)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def told_again(self, event: HookEvent) -> bool:
        """Take an event; return whether its session tells all in another spelling too."""
        told = event.name or ""
        session = self._sessions.get(event.session or "")
        if session is not None and told in session.told:
            return False
        found = self._spelt(told)
        if found is None:
            return False
        name, spelling = found
        if session is None:
            session = self._sessions[event.session or ""] = _Session(spelling)
            if len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        if spelling == session.read:
            session.told.add(told)
            return False
        session.both = session.both or (name, session.read) in map(self._spelt, session.told)
        return session.both
