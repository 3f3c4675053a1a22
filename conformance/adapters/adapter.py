"""What every adapter is asked, whether it runs in this process or in one of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

from conformance.adapters.errors import NotOffered
from transcripts.losses import Loss
from transcripts.model import Transcript
from transcripts.stores.base import Listing

Verb = Literal["read", "write", "list", "convert"]


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who an adapter is: reports name it by this."""

    name: str
    version: str
    language: str
    homepage: str | None = None


class Offer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an adapter does with one agent's store.

    ``convert`` names the agents into whose stores it converts from this one.
    """

    read: bool = False
    write: bool = False
    list: bool = False
    convert: tuple[str, ...] = ()


class Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new session in a store: the id that it has, and what the adapter says was lost."""

    session_id: str
    losses: tuple[Loss, ...] = ()


class Adapter(ABC):
    """Something that reads, writes, lists or converts sessions: all of that, or any of it.

    A session travels as its agent, a *user's home* and an id. What an adapter does not offer
    raises :class:`NotOffered`; without an answer it raises :class:`Skipped`, and where it fails
    :class:`Failed`. Override the methods of what you offer.
    """

    name: str
    """The name under which the adapter was opened."""

    @property
    @abstractmethod
    def about(self) -> About:
        """Who the adapter is."""

    @abstractmethod
    def agents(self) -> Sequence[str]:
        """Return the agents of whose stores it offers anything."""

    @abstractmethod
    def offers(self, agent: str) -> Offer:
        """Return what it offers of an agent's store; an empty offer if nothing."""

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        """Read a session whole; with ``recover`` what is whole of it, and the damage."""
        del home, session_id, recover
        self.refuse("read", agent)

    def write(
        self,
        agent: str,
        home: Path,
        transcript: Transcript,
        *,
        session_id: str,
        cwd: str | None = None,
        model: str | None = None,
        cli_version: str | None = None,
        now: datetime | None = None,
    ) -> Written:
        """Write a new session into a home and touch nothing else.

        The arguments are those of :meth:`transcripts.stores.base.Store.write`. Whoever can't
        choose the id answers with the one that the session has.
        """
        del home, transcript, session_id, cwd, model, cli_version, now
        self.refuse("write", agent)

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        """List the sessions of a home, newest first; with ``cwd`` those of that directory."""
        del home, cwd
        self.refuse("list", agent)

    def convert(
        self,
        agent: str,
        home: Path,
        session_id: str,
        target_agent: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str | None = None,
        recover: bool = False,
    ) -> Written:
        """Carry a session of one agent's home into another's, as a new session there."""
        del home, session_id, target_home, new_session_id, cwd, recover
        self.refuse("convert", agent, target_agent)

    def reopen(self) -> None:  # noqa: B027 - most have nothing in memory
        """Forget everything: what is asked next is answered from the disk alone."""

    def close(self) -> None:  # noqa: B027 - most have nothing to end
        """End the adapter; it is asked nothing more."""

    def abandon(self) -> None:  # noqa: B027 - most can't be kept waiting for
        """End it at once, from any thread: what is being asked fails, and so does what follows."""

    def refuse(self, verb: Verb, agent: str, target: str | None = None) -> NoReturn:
        """Say that this is not offered."""
        into = f" into {target}" if target else ""
        raise NotOffered(self.name, f"does not {verb} sessions of {agent}{into}")
