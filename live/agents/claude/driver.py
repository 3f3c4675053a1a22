"""How Claude Code is started, resumed and found afterwards, by release."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from live.agents.base import CannotDo, Driver, Expected, Translation, Untaught
from live.agents.claude import failures, output, tools, verbs
from live.agents.claude.streaming import COMPACT, StreamConversation, words_of
from live.agents.claude.surroundings import (
    lay_hooks,
    lay_skills,
    onboarded,
    workspace_files,
    write_json,
)
from live.agents.claude.traits import traits
from live.agents.claude.typed import TypedConversation
from live.conversation import Conversation
from live.mcp_server import SERVER
from live.model.play import Auxiliary, Play, Thread, Wire
from live.model.script import (
    Ask,
    Call,
    Command,
    Create,
    Failure,
    Mcp,
    Propose,
    Response,
    Scenario,
    Todo,
    Turn,
    ViewImage,
    calls_of,
    needs_person,
)
from live.picking import opened
from live.pictures import digest, png
from live.sandbox import MCP_COMMAND, Sandbox
from live.terminal import Terminal

WARM_UP = "Warmup"
"""What 2.0.77 asks each of its three agents while it starts."""

_WARM_UPS = 3

_SUMMARY = "detailed summary"
"""What it asks for when it compacts."""

_FULL = {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "5", "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
"""Lets it compact by itself when a conversation holds 5,000 tokens."""

_BACKGROUND_SECONDS = 5.0
"""More than any scripted command in the background takes: its end is then told with the result
of the next call, not at some point behind it."""

_KEY = "sk-test"
_TOKEN = "CLAUDE_CODE_OAUTH_TOKEN"
"""Where somebody with a subscription has what others have as a key."""
_NO_RETRY = {"x-should-retry": "false"}

_PAUSE = 0.02
"""Seconds between the pieces of an answer, so that rows have times of their own."""

_TITLE = "word title for the following conversation"
"""What 1.0.128 and 2.0.0 may ask for beside a resumed session."""

_EXAMPLE_FILES = "Files modified by user:"
"""Begins what 2.0.77 asks about a repository's history, to suggest file names."""

_PREFIX = "ONLY return the prefix"
"""What 2.0.77 asks about each command before it runs: "none" lets it run."""

_SHOWN_PATHS = ("Command: ", "Output: ")
"""What 2.0.77 asks about each command's output: which files it shows."""

_NO_PATHS = "<is_displaying_contents>\nfalse\n</is_displaying_contents>\n<filepaths>\n</filepaths>"


class ClaudeDriver(Driver):
    """Claude Code at one release."""

    agent: ClassVar[str] = "claude"
    package: ClassVar[str] = "@anthropic-ai/claude-code"

    @property
    def wire(self) -> Wire:
        """Anthropic Messages."""
        return "anthropic"

    @property
    def model(self) -> str:
        """Any name is taken; the default differs by release."""
        return "scripted-model-1"

    def executable(self, install: Path) -> Sequence[str]:
        """Return the command that npm links."""
        return [str(install / "node_modules" / ".bin" / "claude")]

    def environment(
        self, home: str, port: int, scenario: Scenario | None = None
    ) -> Mapping[str, str]:
        """Return the variables that keep it offline and let it run as root."""
        return {
            **({} if traits(self.version).chooses_model else {"ANTHROPIC_MODEL": self.model}),
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            _TOKEN if failures.has_allowance(scenario) else "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(failures.retries(scenario)),
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
            **(_FULL if scenario is not None and scenario.compaction_summary else {}),
        }

    def prepare(self, home: Path, workspace: str, port: int, scenario: Scenario | None) -> None:
        """Register the MCP server and switch the checklist on, where a scenario needs them."""
        if scenario is None:
            return
        lay_skills(home, scenario)
        known: dict[str, Any] = {}
        if self._at_terminal(scenario):
            known |= onboarded(workspace, _KEY)
        if tools.calls(scenario, Mcp):
            server = {"type": "stdio", "command": MCP_COMMAND, "args": [], "env": {}}
            known["mcpServers"] = {SERVER: server}
        if known:
            write_json(home / ".claude.json", known)
        if tools.calls(scenario, Todo) and traits(self.version).tasks:
            switch = {"env": {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}}
            write_json(home / ".claude" / "settings.json", switch)

    def register_hooks(self, home: Path, workspace: str, command: str) -> Sequence[str]:
        """Register a command in the person's settings."""
        events = traits(self.version).hook_events
        if not events:
            raise CannotDo(f"{self.version} has no hooks: it names no event and runs no command")
        lay_hooks(home, events, command)
        return events

    def workspace_files(self, scenario: Scenario) -> Mapping[str, str]:
        """Return ``CLAUDE.md`` and the commands under ``.claude``."""
        return workspace_files(scenario)

    def arguments(self, prompt: str, *, resume: str | None, session_id: str) -> Sequence[str]:
        """Return the arguments of one ``-p`` run, or of one that goes on with a session."""
        which = [*self._beginning(), *self._which(resume, session_id)]
        return ["--print", "--output-format", "json", *which, "--", prompt]

    def _beginning(self) -> Sequence[str]:
        """Return which model it talks to and what it may do."""
        has = traits(self.version)
        model = ["--model", self.model] if has.chooses_model else []
        if has.skips_permissions:
            return [*model, "--dangerously-skip-permissions"]
        return [*model, "--allowedTools", ",".join(tools.NAMES)]

    def _which(self, resume: str | None, session_id: str) -> Sequence[str]:
        if resume is not None:
            return ["--resume", resume]
        return ["--session-id", session_id] if traits(self.version).chooses_session_id else []

    @property
    def resumes_anew(self) -> bool:
        """Until 1.0.60 a session is resumed in a file of its own that begins with a copy."""
        return traits(self.version).resumes_anew

    def turn_arguments(
        self, turn: Turn, scenario: Scenario, *, resume: str | None, session_id: str
    ) -> Sequence[str]:
        """Return the arguments of a turn: its command is typed like a prompt."""
        which = [*self._beginning(), *self._which(resume, session_id)]
        if turn.forks:
            which.append("--fork-session")
        if scenario.worktree is not None:
            which += ["--worktree", scenario.worktree]
        form = ["--output-format", "json"]
        if traits(self.version).streams:
            form = ["--output-format", "stream-json", "--verbose"]
        return ["--print", *form, *which, "--", words_of(turn)]

    def talks(self, scenario: Scenario) -> bool:
        """Return whether somebody must be there; pictures can't be given as an argument."""
        return needs_person(scenario) or any(turn.images for turn in scenario.turns)

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
        """Start it for somebody who talks to it: over its streams, or at a terminal."""
        which = ["--session-id", session_id] if resume is None else ["--resume", resume]
        environment = self.environment(box.home_inside, port, scenario)
        if self._at_terminal(scenario):
            argv = [*executable, "--model", self.model, *which, *_permissions(scenario)]
            return TypedConversation(Terminal(box, argv, environment), scenario.turns)
        if not traits(self.version).listens:
            raise Untaught(f"no way is known to talk to {self.version}: it has no --input-format")
        argv = [
            *executable,
            *("--print", "--input-format", "stream-json", "--output-format", "stream-json"),
            *("--verbose", "--model", self.model, *which, *_permissions(scenario)),
            *("--permission-prompt-tool", "stdio"),
        ]
        pictures = {name: png(picture) for name, picture in scenario.pictures.items()}
        return StreamConversation(box, argv, environment, pictures)

    def pick(
        self, box: Sandbox, executable: Sequence[str], port: int, *, words: str
    ) -> Conversation:
        """Open a session from the list that ``--resume`` without an id shows."""
        if not (box.home / ".claude.json").exists():
            write_json(box.home / ".claude.json", onboarded(box.workspace_inside, _KEY))
        argv = [*executable, *self._beginning(), "--resume"]
        terminal = Terminal(box, argv, self.environment(box.home_inside, port))
        running = TypedConversation(terminal, ())
        return opened(running, terminal, traits(self.version).listing, words)

    def _at_terminal(self, scenario: Scenario) -> bool:
        """Whether a person at a terminal is needed: also to refuse a call, where a refusal that
        comes over the stream is recorded as a tool's error like any other."""
        if scenario.terminal:
            return True
        refused = any(
            isinstance(call, (Command, Create))
            and call.permission is not None
            and call.permission.answer == "denied"
            for turn in scenario.turns
            for call in calls_of(turn.responses)
        )
        return refused and not traits(self.version).marks_refusals

    def refusal(self, failure: Failure) -> Failure:
        """Put a failure into the words of Anthropic's API."""
        said = failures.refusal(failure)
        if traits(self.version).counts_retries:
            return said
        # That trying again is no use only the provider can say there.
        return msgspec.structs.replace(said, headers={**said.headers, **_NO_RETRY})

    def retried(self, failure: Failure) -> Sequence[Expected]:
        """Return the record of the first attempt."""
        return [failures.retried(failure)]

    @property
    def compaction_words(self) -> tuple[str, ...]:
        """It asks for the summary as it asks for anything else."""
        return (_SUMMARY,)

    @property
    def never_recorded(self) -> Mapping[str, str]:
        """Return what no row of a fork says in releases that only copy."""
        if traits(self.version).marks_copies:
            return {}
        return {"inherited": "a copy bears the fork's id, and nothing names where it is from"}

    @property
    def compact_prompt(self) -> str | None:
        """Its own command is recorded as one that was typed."""
        return COMPACT

    @property
    def compacts_behind_prompt(self) -> bool:
        """The prompt is recorded first, and kept beside the summary."""
        return True

    def translate(self, call: Call, workspace: str) -> Translation:
        """Put a call into this release's tools."""
        return tools.translate(call, workspace, self.version)[0]

    def translate_response(
        self, response: Response, scenario: Scenario, workspace: str
    ) -> Sequence[Translation]:
        """Put an answer's calls into this release's tools: a checklist may take several."""
        found: list[Translation] = []
        for call in response.calls:
            if isinstance(call, ViewImage):
                found.append(verbs.view(call, workspace, [digest(scenario.pictures[call.path])]))
            else:
                found += tools.translate(call, workspace, self.version)
        return found

    def auxiliaries(self) -> Sequence[Auxiliary]:
        """Return the answers to what it asks on the side."""
        return [
            Auxiliary(kind="title", answer="A title", contains=(_TITLE,), has_tools=False),
            Auxiliary(kind="warm-up", answer="Ready.", contains=(WARM_UP,)),
            Auxiliary(kind="classifier", answer="", contains=(_EXAMPLE_FILES,), has_tools=False),
            Auxiliary(kind="classifier", answer="none", contains=(_PREFIX,), has_tools=False),
            Auxiliary(kind="classifier", answer=_NO_PATHS, contains=_SHOWN_PATHS, has_tools=False),
        ]

    def pace(self, play: Play) -> Play:
        """Let a command in the background come to its end before the model looks for it, and no
        two rows of an answer be of one millisecond, where that decides something.

        A release that goes on from the newest row takes the first of equal ones, and forgets
        what stands behind it: which rows are equal is chance.
        """
        pause = _PAUSE if traits(self.version).newest_row_leads else 0.0
        threads = tuple(_paced(one, pause) for one in play.threads)
        return msgspec.structs.replace(play, threads=threads)

    def streamed(self, said: Sequence[str]) -> Sequence[Sequence[Any]]:
        """Return the records of ``stream-json``."""
        return output.records(said) if traits(self.version).streams else ()

    def session_files(self, home: Path) -> Sequence[Path]:
        """Return transcripts, subagents' transcripts and their side files.

        Left out is what 2.0.77 leaves while it resumes: the empty file of a session of its
        own, and its warm-ups, which name that session or the resumed one by chance.
        """
        root = home / ".claude"
        found = [path for path in (root / "projects").rglob("*.jsonl") if path.stat().st_size]
        warm_ups = sorted((path for path in found if _is_warm_up(path)), key=_began)
        found = [path for path in found if path not in warm_ups[_WARM_UPS:]]
        found += (root / "projects").rglob("*.meta.json")
        found += (root / "tasks").rglob("*.json")
        return sorted(found)

    def session_id(self, home: Path) -> str:
        """Return the newest main session: a file named after it, not a subagent's."""
        mains = [
            path
            for path in (home / ".claude" / "projects").glob("*/*.jsonl")
            if not path.name.startswith("agent-") and path.stat().st_size
        ]
        return max(mains, key=lambda path: path.stat().st_mtime_ns).stem

    def newest_log_line(self, home: Path) -> str | None:
        """Return the last line of the newest debug log."""
        logs = list((home / ".claude" / "debug").glob("*.txt"))
        if not logs:
            return None
        newest = max(logs, key=lambda path: path.stat().st_mtime_ns)
        lines = newest.read_text(encoding="utf-8", errors="replace").split("\n")
        errors = [line for line in lines if "[ERROR]" in line]
        said = errors or [line for line in lines if line.strip()]
        return said[-1] if said else None


def _paced(thread: Thread, pause: float) -> Thread:
    turns = tuple(
        msgspec.structs.replace(
            turn,
            responses=tuple(
                msgspec.structs.replace(
                    response,
                    delay=_BACKGROUND_SECONDS if verbs.collects(response) else response.delay,
                    pause=pause,
                )
                for response in turn.responses
            ),
        )
        for turn in thread.turns
    )
    return msgspec.structs.replace(thread, turns=turns)


def _is_warm_up(path: Path) -> bool:
    return path.name.startswith("agent-") and f'"content":"{WARM_UP}"' in path.read_text("utf-8")


def _began(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return json.loads(lines.readline())["timestamp"]


def _permissions(scenario: Scenario) -> Sequence[str]:
    """Return how it is said whether calls need the person's word."""
    asked = any(
        isinstance(call, (Ask, Propose)) or getattr(call, "permission", None) is not None
        for turn in scenario.turns
        for call in calls_of(turn.responses)
    )
    if not asked:
        return ("--dangerously-skip-permissions",)
    mode = next((turn.mode for turn in scenario.turns if turn.mode is not None), "default")
    return ("--permission-mode", mode)
