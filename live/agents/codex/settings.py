"""The configuration that makes Codex talk to loopback only, and to nothing on the side."""

from __future__ import annotations

import json

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
check_for_update_on_startup = false

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
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = 60000

[projects.{workspace}]
trust_level = "trusted"
"""

_MCP = """
[mcp_servers.{server}]
command = {command}
"""


def config_toml(model: str, port: int, workspace: str, *, mcp: bool, feature: str | None) -> str:
    """Return ``config.toml``; ``mcp`` adds the scenario's MCP server, ``feature`` a switch."""
    text = _CONFIG.format(
        model=json.dumps(model),
        provider=PROVIDER,
        port=port,
        key=API_KEY_VARIABLE,
        features="" if feature is None else f"{feature} = true\n",
        workspace=json.dumps(workspace),
    )
    if mcp:
        text += _MCP.format(server=SERVER, command=json.dumps(MCP_COMMAND))
    return text
