"""What came of a live check in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

REFERENCE = "reference"
"""Whose writers move sessions unless others are named: the reference stores."""

Verdict = Literal["passed", "failed", "skipped", "impossible"]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """That something can't be done: on which day it was tried last, and by which command."""

    on: str
    command: str


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the vendor's own software says of a moved session without asking any model.

    ``agent`` is whose: of a conversation that was moved on, the last one's.
    """

    agent: str
    witness: str
    verdict: Literal["agrees", "differs", "refuses", "not-offered"]
    why: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """One check, from one agent's store into another's.

    ``releases`` are those of every agent that took part. ``why`` is empty only for what passed.
    ``moved`` is false for the control: what the CLI wrote itself, resumed by it without having
    been moved. ``measured`` is what stands behind ``impossible`` where that was tried, not only
    said by a driver. ``evidence`` holds what the verdict rests on: the answers, how many entries
    the model was shown, what was declared lost, where a recording of the terminal lies.
    ``checked_at`` is when, RFC 3339 in UTC.
    """

    case: str
    source: str
    target: str
    releases: Mapping[str, str]
    verdict: Verdict
    why: str = ""
    evidence: Mapping[str, Any] = {}
    moved: bool = True
    measured: Measurement | None = None
    model_free: tuple[Shown, ...] = ()
    checked_at: str | None = None

    @property
    def release(self) -> str:
        """The release of the target, which is the one that is seen to go on."""
        return self.releases[self.target]

    @property
    def name(self) -> str:
        """What was checked, in a few words: the case, and from where to where."""
        if not self.moved:
            return f"{self.case} {self.target} {self.release}, its own session"
        source = f"{self.source} {self.releases[self.source]}"
        return f"{self.case} {source} → {self.target} {self.release}"


class LiveReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``conformance live`` prints: a result for every check and direction.

    ``mover`` is whose writers moved the sessions; ``titles`` say what each case is about.
    """

    mover: str = REFERENCE
    titles: Mapping[str, str] = {}
    results: Sequence[Result]
