"""What a writer is checked for by the real CLI: it goes on, and its model is shown what was said.

Asked with ``--live`` alone. Conversations travel whole; where one is not gone on with, ever fewer
of its parts do, until the one at fault is known (:mod:`conformance.witnesses`). The model is a
scripted one on loopback, and what it was shown is the body of the request that the CLI sent it.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.adapters import Adapter, Failed, Offer, Skipped
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.converting import Converting
from conformance.checks.homes import laid
from conformance.checks.reading import newest
from conformance.corpus import releases
from conformance.crossing import all_stores
from conformance.history import judge_history
from conformance.matrix import read_case, recorded
from conformance.witnesses import (
    Carried,
    StoredSession,
    gather,
    made_conversation,
    recorded_conversation,
)
from transcripts.errors import UnwritableSession
from transcripts.ids import derive
from transcripts.model import Transcript
from transcripts.stores.base import Store, WrittenSession, agents, store_class

_MADE = "every-kind"
_SCENARIOS = ("command-fails", "file-edits", "parallel-calls")
_CHECKS = {
    "resumes": "the newest release goes on with it",
    "shown": "its model is shown every message of it, in order, each in its role",
}


class GoesOnWithWhatIsWritten(Probe):
    """Every kind of message, and a recorded conversation of each CLI, written and resumed."""

    answers: ClassVar[str] = "live.resumes"
    checks: ClassVar[Mapping[str, str]] = {f"live.{key}": _CHECKS[key] for key in _CHECKS}

    def offered(self, offer: Offer) -> bool:
        """Writing is enough."""
        return offer.write

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the made conversation, then what is recorded of each agent."""
        for name in (_MADE, *(one for one in agents() if releases(place.corpus, one))):
            yield Subject(f"made/{agent}/{name}", agent, self.checks.keys())

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Let the CLI resume what is written of one conversation."""
        resume = _resume(adapter)
        agent, name = subject.agent, subject.name.rpartition("/")[2]
        carried = made_conversation() if name == _MADE else _recorded(place, name)
        release = releases(place.corpus, agent)[-1]
        skipped: list[str] = []
        found = gather(carried, _written_by(adapter, agent, skipped), release, resume, "")
        asked = [
            one
            for one in found.sessions
            if one.cli.verdict != "refused" or not any(why in one.cli.why for why in skipped)
        ]
        if not asked:
            raise Skipped(adapter.name, skipped[0])
        for session in asked:
            yield from _told(session)


class GoesOnWithWhatIsConverted(Converting):
    """A recorded session, converted, is resumed by the newest release of the other CLI."""

    answers: ClassVar[str] = "live.converted-resumes"
    checks: ClassVar[Mapping[str, str]] = {
        f"live.converted-{key}": claim for key, claim in _CHECKS.items()
    }

    scenarios: ClassVar[Collection[str]] = _SCENARIOS

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Convert into an empty home, and let the CLI resume what lies there."""
        resume = _resume(adapter)
        name, _, target = subject.name.rpartition("/to-")
        case = next(one for one in newest(place.corpus, subject.agent) if one.name == name)
        source, home = laid(case, place.scratch / "source"), place.scratch / "target"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        answer = adapter.convert(
            subject.agent,
            source,
            case.facts.session_id,
            target,
            home,
            new_session_id=derive("going-on", target, case.name),
            cwd=case.facts.cwd,
        )
        resumed = resume(target, releases(place.corpus, target)[-1], home, answer.session_id)
        if resumed.why is not None:
            yield Told("live.converted-resumes", resumed.why)
            return
        sent = read_case(case, store_class(case.facts.agent)).messages
        kinds = {one.id: one.kind for one in sent}
        # An adapter may know the messages by other ids than we do.
        losses = [
            one if one.message in kinds else replace(one, message=None) for one in answer.losses
        ]
        for identifier, judgement in judge_history(sent, resumed.history, losses).items():
            if judgement.verdict == "lost":
                yield Told("live.converted-shown", f"{kinds[identifier]}: {judgement.why}")


def _resume(adapter: Adapter) -> Any:
    """Return what lets a CLI go on; :class:`Skipped` where none can be driven here."""
    try:
        from conformance.gathering import resume  # noqa: PLC0415 - the CLIs' own extra
        from live.releases import ReleaseError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Skipped(
            adapter.name,
            f"driving a CLI needs {error.name}; pip install 'transcript-conformance[live]'",
        ) from error

    def resumed(agent: str, release: str, home: Path, session_id: str) -> Any:
        try:
            return resume(agent, release, home, session_id)
        except ReleaseError as error:
            raise Skipped(adapter.name, str(error)) from error

    return resumed


def _written_by(adapter: Adapter, agent: str, skipped: list[str]) -> type[Store]:
    """Return a store of which the writing is the adapter's; why it skips any is told there."""

    class Asked(store_class(agent)):
        def __init__(self, home: Path | None = None) -> None:
            super().__init__(home)
            self._home = home or Path()

        def write(
            self,
            transcript: Transcript,
            *,
            session_id: str,
            cwd: str | None = None,
            model: str | None = None,
            cli_version: str | None = None,
            now: datetime | None = None,
        ) -> WrittenSession:
            try:
                made = adapter.write(
                    agent,
                    self._home,
                    transcript,
                    session_id=session_id,
                    cwd=cwd,
                    model=model,
                    cli_version=cli_version,
                    now=now,
                )
            except Failed as error:
                raise UnwritableSession(error.message) from error
            except Skipped as error:
                skipped.append(error.why)
                raise UnwritableSession(error.why) from error
            return WrittenSession(session_id=made.session_id, path=self.root, losses=made.losses)

    return Asked


def _recorded(place: Place, source: str) -> Carried:
    (one,) = recorded(place.corpus, {source: all_stores()[source]})
    return recorded_conversation(one.agent, one.release, one.read, one.forgotten)


def _told(session: StoredSession) -> Iterator[Told]:
    """Yield what one session, of one or many parts, says against its writer."""
    if session.cli.verdict != "exact":
        held = ", ".join(sorted({f"{part.kind}/{part.variant}" for part in session.parts})[:3])
        yield Told("live.resumes", f"{held}: {session.cli.why}")
        return
    for part in session.parts:
        if part.model is not None and part.model.verdict == "lost":
            yield Told("live.shown", f"{part.kind}/{part.variant}: {part.model.why}")
