"""GitHub Copilot CLI: no call has an id, and what is sent depends on how a hook is registered.

A hook that is registered in camel case gets a payload in camel case, without its event's name;
one registered as ``PreToolUse`` gets snake case with the name. Both are read, row by row. Some
events keep camel case under either name, and only what they say of a subagent is spelt as asked.
Source: recordings of this project.
"""

from __future__ import annotations

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import ABSENT, HookEvent, Kind, form

_CAMEL = form(
    name="hookName",
    observed_at="observed_at",
    stamped_at="timestamp",
    session="sessionId",
    agent="agentId",
    agent_type="agentName",
    agent_parent="parentAgentId",
    tool="toolName",
    input="toolArgs",
    result="toolInput",
    call="toolCallId",
    server="serverName",
    usage="arguments",
    url="agent_id",
    release="parent_agent_id",
    output="toolResult",
    error="error",
    cwd="cwd",
    prompt="prompt",
    text="response",
    status="stopReason",
    reason="reason",
    trigger="trigger",
    source="source",
)

_SNAKE = form(
    name="hook_event_name",
    observed_at="observed_at",
    stamped_at="timestamp",
    session="session_id",
    agent="agent_id",
    agent_type="agent_name",
    agent_parent="parent_agent_id",
    tool="tool_name",
    input="tool_input",
    output="tool_result",
    error="error",
    cwd="cwd",
    prompt="prompt",
    text="response",
    status="stop_reason",
    reason="reason",
    trigger="trigger",
    source="source",
)

_KINDS: dict[str, Kind] = {
    "sessionStart": "session-start",
    "sessionEnd": "session-end",
    "userPromptSubmitted": "prompt",
    "userPromptTransformed": "lifecycle",
    "preToolUse": "call-start",
    "postToolUse": "call-end",
    "postToolUseFailure": "call-failure",
    "preMcpToolCall": "mcp-before",
    "permissionRequest": "permission",
    "notification": "notification",
    "agentStop": "turn-end",
    "subagentStart": "subagent-start",
    "subagentStop": "subagent-stop",
    "errorOccurred": "turn-failure",
    "preCompact": "compaction-start",
    "postCompact": "compaction-end",
}
_PASCAL = {"UserPromptSubmit": "userPromptSubmitted", "Stop": "agentStop"}
_ONLY_CAMEL = "userPromptTransformed"


def _spelt(name: str) -> tuple[str, str] | None:
    """Return an event's name in camel case, and which case it came in."""
    if not name or name == _ONLY_CAMEL:
        return None
    camel = _PASCAL.get(name) or name[0].lower() + name[1:]
    return camel, "camel" if camel == name else "pascal"


def _settle(event: HookEvent) -> None:
    if event.url:
        event.agent, event.agent_parent = event.url, event.release
        event.url = event.release = None
    if event.kind == "permission":
        if not bytes(event.input):
            event.input = event.result
        if event.tool and "/" in event.tool:
            # A request says `server/tool` of what the call says `server-tool`.
            event.tool = event.tool.replace("/", "-", 1)
    elif event.kind == "mcp-before":
        event.input, event.usage, event.call = event.usage, ABSENT, None
        if event.server and event.tool:
            event.tool = f"{event.server}-{event.tool}"


COPILOT = Dialect(
    agent="copilot",
    forms=(_CAMEL, _SNAKE),
    kinds={
        **_KINDS,
        **{name[0].upper() + name[1:]: kind for name, kind in _KINDS.items()},
        **{name: _KINDS[camel] for name, camel in _PASCAL.items()},
    },
    unique_ids=False,
    spelt=_spelt,
    states_results=True,
    verbs={
        "bash": "shell",
        "Bash": "shell",
        "powershell": "shell",
        "view": "read",
        "Read": "read",
        "View": "read",
        "create": "edit",
        "edit": "edit",
        "Edit": "edit",
        "Write": "edit",
        "apply_patch": "edit",
        "grep": "search",
        "rg": "search",
        "glob": "search",
        "web_fetch": "web",
        "web_search": "web",
        "task": "agent",
        "Agent": "agent",
        "skill": "skill",
    },
    settle=_settle,
    settled=frozenset({"permission", "mcp-before", "notification", "subagent-start"}),
    asks="verb",
    mcp_joint="-",
    layered=True,
    unused=frozenset(
        {
            "hook_event_name",
            "initialPrompt",
            "initial_prompt",
            "transformedPrompt",
            "permissionSuggestions",
            "message",
            "title",
            "notification_type",
            "transcriptPath",
            "transcript_path",
            "stop_hook_active",
            "agentType",
            "agent_type",
            "customInstructions",
            "custom_instructions",
            "errorContext",
            "error_context",
            "agentDescription",
            "agentDisplayName",
            "recoverable",
            "last_assistant_message",
            "agent_id",
            "parent_agent_id",
        }
    ),
    blind_spots=(
        "no call has an id: equal calls that are open together can't be told apart",
        "releases before 0.0.423 name the session in an agent's stop or nowhere",
        "1.0.20 tells of no call's start",
        "no event names its turn: a turn goes from one prompt to the next",
        "a command that exits with another code than 0 is reported as a success",
        "a permission request may name another tool than the call that it is for",
        "a subagent's permission request names its parent's session",
        "an interrupted turn has no event of its own, and neither have its calls an end",
        "thoughts and answers have no event",
        "no event says how many tokens were used",
    ),
)
