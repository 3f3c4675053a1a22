"""What happens in a scenario: the only source of truth about a recording.

A scenario is CLI-neutral YAML (``live/scenarios/*.yaml``); a misspelt key is an error. It
says what the person asks, what the model answers, which calls it makes and what comes of
them. A driver translates each call into its CLI's own tool (:mod:`live.agents.base`); the
scripted model then plays the result, and :mod:`live.truth` says what a reader must find.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml


class Command(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="command",
):
    """Run a shell command. ``stdout``, ``stderr`` and ``exit_code`` are what must come of it."""

    id: str
    run: str
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


class Read(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="read",
):
    """Read a file of the workspace with the CLI's reading tool, or by command if it has none."""

    id: str
    path: str
    content: str | None = None


class Create(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="create",
):
    """Create a file."""

    id: str
    path: str
    content: str


class Update(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="update",
):
    """Replace one fragment of a file."""

    id: str
    path: str
    old: str
    new: str
    fails: bool = False


class Delete(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="delete",
):
    """Delete a file."""

    id: str
    path: str


class Rename(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="rename",
):
    """Move a file."""

    id: str
    path: str
    to: str


class UnknownTool(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="unknown-tool",
):
    """Call a tool that the CLI does not have: it must answer with an error."""

    id: str
    name: str
    arguments: dict[str, Any]


class Mcp(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="mcp",
):
    """Call a tool of the scenario's MCP server (:mod:`live.mcp_server`)."""

    id: str
    tool: str
    arguments: dict[str, Any]
    result: str | None = None
    error: str | None = None


class Todo(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="todo",
):
    """Set the agent's checklist."""

    id: str
    items: tuple[TodoItem, ...]


class TodoItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the checklist."""

    text: str
    status: Literal["pending", "in_progress", "completed"]


class Spawn(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="subagent",
):
    """Hand a task to another agent, which follows a script of its own and then reports."""

    id: str
    description: str
    prompt: str
    responses: tuple[Response, ...]


Call = Command | Read | Create | Update | Delete | Rename | UnknownTool | Mcp | Todo | Spawn


class Failure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The provider refuses: an HTTP status, its error type and words, and extra headers."""

    status: int
    type: str
    message: str
    headers: dict[str, str] = {}


class Response(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the model: thought, words, calls; or a failure.

    ``finish_order`` lists call ids in the order in which their results arrive, where that
    differs from the order of the calls (the commands themselves take care of it). ``hang``
    keeps the stream open without ending it, so that the driver can kill the CLI at that
    point.
    """

    reasoning: str | None = None
    text: str | None = None
    calls: tuple[Call, ...] = ()
    finish_order: tuple[str, ...] = ()
    failure: Failure | None = None
    hang: bool = False


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One prompt and the answers to it. Each turn is a CLI process of its own; all but the
    first resume the session.

    ``ends`` is how the process goes: by itself; with the provider's failure; or killed with
    SIGKILL while the model hangs.
    """

    prompt: str
    responses: tuple[Response, ...]
    ends: Literal["completed", "failed", "killed"] = "completed"


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario: its workspace (path to content) and its turns."""

    name: str
    revision: int
    title: str
    workspace: dict[str, str] = {}
    turns: tuple[Turn, ...]


SCENARIOS = Path(__file__).parent.parent / "scenarios"


def load(name: str) -> Scenario:
    """Load a scenario by name; FileNotFoundError or msgspec.ValidationError if it is bad."""
    text = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
    scenario = msgspec.convert(yaml.safe_load(text), Scenario)
    if scenario.name != name:
        raise msgspec.ValidationError(f"{name}.yaml calls itself {scenario.name!r}")
    return scenario


def names() -> tuple[str, ...]:
    """Return the names of all scenarios, sorted."""
    return tuple(sorted(path.stem for path in SCENARIOS.glob("*.yaml")))
