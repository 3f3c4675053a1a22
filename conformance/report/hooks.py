"""What hooks can't show, by harness: what its dialect says of itself, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.told_otherwise import Known, table
from transcripts.hooks.dialects import find_dialect, harnesses

_TITLES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "copilot": "Copilot CLI",
    "cursor": "Cursor",
    "vscode": "VS Code",
}


def blind_spots() -> str:
    """Return each harness's blind spots, and the reasons of ``hooked.toml``, as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for place, agent in enumerate(harnesses()):
        if place:
            yield ""
        yield f"### {_TITLES[agent]}"
        yield ""
        yield from (f"- {spot}" for spot in find_dialect(agent).blind_spots)
        measured: dict[str, list[Known]] = {}
        for known in table().known:
            if known.agent == agent:
                measured.setdefault(known.why, []).append(known)
        if measured:
            yield ""
            yield "Measured:"
            yield ""
        for why, entries in measured.items():
            releases = dict.fromkeys(name for one in entries for name in one.releases)
            where = "" if "*" in releases else f" ({', '.join(releases)})"
            yield f"- {why}{where}"
