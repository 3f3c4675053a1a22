"""What a reader is checked for: every recorded case against its script, and its manners."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from conformance.adapters import Adapter, Failed, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import laid, session_file
from conformance.checks.times import odd_times, recorded_times
from conformance.corpus import Case, cases, load_case, opened, releases
from conformance.truth import asked_for, faults
from transcripts.serialise import to_json

_STRANGER = "0badc0de-0000-4000-8000-00000000dead"
"""The id of a session that is in no home."""

_CWD = re.compile(r'"cwd": ?"([^"]+)"')


class ReadsTheScript(Probe):
    """Every message of the script is read as it was said, and nothing besides."""

    answers: ClassVar[str] = "read.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "read.answers": "a recorded session is read, without an error",
        "read.messages": "every message that was said is read once, and none that was not",
        "read.order": "messages stand in the order in which they were said",
        "read.authors": "each message is its author's: the person's, the model's, the harness's",
        "read.texts": "words are read as they were said, to the last character",
        "read.calls": "a call is read with its name and its arguments",
        "read.results": "a call's result is its own, whole",
        "read.exit-codes": "a command's exit status is a number, the one that it ended with",
        "read.statuses": "how a call ended is told: well, failed, denied, cut short",
        "read.circumstances": "what was rewound, copied, queued or summed up is told apart",
        "read.attachments": "pictures and sealed parts are there, byte for byte",
        "read.harness": "what a CLI says by itself is taken for nobody's words",
        "read.times": "a time that is told is one that the session's files say, in its zone",
        "read.session": "the session's id, directory and release are the recorded ones",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield every recording of the agent's CLI."""
        always = ("read.answers", "read.session", "read.times")
        for case in cases(place.corpus, agent):
            at_stake = {f"read.{aspect}" for aspect in asked_for(case)}
            yield Subject(case.name, agent, {*at_stake, *always})

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Read the session and hold it against the script."""
        case = load_case(place.corpus / subject.name, place.corpus)
        with opened(case) as home:
            transcript = adapter.read(subject.agent, home, case.facts.session_id)
            cwd, release = recorded_cwd(case, home), recorded_release(case, home)
            times = recorded_times(home)
        for fault in faults(case, transcript):
            yield Told(f"read.{fault.aspect}", fault.words)
        for odd in odd_times(transcript, times):
            yield Told("read.times", odd)
        for name, found, wanted in (
            ("agent", transcript.agent, case.facts.agent),
            ("session_id", transcript.session_id, case.facts.session_id),
            ("cwd", transcript.cwd, cwd),
            ("cli_version", transcript.cli_version, release),
        ):
            if wanted is not None and found != wanted:
                yield Told("read.session", f"{name} is {found!r}, not {wanted!r}")


class ReadsWithManners(Probe):
    """Reading changes nothing, gives the same each time, and never another session's words."""

    answers: ClassVar[str] = "read.again"
    checks: ClassVar[Mapping[str, str]] = {
        "read.again": "a session is read a second time, and after the adapter was opened anew",
        "read.repeatable": "two readings are equal in every field, ids included",
        "read.untouched": "reading changes no file: not its bytes, not its times, and adds none",
        "read.stranger": "of a session that is not there it is said that it is not there",
        "read.own": "a session holds no message of another one in the same home",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the recordings of the newest release."""
        for case in newest(place.corpus, agent):
            yield Subject(case.name, agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Read twice from a home with a second session in it, and a session that is not there."""
        case = load_case(place.corpus / subject.name, place.corpus)
        home = laid(case, place.scratch / "shared")
        laid(another(case, place.corpus), home, renamed=True, afresh=False)
        before = fingerprint(home)
        first = adapter.read(subject.agent, home, case.facts.session_id)
        adapter.reopen()
        second = adapter.read(subject.agent, home, case.facts.session_id)
        if to_json(first) != to_json(second):
            yield Told("read.repeatable", _difference(first, second))
        try:
            adapter.read(subject.agent, home, _STRANGER)
        except Failed as error:
            if error.stage != "find":
                yield Told("read.stranger", f"it failed at {error.stage!r}: {error.message}")
        else:
            yield Told("read.stranger", "it gave a session for an id that is in no file")
        touched = [name for name in {*before, *fingerprint(home)} if _at(home, name, before)]
        if touched:
            yield Told("read.untouched", f"{sorted(touched)[0]} is not as it was")
        alone = laid(case, place.scratch / "alone")
        by_itself = adapter.read(subject.agent, alone, case.facts.session_id)
        if len(by_itself.messages) != len(first.messages):
            count = len(first.messages) - len(by_itself.messages)
            yield Told("read.own", f"beside another session it has {count:+} messages")


def newest(corpus: Path, agent: str) -> Iterator[Case]:
    """Yield the recordings of an agent's newest release."""
    recorded = releases(corpus, agent)
    if recorded:
        yield from cases(corpus, agent, recorded[-1])


def another(case: Case, corpus: Path) -> Case:
    """Return another recording of the same release, whose words are others; itself if alone."""
    others = (
        one
        for one in cases(corpus, case.facts.agent, case.facts.release)
        if one.facts.scenario != case.facts.scenario
    )
    return next(others, case)


def inhabited(corpus: Path, agent: str, home: Path) -> Path:
    """Make a home anew, with another session of the agent's in it if one is recorded."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for case in islice(newest(corpus, agent), 1):
        laid(case, home, renamed=True)
    return home


def recorded_cwd(case: Case, home: Path) -> str | None:
    """Return the directory that the session's own records name first, if it was begun there.

    Some releases record no directory, and one that works in a worktree records that.
    """
    told = _CWD.search(session_file(home, case.facts.session_path).read_text("utf-8"))
    return case.facts.cwd if told is not None and told[1] == case.facts.cwd else None


def recorded_release(case: Case, home: Path) -> str | None:
    """Return the release if the session's own records name it."""
    text = session_file(home, case.facts.session_path).read_text("utf-8")
    return case.facts.release if f'"{case.facts.release}"' in text else None


def fingerprint(directory: Path) -> dict[str, tuple[str, int]]:
    """Return each file's digest and time of change, by its place below a directory."""
    return {
        path.relative_to(directory).as_posix(): (
            sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def _at(home: Path, name: str, before: Mapping[str, tuple[str, int]]) -> bool:
    path = home / name
    if not path.is_file() or name not in before:
        return True
    return before[name] != (sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)


def _difference(first: Any, second: Any) -> str:
    """Say which of two transcripts' fields differ first."""
    for name in first.__struct_fields__:
        mine, theirs = getattr(first, name), getattr(second, name)
        if name == "messages":
            for number, (one, other) in enumerate(zip(mine, theirs, strict=False)):
                if one != other:
                    field = next(
                        (
                            key
                            for key in one.__struct_fields__
                            if getattr(one, key) != getattr(other, key, None)
                        ),
                        "kind",
                    )
                    return f"message {number} ({one.kind}) has another {field} the second time"
        if mine != theirs:
            return f"{name} is another the second time"
    return "the two differ"
