"""How Claude Code is started, resumed and found afterwards, by release."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from live.agents.base import Driver, Translation
from live.agents.claude import tools
from live.mcp_server import SERVER
from live.model.play import Auxiliary, Wire
from live.model.script import Call, Mcp, Response, Scenario, Todo
from live.sandbox import MCP_COMMAND

WARM_UP = "Warmup"
"""What 2.0.77 asks each of its three agents while it starts."""

_WARM_UPS = 3

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
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "sk-test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        }

    def prepare(self, home: Path, workspace: str, port: int, scenario: Scenario | None) -> None:
        """Register the MCP server and switch the checklist on, where a scenario needs them."""
        if scenario is None:
            return
        if tools.calls(scenario, Mcp):
            server = {"type": "stdio", "command": MCP_COMMAND, "args": [], "env": {}}
            _write(home / ".claude.json", {"mcpServers": {SERVER: server}})
        if tools.calls(scenario, Todo) and tools.has_tasks(self.version):
            switch = {"env": {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}}
            _write(home / ".claude" / "settings.json", switch)

    def arguments(self, prompt: str, *, resume: str | None, session_id: str) -> Sequence[str]:
        """Return the arguments of one ``-p`` run, or of one that goes on with a session."""
        which = ["--session-id", session_id] if resume is None else ["--resume", resume]
        return [
            *("--print", "--output-format", "json", "--model", self.model),
            *("--dangerously-skip-permissions", *which, "--", prompt),
        ]

    def translate(self, call: Call, workspace: str) -> Translation:
        """Put a call into this release's tools."""
        return tools.translate(call, workspace, self.version)[0]

    def translate_response(
        self, response: Response, scenario: Scenario, workspace: str
    ) -> Sequence[Translation]:
        """Put an answer's calls into this release's tools: a checklist may take several."""
        return [
            translation
            for call in response.calls
            for translation in tools.translate(call, workspace, self.version)
        ]

    def auxiliaries(self) -> Sequence[Auxiliary]:
        """Return the answers to what it asks on the side."""
        return [
            Auxiliary(kind="warm-up", answer="Ready.", contains=(WARM_UP,)),
            Auxiliary(kind="classifier", answer="", contains=(_EXAMPLE_FILES,), has_tools=False),
            Auxiliary(kind="classifier", answer="none", contains=(_PREFIX,), has_tools=False),
            Auxiliary(kind="classifier", answer=_NO_PATHS, contains=_SHOWN_PATHS, has_tools=False),
        ]

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


def _is_warm_up(path: Path) -> bool:
    return path.name.startswith("agent-") and f'"content":"{WARM_UP}"' in path.read_text("utf-8")


def _began(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return json.loads(lines.readline())["timestamp"]


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
