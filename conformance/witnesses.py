"""Witnesses that share no code with a writer: the CLI that resumes, the model that is asked.

Gathering them needs the real CLIs, so they are stored (``conformance/witnesses``), each with
the digest of the bytes that were resumed, the release and the day. Later runs write the same
conversation again: other bytes have no witness until it is gathered anew.

All variants of a direction travel in one conversation, judged one by one; only when that
fails is each variant resumed alone, to find the one that is at fault. A recording that takes
something back, by a compaction or because the person went back, would take the recordings
before it with it: it travels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from conformance.corpus import version_key
from conformance.crossing import Crossing, Stores, written
from conformance.history import judge_history
from conformance.joining import Renaming
from conformance.kinds import CWD, MADE, STARTED, conversation, in_order, variants
from conformance.verdicts import Cell, Judgement, Witness, together
from live.model.history import Entry
from transcripts.ids import derive
from transcripts.model import AnyMessage, CompactBoundary, Transcript
from transcripts.stores.base import Store

WITNESSES_DIRECTORY = Path(__file__).parent / "witnesses"
FORMAT = 1

Tick = Callable[[str], None]


class Part(NamedTuple):
    """One variant or scenario of a conversation: what its cells are called and judged on."""

    name: str
    subjects: Mapping[str, tuple[str, ...]]
    """Message ids to judge, by kind."""
    messages: tuple[AnyMessage, ...]

    @property
    def label(self) -> str:
        """What tells the part from all others of its conversation."""
        return f"{'+'.join(self.subjects)}/{self.name}"

    @property
    def takes_back(self) -> bool:
        """Whether something in it takes the place of what was said before."""
        return any(
            isinstance(message, CompactBoundary) or message.superseded_by is not None
            for message in self.messages
        )


class Carried(NamedTuple):
    """Everything that goes in one direction: a transcript made of parts.

    ``forgotten`` are the messages that the source's own CLI does not show its model either.
    """

    source: str | None
    from_version: str | None
    parts: tuple[Part, ...]
    transcript: Transcript
    forgotten: Container[str] = ()


class Resumed(NamedTuple):
    """What a real CLI did with a session: None for ``why`` when it resumed and went on."""

    why: str | None
    history: Sequence[Entry]


Resume = Callable[[str, str, Path, str], Resumed]
"""Resumes a session: agent, release, home, session id."""


class StoredPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the model was shown of one kind in one variant; None when no request would hold it."""

    variant: str
    kind: str
    model: Judgement | None


class StoredSession(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One session that was resumed: its bytes, what was in it and what is judged by it.

    ``held`` names the parts that it was written from, None for the whole conversation.
    """

    sha256: str
    held: tuple[str, ...] | None
    cli: Judgement
    parts: tuple[StoredPart, ...]


class StoredDirection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was witnessed of one direction. ``source`` is None for made conversations."""

    source: str | None
    from_version: str | None
    witnessed_at: str
    sessions: tuple[StoredSession, ...]


class StoredWitnesses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``witnesses/<agent>/<release>.json``: what one release of a CLI did with every direction."""

    format: int
    agent: str
    release: str
    directions: tuple[StoredDirection, ...]


# ------------------------------------------------------------------ what is carried


def made_conversation() -> Carried:
    """Return every made variant as one conversation."""
    chosen = in_order(variant for variant in variants() if not variant.crosses)
    parts = tuple(
        Part(
            f"{variant.name}",
            {variant.kind: tuple(message.id for message in variant.subjects)},
            variant.messages,
        )
        for variant in chosen
    )
    return Carried(None, None, parts, conversation(chosen))


def recorded_conversation(
    agent: str,
    release: str,
    read: Sequence[tuple[str, Transcript]],
    forgotten: Container[str] = (),
) -> Carried:
    """Return all recorded sessions of one agent as one conversation, one after the other.

    Its messages have ids derived from the session's name and their own; so have the
    ``forgotten``.
    """
    parts: list[Part] = []
    messages: list[AnyMessage] = []
    renaming = Renaming()
    for scenario, transcript in read:
        renamed = renaming.messages(scenario, transcript.messages)
        kinds: dict[str, list[str]] = {}
        for message in renamed:
            kinds.setdefault(message.kind, []).append(message.id)
        subjects = {kind: tuple(found) for kind, found in kinds.items()}
        parts.append(Part(scenario, subjects, renamed))
        messages += renamed
    whole = _joined(agent, release, messages)
    return Carried(agent, release, tuple(parts), whole, forgotten)


def some_of(carried: Carried, parts: Sequence[Part]) -> Carried:
    """Return some of the parts as a conversation of their own."""
    whole = carried.transcript
    transcript = replace(
        whole,
        session_id=derive("part", carried.source, *(part.label for part in parts)),
        messages=_retimed([message for part in parts for message in part.messages]),
    )
    return carried._replace(parts=tuple(parts), transcript=transcript)


def _joined(agent: str, release: str, messages: Sequence[AnyMessage]) -> Transcript:
    return Transcript(
        agent=agent,
        session_id=derive("recorded", agent, release),
        cwd=CWD,
        cli_version=release,
        created_at=STARTED,
        updated_at=STARTED + timedelta(seconds=2 * len(messages)),
        messages=_retimed(messages),
    )


def _retimed(messages: Sequence[AnyMessage]) -> tuple[AnyMessage, ...]:
    """Let times rise through sessions that were recorded at one and the same time."""
    placed: list[AnyMessage] = []
    for number, message in enumerate(messages):
        placed.append(
            replace(
                message,
                at=STARTED + timedelta(seconds=2 * number),
                at_source="record",
                follows=placed[-1].id if placed else None,
            )
        )
    return tuple(placed)


# ------------------------------------------------------------------ gathering


def gather(
    carried: Carried,
    store: type[Store],
    release: str,
    resume: Resume,
    today: str,
    tick: Tick = lambda _: None,
) -> StoredDirection:
    """Let a release of a store's CLI resume a conversation, and store what came of it."""
    tick(f"{store.agent} {release} resumes what {carried.source or MADE} sent")
    groups = _groups(carried)
    return StoredDirection(
        source=carried.source,
        from_version=carried.from_version,
        witnessed_at=today,
        sessions=tuple(
            session
            for group in groups
            for session in _sessions(group, store, release, resume, tick, whole=len(groups) == 1)
        ),
    )


def _groups(carried: Carried) -> list[Carried]:
    """Return what can travel together, and after it each recording that must travel alone."""
    alone = [part for part in carried.parts if part.takes_back]
    if carried.source is None or not alone:
        return [carried]
    together = [part for part in carried.parts if not part.takes_back]
    return [
        some_of(carried, group)
        for group in ([together] if together else []) + [[part] for part in alone]
    ]


def _sessions(
    carried: Carried,
    store: type[Store],
    release: str,
    resume: Resume,
    tick: Tick,
    *,
    whole: bool = False,
) -> Iterator[StoredSession]:
    """Judge parts together; when that fails, fewer of them, down to single parts.

    What a CLI can't resume fails for every part, so only halves find the one at fault; what
    the model is not shown is at fault by itself.
    """
    crossing, resumed = _resumed(carried, store, release, resume)
    session = StoredSession(
        sha256=crossing.sha256,
        held=None if whole else tuple(part.label for part in carried.parts),
        cli=_cli(crossing, resumed),
        parts=tuple(_shown(carried, crossing, resumed, own=carried.source == store.agent)),
    )
    if resumed.why is None:
        faulty = {(part.variant, part.kind) for part in session.parts if _is_lost(part.model)}
        alone = [
            [part]
            for part in carried.parts
            if any((part.name, kind) in faulty for kind in part.subjects)
        ]
    else:
        middle = len(carried.parts) // 2
        alone = [list(carried.parts[:middle]), list(carried.parts[middle:])]
    if len(carried.parts) == 1 or not alone:
        yield session
        return
    again = {part.label for group in alone for part in group}
    kept = {
        (part.name, kind)
        for part in carried.parts
        if part.label not in again
        for kind in part.subjects
    }
    if kept:
        passed = tuple(part for part in session.parts if (part.variant, part.kind) in kept)
        yield replace(session, parts=passed)
    for group in alone:
        tick(f"{store.agent} {release} resumes {len(group)} of it: {group[0].label} …")
        yield from _sessions(some_of(carried, group), store, release, resume, tick)


def _resumed(
    carried: Carried, store: type[Store], release: str, resume: Resume
) -> tuple[Crossing, Resumed]:
    with written(carried.transcript, store) as (home, _, crossing):
        failure = crossing.refusal or crossing.unreadable
        if failure is not None:
            return crossing, Resumed(f"not written: {failure}", ())
        return crossing, resume(store.agent, release, home, crossing.session_id)


def _cli(crossing: Crossing, resumed: Resumed) -> Judgement:
    if resumed.why is None:
        return Judgement(verdict="exact")
    return Judgement(verdict="refused" if crossing.refusal else "lost", why=resumed.why)


def _shown(
    carried: Carried, crossing: Crossing, resumed: Resumed, *, own: bool
) -> Iterator[StoredPart]:
    shown = {
        identifier: judgement
        for identifier, judgement in judge_history(
            carried.transcript.messages, resumed.history, crossing.losses
        ).items()
        if not (own and _is_lost(judgement) and identifier in carried.forgotten)
    }
    for part in carried.parts:
        for kind, identifiers in part.subjects.items():
            model = [shown[identifier] for identifier in identifiers if identifier in shown]
            yield StoredPart(variant=part.name, kind=kind, model=together(model) if model else None)


def _is_lost(judgement: Judgement | None) -> bool:
    return judgement is not None and judgement.verdict == "lost"


# ------------------------------------------------------------------ stored witnesses


def witness_path(directory: Path, agent: str, release: str) -> Path:
    """Return where the witnesses of a release are stored."""
    return directory / agent / f"{release}.json"


def store_witnesses(directory: Path, witnesses: StoredWitnesses) -> Path:
    """Write the witnesses of a release, readable and in a fixed order."""
    path = witness_path(directory, witnesses.agent, witnesses.release)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(witnesses), indent=1) + b"\n")
    return path


def load_witnesses(directory: Path, agent: str) -> StoredWitnesses | None:
    """Read the stored witnesses of an agent's newest witnessed release, None if there are none."""
    paths = sorted((directory / agent).glob("*.json"), key=lambda path: version_key(path.stem))
    if not paths:
        return None
    return msgspec.json.decode(paths[-1].read_bytes(), type=StoredWitnesses)


def witness_cells(
    directions: Iterable[Carried],
    stores: Stores,
    directory: Path = WITNESSES_DIRECTORY,
    tick: Tick = lambda _: None,
) -> Iterator[Cell]:
    """Yield the CLI's and the model's cells from stored witnesses.

    Every conversation is written again: a witness of other bytes, and one that was never
    gathered, is ``stale``.
    """
    kept = {agent: load_witnesses(directory, agent) for agent in stores}
    for carried in directions:
        for agent, store in stores.items():
            tick(f"{carried.source or MADE} written into {agent} again")
            written_now = WrittenNow(carried, store)
            yield from _cells(carried, store.agent, kept[agent], written_now)


class WrittenNow:
    """The digests of what a store writes of a conversation today, whole or some of its parts."""

    def __init__(self, carried: Carried, store: type[Store]) -> None:
        self._store = store
        self._carried = carried
        self._known: dict[tuple[str, ...] | None, str | None] = {}

    def is_still(self, session: StoredSession) -> bool:
        """Whether a session was the bytes that are written today."""
        if session.held not in self._known:
            self._known[session.held] = self._digest(session.held)
        return session.sha256 == self._known[session.held]

    def _digest(self, held: tuple[str, ...] | None) -> str | None:
        carried = self._carried
        if held is not None:
            parts = {part.label: part for part in carried.parts}
            if not set(held) <= set(parts):
                return None
            carried = some_of(carried, [parts[label] for label in held])
        with written(carried.transcript, self._store) as (_, _, crossing):
            return crossing.sha256


def _cells(
    carried: Carried, agent: str, stored: StoredWitnesses | None, written_now: WrittenNow
) -> Iterator[Cell]:
    directions = stored.directions if stored else ()
    direction = next((one for one in directions if one.source == carried.source), None)
    witnessed = {
        (part.variant, part.kind): (session, part)
        for session in (direction.sessions if direction else ())
        for part in session.parts
    }
    for part in carried.parts:
        for kind in part.subjects:
            found = witnessed.get((part.name, kind))
            for witness, judgement in _judgements(found, written_now):
                yield Cell(
                    kind=kind,
                    variant=part.name,
                    source=carried.source,
                    store=agent,
                    witness=witness,
                    from_version=carried.from_version,
                    cli_version=stored.release if stored else None,
                    verdict=judgement.verdict,
                    losses=judgement.losses,
                    why=judgement.why,
                    witness_sha256=found[0].sha256 if found else None,
                    witnessed_at=direction.witnessed_at if direction else None,
                )


def _judgements(
    found: tuple[StoredSession, StoredPart] | None, written_now: WrittenNow
) -> Iterator[tuple[Witness, Judgement]]:
    again = "gather it with conformance matrix --live"
    if found is None:
        stale = Judgement(verdict="stale", why=f"never witnessed: {again}")
    elif not written_now.is_still(found[0]):
        stale = Judgement(verdict="stale", why=f"the writer now writes other bytes: {again}")
    else:
        session, part = found
        yield "cli", session.cli
        if part.model is not None:
            yield "model", part.model
        return
    yield "cli", stale
    yield "model", stale
