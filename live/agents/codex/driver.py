"""Driving Codex non-interactively (``codex exec``) against a scripted model on loopback."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from live.agents.base import CannotDo, Driver, Expected, Translation, Untaught
from live.agents.codex import code_mode, failures, hooks, offered, streaming, words
from live.agents.codex.settings import API_KEY_VARIABLE, Settings, config_toml
from live.agents.codex.traits import traits
from live.agents.codex.typed import TypedConversation
from live.agents.patches import files_before
from live.conversation import Conversation
from live.model.play import Auxiliary, Play, PlayResponse, Thread, Wire
from live.model.script import (
    Ask,
    Call,
    Collect,
    Failure,
    Mcp,
    Response,
    Scenario,
    Turn,
    UseSkill,
    ViewImage,
)
from live.picking import opened
from live.sandbox import HOME, TOOLS, WORKSPACE, Sandbox
from live.terminal import Terminal

CLASSIC = "classic-tools"
CODE_MODE = "code-mode"

# The bundled catalogue decides by the model's name which tools are offered.
_CODE_MODE_MODEL = "gpt-6.2-sol"

_COMMON_FLAGS = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")

# The oldest releases go on with a session by its file, of which only the id is known outside.
_RESUME_BY_PATH = """\
program=$1; shift
if [ "$1" = resume ]; then
    rollout=$(echo "$HOME"/.codex/sessions/*/*/*/rollout-*-"$2".jsonl); shift 2
    set -- exec -c "experimental_resume=\\"$rollout\\"" "$@"
fi
exec "$program" "$@"
"""

# Longer than a command without a pause takes, also in code mode; shorter than the pauses in
# the scenarios' commands.
_TOOL_SECONDS = 0.4
# With hooks, of which each takes a moment and is waited for.
_HOOKED_TOOL_SECONDS = 1.2
# Long enough for a subagent to start, run a quick command and report.
_CHILD_SECONDS = 3.0
# Longer than a commit of a scenario's workspace takes.
_COPY_SECONDS = 1.5
# Fewer than a scenario says when its context is full, more than any of its answers takes.
_COMPACT_TOKENS = 100_000

_NO_COMMANDS = (
    "no file makes a slash command of one's own: with ~/.codex/prompts/water.md there,"
    " '/water white roses' is answered with 'Unrecognized command' and is said to no model"
)
_NO_WAY_BACK = (
    "nothing is taken back: choosing an earlier prompt goes on in a new session, a fork of the"
    " one before, which stays as it was"
)
_QUEUED = "a prompt that was queued is recorded when its turn begins, as any other"
_NO_WORKTREES = "neither codex nor codex exec has an option that makes or enters a git worktree"


class CodexDriver(Driver):
    """One release of Codex with a model of one dialect: classic tools, or code mode."""

    agent: ClassVar[str] = "codex"
    package: ClassVar[str] = "@openai/codex"
    dialects: ClassVar[tuple[str | None, ...]] = (CLASSIC, CODE_MODE)

    def __init__(self, version: str, dialect: str | None = None, *, hooked: bool = False) -> None:
        super().__init__(version, dialect, hooked=hooked)
        self._traits = traits(version)
        if self.dialect == CODE_MODE and not self._traits.code_mode:
            raise CannotDo(f"no model in the catalogue of {version} works in code mode")

    @property
    def wire(self) -> Wire:
        """Codex speaks the Responses API only."""
        return "responses"

    @property
    def model(self) -> str:
        """The model whose name makes Codex offer this dialect's tools."""
        return _CODE_MODE_MODEL if self.dialect == CODE_MODE else self._traits.model

    def executable(self, install: Path) -> Sequence[str]:
        """Return npm's entry, a Node program that starts the real one as its child."""
        program = str(install / "node_modules" / ".bin" / "codex")
        if self._traits.resumes_by_path:
            return ["/bin/sh", "-c", _RESUME_BY_PATH, "codex", program]
        return [program]

    def environment(
        self, home: str, port: int, scenario: Scenario | None = None
    ) -> Mapping[str, str]:
        """Return a placeholder key: the provider is configured to want one."""
        del home, port
        return {API_KEY_VARIABLE: "sk-test"}

    def prepare(self, home: Path, workspace: str, port: int, scenario: Scenario | None) -> None:
        """Write ``~/.codex/config.toml`` and the person's skills."""
        directory = home / ".codex"
        directory.mkdir(parents=True, exist_ok=True)
        text = config_toml(self.model, port, workspace, self._settings(scenario))
        (directory / "config.toml").write_text(text, encoding="utf-8")
        if scenario is None:
            return
        if scenario.programs:
            # Commands run in a login shell, which sets a PATH of its own.
            (home / ".bash_profile").write_text(f"PATH={TOOLS}:$PATH\n", encoding="utf-8")
        for name, text in offered.skill_files(scenario).items():
            path = Path(offered.skill_path(name, str(home)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def register_hooks(self, home: Path, workspace: str, command: str) -> Sequence[str]:
        """Write ``~/.codex/hooks.json``, and into the configuration that its hooks are trusted."""
        events = self._traits.hook_events
        if not events:
            raise CannotDo(hooks.NONE.format(version=self.version))
        inside = HOME if workspace == WORKSPACE else str(home)
        hooks.lay(home / ".codex", f"{inside}/.codex", events, command)
        return events

    def _settings(self, scenario: Scenario | None) -> Settings:
        agents = self._traits.agents
        features = [] if agents is None or agents.feature is None else [agents.feature]
        if scenario is None:
            return Settings(features=tuple(features))
        top: dict[str, str | int] = {}
        if offered.uses(scenario, Ask):
            features.append("default_mode_request_user_input")
        if scenario.compaction_summary is not None:
            top["model_auto_compact_token_limit"] = _COMPACT_TOKENS
        if offered.asks_leave(scenario):
            top |= {"approval_policy": "on-request", "sandbox_mode": "read-only"}
        retried = any(one.fails_first for turn in scenario.turns for one in turn.responses)
        return Settings(
            mcp=offered.uses(scenario, Mcp),
            features=tuple(features),
            retries=1 if retried else 0,
            top=top,
        )

    def workspace_files(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the project's instructions, which Codex looks for in ``AGENTS.md``."""
        if scenario.commands and not scenario.terminal:
            raise CannotDo(_NO_COMMANDS)
        folders = {} if self._traits.makes_folders else offered.folders_asked_for(scenario)
        told = {} if scenario.instructions is None else {"AGENTS.md": scenario.instructions}
        return {**folders, **told}

    def arguments(self, prompt: str, *, resume: str | None, session_id: str) -> Sequence[str]:
        """Return ``exec`` or ``exec resume``; Codex chooses the id of a new session itself."""
        del session_id
        if resume is None:
            return ["exec", *_COMMON_FLAGS, "--", prompt]
        if self._traits.resumes_by_path:
            return ["resume", resume, *_COMMON_FLAGS, "--", prompt]
        return ["exec", *_COMMON_FLAGS, "resume", resume, "--", prompt]

    def turn_arguments(
        self, turn: Turn, scenario: Scenario, *, resume: str | None, session_id: str
    ) -> Sequence[str]:
        """Return the arguments of one turn: with pictures, or in a copy of the session."""
        if turn.slash is not None:
            raise CannotDo(_NO_COMMANDS)
        flags = ["exec", *_COMMON_FLAGS, *(["--json"] if self._traits.streams else [])]
        if scenario.worktree is not None and not self._traits.worktrees:
            raise CannotDo(_NO_WORKTREES)
        if scenario.worktree is not None:
            flags.append("--worktree")
        pictures = [word for path in turn.images for word in ("-i", path)]
        if resume is None:
            return [*flags, *pictures, "--", turn.prompt]
        if self._traits.resumes_by_path:
            return ["resume", resume, *flags[1:], *pictures, "--", turn.prompt]
        goes_on = "fork" if turn.forks else "resume"
        return [*flags, goes_on, *pictures, resume, "--", turn.prompt]

    def typed(self, turn: Turn, scenario: Scenario) -> str:
        """Return what is typed: a pasted picture is named in it, a skill is mentioned in the
        place of a command of one's own."""
        return offered.typed(turn) if self.talks(scenario) else turn.prompt

    def converse(
        self,
        scenario: Scenario,
        box: Sandbox,
        executable: Sequence[str],
        port: int,
        *,
        resume: str | None,
        session_id: str,
    ) -> Conversation:
        """Start the terminal interface."""
        del session_id
        if self._traits.resumes_by_path:
            raise Untaught(f"no way is known to type to {self.version}: its line takes nothing")
        if not self._traits.goes_back and any(one.rewinds_to is not None for one in scenario.turns):
            raise CannotDo(_NO_WAY_BACK)
        if not self._traits.plans and any(one.mode == "plan" for one in scenario.turns):
            raise Untaught(f"no way is known into plan mode in {self.version}: /plan is not one")
        argv = [
            *executable,
            *self._typed_flags(scenario),
            *([] if resume is None else ["resume", resume]),
        ]
        environment = self.environment(box.home_inside, port, scenario)
        return self._typed(Terminal(box, argv, environment), box)

    def pick(
        self, box: Sandbox, executable: Sequence[str], port: int, *, words: str
    ) -> Conversation:
        """Open a session from the list that ``resume`` without an id shows."""
        listing = self._traits.listing
        if listing is None:
            raise CannotDo(f"{self.version} has no list of sessions: 'resume' is no command of it")
        argv = [*executable, *self._typed_flags(None), "resume"]
        terminal = Terminal(box, argv, self.environment(box.home_inside, port))
        return opened(self._typed(terminal, box), terminal, listing, words)

    def _typed(self, terminal: Terminal, box: Sandbox) -> TypedConversation:
        return TypedConversation(
            terminal,
            box.workspace_inside,
            queues=self.queues_until_end,
            stops=not self._traits.ends_commands,
        )

    def _typed_flags(self, scenario: Scenario | None) -> Sequence[str]:
        daemon = ["--no-daemon"] if self._traits.daemon else []
        if scenario is not None and offered.asks_leave(scenario):
            return daemon
        return [*daemon, "--dangerously-bypass-approvals-and-sandbox"]

    def translate(self, call: Call, workspace: str) -> Translation:
        """Put a call into words, knowing nothing of the files that it touches."""
        return self._translate(call, {}, workspace)

    def translate_response(
        self, response: Response, scenario: Scenario, workspace: str
    ) -> Sequence[Translation]:
        """Put an answer's calls into words; in code mode parallel ones go into one script."""
        calls = response.calls
        steps = [call for call in calls if code_mode.is_step(call)]
        if self.dialect == CODE_MODE and 1 < len(steps) == len(calls):
            files = files_before(scenario, steps[0].id)
            order = response.finish_order
            return [code_mode.together(steps, files, workspace, order, self._traits)]
        return [self._in_scenario(call, scenario, workspace) for call in calls]

    def _in_scenario(self, call: Call, scenario: Scenario, workspace: str) -> Translation:
        match call:
            case ViewImage() if self.dialect == CODE_MODE:
                return code_mode.viewed(call, scenario, workspace)
            case ViewImage():
                return offered.viewed(call, scenario, workspace)
            case UseSkill():
                return self._translate(offered.skill(call, scenario, HOME), {}, workspace)
            case Collect() if self.dialect == CODE_MODE:
                return code_mode.collected(call, offered.started_by(call, scenario), self._traits)
            case _:
                files = files_before(scenario, call.id)
                return offered.permitted(call, self._translate(call, files, workspace))

    def _translate(self, call: Call, files: Mapping[str, str], workspace: str) -> Translation:
        if self.dialect == CODE_MODE:
            return code_mode.translate(call, files, workspace, self._traits)
        return words.classic(call, files, workspace, self._traits)

    @property
    def hangs_after_failure(self) -> bool:
        """Whether the process has to be ended once its turn has failed."""
        return self._traits.hangs_after_failure

    @property
    def task_unrecorded(self) -> str | None:
        """In code mode a task reaches its agent as a message without a readable word."""
        return words.SEALED if self.dialect == CODE_MODE else None

    def cut_short(self, expected: Expected) -> Expected:
        """Keep what was done: a tool starts before the answer has ended, and is recorded.

        Only the call itself is left without a result then, which the next request calls
        aborted: in code mode the script, else what an event has not told besides.
        """
        told = {
            "FileChange": self._traits.call_events,
            "CommandExecution": self._traits.command_events,
        }
        if told.get(expected.kind):
            return expected
        return super().cut_short(expected)

    def interrupted(self, expected: Expected) -> Expected:
        """In code mode the script is cut off; its command runs on and is killed with Codex, which
        is then recorded as its failure."""
        left = super().interrupted(expected)
        if self.dialect == CODE_MODE and expected.kind == "CommandExecution":
            return msgspec.structs.replace(left, fields={**left.fields, "status": "failed"})
        return left

    def refusal(self, failure: Failure) -> Failure:
        """Put a failure into the words of OpenAI's API."""
        return failures.refusal(failure)

    def failure_unrecorded(self, failure: Failure) -> Mapping[str, str]:
        """Codex tells most failures in words of its own."""
        return failures.unrecorded(failure, self._traits)

    @property
    def typed_ahead(self) -> Literal["queued", "steered"]:
        """What is sent while a turn runs is steered into it; what is queued waits for its end."""
        return "queued" if self.queues_until_end else "steered"

    @property
    def queues_until_end(self) -> bool:
        """In code mode prompts are queued: one that is steered in makes a script that waits go
        on without its result, and what the script ran is killed with Codex."""
        return self.dialect == CODE_MODE

    @property
    def never_recorded(self) -> Mapping[str, str]:
        """What was queued is a prompt like any other once its turn begins."""
        return {"delivery": _QUEUED} if self.queues_until_end else {}

    def auxiliaries(self) -> Sequence[Auxiliary]:
        """Return what can be asked on the side: the terminal interface wants a title."""
        return [
            Auxiliary(
                kind="title",
                contains=("Generate a concise, single-line task title", "User prompt:"),
                answer='{"title":"A title"}',
            ),
            Auxiliary(
                kind="compaction", contains=self.compaction_words, answer="The story so far."
            ),
        ]

    @property
    def compaction_words(self) -> tuple[str, ...]:
        """What stands in the request for a summary."""
        return ("CONTEXT CHECKPOINT COMPACTION",)

    def pace(self, play: Play) -> Play:
        """Keep streams open until quick tools are done, and wait for subagents that are done.

        Codex starts a tool as soon as its call is complete and records the tokens when the
        stream ends: with nothing in between, either came first. A subagent's last words reach
        its parent by a notice of their own too, which asks the model once more when it comes
        a moment after the parent's wait is over. A copy of the workspace is taken while the
        first answer is waited for.
        """
        opening = _COPY_SECONDS if self._traits.photographs else 0.0
        lasting = _HOOKED_TOOL_SECONDS if self.hooked else _TOOL_SECONDS
        threads = tuple(_paced(one, opening, lasting) for one in play.threads)
        return msgspec.structs.replace(play, threads=threads)

    def streamed(self, said: Sequence[str]) -> Sequence[Sequence[Any]]:
        """Return what ``--json`` made each process say."""
        return [streaming.records(one) for one in said] if self._traits.streams else ()

    def session_files(self, home: Path) -> Sequence[Path]:
        """Return the rollouts, of the main session and of subagents.

        The databases beside them (threads, history, logs) are no part of the record: from a
        home with nothing but the rollouts both releases send the model the same request.
        """
        return sorted((home / ".codex" / "sessions").rglob("rollout-*.jsonl"))

    def session_id(self, home: Path) -> str:
        """Return the id of the newest rollout that is not a subagent's; LookupError if none."""
        metas = (_meta(path) for path in reversed(self.session_files(home)))
        for meta in metas:
            if not isinstance(meta.get("source"), dict):
                return str(meta["id"])
        raise LookupError(f"no rollout of a main session under {home / '.codex' / 'sessions'}")

    def newest_log_line(self, home: Path) -> str | None:
        """Return the last error or warning in Codex's own log database."""
        for path in sorted((home / ".codex").glob("logs_*.sqlite"), reverse=True):
            with contextlib.suppress(sqlite3.Error):
                line = _last_log_line(path)
                if line is not None:
                    return line
        return None


def _paced(thread: Thread, opening: float, lasting: float) -> Thread:
    return msgspec.structs.replace(
        thread,
        turns=tuple(
            msgspec.structs.replace(
                turn,
                responses=tuple(
                    _paced_response(one, 0.0 if at else opening, lasting)
                    for at, one in enumerate(turn.responses)
                ),
            )
            for turn in thread.turns
        ),
    )


def _paced_response(response: PlayResponse, opening: float, lasting: float) -> PlayResponse:
    waits = any(words.is_waiting(call.id) for call in response.calls)
    return msgspec.structs.replace(
        response,
        linger=lasting if response.calls else 0.0,
        delay=_CHILD_SECONDS if waits else opening,
    )


def _meta(rollout: Path) -> dict[str, Any]:
    with rollout.open(encoding="utf-8") as lines:
        first = json.loads(lines.readline())
    return first.get("payload", first)


def _last_log_line(database: Path) -> str | None:
    query = (
        "SELECT level, target, feedback_log_body FROM logs"
        " WHERE level IN ('ERROR', 'WARN') ORDER BY id DESC LIMIT 1"
    )
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        row = connection.execute(query).fetchone()
    return None if row is None else f"{row[0]} {row[1]}: {row[2]}"
