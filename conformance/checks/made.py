"""The made conversations that writers are asked to write, and how results name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from conformance.checks.check import Place, Subject
from conformance.kinds import Variant, variants
from conformance.verdicts import in_order
from transcripts.losses import Loss, LossId
from transcripts.model import Transcript


def made(place: Place) -> list[Variant]:
    """Return the made conversations that are asked about, less those that cross another store."""
    return [
        variant
        for name, variant in _variants().items()
        if not variant.crosses and (not place.made or name in place.made)
    ]


def name_of(variant: Variant, agent: str) -> str:
    """Return the name under which results tell of a made conversation."""
    return f"made/{agent}/{variant.kind}/{variant.name}"


def variant_of(name: str) -> Variant:
    """Return the made conversation of that name."""
    return _variants()[name.split("/", 2)[2]]


def declared_losses(subject: Subject, transcript: Transcript) -> list[Loss]:
    """Return what an adapter's file declares lost: of every message that the subject is about."""
    about = variant_of(subject.name).kind
    return [
        Loss(loss=loss, message=message.id)
        for message in transcript.messages
        if message.kind == about
        for loss in subject.losses
    ]


def lost_of(subject: Subject, transcript: Transcript, losses: Iterable[Loss]) -> tuple[LossId, ...]:
    """Return what losses there are of the messages that a subject is about, or of all."""
    about = variant_of(subject.name).kind
    meant = {message.id for message in transcript.messages if message.kind == about}
    return in_order(loss.loss for loss in losses if loss.message is None or loss.message in meant)


@cache
def _variants() -> Mapping[str, Variant]:
    return {f"{variant.kind}/{variant.name}": variant for variant in variants()}
