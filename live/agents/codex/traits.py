"""What differs between Codex releases, in one table.

Every entry was measured by running the release: offered tools are those of its first
request, refused ones were called and answered with ``unsupported call: …``.
"""

from __future__ import annotations

import msgspec
from semver import Version


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How one release of Codex differs from the others, as far as driving it is concerned.

    ``mcp_namespace`` has a place for the server's name. ``agents_namespace`` is where a
    classic-tools model finds ``spawn_agent`` and ``wait_agent``. ``command_events`` says that
    a command's end is recorded as an event beside its result, as a patch's is everywhere.
    """

    update_plan: bool
    command_events: bool
    code_mode: bool
    mcp_namespace: str
    agents_namespace: str | None


_UPDATE_PLAN_GONE = Version(0, 160, 0)
_PAGINATED = Version(0, 150, 0)
_CODE_MODE_MODELS = Version(0, 171, 0)


def traits(version: str) -> Traits:
    """Return the traits of an exact release; ValueError if it is not one."""
    release = Version.parse(version)
    paginated = release >= _PAGINATED
    return Traits(
        update_plan=release < _UPDATE_PLAN_GONE,
        command_events=paginated,
        code_mode=release >= _CODE_MODE_MODELS,
        mcp_namespace="mcp__{}" if paginated else "mcp__{}__",
        agents_namespace="multi_agent_v1" if paginated else None,
    )
