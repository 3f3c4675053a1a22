"""The tools that a release offers its model, by name: measured, kept beside the schemas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from live import offered
from live.offered import OfferedTools

NAME = "offered.json"


def renew(
    agent: str, version: str, schemas: Path, told: Callable[[str], object]
) -> tuple[OfferedTools, Path]:
    """Measure a release and write what it offers; return both."""
    tools = offered.measure(agent, version, told=told)
    path = schemas / tools.agent / tools.release / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text(tools))
    return tools, path


def text(tools: OfferedTools) -> bytes:
    """Return what is offered as it is kept."""
    return msgspec.json.format(msgspec.json.encode(tools), indent=1) + b"\n"


def load(directory: Path) -> frozenset[str] | None:
    """Return the names that are kept in a release's directory, None if none were measured."""
    path = directory / NAME
    if not path.is_file():
        return None
    return frozenset(msgspec.json.decode(path.read_bytes(), type=OfferedTools).tools)
