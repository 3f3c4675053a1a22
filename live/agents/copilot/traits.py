"""What differs between Copilot CLI's releases, for driving: one table.

Every entry was measured on runs of the releases that are recorded. A release between two of
them is taken for like the older one.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from semver import Version

from live.picking import Listing


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How one release is driven, and how it words what it records."""

    account: bool
    """It knows no provider of one's own: it asks the API that goes with an account, at an
    address that can be set."""
    unpacks_at_home: bool
    """It unpacks itself into its own directory under the home, whatever it is told."""
    wants_key: bool
    """Its provider on Anthropic's wire must have a key set."""
    streams_events: bool
    """``--output-format json`` exists."""
    streams_kept: bool
    """The stream marks what it tells beyond the record, so that the rest can be kept beside it."""
    chooses_id: bool
    """``--session-id`` exists."""
    writes_tasks: bool
    """A subagent's task is a ``user.message`` on its own thread."""
    hears_thoughts_as: Literal["reasoning_content", "reasoning_text"]
    """The field in which it finds thoughts on the chat wire."""
    keeps_failure_status: bool
    """A provider's failure is written with its HTTP status."""
    keeps_shells_as: str
    """The argument of ``bash`` that names a shell to be kept."""
    keeps_todos_in_table: bool
    """A checklist is rows in a table, filled by ``sql``; before, ``update_todo`` takes it as
    Markdown."""
    names_agents: bool
    """``task`` must name the agent that it starts."""
    terminal: bool
    """Commands run on a terminal, not on pipes."""
    loses_ended_shells: bool
    """A command that ends its shell has an empty result: its output and its code are lost."""
    survives_unknown_tools: bool
    """A call of a tool that does not exist is answered; else it ends the run with an error."""
    keeps_servers: bool
    """A call of an MCP server's tool is written with the server's name apart."""
    frames_mcp_errors: bool
    """The failure of an MCP server's tool is told with the server's name before it."""
    numbers_lines: bool
    """``view`` puts a number before each line."""
    keeps_seen_pictures: bool
    """A picture that a tool brings back is in the record, not only in the model's context."""
    keeps_code_of_long_output: bool
    """Of a command that printed too much the record tells how it ended."""
    shortens_prompts: bool
    """A prompt that is too long is shortened, and in vain; else it is a failure like any other."""
    forgives_agents: bool
    """A run in which another agent failed does not itself end as a failure."""
    offers_worktrees: bool
    """``--worktree`` needs no leave for what is experimental."""
    compacts_at: str | None
    """The part of its context at which a release compacts here that counts by itself; later ones
    go by what the provider counts."""
    plans: bool
    """``--plan`` exists."""
    attaches: bool
    """``--attachment`` exists."""
    asks_by_form: bool
    """``ask_user`` takes the schema of a form, not a list of choices."""
    hook_events: tuple[str, ...]
    """The hook events that it knows; others in its files it passes over."""
    hooks_in_project: bool
    """Hooks are looked for in the project's ``.github/hooks`` only; else in the home too."""
    other_hook_names: tuple[str, ...]
    """What the events are called in the other spelling, which makes their payloads another's, as
    far as it is recorded."""
    listing: Listing
    """What the list of sessions looks like."""


_HOOK_EVENTS = (
    *("sessionStart", "sessionEnd", "userPromptSubmitted", "preToolUse", "postToolUse"),
    "errorOccurred",
)
_HOOK_EVENTS_406 = (*_HOOK_EVENTS, "agentStop", "subagentStop")
_HOOK_EVENTS_20 = (
    *(*_HOOK_EVENTS_406, "postToolUseFailure", "subagentStart", "preCompact"),
    *("permissionRequest", "notification"),
)
_HOOK_EVENTS_60 = (*_HOOK_EVENTS_20, "preMcpToolCall")
_HOOK_EVENTS_80 = (*_HOOK_EVENTS_60, "userPromptTransformed")
_OTHER_HOOK_NAMES = (
    *("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
    *("ErrorOccurred", "Stop", "SubagentStop", "PostToolUseFailure", "SubagentStart"),
    *("PreCompact", "PermissionRequest", "Notification", "PreMcpToolCall"),
)

_OLDEST = Traits(
    account=True,
    unpacks_at_home=True,
    wants_key=True,
    streams_events=False,
    streams_kept=False,
    chooses_id=False,
    writes_tasks=False,
    hears_thoughts_as="reasoning_text",
    keeps_failure_status=False,
    keeps_shells_as="sessionId",
    keeps_todos_in_table=False,
    names_agents=False,
    terminal=True,
    loses_ended_shells=True,
    survives_unknown_tools=True,
    keeps_servers=False,
    frames_mcp_errors=False,
    numbers_lines=True,
    keeps_seen_pictures=False,
    keeps_code_of_long_output=False,
    shortens_prompts=False,
    forgives_agents=False,
    offers_worktrees=False,
    compacts_at="0.3945",
    plans=False,
    attaches=False,
    asks_by_form=False,
    hook_events=_HOOK_EVENTS,
    hooks_in_project=True,
    other_hook_names=(),
    listing=Listing(stands=r"^ *Select a session to resume:", mark="❯"),
)

_CHANGES: tuple[tuple[str, dict[str, object]], ...] = (
    (
        "0.0.406",
        {
            "keeps_shells_as": "shellId",
            "keeps_failure_status": True,
            "keeps_servers": True,
            "hook_events": _HOOK_EVENTS_406,
        },
    ),
    (
        "0.0.423",
        {
            "streams_events": True,
            "keeps_todos_in_table": True,
            "frames_mcp_errors": True,
            "hooks_in_project": False,
        },
    ),
    ("1.0.10", {"account": False, "unpacks_at_home": False, "loses_ended_shells": False}),
    (
        "1.0.20",
        {"names_agents": True, "survives_unknown_tools": False, "hook_events": _HOOK_EVENTS_20},
    ),
    (
        "1.0.40",
        {
            "wants_key": False,
            "plans": True,
            "survives_unknown_tools": True,
            "listing": Listing(stands=r"^ *Resume Session:", mark="❯"),
        },
    ),
    ("1.0.60", {"chooses_id": True, "attaches": True, "hook_events": _HOOK_EVENTS_60}),
    (
        "1.0.80",
        {
            "streams_kept": True,
            "writes_tasks": True,
            "terminal": False,
            "hook_events": _HOOK_EVENTS_80,
        },
    ),
    (
        "1.0.102",
        {
            "numbers_lines": False,
            "asks_by_form": True,
            "compacts_at": None,
            "offers_worktrees": True,
            "keeps_seen_pictures": True,
            "keeps_code_of_long_output": True,
            "shortens_prompts": True,
            "forgives_agents": True,
            "hears_thoughts_as": "reasoning_content",
            "other_hook_names": _OTHER_HOOK_NAMES,
            "listing": Listing(stands=r"\[Sessions\]", mark="❯"),
        },
    ),
)


def traits(version: str) -> Traits:
    """Return the traits of a release: the oldest's, with every change up to it."""
    release = Version.parse(version)
    found = _OLDEST
    for since, changed in _CHANGES:
        if release >= Version.parse(since):
            found = msgspec.structs.replace(found, **changed)
    return found
