"""The configuration that makes Codex talk to loopback only, and to nothing on the side."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from live.mcp_server import SERVER
from live.sandbox import MCP_COMMAND

API_KEY_VARIABLE = "SCRIPTED_MODEL_KEY"
PROVIDER = "scripted"

# Analytics off takes five seconds off every run without a network. A provider named "OpenAI"
# would compact on the server. The daemon of 0.171's TUI outlives it. Unknown keys are
# ignored by every release from 0.20 to 0.171, so one text serves all.
_CONFIG = """\
model = {model}
model_provider = "{provider}"
{top}check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false
apps = false
shell_snapshot = false
remote_plugin = false
daemon_auto_start = false
{features}
[model_providers.{provider}]
name = "{provider}"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "{key}"
request_max_retries = {retries}
stream_max_retries = 0
stream_idle_timeout_ms = 60000

[projects.{workspace}]
trust_level = "trusted"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"""

_MCP = """
[mcp_servers.{server}]
command = {command}
"""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a scenario needs: its MCP server, features, retries, and further settings by name."""

    mcp: bool = False
    features: tuple[str, ...] = ()
    retries: int = 0
    top: Mapping[str, str | int] = {}


def config_toml(model: str, port: int, workspace: str, wants: Settings) -> str:
    """Return ``config.toml``."""
    text = _CONFIG.format(
        model=json.dumps(model),
        provider=PROVIDER,
        port=port,
        key=API_KEY_VARIABLE,
        features="".join(f"{feature} = true\n" for feature in wants.features),
        retries=wants.retries,
        top="".join(f"{name} = {json.dumps(value)}\n" for name, value in wants.top.items()),
        workspace=json.dumps(workspace),
    )
    if wants.mcp:
        text += _MCP.format(server=SERVER, command=json.dumps(MCP_COMMAND))
    return text
