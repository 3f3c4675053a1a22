"""Listings broken on purpose."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import KEPT, LINKED, MANY, SCENARIOS
from transcripts.stores.base import Listing, Unlisted


class ListsNothing(Fake):
    fails: ClassVar[Failing] = {
        "list.answers": SCENARIOS,
        "list.both": {"plain-exchange"},
        "list.links": LINKED,
        "stateful.listing": MANY,
        "kept.listed": KEPT,
    }

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        raise Failed(self.name, "internal", "it never works")


class ListsTwice(Fake):
    fails: ClassVar[Failing] = {
        "list.sessions": SCENARIOS,
        "list.both": {"plain-exchange"},
        "stateful.listed": MANY,
        "stateful.directories": MANY,
    }

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing([*listing, *listing], 2 * len(listing) + len(listing.failed), listing.failed)


class ListsNoDirectory(Fake):
    fails: ClassVar[Failing] = {"list.facts": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing([replace(one, cwd=None) for one in listing], listing.seen, listing.failed)


class ListsEveryDirectory(Fake):
    fails: ClassVar[Failing] = {"list.directory": SCENARIOS, "stateful.directories": MANY}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        return super().list(agent, home)


class StopsAtDamage(Fake):
    fails: ClassVar[Failing] = {
        "list.damaged": SCENARIOS,
        # Such a link is named as failed, too.
        "list.links": {"command-ok/linked-file"},
    }

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        for one in listing.failed:
            raise Failed(self.name, "read", one.why)
        return listing


class CountsTooMuch(Fake):
    fails: ClassVar[Failing] = {"list.counts": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing(listing.sessions, listing.seen + 1, listing.failed)


class HidesWhatFailed(Fake):
    fails: ClassVar[Failing] = {"list.damaged": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing(listing.sessions, len(listing))


class StopsListingAtDamage(Fake):
    fails: ClassVar[Failing] = {"list.damaged": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        if not listing.failed:
            return listing
        failed = [*listing.failed, *(Unlisted(path=one.path, why="-") for one in listing)]
        return Listing((), listing.seen, failed)


class TouchesWhatItLists(Fake):
    fails: ClassVar[Failing] = {"list.untouched": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        (home / "index.of.mine").write_text(datetime.now(UTC).isoformat())
        return super().list(agent, home, cwd=cwd)


class ListsTheOldestFirst(Fake):
    fails: ClassVar[Failing] = {"list.order": {"plain-exchange"}}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing([*reversed(list(listing))], listing.seen, listing.failed)


class ListsFromElsewhere(Fake):
    fails: ClassVar[Failing] = {"list.paths": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        moved = [replace(one, path=f"elsewhere/{one.path}") for one in listing]
        return Listing(moved, listing.seen, listing.failed)


class ListsTheTimeOfListing(Fake):
    fails: ClassVar[Failing] = {"list.times": SCENARIOS}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        now = datetime(2030, 1, 1, tzinfo=UTC)
        moved = [replace(one, updated_at=now) for one in listing]
        return Listing(moved, listing.seen, listing.failed)
