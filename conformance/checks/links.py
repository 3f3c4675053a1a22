"""What an adapter is checked for where links, or an id, would lead out of a home.

A home may come from anybody. What a link in it leads to outside, or a path that is given for an
id, is not of the home, and may be a secret of whoever reads.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from conformance.adapters import Adapter, Failed, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import laid, session_file
from conformance.checks.reading import newest
from conformance.corpus import Case, load_case

_LINKED = ("linked-file", "linked-folder")


class ReadsNothingOutside(Probe):
    """No link and no id leads a reader out of the home."""

    answers: ClassVar[str] = "read.links"
    checks: ClassVar[Mapping[str, str]] = {
        "read.links": "a session that a link leads to, outside of the home, is not read",
        "read.paths": "an id that is a path is of no session",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the ways out, for one recording of the newest release."""
        for name in _one(place, agent):
            for kind in _LINKED:
                yield Subject(f"{name}/{kind}", agent, ("read.links",))
            yield Subject(f"{name}/path", agent, ("read.paths",))

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Ask for a session that lies outside."""
        name, _, kind = subject.name.rpartition("/")
        case = load_case(place.corpus / name, place.corpus)
        home = laid(case, place.scratch / "linked" / "home")
        if kind == "path":
            outside = laid(case, place.scratch / "linked" / "outside") / case.facts.session_path
            within = (home / case.facts.session_path).parent
            for wanted in (str(outside), os.path.relpath(outside, within)):
                yield from _read(adapter, subject, home, wanted, "read.paths")
            return
        _link(case, home, place.scratch / "linked" / "outside", kind)
        yield from _read(adapter, subject, home, case.facts.session_id, "read.links")


class ListsNothingOutside(Probe):
    """No link leads a listing out of the home."""

    answers: ClassVar[str] = "list.links"
    checks: ClassVar[Mapping[str, str]] = {
        "list.links": "a session that a link leads to, outside of the home, is not listed",
    }

    def offered(self, offer: Offer) -> bool:
        """Listing is enough."""
        return offer.list

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the ways out, for one recording of the newest release."""
        for name in _one(place, agent):
            for kind in _LINKED:
                yield Subject(f"{name}/{kind}", agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """List a home whose only session lies outside."""
        name, _, kind = subject.name.rpartition("/")
        case = load_case(place.corpus / name, place.corpus)
        home = laid(case, place.scratch / "linked" / "home")
        _link(case, home, place.scratch / "linked" / "outside", kind)
        if len(adapter.list(subject.agent, home)):
            yield Told("list.links", "it is listed as if it lay there")


def _one(place: Place, agent: str) -> Iterator[str]:
    for case in newest(place.corpus, agent):
        if case.directory.name == "command-ok":
            yield case.name


def _link(case: Case, home: Path, outside: Path, kind: str) -> None:
    """Move a session's file, or the folder that it lies in, out of a home; leave a link."""
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir(parents=True)
    file = session_file(home, case.facts.session_path)
    moved = file if kind == "linked-file" else file.parent
    there = outside / moved.name
    shutil.move(moved, there)
    moved.symlink_to(there)


def _read(
    adapter: Adapter, subject: Subject, home: Path, session_id: str, check: str
) -> Iterator[Told]:
    try:
        adapter.read(subject.agent, home, session_id)
    except Failed:
        return
    yield Told(check, "it is read as if it lay there")
