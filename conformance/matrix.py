"""What survives: every kind and variant into every store, and recorded conversations across.

The file witness is the target's own reader, made anew at each run. The CLI and model
witnesses are gathered by real CLIs (:mod:`conformance.witnesses`) and stored with the digest
of the bytes that they saw; here those bytes are written again and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from conformance.corpus import Case, cases, opened, releases
from conformance.crossing import Crossing, Stores, cross, cross_twice
from conformance.essence import text_of
from conformance.fidelity import Fidelity, compare
from conformance.kinds import Variant, conversation, variants
from conformance.verdicts import Cell, Floor, Judgement, together
from conformance.witnesses import made_conversation, recorded_conversation, witness_cells
from transcripts.ids import derive
from transcripts.losses import Loss
from transcripts.model import KINDS, AnyMessage, Transcript

KIND_NAMES = tuple(kind.__name__ for kind in KINDS)

Tick = Callable[[str], None]
"""Called with a word about each piece of work that begins."""


def _silent(_: str) -> None:
    """Tell nobody."""


class Recorded:
    """The recorded conversations of an agent's newest release, read by its reader.

    ``forgotten`` are the messages that the release has in its own files and does not show its
    model when it goes on: no writer can make it do so.
    """

    def __init__(
        self,
        agent: str,
        release: str,
        read: Sequence[tuple[str, Transcript]],
        forgotten: Container[str] = (),
    ) -> None:
        self.agent = agent
        self.release = release
        self.read = read
        self.forgotten = forgotten


def recorded(corpus: Path, stores: Stores) -> list[Recorded]:
    """Read the newest recorded release of every agent that has a store."""
    found: list[Recorded] = []
    for agent, store in stores.items():
        recorded_releases = releases(corpus, agent)
        if recorded_releases:
            newest = recorded_releases[-1]
            read: list[tuple[str, Transcript]] = []
            forgotten: set[str] = set()
            for case in cases(corpus, agent, newest):
                transcript = read_case(case, store)
                read.append((case.directory.name, transcript))
                forgotten.update(
                    derive(case.directory.name, one) for one in _forgotten(case, transcript)
                )
            found.append(Recorded(agent, newest, read, forgotten))
    return found


def _forgotten(case: Case, transcript: Transcript) -> Iterator[str]:
    """Yield the ids of the messages that a case says its CLI forgets, known by what they say."""
    said = [case.truth.messages[index] for index in case.facts.forgets]
    texts = {(one["kind"], one["text"]) for one in said if "text" in one}
    for message in transcript.messages:
        if (message.kind, text_of(getattr(message, "content", ()))) in texts:
            yield message.id


def read_case(case: Case, store: type) -> Transcript:
    """Read a case's main session with a store's reader."""
    with opened(case) as home:
        return store.read_path(home / case.facts.session_path)


# ------------------------------------------------------------------ the file witness


def made_cells(stores: Stores, tick: Tick = _silent) -> Iterator[Cell]:
    """Yield the cells of messages made in the normalised model, each variant by itself."""
    for variant in variants():
        transcript = conversation([variant])
        for agent, store in stores.items():
            tick(f"{variant.kind}/{variant.name} into {agent}")
            if not variant.crosses:
                yield _made_cell(variant, variant.name, agent, cross(transcript, store))
                continue
            for via, other in stores.items():
                if via != agent:
                    crossing = cross_twice(transcript, other, store)
                    yield _made_cell(variant, f"{variant.name}-via-{via}", agent, crossing)


def recorded_cells(
    conversations: Iterable[Recorded], stores: Stores, tick: Tick = _silent
) -> Iterator[Cell]:
    """Yield the cells of recorded conversations over all ordered pairs of stores."""
    for source in conversations:
        for scenario, transcript in source.read:
            for agent, store in stores.items():
                tick(f"{source.agent} {source.release} {scenario} into {agent}")
                crossing = cross(transcript, store)
                for kind, judgement in by_kind(transcript.messages, crossing).items():
                    yield Cell(
                        kind=kind,
                        variant=scenario,
                        source=source.agent,
                        store=agent,
                        witness="file",
                        from_version=source.release,
                        verdict=judgement.verdict,
                        losses=judgement.losses,
                        why=judgement.why,
                        witness_sha256=crossing.sha256,
                    )


def by_kind(sent: Sequence[AnyMessage], crossing: Crossing) -> dict[str, Judgement]:
    """Judge each kind that a conversation holds; what nobody sent counts against its kind."""
    failure = _failure(crossing)
    judged = judge(sent, crossing)
    strays: dict[str, list[Judgement]] = {}
    for _, stray in judged.strays:
        lost = Judgement(verdict="lost", why=f"a {stray.kind} came back that nobody sent")
        strays.setdefault(stray.kind, []).append(lost)
    result: dict[str, Judgement] = {}
    for kind in KIND_NAMES:
        of_kind = [judged.judged[message.id] for message in sent if message.kind == kind]
        if of_kind or kind in strays:
            result[kind] = failure or together([*of_kind, *strays.get(kind, [])])
    return result


def judge(sent: Sequence[AnyMessage], crossing: Crossing) -> Fidelity:
    """Compare what was sent with what came back."""
    cwd = None if crossing.transcript is None else crossing.transcript.cwd
    return compare(sent, crossing.back, crossing.losses, cwd)


def _made_cell(variant: Variant, name: str, agent: str, crossing: Crossing) -> Cell:
    judgement = _failure(crossing)
    if judgement is None:
        sent = conversation([variant]).messages
        if variant.crosses:
            crossing = crossing._replace(losses=_spread(sent, crossing.losses))
        judged = judge(sent, crossing)
        subjects = [judged.judged[message.id] for message in variant.subjects]
        judgement = together(
            [
                *subjects,
                *(
                    Judgement(verdict="lost", why=f"a {stray.kind} came back that nobody sent")
                    for _, stray in judged.strays
                ),
            ]
        )
    return Cell(
        kind=variant.kind,
        variant=name,
        source=None,
        store=agent,
        witness="file",
        verdict=judgement.verdict,
        losses=judgement.losses,
        why=judgement.why,
        witness_sha256=crossing.sha256,
    )


def _spread(sent: Sequence[AnyMessage], losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """Take what two writers declared for the whole: their ids are not the sender's."""
    known = {message.id for message in sent}
    return tuple(loss if loss.message in known else replace(loss, message=None) for loss in losses)


def _failure(crossing: Crossing) -> Judgement | None:
    if crossing.refusal is not None:
        return Judgement(verdict="refused", why=crossing.refusal)
    if crossing.unreadable is not None:
        return Judgement(verdict="lost", why=crossing.unreadable)
    return None


# ------------------------------------------------------------------ the whole


def check(cells: Iterable[Cell], floor: Floor) -> list[tuple[Cell, str]]:
    """Return the cells that are defects or under the floor, each with why."""
    return [(cell, why) for cell in cells if (why := floor.below(cell)) is not None]


def ordered(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells by kind, source, variant, store and witness."""
    return sorted(
        cells,
        key=lambda cell: (
            KIND_NAMES.index(cell.kind),
            cell.source or "",
            cell.variant,
            cell.store,
            ("file", "cli", "model").index(cell.witness),
        ),
    )


def every_cell(corpus: Path, stores: Stores, tick: Tick = _silent) -> list[Cell]:
    """Return the whole matrix: made and recorded conversations, all three witnesses."""
    read = recorded(corpus, stores)
    directions = [
        made_conversation(),
        *(recorded_conversation(one.agent, one.release, one.read, one.forgotten) for one in read),
    ]
    return ordered(
        [
            *made_cells(stores, tick),
            *recorded_cells(read, stores, tick),
            *witness_cells(directions, stores, tick=tick),
        ]
    )
