"""What happens in a scenario: the only source of truth about a recording.

A scenario is CLI-neutral YAML (``live/scenarios/*.yaml``); a misspelt key is an error. It
says what the person asks, what the model answers, which calls it makes and what comes of
them. A driver translates each call into its CLI's own tool (:mod:`live.agents.base`); the
scripted model then plays the result, and :mod:`live.truth` says what a reader must find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

_NUMBER = re.compile(r"%\d*d")


class Permission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The CLI asks the person whether a call may run, and this is the answer.

    ``feedback`` is what the person says with a refusal, where the CLI has a place for it.
    """

    answer: Literal["approved", "denied"]
    feedback: str | None = None


class Lines(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Many lines of output: ``each`` is a printf format that takes the number, from 1."""

    each: str
    count: int

    def first(self, count: int) -> str:
        """Return the text of the first lines, each ended by a newline."""
        return "".join(self.each % number + "\n" for number in range(1, count + 1))

    def pattern(self) -> str:
        """Return a regular expression for any one of the lines."""
        before, _, after = _NUMBER.sub("\0", self.each).partition("\0")
        return rf"{re.escape(before)}\d+{re.escape(after)}"


class Command(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="command",
):
    """Run a shell command. ``stdout``, ``stderr`` and ``exit_code`` are what must come of it.

    ``prints`` stands in place of ``stdout`` where that is too long to write down. With
    ``background`` the call returns at once and ``stdout`` is what the command prints before
    it ends. An ``interrupted`` command is still running when the person interrupts the turn.
    """

    id: str
    run: str
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    prints: Lines | None = None
    background: bool = False
    interrupted: bool = False
    permission: Permission | None = None


class Collect(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="collect",
):
    """Wait for a command in the background (``of`` is its call) and read what it printed."""

    id: str
    of: str
    stdout: str = ""
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
    permission: Permission | None = None


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


class ViewImage(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="view-image",
):
    """Look at one of the scenario's pictures with the CLI's tool for it."""

    id: str
    path: str


class SearchHit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hit of a web search."""

    title: str
    url: str


class SearchWeb(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="web-search",
):
    """Search the web: by the provider's own tool, which the scripted model plays too."""

    id: str
    query: str
    hits: tuple[SearchHit, ...]


class Choice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to the person: what may be answered, and what is."""

    header: str
    question: str
    options: tuple[str, ...]
    answer: str


class Ask(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="ask",
):
    """Ask the person, who answers."""

    id: str
    questions: tuple[Choice, ...]


class Propose(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="propose",
):
    """Put a plan before the person, who lets it be carried out or says what is wrong."""

    id: str
    plan: str
    accepted: bool = True
    feedback: str | None = None


class UseSkill(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="verb",
    tag="skill",
):
    """Load one of the scenario's skills."""

    id: str
    name: str


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
    """Hand a task to another agent, which follows a script of its own and then reports.

    With ``background`` the call returns at once; the CLI tells the model when the other
    agent is done. ``fails`` says that it comes to no report.
    """

    id: str
    description: str
    prompt: str
    responses: tuple[Response, ...]
    background: bool = False
    fails: bool = False


Call = (
    Command
    | Collect
    | Read
    | Create
    | Update
    | Delete
    | Rename
    | ViewImage
    | SearchWeb
    | Ask
    | Propose
    | UseSkill
    | UnknownTool
    | Mcp
    | Todo
    | Spawn
)


class Failure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The provider refuses: an HTTP status, its error type and words, and extra headers.

    ``reason`` says in neutral words what is meant; where the providers have other types,
    statuses or headers for it, the driver puts it into its own (``Driver.refusal``).
    """

    status: int
    type: str
    message: str
    headers: dict[str, str] = {}
    reason: (
        Literal["auth", "rate-limit", "usage-limit", "server", "overloaded", "context"] | None
    ) = None


class Recall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that the model reads out of what stands before the prompt, and nowhere else.

    It is what the first group of ``pattern`` matches last, in words, thoughts, arguments and
    results. With ``of`` only what belongs to it counts: the result of a call whose arguments hold
    it, or what follows it in a text. ``picture`` asks for the SHA-256 of the last picture instead.
    """

    pattern: str = ""
    of: str | None = None
    picture: bool = False


class Given(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When an answer is given at all: by what the request shows of a change to a file.

    ``path`` was to hold ``holds``. What stands before the prompt shows that it was done
    (``shown``) or does not (``hidden``); ``refuted`` is a change that was shown, where the result
    of ``check``, a call made since, does not hold it.
    """

    path: str
    holds: str
    state: Literal["shown", "hidden", "refuted"]
    check: str | None = None


class Response(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the model: thought, words, calls; or a failure.

    ``sealed_reasoning`` adds a thought that only its provider can read. ``finish_order`` lists
    call ids in the order in which their results arrive, where that differs from the order of
    the calls (the commands themselves take care of it). ``hang`` keeps the stream open
    without ending it, so that the CLI can be killed or interrupted at that point; ``cut``
    drops the connection before the last piece of the answer. ``fails_first`` is what the
    provider says to the first attempt, before it answers the second. ``fills_context`` says
    that the conversation has grown as long as the model can take: a CLI that compacts by
    itself does so before it goes on. Each ``{name}`` in the text is what the model recalls by that
    name; an answer that is ``given`` under a condition is left out where that does not hold.
    """

    reasoning: str | None = None
    sealed_reasoning: bool = False
    text: str | None = None
    calls: tuple[Call, ...] = ()
    finish_order: tuple[str, ...] = ()
    failure: Failure | None = None
    fails_first: Failure | None = None
    hang: bool = False
    cut: bool = False
    fills_context: bool = False
    recalls: dict[str, Recall] = {}
    given: Given | None = None


class SlashCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the scenario's commands, as the person gives it."""

    name: str
    arguments: str = ""

    @property
    def typed(self) -> str:
        """The words that the person types."""
        return f"/{self.name} {self.arguments}".rstrip()


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One prompt and the answers to it.

    Without a terminal each turn is a CLI process of its own and all but the first resume the
    session; in one, turns follow each other in one process unless one ``resumes``.

    ``slash`` is what the person gives in place of the prompt, which is then what the CLI
    makes of it. ``images`` names pictures of the scenario that go with the prompt. A turn
    ``queued_during`` a call is given while that call of the turn before still runs: the model
    sees it at the next chance, or when the turn before is over, as the CLI will have it; the
    answers scripted behind that call are asked for only in the second case. ``summary`` makes
    the turn a request to compact, which the model answers with it. ``forks`` goes on in a
    copy of the session. ``rewinds_to`` says that the person went back to before that turn
    (counted from 0). ``mode`` is the mode that the CLI is in.

    ``ends`` is how it goes: by itself; with the provider's failure; killed with SIGKILL or
    interrupted by the person while the model hangs or, where a ``cue`` is given, once that
    file stands in the workspace.
    """

    prompt: str = ""
    responses: tuple[Response, ...] = ()
    slash: SlashCommand | None = None
    images: tuple[str, ...] = ()
    queued_during: str | None = None
    summary: str | None = None
    forks: bool = False
    rewinds_to: int | None = None
    resumes: bool = False
    mode: Literal["plan"] | None = None
    cue: str | None = None
    ends: Literal["completed", "failed", "killed", "interrupted"] = "completed"


class Skill(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A skill of the person's: what it is for, and what it tells the model."""

    description: str
    body: str


class Picture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A picture of one colour (``rrggbb``), which :mod:`live.pictures` draws."""

    width: int
    height: int
    colour: str


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario: what lies ready, and its turns.

    ``workspace`` maps paths to content, ``pictures`` to pictures. ``instructions`` are the
    project's own, in the file where the CLI looks for them. ``commands`` are slash commands
    (name to body, with ``$ARGUMENTS``), ``skills`` the person's. ``programs`` are shell
    scripts on the PATH, by name. ``worktree`` names a git worktree that the CLI is told to
    work in. ``compaction_summary`` is what the model answers when the CLI compacts by itself.
    ``terminal`` says that the person types at a terminal, whatever else would do.
    """

    name: str
    revision: int
    title: str
    workspace: dict[str, str] = {}
    pictures: dict[str, Picture] = {}
    instructions: str | None = None
    commands: dict[str, str] = {}
    skills: dict[str, Skill] = {}
    programs: dict[str, str] = {}
    worktree: str | None = None
    compaction_summary: str | None = None
    terminal: bool = False
    turns: tuple[Turn, ...]


def calls_of(responses: Iterable[Response]) -> Iterator[Call]:
    """Yield the calls of some answers, and those of the agents that they spawn."""
    for response in responses:
        for call in response.calls:
            yield call
            if isinstance(call, Spawn):
                yield from calls_of(call.responses)


def needs_person(scenario: Scenario) -> bool:
    """Return whether somebody must be there while the CLI runs: to be asked, to interrupt, to
    type ahead, or because the CLI's own commands are given."""
    if scenario.terminal:
        return True
    for turn in scenario.turns:
        if turn.ends == "interrupted" or turn.queued_during or turn.summary is not None:
            return True
        if turn.rewinds_to is not None or turn.mode is not None:
            return True
        for call in calls_of(turn.responses):
            if isinstance(call, (Ask, Propose)) or getattr(call, "permission", None) is not None:
                return True
    return False


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
