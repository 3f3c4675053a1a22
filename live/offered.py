"""Which tools a release offers its model: their names, from the body of a real request.

Names are what calls are told by; how a tool is described to the model is the vendor's own and is
left where it is. What the scenario brings (an MCP server's tools) is not the release's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

FORMAT = 1
SCENARIO = "plain-exchange"


class OfferedTools(msgspec.Struct, frozen=True, kw_only=True):
    """``offered.json``: the names of the tools that a release offers."""

    format: int
    agent: str
    release: str
    dialect: str | None
    integrity: str
    tools: tuple[str, ...]


def measure(
    agent: str,
    version: str,
    dialect: str | None = None,
    *,
    told: Callable[[str], object] = lambda _: None,
) -> OfferedTools:
    """Let a release ask the scripted model once, and return what it offered it."""
    # Driving a release needs the extra `live`; the shape of what was measured does not.
    from live.agents.base import find_driver  # noqa: PLC0415
    from live.model import script  # noqa: PLC0415
    from live.model.wires import WIRES  # noqa: PLC0415
    from live.releases import install  # noqa: PLC0415
    from live.running import perform  # noqa: PLC0415

    driver = find_driver(agent, version, dialect)
    release = install(agent, driver.package, version)
    driver = find_driver(agent, release.version, dialect)
    told(f"{agent} {release.version}: asking what it offers")
    with tempfile.TemporaryDirectory(prefix="offered-") as directory:
        run = perform(script.load(SCENARIO), driver, release, Path(directory))
        names = {
            name
            for exchange in run.exchanges
            if exchange.kind == "turn"
            for name in WIRES[driver.wire].tool_kinds(exchange.body)
        }
    return OfferedTools(
        format=FORMAT,
        agent=agent,
        release=release.version,
        dialect=driver.dialect,
        integrity=release.integrity,
        tools=tuple(sorted(names)),
    )
