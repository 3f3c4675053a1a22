"""What a scoreboard holds: for each tool, store and kind what survived, and one case that shows it.

The results are kept (``docs/scoreboard.json``), and the pages are made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from conformance.peers.judging import Verdict
from conformance.peers.listing import NotOffered

REFERENCE = "reference"
"""The name under which this project's own stores are scored by the same measure."""

Job = Literal["read", "carry"]
"""``carry``: a session converted into another store, where the real CLI goes on with it."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The smallest recorded case that shows why a cell is not exact, and what is wrong in it."""

    case: str
    field: str
    expected: str
    got: str


class Score(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What became of all messages of one kind: one cell.

    ``agent`` is whose sessions are read; ``target`` the agent into whose store they are carried.
    ``counts`` are messages by verdict; ``strays`` those that nobody said; ``fields`` how often each
    field was not as it was said. ``verdict`` is the worst, ``why`` is for what is not offered.
    """

    job: Job
    agent: str
    target: str | None = None
    kind: str
    verdict: Verdict
    counts: Mapping[Verdict, int] = {}
    strays: int = 0
    fields: Mapping[str, int] = {}
    evidence: Evidence | None = None
    why: str = ""


class Totals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often a tool's sums of tokens are those that the model reported, and one that is not."""

    agent: str
    right: int
    asked: int
    evidence: Evidence | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool gives no answer to, or what the CLI will not go on with: how often, and why."""

    job: Job
    agent: str
    target: str | None = None
    cases: int
    asked: int
    case: str
    why: str


class Speed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the tool's own command takes for one session, against bare parsing in the same run.

    ``ratio`` is processor time as a multiple of ``orjson.loads`` over the same lines, start-up
    taken off both; None where it was not measured, and ``why``.
    """

    does: str
    ratio: float | None = None
    cpu_s: float | None = None
    peak_bytes: int | None = None
    why: str | None = None


class PeerScores(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool: what it is, what it claims, and what was found. ``why`` says why nothing was."""

    name: str
    package: str
    version: str
    ecosystem: str
    licence: str
    homepage: str
    language: str
    about: str
    measured_on: str
    offers: Sequence[str] = ()
    not_offered: Sequence[NotOffered] = ()
    scores: Sequence[Score] = ()
    totals: Sequence[Totals] = ()
    failures: Sequence[Failure] = ()
    speed: Speed | None = None
    why: str = ""


class Scoreboard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole scoreboard: of which recordings, on what machine, and every tool.

    ``cases`` counts the recordings that are read, by agent; ``carried`` names the scenarios that
    are carried. ``session_bytes`` is the size of the session that is timed. ``sealed`` says that
    the tools had no network.
    """

    format: int = 1
    releases: Mapping[str, str] = {}
    cases: Mapping[str, int] = {}
    carried: Sequence[str] = ()
    processor: str = ""
    python: str = ""
    runs: int = 0
    session_bytes: int = 0
    sealed: bool = True
    peers: Sequence[PeerScores] = ()
