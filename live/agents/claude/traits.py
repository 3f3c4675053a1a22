"""What differs between Claude Code's releases, in one table.

Every entry was measured by running the release; a boundary stands at the first recorded
release that is on its far side, or where the package itself changed, if that is known.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from semver import Version

from live.picking import Listing

Failing = Literal["errors-first", "twice", "merged"]
TodoForm = Literal["numbered", "worded"]


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How one release of Claude Code differs from the others, as far as driving it is concerned.

    ``skips_permissions`` says that root may start it without any permission checks; else the
    tools are named that need none. ``newest_row_leads`` says that it goes on from the row with
    the newest time, the first of equal ones. ``failing`` is how the two streams of a command
    that fails are shown to the model: standard error first and an empty line between; as they
    came, and the same once more; or as they came. ``failing_code`` says that its code is put
    into words; else a failure without output is shown as the one word "Error". ``todo_form`` is
    what a line of the checklist needs beside its text: a number and a priority, or how it is
    worded while it is worked on. ``mcp_errors`` says that the model is shown what a tool of an
    MCP server says of its failure; else it is told only that there was one. ``counts_retries``
    says that it can be told how often to try again, ``marks_refusals`` that a call which the
    person refused is recorded as such also where the refusal came over the stream, ``streams``
    that what it writes for programs is recorded beside its files. ``marks_copies`` says that the
    rows which a fork copies name the session whose request they answer. ``hook_events`` are those
    that it knows: releases up to 2.1.50 run no hook at all of a file that names another. Left out
    are ``WorktreeCreate`` and ``WorktreeRemove``, whose hooks have to do the work themselves.
    ``listing`` is what the list of sessions looks like. ``listens`` says that it takes prompts over
    a stream.
    """

    chooses_model: bool
    chooses_session_id: bool
    skips_permissions: bool
    resumes_anew: bool
    newest_row_leads: bool
    agent_tool: str
    tasks: bool
    failing: Failing
    failing_code: bool
    todo_form: TodoForm
    mcp_errors: bool
    counts_retries: bool
    marks_refusals: bool
    streams: bool
    listens: bool
    marks_copies: bool
    hook_events: tuple[str, ...]
    listing: Listing


_MODEL_ARGUMENT = Version(1, 0, 0)
_SESSION_ID_ARGUMENT = Version(1, 0, 60)
_RESUMES_IN_PLACE = Version(1, 0, 128)
_TODO_WORDED = Version(1, 0, 128)
_MCP_ERRORS = Version(1, 0, 60)
_COUNTS_RETRIES = Version(1, 0, 0)
_LISTENS = Version(1, 0, 60)
_CODE_IN_WORDS = Version(2, 0, 77)
_STREAMS_TWICE = Version(2, 1, 50)
_AGENT_TOOL = Version(2, 1, 63)
_STREAMS_MERGED = Version(2, 1, 112)
_LAST_ROW_LEADS = Version(2, 1, 112)
_TASKS = Version(2, 1, 142)
_MARKS_REFUSALS = Version(2, 1, 332)
_MARKS_COPIES = Version(2, 1, 332)
_LISTING = Listing(stands=r"^ *Resume [Ss]ession\b", mark="❯")
_EVERY_SCENARIO = (Version(2, 1, 197), Version(2, 1, 332))
"""The releases of which every scenario is recorded; of the others the core is."""

_HOOK_EVENTS = {
    Version(1, 0, 60): (
        *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "Stop"),
        *("SubagentStop", "PreCompact"),
    ),
    Version(1, 0, 128): ("SessionStart", "SessionEnd"),
    Version(2, 0, 77): ("PostToolUseFailure", "SubagentStart", "PermissionRequest"),
    Version(2, 1, 50): ("Setup", "TeammateIdle", "TaskCompleted", "ConfigChange"),
    Version(2, 1, 112): (
        *("StopFailure", "PostCompact", "PermissionDenied", "TaskCreated", "Elicitation"),
        *("ElicitationResult", "InstructionsLoaded", "CwdChanged", "FileChanged"),
    ),
    Version(2, 1, 197): ("PostToolBatch", "UserPromptExpansion", "MessageDisplay"),
    Version(2, 1, 260): ("PreModelSwitch", "PostModelSwitch", "DirectoryAdded"),
    Version(2, 1, 332): ("PreSkillShellCommand",),
}
"""The events by the first recorded release that knows them: each release's own list has just
these and all earlier ones."""


def traits(version: str) -> Traits:
    """Return the traits of an exact release; ValueError if it is not one."""
    release = Version.parse(version)
    return Traits(
        chooses_model=release >= _MODEL_ARGUMENT,
        chooses_session_id=release >= _SESSION_ID_ARGUMENT,
        skips_permissions=release >= _SESSION_ID_ARGUMENT,
        resumes_anew=release < _RESUMES_IN_PLACE,
        newest_row_leads=release < _LAST_ROW_LEADS,
        agent_tool="Agent" if release >= _AGENT_TOOL else "Task",
        tasks=release >= _TASKS,
        failing=_failing(release),
        failing_code=release >= _CODE_IN_WORDS,
        mcp_errors=release >= _MCP_ERRORS,
        counts_retries=release >= _COUNTS_RETRIES,
        marks_refusals=release >= _MARKS_REFUSALS,
        marks_copies=release >= _MARKS_COPIES,
        hook_events=tuple(
            event for since, events in _HOOK_EVENTS.items() if release >= since for event in events
        ),
        listing=_LISTING,
        streams=release in _EVERY_SCENARIO,
        listens=release >= _LISTENS,
        todo_form="worded" if release >= _TODO_WORDED else "numbered",
    )


def _failing(release: Version) -> Failing:
    if release < _STREAMS_TWICE:
        return "errors-first"
    return "twice" if release < _STREAMS_MERGED else "merged"
