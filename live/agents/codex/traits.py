"""What differs between Codex releases, in one table.

Every entry was measured by running the release: offered tools are those of its first
request, refused ones were called and answered with ``unsupported call: …``.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from semver import Version

from live.picking import Listing

Shell = Literal["exec_command", "shell_command", "shell"]


class Agents(msgspec.Struct, frozen=True, kw_only=True):
    """How a model with the classic tools hands a task to another agent.

    ``feature`` is the switch that makes the release offer it, None where it always does.
    ``wait`` is the tool that waits for the report, ``waited_for`` its parameter with the ids.
    """

    feature: str | None = None
    namespace: str | None = None
    wait: str = "wait_agent"
    waited_for: str = "targets"


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How one release of Codex differs from the others, as far as driving it is concerned.

    ``model`` is a model of its time whose name makes it offer the classic tools; ``shell`` is
    the one that runs commands, ``patch_tool`` whether ``apply_patch`` is a tool of its own
    (else the shell tool is given it as a command). ``joined_output`` says that the result of a
    failed command holds all it put out; else it holds the errors alone. ``update_plan`` says
    whether the checklist is answered, offered or not.
    ``mcp_namespace`` has a place for the server's name; without a namespace, ``mcp_name`` has
    one for the server's and one for the tool's. ``call_events`` says that the end of a patch
    and of an MCP call is recorded as an event beside its result: only there stand the absolute
    paths, the content of a deleted file and that a tool failed. ``command_events`` says the
    same of a command's end. ``directory`` says that the working directory is recorded.
    ``photographs`` says that it takes a copy of the workspace when a turn begins, and notes it.
    ``daemon`` says that the terminal interface starts a server that outlives it, unless told
    not to. ``streams`` says that its stream for programs is recorded, which is done of two
    releases. ``worktrees`` says that it can be told to work in a git worktree of its own.
    ``knows_full_context`` says that it takes a refusal for a full context, where it is one.
    ``goes_back`` says that going back in a conversation is no fork. ``makes_folders`` says
    that leave for a file is leave for its folder too. ``ends_commands`` says that the terminal
    interface writes down, when it quits, that it killed what still ran.
    ``hook_events`` are the hook events that it knows; others in its ``hooks.json`` it passes over.
    ``listing`` is what the list of sessions looks like, None where there is none.
    ``plans`` says that ``/plan`` goes into plan mode.
    ``resumes_by_path`` says that ``exec`` has no ``resume`` and takes the rollout's
    path from its configuration; ``hangs_after_failure`` that it stays when its turn has failed.
    """

    model: str
    shell: Shell
    patch_tool: bool
    joined_output: bool
    update_plan: bool
    directory: bool
    call_events: bool
    command_events: bool
    code_mode: bool
    mcp_namespace: str | None
    mcp_name: str
    agents: Agents | None
    photographs: bool
    daemon: bool
    streams: bool
    worktrees: bool
    knows_full_context: bool
    goes_back: bool
    makes_folders: bool
    ends_commands: bool
    hook_events: tuple[str, ...]
    listing: Listing | None
    plans: bool
    resumes_by_path: bool
    hangs_after_failure: bool

    @property
    def no_plan(self) -> str:
        """Why there is no checklist, where there is none."""
        when = "from 0.160 on" if self.call_events else "by exec at 0.45"
        return (
            f"no checklist: update_plan is offered to no model {when} and is answered"
            " with 'unsupported call: update_plan'"
        )


_MODELS = (
    (Version(0, 130, 0), "gpt-5.5"),
    (Version(0, 110, 0), "gpt-5.3-codex"),
    (Version(0, 92, 0), "gpt-5.2-codex"),
    (Version(0, 77, 0), "gpt-5.1-codex-max"),
    (Version(0, 45, 0), "gpt-5-codex"),
    (Version(0, 0, 0), "gpt-5"),
)
_SHELLS: tuple[tuple[Version, Shell], ...] = (
    (Version(0, 110, 0), "exec_command"),
    (Version(0, 77, 0), "shell_command"),
    (Version(0, 0, 0), "shell"),
)
_AGENTS: tuple[tuple[Version, Agents | None], ...] = (
    (Version(0, 133, 0), Agents(namespace="multi_agent_v1")),
    (Version(0, 130, 0), Agents()),
    (Version(0, 110, 0), Agents(feature="multi_agent", wait="wait", waited_for="ids")),
    (Version(0, 92, 0), Agents(feature="collab", wait="wait", waited_for="ids")),
    (Version(0, 0, 0), None),
)
_UPDATE_PLAN_BACK = Version(0, 77, 0)
_UPDATE_PLAN_GONE = Version(0, 160, 0)
_PAGINATED = Version(0, 150, 0)
_CODE_MODE_MODELS = Version(0, 171, 0)
_PHOTOGRAPHS = Version(0, 77, 0)
_PHOTOGRAPHS_GONE = Version(0, 92, 0)
_CALL_EVENTS = Version(0, 130, 0)
_NAMESPACES = Version(0, 130, 0)
_PLAIN_NAMESPACES = Version(0, 140, 0)
_NAMES_WITH_MCP = Version(0, 77, 0)
_PLANS = Version(0, 110, 0)
_GOES_BACK = Version(0, 171, 0)
_ENDS_COMMANDS = Version(0, 171, 0)
_MAKES_FOLDERS = Version(0, 171, 0)
_KNOWS_FULL_CONTEXT = Version(0, 171, 0)
_WORKTREES = Version(0, 171, 0)
_STREAMED = ("0.150.0", "0.171.0")
_DAEMON = Version(0, 171, 0)
_ENVELOPE = Version(0, 45, 0)
_MARKS = (
    (Version(0, 160, 0), "›"),
    (Version(0, 130, 0), "❯"),
    (Version(0, 45, 0), ">"),
    (Version(0, 0, 0), None),
)
"""The sign before the marked line of the list of sessions."""

_HOOK_EVENTS = {
    Version(0, 130, 0): (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"),
        *("PreCompact", "PostCompact", "Stop"),
    ),
    Version(0, 140, 0): ("SubagentStart", "SubagentStop"),
    Version(0, 145, 0): ("SessionEnd",),
    Version(0, 150, 0): ("Interrupt",),
    Version(0, 171, 0): ("PreModelRequest", "PostModelRequest"),
}
"""The events by the first recorded release that lists them (``hooks/list`` of its server): each
lists just these and all earlier ones."""


def traits(version: str) -> Traits:
    """Return the traits of an exact release; ValueError if it is not one."""
    release = Version.parse(version)
    paginated = release >= _PAGINATED
    namespace = "mcp__{}" if release >= _PLAIN_NAMESPACES else "mcp__{}__"
    return Traits(
        model=next(model for since, model in _MODELS if release >= since),
        shell=next(shell for since, shell in _SHELLS if release >= since),
        patch_tool=release >= _ENVELOPE,
        joined_output=release >= _ENVELOPE,
        update_plan=release < _ENVELOPE or _UPDATE_PLAN_BACK <= release < _UPDATE_PLAN_GONE,
        directory=release >= _ENVELOPE,
        call_events=release >= _CALL_EVENTS,
        command_events=paginated,
        code_mode=release >= _CODE_MODE_MODELS,
        mcp_namespace=namespace if release >= _NAMESPACES else None,
        mcp_name="mcp__{}__{}" if release >= _NAMES_WITH_MCP else "{}__{}",
        agents=next(agents for since, agents in _AGENTS if release >= since),
        photographs=_PHOTOGRAPHS <= release < _PHOTOGRAPHS_GONE,
        daemon=release >= _DAEMON,
        streams=version in _STREAMED,
        worktrees=release >= _WORKTREES,
        knows_full_context=release >= _KNOWS_FULL_CONTEXT,
        goes_back=release >= _GOES_BACK,
        plans=release >= _PLANS,
        ends_commands=release >= _ENDS_COMMANDS,
        hook_events=tuple(
            event for since, events in _HOOK_EVENTS.items() if release >= since for event in events
        ),
        listing=_listing(next(mark for since, mark in _MARKS if release >= since)),
        makes_folders=release >= _MAKES_FOLDERS,
        resumes_by_path=release < _ENVELOPE,
        hangs_after_failure=release < _ENVELOPE,
    )


def _listing(mark: str | None) -> Listing | None:
    if mark is None:
        return None
    return Listing(stands=r"^ *Resume a previous session\b", mark=mark)
