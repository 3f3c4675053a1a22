"""What came of a live check in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

Verdict = Literal["passed", "failed", "skipped", "impossible"]


class Result(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """One check, from one agent's store into another's.

    ``releases`` are those of both agents. ``why`` is empty only for what passed. ``moved`` is
    false for the control: what the CLI wrote itself, resumed by it without having been moved.
    ``evidence`` holds what the verdict rests on: the answers, how many entries the model was
    shown, what was declared lost, other witnesses, where a recording of the terminal lies.
    """

    case: str
    source: str
    target: str
    releases: Mapping[str, str]
    verdict: Verdict
    why: str = ""
    evidence: Mapping[str, Any] = {}
    moved: bool = True


class LiveReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``conformance live`` prints: a result for every check and direction."""

    results: Sequence[Result]
