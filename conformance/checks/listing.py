"""What a listing is checked for: all sessions, each once, with what is known of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from conformance.adapters import Adapter, Failed, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import OTHER_IDS, laid, session_file
from conformance.checks.reading import fingerprint, newest, recorded_cwd
from conformance.checks.times import recorded_times
from conformance.corpus import Case, load_case
from transcripts.model import SessionInfo


class ListsWhatIsThere(Probe):
    """Every session of a home is listed once, and what can't be listed is said."""

    answers: ClassVar[str] = "list.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "list.answers": "the sessions of a home are listed, without an error",
        "list.sessions": "every session is listed, and each once",
        "list.facts": "what is listed of a session is the session's own: directory, first words",
        "list.paths": "a session's path leads, from the store, to the session's own file",
        "list.times": "when it was last written to is a time of the session's own, or its file's",
        "list.directory": "asked for one directory, only its sessions are listed",
        "list.counts": "as many files are seen as are listed or said to have failed",
        "list.damaged": "a damaged session hides no other, and is listed or named as failed",
        "list.untouched": "listing changes no file",
    }

    def offered(self, offer: Offer) -> bool:
        """Listing is enough."""
        return offer.list

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the recordings of the newest release."""
        for case in newest(place.corpus, agent):
            yield Subject(case.name, agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """List a home with the session in it, then one in which it lies beside a damaged one."""
        case = load_case(place.corpus / subject.name, place.corpus)
        home = laid(case, place.scratch / "listed")
        before = fingerprint(home)
        listing = adapter.list(subject.agent, home)
        if fingerprint(home) != before:
            yield Told("list.untouched", "a file is not as it was")
        mine = [one for one in listing if one.session_id == case.facts.session_id]
        if len(mine) != 1:
            yield Told("list.sessions", f"the session is listed {len(mine)} times")
        ids = [one.session_id for one in listing]
        if len(set(ids)) != len(ids):
            yield Told("list.sessions", "an id is listed twice")
        if listing.seen != len(listing) + len(listing.failed):
            yield Told(
                "list.counts",
                f"{listing.seen} seen, {len(listing)} listed and {len(listing.failed)} failed",
            )
        for one in mine:
            yield from self._facts(one, case, recorded_cwd(case, home))
            yield from _place(one, case, home)
        if len(adapter.list(subject.agent, home, cwd="/srv/nowhere")):
            yield Told("list.directory", "a session is listed for a directory that has none")
        if (cwd := recorded_cwd(case, home)) is not None:
            here = adapter.list(subject.agent, home, cwd=cwd)
            if case.facts.session_id not in [one.session_id for one in here]:
                yield Told("list.directory", "the session is not listed for its own directory")
        yield from self._beside_damage(adapter, subject, case, home)

    def _facts(self, one: SessionInfo, case: Case, cwd: str | None) -> Iterator[Told]:
        """See that what is listed of a session is what was said in it."""
        if cwd is not None and one.cwd != cwd:
            yield Told("list.facts", f"its directory is {one.cwd!r}, not {cwd!r}")
        # The first words of a fork may be its own, or those of what it goes on from.
        said = [
            values["text"]
            for values in case.truth.messages
            if values["kind"] == "UserMessage" and values["thread"] is None
        ]
        shown = one.first_user_message
        forked = any("inherited" in values for values in case.truth.messages)
        if shown is None or forked or not said:
            return
        if _begin(said[0]) not in _plain(shown) and _begin(shown) not in _plain(said[0]):
            yield Told("list.facts", f"its first words are {shown[:60]!r}, not {said[0][:60]!r}")

    def _beside_damage(
        self, adapter: Adapter, subject: Subject, case: Case, home: Path
    ) -> Iterator[Told]:
        """Lay a session beside it that is cut off in its first line."""
        laid(case, home, renamed=True, afresh=False)
        old, new = case.facts.session_id, OTHER_IDS[subject.agent]
        bad = session_file(home, case.facts.session_path.replace(old, new))
        bad.write_bytes(bad.read_bytes()[:20])
        try:
            listing = adapter.list(subject.agent, home)
        except Failed as error:
            yield Told(
                "list.damaged", f"beside a damaged session nothing is listed: {error.message}"
            )
            return
        if old not in [one.session_id for one in listing]:
            yield Told("list.damaged", "beside a damaged session the whole one is not listed")
        if new not in [one.session_id for one in listing] and not listing.failed:
            yield Told("list.damaged", "the damaged one is neither listed nor named as failed")


def _place(one: SessionInfo, case: Case, home: Path) -> Iterator[Told]:
    """See that a listing says where a session lies, and from when it is."""
    own = home / case.facts.session_path
    told = home / f".{case.facts.agent}" / one.path
    if told != own and not (told.is_relative_to(own) and told.exists()):
        yield Told("list.paths", f"{one.path} is not where the session lies")
    if one.updated_at is not None:
        files = [own, *own.rglob("*")]
        times = recorded_times(home) | {int(path.stat().st_mtime) for path in files}
        second = int(one.updated_at.timestamp())
        if not times & {second - 1, second}:
            yield Told("list.times", f"{one.updated_at.isoformat()} is no time of the session's")


class ListsTheNewestFirst(Probe):
    """Of two sessions the one that was written to last is listed first."""

    answers: ClassVar[str] = "list.both"
    checks: ClassVar[Mapping[str, str]] = {
        "list.both": "two sessions of one directory are listed, without an error",
        "list.order": "the session that was written to last is listed first",
    }

    def offered(self, offer: Offer) -> bool:
        """Listing is enough."""
        return offer.list

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield one recording: a copy lies beside it, first a newer one, then an older one."""
        for case in newest(place.corpus, agent):
            if case.directory.name == _TWICE:
                yield Subject(case.name, agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """List both homes: who goes by ids or names is right in one of them at most."""
        case = load_case(place.corpus / subject.name, place.corpus)
        mine, other = case.facts.session_id, OTHER_IDS[subject.agent]
        for month, first in (("2026-03", other), ("2025-11", mine)):
            home = laid(case, place.scratch / "ordered")
            there = set(home.rglob("*"))
            laid(case, home, renamed=True, afresh=False)
            for path in sorted(set(home.rglob("*")) - there):
                if path.is_file():
                    _moved(path, month)
            ids = [one.session_id for one in adapter.list(subject.agent, home)]
            if sorted(ids) != sorted([mine, other]):
                yield Told("list.both", f"{len(ids)} sessions are listed")
            elif ids[0] != first:
                yield Told("list.order", f"of {_MONTH} and {month} the older one is listed first")


_TWICE = "plain-exchange"
_MONTH = "2026-01"
"""When everything was recorded."""


def _moved(path: Path, month: str) -> None:
    """Let a session's file be of another month, in what it says and as a file."""
    content = path.read_bytes().replace(f"{_MONTH}-".encode(), f"{month}-".encode())
    path.write_bytes(content)
    at = datetime.fromisoformat(f"{month}-05T10:00:00+00:00").timestamp()
    os.utime(path, (at, at))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _begin(text: str) -> str:
    """Return the beginning of some words: a listing may cut them."""
    return _plain(text)[:30]
