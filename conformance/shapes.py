"""Every shape that a command prints or that a committed document has, as a JSON Schema.

The structs are the contract; ``conformance docs`` writes their schemas, and a test holds
what the commands really print against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal

import msgspec

from conformance.adapters.declaration import Declaration
from conformance.adapters.messages import ANSWERS, MESSAGES
from conformance.checks.check import CheckReport
from conformance.corpus import CannotFile, CaseFile, TruthFile
from conformance.drift.findings import DriftReport
from conformance.drift.timeline_data import TimelineFile
from conformance.formats.judging import FormatDocument
from conformance.handmade import Reasoned
from conformance.livechecks.results import LiveReport
from conformance.peers.listing import Peer
from conformance.peers.results import Scoreboard
from conformance.review.pending import ReviewDocument
from conformance.verdicts import Cell
from conformance.witnesses import StoredWitnesses
from live.model.history import Entry
from live.offered import OfferedTools
from live.resume_rules import ResumeRules
from transcripts.facts.sheet import FactsSheet
from transcripts.facts.stores import StoreTotals
from transcripts.handoff.failures import FailureReport
from transcripts.handoff.preparing import Cut, Summarised, Trimmed
from transcripts.hooks.joining import Join
from transcripts.hooks.recording.installing import Installation, Uninstallation
from transcripts.hooks.summaries.summary import LogSummary
from transcripts.hooks.trees.tree import Tree
from transcripts.losses import Loss
from transcripts.model import (
    AnyMessage,
    Damage,
    Lineage,
    SessionInfo,
    SideStore,
    Unread,
)
from transcripts.stores.base import Unlisted


class SessionsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``transcripts list --format json`` prints."""

    sessions: tuple[SessionInfo, ...]
    seen: int
    listed: int
    failed: tuple[Unlisted, ...]


class TranscriptDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``transcripts show --format json`` prints."""

    agent: str
    session_id: str
    cwd: str | None
    cli_version: str | None
    model: str | None
    title: str | None
    git_branch: str | None
    created_at: datetime | None
    updated_at: datetime | None
    source_path: str | None
    lineage: Lineage
    messages: tuple[AnyMessage, ...]
    damage: tuple[Damage, ...]
    unread: tuple[Unread, ...]
    side_stores: tuple[SideStore, ...]


class ConversionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``transcripts convert --format json`` prints."""

    session_id: str
    path: str
    resume: tuple[str, ...]
    losses: tuple[Loss, ...]
    recovered: bool
    damage: tuple[Damage, ...]
    cut: Cut | None
    trimmed: Trimmed | None
    summarised: Summarised | None
    prompt: str | None


class MatrixDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``conformance matrix --format json`` prints."""

    cells: tuple[Cell, ...]


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One case of the corpus's index; ``hook_events`` counts what its run with hooks was told."""

    case: str
    agent: str
    release: str
    dialect: str | None
    scenario: str
    revision: int
    sanitiser: int
    sealed: bool
    messages: int
    kinds: tuple[str, ...]
    unrecorded: int
    hook_events: int
    bytes: int


class ImpossibleEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario that a release can't do, and why."""

    case: str
    why: str


class HandMadeEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hook log that was made by hand from documented and captured payloads: no recording."""

    log: str
    agent: str
    hand_made: Literal[True]
    shows: str
    hook_events: int


class IndexDocument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``corpus/index.json``: what is recorded, and what was made by hand; generated from both."""

    format: int
    cases: tuple[IndexEntry, ...]
    impossible: tuple[ImpossibleEntry, ...]
    hand_made: tuple[HandMadeEntry, ...]


class ExchangeLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a case's ``model.jsonl``."""

    seq: int
    kind: Literal[
        "turn",
        "title",
        "warm-up",
        "token-count",
        "web-search",
        "compaction",
        "summary",
        "probe",
        "classifier",
    ]
    thread: str | None
    turn: int | None
    response: str | None
    history: tuple[Entry, ...]
    answer: Mapping[str, Any]
    violations: tuple[Any, ...]
    unjudged: tuple[Any, ...]


class HookLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a ``hooks.jsonl``: an event as it was told, under the name for which its hook
    was registered."""

    observed_at: datetime
    event: str
    payload: Mapping[str, Any]


SHAPES: Mapping[str, Any] = {
    "adapter": Declaration,
    "cannot": CannotFile,
    "case": CaseFile,
    "check": CheckReport,
    "conversion": ConversionDocument,
    "drift": DriftReport,
    "exchange": ExchangeLine,
    "failures": FailureReport,
    "facts": FactsSheet,
    "facts-store": StoreTotals,
    "format": FormatDocument,
    "hand-made": Reasoned,
    "hook": HookLine,
    "hooks-install": Installation,
    "hooks-uninstall": Uninstallation,
    "hooks-join": Join,
    "hooks-summary": LogSummary,
    "hooks-tree": Tree,
    "index": IndexDocument,
    "live": LiveReport,
    "matrix": MatrixDocument,
    "peer": Peer,
    "offered": OfferedTools,
    "resume": ResumeRules,
    "scoreboard": Scoreboard,
    "review": ReviewDocument,
    "sessions": SessionsDocument,
    "timeline": TimelineFile,
    "transcript": TranscriptDocument,
    "truth": TruthFile,
    "witnesses": StoredWitnesses,
    **MESSAGES,
}
"""The schemas of ``conformance/schemas``, by name: of a struct each, or of one of several."""


@cache
def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a shape."""
    shape = SHAPES[name]
    (schema,), components = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    own = components.pop(shape.__name__) if isinstance(shape, type) else {}
    if name in ANSWERS:
        components = {key: _closed(value) for key, value in components.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **{key: value for key, value in schema.items() if key != "$ref"},
        **own,
        "$defs": components,
    }


def _closed(component: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has no other fields than these."""
    return {**component, "additionalProperties": False} if "properties" in component else component
