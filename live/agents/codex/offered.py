"""Codex's words for what is neither a command that ends, an edit nor an agent.

Questions and plans need somebody at the terminal; a search is made by the provider itself;
a skill is a file that the model is told of and reads.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec

from live.agents.base import Expected, Translation
from live.model.play import WireCall
from live.model.script import (
    Ask,
    Collect,
    Command,
    Create,
    Permission,
    Propose,
    Scenario,
    SearchWeb,
    Turn,
    UseSkill,
    ViewImage,
    calls_of,
)
from live.model.wires.responses import SEARCH_CALL
from live.pictures import digest

ACCEPTANCE = "Implement the plan."
"""What the terminal interface says in the person's place when they accept a plan."""

PLAN = "\n<proposed_plan>\n{}</proposed_plan>"

OUTSIDE_THE_SANDBOX = {
    "sandbox_permissions": "require_escalated",
    "justification": "May this be done?",
}
YIELD_MS = 250
"""The least that a command may take before it is left running."""
COLLECT_MS = 10_000
_SESSION = r"session ID (\d+)"


def skill_path(name: str, home: str) -> str:
    """Return where a skill of the person's lies."""
    return f"{home}/.codex/skills/{name}/SKILL.md"


def skill_files(scenario: Scenario) -> dict[str, str]:
    """Return all skills as files, by name: the scenario's, and one for each of its commands.

    Nothing is put into a skill's text when it is mentioned, so a command's is what the prompt
    says.
    """
    files = {name: skill_file(name, scenario) for name in scenario.skills}
    for turn in scenario.turns:
        if turn.slash is not None:
            name = turn.slash.name
            files[name] = f"---\nname: {name}\ndescription: {name}\n---\n\n{turn.prompt}\n"
    return files


def typed(turn: Turn) -> str:
    """Return the words that a person's turn at the terminal comes to."""
    if turn.slash is not None:
        return f"${turn.slash.name} {turn.slash.arguments}".rstrip()
    pictures = "".join(f"[Image #{number}] " for number, _ in enumerate(turn.images, 1))
    return pictures + turn.prompt


def skill_file(name: str, scenario: Scenario) -> str:
    """Return a skill as the file in which Codex looks for it."""
    skill = scenario.skills[name]
    return f"---\nname: {name}\ndescription: {skill.description}\n---\n\n{skill.body}\n"


def started(call: Command) -> Translation:
    """Run a command that is left running."""
    arguments = {"cmd": call.run, "yield_time_ms": YIELD_MS}
    fields = {
        "command": call.run,
        "background": True,
        "exit_code": call.exit_code,
        "status": "failed" if call.exit_code else "completed",
    }
    return Translation(
        call=WireCall(id=call.id, name="exec_command", arguments=arguments),
        expects=(Expected(kind="CommandExecution", fields=fields),),
    )


def collected(call: Collect) -> Translation:
    """Wait for it by its session's number, which its first result told."""
    session = {"$found": [call.of, _SESSION]}
    arguments = {"session_id": session, "chars": "", "yield_time_ms": COLLECT_MS}
    fields = {"name": "write_stdin", "output": call.stdout, "status": "completed"}
    return Translation(
        call=WireCall(id=call.id, name="write_stdin", arguments=arguments),
        expects=(Expected(kind="ToolCall", fields=fields),),
    )


def started_by(call: Collect, scenario: Scenario) -> Command:
    """Return the command that a call waits for."""
    for turn in scenario.turns:
        for one in calls_of(turn.responses):
            if isinstance(one, Command) and one.id == call.of:
                return one
    raise ValueError(f"{scenario.name} has no command called {call.of}")


def viewed(call: ViewImage, scenario: Scenario, workspace: str) -> Translation:
    """Look at a picture."""
    arguments = {"path": f"{workspace}/{call.path}"}
    fields = {
        "name": "view_image",
        "arguments": arguments,
        "assets": [digest(scenario.pictures[call.path])],
        "status": "completed",
    }
    return Translation(
        call=WireCall(id=call.id, name="view_image", arguments=arguments),
        expects=(Expected(kind="ToolCall", fields=fields),),
    )


def searched(call: SearchWeb) -> Translation:
    """Let the provider search, which tells nobody but the model what it found."""
    hits = [{"type": "url", "url": hit.url} for hit in call.hits]
    action = {"type": "search", "query": call.query, "queries": [call.query], "sources": hits}
    results = [{"title": hit.title, "url": hit.url} for hit in call.hits]
    fields = {"query": call.query, "results": results, "status": "completed"}
    return Translation(
        call=WireCall(id=call.id, name=SEARCH_CALL, arguments=action),
        expects=(Expected(kind="WebSearch", fields=fields),),
    )


def asked(call: Ask) -> Translation:
    """Ask the person."""
    arguments = {
        "questions": [
            {
                "id": f"question_{number}",
                "header": one.header,
                "question": one.question,
                "options": [{"label": label, "description": label} for label in one.options],
            }
            for number, one in enumerate(call.questions, 1)
        ]
    }
    questions = [
        {"question": one.question, "options": list(one.options), "answer": one.answer}
        for one in call.questions
    ]
    fields = {"questions": questions, "status": "completed"}
    return Translation(
        call=WireCall(id=call.id, name="request_user_input", arguments=arguments),
        expects=(Expected(kind="UserQuestion", fields=fields),),
    )


def proposed(call: Propose) -> Translation:
    """Put a plan into the answer's own words, between the tags that Codex looks for."""
    plan = {"form": "proposal", "text": call.plan, "status": "completed"}
    expects = [Expected(kind="Plan", fields=plan)]
    if call.accepted:
        said = {"text": ACCEPTANCE}
        expects.append(Expected(kind="UserMessage", author="human", fields=said))
    return Translation(call=None, words=PLAN.format(call.plan), expects=tuple(expects))


def skill(call: UseSkill, scenario: Scenario, home: str) -> Command:
    """Return the command that reads a skill's file: Codex has no other way to load one."""
    line = f"cat {shlex.quote(skill_path(call.name, home))}"
    return Command(id=call.id, run=line, stdout=skill_file(call.name, scenario))


def permitted(call: Any, translation: Translation) -> Translation:
    """Return what is found of a call that the person was asked about.

    A refusal ends the turn and is recorded as any other interruption is; what the person says
    with it is their next prompt.
    """
    permission: Permission | None = getattr(call, "permission", None)
    if permission is None:
        return translation
    if isinstance(call, Command) and translation.call is not None and not translation.call.custom:
        arguments = {**translation.call.arguments, **OUTSIDE_THE_SANDBOX}
        wire = msgspec.structs.replace(translation.call, arguments=arguments)
        translation = msgspec.structs.replace(translation, call=wire)
    if permission.answer == "approved":
        return translation
    results = ("output", "exit_code")
    found = [
        Expected(
            kind=expected.kind,
            fields={
                **{name: one for name, one in expected.fields.items() if name not in results},
                "status": "cancelled",
            },
        )
        # What a script would have done is recorded only when it is done.
        for expected in translation.expects[:1]
    ]
    if permission.feedback is not None:
        said = {"text": permission.feedback}
        found.append(Expected(kind="UserMessage", author="human", fields=said))
    return Translation(call=translation.call, expects=tuple(found))


def uses(scenario: Scenario, *kinds: type) -> bool:
    """Return whether a scenario makes a call of one of these kinds."""
    return any(
        isinstance(call, kinds) for turn in scenario.turns for call in calls_of(turn.responses)
    )


def asks_leave(scenario: Scenario) -> bool:
    """Return whether the person is asked for permission."""
    return any(
        getattr(call, "permission", None) is not None
        for turn in scenario.turns
        for call in calls_of(turn.responses)
    )


def folders_asked_for(scenario: Scenario) -> dict[str, str]:
    """Return an empty file in each folder for whose files the person is asked."""
    return {
        str(Path(call.path).parent / ".keep"): ""
        for turn in scenario.turns
        for call in calls_of(turn.responses)
        if isinstance(call, Create) and call.permission is not None
    }
