"""Starts GitHub Copilot CLI against a model on loopback, and finds what it wrote.

With ``COPILOT_PROVIDER_BASE_URL`` the CLI (1.0.10 and newer) asks no account and no network
of GitHub's. It speaks three wires. The default there is Anthropic's, because it records the
most: thoughts with their signature, in 1.0.102 also as the provider's own blocks, and it is
the only wire on which a resumed 1.0.102 sends thoughts again, so that they too have the
model as a witness. Chat completions keep thoughts as bare text (1.0.60 only under the field
``reasoning_text``, 1.0.102 under ``reasoning_content``); Responses keep them sealed and
offer ``apply_patch`` in place of ``create`` and ``edit``: a dialect of its own.

Older releases know no provider but the API that goes with an account. Its address can be set
(``COPILOT_API_URL``), and then any token is taken and nothing else is asked: that API speaks
chat completions, which is the only dialect that these releases have here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from live.agents.base import Driver, Translation, Untaught
from live.agents.copilot.person import CopilotPerson
from live.agents.copilot.traits import traits
from live.agents.copilot.words import PATCH, Words
from live.agents.patches import files_before
from live.hooklog import LOG
from live.mcp_server import SERVER
from live.model.play import Auxiliary, Play, PlayResponse, Thread, Wire, WireCall
from live.model.script import Call, Create, Failure, Mcp, Response, Scenario, Spawn, Turn, calls_of
from live.picking import opened
from live.pictures import digest
from live.releases import cache_root
from live.sandbox import HOOK_COMMAND, MCP_COMMAND, Sandbox
from live.terminal import Terminal

CHAT = "chat"
"""The dialect of a provider that speaks chat completions."""


class _Provider(msgspec.Struct, frozen=True, kw_only=True):
    """What a dialect is configured with. ``path`` is the base URL's; the rest, variables."""

    wire: Wire
    model: str
    path: str
    variables: Mapping[str, str]


_PROVIDERS: dict[str | None, _Provider] = {
    None: _Provider(
        wire="anthropic",
        model="claude-sonnet-4.6",
        path="",
        variables={"COPILOT_PROVIDER_TYPE": "anthropic"},
    ),
    PATCH: _Provider(
        wire="responses",
        model="gpt-5.3-codex",
        path="/v1",
        variables={"COPILOT_PROVIDER_WIRE_API": "responses"},
    ),
    CHAT: _Provider(wire="chat", model="gpt-5", path="/v1", variables={}),
}

_SMALL_CONTEXT = 40_000
"""A model so small that a conversation can fill it."""

_COPY = "picked"
"""What a copy is called of a session that was chosen from the list."""

_BEHIND_SECONDS = 3.0
# With hooks an agent takes a while to begin, and who sent it to end.
_HOOKED_BEHIND_SECONDS = 6.0
_HOOKED_BEFORE_SECONDS = 2.0

_PLACEHOLDER = "placeholder-of-no-account"

# Where a release has no provider of one's own.
_ACCOUNT = _Provider(
    wire="chat",
    model="claude-sonnet-4.5",
    path="",
    variables={"COPILOT_GITHUB_TOKEN": _PLACEHOLDER},
)

# An error with words to it: the log prints objects over many lines, each marked as an error.
_WORDED_ERROR = re.compile(r"\[ERROR\] \w+ \S")

# Files of the session directory that only say which process holds it just now.
_LOCKS = ("inuse.", ".workspace-fork.lock")


class CopilotDriver(Driver):
    """GitHub Copilot CLI at one release."""

    agent: ClassVar[str] = "copilot"
    package: ClassVar[str] = "@github/copilot"
    dialects: ClassVar[tuple[str | None, ...]] = tuple(_PROVIDERS)

    def __init__(self, version: str, dialect: str | None = None, *, hooked: bool = False) -> None:
        super().__init__(version, dialect, hooked=hooked)
        self._traits = traits(version)
        if self._traits.account and self.dialect is not None:
            raise ValueError(f"{self.agent} {version} has no dialect {self.dialect}, only one")
        self._provider = _ACCOUNT if self._traits.account else _PROVIDERS[self.dialect]

    @property
    def wire(self) -> Wire:
        """The provider's wire that the CLI is configured to speak."""
        return self._provider.wire

    @property
    def model(self) -> str:
        """The model name that the CLI is started with."""
        return self._provider.model

    def executable(self, install: Path) -> Sequence[str]:
        """Return the command that starts the CLI from its npm prefix."""
        return [str(install / "node_modules" / ".bin" / "copilot")]

    def environment(
        self, home: str, port: int, scenario: Scenario | None = None
    ) -> Mapping[str, str]:
        """Return the variables to set beside PATH, HOME, LANG, TERM and TZ.

        Every release unpacks some 200 MB before it starts, by default into the home, which
        is new in each run: they go to the cache of releases instead (older releases are led
        there by a link, see :meth:`prepare`).
        """
        provider = self._provider
        address = "COPILOT_API_URL" if self._traits.account else "COPILOT_PROVIDER_BASE_URL"
        found = {
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_CACHE_HOME": str(_unpacked()),
            "COPILOT_MODEL": provider.model,
            address: f"http://127.0.0.1:{port}{provider.path}",
            **provider.variables,
        }
        if scenario is not None and scenario.compaction_summary is not None:
            found["COPILOT_PROVIDER_MAX_PROMPT_TOKENS"] = str(_SMALL_CONTEXT)
            if self._traits.compacts_at is not None:
                found["COPILOT_BACKGROUND_COMPACTION_THRESHOLD"] = self._traits.compacts_at
        if not self._traits.account:
            found["COPILOT_OFFLINE"] = "true"
            if self._traits.wants_key and self.wire == "anthropic":
                found["COPILOT_PROVIDER_API_KEY"] = _PLACEHOLDER
        return found

    def prepare(self, home: Path, workspace: str, port: int, scenario: Scenario | None) -> None:
        """Write the configuration the CLI needs into its (outside view of) home.

        The workspace is trusted beforehand, and the scenario's MCP server is offered only
        where the scenario calls it: its tools would else stand in every session's prompt.
        """
        root = home / ".copilot"
        root.mkdir(parents=True, exist_ok=True)
        _write_json(root / "config.json", {"trustedFolders": [workspace]})
        if self._traits.unpacks_at_home and not (root / "pkg").is_symlink():
            # Each of them removes every release but itself from where it unpacks.
            own = _unpacked() / "alone" / self.version
            own.mkdir(parents=True, exist_ok=True)
            (root / "pkg").symlink_to(own)
        if scenario is not None and any(isinstance(call, Mcp) for call in _all_calls(scenario)):
            server = {"type": "local", "command": MCP_COMMAND, "args": [], "tools": ["*"]}
            _write_json(root / "mcp-config.json", {"mcpServers": {SERVER: server}})
        else:
            (root / "mcp-config.json").unlink(missing_ok=True)
        for name, skill in ({} if scenario is None else scenario.skills).items():
            place = root / "skills" / name / "SKILL.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            head = f"---\nname: {name}\ndescription: {json.dumps(skill.description)}\n---\n"
            place.write_text(f"{head}\n{skill.body}", encoding="utf-8")

    def register_hooks(self, home: Path, workspace: str, command: str) -> Sequence[str]:
        """Write the person's hooks, in both spellings where both are recorded.

        The oldest releases look for hooks only in the project, where they are laid beforehand.
        """
        del workspace
        if self._traits.hooks_in_project:
            return self._traits.hook_events
        place = home / ".copilot" / "hooks"
        place.mkdir(parents=True)
        spelt = {"camel": self._traits.hook_events, "pascal": self._traits.other_hook_names}
        for name, events in spelt.items():
            if events:
                _write_json(place / f"{name}.json", _hooks(events, command))
        return [event for events in spelt.values() for event in events]

    def hook_log(self, event: str) -> str:
        """Return a log for each spelling: what is told under one is a whole log by itself."""
        return "hooks.pascal.jsonl" if event in self._traits.other_hook_names else LOG

    def arguments(self, prompt: str, *, resume: str | None, session_id: str) -> Sequence[str]:
        """Return the arguments of one non-interactive run."""
        found = ["-p", prompt, "--allow-all-tools"]
        if self._traits.streams_events:
            found += ["--output-format", "json"]
        if resume is not None:
            found += ["--resume", resume]
        elif self._traits.chooses_id:
            found += ["--session-id", session_id]
        return found

    def workspace_files(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the project's instructions and commands where the CLI looks for them.

        A command is a skill in one file: the CLI reads those that another CLI's users have.
        It creates files in no directory that is not there, so that something must lie in it.
        """
        files = {f".claude/commands/{name}.md": body for name, body in scenario.commands.items()}
        made = {Path(one.path).parent for one in _all_calls(scenario) if isinstance(one, Create)}
        there = {parent for path in scenario.workspace for parent in Path(path).parents}
        files |= {f"{parent}/.gitkeep": "" for parent in made - there if parent != Path()}
        if self.hooked and self._traits.hooks_in_project:
            hooks = _hooks(self._traits.hook_events, HOOK_COMMAND)
            files[".github/hooks/hooks.json"] = json.dumps(hooks, indent=2) + "\n"
        if scenario.instructions is not None:
            files["AGENTS.md"] = scenario.instructions
        return files

    def turn_arguments(
        self, turn: Turn, scenario: Scenario, *, resume: str | None, session_id: str
    ) -> Sequence[str]:
        """Return the arguments of one run, with the turn's pictures attached."""
        if turn.images and not self._traits.attaches:
            raise Untaught(f"no way is known to attach a picture in {self.version}")
        pictures = [word for path in turn.images for word in ("--attachment", path)]
        return [*self.arguments(turn.prompt, resume=resume, session_id=session_id), *pictures]

    def typed(self, turn: Turn, scenario: Scenario) -> str:
        """Return what is typed for a turn: at a terminal pictures are mentioned by their paths."""
        words = super().typed(turn, scenario)
        if not self.talks(scenario):
            return words
        return " ".join((*(f"@{path}" for path in turn.images), words))

    def talks(self, scenario: Scenario) -> bool:
        """Return whether somebody must be at the terminal: also for what only a terminal takes."""
        particular = any(turn.forks or turn.slash for turn in scenario.turns)
        particular = particular or scenario.compaction_summary is not None
        return particular or scenario.worktree is not None or super().talks(scenario)

    def converse(
        self,
        scenario: Scenario,
        box: Sandbox,
        executable: Sequence[str],
        port: int,
        *,
        resume: str | None,
        session_id: str,
    ) -> CopilotPerson:
        """Start the CLI in a terminal; it asks for permission only where the script answers."""
        argv = [*executable]
        if not any(getattr(call, "permission", None) for call in _all_calls(scenario)):
            argv.append("--allow-all-tools")
        if scenario.turns[0].mode == "plan" and not self._traits.plans:
            raise Untaught(f"no way is known into plan mode in {self.version}: it has no --plan")
        if scenario.turns[0].mode == "plan":
            argv.append("--plan")
        if scenario.worktree is not None:
            argv.append(f"--worktree={scenario.worktree}")
            argv += [] if self._traits.offers_worktrees else ["--experimental"]
        if resume is not None:
            argv.append(f"--resume={resume}")
        elif self._traits.chooses_id and scenario.worktree is None:
            argv += ["--session-id", session_id]
        environment = self.environment(box.home_inside, port, scenario)
        terminal = Terminal(box, argv, environment)
        return CopilotPerson(terminal, lambda turn: self.typed(turn, scenario), scenario.name)

    def pick(
        self, box: Sandbox, executable: Sequence[str], port: int, *, words: str
    ) -> CopilotPerson:
        """Open a session from the list that ``--resume`` without an id shows.

        There is one only where there are two sessions: a single one is opened at once.
        """
        argv = [*executable, "--allow-all-tools", "--resume"]
        terminal = Terminal(box, argv, self.environment(box.home_inside, port))
        person = CopilotPerson(terminal, lambda turn: turn.prompt, _COPY)
        return opened(person, terminal, self._traits.listing, words)

    def exit_codes(self, turn: Turn) -> tuple[int, ...]:
        """Older releases end as failed when only an agent that they had sent did."""
        fails = any(isinstance(one, Spawn) and one.fails for one in calls_of(turn.responses))
        return (1,) if fails and not self._traits.forgives_agents else (0,)

    def refusal(self, failure: Failure) -> Failure:
        """Say of a limit that it ends in a second: without a word the CLI waits a minute."""
        if failure.status != 429:
            return failure
        return replace(failure, headers={"retry-after": "1", **failure.headers})

    def failure_unrecorded(self, failure: Failure) -> Mapping[str, str]:
        """Of a prompt that is too long the CLI says that it could not shorten it."""
        if failure.reason != "context" or not self._traits.shortens_prompts:
            return {}
        why = (
            "the CLI tries to shorten the prompt and records in words of its own that it could not"
        )
        return {"text": why, "status_code": why}

    @property
    def full_context(self) -> int:
        """How many tokens of input tell the CLI that its small context is full."""
        return _SMALL_CONTEXT - 1_000

    @property
    def compaction_words(self) -> tuple[str, ...]:
        """Words by which the request for a summary is told from a turn."""
        return ("Please create a detailed summary of the conversation",)

    @property
    def compacts_beside_answer(self) -> bool:
        """The CLI compacts in the background, from when it has taken the prompt in."""
        return True

    @property
    def queues_until_end(self) -> bool:
        """What is put into the queue waits until the turn before is over."""
        return True

    def translate(self, call: Call, workspace: str) -> Translation:
        """Put a scripted call into the CLI's own words; CannotDo if there are none."""
        return Words(self.version, self.dialect, workspace, {}, {}).say(call)

    def translate_response(
        self, response: Response, scenario: Scenario, workspace: str
    ) -> Sequence[Translation]:
        """Put all calls of one answer into the CLI's own words."""
        pictures = {path: digest(picture) for path, picture in scenario.pictures.items()}
        return [
            Words(
                self.version, self.dialect, workspace, files_before(scenario, call.id), pictures
            ).say(call)
            for call in response.calls
        ]

    @property
    def task_unrecorded(self) -> str | None:
        """Why a subagent's task is no message on its own thread, or None if it is one."""
        if self._traits.writes_tasks:
            return None
        return f"{self.version} writes no user.message for a subagent"

    @property
    def never_recorded(self) -> Mapping[str, str]:
        """What this release records of no message, and why."""
        if self._traits.keeps_failure_status:
            return {}
        return {"status_code": f"{self.version} writes a failure's words without its status"}

    def pace(self, play: Play) -> Play:
        """Let thoughts travel in the field where this release looks for them, and an agent in
        the background begin only when the one that sent it has said what it has to say."""
        field = self._traits.hears_thoughts_as
        behind = _background_agents(play)
        threads: list[Thread] = []
        for thread in play.threads:
            turns = [
                replace(turn, responses=tuple(replace(one, thoughts_as=field) for one in said))
                for turn in thread.turns
                for said in (turn.responses,)
            ]
            if thread.name in behind:
                first, *rest = turns[0].responses
                wait = _HOOKED_BEHIND_SECONDS if self.hooked else _BEHIND_SECONDS
                late = (replace(first, delay=wait), *rest)
                turns[0] = replace(turns[0], responses=late)
            if self.hooked:
                turns = [replace(one, responses=_sending(one.responses)) for one in turns]
            threads.append(replace(thread, turns=tuple(turns)))
        return replace(play, threads=tuple(threads))

    def auxiliaries(self) -> Sequence[Auxiliary]:
        """Return nothing: with a provider of its own the CLI asks the model nothing else."""
        return ()

    def streamed(self, said: Sequence[str]) -> Sequence[Sequence[Any]]:
        """Return what each process said in events, without what is not recorded either.

        What the stream marks as ``ephemeral`` are pieces and progress, but for a failed
        attempt to reach the model, which stands nowhere else. A resumed session tells how long
        its file is: that is the file's business.
        """
        if not self._traits.streams_kept:
            return ()
        events = [[json.loads(line) for line in text.split("\n") if line] for text in said]
        return [[event for event in told if _lasts(event)] for told in events]

    def session_files(self, home: Path) -> Sequence[Path]:
        """Return the files of the session directories, without locks and empty directories.

        ``session-store.db`` is left out: it is an index for searching that the CLI fills
        from a session as it resumes it; sessions without a row resume with their whole
        history.
        """
        found = (home / ".copilot" / "session-state").glob("[!.]*/**/*")
        return sorted(p for p in found if p.is_file() and not p.name.startswith(_LOCKS))

    def session_id(self, home: Path) -> str:
        """Return the id of the session begun last under a home; LookupError if none.

        Not of the one written last: who leaves a copy of a session comes back to the first.
        """
        found = (home / ".copilot" / "session-state").glob("*/events.jsonl")
        newest = max(found, key=_begun, default=None)
        if newest is None:
            raise LookupError(f"no session under {home}")
        return newest.parent.name

    def newest_log_line(self, home: Path) -> str | None:
        """Return the CLI's last error (else its last line) in its newest log.

        With ``--output-format json`` stderr stays empty whatever happens.
        """
        logs = (home / ".copilot" / "logs").glob("*.log")
        newest = max(logs, key=lambda path: path.stat().st_mtime_ns, default=None)
        if newest is None:
            return None
        lines = newest.read_text(encoding="utf-8", errors="replace").split("\n")
        said = [line for line in lines if line.strip()]
        errors = [line for line in said if _WORDED_ERROR.search(line)]
        return (errors or said or [None])[-1]


def _unpacked() -> Path:
    return cache_root() / "unpacked" / CopilotDriver.agent


def _background_agents(play: Play) -> set[str]:
    """Return the names of the threads that the main one does not wait for."""
    return {
        call.id.removeprefix("call_")
        for thread in play.threads
        for turn in thread.turns
        for response in turn.responses
        for call in response.calls
        if _sends_away(call)
    }


def _sending(responses: Sequence[PlayResponse]) -> tuple[PlayResponse, ...]:
    """Return answers of which one that follows the sending of an agent waits until it has begun."""
    sends = [any(map(_sends_away, one.calls)) for one in responses]
    return tuple(
        replace(one, delay=_HOOKED_BEFORE_SECONDS) if at and sends[at - 1] else one
        for at, one in enumerate(responses)
    )


def _sends_away(call: WireCall) -> bool:
    return isinstance(call.arguments, dict) and call.arguments.get("mode") == "background"


def _begun(events: Path) -> str:
    with events.open(encoding="utf-8") as file:
        first = json.loads(file.readline() or "{}")
    return str(first.get("data", {}).get("startTime", ""))


def _lasts(event: Any) -> bool:
    if event["type"] == "session.resume":
        return False
    return event.get("ephemeral") is not True or event["type"] == "model.call_failure"


def _all_calls(scenario: Scenario) -> list[Call]:
    return [call for turn in scenario.turns for call in calls_of(turn.responses)]


def _hooks(events: Sequence[str], command: str) -> dict[str, Any]:
    return {
        "version": 1,
        "hooks": {
            event: [{"type": "command", "bash": f"{command} {event}", "timeoutSec": 60}]
            for event in events
        },
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
