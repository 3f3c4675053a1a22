"""What a scenario has lying ready, in the files in which Claude Code looks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from live.model.script import Scenario

INSTRUCTIONS = "CLAUDE.md"


def workspace_files(scenario: Scenario) -> Mapping[str, str]:
    """Return the project's own instructions and commands, by path in the workspace."""
    found = {f".claude/commands/{name}.md": f"{body}\n" for name, body in scenario.commands.items()}
    if scenario.instructions is not None:
        found[INSTRUCTIONS] = scenario.instructions
    return found


def lay_skills(home: Path, scenario: Scenario) -> None:
    """Put the person's skills into the home (as seen from outside)."""
    for name, skill in scenario.skills.items():
        path = home / ".claude" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"---\nname: {name}\ndescription: {skill.description}\n---\n"
        path.write_text(f"{head}\n{skill.body}\n", encoding="utf-8")


def lay_hooks(home: Path, events: Sequence[str], command: str) -> None:
    """Register a command for hook events in the person's settings, beside what is there."""
    path = home / ".claude" / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    hooks = {
        event: [{"matcher": "*", "hooks": [{"type": "command", "command": f"{command} {event}"}]}]
        for event in events
    }
    write_json(path, {**settings, "hooks": hooks})


def onboarded(workspace: str, key: str) -> dict[str, Any]:
    """Return the configuration of somebody who has answered everything that is asked once.

    At a terminal each missing field is a question of its own, and a home without any makes the
    CLI look for its vendor's servers.
    """
    trusted = {
        "hasTrustDialogAccepted": True,
        "hasCompletedProjectOnboarding": True,
        "allowedTools": [],
    }
    return {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key], "rejected": []},
        "bypassPermissionsModeAccepted": True,
        "projects": {workspace: trusted},
    }


def write_json(path: Path, value: Any) -> None:
    """Write a configuration file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
