"""Witnesses that share no code with a writer: the CLI that resumes, the model that is asked.

Gathering them needs the real CLIs, so they are stored (``conformance/witnesses``), each with
the digest of the bytes that were resumed, the release and the day. Later runs write the same
conversation again: other bytes have no witness until it is gathered anew.

All variants of a direction travel in one conversation, judged one by one; only when that
fails is each variant resumed alone, to find the one that is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from conformance.crossing import Crossing, Stores, written
from conformance.history import judge_history
from conformance.kinds import CWD, MADE, STARTED, conversation, variants
from conformance.verdicts import Cell, Judgement, Witness, together
from live.model.history import Entry
from transcripts.ids import derive
from transcripts.model import AnyMessage, Transcript
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


class Carried(NamedTuple):
    """Everything that goes in one direction: a transcript made of parts."""

    source: str | None
    from_version: str | None
    parts: tuple[Part, ...]
    transcript: Transcript


class Resumed(NamedTuple):
    """What a real CLI did with a session: None for ``why`` when it resumed and went on."""

    why: str | None
    history: Sequence[Entry]


Resume = Callable[[str, str, Path, str], Resumed]
"""Resumes a session: agent, release, home, session id."""


class StoredPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was witnessed of one kind in one variant or scenario."""

    variant: str
    kind: str
    cli: Judgement
    model: Judgement | None
    sha256: str


class StoredDirection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was witnessed of one direction. ``source`` is None for made conversations."""

    source: str | None
    from_version: str | None
    sha256: str
    witnessed_at: str
    parts: tuple[StoredPart, ...]


class StoredWitnesses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``witnesses/<agent>/<release>.json``: what one release of a CLI did with every direction."""

    format: int
    agent: str
    release: str
    directions: tuple[StoredDirection, ...]


# ------------------------------------------------------------------ what is carried


def made_conversation() -> Carried:
    """Return every made variant as one conversation."""
    chosen = [variant for variant in variants() if not variant.crosses]
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
    agent: str, release: str, read: Sequence[tuple[str, Transcript]]
) -> Carried:
    """Return all recorded sessions of one agent as one conversation, one after the other."""
    parts: list[Part] = []
    messages: list[AnyMessage] = []
    for scenario, transcript in read:
        kinds: dict[str, list[str]] = {}
        for message in transcript.messages:
            kinds.setdefault(message.kind, []).append(message.id)
        subjects = {kind: tuple(found) for kind, found in kinds.items()}
        parts.append(Part(scenario, subjects, transcript.messages))
        messages += transcript.messages
    return Carried(agent, release, tuple(parts), _joined(agent, release, messages))


def alone(carried: Carried, part: Part) -> Carried:
    """Return one part as a conversation of its own."""
    transcript = replace(
        carried.transcript,
        session_id=derive(carried.transcript.session_id, part.name, *part.subjects),
        messages=_retimed(part.messages),
    )
    return carried._replace(parts=(part,), transcript=transcript)


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
    name = carried.source or MADE
    tick(f"{store.agent} {release} resumes what {name} sent")
    crossing, resumed = _resumed(carried.transcript, store, release, resume)
    judged = _judged(carried, crossing, resumed)
    bad = [part for part in judged if "lost" in (part.cli.verdict, _verdict(part.model))]
    if bad:
        judged = list(_one_by_one(carried, store, release, resume, judged, tick))
    return StoredDirection(
        source=carried.source,
        from_version=carried.from_version,
        sha256=crossing.sha256,
        witnessed_at=today,
        parts=tuple(judged),
    )


def _resumed(
    transcript: Transcript, store: type[Store], release: str, resume: Resume
) -> tuple[Crossing, Resumed]:
    with written(transcript, store) as (home, _, crossing):
        if crossing.refusal is not None:
            return crossing, Resumed(f"not written: {crossing.refusal}", ())
        return crossing, resume(store.agent, release, home, crossing.session_id)


def _judged(carried: Carried, crossing: Crossing, resumed: Resumed) -> list[StoredPart]:
    shown = judge_history(carried.transcript.messages, resumed.history, crossing.losses)
    cli = (
        Judgement(verdict="exact")
        if resumed.why is None
        else Judgement(verdict="lost", why=resumed.why)
    )
    found: list[StoredPart] = []
    for part in carried.parts:
        for kind, identifiers in part.subjects.items():
            model = [shown[identifier] for identifier in identifiers if identifier in shown]
            found.append(
                StoredPart(
                    variant=part.name,
                    kind=kind,
                    cli=cli,
                    model=together(model) if model else None,
                    sha256=crossing.sha256,
                )
            )
    return found


def _one_by_one(
    carried: Carried,
    store: type[Store],
    release: str,
    resume: Resume,
    judged: Sequence[StoredPart],
    tick: Tick,
) -> Iterator[StoredPart]:
    """Resume alone the parts that failed together; what passed together stands."""
    together_passed = {
        (part.variant, part.kind): part
        for part in judged
        if "lost" not in (part.cli.verdict, _verdict(part.model))
    }
    for part in carried.parts:
        passed = [together_passed.get((part.name, kind)) for kind in part.subjects]
        if all(passed):
            yield from (one for one in passed if one is not None)
            continue
        tick(f"{store.agent} {release} resumes {part.name} alone")
        single = alone(carried, part)
        crossing, resumed = _resumed(single.transcript, store, release, resume)
        yield from _judged(single, crossing, resumed)


def _verdict(judgement: Judgement | None) -> str:
    return "exact" if judgement is None else judgement.verdict


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


def load_witnesses(directory: Path, agent: str) -> list[StoredWitnesses]:
    """Read all stored witnesses of an agent."""
    return [
        msgspec.json.decode(path.read_bytes(), type=StoredWitnesses)
        for path in sorted((directory / agent).glob("*.json"))
    ]


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
            for stored in kept[agent] or [None]:
                yield from _cells(carried, store.agent, stored, written_now)


class WrittenNow:
    """The digests of what a store writes of a conversation today, whole or a part alone."""

    def __init__(self, carried: Carried, store: type[Store]) -> None:
        self._store = store
        self._carried = carried
        self._whole = self._digest(carried)
        self._parts: dict[str, str] = {}

    def is_still(self, witnessed: StoredPart) -> bool:
        """Whether a witness saw the bytes that are written today."""
        if witnessed.sha256 == self._whole:
            return True
        name = f"{witnessed.kind}/{witnessed.variant}"
        if name not in self._parts:
            part = next(
                part
                for part in self._carried.parts
                if part.name == witnessed.variant and witnessed.kind in part.subjects
            )
            self._parts[name] = self._digest(alone(self._carried, part))
        return witnessed.sha256 == self._parts[name]

    def _digest(self, carried: Carried) -> str:
        with written(carried.transcript, self._store) as (_, _, crossing):
            return crossing.sha256


def _cells(
    carried: Carried, agent: str, stored: StoredWitnesses | None, written_now: WrittenNow
) -> Iterator[Cell]:
    direction = next(
        (one for one in (stored.directions if stored else ()) if one.source == carried.source),
        None,
    )
    witnessed = {(part.variant, part.kind): part for part in direction.parts} if direction else {}
    for part in carried.parts:
        for kind in part.subjects:
            found = witnessed.get((part.name, kind))
            for witness in ("cli", "model"):
                judgement = _stored_judgement(found, witness, written_now)
                if judgement is not None:
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
                        witness_sha256=found.sha256 if found else None,
                        witnessed_at=direction.witnessed_at if direction else None,
                    )


def _stored_judgement(
    found: StoredPart | None, witness: Witness, written_now: WrittenNow
) -> Judgement | None:
    if found is None:
        why = "never witnessed: gather it with conformance matrix --live"
        return Judgement(verdict="stale", why=why)
    judgement = found.cli if witness == "cli" else found.model
    if judgement is None:
        return None
    if not written_now.is_still(found):
        why = "the writer now writes other bytes: gather it with conformance matrix --live"
        return Judgement(verdict="stale", why=why)
    return judgement
