"""What became of each message that crossed: a verdict for each, and what was lost of it.

Messages are matched by what they *are* (:mod:`conformance.essence`), never by their ids or by
the wording of a narration; then everything that differs is named, and held against the
losses that the writer declared. Losing more than declared is ``lost``, less is ``stale``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from conformance.differences import (
    Difference,
    absent,
    is_prose_of,
    narrated,
    native,
    same_form,
)
from conformance.essence import Atom, atoms
from conformance.pairing import misplaced, pair, strays
from conformance.verdicts import Judgement, Verdict, in_order
from transcripts.losses import Loss, LossId
from transcripts.model import AnyMessage, CommandExecution, CompactBoundary


class Fidelity(NamedTuple):
    """The judgement of each message that crossed, by its id, and what came back besides.

    ``strays`` are messages of a person or a model that nobody sent across, each with the id
    of the message after which it stands (None: before all).
    """

    judged: Mapping[str, Judgement]
    strays: Sequence[tuple[str | None, AnyMessage]]


def compare(
    sent: Sequence[AnyMessage],
    came_back: Sequence[AnyMessage],
    losses: Iterable[Loss],
    cwd: str | None = None,
) -> Fidelity:
    """Judge every message that was sent across by what came back and what was declared.

    ``cwd`` is the session's directory: a command without one of its own ran there.
    """
    sent = [_located(message, cwd) for message in sent]
    came_back = [_located(message, cwd) for message in came_back]
    declared: dict[str | None, set[LossId]] = {}
    for loss in losses:
        declared.setdefault(loss.message, set()).add(loss.loss)
    there, back = atoms(sent), atoms(came_back)
    behind = {
        index
        for index, atom in enumerate(there)
        if "harness-dropped" in declared.get(atom.message.id, ())
    }
    pairs = pair(there, back, behind)
    back = _linked_as_sent(there, back, pairs)
    wrong_place = misplaced(there, pairs)
    by_message: dict[str, list[tuple[Atom, Atom | None]]] = {}
    for index, atom in enumerate(there):
        partner = pairs.get(index)
        by_message.setdefault(atom.message.id, []).append(
            (atom, None if partner is None else back[partner])
        )
    doubled, unsent = strays(there, back, pairs)
    everywhere = declared.get(None, set())
    # A thread that stays behind stays whole: said once, it holds for all of it.
    flattened = {
        message.agent
        for message in sent
        if message.agent and "thread-flattened" in declared.get(message.id, ())
    }
    judged: dict[str, Judgement] = {}
    for message in sent:
        if message.agent in flattened:
            declared.setdefault(message.id, set()).add("thread-flattened")
        found = by_message[message.id]
        notes = [wrong_place[message.id]] if message.id in wrong_place else []
        notes += doubled.get(message.id, [])
        judged[message.id] = _judge(found, notes, declared.get(message.id, set()), everywhere)
    return Fidelity(judged, unsent)


def _located(message: AnyMessage, cwd: str | None) -> AnyMessage:
    if isinstance(message, CommandExecution) and message.cwd is None:
        return replace(message, cwd=cwd)
    return message


def _linked_as_sent(
    there: Sequence[Atom], back: Sequence[Atom], pairs: Mapping[int, int]
) -> list[Atom]:
    """Return what came back with its links to other messages as links to those that were sent.

    A new session derives ids of its own, so a link is the same one if it leads to the copy of
    what it led to. One that leads elsewhere keeps its own id, and so stays a difference.
    """
    sent_id = {back[j].message.id: there[i].message.id for i, j in pairs.items()}
    linked: list[Atom] = []
    for atom in back:
        message = atom.message
        why = message.superseded_by
        if why is not None and why.id is not None:
            message = replace(message, superseded_by=replace(why, id=sent_id.get(why.id, why.id)))
        if isinstance(message, CompactBoundary):
            kept = tuple(sent_id.get(one, one) for one in message.preserved)
            message = replace(message, preserved=kept)
        linked.append(atom if message is atom.message else atom._replace(message=message))
    return linked


def _judge(
    found: Sequence[tuple[Atom, Atom | None]],
    notes: Sequence[str],
    declared: set[LossId],
    everywhere: set[LossId],
) -> Judgement:
    """Hold what differs against what was declared."""
    differences: list[Difference] = [Difference(note, frozenset()) for note in notes]
    told = missing = 0
    alike = True
    for index, (atom, other) in enumerate(found):
        if other is None:
            missing += 1
            differences.extend(absent(atom))
        elif is_prose_of(atom, other):
            told += 1
            differences.extend(narrated(atom, other))
        else:
            differences.extend(native(atom, other, first=index == 0))
            alike = alike and same_form(atom, other)
    allowed = declared | everywhere
    lost = [d.what for d in differences if not d.soft and not d.excuses & allowed]
    used: set[LossId] = {loss for d in differences for loss in d.excuses & allowed}
    if told or missing:
        # A message that is gone or prose has no fields left to compare: what else was
        # declared of it can be neither shown nor refuted.
        used |= declared
    idle = sorted(declared - used)
    losses = in_order(used)
    if lost:
        return Judgement(verdict="lost", losses=losses, why="; ".join(lost))
    if idle:
        why = f"declared {', '.join(idle)}, but nothing of it was lost"
        return Judgement(verdict="stale", losses=losses, why=why)
    verdict: Verdict = "exact"
    if missing == len(found) and "withheld-error" in used:
        verdict = "withheld"
    elif told:
        verdict = "narrated"
    elif losses:
        verdict = "degraded"
    elif not alike:
        verdict = "translated"
    return Judgement(verdict=verdict, losses=losses)
