"""The corpus's index: what is recorded, generated from the cases and never written by hand."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.corpus import EXPECTED, cases, impossible
from conformance.handmade import hand_made
from conformance.matrix import KIND_NAMES
from conformance.shapes import HandMadeEntry, ImpossibleEntry, IndexDocument, IndexEntry

INDEX = "index.json"


def index_text(corpus: Path) -> str:
    """Return the text of ``corpus/index.json``."""
    entries: list[IndexEntry] = []
    for case in cases(corpus):
        kinds = {message["kind"] for message in case.truth.messages}
        entries.append(
            IndexEntry(
                case=case.name,
                agent=case.facts.agent,
                release=case.facts.release,
                dialect=case.facts.dialect,
                scenario=case.facts.scenario,
                revision=case.facts.revision,
                sanitiser=case.facts.sanitiser,
                sealed=case.facts.sealed,
                messages=len(case.truth.messages),
                kinds=tuple(kind for kind in KIND_NAMES if kind in kinds),
                unrecorded=len(case.facts.unrecorded),
                hook_events=sum(case.facts.hooked.seen.values()) if case.facts.hooked else 0,
                bytes=sum(
                    path.stat().st_size
                    for path in case.directory.rglob("*")
                    if path.is_file() and path.name != EXPECTED
                ),
            )
        )
    document = IndexDocument(
        format=1,
        cases=tuple(entries),
        impossible=tuple(
            ImpossibleEntry(case=place, why=cannot.why) for place, cannot in impossible(corpus)
        ),
        hand_made=tuple(
            HandMadeEntry(
                log=made.name,
                agent=made.reasoned.agent,
                hand_made=True,
                shows=made.reasoned.shows,
                hook_events=made.log.read_bytes().count(b"\n"),
            )
            for made in hand_made(corpus)
        ),
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"
