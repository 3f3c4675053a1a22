"""What a writer leaves behind: only the session, where it belongs, for its owner, from then on."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from conformance.adapters import Adapter, Offer
from conformance.checks.again import another_process
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.made import made, name_of, variant_of
from conformance.checks.reading import fingerprint
from conformance.kinds import CWD, conversation
from transcripts.ids import derive

_NOW = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)
"""The clock that a writer is given: no machine's own."""

_ROOTS = {"claude": (".claude", ".claude.json"), "codex": (".codex",), "copilot": (".copilot",)}
_LEFT_OVER = re.compile(r"\.|.*(~|\.(tmp|temp|part|partial|bak|swp|lock))$|tmp", re.IGNORECASE)
_DATE = re.compile(r"20\d\d-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d")


def _subjects(probe: Probe, place: Place, agent: str) -> Iterator[Subject]:
    """Yield one made conversation: what it is about makes no difference here."""
    for variant in made(place)[:1]:
        yield Subject(name_of(variant, agent), agent, probe.checks)


class LeavesOnlyTheSession(Probe):
    """Two conversations are written into an empty home: what is there then is looked at."""

    answers: ClassVar[str] = "kept.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "kept.answers": "two conversations are written one after the other, without an error",
        "kept.apart": "the second leaves every file of the first as it was",
        "kept.id": "the id that is answered is the session's own: its files are named by it",
        "kept.clock": "no time is the machine's own where the clock is given",
        "kept.inside": "nothing is written outside of the agent's own directory",
        "kept.tidy": "nothing temporary is left",
        "kept.private": "nobody but the owner may read what is written",
    }

    def offered(self, offer: Offer) -> bool:
        """Writing is enough."""
        return offer.write

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield one made conversation."""
        yield from _subjects(self, place, agent)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Write two and look at everything that there is."""
        around = place.scratch / "kept"
        shutil.rmtree(around, ignore_errors=True)
        home = around / "home"
        home.mkdir(parents=True)
        before: dict[str, tuple[str, int]] = {}
        for number in range(2):
            answer = adapter.write(
                subject.agent,
                home,
                conversation([variant_of(subject.name)]),
                session_id=derive("conformance-kept", subject.agent, str(number)),
                cwd=CWD,
                now=_NOW,
            )
            after = fingerprint(home)
            for name, was in before.items():
                if after.get(name) != was:
                    yield Told("kept.apart", f"{name} is not as the first left it")
            new = sorted(after.keys() - before.keys())
            if not any(answer.session_id in name for name in new):
                yield Told("kept.id", f"no file is named by {answer.session_id}")
            before = after
        yield from _everything(subject.agent, around, home)


def _everything(agent: str, around: Path, home: Path) -> Iterator[Told]:
    """Look at every file: where it lies, its name, who may read it, which times it says."""
    today = datetime.now(UTC)
    stamps = {f"{today + timedelta(days=days):%Y-%m-%d}" for days in (-1, 0, 1)}
    for path in sorted(one for one in around.rglob("*") if one.is_file()):
        name = path.relative_to(around).as_posix()
        parts = path.relative_to(home).parts if path.is_relative_to(home) else ()
        if not parts or parts[0] not in _ROOTS[agent]:
            yield Told("kept.inside", f"{name} is not the agent's")
        if _LEFT_OVER.match(path.name) and path.name not in _ROOTS[agent]:
            yield Told("kept.tidy", f"{name} was left")
        above = [home.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
        if not any(one.stat().st_mode & 0o077 == 0 for one in above or [path]):
            yield Told("kept.private", f"{name} may be read by others")
        said = name + path.read_text("utf-8", errors="replace")
        for time in _DATE.findall(said):
            if time[:10] in stamps:
                yield Told("kept.clock", f"{name} says {time}, which is the machine's own clock")
                break


class ListsWhatItWrote(Probe):
    """What was written is there for whoever looks next."""

    answers: ClassVar[str] = "kept.listed"
    checks: ClassVar[Mapping[str, str]] = {
        "kept.listed": "what was written is listed, also by another process",
    }

    def offered(self, offer: Offer) -> bool:
        """Writing and listing are needed."""
        return offer.write and offer.list

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield one made conversation."""
        yield from _subjects(self, place, agent)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Write, list here and there."""
        home = place.scratch / "listed-after"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        wanted = derive("conformance-check", subject.agent, subject.name)
        sent = conversation([variant_of(subject.name)])
        answer = adapter.write(subject.agent, home, sent, session_id=wanted, cwd=CWD)
        here = adapter.list(subject.agent, home, cwd=CWD)
        if answer.session_id not in [one.session_id for one in here]:
            yield Told("kept.listed", "it is not listed for its directory")
        with another_process(adapter) as other:
            there = other.list(subject.agent, home)
        if answer.session_id not in [one.session_id for one in there]:
            yield Told("kept.listed", "another process does not list it")
