"""Whether what was written is of shapes that releases were seen to write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.formats.judging import Finding, JudgedKind, judge
from conformance.formats.records import Gathering
from conformance.formats.snapshots import kept_releases
from transcripts.errors import TranscriptError

_OF_A_TOOL = re.compile(r"user\[tool_result:.+\]|tool\.execution_(start|complete):.+")
"""Kinds that a tool's name tells apart: the result of another tool is no other kind of record."""

_KEPT_ELSEWHERE: Mapping[str, frozenset[str]] = {
    "codex": frozenset(
        {
            "event_msg/exec_command_end",
            "event_msg/dynamic_tool_call_response",
            "event_msg/thread_name_updated",
        }
    )
}
"""Events of a CLI's own protocol that no recording holds, because they go to its clients alone.

Each is needed, as was measured by leaving it out of what our writer makes of every kind and of
every recording: without ``exec_command_end`` a command's exit code and status are lost or guessed
from words (86 cells of recordings), without ``dynamic_tool_call_response`` a failed call is one
that went well (4), and without ``thread_name_updated`` a session has no title. That releases go on
with them and lose nothing by it, the matrix' witnesses show by the cells of those kinds.
"""


def odd_records(agent: str, path: Path, schemas: Path) -> Iterator[str]:
    """Yield what of a file of lines is of a shape, or a kind, that no release was seen to write.

    A kind is judged by the newest release that knows it, and cleared by any other that writes it
    so. What a writer leaves out, or null, is no matter of shape: whether a CLI minds, its resuming
    tells.
    """
    try:
        yield from _odd(agent, path, schemas)
    except TranscriptError as error:
        yield f"{path.name}: {error.why}"


def _odd(agent: str, path: Path, schemas: Path) -> list[str]:
    odd: dict[tuple[str, str], str] = {}
    judged: set[str] = set()
    kinds: set[str] = set()
    for release in reversed(kept_releases(schemas, agent)):
        document = judge(agent, Gathering(agent, path), schemas, release)
        kinds = {kind.kind for kind in document.kinds}
        known = {kind.kind: kind.findings for kind in document.kinds if not _is_unknown(kind)}
        for kind, findings in known.items():
            shapes = {one.pointer: one for one in findings if one.finding != "missing-field"}
            if kind not in judged:
                odd |= {
                    (kind, pointer): _told(one) for pointer, one in shapes.items() if _breaks(one)
                }
            else:
                odd = {at: why for at, why in odd.items() if at[0] != kind or at[1] in shapes}
        judged |= known.keys()
        if not odd and judged >= kinds:
            break
    elsewhere = _KEPT_ELSEWHERE.get(agent, frozenset())
    unseen = [
        f"{kind}: no release was seen to write such a record"
        for kind in kinds - judged
        if kind not in elsewhere and not _OF_A_TOOL.fullmatch(kind)
    ]
    return sorted(unseen) + [f"{kind} {pointer}: {why}" for (kind, pointer), why in odd.items()]


def _is_unknown(kind: JudgedKind) -> bool:
    return any(one.finding == "unknown-kind" for one in kind.findings)


def _breaks(finding: Finding) -> bool:
    return finding.breaks and finding.found != ("null",)


def _told(finding: Finding) -> str:
    expected, found = ("|".join(one) or "nothing" for one in (finding.expected, finding.found))
    return f"{finding.finding}, expected {expected}, found {found}"
